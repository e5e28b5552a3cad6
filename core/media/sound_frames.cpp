// Computes the frames that audio encoders read.
#include "media/sound_frames.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ggufscope {
namespace {

constexpr size_t kStepFrames = 3000;
constexpr double kDynamicRange = 8;
constexpr double kMinDeviation = 1e-5;
constexpr float kEmphasis = 0.97f;

// Frames of n samples that are followed by nothing.
size_t frames_of(const SoundRule& rule, uint64_t n) {
  if (rule.n_frame == 0) return static_cast<size_t>((n + rule.n_mel - 1) / rule.n_mel);
  if (rule.part_samples == 0) return static_cast<size_t>(n / rule.step) + 1;
  // With one sample more than the window in each frame.
  const uint64_t padded = n + rule.before, min = rule.n_window + 1;
  return padded < min ? 1 : static_cast<size_t>((padded - min) / rule.step) + 1;
}

size_t all_frames(const SoundRule& rule, uint64_t n) {
  if (rule.silent_end) return SoundFrames::n_parts(rule, n) * rule.part_frames;
  if (rule.part_samples == 0) return frames_of(rule, n);
  const uint64_t whole = n / rule.part_samples, rest = n % rule.part_samples;
  return static_cast<size_t>(whole) * frames_of(rule, rule.part_samples) + (rest != 0 ? frames_of(rule, rest) : 0);
}

std::vector<float> hann(size_t n, bool closed) {
  std::vector<float> window(n);
  const double period = double(closed ? n - 1 : n);
  for (size_t i = 0; i < n; ++i)
    window[i] = static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * double(i) / period));
  return window;
}

}  // namespace

size_t SoundFrames::n_parts(const SoundRule& rule, uint64_t n) {
  if (rule.part_samples != 0) return static_cast<size_t>((n + rule.part_samples - 1) / rule.part_samples);
  // The spectrogram has n / step + 1 frames and a whole part of silence; an incomplete part is left out.
  if (rule.silent_end) return static_cast<size_t>((n / rule.step + 1) / rule.part_frames) + 1;
  return rule.part_frames == 0 ? 1 : (frames_of(rule, n) + rule.part_frames - 1) / rule.part_frames;
}

size_t SoundFrames::part_frames(const SoundRule& rule, uint64_t n, size_t i) {
  if (rule.silent_end) return rule.part_frames;
  if (rule.part_samples != 0)
    return frames_of(rule, std::min<uint64_t>(n - uint64_t{i} * rule.part_samples, rule.part_samples));
  size_t frames = frames_of(rule, n);
  if (rule.part_frames != 0) frames = std::min(frames - i * rule.part_frames, rule.part_frames);
  return (frames + rule.rest_frames - 1) / rule.rest_frames * rule.rest_frames / rule.stack;
}

SoundFrames::SoundFrames(const SoundRule& rule, std::span<const float> filters, std::span<const float> window)
    : rule_(rule),
      bank_(filters.empty() && rule.n_frame != 0
                ? std::span<const float>(mel_filters(rule.n_mel, rule.n_frame, rule.rate, rule.scale))
                : filters,
            std::max<size_t>(rule.n_frame, 16), rule.log),
      window_(window.empty() ? hann(rule.n_window, rule.closed) : std::vector<float>(window.begin(), window.end())) {}

Result<void> SoundFrames::start(std::vector<float> samples) {
  samples_ = std::move(samples);
  n_samples_ = samples_.size();
  n_frames_ = all_frames(rule_, n_samples_);
  n_done_ = 0;
  values_ = Buffer();
  Result<Buffer> made = Buffer::allocate(uint64_t{n_frames_} * rule_.n_mel * sizeof(float));
  if (!made) return std::unexpected(made.error());
  values_ = std::move(*made);
  return {};
}

size_t SoundFrames::n_steps() const { return (n_frames_ + kStepFrames - 1) / kStepFrames; }

size_t SoundFrames::last() const { return std::min(n_done_ + kStepFrames, n_frames_); }

void SoundFrames::compute(size_t first, size_t last) {
  for (size_t i = first; i < last; ++i) compute_frame(i, values_.as<float>() + i * rule_.n_mel);
}

