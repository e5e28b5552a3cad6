// Computes Whisper's log-mel spectrogram as samples arrive.
#include "media/log_mel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ggufscope {
namespace {

constexpr size_t kHalf = kMelWindow / 2;
constexpr double kRange = 8;  // values are clamped to this many powers of 10 below the largest

}  // namespace

LogMel::LogMel(std::span<const float> filters) : bank_(filters, kMelWindow, {}), hann_(kMelWindow) {
  for (size_t i = 0; i < kMelWindow; ++i)
    hann_[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * double(i) / double{kMelWindow});
}

Result<void> LogMel::start(uint64_t n_samples) {
  if (const Result<void> good = check_sample_count(n_samples); !good) return good;
  n_samples_ = n_samples;
  n_added_ = samples_at_ = 0;
  n_computed_ = 0;
  samples_.assign(kHalf, 0.0f);
  n_frames_ = static_cast<size_t>((n_samples + kMelPadding) / kMelStep);
  n_stored_ = std::min(n_frames_, static_cast<size_t>((n_samples + kHalf) / kMelStep) + 1);
  n_sound_frames_ = n_samples < kHalf ? (n_samples + kMelStep > kHalf ? 1 : 0)
                                      : 1 + static_cast<size_t>((n_samples - kHalf) / kMelStep);
  const uint64_t bytes = uint64_t{n_stored_} * n_mel() * sizeof(float);
  if (values_.size() == bytes) return {};
  values_ = Buffer();
  Result<Buffer> made = Buffer::allocate(bytes);
  if (!made) return std::unexpected(made.error());
  values_ = std::move(*made);
  return {};
}

Result<void> LogMel::add(std::span<const float> samples) {
  if (samples.size() > n_samples_ - n_added_)
    return fail(ErrorCode::kInvalidArgument, "more samples than were announced");
  for (size_t i = 0; i < samples.size(); ++i)
    if (!std::isfinite(samples[i]))
      return fail(ErrorCode::kInvalidArgument,
                  "sample " + std::to_string(n_added_ + i) + " of the audio is not a finite number");
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  // Reflection padding: sample j is stored at 200 + j and at 200 - j. No frame is consumed before the reflection is
  // complete.
  for (uint64_t j = std::max<uint64_t>(n_added_, 1); j < n_added_ + samples.size() && j <= kHalf; ++j)
    samples_[static_cast<size_t>(kHalf - j)] = samples_[static_cast<size_t>(kHalf + j)];
  n_added_ += samples.size();
  return {};
}

size_t LogMel::ready() const {
  if (n_added_ == n_samples_) return n_stored_;
  if (n_added_ <= kHalf) return 0;
  // Frame i ends before padded sample 160 i + 400.
  const uint64_t padded = n_added_ + kHalf;
  return padded < kMelWindow ? 0 : static_cast<size_t>((padded - kMelWindow) / kMelStep) + 1;
}

void LogMel::compute(size_t first, size_t last) {
  double frame[kMelWindow];
  for (size_t i = first; i < last; ++i) {
    const size_t at = static_cast<size_t>(uint64_t{i} * kMelStep - samples_at_);
    float* const out = values_.as<float>() + i * n_mel();
    const size_t begin = std::min(at, samples_.size()), n = std::min(kMelWindow, samples_.size() - begin);
    const std::span<const float> window = std::span<const float>(samples_).subspan(begin, n);
    if (std::ranges::all_of(window, [](float x) { return x == 0; })) {
      std::fill_n(out, n_mel(), static_cast<float>(bank_.silence()));
      continue;
    }
    for (size_t j = 0; j < kMelWindow; ++j) frame[j] = j < n ? hann_[j] * double(window[j]) : 0;
    bank_.compute(frame, out);
  }
}

void LogMel::consume() {
  n_computed_ = ready();
  const uint64_t next = uint64_t{n_computed_} * kMelStep;
  if (next <= samples_at_) return;
  const size_t gone = std::min(samples_.size(), static_cast<size_t>(next - samples_at_));
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(gone));
  samples_at_ += gone;
}

void LogMel::flush() {
  const size_t n = n_stored_ * n_mel();
  float* values = values_.as<float>();
  double lowest = bank_.silence();  // the value of the padding
  for (size_t i = 0; i < n; ++i) lowest = std::max(lowest, double(values[i]));
  lowest -= kRange;
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>((std::max(double(values[i]), lowest) + 4) / 4);
  padding_ = static_cast<float>((std::max(bank_.silence(), lowest) + 4) / 4);
  samples_ = {};
}

}  // namespace ggufscope
