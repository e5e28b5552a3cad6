// Sound from spectra: each frame's magnitudes and phases give a windowed piece of sound, and the pieces are added where
// they overlap (Vocos' ISTFT head, Siuzdak 2023).
//
//   piece t   = hann * inverse DFT of the spectrum [n_fft / 2 + 1] of frame t, at sample t * hop - (n_fft - hop) / 2
//   samples   = sum of the pieces / sum of the squared windows: hop samples for each frame
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace ggufscope {

/// The inverse discrete Fourier transform of any length: sum over m of values[m] e^(2 pi i m k / n), by the smallest
/// factors of n first.
class InverseDft {
 public:
  explicit InverseDft(size_t n);
  /// Overwrites values [n].
  void run(std::vector<std::complex<double>>& values);

 private:
  void transform(const std::complex<double>* in, size_t stride, size_t n, std::complex<double>* out);

  std::vector<std::complex<double>> turns_;  // e^(2 pi i k / n)
  std::vector<std::complex<double>> in_;
  std::vector<std::complex<double>> part_;  // one value for each part, while parts are joined
};

class InverseStft {
 public:
  /// n_fft: a multiple of 4; hop: n_fft / 4.
  explicit InverseStft(size_t n_fft);
  [[nodiscard]] size_t hop() const { return window_.size() / 4; }
  [[nodiscard]] size_t n_bins() const { return window_.size() / 2 + 1; }
  /// Appends n * hop() samples from -1 to 1. spectra [n, 2, n_bins()]: logarithms of magnitudes, which are at most 100,
  /// then phases.
  void append(std::span<const float> spectra, size_t n, std::vector<float>& samples);

 private:
  std::vector<double> window_;
  InverseDft dft_;
  std::vector<std::complex<double>> values_;
};

}  // namespace ggufscope
