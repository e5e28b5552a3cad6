// Whisper's log-mel spectrogram (Radford et al. 2022) of audio at 16 kHz:
//
//   1. Pad. In front: samples 1..200 mirrored (for shorter audio, zeros before them). Behind: 30 s and 200 zeros.
//   2. Cut frames of 400 samples every 160. Their number is (length - 400) / 160, where length includes the padding.
//   3. Periodic Hann window 0.5 - 0.5 cos(2 pi i / 400); |DFT|^2 in 201 bins; a bank of mel filters.
//   4. y = log10(max(x, floor)), clamped to at least the largest y of the whole audio minus 8; then (y + 4) / 4.
//
// Audio may be added in chunks of any length. Only samples that later frames need are kept.
#pragma once

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "media/mel_bank.hpp"

namespace ggufscope {

inline constexpr size_t kMelStep = 160;  ///< samples between the starts of two frames
inline constexpr size_t kMelBins = kMelWindow / 2 + 1;
inline constexpr size_t kMelPadding = 30 * kMelSampleRate;  ///< zeros after the audio

class LogMel {
 public:
  /// filters: [n_mel, 201]. n_mel follows from their number.
  explicit LogMel(std::span<const float> filters);

  /// Starts a spectrogram of n_samples samples. Errors: kOutOfMemory; kInvalidArgument above 2^31 samples (37 hours).
  [[nodiscard]] Result<void> start(uint64_t n_samples);
  /// Adds the next samples. Error: kInvalidArgument for more samples than start() announced or for NaN and infinity.
  /// Samples that were added before are kept.
  [[nodiscard]] Result<void> add(std::span<const float> samples);
  /// Frames first() to ready() (exclusive) can be computed from the samples so far. compute(first, last) computes a
  /// range of them; several threads may compute different ranges at the same time. consume() then frees the samples
  /// that no later frame needs.
  [[nodiscard]] size_t first() const { return n_computed_; }
  [[nodiscard]] size_t ready() const;
  void compute(size_t first, size_t last);
  void consume();
  /// Applies step 4 of the formula. All samples must have been added and all frames computed.
  void flush();

  [[nodiscard]] size_t n_mel() const { return bank_.n_mel(); }
  /// n_frames(): all frames, including those of the padding. n_stored(): the first frames, which overlap the audio.
  [[nodiscard]] size_t n_frames() const { return n_frames_; }
  [[nodiscard]] size_t n_stored() const { return n_stored_; }
  /// [n_stored, n_mel]. Every value of the other frames equals padding().
  [[nodiscard]] const float* values() const { return values_.as<float>(); }
  [[nodiscard]] float padding() const { return padding_; }
  /// The number of frames that lie completely inside the audio, as whisper.cpp counts them: 1 + (n_samples - 200) /
  /// 160, at least 0.
  [[nodiscard]] size_t n_sound_frames() const { return n_sound_frames_; }

 private:
  MelBank bank_;
  std::vector<double> hann_;  // [400]
  Buffer values_;
  std::vector<float> samples_;  // the padded audio from position samples_at_ on
  uint64_t samples_at_ = 0, n_samples_ = 0, n_added_ = 0;
  size_t n_frames_ = 0, n_stored_ = 0, n_sound_frames_ = 0, n_computed_ = 0;
  float padding_ = 0;
};

}  // namespace ggufscope
