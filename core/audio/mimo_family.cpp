// The audio projector mimo_audio.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/audio_model.hpp"
#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "model/convolution.hpp"
#include "nn/activation.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/rope.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kRopeBase = 10000, kLocalRopeBase = 640000;
// The input of the feed-forward layer of this block, counted from 1, is added to the last block's output.
constexpr size_t kSkipped = 3;

// Frames after the second convolution, then after the shortening one.
size_t encoder_frames(size_t n) { return (n + 1) / 2; }
size_t code_frames(size_t n) { return encoder_frames(n) / 2; }

size_t mimo_frames(const AudioParameters& p, size_t n) { return (code_frames(n) + p.mimo.group - 1) / p.mimo.group; }

void read_mimo(AudioParameters& p, Keys& keys) {
  WhisperEncoderShape& encoder = p.encoder;
  MimoShape& mimo = p.mimo;
  kWhisperFamily.read(p, keys);
  p.sound.silent_end = false;
  p.sound.part_frames = 0;
  p.sound.rate = 24000;
  p.sound.n_frame = p.sound.n_window = 960;
  p.sound.step = 240;
  p.sound.before = 480;
  p.sound.fewest = 2 * p.sound.step;
  p.sound.edge = SoundEdge::kMirror;
  p.sound.scale = MelScale::kHtk;
  p.sound.log = {.floor = double(1e-7f), .natural = true, .magnitude = true};
  p.sound.scaling = SoundScale::kNone;
  uint32_t n_quantizers = 0;
  keys.required("rvq.num_quantizers", n_quantizers, 1024);
  keys.required("window_size", mimo.window, 4096);
  keys.required("local_block_count", mimo.n_local, 1024);
  keys.required("local_group_size", mimo.group, 1024);
  const auto codes = get_integers(keys.gguf(), "clip.audio.rvq.codebook_size");
  const auto pattern = get_integers(keys.gguf(), "clip.audio.wa_pattern_mode");
  if (keys.failed()) return;
  if (!codes || codes->size() != n_quantizers)
    return keys.refuse(ErrorCode::kOutOfRange,
                       "clip.audio.rvq.codebook_size has not one number for each of rvq.num_quantizers");
  if (!pattern || pattern->size() != encoder.sizes.n_layer || encoder.sizes.n_layer < kSkipped)
    return keys.refuse(ErrorCode::kOutOfRange,
                       "clip.audio.wa_pattern_mode has not one number for each of at least 3 blocks");
  for (const int64_t mode : *pattern) mimo.sees_all.push_back(mode == -1);
  for (const int64_t n : *codes) {
    if (n <= 0 || n > 1 << 20)
      return keys.refuse(ErrorCode::kOutOfRange, "clip.audio.rvq.codebook_size holds " + std::to_string(n));
    mimo.n_codes.push_back(static_cast<uint32_t>(n));
  }
}

void plan_mimo_block(Planner& planner, MimoBlock& w, const std::string& name, uint64_t n, uint64_t n_ff, bool local) {
  planner.affine(w.norm_1, name + "ln1", n);
  planner.affine(w.norm_2, name + "ln2", n);
  planner.linear(w.q, name + "attn_q", n, n);
  planner.linear(w.k, name + "attn_k", n, n);
  planner.linear(w.v, name + "attn_v", n, n);
  if (local) {
    planner.matrix(w.out, name + "attn_out", n, n);
    planner.matrix(w.up, name + "ffn_up", n, n_ff);
    planner.matrix(w.gate, name + "ffn_gate", n, n_ff);
    planner.matrix(w.down, name + "ffn_down", n_ff, n);
  } else {
    planner.linear(w.out, name + "attn_out", n, n);
    planner.linear(w.up, name + "ffn_up", n, n_ff);
    planner.linear(w.down, name + "ffn_down", n_ff, n);
  }
}

