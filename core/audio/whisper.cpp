// Opens a Whisper model: reads its sizes, plans its tensors, and loads them.
#include "audio/whisper.hpp"

#include <array>

#include "base/sentence.hpp"
#include "media/log_mel.hpp"
#include "model/load_plan.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t kMaxSize = 1 << 20;  // upper limit for sizes in keys; no model comes close

Result<uint32_t> size_of(const Gguf& gguf, const std::string& key) {
  const std::optional<uint64_t> value = get_u64(gguf, key);
  if (!value) return fail(ErrorCode::kNotFound, key + " is missing");
  if (*value == 0 || *value > kMaxSize) return fail(ErrorCode::kOutOfRange, key + " is " + std::to_string(*value));
  return static_cast<uint32_t>(*value);
}

// A tensor's dimension, for sizes that have no key.
Result<uint32_t> dimension(const Gguf& gguf, const std::string& tensor, size_t axis) {
  const TensorInfo* info = find_tensor(gguf, tensor);
  if (info == nullptr) return fail(ErrorCode::kNotFound, "tensor " + tensor + " is missing");
  if (info->n_dims <= axis || info->shape[axis] == 0 || info->shape[axis] > kMaxSize)
    return fail(ErrorCode::kBadShape, "tensor " + tensor + " has an impossible shape");
  return static_cast<uint32_t>(info->shape[axis]);
}

Result<WhisperSizes> stack_sizes(const Gguf& gguf, const std::string& stack) {
  WhisperSizes sizes;
  const std::string prefix = "whisper." + stack + ".";
  const std::pair<uint32_t*, const char*> keys[] = {{&sizes.n_ctx, "context_length"},
                                                    {&sizes.n_embd, "embedding_length"},
                                                    {&sizes.n_head, "attention.head_count"},
                                                    {&sizes.n_layer, "block_count"}};
  for (const auto& [to, key] : keys) {
    const Result<uint32_t> size = size_of(gguf, prefix + key);
    if (!size) return std::unexpected(size.error());
    *to = *size;
  }
  if (sizes.n_embd % sizes.n_head != 0)
    return fail(ErrorCode::kBadShape, prefix + "embedding_length is " + std::to_string(sizes.n_embd) + ", which " +
                                          counted(sizes.n_head, "head") + " cannot share");
  const Result<uint32_t> n_ff = dimension(gguf, stack + ".blocks.0.mlp.0.weight", 1);
  if (!n_ff) return std::unexpected(n_ff.error());
  sizes.n_ff = *n_ff;
  return sizes;
}

Result<WhisperHparams> read_sizes(const Gguf& gguf) {
  WhisperHparams h;
  for (const auto& [to, stack] : {std::pair{&h.encoder, "encoder"}, {&h.decoder, "decoder"}}) {
    const Result<WhisperSizes> sizes = stack_sizes(gguf, stack);
    if (!sizes) return std::unexpected(sizes.error());
    *to = *sizes;
  }
  const Result<uint32_t> n_mel = size_of(gguf, "whisper.encoder.mels_count");
  if (!n_mel) return std::unexpected(n_mel.error());
  h.n_mel = *n_mel;
  const Result<uint32_t> n_vocab = dimension(gguf, "decoder.token_embedding.weight", 1);
  if (!n_vocab) return std::unexpected(n_vocab.error());
  h.n_vocab = *n_vocab;
  Result<std::vector<AlignmentHead>> heads = alignment_heads(gguf, h.decoder, h.n_vocab);
  if (!heads) return std::unexpected(heads.error());
  h.alignment_heads = std::move(*heads);
  return h;
}

void plan_attention_weights(Planner& p, const std::string& name, uint64_t n_embd, uint64_t n_read,
                            WhisperAttention& w) {
  p.linear(w.q, name + ".query", n_embd, n_embd);
  p.linear(w.k, name + ".key", n_read, n_embd);
  p.linear(w.v, name + ".value", n_read, n_embd);
  p.linear(w.out, name + ".out", n_embd, n_embd);
}

