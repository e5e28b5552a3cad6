// Computes the DFT of a frame and its mel bands.
#include "media/mel_bank.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ggufscope {
namespace {

constexpr size_t kRadix = 16;

// Slaney's scale is linear below 1 kHz, logarithmic above.
constexpr double kLinearHz = 200.0 / 3, kBreakHz = 1000;
const double kLogStep = std::log(6.4) / 27;

double to_mel(MelScale scale, double hz) {
  if (scale == MelScale::kHtk) return 2595 * std::log10(1 + hz / 700);
  return hz < kBreakHz ? hz / kLinearHz : kBreakHz / kLinearHz + std::log(hz / kBreakHz) / kLogStep;
}
double to_hz(MelScale scale, double mel) {
  if (scale == MelScale::kHtk) return 700 * (std::pow(10, mel / 2595) - 1);
  const double at_break = kBreakHz / kLinearHz;
  return mel < at_break ? mel * kLinearHz : kBreakHz * std::exp(kLogStep * (mel - at_break));
}

}  // namespace

std::vector<float> mel_filters(size_t n_mel, size_t n_window, size_t rate, MelScale scale) {
  const size_t n_bins = n_window / 2 + 1;
  std::vector<double> edges(n_mel + 2);
  const double top = to_mel(scale, double(rate) / 2);
  for (size_t i = 0; i < edges.size(); ++i) edges[i] = to_hz(scale, top * double(i) / double(n_mel + 1));
  std::vector<float> filters(n_mel * n_bins);
  for (size_t m = 0; m < n_mel; ++m)
    for (size_t bin = 0; bin < n_bins; ++bin) {
      const double hz = double(bin) * double(rate) / double(n_window);
      const double rise = (hz - edges[m]) / (edges[m + 1] - edges[m]);
      const double fall = (edges[m + 2] - hz) / (edges[m + 2] - edges[m + 1]);
      const double height = scale == MelScale::kSlaney ? 2 / (edges[m + 2] - edges[m]) : 1;
      filters[m * n_bins + bin] = static_cast<float>(std::max(0.0, std::min(rise, fall)) * height);
    }
  return filters;
}

MelBank::MelBank(std::span<const float> filters, size_t n_window, const MelLog& log)
    : log_(log), bands_(filters.size() / (n_window / 2 + 1)), cosines_(n_window), sines_(n_window) {
  const size_t n_bins = n_window / 2 + 1;
  for (size_t m = 0; m < bands_.size(); ++m) {
    const std::span<const float> row = filters.subspan(m * n_bins, n_bins);
    const auto first = std::find_if(row.begin(), row.end(), [](float w) { return w != 0; });
    auto last = row.end();
    while (last != first && *(last - 1) == 0) --last;
    bands_[m].first = static_cast<size_t>(first - row.begin());
    bands_[m].weights.assign(first, last);
  }
  for (size_t i = 0; i < n_window; ++i) {
    const double angle = 2 * std::numbers::pi * double(i) / double(n_window);
    cosines_[i] = std::cos(angle);
    sines_[i] = -std::sin(angle);
  }
}

// One step of the Cooley-Tukey FFT: with n = 16 m, X[k] = sum over r < 16 of w^(r k) G_r[k mod m], with
// w = e^(-2 pi i / n), where G_r is the DFT of every 16th value starting at r.
void MelBank::power(const double* frame, double* bins) const {
  const size_t n = cosines_.size(), inner = n / kRadix;
  double re[kRadix][kMaxMelWindow / kRadix], im[kRadix][kMaxMelWindow / kRadix];
  for (size_t r = 0; r < kRadix; ++r)
    for (size_t k = 0; k <= inner / 2; ++k) {
      double a = 0, b = 0;
      for (size_t m = 0, angle = 0; m < inner; ++m) {
        a += frame[kRadix * m + r] * cosines_[angle];
        b += frame[kRadix * m + r] * sines_[angle];
        angle += kRadix * k;
        if (angle >= n) angle -= n;
      }
      re[r][k] = a;
      im[r][k] = b;
      if (k != 0) re[r][inner - k] = a, im[r][inner - k] = -b;  // the DFT of real values is symmetric
    }
  for (size_t k = 0; k <= n / 2; ++k) {
    double a = 0, b = 0;
    for (size_t r = 0, angle = 0; r < kRadix; ++r) {
      a += re[r][k % inner] * cosines_[angle] - im[r][k % inner] * sines_[angle];
      b += re[r][k % inner] * sines_[angle] + im[r][k % inner] * cosines_[angle];
      angle += k;
      if (angle >= n) angle -= n;
    }
    bins[k] = a * a + b * b;
  }
}

void MelBank::compute(const double* frame, float* out) const {
  double bins[kMaxMelWindow / 2 + 1];
  power(frame, bins);
  if (log_.magnitude)
    for (size_t k = 0; k <= cosines_.size() / 2; ++k) bins[k] = std::sqrt(bins[k]);
  for (size_t m = 0; m < bands_.size(); ++m) {
    double sum = 0;
    const Band& band = bands_[m];
    for (size_t k = 0; k < band.weights.size(); ++k) sum += bins[band.first + k] * band.weights[k];
    const double x = log_.added ? sum + log_.floor : std::max(sum, log_.floor);
    out[m] = static_cast<float>(log_.natural ? std::log(x) : std::log10(x));
  }
}

double MelBank::silence() const { return log_.natural ? std::log(log_.floor) : std::log10(log_.floor); }

Result<void> check_sample_count(uint64_t n) {
  constexpr uint64_t kMaxSamples = uint64_t{1} << 31;
  if (n > kMaxSamples)
    return fail(ErrorCode::kInvalidArgument, "the audio has more than 2^31 samples; split it into parts");
  return {};
}

}  // namespace ggufscope