void plan_mimo(AudioPlan& plan) {
  Planner& planner = plan.planner;
  const AudioParameters& p = plan.p;
  MimoWeights& w = plan.w.mimo;
  const uint64_t n = p.encoder.sizes.n_embd, n_quantizers = p.mimo.n_codes.size();
  planner.convolution(plan.w.encoder.conv1, "a.conv1d.1", 3, p.encoder.n_mel, n);
  planner.convolution(plan.w.encoder.conv2, "a.conv1d.2", 3, n, n);
  w.blocks.resize(p.encoder.sizes.n_layer);
  for (size_t i = 0; i < w.blocks.size() && !planner.failed(); ++i)
    plan_mimo_block(planner, w.blocks[i], "a.blk." + std::to_string(i) + ".", n, p.encoder.sizes.n_ff, false);
  planner.affine(w.norm, "a.post_ln", n);
  planner.flattened(w.shorten, "a.downsample.conv.weight", 2 * n, n);
  planner.affine(w.shortened_norm, "a.downsample.norm", n);
  const auto rows = [&](const char* name) {
    const TensorEntry* entry = planner.find(name);
    return entry == nullptr ? uint64_t{0} : entry->shape[1];
  };
  for (const auto& [to, name] :
       {std::pair(&w.codebooks, "a.rvq.codebook.weight"), std::pair(&w.embeddings, "mm.a.code_embd.weight")}) {
    planner.bare_stack(*to, name, n, rows(name), n_quantizers);
    for (const uint32_t codes : p.mimo.n_codes)
      if (!planner.failed() && codes > to->n_out)
        planner.refuse(ErrorCode::kBadShape, std::string("tensor ") + name + " has " + counted(to->n_out, "row") +
                                                 " for " + counted(codes, "code"));
  }
  w.local.resize(p.mimo.n_local);
  for (size_t i = 0; i < w.local.size() && !planner.failed(); ++i) {
    const std::string name = "mm.a.local_blk." + std::to_string(i) + ".";
    plan_mimo_block(planner, w.local[i], name, n, plan.rows_of(name + "ffn_up"), true);
  }
  planner.affine(w.local_norm, "mm.a.local_norm", n);
  const uint64_t n_hidden = plan.rows_of("mm.a.mlp.1");
  plan.n_out = plan.rows_of("mm.a.mlp.2");
  planner.matrix(plan.w.first, "mm.a.mlp.1", n * p.mimo.group, n_hidden);
  planner.matrix(plan.w.last, "mm.a.mlp.2", n_hidden, plan.n_out);
}

class MimoEncoder final : public AudioEncoder {
 public:
  using AudioEncoder::AudioEncoder;
  size_t n_steps() const override { return model_.weights().mimo.blocks.size() + 3; }
  std::span<const float> activations() const override { return {x_, n_ * n_embd()}; }

 private:
  Result<void> begin(std::span<const float> frames) override {
    frames_.assign(frames.begin(), frames.end());
    n_ = encoder_frames(n_frames_);
    x_ = arena_.take(n_ + p().mimo.group, n_embd());
    kept_ = arena_.take(n_ + p().mimo.group, n_embd());
    return {};
  }
  uint64_t count_buffers() const override { return uint64_t{n_frames_} * p().sound.n_mel; }
  [[nodiscard]] const AudioParameters& p() const { return model_.parameters(); }
  [[nodiscard]] size_t n_embd() const { return p().encoder.sizes.n_embd; }
  void run(size_t step) override;
  void convolve(const Linear& by, size_t n_kernel, size_t stride, const float* x, size_t n, size_t n_out, float* y);
  void rotate(float* x, float base, size_t period);
  void run_block(const MimoBlock& w, float base, size_t period, const std::vector<KeySpan>& visible, bool keeps);
  void shorten();
  void quantize();
  void project();

  std::vector<float> frames_;
  size_t n_ = 0;
  float *x_ = nullptr, *kept_ = nullptr;
};

void MimoEncoder::run(size_t step) {
  const MimoWeights& w = model_.weights().mimo;
  const size_t mark = arena_.mark(), n_layer = w.blocks.size();
  if (step == 0) {
    float* first = arena_.take(n_frames_ * n_embd());
    convolve(model_.weights().encoder.conv1, 3, 1, frames_.data(), n_frames_, n_frames_, first);
    convolve(model_.weights().encoder.conv2, 3, 2, first, n_frames_, n_, x_);
  } else if (step <= n_layer) {
    std::vector<KeySpan> visible(n_);
    const size_t window = p().mimo.sees_all[step - 1] ? n_ : p().mimo.window;
    for (size_t t = 0; t < n_; ++t) visible[t] = {t - std::min(t, window), t + 1};
    run_block(w.blocks[step - 1], kRopeBase, n_, visible, step == kSkipped);
  } else if (step == n_layer + 1) {
    shorten();
    quantize();
  } else {
    project();
  }
  arena_.release(mark);
}

