// Finds the frames of audio that are loud enough.
#include "media/voice_activity.hpp"

#include <algorithm>

namespace ggufscope {

void VoiceActivity::start(float threshold) {
  active_.clear();
  least_ = double(threshold) * double(threshold) * double{kActivityFrame};
  energy_ = 0;
  n_samples_ = 0;
}

void VoiceActivity::add(std::span<const float> samples) {
  for (const float x : samples) {
    energy_ += double(x) * double(x);
    if (++n_samples_ % kActivityFrame != 0) continue;
    active_.push_back(is_active());
    energy_ = 0;
  }
}

size_t VoiceActivity::next_active(size_t frame) const {
  while (frame < active_.size() && !active_[frame]) ++frame;
  if (frame < active_.size() || (frame < n_frames() && is_active())) return frame;
  return std::max(frame, n_frames());
}

}  // namespace ggufscope
