// Adjustments of architectures that attend to selected or compressed positions.
#include <algorithm>
#include <cmath>

#include "model/architectures/adjustments.hpp"
#include "model/mixers/compressed_attention.hpp"
#include "model/mixers/delta_net.hpp"
#include "model/mixers/indexer.hpp"
#include "model/mixers/kimi_delta.hpp"
#include "model/mixers/latent_attention.hpp"
#include "model/residual/hyper_connections.hpp"
#include "model/residual/low_rank_connections.hpp"
#include "model/residual/ngram_embedding.hpp"

namespace ggufscope {
namespace {

IndexerSizes& read_indexer(Hparams& h, Keys& keys) {
  IndexerSizes& indexer = h.parts.edit<IndexerSizes>();
  keys.required("attention.indexer.head_count", indexer.n_head, 1u << 12);
  keys.required("attention.indexer.key_length", indexer.d_k, 1u << 16);
  keys.required("attention.indexer.top_k", indexer.top_k, 1u << 30);
  return indexer;
}

// Which layers select positions. The key is of the layers before MTP heads, which select their own.
void read_types(const Hparams& h, Keys& keys, std::vector<uint32_t>& types) {
  if (h.first_layer != 0) types.resize(h.first_layer);
  keys.u32s("attention.indexer.types", types);
  types.resize(h.n_layer, 1);
}

// Layers that attend to selected positions. types: which layers select them.
void sparse(Hparams& h, Keys& keys, const std::vector<uint32_t>& types) {
  if (const LatentSize& size = h.part<LatentSizes>().full; size.d_k == 0 || size.d_v == 0)
    keys.refuse(ErrorCode::kNotFound, "attention.key_length_mla or attention.value_length_mla is missing");
  bool chosen = false;
  for (uint32_t il = 0; il < h.n_layer; ++il) {
    LayerParameters& layer = h.layers[il];
    if (layer.windowed || layer.mixer != MixerKind::kLatentAttention) continue;
    layer.chooses = true;
    layer.has_indexer = types[il] != 0;
    chosen = chosen || layer.has_indexer;
    if (!chosen)
      keys.refuse(ErrorCode::kOutOfRange,
                  "attention.indexer.types: no layer chooses before layer " + std::to_string(il));
  }
}

}  // namespace

void deepseek32(Hparams& h, Keys& keys) {
  latent_yarn(h, keys, yarn_multiplier(keys), false);
  read_indexer(h, keys).norm_eps = 1e-6f;
  sparse(h, keys, std::vector<uint32_t>(h.n_layer, 1));
}

void glm_dsa(Hparams& h, Keys& keys) {
  latent_yarn(h, keys, 0, true);
  read_indexer(h, keys).rope = RopeKind::kAdjacent;
  std::vector<uint32_t> types(h.n_layer, 1);
  // Early files of GLM-5.2, recognized by this context length, do not have the key.
  for (uint32_t il = 2; il < h.n_layer && h.n_ctx_train >= 1u << 20; ++il) types[il] = il % 4 == 2 ? 1 : 0;
  read_types(h, keys, types);
  sparse(h, keys, types);
}

void deepseek4(Hparams& h, Keys& keys) {
  read_indexer(h, keys);
  CompressedSizes& compressed = h.parts.edit<CompressedSizes>();
  HyperSizes& hyper = h.parts.edit<HyperSizes>();
  keys.required("attention.output_group_count", compressed.n_groups, 1u << 16);
  keys.required("attention.output_lora_rank", compressed.out_rank, 1u << 16);
  keys.required("hyper_connection.count", hyper.n, 64);
  keys.required("hyper_connection.sinkhorn_iterations", hyper.iterations, 1u << 12);
  keys.f32("hyper_connection.epsilon", hyper.eps);
  keys.u32("hash_layer_count", h.n_hash_layer);
  read_clamps(h, keys);
  h.clamp_before_activation = true;
  if (h.gating != Gating::kSqrtSoftplus)
    keys.refuse(ErrorCode::kUnsupported, "expert_gating_func is not 4, DeepSeek-V4's own");
  if (h.window == 0) keys.refuse(ErrorCode::kOutOfRange, "attention.sliding_window is missing or 0");
  std::vector<uint32_t> ratios(h.n_layer);
  keys.u32s("attention.compress_ratios", ratios);
  const bool shared_clamp = keys.has("swiglu_clamp_shexp");
  for (uint32_t il = 0; il < h.n_layer; ++il) {
    LayerParameters& layer = h.layers[il];
    if (ratios[il] != 0 && ratios[il] != 4 && ratios[il] != 128)
      keys.refuse(ErrorCode::kUnsupported, "attention.compress_ratios holds " + std::to_string(ratios[il]));
    layer.compress_ratio = ratios[il];
    if (!shared_clamp) layer.clamp_dense = layer.clamp_experts;
    // Compressed blocks are built from these positions; blocks with ratio 4 overlap.
    h.window_kept = std::max(h.window_kept, ratios[il] == 4 ? 8 : ratios[il]);
  }
  // Layers with compression have their own RoPE base with the file's scaling; the others use the plain one.
  h.rope_windowed = RopeParameters{};
  // All layers have windows, so they rotate as many elements.
  h.rope.n_rot = h.rope_windowed.n_rot = h.layers[0].n_rot;
  for (LayerParameters& layer : h.layers) layer.n_rot = h.rope.n_rot;
  h.rope_windowed.freq_base = h.rope.freq_base;
  keys.f32("attention.compress_rope_freq_base", h.rope.freq_base);
  if (h.rope.freq_base <= 0) keys.refuse(ErrorCode::kOutOfRange, "attention.compress_rope_freq_base is not positive");
  h.rope.attn_factor = h.rope.ext_factor != 0 ? 1.0f / (1.0f + 0.1f * std::log(1.0f / h.rope.freq_scale)) : 1.0f;
  h.rope_factors = RopeFactors::kNone;
}

// Windowed layers have their own latent sizes.
void dots3note(Hparams& h, Keys& keys) {
  read_indexer(h, keys).norm_eps = 1e-6f;
  LatentSize& latent = h.parts.edit<LatentSizes>().windowed;
  keys.required("attention.kv_lora_rank_swa", latent.rank);
  keys.required("attention.key_length_mla_swa", latent.d_k, 1u << 16);
  keys.required("attention.value_length_mla_swa", latent.d_v, 1u << 16);
  std::vector<uint32_t> types(h.n_layer, 0);
  keys.u32s("attention.indexer.types", types);
  for (uint32_t il = 0; il < h.n_layer; ++il)
    if (types[il] == 0 && !h.layers[il].windowed)
      keys.refuse(ErrorCode::kOutOfRange,
                  "attention.indexer.types: layer " + std::to_string(il) + " has neither window nor indexer");
  sparse(h, keys, types);
}

void glm5_next(Hparams& h, Keys& keys) {
  KimiDeltaSizes& kda = h.parts.edit<KimiDeltaSizes>();
  keys.required("kda.head_dim", kda.d_head, 1u << 12);
  kda.negated = true;
  kda.l2_eps = 1e-6f;
  if (keys.f32("kda.gate_lower_bound", kda.gate_bound) && kda.gate_bound >= 0)
    keys.refuse(ErrorCode::kOutOfRange, "kda.gate_lower_bound is not negative");
  set_mixers(h, MixerKind::kKimiDelta);
  HyperSizes& hyper = h.parts.edit<HyperSizes>();
  keys.required("hyper_connection.count", hyper.n, 64);
  keys.required("hyper_connection.sinkhorn_iterations", hyper.iterations, 1u << 12);
  keys.f32("hyper_connection.epsilon", hyper.eps);
  hyper.mean_output = true;
  read_clamps(h, keys);
  h.clamp_before_activation = true;
  const bool shared_clamp = keys.has("swiglu_clamp_shexp");
  for (LayerParameters& layer : h.layers) {
    layer.use_rope = false;
    if (layer.n_rot != 0) keys.refuse(ErrorCode::kUnsupported, "rope.dimension_count is not 0");
    if (!shared_clamp) layer.clamp_dense = layer.clamp_experts;
  }
  IndexerSizes& indexer = read_indexer(h, keys);
  keys.f32("attention.layer_norm_epsilon", indexer.norm_eps);
  keys.required("attention.indexer.kpool", indexer.pool, 1u << 16);
  keys.boolean("attention.indexer.kpool_select_tail", indexer.selects_tail);
  if (indexer.pool < 2 || indexer.top_k % indexer.pool != 0)
    keys.refuse(ErrorCode::kOutOfRange,
                "attention.indexer.top_k is no multiple of attention.indexer.kpool, or that is 1");
  std::vector<uint32_t> types(h.n_layer, 1);
  read_types(h, keys, types);
  sparse(h, keys, types);
}

void hy_v4(Hparams& h, Keys& keys) {
  HyperSizes& hyper = h.parts.edit<HyperSizes>();
  keys.required("hyper_connection.count", hyper.n, 64);
  keys.f32("hyper_connection.epsilon", hyper.eps);
  keys.f32("hyper_connection.magnitude", hyper.magnitude);
  hyper.independent = true;
  read_clamps(h, keys);
  h.clamp_before_activation = true;
  for (LayerParameters& layer : h.layers) layer.clamp_dense = 0;
  if (!keys.has("attention.indexer.top_k")) return;
  IndexerSizes& indexer = read_indexer(h, keys);
  indexer.norm_eps = h.norm_eps;
  indexer.rope = RopeKind::kAdjacent;
  indexer.rotates_last = true;
  std::vector<uint32_t> types(h.n_layer, 0);
  keys.u32s("attention.indexer.types", types);
  sparse(h, keys, types);
}

// Layers with a ratio attend to pools of that many positions.
void qwen4exp(Hparams& h, Keys& keys) {
  delta_net(h, keys);
  h.parts.edit<DeltaNetSizes>().sigmoid_gate = true;
  LowRankSizes& streams = h.parts.edit<LowRankSizes>();
  keys.required("hyper_connection.count", streams.n, 64);
  keys.required("hyper_connection.low_rank", streams.rank, 1u << 16);
  if (streams.n == 1) keys.refuse(ErrorCode::kOutOfRange, "hyper_connection.count is 1");
  if (!keys.failed()) h.n_embd_out = streams.n * h.n_embd;
  IndexerSizes& indexer = read_indexer(h, keys);
  indexer.means = true;
  std::vector<uint32_t> ratios(h.n_layer);
  keys.u32s("attention.compress_ratios", ratios, 1u << 16);
  for (uint32_t il = 0; il < h.n_layer; ++il) {
    LayerParameters& layer = h.layers[il];
    if (ratios[il] == 0) continue;
    if ((indexer.pool != 0 && ratios[il] != indexer.pool) || ratios[il] == 1 || indexer.top_k % ratios[il] != 0)
      return keys.refuse(ErrorCode::kOutOfRange, "attention.compress_ratios holds " + std::to_string(ratios[il]) +
                                                     ": 1, another one than before, or no divisor of "
                                                     "attention.indexer.top_k");
    indexer.pool = ratios[il];
    if (layer.mixer == MixerKind::kAttention) layer.chooses = layer.has_indexer = true;
  }
  read_ngrams(h, keys);
}

// All layers but the dense ones use block attention.
void minimax_m3(Hparams& h, Keys& keys) {
  IndexerSizes& indexer = read_indexer(h, keys);
  keys.required("attention.indexer.block_size", indexer.block, 1u << 24);
  keys.u32("attention.indexer.local_blocks", indexer.local_blocks, 1u << 24);
  indexer.rope = h.rope_kind;
  uint32_t n_dense = 0;
  keys.u32("leading_dense_block_count", n_dense);
  for (uint32_t il = n_dense; il < h.n_layer; ++il) h.layers[il].has_indexer = true;
}

}  // namespace ggufscope
