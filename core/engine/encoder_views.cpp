// Describes the layers of encoders for the lowering, or says why they have no plan.
#include "engine/encoder_views.hpp"

#include <algorithm>

namespace ggufscope {
namespace {

const char* reason_against(const VisionModel& model) {
  const VisionParameters& p = model.parameters();
  const ProjectorRow& row = model.row();
  if (row.mobilenet) return "it consists of convolutions";
  if (row.no_layers || p.n_run == 0) return "it has no layers";
  if (std::ranges::any_of(model.weights().layers, [](const VisionLayer& w) { return static_cast<bool>(w.scale_out); }))
    return "outputs of its layers are scaled";
  return nullptr;
}

gpu::EncoderLayer layer_of(const VisionModel& model, const VisionLayer& w, uint32_t il) {
  const VisionParameters& p = model.parameters();
  const bool follow = model.row().norms_follow;
  return {.norm_1 = follow ? nullptr : &w.norm_1,
          .norm_2 = follow ? nullptr : &w.norm_2,
          .after_attention = &w.norm_after_mixing,
          .after_ffn = &w.norm_after_ffn,
          .q_norm = &w.q_norm,
          .k_norm = &w.k_norm,
          .qkv = &w.qkv,
          .q = &w.q,
          .k = &w.k,
          .v = &w.v,
          .out = &w.out,
          .up = &w.up,
          .gate = &w.gate,
          .down = &w.down,
          .sinks = &w.sinks,
          .scale_1 = &w.scale_1,
          .scale_2 = &w.scale_2,
          .windowed = (p.window != 0 || p.band != 0) && !p.sees_all[il]};
}

}  // namespace

Result<gpu::EncoderView> encoder_view(const VisionModel& model) {
  if (const char* reason = reason_against(model); reason != nullptr) return fail(ErrorCode::kUnsupported, reason);
  const VisionParameters& p = model.parameters();
  gpu::EncoderView view;
  view.requests = model.plan();
  view.n_embd = p.n_embd;
  view.n_head = p.n_head;
  view.n_head_kv = p.n_head_kv;
  view.d_head = p.d_head;
  view.norm = p.norm;
  view.eps = p.eps;
  view.activation = p.activation;
  view.rope = rope_of(model.row().rope);
  view.normalizes_values = model.row().gemma4;
  if (model.row().gemma4) view.attention_scale = 1;
  for (const LinearLimits& limits : model.weights().limits)
    view.limits.push_back({limits.linear, {&limits.in_min, &limits.in_max, &limits.out_min, &limits.out_max}});
  for (uint32_t il = 0; il < p.n_run; ++il) view.layers.push_back(layer_of(model, model.weights().layers[il], il));
  for (uint32_t n = 1; n <= p.n_run; ++n)
    if (n == p.n_run || model.reads_rows_between(n)) view.ends.push_back(n);
  return view;
}

size_t typical_rows(const VisionModel& model) {
  const VisionParameters& p = model.parameters();
  uint64_t n_pixels = 0;
  for (const ImageSize size : {ImageSize{1024, 768}, ImageSize{768, 1024}})
    if (const Result<ImageLayout> layout = image_layout(size, p.image))
      n_pixels = std::max({n_pixels, layout->overview.n_pixels(), layout->tile.n_pixels()});
  return static_cast<size_t>(n_pixels / (uint64_t{p.image.patch} * p.image.patch)) + model.n_registers();
}

Result<gpu::EncoderView> encoder_view(const AudioModel& model) {
  const AudioFamily* family = model.row().family;
  if (family == &kWaveformFamily) return fail(ErrorCode::kUnsupported, "it has no layers");
  if (family == &kMimoFamily) return fail(ErrorCode::kUnsupported, "it reads rows within a layer");
  if (family != &kWhisperFamily) return fail(ErrorCode::kUnsupported, "its layers convolve");
  return whisper_view(model.parameters().encoder, model.weights().encoder, model.plan());
}

gpu::EncoderView whisper_view(const WhisperEncoderShape& shape, const WhisperEncoderWeights& weights,
                              std::span<const TensorRequest> requests) {
  gpu::EncoderView view;
  view.requests = requests;
  view.n_embd = shape.sizes.n_embd;
  view.n_head = view.n_head_kv = shape.sizes.n_head;
  view.d_head = shape.sizes.n_embd / shape.sizes.n_head;
  view.eps = shape.eps;
  view.activation = shape.exact_gelu ? Activation::kGeluErf : Activation::kGelu;
  for (const WhisperBlock& block : weights.blocks)
    view.layers.push_back({.norm_1 = &block.attn_norm,
                           .norm_2 = &block.ffn_norm,
                           .q = &block.attn.q,
                           .k = &block.attn.k,
                           .v = &block.attn.v,
                           .out = &block.attn.out,
                           .up = &block.up,
                           .down = &block.down});
  view.ends = {static_cast<uint32_t>(view.layers.size())};
  return view;
}

size_t typical_rows(const AudioModel& model) { return model.parameters().encoder.sizes.n_ctx; }

}  // namespace ggufscope
