#include "media/log_mel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ggufscope {
namespace {

constexpr size_t kHalf = kMelWindow / 2;
constexpr double kRange = 8;                // values are clamped to this many powers of 10 below the largest
constexpr size_t kRadix = 16, kInner = 25;  // 400 = 16 * 25
constexpr uint64_t kMaxSamples = uint64_t{1} << 31;

// Slaney's mel scale: linear below 1 kHz, logarithmic above.
constexpr double kLinearHz = 200.0 / 3, kBreakHz = 1000;
const double kLogStep = std::log(6.4) / 27;

double to_mel(double hz) {
  return hz < kBreakHz ? hz / kLinearHz : kBreakHz / kLinearHz + std::log(hz / kBreakHz) / kLogStep;
}
double to_hz(double mel) {
  const double at_break = kBreakHz / kLinearHz;
  return mel < at_break ? mel * kLinearHz : kBreakHz * std::exp(kLogStep * (mel - at_break));
}

}  // namespace

std::vector<float> mel_filters(size_t n_mel) {
  std::vector<double> edges(n_mel + 2);
  const double top = to_mel(double{kMelSampleRate} / 2);
  for (size_t i = 0; i < edges.size(); ++i) edges[i] = to_hz(top * double(i) / double(n_mel + 1));
  std::vector<float> filters(n_mel * kMelBins);
  for (size_t m = 0; m < n_mel; ++m)
    for (size_t bin = 0; bin < kMelBins; ++bin) {
      const double hz = double(bin) * kMelSampleRate / kMelWindow;
      const double rise = (hz - edges[m]) / (edges[m + 1] - edges[m]);
      const double fall = (edges[m + 2] - hz) / (edges[m + 2] - edges[m + 1]);
      const double area = 2 / (edges[m + 2] - edges[m]);
      filters[m * kMelBins + bin] = static_cast<float>(std::max(0.0, std::min(rise, fall)) * area);
    }
  return filters;
}

LogMel::LogMel(std::span<const float> filters, double floor)
    : n_mel_(filters.size() / kMelBins),
      floor_(floor),
      bands_(n_mel_),
      hann_(kMelWindow),
      cosines_(kMelWindow),
      sines_(kMelWindow) {
  for (size_t m = 0; m < n_mel_; ++m) {
    const std::span<const float> row = filters.subspan(m * kMelBins, kMelBins);
    const auto first = std::find_if(row.begin(), row.end(), [](float w) { return w != 0; });
    auto last = row.end();
    while (last != first && *(last - 1) == 0) --last;
    bands_[m].first = static_cast<size_t>(first - row.begin());
    bands_[m].weights.assign(first, last);
  }
  for (size_t i = 0; i < kMelWindow; ++i) {
    const double angle = 2 * std::numbers::pi * double(i) / kMelWindow;
    hann_[i] = 0.5 - 0.5 * std::cos(angle);
    cosines_[i] = std::cos(angle);
    sines_[i] = -std::sin(angle);
  }
}

Result<void> LogMel::begin(uint64_t n_samples) {
  if (n_samples > kMaxSamples)
    return fail(ErrorCode::kInvalidArgument, "the audio has more than 2^31 samples; split it into parts");
  n_samples_ = n_samples;
  n_added_ = samples_at_ = 0;
  n_computed_ = 0;
  samples_.assign(kHalf, 0.0f);
  n_frames_ = static_cast<size_t>((n_samples + kMelPadding) / kMelStep);
  n_stored_ = std::min(n_frames_, static_cast<size_t>((n_samples + kHalf) / kMelStep) + 1);
  n_sound_frames_ = n_samples < kHalf ? (n_samples + kMelStep > kHalf ? 1 : 0)
                                      : 1 + static_cast<size_t>((n_samples - kHalf) / kMelStep);
  const uint64_t bytes = uint64_t{n_stored_} * n_mel_ * sizeof(float);
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

// One step of the Cooley-Tukey FFT: X[k] = sum over r < 16 of w^(r k) G_r[k mod 25], with w = e^(-2 pi i / 400), where
// G_r is the DFT of every 16th value starting at r.
void LogMel::power(const double* frame, double* bins) const {
  double re[kRadix][kInner], im[kRadix][kInner];
  for (size_t r = 0; r < kRadix; ++r)
    for (size_t k = 0; k <= kInner / 2; ++k) {
      double a = 0, b = 0;
      for (size_t m = 0, angle = 0; m < kInner; ++m) {
        a += frame[kRadix * m + r] * cosines_[angle];
        b += frame[kRadix * m + r] * sines_[angle];
        angle += kRadix * k;
        if (angle >= kMelWindow) angle -= kMelWindow;
      }
      re[r][k] = a;
      im[r][k] = b;
      if (k != 0) re[r][kInner - k] = a, im[r][kInner - k] = -b;  // the DFT of real values is symmetric
    }
  for (size_t k = 0; k < kMelBins; ++k) {
    double a = 0, b = 0;
    const size_t inner = k % kInner;
    for (size_t r = 0, angle = 0; r < kRadix; ++r) {
      a += re[r][inner] * cosines_[angle] - im[r][inner] * sines_[angle];
      b += re[r][inner] * sines_[angle] + im[r][inner] * cosines_[angle];
      angle += k;
      if (angle >= kMelWindow) angle -= kMelWindow;
    }
    bins[k] = a * a + b * b;
  }
}

void LogMel::compute(size_t first, size_t last) {
  double frame[kMelWindow], bins[kMelBins];
  for (size_t i = first; i < last; ++i) {
    const size_t at = static_cast<size_t>(uint64_t{i} * kMelStep - samples_at_);
    for (size_t j = 0; j < kMelWindow; ++j)
      frame[j] = at + j < samples_.size() ? hann_[j] * double(samples_[at + j]) : 0;
    power(frame, bins);
    float* out = values_.as<float>() + i * n_mel_;
    for (size_t m = 0; m < n_mel_; ++m) {
      double sum = 0;
      const Band& band = bands_[m];
      for (size_t k = 0; k < band.weights.size(); ++k) sum += bins[band.first + k] * band.weights[k];
      out[m] = static_cast<float>(std::log10(std::max(sum, floor_)));
    }
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

void LogMel::finish() {
  const size_t n = n_stored_ * n_mel_;
  float* values = values_.as<float>();
  double lowest = std::log10(floor_);  // the value of the padding
  for (size_t i = 0; i < n; ++i) lowest = std::max(lowest, double(values[i]));
  lowest -= kRange;
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>((std::max(double(values[i]), lowest) + 4) / 4);
  padding_ = static_cast<float>((std::max(std::log10(floor_), lowest) + 4) / 4);
  samples_ = {};
}

}  // namespace ggufscope
