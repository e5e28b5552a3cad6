// Voice activity by energy: audio is cut into frames of 10 ms, and a frame is active if the root mean square of its
// samples reaches a threshold. Noise and music are active, too.
//
// Samples are from -1 to 1, so 0.0003 is -70 dB of full scale: below the noise of most microphones, and ten steps of
// 16-bit samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ggufscope {

inline constexpr float kSilenceThreshold = 0.0003f;
inline constexpr size_t kActivityFrame = 160;  ///< samples: 10 ms at 16 kHz

class VoiceActivity {
 public:
  /// Starts with no samples. threshold: root mean square from which a frame is active; at 0, every frame is.
  void start(float threshold);
  /// Adds the next samples, in chunks of any length. They must be finite.
  void add(std::span<const float> samples);

  /// The number of frames that have begun. The last one may be incomplete.
  [[nodiscard]] size_t n_frames() const { return (n_samples_ + kActivityFrame - 1) / kActivityFrame; }
  /// The first active frame from `frame` on; n_frames() if there is none.
  [[nodiscard]] size_t next_active(size_t frame) const;

 private:
  [[nodiscard]] bool is_active() const { return energy_ >= least_; }

  std::vector<bool> active_;  // of the complete frames
  double least_ = 0;          // least sum of squares of an active frame
  double energy_ = 0;         // sum of squares of the last, incomplete frame
  size_t n_samples_ = 0;
};

}  // namespace ggufscope
