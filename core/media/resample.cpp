// Resamples audio.
#include "media/resample.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/sentence.hpp"

namespace ggufscope {
namespace {

constexpr double kSincZeros = 32;    // zero crossings of the sinc on each side
constexpr double kBeta = 9.6;        // shape parameter of the Kaiser window
constexpr double kPassband = 0.945;  // the filter's half-amplitude frequency, relative to the lower Nyquist frequency
constexpr uint64_t kMaxResampled = uint64_t{1} << 31;

// The modified Bessel function of the first kind, order 0, by its power series.
double bessel0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// Four sums, because one sum cannot be vectorized.
float dot(const float* a, const float* b, size_t n) {
  float sums[4] = {};
  size_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += a[k + lane] * b[k + lane];
  for (; k < n; ++k) sums[0] += a[k] * b[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

Result<void> check_rate(uint32_t rate) {
  if (rate >= kMinRate && rate <= kMaxRate) return {};
  return fail(ErrorCode::kInvalidArgument,
              sentence({"a sampling rate of ", rate, " Hz: audio has from ", kMinRate, " to ", kMaxRate}));
}

Result<std::vector<float>> resample(std::span<const float> samples, uint32_t from_rate, uint32_t to_rate) {
  for (const uint32_t rate : {from_rate, to_rate})
    if (const Result<void> good = check_rate(rate); !good) return std::unexpected(good.error());
  if (from_rate == to_rate) return std::vector<float>(samples.begin(), samples.end());
  const uint64_t divisor = std::gcd(from_rate, to_rate);
  const uint64_t step = from_rate / divisor, n_phases = to_rate / divisor;
  const uint64_t n_out = (uint64_t{samples.size()} * n_phases + step - 1) / step;
  if (n_out > kMaxResampled) return fail(ErrorCode::kOutOfMemory, "the audio is too long at the new rate");
  // In units of input samples: the sinc's cutoff and the window's half width.
  const double cutoff = kPassband * std::min(1.0, double(to_rate) / from_rate);
  const int64_t reach = static_cast<int64_t>(std::ceil(kSincZeros / cutoff));
  const size_t n_taps = static_cast<size_t>(2 * reach);
  const double scale = 1 / bessel0(kBeta);
  std::vector<float> taps(n_taps);
  std::vector<float> out(static_cast<size_t>(n_out));
  const int64_t n = static_cast<int64_t>(samples.size());
  // Polyphase filter: every n_phases-th output sample has the same weights.
  for (uint64_t phase = 0; phase < std::min<uint64_t>(n_phases, n_out); ++phase) {
    const double part = double(phase * step % n_phases) / double(n_phases);
    for (size_t k = 0; k < n_taps; ++k) {
      const double t = double(static_cast<int64_t>(k) - reach + 1) - part;  // distance from the output sample
      const double u = t * cutoff / kSincZeros, x = std::numbers::pi * t * cutoff;
      const double sinc = x == 0 ? 1 : std::sin(x) / x;
      const double window = u * u >= 1 ? 0 : bessel0(kBeta * std::sqrt(1 - u * u)) * scale;
      taps[k] = static_cast<float>(cutoff * sinc * window);
    }
    for (uint64_t i = phase; i < n_out; i += n_phases) {
      const int64_t first = static_cast<int64_t>(i * step / n_phases) - reach + 1;
      const int64_t begin = std::max<int64_t>(0, -first), end = std::min<int64_t>(int64_t(n_taps), n - first);
      out[static_cast<size_t>(i)] =
          begin < end ? dot(taps.data() + begin, samples.data() + first + begin, static_cast<size_t>(end - begin)) : 0;
    }
  }
  return out;
}

}  // namespace ggufscope