// A convolution along time, padded by n_kernel / 2 if n_kernel is odd, and GELU.
void MimoEncoder::convolve(const Linear& by, size_t n_kernel, size_t stride, const float* x, size_t n, size_t n_out,
                           float* y) {
  const FrameKernel kernel{.n = n_kernel, .stride = stride, .before = n_kernel % 2, .half = true};
  ggufscope::convolve(pool_, arena_, by, kernel, x, n, n_out, y, [&](float* row) { gelu_erf(row, by.n_out); });
}

// Rotates the heads of n_ rows by their positions, which start again after each period.
void MimoEncoder::rotate(float* x, float base, size_t period) {
  const size_t n_head = p().encoder.sizes.n_head, d = n_embd() / n_head, half = d / 2;
  std::vector<float> angles(2 * std::min(period, n_) * half);
  float *cosines = angles.data(), *sines = cosines + angles.size() / 2;
  for (size_t t = 0; t < std::min(period, n_); ++t)
    for (size_t i = 0; i < half; ++i) {
      const double angle = double(t) * std::pow(double(base), -2 * double(i) / double(d));
      cosines[t * half + i] = static_cast<float>(std::cos(angle));
      sines[t * half + i] = static_cast<float>(std::sin(angle));
    }
  each_token(pool_, Operation::kPositions, n_, [&](size_t t) {
    const size_t at = t % period * half;
    rope(RopeKind::kHalves, x + t * n_embd(), n_head, d, d, cosines + at, sines + at);
  });
}

// The blocks of the small transformer have gates and RMS norms.
void MimoEncoder::run_block(const MimoBlock& w, float base, size_t period, const std::vector<KeySpan>& visible,
                            bool keeps) {
  const size_t mark = arena_.mark(), n = n_embd(), n_ff = w.up.n_out, n_head = p().encoder.sizes.n_head, d = n / n_head;
  const NormKind kind = w.gate ? NormKind::kRms : NormKind::kLayer;
  float* normed = arena_.take(n_ * n);
  float* q = arena_.take(n_ * n);
  float* k = arena_.take(n_ * n);
  float* v = arena_.take(n_ * n);
  float* mixed = arena_.take(n_ * n);
  normalize_rows(pool_, p().encoder.eps, kind, w.norm_1, x_, n_, n, normed);
  apply(pool_, {{&w.q, q}, {&w.k, k}, {&w.v, v}}, normed, n_);
  rotate(q, base, period);
  rotate(k, base, period);
  RelativeAttention a{.n_head = n_head, .d = d, .scale = 1 / std::sqrt(static_cast<float>(d))};
  a.queries = q, a.keys = k, a.values = v;
  size_t max = 0;
  for (const KeySpan& span : visible) max = std::max(max, span.last - span.first);
  const size_t thread_floats = static_cast<size_t>(Arena::round_up(relative_attention_scratch(d, max)));
  float* scratch = arena_.take(thread_floats * pool_.n_threads());
  attend_relative(pool_, a, n_, visible.data(), scratch, thread_floats, mixed);
  apply(pool_, w.out, mixed, n_, normed);
  add_rows(pool_, x_, normed, n_, n);
  if (keeps && !arena_.counting()) std::memcpy(kept_, x_, n_ * n * sizeof(float));
  normalize_rows(pool_, p().encoder.eps, kind, w.norm_2, x_, n_, n, normed);
  float* wide = arena_.take(n_ * n_ff);
  apply(pool_, w.up, normed, n_, wide);
  if (w.gate) {
    float* gate = arena_.take(n_ * n_ff);
    apply(pool_, w.gate, normed, n_, gate);
    each_token(pool_, Operation::kGate, n_, [&](size_t t) {
      activate_gated(Activation::kSilu, gate + t * n_ff, wide + t * n_ff, n_ff, wide + t * n_ff);
    });
  } else {
    each_token(pool_, Operation::kGate, n_, [&](size_t t) { gelu_erf(wide + t * n_ff, n_ff); });
  }
  apply(pool_, w.down, wide, n_, mixed);
  add_rows(pool_, x_, mixed, n_, n);
  arena_.release(mark);
}

