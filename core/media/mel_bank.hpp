// The mel spectrum of one frame of audio: the DFT, a bank of triangular filters, a logarithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace ggufscope {

inline constexpr size_t kMelSampleRate = 16000;
inline constexpr size_t kMelWindow = 400;  ///< samples in a frame of Whisper's
inline constexpr size_t kMaxMelWindow = 1024;
inline constexpr double kMelFloor = 1e-10;  ///< Whisper's
inline constexpr double kMelFloorHalf =
    5.9604644775390625e-08;  ///< libmtmd's: 2^-24, the smallest half-precision value

enum class MelScale : uint8_t {
  kSlaney,  ///< linear below 1 kHz; filters of area 1
  kHtk,     ///< 2595 log10(1 + f / 700); filters of height 1
};

/// Filters [n_mel, n_window / 2 + 1], evenly spaced on the mel scale from 0 to half the rate. Whisper's files hold the
/// default ones. n_mel must be at least 1.
[[nodiscard]] std::vector<float> mel_filters(size_t n_mel, size_t n_window = kMelWindow, size_t rate = kMelSampleRate,
                                             MelScale scale = MelScale::kSlaney);

/// What becomes of the sum x that a filter gives.
struct MelLog {
  double floor = kMelFloor;  ///< log10(max(x, floor))
  bool natural = false;      ///< the natural logarithm
  bool magnitude = false;    ///< sums of |DFT| instead of |DFT|^2
  bool added = false;        ///< log(x + floor)
};

class MelBank {
 public:
  /// filters: [n_mel, n_window / 2 + 1]. n_window must be a multiple of 16 and at most kMaxMelWindow.
  MelBank(std::span<const float> filters, size_t n_window, const MelLog& log);

  [[nodiscard]] size_t n_mel() const { return bands_.size(); }
  [[nodiscard]] size_t n_window() const { return cosines_.size(); }
  /// frame: [n_window], multiplied by the window. out: [n_mel].
  void compute(const double* frame, float* out) const;
  /// The value of silence.
  [[nodiscard]] double silence() const;

 private:
  struct Band {
    size_t first = 0;
    std::vector<double> weights;  // for the bins from `first` on
  };
  void power(const double* frame, double* bins) const;

  MelLog log_;
  std::vector<Band> bands_;
  std::vector<double> cosines_, sines_;  // [n_window]
};

/// Checks the number of samples of one recording. Error: kInvalidArgument for more than 2^31.
[[nodiscard]] Result<void> check_sample_count(uint64_t n);

}  // namespace ggufscope
