// The inverse short-time Fourier transform.
#include "media/inverse_stft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ggufscope {
namespace {

using Complex = std::complex<double>;
constexpr double kMaxMagnitude = 100;

size_t smallest_factor(size_t n) {
  for (size_t f = 2; f * f <= n; ++f)
    if (n % f == 0) return f;
  return n;
}

// std::complex's product checks for infinities, which is slow.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

InverseDft::InverseDft(size_t n) : turns_(n), in_(n), part_(n) {
  for (size_t k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * double(k) / double(n);
    turns_[k] = {std::cos(angle), std::sin(angle)};
  }
}

void InverseDft::run(std::vector<Complex>& values) {
  in_ = values;
  transform(in_.data(), 1, in_.size(), values.data());
}

// Transforms the n values in[0], in[stride], ...: those of each f-th value first, which are then joined. n * stride is
// the length of the whole.
void InverseDft::transform(const Complex* in, size_t stride, size_t n, Complex* out) {
  if (n == 1) {
    *out = *in;
    return;
  }
  const size_t f = smallest_factor(n), m = n / f;
  for (size_t r = 0; r < f; ++r) transform(in + r * stride, stride * f, m, out + r * m);
  for (size_t k = 0; k < m; ++k) {
    for (size_t r = 0; r < f; ++r) part_[r] = product(out[r * m + k], turns_[r * k * stride]);
    for (size_t q = 0; q < f; ++q) {
      Complex sum = part_[0];
      for (size_t r = 1; r < f; ++r) sum += product(part_[r], turns_[r * q % f * m * stride]);
      out[q * m + k] = sum;
    }
  }
}

InverseStft::InverseStft(size_t n_fft) : window_(n_fft), dft_(n_fft), values_(n_fft) {
  for (size_t i = 0; i < n_fft; ++i)
    window_[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * double(i) / double(n_fft));
}

void InverseStft::append(std::span<const float> spectra, size_t n, std::vector<float>& samples) {
  if (n == 0) return;
  const size_t n_fft = window_.size(), half = n_fft / 2, padding = (n_fft - hop()) / 2;
  std::vector<double> sums((n - 1) * hop() + n_fft), weights(sums.size());
  for (size_t t = 0; t < n; ++t) {
    const float* magnitudes = spectra.data() + t * 2 * n_bins();
    const float* phases = magnitudes + n_bins();
    for (size_t k = 0; k <= half; ++k) {
      const double magnitude = std::min(std::exp(double(magnitudes[k])), kMaxMagnitude);
      // The spectrum of real values is symmetric, and its first and middle values are real.
      const bool real = k == 0 || k == half;
      const Complex value{magnitude * std::cos(double(phases[k])), real ? 0 : magnitude * std::sin(double(phases[k]))};
      values_[k] = value;
      if (!real) values_[n_fft - k] = std::conj(value);
    }
    dft_.run(values_);
    for (size_t i = 0; i < n_fft; ++i) {
      sums[t * hop() + i] += window_[i] * values_[i].real() / double(n_fft);
      weights[t * hop() + i] += window_[i] * window_[i];
    }
  }
  for (size_t i = padding; i < sums.size() - padding; ++i)
    samples.push_back(static_cast<float>(std::clamp(sums[i] / weights[i], -1.0, 1.0)));
}

}  // namespace ggufscope
