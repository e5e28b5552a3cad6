// Plans the tensors of Pocket TTS, and makes its frames.
#include "speech/pockettts.hpp"

#include <cmath>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kEndOfSpeech = -4.0f;
constexpr float kFlowEps = 1e-6f, kTimeEps = 1e-5f;
constexpr size_t kWindow = 250;
constexpr uint32_t kMaxWidth = 1 << 16, kMaxBlocks = 1024;

// Those for which llama.cpp has other settings than the defaults.
constexpr PocketVariant kVariants[] = {
    {"english", 0.3f},
    {"english_2026-01", 0.7f, 0, true},
    {"english_2026-04", 0.3f},
    {"french_24l", 0.7f, 8},
};

void plan_time(Planner& p, PocketTime& to, const std::string& name, uint64_t n) {
  const TensorEntry* freqs = p.find(name + "freqs");
  const uint64_t n_freqs = freqs == nullptr ? 0 : freqs->shape[0];
  p.vector(to.freqs, name + "freqs", n_freqs);
  p.linear(to.up, name + "up", 2 * n_freqs, n);
  p.linear(to.down, name + "down", n, n);
  p.vector(to.norm, name + "norm", n);
}

void plan_flow(Planner& p, PocketTtsWeights& w) {
  const std::string name = "a.gen.flow.";
  const uint64_t n = p.rows_of(name + "input_proj");
  w.n_flow = static_cast<size_t>(n);
  if (n > kMaxWidth || w.n_latent > kMaxWidth)
    return p.refuse(ErrorCode::kBadShape, "tensor " + name + "input_proj.weight is too large");
  p.linear(w.input_proj, name + "input_proj", w.n_latent, n);
  p.linear(w.cond_embd, name + "cond_embd", w.n_embd, n);
  for (size_t i = 0; i < 2; ++i) plan_time(p, w.times[i], name + "time." + std::to_string(i) + ".", n);
  size_t n_blocks = 0;
  while (p.has(name + "blk." + std::to_string(n_blocks) + ".norm.weight")) ++n_blocks;
  w.flow.resize(n_blocks);
  for (size_t i = 0; i < n_blocks && !p.failed(); ++i) {
    const std::string block = name + "blk." + std::to_string(i) + ".";
    const uint64_t n_wide = p.rows_of(block + "up");
    p.affine(w.flow[i].norm, block + "norm", n, Need::kRequired, Need::kRequired);
    p.linear(w.flow[i].up, block + "up", n, n_wide);
    p.linear(w.flow[i].down, block + "down", n_wide, n);
    p.linear(w.flow[i].ada, block + "ada", n, 3 * n);
  }
  p.linear(w.final_ada, name + "final.ada", n, 2 * n);
  p.linear(w.final_proj, name + "final.proj", n, w.n_latent);
}

// The keys of the transformer beside a codec, which is of the channels of the codec's frames.
void plan_blocks(SpeechPlan& plan, Keys& keys, SpeechBlocks& to, const std::string& part, const std::string& prefix,
                 uint64_t n_embd) {
  uint32_t n_layer = 0, n_head = 0;
  keys.required(part + "block_count", n_layer, kMaxBlocks);
  keys.required(part + "attention.head_count", n_head, kMaxWidth);
  keys.f32(part + "attention.layer_norm_epsilon", to.eps);
  if (keys.failed()) return;
  to.n_embd = static_cast<size_t>(n_embd);
  to.window = kWindow;
  to.plan(plan, prefix, n_layer, n_head);
}

void plan_decoder(SpeechPlan& plan, Keys& keys, PocketTtsWeights& w) {
  Planner& p = plan.planner;
  const uint64_t n = p.rows_of("a.gen.wav.quant_out");
  if (n > kMaxWidth) return p.refuse(ErrorCode::kBadShape, "tensor a.gen.wav.quant_out.weight has too many rows");
  w.n_decoder = static_cast<size_t>(n);
  p.linear(w.quant_out, "a.gen.wav.quant_out", w.n_latent, n);
  plan.depthwise(w.upsample, "a.gen.wav.upsample", n);
  plan_blocks(plan, keys, w.decoder_blocks, "gen.audio.", "a.gen.wav.tfm.blk.", n);
  w.decoder.decodes = true;
  const uint64_t n_out = w.decoder.plan(plan, "a.gen.wav.seanet.", n);
  if (!p.failed() && n_out != 1)
    p.refuse(ErrorCode::kBadShape,
             "tensor a.gen.wav.seanet.conv_out.weight has " + counted(n_out, "channel") + ", not 1");
}

void plan_encoder(SpeechPlan& plan, Keys& keys, PocketTtsWeights& w) {
  const uint64_t n = w.encoder.plan(plan, "a.seanet.", 1);
  w.n_encoder = static_cast<size_t>(n);
  if (!plan.planner.failed()) plan_blocks(plan, keys, w.encoder_blocks, "audio.", "a.blk.", n);
  const uint64_t n_rows = plan.convolution(w.downsample, "a.downsample.conv", n, 0);
  w.downsample.repeats_first = true;
  plan.planner.linear(w.speaker_proj, "a.speaker_proj", n_rows, w.n_embd);
}

