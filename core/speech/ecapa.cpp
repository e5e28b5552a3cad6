// Encodes a voice part by part of each layer, so that the caller can stop between two parts.
#include "speech/ecapa.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "media/sound_frames.hpp"
#include "nn/halves.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxMel = 1024, kMaxVoiceBlocks = 64;
constexpr size_t kMaxChannels = 1 << 14;
constexpr size_t kVoicePart = 256;
constexpr size_t kMaxRecordingSeconds = 60;
constexpr size_t kVoiceFrame = 1024, kVoiceHop = 256;
constexpr double kVarianceFloor = 1e-12;

SoundRule mel_rule(uint32_t n_mel) {
  return {.rate = kSpeechRate,
          .n_mel = n_mel,
          .n_frame = kVoiceFrame,
          .step = kVoiceHop,
          .n_window = kVoiceFrame,
          .before = (kVoiceFrame - kVoiceHop) / 2,
          .edge = SoundEdge::kMirror,
          .log = {.floor = 1e-5, .natural = true, .magnitude = true},
          .scaling = SoundScale::kNone};
}

float deviation_of(double mean_square, double mean) {
  return static_cast<float>(std::sqrt(std::max(mean_square - mean * mean, 0.0) + kVarianceFloor));
}

// StridedRows of a matrix whose rows are `stride` floats apart.
struct StridedRows {
  float* data = nullptr;
  size_t stride = 0;
  [[nodiscard]] float* row(size_t t) const { return data + t * stride; }
  [[nodiscard]] StridedRows from(size_t channel) const { return {data + channel, stride}; }
};

// The rows that a convolution of the input's length reads on each side.
size_t mirrored_rows(const CausalConvolution& by) { return (by.n_kernel - 1) * by.dilation / 2; }

enum class VoiceLayer : uint8_t { kFront, kFirst, kPart, kSecond, kGate, kGather, kScores, kPool };
struct VoiceStep {
  VoiceLayer layer = VoiceLayer::kFront;
  size_t block = 0, part = 0;
};

class EcapaEncoder final : public VoiceEncoder {
 public:
  EcapaEncoder(const EcapaWeights& weights, Pool& pool)
      : w_(weights), pool_(pool), mel_(mel_rule(weights.n_mel), {}, {}) {
    steps_.push_back({VoiceLayer::kFront});
    for (size_t b = 0; b < w_.blocks.size(); ++b) {
      steps_.push_back({VoiceLayer::kFirst, b});
      for (size_t i = 0; i < w_.blocks[b]->parts.size(); ++i) steps_.push_back({VoiceLayer::kPart, b, i});
      steps_.push_back({VoiceLayer::kSecond, b});
      steps_.push_back({VoiceLayer::kGate, b});
    }
    for (const VoiceLayer layer : {VoiceLayer::kGather, VoiceLayer::kScores, VoiceLayer::kPool})
      steps_.push_back({layer});
  }

  Result<void> start(std::vector<float> samples) override;
  bool step() override;

 private:
  [[nodiscard]] size_t n_min() const;
  [[nodiscard]] Result<void> allocate();
  bool compute_mel();
  void run(const VoiceStep& step, size_t first, size_t n);
  void run_part(const VoiceStep& step, size_t first, size_t n);
  void finish(const VoiceStep& step);
  void finish_gate(const EcapaBlock& block);
  void finish_gather();
  void finish_row();
  void convolve(const CausalConvolution& by, StridedRows x, size_t first, size_t n, float* y);
  void score(size_t first, size_t n);
  void add_weighted(size_t first, size_t n);
  /// What block b reads, and what it gives.
  [[nodiscard]] StridedRows input(size_t b) const { return b == 0 ? front_ : blocks_.from((b - 1) * w_.n); }
  [[nodiscard]] StridedRows output(size_t b) const { return blocks_.from(b * w_.n); }

