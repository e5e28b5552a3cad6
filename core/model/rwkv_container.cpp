// Renames the tensors of RWKV checkpoints, and derives the hyper-parameters from their shapes.
#include "model/rwkv_container.hpp"

#include <algorithm>
#include <array>

#include "base/sentence.hpp"
#include "model/mixers/rwkv.hpp"

namespace ggufscope {
namespace {

struct Rename {
  std::string_view from, to;
};

// Names outside of blocks, then names inside them. If one name is the beginning of another, the longer one comes first.
constexpr Rename kOuter[] = {
    {"emb.weight", "token_embd.weight"},
    {"head.weight", "output.weight"},
    {"ln_out.weight", "output_norm.weight"},
    {"ln_out.bias", "output_norm.bias"},
    {"blocks.0.ln0.weight", "token_embd_norm.weight"},
    {"blocks.0.ln0.bias", "token_embd_norm.bias"},
};
constexpr Rename kInner[] = {
    {"ln1.weight", "attn_norm.weight"},
    {"ln1.bias", "attn_norm.bias"},
    {"ln2.weight", "attn_norm_2.weight"},
    {"ln2.bias", "attn_norm_2.bias"},
    {"att.time_mix_k", "time_mix_lerp_k.weight"},
    {"att.time_mix_v", "time_mix_lerp_v.weight"},
    {"att.time_mix_r", "time_mix_lerp_r.weight"},
    {"att.time_mix_g", "time_mix_lerp_g.weight"},
    {"att.time_first", "time_mix_first.weight"},
    {"att.time_faaaa", "time_mix_first.weight"},
    {"att.time_decay", "time_mix_decay.weight"},
    {"att.key.weight", "time_mix_key.weight"},
    {"att.value.weight", "time_mix_value.weight"},
    {"att.receptance.weight", "time_mix_receptance.weight"},
    {"att.gate.weight", "time_mix_gate.weight"},
    {"att.output.weight", "time_mix_output.weight"},
    {"att.ln_x.weight", "time_mix_ln.weight"},
    {"att.ln_x.bias", "time_mix_ln.bias"},
    {"att.x_rwkvag", "time_mix_lerp_fused.weight"},
    {"ffn.time_mix_k", "channel_mix_lerp_k.weight"},
    {"ffn.time_mix_r", "channel_mix_lerp_r.weight"},
    {"ffn.x_k", "channel_mix_lerp_k.weight"},
    {"ffn.key.weight", "channel_mix_key.weight"},
    {"ffn.value.weight", "channel_mix_value.weight"},
    {"ffn.receptance.weight", "channel_mix_receptance.weight"},
};

std::string renamed(const std::string& name) {
  for (const Rename& r : kOuter)
    if (name == r.from) return std::string(r.to);
  if (!name.starts_with("blocks.")) return name;
  const size_t dot = name.find('.', 7);
  if (dot == std::string::npos) return name;
  const std::string_view part = std::string_view(name).substr(dot + 1);
  const std::string prefix = "blk." + name.substr(7, dot - 7) + ".";
  for (const Rename& r : kInner)
    if (part == r.from) return prefix + std::string(r.to);
  // w0 w1 w2, a0..., v0..., g1 g2, k_k, k_a, r_k of version 7
  if (part.starts_with("att.") && part.size() <= 7)
    return prefix + "time_mix_" + std::string(part.substr(4)) + ".weight";
  return name;
}

const TensorEntry* find(std::span<const TensorEntry> tensors, std::string_view name) {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const TensorEntry& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

}  // namespace

bool is_rwkv_checkpoint(std::span<const TensorEntry> tensors) {
  return find(tensors, "emb.weight") != nullptr && find(tensors, "blocks.0.att.key.weight") != nullptr;
}

Result<std::unique_ptr<Model>> open_rwkv_checkpoint(std::vector<TensorEntry> tensors) {
  const Result<const Architecture*> architecture = find_architecture("rwkv");
  if (!architecture) return std::unexpected(architecture.error());
  for (TensorEntry& tensor : tensors) tensor.name = renamed(tensor.name);
  const TensorEntry* embedding = find(tensors, "token_embd.weight");
  if (embedding == nullptr) return fail(ErrorCode::kNotFound, "tensor emb.weight is missing");
  if (embedding->shape[0] == 0 || embedding->shape[0] > Keys::kMaxCount)
    return fail(ErrorCode::kBadShape, "tensor emb.weight has rows of " + counted(embedding->shape[0], "element"));

  Hparams h;
  h.n_embd = static_cast<uint32_t>(embedding->shape[0]);
  h.norm = NormKind::kLayer;
  h.n_ctx_train = 1024;  // a recurrent state has no limit
  for (const TensorEntry& tensor : tensors)
    if (tensor.name.starts_with("blk.") && tensor.name.ends_with(".attn_norm.weight")) ++h.n_layer;
  if (h.n_layer == 0) return fail(ErrorCode::kNotFound, "tensor blocks.0.ln1.weight is missing");
  LayerParameters layer;
  layer.use_rope = false;
  uint64_t head_size = 0;
  if (const TensorEntry* bonus = find(tensors, "blk.0.time_mix_r_k.weight"); bonus != nullptr) {
    layer.mixer = MixerKind::kRwkv7;
    head_size = bonus->shape[0];
  } else if (find(tensors, "blk.0.time_mix_ln.weight") != nullptr) {
    layer.mixer = MixerKind::kRwkv5;
    // [1, head size, heads], or in version 5.1 [1, 1, heads]
    if (const TensorEntry* decay = find(tensors, "blk.0.time_mix_decay.weight"); decay != nullptr)
      head_size = embedding->shape[0] / std::max<uint64_t>(decay->shape[2], 1);
  } else {
    layer.mixer = MixerKind::kRwkv4;
  }
  if (layer.mixer != MixerKind::kRwkv4 && (head_size == 0 || head_size > 4096))
    return fail(ErrorCode::kBadShape, "heads of " + counted(head_size, "element"));
  h.parts.edit<RwkvSizes>().head_size = static_cast<uint32_t>(head_size);
  h.layers.assign(h.n_layer, layer);
  return Model::open(**architecture, std::move(h), std::move(tensors));
}

}  // namespace ggufscope
