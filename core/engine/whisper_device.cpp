// The passes of a Whisper model that runs on a device.
#include "engine/whisper_device.hpp"

#include <algorithm>
#include <utility>

#include "engine/encoder_views.hpp"
#include "model/load_plan.hpp"

namespace ggufscope {
namespace {

// Text tokens of a window are at most half a context, and so is the prompt before them, with some tokens of the task.
constexpr uint32_t kTaskTokens = 16, kMaxSequences = 8;

gpu::DecoderView decoder_view(const WhisperModel& model, CacheType cache) {
  const WhisperHparams& h = model.hparams();
  const WhisperWeights& w = model.weights();
  gpu::DecoderView view;
  view.n_embd = h.decoder.n_embd;
  view.n_head = h.decoder.n_head;
  view.n_vocab = h.n_vocab;
  view.n_ctx = h.decoder.n_ctx;
  view.n_cells = (kMaxSequences + 1) * (h.decoder.n_ctx / 2) + kTaskTokens;
  view.cache = cache;
  view.table = &w.token_embedding;
  view.positions = &w.decoder_positions;
  view.output_norm = &w.decoder_norm;
  for (const WhisperBlock& block : w.decoder)
    view.layers.push_back({.norm_1 = &block.attn_norm,
                           .norm_2 = &block.cross_norm,
                           .norm_3 = &block.ffn_norm,
                           .q = &block.attn.q,
                           .k = &block.attn.k,
                           .v = &block.attn.v,
                           .out = &block.attn.out,
                           .cross_q = &block.cross.q,
                           .cross_k = &block.cross.k,
                           .cross_v = &block.cross.v,
                           .cross_out = &block.cross.out,
                           .up = &block.up,
                           .down = &block.down});
  for (const AlignmentHead& head : h.alignment_heads) view.heads.emplace_back(head.layer, head.head);
  return view;
}

}  // namespace

Result<std::unique_ptr<WhisperDevice>> WhisperDevice::create(WhisperModel& model, CacheType cache,
                                                             const gpu::DeviceLimits& limits) {
  if (is_quantized(cache)) return fail(ErrorCode::kUnsupported, "a speech model's cache must be f32 or f16");
  gpu::EncoderView encoder = whisper_view(model.hparams().encoder_shape(), model.weights().encoder, model.plan());
  encoder.output_norm = &model.weights().encoder.norm;
  Result<gpu::Plan> plan =
      gpu::lower_encoder_decoder(encoder, decoder_view(model, cache), model.hparams().encoder.n_ctx, limits);
  if (!plan) return std::unexpected(plan.error());
  std::unique_ptr<WhisperDevice> device(new (std::nothrow) WhisperDevice(model, std::move(*plan)));
  if (device == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a model");
  return device;
}

Result<std::vector<gpu::BufferWrite>> WhisperDevice::repack_rows(Pool& pool, size_t request, uint64_t first_row,
                                                                 ByteView rows) {
  const auto index = static_cast<uint32_t>(request);
  if (std::ranges::none_of(plan_.uploads, [&](const gpu::Upload& upload) { return upload.request == index; })) {
    if (const Result<void> kept = model_.set_rows(pool, request, first_row, rows); !kept)
      return std::unexpected(kept.error());
    return std::vector<gpu::BufferWrite>();
  }
  model_.leave_out(request);
  return gpu::repack(plan_, model_.plan(), index, first_row, rows);
}

Result<uint64_t> WhisperDevice::host_bytes() const {
  std::vector<TensorRequest> kept;
  for (uint32_t i = 0; i < model_.plan().size(); ++i)
    if (std::ranges::none_of(plan_.uploads, [&](const gpu::Upload& upload) { return upload.request == i; }))
      kept.push_back(model_.plan()[i]);
  return plan_bytes(kept, Precision::kExact);
}

EncoderPass WhisperDevice::prepare_layers(Transcriber& transcriber) {
  EncoderPass pass;
  layers_ = transcriber.begin_layers();
  if (!layers_) return pass;
  pass.encoder = kAudioEncoder;
  pass.record = gpu::encoder_record(layers_);
  pass.rows = layers_.rows;
  pass.first = layers_.first;
  pass.end = layers_.end + static_cast<uint32_t>(model_.weights().decoder.size());
  return pass;
}

Result<void> WhisperDevice::accept_layers(Transcriber& transcriber, std::span<const float> rows) {
  const LayerRun run = std::exchange(layers_, {});
  if (!run || rows.size() != run.rows.size())
    return fail(ErrorCode::kInvalidArgument, "no such rows of an encoder are expected");
  std::ranges::copy(rows, run.rows.begin());
  transcriber.end_layers(run.end);
  return {};
}

Result<DevicePass> WhisperDevice::prepare(Transcriber& transcriber) {
  n_tokens_ = n_outputs_ = 0;
  if (!transcriber.decodes()) return DevicePass{};
  const DecodeRequest& request = transcriber.request();
  weighs_ = request.watches;
  std::vector<gpu::PlacedToken> tokens;
  std::vector<uint32_t> outputs;
  for (size_t t = request.n_done; t < request.tokens.size() && outputs.size() < plan_.n_output_rows; ++t) {
    const DecoderToken& token = request.tokens[t];
    if (weighs_ || token.has_output) outputs.push_back(static_cast<uint32_t>(tokens.size()));
    tokens.push_back({static_cast<uint32_t>(token.id), token.position, token.cell, token.visible});
  }
  Result<std::vector<uint32_t>> record = gpu::decoder_record(plan_, tokens, outputs, transcriber.n_audio());
  if (!record) return std::unexpected(record.error());
  n_tokens_ = tokens.size();
  n_outputs_ = outputs.size();
  DevicePass pass;
  pass.record = std::move(*record);
  pass.n_tokens = static_cast<uint32_t>(n_tokens_);
  pass.n_outputs = static_cast<uint32_t>(n_outputs_);
  pass.decode = !weighs_ && n_tokens_ <= gpu::kMaxColumns;
  return pass;
}

Result<void> WhisperDevice::accept(Transcriber& transcriber, std::span<const float> rows) {
  const WhisperHparams& h = model_.hparams();
  DecodeRequest& request = transcriber.request();
  const size_t n_heads = h.alignment_heads.size(), n_audio = transcriber.n_audio(), n_all = request.tokens.size();
  const size_t wanted = weighs_ ? n_heads * plan_.n_output_rows * h.encoder.n_ctx : n_outputs_ * h.n_vocab;
  if (n_tokens_ == 0 || !transcriber.decodes() || (weighs_ ? rows.size() < wanted : rows.size() != wanted))
    return fail(ErrorCode::kInvalidArgument, "no such outputs of tokens are expected");
  if (!weighs_)
    std::ranges::copy(rows, request.logits.begin() + static_cast<std::ptrdiff_t>(request.n_outputs_done * h.n_vocab));
  for (size_t head = 0; weighs_ && head < n_heads; ++head)
    for (size_t t = 0; t < n_tokens_; ++t)
      std::copy_n(rows.data() + (head * plan_.n_output_rows + t) * h.encoder.n_ctx, n_audio,
                  request.weights.data() + (head * n_all + request.n_done + t) * n_audio);
  request.n_done += std::exchange(n_tokens_, 0);
  request.n_outputs_done += n_outputs_;
  if (request.n_done == n_all) transcriber.end_decode();
  return {};
}

}  // namespace ggufscope