  const EcapaWeights& w_;
  Pool& pool_;
  SoundFrames mel_;
  std::vector<VoiceStep> steps_;
  std::vector<float> mel_values_;        // [n_, n_mel], after the last step of mel_
  size_t n_ = 0, at_step_ = 0, at_ = 0;  // rows; the step, and its rows that are done
  Arena arena_;
  StridedRows front_, hidden_, split_, blocks_, gathered_, scores_;  // [n_, ...]
  float *taps_ = nullptr, *out_ = nullptr;                           // of kVoicePart rows
  std::vector<float> gate_, mean_, deviation_, largest_;
  std::vector<double> weight_, weighted_, squares_;
};

// Mirroring needs so many rows.
size_t EcapaEncoder::n_min() const {
  size_t n_rows = mirrored_rows(w_.front);
  for (const auto& block : w_.blocks)
    for (const auto& part : block->parts) n_rows = std::max(n_rows, mirrored_rows(*part));
  return std::max((n_rows + 1) * kVoiceHop, (kVoiceFrame - kVoiceHop) / 2 + 1);
}

Result<void> EcapaEncoder::start(std::vector<float> samples) {
  const auto seconds = [](size_t n) { return std::to_string((n + kSpeechRate / 100 - 1) * 100 / kSpeechRate); };
  if (samples.size() < n_min())
    return fail(ErrorCode::kInvalidArgument, "a recording of a voice needs " + seconds(n_min()) +
                                                 " hundredths of a second, but this one has " +
                                                 seconds(samples.size()));
  if (samples.size() > kMaxRecordingSeconds * kSpeechRate)
    return fail(ErrorCode::kInvalidArgument, "a recording of a voice may have " + std::to_string(kMaxRecordingSeconds) +
                                                 " seconds, but this one has " +
                                                 std::to_string(samples.size() / kSpeechRate));
  n_ = samples.size() / kVoiceHop;
  at_step_ = at_ = 0;
  rows_.clear();
  mel_values_.clear();
  if (const Result<void> allocated = allocate(); !allocated) return allocated;
  return mel_.start(std::move(samples));
}

Result<void> EcapaEncoder::allocate() {
  size_t n_taps = std::max({w_.front.by.n_in, w_.gather.by.n_in, w_.attend_1.by.n_in, w_.attend_2.by.n_in});
  for (const auto& block : w_.blocks)
    for (const auto& part : block->parts) n_taps = std::max(n_taps, part->by.n_in);
  const size_t n_out = std::max({w_.n, w_.n_gathered, w_.attend_1.by.n_out});
  const auto take = [&](size_t width) { return StridedRows{arena_.take(n_, width), width}; };
  const auto take_all = [&] {
    front_ = take(w_.n), hidden_ = take(w_.n), split_ = take(w_.n), blocks_ = take(w_.blocks.size() * w_.n);
    gathered_ = take(w_.n_gathered), scores_ = take(w_.n_gathered);
    taps_ = arena_.take(kVoicePart, n_taps), out_ = arena_.take(kVoicePart, n_out);
  };
  arena_.count();
  take_all();
  if (const Result<void> allocated = arena_.allocate_counted(); !allocated) return allocated;
  take_all();
  return {};
}

// Returns whether frames remain.
bool EcapaEncoder::compute_mel() {
  const size_t first = mel_.first() + at_, n = std::min(kVoicePart, mel_.last() - first);
  pool_.parallel_for(n, 8, [&](size_t begin, size_t end, size_t) { mel_.compute(first + begin, first + end); });
  at_ += n;
  if (first + n < mel_.last()) return true;
  at_ = 0;
  if (mel_.end_step()) return true;
  mel_values_ = mel_.part(0);
  return false;
}

bool EcapaEncoder::step() {
  if (mel_values_.empty()) {
    (void)compute_mel();
    return true;
  }
  const VoiceStep& step = steps_[at_step_];
  const size_t n = std::min(kVoicePart, n_ - at_);
  run(step, at_, n);
  at_ += n;
  if (at_ < n_) return true;
  at_ = 0;
  finish(step);
  return ++at_step_ < steps_.size();
}