bool SoundFrames::end_step() {
  n_done_ = last();
  if (n_done_ < n_frames_) return true;
  scale();
  samples_ = {};
  return false;
}

// Sample i, which may lie outside, of n samples from `first` on.
float SoundFrames::sample(uint64_t first, uint64_t n, int64_t i) const {
  const auto count = static_cast<int64_t>(n);
  if (i < 0 || i >= count) {
    if (rule_.edge == SoundEdge::kSilence || (i >= count && rule_.edge == SoundEdge::kMirrorFront)) return 0;
    const int64_t mirrored = i < 0 ? -i : 2 * (count - 1) - i;
    if (rule_.edge == SoundEdge::kMirrorRepeat) {
      i = std::clamp<int64_t>(mirrored, 0, count - 1);
    } else if (mirrored < 0 || mirrored >= count) {
      return 0;
    } else {
      i = mirrored;
    }
  }
  const float* x = samples_.data() + first + i;
  return rule_.emphasized && i > 0 ? x[0] - kEmphasis * x[-1] : x[0];
}

void SoundFrames::compute_frame(size_t frame, float* out) const {
  uint64_t first = 0, n = n_samples_;
  if (rule_.part_samples != 0) {
    const size_t each = frames_of(rule_, rule_.part_samples), part = frame / each;
    first = uint64_t{part} * rule_.part_samples;
    n = std::min<uint64_t>(n - first, rule_.part_samples);
    frame -= part * each;
  }
  if (rule_.n_frame == 0) {
    for (size_t i = 0; i < rule_.n_mel; ++i) out[i] = sample(0, n, static_cast<int64_t>(frame * rule_.n_mel + i));
    return;
  }
  const int64_t at = static_cast<int64_t>(uint64_t{frame} * rule_.step) - static_cast<int64_t>(rule_.before);
  if (rule_.silent_end && at >= static_cast<int64_t>(n)) {
    std::fill_n(out, rule_.n_mel, static_cast<float>(bank_.silence()));
    return;
  }
  double windowed[kMaxMelWindow] = {};
  for (size_t j = 0; j < rule_.n_window; ++j) {
    const size_t k = rule_.window_first + j;
    windowed[k] = double(window_[j]) * double(sample(first, n, at + static_cast<int64_t>(k)));
  }
  bank_.compute(windowed, out);
}

void SoundFrames::scale() {
  const size_t n_mel = rule_.n_mel, n = n_frames_ * n_mel;
  float* values = values_.as<float>();
  if (rule_.scaling == SoundScale::kNone) return;
  if (rule_.scaling == SoundScale::kWhisper) {
    const double lowest = double(*std::max_element(values, values + n)) - kDynamicRange;
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>((std::max(double(values[i]), lowest) + 4) / 4);
    return;
  }
  const bool all = rule_.scaling == SoundScale::kBandsAll;
  const size_t n_whole = std::min(static_cast<size_t>(n_samples_ / rule_.step), n_frames_);
  for (size_t m = 0; m < n_mel; ++m) {
    double mean = 0, variance = 0;
    for (size_t t = 0; t < n_whole; ++t) mean += double(values[t * n_mel + m]);
    mean /= double(n_whole);
    for (size_t t = 0; t < n_whole; ++t) variance += std::pow(double(values[t * n_mel + m]) - mean, 2);
    variance /= double(n_whole) - 1;
    const double deviation = std::sqrt(variance) + kMinDeviation;
    for (size_t t = 0; t < n_frames_; ++t) {
      float& value = values[t * n_mel + m];
      value = t < n_whole || all ? static_cast<float>((double(value) - mean) / deviation) : 0;
    }
  }
}

std::vector<float> SoundFrames::part(size_t i) const {
  const size_t n_mel = rule_.n_mel;
  const size_t each = rule_.part_samples != 0 ? frames_of(rule_, rule_.part_samples) : rule_.part_frames;
  std::vector<float> out(part_frames(rule_, n_samples_, i) * rule_.stack * n_mel);
  const size_t first = i * each * n_mel, n = std::min(out.size(), n_frames_ * n_mel - first);
  std::copy_n(values_.as<float>() + first, n, out.begin());
  return out;
}

}  // namespace ggufscope
