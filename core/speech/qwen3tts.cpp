// Plans the tensors of Qwen3-TTS, and makes the codes of its frames.
#include "speech/qwen3tts.hpp"

#include <cstring>

#include "base/sentence.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxRowWidth = 1 << 16, kMaxCodeBlocks = 1024;
constexpr float kCodeRopeBase = 1e6f;
// The decoder's blocks have no keys.
constexpr size_t kSoundHeads = 16, kSoundWindow = 72;
constexpr float kBlockEps = 1e-5f;
constexpr size_t kMaxFrameSamples = 1 << 16;

size_t count_tensors(const Planner& p, const std::string& before, const std::string& after) {
  size_t n = 0;
  while (n < kMaxCodeBlocks && p.has(before + std::to_string(n) + after)) ++n;
  return n;
}

size_t bounded_width(uint64_t n) { return static_cast<size_t>(std::min<uint64_t>(n, kMaxRowWidth)); }

void plan_codes(SpeechPlan& plan, Keys& keys, Qwen3TtsWeights& w) {
  Planner& p = plan.planner;
  const std::string name = "a.gen.code.";
  const TensorEntry* heads = p.find(name + "head.weight");
  if (heads == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor " + name + "head.weight is missing");
  w.n_code_embd = bounded_width(heads->shape[0]);
  w.n_rest = bounded_width(heads->shape[1]);
  w.n_codes = bounded_width(heads->shape[2]) + 1;
  p.linear(w.proj_in, name + "proj_in", w.n_embd, w.n_code_embd,
           w.n_embd == w.n_code_embd ? Need::kOptional : Need::kRequired);
  p.matrix(w.out_embd, name + "out_embd", w.n_embd, p.rows_of(name + "out_embd"));
  p.flattened(w.embd, name + "embd.weight", w.n_embd, w.n_rest * (w.n_codes - 1));
  p.bare_stack(w.heads, name + "head.weight", w.n_code_embd, w.n_rest, w.n_codes - 1);
  p.affine(w.code_norm, name + "output_norm", w.n_code_embd);
  uint32_t n_layer = 0, n_head = 0, n_head_kv = 0;
  SpeechBlocks& blocks = w.code_blocks;
  keys.required("gen.audio.block_count", n_layer, kMaxCodeBlocks);
  keys.required("gen.audio.attention.head_count", n_head, kMaxRowWidth);
  keys.u32("gen.audio.attention.head_count_kv", n_head_kv, kMaxRowWidth);
  keys.f32("gen.audio.attention.layer_norm_epsilon", blocks.eps);
  if (keys.failed() || p.failed()) return;
  blocks.n_embd = w.n_code_embd;
  blocks.norm = NormKind::kRms;
  blocks.activation = Activation::kSilu;
  blocks.rope_kind = RopeKind::kHalves;
  blocks.rope_base = kCodeRopeBase;
  blocks.window = w.n_codes;
  blocks.plan(plan, name + "blk.", n_layer, n_head, n_head_kv);
}

// Codes to rows. Returns their width.
uint64_t plan_codebooks(Planner& p, Qwen3TtsWeights& w) {
  const std::string first = "a.gen.wav.quant.first.", rest = "a.gen.wav.quant.rest.";
  const TensorEntry* codes = p.find(first + "codebook.weight");
  if (codes == nullptr) {
    p.refuse(ErrorCode::kNotFound, "tensor " + first + "codebook.weight is missing");
    return 0;
  }
  const uint64_t n = codes->shape[0], n_out = p.rows_of(first + "out_proj");
  w.n_first = bounded_width(codes->shape[1]);
  if (w.n_first > w.out_embd.n_out)
    p.refuse(ErrorCode::kBadShape, "tensor " + first + "codebook.weight has " + counted(w.n_first, "code") +
                                       ", but only " + std::to_string(w.out_embd.n_out) + " have embeddings");
  p.matrix(w.first_codes, first + "codebook", n, w.n_first);
  p.matrix(w.first_proj, first + "out_proj", n, n_out);
  const TensorEntry* others = p.find(rest + "codebook.weight");
  const uint64_t n_other = others == nullptr ? 0 : others->shape[0];
  p.flattened(w.rest_codes, rest + "codebook.weight", n_other, w.n_rest * (w.n_codes - 1));
  p.matrix(w.rest_proj, rest + "out_proj", n_other, n_out);
  // Of the encoder that made the codes.
  p.ignore(first + "in_proj.");
  p.ignore(rest + "in_proj.");
  return n_out;
}

void plan_snake(Planner& p, Snake& to, const std::string& name, uint64_t n) {
  p.vector(to.alpha, name + ".alpha", n);
  p.vector(to.beta, name + ".beta", n);
}

void same_width(Planner& p, const std::string& name, uint64_t n, uint64_t n_other) {
  if (!p.failed() && n != n_other)
    p.refuse(ErrorCode::kBadShape, "tensor " + name + ".weight gives " + counted(n, "channel") +
                                       ", which are added to " + std::to_string(n_other));
}

void lengthen_frame(Planner& p, Qwen3TtsWeights& w, size_t factor) {
  w.frame_samples *= factor;
  if (w.frame_samples == 0 || w.frame_samples > kMaxFrameSamples)
    p.refuse(ErrorCode::kBadShape, "the kernels of a.gen.wav.* give too many samples for a frame, or none");
}

uint64_t plan_ups(SpeechPlan& plan, Qwen3TtsWeights& w, uint64_t n) {
  Planner& p = plan.planner;
  const std::string before = "a.gen.wav.up.blk.";
  w.ups.resize(count_tensors(p, before, ".conv.weight"));
  for (size_t i = 0; i < w.ups.size() && !p.failed(); ++i) {
    ConvNext& up = w.ups[i];
    const std::string name = before + std::to_string(i) + ".";
    const TensorEntry* kernel = p.find(name + "conv.weight");
    n = plan.convolution(up.up, name + "conv", n, static_cast<size_t>(kernel->shape[0]));
    lengthen_frame(p, w, up.up.stride);
    plan.depthwise(up.depthwise, name + "dwconv", n);
    p.affine(up.norm, name + "norm", n, Need::kRequired, Need::kRequired);
    const uint64_t n_wide = p.rows_of(name + "pw1");
    p.linear(up.wide, name + "pw1", n, n_wide);
    p.linear(up.narrow, name + "pw2", n_wide, n);
    p.vector(up.gamma, name + "gamma", n);
  }
  return n;
}

uint64_t plan_dac(SpeechPlan& plan, Qwen3TtsWeights& w, uint64_t n) {
  Planner& p = plan.planner;
  const std::string before = "a.gen.wav.dac.blk.";
  w.dac.resize(count_tensors(p, before, ".conv.weight"));
  for (size_t i = 0; i < w.dac.size() && !p.failed(); ++i) {
    DacBlock& block = w.dac[i];
    const std::string name = before + std::to_string(i) + ".";
    plan_snake(p, block.snake, name + "snake", n);
    n = plan.convolution(block.up, name + "conv", n);
    lengthen_frame(p, w, block.up.stride);
    size_t dilation = 1;
    for (size_t k = 0; k < 3 && !p.failed(); ++k, dilation *= 3) {
      DacUnit& unit = block.units[k];
      const std::string part = name + "res." + std::to_string(k) + ".";
      plan_snake(p, unit.snake_1, part + "act1", n);
      const uint64_t n_hidden = plan.convolution(unit.first, part + "conv1", n, 1, dilation);
      plan_snake(p, unit.snake_2, part + "act2", n_hidden);
      same_width(p, part + "conv2", plan.convolution(unit.second, part + "conv2", n_hidden), n);
    }
  }
  return n;
}

void plan_sound(SpeechPlan& plan, Qwen3TtsWeights& w) {
  Planner& p = plan.planner;
  const std::string name = "a.gen.wav.";
  uint64_t n = plan.convolution(w.pre, name + "pre_conv", plan_codebooks(p, w));
  if (p.failed()) return;
  const uint64_t n_blocks = p.rows_of(name + "tfm.in_proj"), n_out = p.rows_of(name + "tfm.out_proj");
  if (n_blocks > kMaxRowWidth)
    return p.refuse(ErrorCode::kBadShape, "tensor " + name + "tfm.in_proj.weight is too large");
  p.linear(w.blocks_in, name + "tfm.in_proj", n, n_blocks);
  w.blocks.n_embd = static_cast<size_t>(n_blocks);
  w.blocks.norm = NormKind::kRms;
  w.blocks.eps = kBlockEps;
  w.blocks.activation = Activation::kSilu;
  w.blocks.rope_kind = RopeKind::kHalves;
  w.blocks.window = kSoundWindow;
  w.blocks.plan(plan, name + "tfm.blk.", count_tensors(p, name + "tfm.blk.", ".ln1.weight"), kSoundHeads);
  p.affine(w.blocks_norm, name + "tfm.output_norm", n_blocks);
  p.linear(w.blocks_out, name + "tfm.out_proj", n_blocks, n_out);
  n = plan.convolution(w.entry, name + "dac.entry", plan_ups(plan, w, n_out));
  n = plan_dac(plan, w, n);
  plan_snake(p, w.post_snake, name + "dac.post_snake", n);
  n = plan.convolution(w.post, name + "dac.post_conv", n);
  if (!p.failed() && n != 1)
    p.refuse(ErrorCode::kBadShape, "tensor " + name + "dac.post_conv.weight has " + counted(n, "channel") + ", not 1");
}

}  // namespace