// Halves the frames.
void MimoEncoder::shorten() {
  const MimoWeights& w = model_.weights().mimo;
  const size_t mark = arena_.mark(), n = n_embd();
  add_rows(pool_, x_, kept_, n_, n);
  normalize_rows(pool_, p().encoder.eps, NormKind::kLayer, w.norm, x_, n_, n, x_);
  const size_t n_before = n_;
  n_ = code_frames(n_frames_);
  float* shortened = arena_.take(n_ * n);
  convolve(w.shorten, 2, 2, x_, n_before, n_, shortened);
  normalize_rows(pool_, p().encoder.eps, NormKind::kLayer, w.shortened_norm, shortened, n_, n, x_);
  arena_.release(mark);
}

// Replaces each frame by the sum of its codes' embeddings. Each quantizer takes the code whose vector is nearest to
// what the earlier ones left over.
void MimoEncoder::quantize() {
  const MimoWeights& w = model_.weights().mimo;
  const size_t n = n_embd(), n_all = w.codebooks.n_out;
  float* scores = arena_.take(kPartRows * n_all);
  if (arena_.counting()) return;
  float* rest = kept_;
  std::memcpy(rest, x_, n_ * n * sizeof(float));
  std::fill_n(x_, n_ * n, 0.0f);
  std::vector<float> squares(n_all), row(n);
  std::vector<int32_t> codes(n_);
  for (size_t quantizer = 0; quantizer < p().mimo.n_codes.size(); ++quantizer) {
    const size_t n_codes = p().mimo.n_codes[quantizer];
    for (size_t code = 0; code < n_codes; ++code) {
      const auto id = static_cast<int32_t>(code);
      get_rows(w.codebooks.matrices[quantizer], {&id, 1}, row.data());
      squares[code] = vec::dot(row.data(), row.data(), n);
    }
    each_part(n_, [&](size_t first, size_t rows) {
      apply(pool_, w.codebooks, quantizer, rest + first * n, rows, scores);
      for (size_t t = 0; t < rows; ++t) {
        float* score = scores + t * n_all;
        for (size_t code = 0; code < n_codes; ++code) score[code] = 2 * score[code] - squares[code];
        codes[first + t] = static_cast<int32_t>(std::max_element(score, score + n_codes) - score);
      }
    });
    for (size_t t = 0; t < n_; ++t) {
      get_rows(w.codebooks.matrices[quantizer], {&codes[t], 1}, row.data());
      vec::add_scaled(rest + t * n, -1.0f, row.data(), n);
      get_rows(w.embeddings.matrices[quantizer], {&codes[t], 1}, row.data());
      vec::add(x_ + t * n, row.data(), n);
    }
  }
}

void MimoEncoder::project() {
  const AudioWeights& w = model_.weights();
  const size_t n = n_embd(), group = p().mimo.group, n_tokens = model_.inner_tokens(n_frames_);
  if (!arena_.counting()) std::fill(x_ + n_ * n, x_ + n_tokens * group * n, 0.0f);
  n_ = n_tokens * group;
  std::vector<KeySpan> visible(n_);
  for (size_t t = 0; t < n_; ++t) visible[t] = {t / group * group, (t / group + 1) * group};
  for (const MimoBlock& block : w.mimo.local) run_block(block, kLocalRopeBase, group, visible, false);
  normalize_rows(pool_, p().encoder.eps, NormKind::kRms, w.mimo.local_norm, x_, n_, n, x_);
  const size_t n_hidden = w.first.n_out;
  float* hidden = arena_.take(n_tokens * n_hidden);
  apply(pool_, w.first, x_, n_tokens, hidden);
  each_token(pool_, Operation::kGate, n_tokens, [&](size_t t) { gelu_erf(hidden + t * n_hidden, n_hidden); });
  apply(pool_, w.last, hidden, n_tokens, begin_output(n_tokens));
}

std::unique_ptr<AudioEncoder> make_mimo(const AudioModel& model, Pool& pool) {
  return std::make_unique<MimoEncoder>(model, pool);
}

}  // namespace

const AudioFamily kMimoFamily{read_mimo, plan_mimo, mimo_frames, make_mimo};

}  // namespace ggufscope