// y [n, n_out]: rows of the output from `first` on.
void EcapaEncoder::convolve(const CausalConvolution& by, StridedRows x, size_t first, size_t n, float* y) {
  const auto last = static_cast<ptrdiff_t>(n_) - 1, before = static_cast<ptrdiff_t>(mirrored_rows(by));
  each_token(pool_, Operation::kCache, n, [&](size_t t) {
    float* taps = taps_ + t * by.by.n_in;
    for (size_t k = 0; k < by.n_kernel; ++k) {
      ptrdiff_t at = std::abs(static_cast<ptrdiff_t>(first + t + k * by.dilation) - before);
      if (at > last) at = 2 * last - at;
      std::memcpy(taps + k * by.n_in, x.row(static_cast<size_t>(at)), by.n_in * sizeof(float));
    }
    round_to_halves(taps, by.by.n_in);
  });
  apply(pool_, by.by, taps_, n, y);
}

void EcapaEncoder::run(const VoiceStep& step, size_t first, size_t n) {
  const auto layer = [&](const CausalConvolution& by, StridedRows x, StridedRows y) {
    convolve(by, x, first, n, y.row(first));
    activate(Activation::kRelu, y.row(first), n * by.by.n_out);
  };
  switch (step.layer) {
    case VoiceLayer::kFront:
      return layer(w_.front, {mel_values_.data(), w_.n_mel}, front_);
    case VoiceLayer::kFirst:
      return layer(w_.blocks[step.block]->first, input(step.block), hidden_);
    case VoiceLayer::kPart:
      return run_part(step, first, n);
    case VoiceLayer::kSecond:
      return layer(w_.blocks[step.block]->second, split_, hidden_);
    case VoiceLayer::kGate:
      for (size_t t = first; t < first + n; ++t) {
        float* out = output(step.block).row(t);
        std::memcpy(out, hidden_.row(t), w_.n * sizeof(float));
        vec::multiply(out, gate_.data(), w_.n);
        vec::add(out, input(step.block).row(t), w_.n);
      }
      return;
    case VoiceLayer::kGather:
      return layer(w_.gather, blocks_, gathered_);
    case VoiceLayer::kScores:
      return score(first, n);
    case VoiceLayer::kPool:
      return add_weighted(first, n);
  }
}

void EcapaEncoder::run_part(const VoiceStep& step, size_t first, size_t n) {
  const CausalConvolution& by = *w_.blocks[step.block]->parts[step.part];
  const size_t width = by.n_in, from = (step.part + 1) * width;
  convolve(by, hidden_.from(from), first, n, out_);
  activate(Activation::kRelu, out_, n * width);
  for (size_t t = 0; t < n; ++t) {
    std::memcpy(split_.from(from).row(first + t), out_ + t * width, width * sizeof(float));
    if (step.part == 0) std::memcpy(split_.row(first + t), hidden_.row(first + t), width * sizeof(float));
  }
}

void EcapaEncoder::score(size_t first, size_t n) {
  const size_t width = w_.n_gathered, n_wide = 3 * width, n_hidden = w_.attend_1.by.n_out;
  each_token(pool_, Operation::kCache, n, [&](size_t t) {
    float* row = taps_ + t * n_wide;
    std::memcpy(row, gathered_.row(first + t), width * sizeof(float));
    std::memcpy(row + width, mean_.data(), width * sizeof(float));
    std::memcpy(row + 2 * width, deviation_.data(), width * sizeof(float));
    round_to_halves(row, n_wide);
  });
  apply(pool_, w_.attend_1.by, taps_, n, out_);
  activate(Activation::kRelu, out_, n * n_hidden);
  activate(Activation::kTanh, out_, n * n_hidden);
  round_to_halves(out_, n * n_hidden);
  apply(pool_, w_.attend_2.by, out_, n, scores_.row(first));
  for (size_t t = first; t < first + n; ++t)
    for (size_t c = 0; c < width; ++c) largest_[c] = std::max(largest_[c], scores_.row(t)[c]);
}

void EcapaEncoder::add_weighted(size_t first, size_t n) {
  for (size_t t = first; t < first + n; ++t) {
    const float *x = gathered_.row(t), *scores = scores_.row(t);
    for (size_t c = 0; c < w_.n_gathered; ++c) {
      const double weight = double(vec::exp1(scores[c] - largest_[c]));
      weight_[c] += weight;
      weighted_[c] += weight * double(x[c]);
      squares_[c] += weight * double(x[c]) * double(x[c]);
    }
  }
}