void Qwen3Tts::plan(const Gguf&, SpeechPlan& plan, Keys& keys, uint64_t n_embd, bool with_voices) {
  w_.n_embd = static_cast<size_t>(n_embd);
  plan_codes(plan, keys, w_);
  if (!plan.planner.failed() && !keys.failed()) plan_sound(plan, w_);
  if (with_voices && !plan.planner.failed()) w_.voice.plan(plan, keys, n_embd);
}

Result<void> CodePredictor::allocate() {
  return stream_.allocate([&] { run(nullptr, 2, 0, 0); });
}

uint64_t CodePredictor::count_bytes() {
  return stream_.count_bytes([&] { run(nullptr, 2, 0, 0); });
}

std::vector<float> CodePredictor::run(const float* rows, size_t n, uint64_t position, size_t g) {
  Stream& s = stream_;
  s.begin_run();
  const size_t width = w_.n_code_embd;
  float* x = s.arena.take(n, width);
  if (!s.counting()) {
    if (w_.proj_in) {
      apply(s.pool, w_.proj_in, rows, n, x);
    } else {
      std::memcpy(x, rows, n * width * sizeof(float));
    }
  }
  run_blocks(s, w_.code_blocks, x, n, position, 2);
  if (s.counting()) return {};
  std::vector<float> logits(w_.n_rest);
  float* last = x + (n - 1) * width;
  normalize_rows(s.pool, w_.code_blocks.eps, NormKind::kRms, w_.code_norm, last, 1, width, last);
  apply(s.pool, w_.heads, g, last, 1, logits.data());
  return logits;
}

