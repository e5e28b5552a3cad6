// Whisper's log-mel spectrogram (Radford et al. 2022), of sound at 16 kHz:
//
//   1. in front, samples 1..200 mirrored (fewer of a shorter sound, zeros before them); behind, 30 s and 200 zeros
//   2. frames of 400 samples every 160; their number is (length - 400) / 160, where length counts the padding
//   3. periodic Hann window 0.5 - 0.5 cos(2 pi i / 400); |DFT|^2 in 201 bins; a bank of mel filters
//   4. log10(max(x, floor)), not below the largest value of the whole sound less 8; (x + 4) / 4
//
// Sound arrives in pieces of any length, and only what the next frame needs of it is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/error.hpp"

namespace ggufscope {

inline constexpr size_t kMelSampleRate = 16000;
inline constexpr size_t kMelWindow = 400;  ///< samples of a frame
inline constexpr size_t kMelStep = 160;    ///< samples from frame to frame
inline constexpr size_t kMelBins = kMelWindow / 2 + 1;
inline constexpr double kMelFloor = 1e-10;                       ///< Whisper's
inline constexpr double kMelFloorHalf = 5.9604644775390625e-08;  ///< libmtmd's: 2^-24, the least half
inline constexpr size_t kMelPadding = 30 * kMelSampleRate;       ///< zeros behind the sound

/// Triangular filters [n_mel, 201], evenly spaced on Slaney's mel scale from 0 to 8 kHz, each of area 1: what Whisper's
/// files hold. 1 <= n_mel.
[[nodiscard]] std::vector<float> mel_filters(size_t n_mel);

class LogMel {
 public:
  /// filters [n_mel, 201]; n_mel is what divides them.
  explicit LogMel(std::span<const float> filters, double floor = kMelFloor);

  /// A new sound of n_samples in all. kOutOfMemory; kInvalidArgument beyond 2^31 samples (37 hours).
  [[nodiscard]] Result<void> begin(uint64_t n_samples);
  /// Its next samples. kInvalidArgument for more than begin was told, or one that is not a number; what was added
  /// before stays.
  [[nodiscard]] Result<void> add(std::span<const float> samples);
  /// Frames first() .. ready() wait: all that the samples so far make. compute(first, last) makes some of them, on any
  /// thread, different ones at the same time; consume() lets go of samples that no later frame needs.
  [[nodiscard]] size_t first() const { return n_computed_; }
  [[nodiscard]] size_t ready() const;
  void compute(size_t first, size_t last);
  void consume();
  /// All samples are there, and all frames computed: the last step of the formula.
  void finish();

  [[nodiscard]] size_t n_mel() const { return n_mel_; }
  /// Frames in all, those of the padding included; and those of them that hear anything, which are the first.
  [[nodiscard]] size_t n_frames() const { return n_frames_; }
  [[nodiscard]] size_t n_stored() const { return n_stored_; }
  /// [n_stored, n_mel]; each value of the other frames is padding().
  [[nodiscard]] const float* values() const { return values_.as<float>(); }
  [[nodiscard]] float padding() const { return padding_; }
  /// Frames that lie wholly in the sound, as whisper.cpp counts them: 1 + (n_samples - 200) / 160, at least 0.
  [[nodiscard]] size_t n_sound_frames() const { return n_sound_frames_; }

 private:
  struct Band {
    size_t first = 0;
    std::vector<double> weights;  // of bins first ..
  };
  void power(const double* frame, double* bins) const;

  size_t n_mel_;
  double floor_;
  std::vector<Band> bands_;
  std::vector<double> hann_, cosines_, sines_;  // [400]
  Buffer values_;
  std::vector<float> samples_;  // padded sound from position samples_at_ on
  uint64_t samples_at_ = 0, n_samples_ = 0, n_added_ = 0;
  size_t n_frames_ = 0, n_stored_ = 0, n_sound_frames_ = 0, n_computed_ = 0;
  float padding_ = 0;
};

}  // namespace ggufscope
