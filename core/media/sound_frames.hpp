// What the encoders of audio projectors read: frames of a log-mel spectrogram, as llama.cpp's libmtmd computes them
// (tools/mtmd/mtmd-audio.cpp), cut into parts that are encoded separately.
#pragma once

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "media/mel_bank.hpp"

namespace ggufscope {

/// What precedes and follows the samples.
enum class SoundEdge : uint8_t {
  kSilence,
  kMirrorFront,   ///< mirrored samples before, silence behind
  kMirror,        ///< mirrored samples, silence where there are none
  kMirrorRepeat,  ///< mirrored samples, the last one where there are none
};

/// How the logarithms are scaled.
enum class SoundScale : uint8_t {
  kNone,
  kWhisper,   ///< clamped to at least the largest minus 8; (x + 4) / 4
  kBands,     ///< each band: (x - mean) / (deviation + 1e-5) over the whole steps of the audio; 0 after those
  kBandsAll,  ///< the same, also after the whole steps
};

struct SoundRule {
  uint32_t rate = kMelSampleRate;
  uint32_t n_mel = 0;                              ///< values in a frame
  size_t n_frame = kMelWindow, step = 160;         ///< samples; n_frame 0: the frames are the samples
  size_t n_window = kMelWindow, window_first = 0;  ///< Hann's window inside a frame
  bool closed = false;                             ///< the window ends with 0
  size_t before = kMelWindow / 2;                  ///< samples in the first frame that precede the audio
  SoundEdge edge = SoundEdge::kMirrorFront;
  bool emphasized = false;  ///< x[i] - 0.97 x[i - 1]
  MelScale scale = MelScale::kSlaney;
  MelLog log{.floor = kMelFloorHalf};
  SoundScale scaling = SoundScale::kWhisper;
  size_t stack = 1;         ///< consecutive frames that make one; a rest is left out
  size_t part_frames = 0;   ///< frames (before stacking) in a part; 0: any number
  size_t rest_frames = 1;   ///< the last part is filled with zeros to a multiple of so many
  bool silent_end = false;  ///< parts are filled with silence, of which at least a step follows the audio
  size_t part_samples = 0;  ///< each so many samples are a part, as if there were no others; 0: no
  size_t fewest = 1;        ///< samples
};

class SoundFrames {
 public:
  /// Empty filters and window: those of the rule. Otherwise [n_mel, n_frame / 2 + 1] and [n_window].
  SoundFrames(const SoundRule& rule, std::span<const float> filters, std::span<const float> window);

  /// The number of parts of n samples, and the frames in part i after stacking.
  [[nodiscard]] static size_t n_parts(const SoundRule& rule, uint64_t n_samples);
  [[nodiscard]] static size_t part_frames(const SoundRule& rule, uint64_t n_samples, size_t i);

  /// Error: kOutOfMemory.
  [[nodiscard]] Result<void> start(std::vector<float> samples);
  /// The work is divided into steps. In each, frames first() to last() (exclusive) are computed, of which several
  /// threads may compute different ranges at the same time. end_step() returns false after the last step.
  [[nodiscard]] size_t n_steps() const;
  [[nodiscard]] size_t first() const { return n_done_; }
  [[nodiscard]] size_t last() const;
  void compute(size_t first, size_t last);
  bool end_step();
  /// [part_frames, stack * n_mel], after the last step.
  [[nodiscard]] std::vector<float> part(size_t i) const;

 private:
  void compute_frame(size_t frame, float* out) const;
  void scale();
  [[nodiscard]] float sample(uint64_t first, uint64_t n, int64_t i) const;

  SoundRule rule_;
  MelBank bank_;
  std::vector<float> window_;  // [n_window]
  std::vector<float> samples_;
  Buffer values_;  // [n_frames_, n_mel]
  uint64_t n_samples_ = 0;
  size_t n_frames_ = 0, n_done_ = 0;
};

}  // namespace ggufscope