void CodePredictor::predict(std::span<const float> hidden, int32_t first, CodeChoice& choice,
                            std::vector<int32_t>& codes, std::vector<float>& feedback) {
  const size_t n_embd = w_.n_embd;
  std::vector<float> rows(2 * n_embd), row(n_embd);
  std::memcpy(rows.data(), hidden.data(), n_embd * sizeof(float));
  look_up(stream_.pool, w_.out_embd, {&first, 1}, rows.data() + n_embd);
  feedback.assign(rows.begin() + static_cast<ptrdiff_t>(n_embd), rows.end());
  codes.push_back(first);
  for (size_t g = 0; g + 1 < w_.n_codes; ++g) {
    const std::vector<float> logits = g == 0 ? run(rows.data(), 2, 0, g) : run(row.data(), 1, g + 1, g);
    const auto code = static_cast<int32_t>(choose_code(logits, choice));
    codes.push_back(code);
    const auto id = static_cast<int32_t>(g * w_.n_rest) + code;
    look_up(stream_.pool, w_.embd, {&id, 1}, row.data());
    vec::add(feedback.data(), row.data(), n_embd);
  }
}

std::unique_ptr<SpeechGenerator> create_qwen3tts() { return std::make_unique<Qwen3Tts>(); }

}  // namespace ggufscope