void plan_block(Planner& p, const std::string& name, const WhisperSizes& sizes, uint64_t n_audio, WhisperBlock& w) {
  const uint64_t n = sizes.n_embd;
  p.affine(w.attn_norm, name + "attn_ln", n, Need::kRequired, Need::kRequired);
  plan_attention_weights(p, name + "attn", n, n, w.attn);
  if (n_audio != 0) {
    p.affine(w.cross_norm, name + "cross_attn_ln", n, Need::kRequired, Need::kRequired);
    plan_attention_weights(p, name + "cross_attn", n, n_audio, w.cross);
  }
  p.affine(w.ffn_norm, name + "mlp_ln", n, Need::kRequired, Need::kRequired);
  p.linear(w.up, name + "mlp.0", n, sizes.n_ff);
  p.linear(w.down, name + "mlp.2", sizes.n_ff, n);
}

void plan_whisper(Planner& p, const WhisperHparams& h, WhisperWeights& w) {
  const uint64_t n_audio = h.encoder.n_embd, n_text = h.decoder.n_embd;
  p.convolution(w.encoder.conv1, "encoder.conv1", 3, h.n_mel, n_audio);
  p.convolution(w.encoder.conv2, "encoder.conv2", 3, n_audio, n_audio);
  p.vector(w.encoder.positions, "encoder.positional_embedding", h.encoder.n_ctx * n_audio);
  p.vector(w.decoder_positions, "decoder.positional_embedding", h.decoder.n_ctx * n_text);
  p.affine(w.encoder.norm, "encoder.ln_post", n_audio, Need::kRequired, Need::kRequired);
  p.affine(w.decoder_norm, "decoder.ln", n_text, Need::kRequired, Need::kRequired);
  p.linear(w.token_embedding, "decoder.token_embedding", n_text, h.n_vocab);
  w.encoder.blocks.resize(h.encoder.n_layer);
  for (size_t i = 0; i < w.encoder.blocks.size() && !p.failed(); ++i)
    plan_block(p, "encoder.blocks." + std::to_string(i) + ".", h.encoder, 0, w.encoder.blocks[i]);
  w.decoder.resize(h.decoder.n_layer);
  for (size_t i = 0; i < w.decoder.size() && !p.failed(); ++i)
    plan_block(p, "decoder.blocks." + std::to_string(i) + ".", h.decoder, n_audio, w.decoder[i]);
}

}  // namespace

bool is_whisper(const Gguf& gguf) { return get_string(gguf, "general.architecture") == "whisper"; }

Result<std::unique_ptr<WhisperModel>> WhisperModel::open(const Gguf& gguf, std::optional<uint64_t> file_size) {
  const Result<WhisperHparams> hparams = read_sizes(gguf);
  if (!hparams) return std::unexpected(hparams.error());
  if (hparams->encoder.n_layer > gguf.header.tensors.size() || hparams->decoder.n_layer > gguf.header.tensors.size())
    return fail(ErrorCode::kBadCount, "the keys name more layers than the file has tensors");
  std::unique_ptr<WhisperModel> model(new (std::nothrow) WhisperModel);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a model");
  model->hparams_ = *hparams;
  Result<WhisperVocabulary> vocabulary = WhisperVocabulary::read(gguf, hparams->n_vocab);
  if (!vocabulary) return std::unexpected(vocabulary.error());
  model->vocabulary_ = std::move(*vocabulary);

  std::optional<std::vector<float>> filters = get_floats(gguf, "whisper.mel_filters");
  model->filters_ = filters ? std::move(*filters) : ggufscope::mel_filters(hparams->n_mel);
  if (model->filters_.size() != size_t{hparams->n_mel} * kMelBins)
    return fail(ErrorCode::kBadShape, "whisper.mel_filters has " + counted(model->filters_.size(), "number") + ", " +
                                          counted(hparams->n_mel, "mel") + " of 201 bins have " +
                                          std::to_string(size_t{hparams->n_mel} * kMelBins));

  const ModelFile file{&gguf, file_size};
  Result<std::vector<TensorEntry>> tensors = tensor_entries({&file, 1});
  if (!tensors) return std::unexpected(tensors.error());
  Planner planner(std::move(*tensors));
  plan_whisper(planner, model->hparams_, model->weights_);
  Result<std::vector<TensorRequest>> plan = planner.take_plan();
  if (!plan) return std::unexpected(plan.error());
  model->plan_ = std::move(*plan);
  return model;
}

Result<uint64_t> WhisperModel::weight_bytes(Precision precision) const { return plan_bytes(plan_, precision); }

void WhisperModel::begin_load(Precision precision) {
  precision_ = precision;
  begin_plan(plan_);
}

Result<void> WhisperModel::set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows) {
  if (i >= plan_.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  return pack_rows(pool, plan_[i], precision_, first_row, rows);
}

}  // namespace ggufscope
