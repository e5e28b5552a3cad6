// What single architectures read and change beyond their row.
#include "model/architectures/adjustments.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gguf/access.hpp"
#include "model/decision/decision.hpp"
#include "model/mixers/granite_switch.hpp"
#include "model/mixers/kimi_delta.hpp"
#include "model/mixers/latent_attention.hpp"
#include "model/residual/residual_attention.hpp"
#include "nn/activation.hpp"

namespace ggufscope {
namespace {

void for_layers(Hparams& h, void (*change)(LayerParameters& layer, uint32_t il)) {
  for (uint32_t il = 0; il < h.n_layer; ++il) change(h.layers[il], il);
}

// Files of other architectures may contain this key, but the architecture does not use it.
void attention_cap(Hparams& h, Keys& keys, float cap) {
  h.attention_soft_cap = cap;
  keys.f32("attn_logit_softcapping", h.attention_soft_cap);
}

// Layers without key heads use delta attention.
void kimi_delta(Hparams& h, Keys& keys) {
  keys.required("kda.head_dim", h.parts.edit<KimiDeltaSizes>().d_head, 1u << 12);
  set_mixers(h, MixerKind::kKimiDelta);
}

void read_temperature(Hparams& h, Keys& keys) {
  keys.f32("attention.temperature_scale", h.temperature_scale);
  keys.u32("attention.temperature_length", h.temperature_length, 1u << 30);
  if (h.temperature_scale != 0 && h.temperature_length == 0)
    keys.refuse(ErrorCode::kOutOfRange, "attention.temperature_length is 0");
}

}  // namespace

void read_clamps(Hparams& h, Keys& keys) {
  std::vector<float> experts(h.n_layer), dense(h.n_layer);
  keys.f32s("swiglu_clamp_exp", experts);
  keys.f32s("swiglu_clamp_shexp", dense);
  for (size_t il = 0; il < h.layers.size(); ++il) {
    if (experts[il] > 1e-6f) h.layers[il].clamp_experts = experts[il];
    if (dense[il] > 1e-6f) h.layers[il].clamp_dense = dense[il];
  }
}

void read_logit_cap(Hparams& h, Keys& keys, float cap) {
  keys.f32("final_logit_softcapping", cap);
  if (cap != 0) h.logit_soft_cap = cap;
}

void latent_yarn(Hparams& h, Keys& keys, float log_multiplier, bool own_magnitude) {
  const float log_ratio = std::log(1.0f / h.rope.freq_scale);
  const float d_k =
      static_cast<float>(h.part<LatentSizes>().full.d_k != 0 ? h.part<LatentSizes>().full.d_k : h.layers[0].d_k);
  if (h.rope.ext_factor != 0) {
    const float m = log_multiplier / 0.1f;
    const auto magnitude = [&](float by) { return log_ratio <= 0 ? 1.0f : 0.1f * by * log_ratio + 1.0f; };
    float attn_factor = 1.0f;
    keys.f32("rope.scaling.attn_factor", attn_factor);
    h.rope.attn_factor = attn_factor / (1.0f + 0.1f * log_ratio);
    h.rope.attn_factor *= m != 0 ? magnitude(own_magnitude ? m : 1.0f) / magnitude(m) : magnitude(1.0f);
    h.rope_windowed.attn_factor = h.rope.attn_factor;
  }
  const float mscale = h.rope.attn_factor * (1.0f + 0.1f * log_ratio) * (1.0f + log_multiplier * log_ratio);
  h.attention_scale = mscale * mscale / std::sqrt(d_k);
}

float yarn_multiplier(Keys& keys) {
  float log_multiplier = 0;
  keys.f32("rope.scaling.yarn_log_multiplier", log_multiplier);
  return log_multiplier;
}

// Layers without key heads are recurrent layers of this kind.
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

// Windowed layers rotate with the full layers' base, but without their scaling.
void plain_windowed_rope(Hparams& h, Keys&) {
  const RopeParameters scaled = std::exchange(h.rope_windowed, {});
  h.rope_windowed.n_rot = scaled.n_rot;
  h.rope_windowed.freq_base = scaled.freq_base;
}

void granite_swa(Hparams& h, Keys& keys) {
  std::vector<uint32_t> rotates(h.n_layer, 1);
  if (keys.has("attention.rope_pattern")) keys.u32s("attention.rope_pattern", rotates);
  for (uint32_t il = 0; il < h.n_layer; ++il) h.layers[il].use_rope = rotates[il] != 0;
}

// All layers have the same base; rope.freq_base_swa is ignored.
void olmo2(Hparams& h, Keys& keys) {
  h.rope_windowed.freq_base = h.rope.freq_base;
  plain_windowed_rope(h, keys);
}

// rope.freq_base_swa is ignored; a scaling "none" concerns these layers, too.
void rotate_windowed_as_full(Hparams& h) {
  h.rope_windowed.freq_base = h.rope.freq_base;
  h.rope_windowed.freq_scale = h.rope.freq_scale;
}

// Full layers do not use RoPE.
void one_base_where_windowed(Hparams& h, Keys&) {
  rotate_windowed_as_full(h);
  rope_in_windowed_only(h);
}

void mellum(Hparams& h, Keys& keys) {
  plain_windowed_rope(h, keys);
  keys.boolean("expert_weights_norm", h.normalize_expert_weights);
}

// Each layer is only one of: attention, Mamba-2, feed-forward network.
void nemotron_h(Hparams& h, Keys&) {
  for (LayerParameters& layer : h.layers)
    if (layer.n_ff != 0) {
      layer.mixer = MixerKind::kNone;
    } else if (layer.n_head_kv == 0) {
      layer.mixer = MixerKind::kMamba2;
    }
}

void interleaved_sections(Hparams& h, Keys&) { h.rope_interleaved_sections = true; }

void qwen3vl(Hparams& h, Keys& keys) {
  h.rope_interleaved_sections = true;
  keys.u32("n_deepstack_layers", h.n_deep_layer, h.n_layer);
}

// The output has rows for the last tokens only, those of the codec.
void qwen3tts(Hparams& h, Keys& keys) {
  qwen3vl(h, keys);
  const TensorInfo* output = find_tensor(keys.gguf(), "output.weight");
  if (output != nullptr)
    h.n_silent = h.n_vocab - static_cast<uint32_t>(std::min<uint64_t>(output->shape[1], h.n_vocab));
}

// "Dynamic NTK": a factor alpha enlarges the base.
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

void granite_switch(Hparams& h, Keys& keys) {
  granite(h, keys);
  uint32_t n = 0;
  SwitchSizes& sizes = h.parts.edit<SwitchSizes>();
  keys.required("adapters.count", n, 1u << 12);
  keys.required("adapters.lora_rank", sizes.rank, 1u << 16);
  keys.f32("adapters.router_gain", sizes.gain);
  if (keys.failed()) return;
  sizes.activate.resize(n);
  sizes.substitute.resize(n);
  keys.tokens("adapters.token_ids_activate", sizes.activate);
  keys.tokens("adapters.token_ids_substitute", sizes.substitute);
  for (const int32_t token : sizes.substitute)
    if (static_cast<uint32_t>(token) >= h.n_vocab)
      keys.refuse(ErrorCode::kOutOfRange, "adapters.token_ids_substitute holds " + std::to_string(token));
  for (LayerParameters& layer : h.layers)
    if (layer.d_v != layer.d_k) keys.refuse(ErrorCode::kOutOfRange, "heads of keys and of values differ in size");
}

// The same layers are run several times; each pass has its own keys.
void nanbeige(Hparams& h, Keys& keys) {
  bool skip_norm = false;
  keys.u32("num_loops", h.n_loops);
  keys.boolean("skip_loop_final_norm", skip_norm);
  h.norm_between_loops = !skip_norm;
  if (h.n_loops == 0 || h.n_loops > 4096 / h.n_layer)
    return keys.refuse(ErrorCode::kOutOfRange, "num_loops is " + std::to_string(h.n_loops));
  h.n_layer *= h.n_loops;
  const size_t n = h.layers.size();
  h.layers.resize(h.n_layer);
  for (size_t il = n; il < h.layers.size(); ++il) {
    h.layers[il] = h.layers[il - n];
    h.layers[il].kv_layer = static_cast<uint32_t>(il);
  }
}

void lfm2(Hparams& h, Keys& keys) {
  read_typed_head(h, keys);
  set_mixers(h, MixerKind::kShortConvolution);
  for (LayerParameters& layer : h.layers) layer.windowed = layer.windowed && layer.mixer == MixerKind::kAttention;
}

void minicpm_scales(Hparams& h) {
  h.embedding_scale = 12.0f;
  h.residual_scale = 1.4f / std::sqrt(static_cast<float>(h.n_layer));
  h.logit_scale = 256.0f / static_cast<float>(h.n_embd);
}

void minicpm(Hparams& h, Keys& keys) {
  const float embedding = h.embedding_scale, residual = h.residual_scale, logits = h.logit_scale;
  minicpm_scales(h);
  if (keys.has("embedding_scale")) h.embedding_scale = embedding;
  if (keys.has("residual_scale")) h.residual_scale = residual;
  if (keys.has("logit_scale")) h.logit_scale = logits;
}

void gemma_scale(Hparams& h, uint32_t n_layer_27b) {
  const LayerParameters& layer = h.layers[0];
  if (h.n_layer != n_layer_27b || layer.n_head == 0) return;
  const uint32_t width = h.n_embd / layer.n_head;
  h.attention_scale = 1.0f / std::sqrt(static_cast<float>(width));
}

void gemma2(Hparams& h, Keys& keys) {
  gemma_scale(h, 46);
  attention_cap(h, keys, 50.0f);
  float cap = 30.0f;
  keys.f32("final_logit_softcapping", cap);
  h.logit_soft_cap = cap;  // 0, too
}

void gemma4(Hparams& h, Keys& keys) {
  h.attention_scale = 1.0f;
  h.full_layers_causal = true;
  h.rope_factors = RopeFactors::kFullLayers;
  read_logit_cap(h, keys, 30.0f);
  keys.u32("embedding_length_per_layer_input", h.n_embd_per_layer);
  uint32_t n_shared = 0;
  keys.u32("attention.shared_kv_layers", n_shared);
  if (n_shared >= h.n_layer) return keys.refuse(ErrorCode::kOutOfRange, "attention.shared_kv_layers leaves no layer");
  // The last layers read the cache of the last earlier layer of their kind that has its own keys.
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
  constexpr uint32_t kOwn = 20;  // layers with their own keys
  h.rope_factors = RopeFactors::kFullLayers;
  h.attention_scale = 1.0f;
  h.logit_soft_cap = 30.0f;
  if (const TensorInfo* norm = find_tensor(keys.gguf(), "per_layer_proj_norm.weight"); norm != nullptr)
    h.n_embd_per_layer = static_cast<uint32_t>(std::min<uint64_t>(norm->shape[0], Keys::kMaxCount));
  if (h.n_embd_per_layer == 0) return keys.refuse(ErrorCode::kNotFound, "tensor per_layer_proj_norm.weight is missing");
  for (uint32_t il = kOwn; il < h.n_layer; ++il) {
    h.layers[il].kv_layer = kOwn - (h.layers[il].windowed ? 2 : 1);
    h.layers[il].n_head_kv = h.layers[h.layers[il].kv_layer].n_head_kv;
    if (h.layers[h.layers[il].kv_layer].windowed != h.layers[il].windowed)
      return keys.refuse(ErrorCode::kOutOfRange, "a layer shares keys of another kind of layer");
  }
}

void llama4(Hparams& h, Keys&) {
  h.normalize_expert_weights = false;  // regardless of the file
  if (h.window == 0) {
    h.layers[h.n_layer - 1].use_rope = false;
    return;
  }
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

void deepseek2(Hparams& h, Keys& keys) {
  latent_yarn(h, keys, yarn_multiplier(keys), true);
  read_temperature(h, keys);
}

void mistral4(Hparams& h, Keys& keys) {
  latent_yarn(h, keys, yarn_multiplier(keys), false);
  read_temperature(h, keys);
}

// Layers without heads have no attention. Those without key heads have only a projection. llama.cpp skips those without
// a feed-forward network.
void deci(Hparams& h, Keys&) {
  for (LayerParameters& layer : h.layers) {
    if (layer.n_head == 0 || layer.n_ff == 0)
      layer.mixer = MixerKind::kNone;
    else if (layer.n_head_kv == 0)
      layer.mixer = MixerKind::kOutputOnly;
  }
}

void grok(Hparams& h, Keys& keys) {
  // 0 is a factor like others.
  float scale = 0.08838834764831845f;
  keys.f32("attention.output_scale", scale);
  h.attention_scale = scale;
  h.logit_scale = 0.5773502691896257f;
  keys.f32("logit_scale", h.logit_scale);
  h.embedding_scale = 78.38367176906169f;
  keys.f32("embedding_scale", h.embedding_scale);
  attention_cap(h, keys, 30.0f);
  read_logit_cap(h, keys, 0);
  h.dense_and_experts_scale = std::sqrt(2.0f) / 2;
  // YaRN itself replaces this factor.
  float factor = 1;
  keys.f32("rope.scaling.yarn_attn_factor", factor);
  if (h.rope.ext_factor == 0) h.rope.attn_factor *= factor;
}

/// llama.cpp takes the default for names that it does not know.
void modern_bert(Hparams& h, Keys& keys) {
  std::string_view name;
  keys.text("hidden_activation", name);
  if (name == "silu" || name == "swish" || name == "swiglu") h.activation = Activation::kSilu;
  if (name == "reglu") h.activation = Activation::kRelu;
  if (name == "relu") keys.refuse(ErrorCode::kUnsupported, "hidden_activation is relu without a gate");
  read_typed_head(h, keys);
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
  if (h.n_layer == 64) rope_in_windowed_only(h);
}

void smallthinker(Hparams& h, Keys&) {
  if (h.window == 0) return;
  for_layers(h, [](LayerParameters& layer, uint32_t il) { layer.use_rope = il % 4 != 0; });
}

// Every interval-th layer is attention, the others are delta nets.
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

// T5 does not scale attention scores. Its feed-forward networks use gated GELU, or ReLU in the first version.
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
  h.layers.assign(std::max(h.n_layer, h.n_encoder_layer), shape);
  for (uint32_t il = 0; il < h.layers.size(); ++il) h.layers[il].kv_layer = il;
}

void no_rope_factors(Hparams& h, Keys&) { h.rope_factors = RopeFactors::kNone; }

void chameleon(Hparams& h, Keys& keys) {
  keys.boolean("swin_norm", h.norms_follow);
  h.head_norm_eps = 1e-5f;
  // Tokens that stand for images.
  h.first_silent = std::min(h.n_vocab, 4u);
  h.n_silent = std::min(h.n_vocab, 8196u) - h.first_silent;
}

void cohere2moe(Hparams& h, Keys& keys) {
  float rms_eps = 0;
  keys.f32("attention.layer_norm_rms_epsilon", rms_eps);
  if (rms_eps != 0) h.norm = NormKind::kRms, h.norm_eps = rms_eps;
  rotate_windowed_as_full(h);
  uint32_t n_dense = 0;
  keys.u32("leading_dense_block_count", n_dense);
  for (uint32_t il = 0; il < h.n_layer; ++il) h.layers[il].use_rope = h.layers[il].windowed || il < n_dense;
  h.shared_expert_scale = 0.5f;
}

void grovemoe(Hparams& h, Keys& keys) {
  h.chunk_scale = 0.05f;
  keys.u32("experts_per_group", h.experts_per_chunk);
  keys.f32("expert_group_scale", h.chunk_scale);
  if (h.experts_per_chunk == 0 || h.n_expert % h.experts_per_chunk != 0)
    keys.refuse(ErrorCode::kOutOfRange, "experts_per_group does not divide the experts");
}

void kimi_linear(Hparams& h, Keys& keys) {
  kimi_delta(h, keys);
  for (LayerParameters& layer : h.layers) layer.use_rope = false;
}

void kimi_k3(Hparams& h, Keys& keys) {
  kimi_linear(h, keys);
  KimiDeltaSizes& kda = h.parts.edit<KimiDeltaSizes>();
  kda.negated = true;
  if (keys.f32("kda.gate_lower_bound", kda.gate_bound) && kda.gate_bound >= 0)
    keys.refuse(ErrorCode::kOutOfRange, "kda.gate_lower_bound is not negative");
  keys.u32("attn_res.block_size", h.parts.edit<BankSizes>().block);
  keys.f32("activation.situ_beta", h.situ.beta);
  keys.f32("activation.situ_linear_beta", h.situ.linear_beta);
  if (h.situ.beta == 0) keys.refuse(ErrorCode::kOutOfRange, "activation.situ_beta is missing or 0");
}

void bailingmoe3(Hparams& h, Keys& keys) {
  kimi_delta(h, keys);
  read_clamps(h, keys);
  float& bound = h.parts.edit<KimiDeltaSizes>().gate_bound;
  keys.f32("kda.gate_lower_bound", bound);
  if (bound >= 0) keys.refuse(ErrorCode::kOutOfRange, "kda.gate_lower_bound is missing or not negative");
}

// Full layers rotate half as many elements as windowed ones.
void step35(Hparams& h, Keys& keys) {
  read_clamps(h, keys);
  h.rope_factors = RopeFactors::kFullLayers;
  h.rope.n_rot /= 2;
  for (LayerParameters& layer : h.layers)
    if (!layer.windowed) layer.n_rot = h.rope.n_rot;
}

void minimax01(Hparams& h, Keys& keys) {
  std::vector<uint32_t> recurrent(h.n_layer);
  if (!keys.u32s("attention.recurrent_layers", recurrent)) {
    uint32_t interval = 8;
    keys.u32("full_attention_interval", interval);
    for (uint32_t il = 0; il < h.n_layer; ++il) recurrent[il] = interval == 0 || (il + 1) % interval != 0 ? 1 : 0;
  }
  for (uint32_t il = 0; il < h.n_layer; ++il)
    if (recurrent[il] != 0) h.layers[il].mixer = MixerKind::kLightning;
}

void muse_glimmer(Hparams& h, Keys& keys) {
  rope_in_windowed_only(h);
  h.post_norm_eps = 1e-8f;
  h.rope_windowed.freq_scale = 1.0f;
  read_logit_cap(h, keys, 30.0f);
}

// llama.cpp ignores the file's RoPE keys here and rotates whole heads with Llama's original base.
void cogvlm(Hparams& h, Keys&) {
  h.rope = RopeParameters{};
  h.rope.n_rot = h.layers[0].d_k;
  h.rope_factors = RopeFactors::kNone;
  for (LayerParameters& layer : h.layers) layer.n_rot = h.rope.n_rot;
}

// Outputs hidden states of speech, one for each token; the caller uses the last.
void pockettts(Hparams& h, Keys&) {
  h.causal = true;
  if (h.pooling == 5) h.pooling = 3;
}

}  // namespace ggufscope