// The embedding of a time: a network of its cosines and sines, divided by their deviation, but not centred.
std::vector<float> embed_time(Pool& pool, const PocketTime& w, float t) {
  const size_t n_freqs = w.freqs.n, n = w.up.n_out;
  std::vector<float> angles(2 * n_freqs), hidden(n), out(n);
  for (size_t i = 0; i < n_freqs; ++i) {
    angles[i] = std::cos(t * w.freqs.data()[i]);
    angles[n_freqs + i] = std::sin(t * w.freqs.data()[i]);
  }
  apply(pool, w.up, angles.data(), 1, hidden.data());
  activate(Activation::kSilu, hidden.data(), n);
  apply(pool, w.down, hidden.data(), 1, out.data());
  double mean = 0, squares = 0;
  for (const float x : out) mean += double{x} / double(n);
  for (const float x : out) squares += (double{x} - mean) * (double{x} - mean);
  const auto deviation = static_cast<float>(std::sqrt(squares / double(n - 1) + double{kTimeEps}));
  for (size_t i = 0; i < n; ++i) out[i] = out[i] / deviation * w.norm.data()[i];
  return out;
}

// x = norm(x) (1 + scale) + shift.
void modulate(const Affine* norm, const float* x, const float* shift, const float* scale, size_t n, float* y) {
  normalize(NormKind::kLayer, x, norm == nullptr ? nullptr : norm->weight.data(),
            norm == nullptr ? nullptr : norm->bias.data(), n, kFlowEps, y);
  for (size_t i = 0; i < n; ++i) y[i] = y[i] * (1 + scale[i]) + shift[i];
}

}  // namespace

void PocketTts::plan(const Gguf& gguf, SpeechPlan& plan, Keys& keys, uint64_t n_embd, bool with_voices) {
  Planner& p = plan.planner;
  const std::string_view name = get_string(gguf, "clip.gen.audio.model_variant").value_or("");
  for (const PocketVariant& variant : kVariants)
    if (variant.name == name) variant_ = variant;
  if (variant_.name != name) unknown_variant_ = name;
  w_.n_embd = static_cast<size_t>(n_embd);
  const TensorEntry* input = p.find("a.gen.input_linear.weight");
  w_.n_latent = input == nullptr ? 0 : static_cast<size_t>(std::min<uint64_t>(input->shape[0], kMaxWidth + 1));
  p.linear(w_.input_linear, "a.gen.input_linear", w_.n_latent, n_embd);
  p.linear(w_.out_eos, "a.gen.out_eos", n_embd, 1);
  p.vector(w_.mean, "a.gen.emb_mean", w_.n_latent);
  p.vector(w_.deviation, "a.gen.emb_std", w_.n_latent);
  plan_flow(p, w_);
  plan_decoder(plan, keys, w_);
  if (with_voices) plan_encoder(plan, keys, w_);
}

Result<void> PocketTts::finish_load(Pool& pool) {
  w_.time = embed_time(pool, w_.times[0], 0);
  vec::add(w_.time.data(), embed_time(pool, w_.times[1], 1).data(), w_.n_flow);
  vec::scale(w_.time.data(), 0.5f, w_.n_flow);
  return {};
}

PocketTts::Frame PocketTts::make_frame(Pool& pool, std::span<const float> hidden, std::span<const float> noise) const {
  const size_t n = w_.n_flow;
  Frame frame{.latent = std::vector<float>(w_.n_latent), .feedback = std::vector<float>(w_.n_embd)};
  float end = 0;
  apply(pool, w_.out_eos, hidden.data(), 1, &end);
  frame.ends = end > kEndOfSpeech;
  std::vector<float> c(n), y(n), h(n), change(3 * n);
  apply(pool, w_.input_proj, noise.data(), 1, c.data());
  apply(pool, w_.cond_embd, hidden.data(), 1, y.data());
  vec::add(y.data(), w_.time.data(), n);
  activate(Activation::kSilu, y.data(), n);
  const float *shift = change.data(), *scale = shift + n, *gate = scale + n;
  for (const PocketFlowBlock& block : w_.flow) {
    std::vector<float> wide(block.up.n_out);
    apply(pool, block.ada, y.data(), 1, change.data());
    modulate(&block.norm, c.data(), shift, scale, n, h.data());
    apply(pool, block.up, h.data(), 1, wide.data());
    activate(Activation::kSilu, wide.data(), wide.size());
    apply(pool, block.down, wide.data(), 1, h.data());
    vec::multiply(h.data(), gate, n);
    vec::add(c.data(), h.data(), n);
  }
  apply(pool, w_.final_ada, y.data(), 1, change.data());
  modulate(nullptr, c.data(), shift, scale, n, h.data());
  apply(pool, w_.final_proj, h.data(), 1, frame.latent.data());
  vec::add(frame.latent.data(), noise.data(), w_.n_latent);
  apply(pool, w_.input_linear, frame.latent.data(), 1, frame.feedback.data());
  return frame;
}

std::unique_ptr<SpeechGenerator> create_pockettts() { return std::make_unique<PocketTts>(); }

}  // namespace ggufscope