void EcapaEncoder::finish(const VoiceStep& step) {
  switch (step.layer) {
    case VoiceLayer::kPart: {
      // The next part reads what this one gave.
      const auto& parts = w_.blocks[step.block]->parts;
      const size_t width = parts[step.part]->n_in, from = (step.part + 1) * width;
      for (size_t t = 0; t < n_ && step.part + 1 < parts.size(); ++t)
        vec::add(hidden_.from(from + width).row(t), split_.from(from).row(t), width);
      return;
    }
    case VoiceLayer::kSecond:
      return finish_gate(*w_.blocks[step.block]);
    case VoiceLayer::kGather:
      return finish_gather();
    case VoiceLayer::kPool:
      return finish_row();
    default:
      return;
  }
}

void EcapaEncoder::finish_gate(const EcapaBlock& block) {
  std::vector<double> sums(w_.n);
  for (size_t t = 0; t < n_; ++t)
    for (size_t c = 0; c < w_.n; ++c) sums[c] += double(hidden_.row(t)[c]);
  std::vector<float> mean(w_.n), squeezed(block.squeeze_1.by.n_out);
  for (size_t c = 0; c < w_.n; ++c) mean[c] = static_cast<float>(sums[c] / double(n_));
  round_to_halves(mean.data(), w_.n);
  apply(pool_, block.squeeze_1.by, mean.data(), 1, squeezed.data());
  activate(Activation::kRelu, squeezed.data(), squeezed.size());
  round_to_halves(squeezed.data(), squeezed.size());
  gate_.resize(w_.n);
  apply(pool_, block.squeeze_2.by, squeezed.data(), 1, gate_.data());
  activate(Activation::kSigmoid, gate_.data(), w_.n);
}

void EcapaEncoder::finish_gather() {
  const size_t width = w_.n_gathered;
  std::vector<double> sums(width), squares(width);
  for (size_t t = 0; t < n_; ++t)
    for (size_t c = 0; c < width; ++c) {
      const double x = double(gathered_.row(t)[c]);
      sums[c] += x;
      squares[c] += x * x;
    }
  mean_.resize(width), deviation_.resize(width);
  for (size_t c = 0; c < width; ++c) {
    const double mean = sums[c] / double(n_);
    mean_[c] = static_cast<float>(mean);
    deviation_[c] = deviation_of(squares[c] / double(n_), mean);
  }
  largest_.assign(width, -INFINITY);
  weight_.assign(width, 0), weighted_.assign(width, 0), squares_.assign(width, 0);
}

void EcapaEncoder::finish_row() {
  const size_t width = w_.n_gathered;
  std::vector<float> statistics(2 * width);
  for (size_t c = 0; c < width; ++c) {
    const double mean = weighted_[c] / weight_[c];
    statistics[c] = static_cast<float>(mean);
    statistics[width + c] = deviation_of(squares_[c] / weight_[c], mean);
  }
  round_to_halves(statistics.data(), statistics.size());
  rows_.resize(w_.out.by.n_out);
  apply(pool_, w_.out.by, statistics.data(), 1, rows_.data());
  arena_.free();
}

// Of a layer that looks at one row at a time.
uint64_t plan_pointwise(SpeechPlan& plan, CausalConvolution& to, const std::string& name, uint64_t n_in) {
  const uint64_t n_out = plan.convolution(to, name, n_in);
  if (!plan.planner.failed() && to.n_kernel != 1)
    plan.planner.refuse(ErrorCode::kBadShape,
                        "tensor " + name + ".weight has a kernel of " + std::to_string(to.n_kernel) + ", not 1");
  return n_out;
}

