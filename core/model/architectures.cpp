#include <cmath>

#include "gguf/access.hpp"
#include "model/architecture.hpp"
#include "nn/activation.hpp"

namespace ggufscope {
namespace {

constexpr NormKind kLayerNorm = NormKind::kLayer;
constexpr RopeKind kAdjacent = RopeKind::kAdjacent;
constexpr RopeKind kNoRope = RopeKind::kNone;
constexpr Activation kGelu = Activation::kGelu;

// Norms around both parts of a layer.
constexpr NormNames kSandwich{.after_attention = "post_attention_norm", .after_ffn = "post_ffw_norm"};
// Norms after both parts only.
constexpr NormNames kPost{
    .attention = "", .after_attention = "post_attention_norm", .ffn = "", .after_ffn = "post_ffw_norm"};
// The norm before the feed-forward network goes by another name.
constexpr NormNames kFfnByPost{.ffn = "post_attention_norm"};
// One norm for both parts of a parallel block.
constexpr NormNames kOneNorm{.ffn = ""};
// Encoders that normalize after the residual sum.
constexpr NormNames kBertNorms{
    .attention = "", .after_attention = "attn_output_norm", .ffn = "", .after_ffn = "layer_output_norm", .output = ""};

void for_layers(Hparams& h, void (*change)(LayerParameters& layer, uint32_t il)) {
  for (uint32_t il = 0; il < h.n_layer; ++il) change(h.layers[il], il);
}

// Layers without key heads are recurrent.
void set_mixers(Hparams& h, MixerKind recurrent) {
  for (LayerParameters& layer : h.layers)
    if (layer.n_head_kv == 0) layer.mixer = recurrent;
}

void no_rope_every_fourth(Hparams& h) {
  for_layers(h, [](LayerParameters& layer, uint32_t il) { layer.use_rope = (il + 1) % 4 != 0; });
}

void rope_in_windowed_only(Hparams& h) {
  for_layers(h, [](LayerParameters& layer, uint32_t) { layer.use_rope = layer.windowed; });
}

// Windowed layers rotate at the full layers' base without their scaling.
void plain_windowed_rope(Hparams& h, Keys&) {
  const uint32_t n_rot = h.rope_windowed.n_rot;
  const float base = h.rope_windowed.freq_base;
  h.rope_windowed = RopeParameters{};
  h.rope_windowed.n_rot = n_rot;
  h.rope_windowed.freq_base = base;
}

void granite_swa(Hparams& h, Keys& keys) {
  std::vector<uint32_t> rotates(h.n_layer, 1);
  if (keys.has("attention.rope_pattern")) keys.u32s("attention.rope_pattern", rotates);
  for (uint32_t il = 0; il < h.n_layer; ++il) h.layers[il].use_rope = rotates[il] != 0;
}

void mellum(Hparams& h, Keys& keys) {
  plain_windowed_rope(h, keys);
  keys.boolean("expert_weights_norm", h.normalize_expert_weights);
}

// Layers are one thing each: attention, Mamba-2, or a feed-forward network.
void nemotron_h(Hparams& h, Keys&) {
  for (LayerParameters& layer : h.layers)
    if (layer.n_ff != 0) {
      layer.mixer = MixerKind::kNone;
    } else if (layer.n_head_kv == 0) {
      layer.mixer = MixerKind::kMamba2;
    }
}

void interleaved_sections(Hparams& h, Keys&) { h.rope_interleaved_sections = true; }

// "Dynamic NTK": a factor alpha stretches the base.
void hunyuan(Hparams& h, Keys& keys) {
  float alpha = 0;
  keys.f32("rope.scaling.alpha", alpha);
  const float d = static_cast<float>(h.layers[0].d_k);
  if (alpha > 0 && d > 2) h.rope.freq_base *= std::pow(alpha, d / (d - 2));
}

void granite(Hparams& h, Keys& keys) {
  bool finetuned = true;
  keys.boolean("rope.scaling.finetuned", finetuned);
  for (LayerParameters& layer : h.layers) layer.use_rope = finetuned;
}

void nanbeige(Hparams&, Keys& keys) {
  uint32_t n_loops = 1;
  keys.u32("num_loops", n_loops);
  if (n_loops > 1) keys.refuse(ErrorCode::kUnsupported, "nanbeige.num_loops above 1 cannot run yet");
}

void minicpm(Hparams& h, Keys& keys) {
  if (!keys.has("embedding_scale")) h.embedding_scale = 12.0f;
  if (!keys.has("residual_scale")) h.residual_scale = 1.4f / std::sqrt(static_cast<float>(h.n_layer));
  if (!keys.has("logit_scale")) h.logit_scale = static_cast<float>(h.n_embd) / 256.0f;
}

// Files of other architectures may carry these keys without meaning them.
void soft_caps(Hparams& h, Keys& keys, float attention, float logits) {
  h.attention_soft_cap = attention;
  h.logit_soft_cap = logits;
  keys.f32("attn_logit_softcapping", h.attention_soft_cap);
  keys.f32("final_logit_softcapping", h.logit_soft_cap);
}

void gemma_scale(Hparams& h, uint32_t n_layer_27b) {
  const LayerParameters& layer = h.layers[0];
  if (h.n_layer == n_layer_27b && layer.n_head > 0)
    h.attention_scale = 1.0f / std::sqrt(static_cast<float>(h.n_embd / layer.n_head));
}

void gemma2(Hparams& h, Keys& keys) {
  gemma_scale(h, 46);
  soft_caps(h, keys, 50.0f, 30.0f);
}

void gemma4(Hparams& h, Keys& keys) {
  h.attention_scale = 1.0f;
  h.logit_soft_cap = 30.0f;
  keys.f32("final_logit_softcapping", h.logit_soft_cap);
  keys.u32("embedding_length_per_layer_input", h.n_embd_per_layer);
  uint32_t n_shared = 0;
  keys.u32("attention.shared_kv_layers", n_shared);
  if (n_shared >= h.n_layer) return keys.refuse(ErrorCode::kOutOfRange, "attention.shared_kv_layers leaves no layer");
  // The last layers read the cache of the last one of their kind that has keys of its own.
  const uint32_t n_own = h.n_layer - n_shared;
  for (uint32_t il = n_own; il < h.n_layer; ++il)
    for (uint32_t own = n_own; own-- > 0;)
      if (h.layers[own].windowed == h.layers[il].windowed) {
        h.layers[il].kv_layer = own;
        h.layers[il].n_head_kv = h.layers[own].n_head_kv;
        break;
      } else if (own == 0) {
        return keys.refuse(ErrorCode::kOutOfRange, "a layer shares keys of a kind that no layer has");
      }
}

void gemma3n(Hparams& h, Keys& keys) {
  constexpr uint32_t kOwn = 20;  // layers with keys of their own
  h.attention_scale = 1.0f;
  h.logit_soft_cap = 30.0f;
  if (const TensorInfo* norm = find_tensor(keys.gguf(), "per_layer_proj_norm.weight"); norm != nullptr)
    h.n_embd_per_layer = static_cast<uint32_t>(std::min<uint64_t>(norm->shape[0], Keys::kMostCount));
  if (h.n_embd_per_layer == 0) return keys.refuse(ErrorCode::kNotFound, "tensor per_layer_proj_norm.weight is missing");
  for (uint32_t il = kOwn; il < h.n_layer; ++il) {
    h.layers[il].kv_layer = kOwn - (h.layers[il].windowed ? 2 : 1);
    h.layers[il].n_head_kv = h.layers[h.layers[il].kv_layer].n_head_kv;
    if (h.layers[h.layers[il].kv_layer].windowed != h.layers[il].windowed)
      return keys.refuse(ErrorCode::kOutOfRange, "a layer shares keys of another kind of layer");
  }
}

void llama4(Hparams& h, Keys&) {
  h.normalize_expert_weights = false;  // whatever the file says
  if (h.window == 0) {
    for (LayerParameters& layer : h.layers) layer.windowed = false;
    h.layers[h.n_layer - 1].use_rope = false;
    return;
  }
  h.window = 8192;  // whatever the file says
  h.temperature_scale = 0.1f;
  h.temperature_length = 8192;
  h.temperature_offset = 1.0f;
  no_rope_every_fourth(h);
}

void mistral3(Hparams& h, Keys& keys) {
  keys.f32("attention.temperature_scale", h.temperature_scale);
  h.temperature_length = h.rope.n_ctx_original;
  if (h.temperature_scale != 0 && h.temperature_length == 0)
    keys.refuse(ErrorCode::kOutOfRange, "rope.scaling.original_context_length is 0");
}

// yarn's magnitude goes into the scale of the scores instead of the rotation.
void deepseek2(Hparams& h, Keys& keys) {
  float log_multiplier = 0;
  keys.f32("rope.scaling.yarn_log_multiplier", log_multiplier);
  const float log_ratio = std::log(1.0f / h.rope.freq_scale);
  const float d_k = static_cast<float>(h.d_k_latent != 0 ? h.d_k_latent : h.layers[0].d_k);
  if (h.rope.ext_factor != 0) {
    const float m = log_multiplier / 0.1f;
    const auto magnitude = [&](float by) { return log_ratio <= 0 ? 1.0f : 0.1f * by * log_ratio + 1.0f; };
    float attn_factor = 1.0f;
    keys.f32("rope.scaling.attn_factor", attn_factor);
    h.rope.attn_factor = attn_factor / (1.0f + 0.1f * log_ratio);
    h.rope.attn_factor *= m != 0 ? magnitude(m != 1.0f ? m : 1.0f) / magnitude(m) : magnitude(1.0f);
    h.rope_windowed.attn_factor = h.rope.attn_factor;
  }
  const float mscale = h.rope.attn_factor * (1.0f + 0.1f * log_ratio) * (1.0f + log_multiplier * log_ratio);
  h.attention_scale = mscale * mscale / std::sqrt(d_k);
  keys.f32("attention.temperature_scale", h.temperature_scale);
  keys.u32("attention.temperature_length", h.temperature_length, 1u << 30);
  if (h.temperature_scale != 0 && h.temperature_length == 0)
    keys.refuse(ErrorCode::kOutOfRange, "attention.temperature_length is 0");
}

// Layers without heads do not mix; those without key heads only project; those without a feed-forward network are
// left out by llama.cpp.
void deci(Hparams& h, Keys&) {
  for (LayerParameters& layer : h.layers) {
    if (layer.n_head == 0 || layer.n_ff == 0)
      layer.mixer = MixerKind::kNone;
    else if (layer.n_head_kv == 0)
      layer.mixer = MixerKind::kOutputOnly;
  }
}

void grok(Hparams& h, Keys& keys) {
  h.attention_scale = 0.08838834764831845f;
  keys.f32("attention.output_scale", h.attention_scale);
  if (!keys.has("logit_scale")) h.logit_scale = 0.5773502691896257f;
  if (!keys.has("embedding_scale")) h.embedding_scale = 78.38367176906169f;
  soft_caps(h, keys, 30.0f, 0);
  h.dense_and_experts_scale = std::sqrt(2.0f) / 2;
}

void apertus(Hparams& h, Keys& keys) {
  std::vector<float> alpha_n(h.n_layer), alpha_p(h.n_layer), beta(h.n_layer), eps(h.n_layer);
  for (const auto& [name, to] : {std::pair(".xielu.alpha_n", &alpha_n), std::pair(".xielu.alpha_p", &alpha_p),
                                 std::pair(".xielu.beta", &beta), std::pair(".xielu.eps", &eps)})
    if (!keys.f32s(name, *to)) keys.refuse(ErrorCode::kNotFound, std::string(name + 1) + " is missing");
  for (size_t i = 0; i < h.layers.size(); ++i)
    h.layers[i].xielu = {beta[i] + softplus(alpha_n[i]), softplus(alpha_p[i]), beta[i], eps[i]};
}

void exaone4(Hparams& h, Keys&) {
  if (h.n_layer == 64) return rope_in_windowed_only(h);
  h.window = 0;
  for (LayerParameters& layer : h.layers) layer.windowed = false;
}

void smallthinker(Hparams& h, Keys&) {
  if (h.window == 0) return;
  h.window = 4096;  // whatever the file says
  for_layers(h, [](LayerParameters& layer, uint32_t il) { layer.use_rope = il % 4 != 0; });
}

// Every interval-th layer attends, the others are delta nets.
void delta_net(Hparams& h, Keys& keys) {
  std::vector<uint32_t> recurrent(h.n_layer);
  if (!keys.u32s("attention.recurrent_layers", recurrent)) {
    uint32_t interval = 4;
    keys.u32("full_attention_interval", interval);
    if (interval == 0) return keys.refuse(ErrorCode::kOutOfRange, "full_attention_interval is 0");
    for (uint32_t il = 0; il < h.n_layer; ++il) recurrent[il] = (il + 1) % interval != 0 ? 1 : 0;
  }
  for (uint32_t il = 0; il < h.n_layer; ++il)
    if (recurrent[il] != 0) h.layers[il].mixer = MixerKind::kDeltaNet;
  h.rope_interleaved_sections = true;
}

// T5 scores without a scale; its networks are gated GELU, or ReLU in the first version.
void t5(Hparams& h, Keys& keys) {
  h.attention_scale = 1.0f;
  if (find_tensor(keys.gguf(), "enc.blk.0.ffn_gate.weight") == nullptr) h.activation = Activation::kRelu;
  if (h.n_relative_buckets < 4 || h.n_relative_buckets % 4 != 0)
    keys.refuse(ErrorCode::kOutOfRange, "attention.relative_buckets_count is missing or no multiple of 4");
}

void t5_decoder(Hparams& h, Keys& keys) {
  t5(h, keys);
  h.n_encoder_layer = h.n_layer;
  keys.u32("decoder_block_count", h.n_layer,
           static_cast<uint32_t>(std::min<size_t>(keys.gguf().header.tensors.size(), 4096)));
  uint32_t start = 0;
  keys.u32("decoder_start_token_id", start);
  h.decoder_start = static_cast<int32_t>(start);
  if (h.n_layer == 0) return keys.refuse(ErrorCode::kOutOfRange, "decoder_block_count is 0");
  const LayerParameters shape = h.layers[0];
  for (const LayerParameters& layer : h.layers)
    if (layer.n_head != shape.n_head || layer.n_head_kv != shape.n_head_kv || layer.n_ff != shape.n_ff)
      return keys.refuse(ErrorCode::kUnsupported, "layers of different shapes in an encoder-decoder");
  h.layers.assign(h.n_layer, shape);
  for (uint32_t il = 0; il < h.n_layer; ++il) h.layers[il].kv_layer = il;
}

// clang-format off
constexpr Architecture kArchitectures[] = {
    {.name = "llama", .rope = kAdjacent, .normalize_expert_weights = true},
    {.name = "afmoe", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .embedding_scale_sqrt = true,
     .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true, .required = "attn_gate.weight",
     .adjust = [](Hparams& h, Keys&) { no_rope_every_fourth(h); }},
    {.name = "apertus", .activation = Activation::kXielu, .qk_norm = QkNorm::kRequired, .needs_output = true, .adjust = apertus},
    {.name = "arcee", .rope = kAdjacent, .activation = Activation::kReluSquared},
    {.name = "arctic", .rope = kAdjacent, .normalize_expert_weights = true, .experts_read_layer_input = true,
     .adjust = [](Hparams& h, Keys&) { h.dense_and_experts_scale = 1.0f; }},
    {.name = "arwkv7", .rope = kNoRope, .mixer = MixerKind::kRwkv7, .needs_output = true},
    {.name = "baichuan", .rope = kAdjacent, .needs_output = true,
     .adjust = [](Hparams& h, Keys&) {
       if (h.n_layer == 32) return;  // 7B; llama.cpp tells them apart by nothing else
       if (h.n_layer == 40) h.max_alibi_bias = 8.0f;  // 13B
       for (LayerParameters& layer : h.layers) layer.use_rope = false;
     }},
    {.name = "bailingmoe", .rope = kAdjacent, .needs_output = true, .expert_scale_by_key = true},
    {.name = "bailingmoe2", .qk_norm = QkNorm::kRequired, .needs_output = true, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "bert", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .qk_norm_kind = kLayerNorm, .position_embedding = true, .encoder = true},
    {.name = "bitnet", .required = "attn_sub_norm.weight ffn_sub_norm.weight"},
    {.name = "bloom", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .max_alibi_bias = 8.0f},
    {.name = "chatglm", .rope = kAdjacent},
    {.name = "cogvlm"},
    {.name = "codeshell", .norm = kLayerNorm, .activation = kGelu, .norm_biases = true},
    {.name = "cohere2", .norm = kLayerNorm, .rope = kAdjacent, .norms = kOneNorm, .parallel = true,
     .window = {.period = 4}, .adjust = [](Hparams& h, Keys&) { rope_in_windowed_only(h); }},
    {.name = "command-r", .norm = kLayerNorm, .rope = kAdjacent, .norms = kOneNorm, .parallel = true, .qk_norm_kind = kLayerNorm},
    {.name = "dbrx", .norm = kLayerNorm, .norms = {.ffn = "attn_output_norm"}, .needs_output = true, .normalize_expert_weights = true},
    {.name = "deci", .rope = kAdjacent, .attention_norm_optional = true, .adjust = deci},
    {.name = "deepseek", .rope = kAdjacent, .expert_scale_by_key = true},
    {.name = "deepseek2", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .gating_by_key = true, .expert_scale_by_key = true, .adjust = deepseek2},
    {.name = "dots1", .qk_norm = QkNorm::kRequired, .needs_output = true, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "ernie4_5", .rope = kAdjacent},
    {.name = "ernie4_5-moe", .rope = kAdjacent, .normalize_expert_weights = true},
    {.name = "eurobert", .encoder = true},
    {.name = "exaone"},
    {.name = "exaone4", .norms = kPost, .qk_norm = QkNorm::kRequired, .window = {.period = 4, .length = 4096}, .adjust = exaone4},
    {.name = "exaone-moe", .qk_norm = QkNorm::kRequired, .window = {.period = 4, .length = 128}, .needs_output = true,
     .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true, .adjust = [](Hparams& h, Keys&) { rope_in_windowed_only(h); }},
    {.name = "falcon", .norm = kLayerNorm, .activation = kGelu, .norms = kOneNorm, .norm_biases = true, .parallel = true},
    {.name = "falcon-h1", .mixer = MixerKind::kAttentionMamba2},
    {.name = "gemma", .activation = kGelu, .embedding_scale_sqrt = true},
    {.name = "gemma-embedding", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired,
     .window = {.period = 6, .kind = WindowKind::kSymmetric}, .windowed_rope_own = true, .encoder = true, .embedding_scale_sqrt = true},
    {.name = "gemma2", .activation = kGelu, .norms = kSandwich, .window = {.period = 2, .length = 4096},
     .embedding_scale_sqrt = true, .adjust = gemma2},
    {.name = "gemma3", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 6},
     .windowed_rope_own = true, .embedding_scale_sqrt = true, .adjust = [](Hparams& h, Keys& keys) { gemma_scale(h, 62); keys.f32("final_logit_softcapping", h.logit_soft_cap); }},
    {.name = "gemma3n", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .normalize_values = true,
     .window = {.period = 5}, .windowed_rope_own = true, .embedding_scale_sqrt = true, .altup = true, .adjust = gemma3n},
    {.name = "gemma4", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .normalize_values = true,
     .window = {.period = 6}, .windowed_rope_own = true, .embedding_scale_sqrt = true, .adjust = gemma4},
    {.name = "glm4", .rope = kAdjacent, .norms = kSandwich,
     .adjust = [](Hparams& h, Keys&) { if (h.rope_sections[1] != 0) h.rope_kind = RopeKind::kHalves; }},
    {.name = "glm4moe", .norms = kFfnByPost, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "gpt-oss", .activation = Activation::kSwigluOai, .norms = kFfnByPost, .window = {.period = 2}, .needs_output = true,
     .gating = Gating::kSoftmaxOfChosen, .required = "attn_sinks.weight"},
    {.name = "gpt2", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .position_embedding = true,
     .required = "attn_output.bias ffn_up.bias ffn_down.bias"},
    {.name = "gptj", .norm = kLayerNorm, .rope = kAdjacent, .activation = kGelu, .norms = kOneNorm, .norm_biases = true,
     .parallel = true, .needs_output = true, .required = "ffn_up.bias ffn_down.bias"},
    {.name = "gptneox", .norm = kLayerNorm, .activation = kGelu, .norm_biases = true, .parallel = true, .needs_output = true,
     .required = "attn_qkv.bias attn_output.bias ffn_norm.weight ffn_up.bias ffn_down.bias",
     .adjust = [](Hparams& h, Keys& keys) { keys.boolean("use_parallel_residual", h.parallel); }},
    {.name = "granite", .rope = kAdjacent, .divide_logits = true, .adjust = granite},
    {.name = "granite_swa", .rope = kAdjacent, .window = {.period = 4}, .divide_logits = true,
     .normalize_expert_weights = true, .adjust = granite_swa},
    {.name = "granitehybrid", .rope = kAdjacent, .divide_logits = true, .normalize_expert_weights = true,
     .adjust = [](Hparams& h, Keys& keys) { granite(h, keys); set_mixers(h, MixerKind::kMamba2); }},
    {.name = "granitemoe", .rope = kAdjacent, .divide_logits = true, .normalize_expert_weights = true},
    {.name = "grok", .activation = kGelu, .norms = {.after_attention = "attn_output_norm", .after_ffn = "layer_output_norm"},
     .normalize_expert_weights = true, .adjust = grok},
    {.name = "hunyuan-dense", .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true, .adjust = hunyuan},
    {.name = "hunyuan-moe", .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true, .normalize_expert_weights = true},
    {.name = "hunyuan_vl", .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true, .adjust = hunyuan},
    {.name = "hy_v3", .qk_norm = QkNorm::kRequired, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "internlm2", .rope = kAdjacent, .needs_output = true},
    {.name = "jais", .norm = kLayerNorm, .rope = kNoRope, .norm_biases = true, .needs_output = true,
     .adjust = [](Hparams& h, Keys&) { h.attention_scale = 1.0f / static_cast<float>(std::max(h.layers[0].d_k, 1u)); }},
    {.name = "jais2", .norm = kLayerNorm, .activation = Activation::kReluSquared, .norm_biases = true},
    {.name = "jamba", .rope = kNoRope, .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kMamba); }},
    {.name = "jina-bert-v2", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .qk_norm_kind = kLayerNorm, .encoder = true, .max_alibi_bias = 8.0f},
    {.name = "jina-bert-v3", .norm = kLayerNorm, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .qk_norm_kind = kLayerNorm, .encoder = true},
    {.name = "lfm2", .norms = {.output = "token_embd_norm"}, .qk_norm = QkNorm::kRequired,
     .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kShortConvolution); }},
    {.name = "lfm2moe", .norms = {.output = "token_embd_norm"}, .qk_norm = QkNorm::kRequired, .gating = Gating::kSigmoid,
     .gating_by_key = true, .normalize_expert_weights = true,
     .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kShortConvolution); }},
    {.name = "llama-embed", .rope = kAdjacent, .encoder = true, .normalize_expert_weights = true,
     .adjust = [](Hparams& h, Keys& keys) { h.causal = true; keys.boolean("attention.causal", h.causal); }},
    {.name = "llama4", .rope = kAdjacent, .qk_norm = QkNorm::kUnweighted, .qk_norm_after_rope = true,
     .window = {.period = 4, .length = 8192, .kind = WindowKind::kChunked}, .gating = Gating::kSigmoid,
     .weigh_before_experts = true, .choose_by_logits = true, .adjust = llama4},
    {.name = "maincoder", .rope = kAdjacent, .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true},
    {.name = "mamba", .rope = kNoRope, .mixer = MixerKind::kMamba, .norms = kOneNorm},
    {.name = "mamba2", .rope = kNoRope, .mixer = MixerKind::kMamba2, .norms = kOneNorm},
    {.name = "mellum", .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .needs_output = true, .gating_by_key = true,
     .normalize_expert_weights = true, .adjust = mellum},
    {.name = "minicpm", .rope = kAdjacent, .divide_logits = true, .normalize_expert_weights = true, .adjust = minicpm},
    {.name = "minicpm3", .mixer = MixerKind::kLatentAttention,
     .adjust = [](Hparams& h, Keys& keys) { minicpm(h, keys); if (!keys.has("logit_scale")) h.logit_scale = 256.0f / static_cast<float>(h.n_embd); }},
    {.name = "minimax-m2", .qk_norm = QkNorm::kRequired, .needs_output = true, .gating = Gating::kSigmoid, .gating_by_key = true,
     .normalize_expert_weights = true},
    {.name = "mistral3", .rope = kAdjacent, .normalize_expert_weights = true, .adjust = mistral3},
    {.name = "mistral4", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .gating_by_key = true,
     .expert_scale_by_key = true, .adjust = deepseek2},
    {.name = "modern-bert", .norm = kLayerNorm, .activation = kGelu, .window = {.period = 3, .full_first = true, .kind = WindowKind::kSymmetric},
     .windowed_rope_own = true, .attention_norm_optional = true, .encoder = true},
    {.name = "mpt", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .qk_norm_kind = kLayerNorm},
    {.name = "nanbeige", .rope = kAdjacent, .adjust = nanbeige},
    {.name = "nemotron", .norm = kLayerNorm, .activation = Activation::kReluSquared, .norm_biases = true, .needs_output = true},
    {.name = "nemotron_h", .rope = kNoRope, .activation = Activation::kReluSquared, .norms = kOneNorm, .adjust = nemotron_h},
    {.name = "nemotron_h_moe", .rope = kNoRope, .activation = Activation::kReluSquared, .norms = kOneNorm,
     .gating = Gating::kSigmoid, .expert_scale_by_key = true, .adjust = nemotron_h},
    {.name = "neo-bert", .rope = kAdjacent, .norms = {.output = "enc.output_norm"}, .encoder = true},
    {.name = "nomic-bert", .norm = kLayerNorm, .norms = kBertNorms, .norm_biases = true, .norm_after_residual = true, .encoder = true},
    {.name = "nomic-bert-moe", .norm = kLayerNorm, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .encoder = true},
    {.name = "olmo", .norm = kLayerNorm, .rope = kAdjacent, .unweighted_norms = true},
    {.name = "olmo2", .norms = kPost, .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .needs_output = true,
     .adjust = plain_windowed_rope},
    {.name = "olmoe", .qk_norm = QkNorm::kRequired, .needs_output = true},
    {.name = "openelm", .qk_norm = QkNorm::kRequired},
    {.name = "orion", .norm = kLayerNorm, .norm_biases = true, .needs_output = true},
    {.name = "paddleocr"},
    {.name = "pangu-embedded"},
    {.name = "phi2", .norm = kLayerNorm, .activation = kGelu, .norms = kOneNorm, .norm_biases = true, .parallel = true,
     .needs_output = true, .required = "attn_output.bias ffn_up.bias ffn_down.bias"},
    {.name = "phi3", .normalize_expert_weights = true},
    {.name = "phimoe", .norm_biases = true, .needs_output = true, .normalize_expert_weights = true},
    {.name = "plamo", .norms = kOneNorm, .parallel = true, .needs_output = true},
    {.name = "plamo2", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .needs_output = true,
     .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kPlamo2); }},
    {.name = "plamo3", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 8}, .windowed_rope_own = true},
    {.name = "plm", .rope = kAdjacent, .activation = Activation::kReluSquared, .mixer = MixerKind::kLatentAttention},
    {.name = "qwen", .needs_output = true, .required = "attn_qkv.bias",
     .adjust = [](Hparams& h, Keys&) { for (LayerParameters& layer : h.layers) layer.n_ff /= 2; }},
    {.name = "qwen2"},
    {.name = "qwen2moe", .needs_output = true, .required = "ffn_gate_inp_shexp.weight"},
    // llama.cpp computes this one without the file's epsilon.
    {.name = "qwen2vl", .adjust = [](Hparams& h, Keys&) { h.norm_eps = 0; }},
    {.name = "qwen3", .qk_norm = QkNorm::kRequired},
    {.name = "qwen3moe", .qk_norm = QkNorm::kRequired, .normalize_expert_weights = true},
    {.name = "qwen3next", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .normalize_expert_weights = true, .adjust = delta_net},
    {.name = "qwen35", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .adjust = delta_net},
    {.name = "qwen35moe", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .normalize_expert_weights = true, .adjust = delta_net},
    {.name = "qwen3vl", .qk_norm = QkNorm::kRequired, .adjust = interleaved_sections},
    {.name = "qwen3vlmoe", .qk_norm = QkNorm::kRequired, .normalize_expert_weights = true, .adjust = interleaved_sections},
    {.name = "refact", .rope = kNoRope, .max_alibi_bias = 8.0f},
    {.name = "rwkv", .norm = kLayerNorm, .rope = kNoRope, .mixer = MixerKind::kRwkv4, .norms = {.ffn = "attn_norm_2"},
     .norm_biases = true, .needs_output = true},
    {.name = "rwkv6", .norm = kLayerNorm, .rope = kNoRope, .mixer = MixerKind::kRwkv6, .norms = {.ffn = "attn_norm_2"},
     .norm_biases = true, .needs_output = true},
    {.name = "rwkv6qwen2", .rope = kNoRope, .mixer = MixerKind::kRwkv6Qwen, .needs_output = true},
    {.name = "rwkv7", .norm = kLayerNorm, .rope = kNoRope, .mixer = MixerKind::kRwkv7, .norms = {.ffn = "attn_norm_2"},
     .norm_biases = true, .needs_output = true},
    {.name = "seed_oss", .norms = kFfnByPost},
    {.name = "smallthinker", .activation = Activation::kRelu, .window = {.period = 4, .full_first = true},
     .gating_by_key = true, .normalize_expert_weights = true, .router_reads_layer_input = true, .adjust = smallthinker},
    {.name = "smollm3", .rope = kAdjacent, .adjust = [](Hparams& h, Keys&) { no_rope_every_fourth(h); }},
    {.name = "stablelm", .norm = kLayerNorm, .norm_biases = true, .qk_norm_kind = kLayerNorm, .needs_output = true,
     .adjust = [](Hparams& h, Keys& keys) { h.parallel = find_tensor(keys.gguf(), "blk.0.ffn_norm.weight") == nullptr; }},
    {.name = "starcoder", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .position_embedding = true},
    {.name = "starcoder2", .norm = kLayerNorm, .activation = kGelu, .norm_biases = true,
     .required = "attn_output.bias ffn_up.bias ffn_down.bias"},
    {.name = "t5", .rope = kNoRope, .activation = kGelu, .blocks = "dec.blk.", .norms = {.output = "dec.output_norm"},
     .encoder_decoder = true, .adjust = t5_decoder},
    {.name = "t5encoder", .rope = kNoRope, .activation = kGelu, .blocks = "enc.blk.", .norms = {.output = "enc.output_norm"},
     .encoder = true, .adjust = t5},
    {.name = "xverse", .rope = kAdjacent, .needs_output = true},
};
// clang-format on

}  // namespace

std::span<const Architecture> all_architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
    names += (names.empty() ? "" : ", ") + std::string(architecture.name);
  }
  return fail(ErrorCode::kUnsupported,
              "cannot run architecture " + std::string(name.substr(0, 64)) + " yet; can run: " + names);
}

}  // namespace ggufscope