// Of one whose output must have n channels, and which reads as many rows on both sides.
void plan_same(SpeechPlan& plan, CausalConvolution& to, const std::string& name, uint64_t n_in, uint64_t n,
               size_t dilation) {
  const uint64_t n_out = plan.convolution(to, name, n_in, 1, dilation);
  if (!plan.planner.failed() && (n_out != n || to.n_kernel % 2 == 0))
    plan.planner.refuse(ErrorCode::kBadShape, "tensor " + name + ".weight has a kernel of " +
                                                  std::to_string(to.n_kernel) + " and " + counted(n_out, "channel") +
                                                  ", not an odd one and " + std::to_string(n));
}

void plan_voice_block(SpeechPlan& plan, EcapaBlock& to, const std::string& name, uint64_t n, size_t dilation) {
  Planner& p = plan.planner;
  plan_same(plan, to.first, name + "conv_pw1", n, n, 1);
  plan_same(plan, to.second, name + "conv_pw2", n, n, 1);
  plan_same(plan, to.squeeze_2, name + "se_conv2", plan_pointwise(plan, to.squeeze_1, name + "se_conv1", n), n, 1);
  while (p.has(name + "res2." + std::to_string(to.parts.size()) + ".weight") && !p.failed()) {
    to.parts.push_back(std::make_unique<CausalConvolution>());
    const std::string part = name + "res2." + std::to_string(to.parts.size() - 1);
    const uint64_t width = p.find(part + ".weight")->shape[1];
    plan_same(plan, *to.parts.back(), part, width, width, dilation);
  }
  for (const CausalConvolution* by : {&to.first, &to.second, &to.squeeze_2})
    if (!p.failed() && by->n_kernel != 1)
      p.refuse(ErrorCode::kBadShape, "the tensors " + name + "conv_pw*.weight and se_conv2.weight need kernels of 1");
  const size_t n_parts = to.parts.size() + 1;
  const bool equal = std::ranges::all_of(to.parts, [&](const auto& part) { return part->n_in * n_parts == n; });
  if (!p.failed() && (n_parts == 1 || !equal))
    p.refuse(ErrorCode::kBadShape, "the tensors " + name + "res2.* do not share " + counted(n, "channel") + " equally");
}

}  // namespace

void EcapaWeights::plan(SpeechPlan& plan, Keys& keys, uint64_t n_embd) {
  Planner& p = plan.planner;
  keys.required("audio.num_mel_bins", n_mel, kMaxMel);
  if (keys.failed()) return;
  if (n_mel == 0) return keys.refuse(ErrorCode::kOutOfRange, "clip.audio.num_mel_bins is 0");
  const std::string name = "a.conv1d.0";
  const TensorEntry* entry = p.find(name + ".weight");
  n = entry == nullptr ? 0 : static_cast<size_t>(std::min<uint64_t>(entry->shape[2], kMaxChannels));
  plan_same(plan, front, name, n_mel, n, 1);
  while (p.has("a.blk." + std::to_string(blocks.size() + 1) + ".conv_pw1.weight") && blocks.size() < kMaxVoiceBlocks) {
    blocks.push_back(std::make_unique<EcapaBlock>());
    plan_voice_block(plan, *blocks.back(), "a.blk." + std::to_string(blocks.size()) + ".", n, blocks.size() + 1);
  }
  if (!p.failed() && blocks.empty()) p.refuse(ErrorCode::kNotFound, "tensor a.blk.1.conv_pw1.weight is missing");
  const uint64_t width = plan_pointwise(plan, gather, "a.conv_out", blocks.size() * n);
  n_gathered = static_cast<size_t>(width);
  const uint64_t n_hidden = plan_pointwise(plan, attend_1, "a.asp_tdnn", 3 * width);
  if (plan_pointwise(plan, attend_2, "a.asp_attn", n_hidden) != width ||
      plan_pointwise(plan, out, "mm.a.fc", 2 * width) != n_embd)
    p.refuse(ErrorCode::kBadShape, "the tensors a.asp_attn.weight and mm.a.fc.weight must give " +
                                       counted(width, "channel") + " and " + std::to_string(n_embd));
}

std::unique_ptr<VoiceEncoder> create_ecapa(const EcapaWeights& weights, Pool& pool) {
  return std::make_unique<EcapaEncoder>(weights, pool);
}

}  // namespace ggufscope
