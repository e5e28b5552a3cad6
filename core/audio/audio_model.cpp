#include "audio/audio_model.hpp"

#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "model/load_plan.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxMel = 256;  // libmtmd's limit

Result<AudioParameters> read_audio_parameters(const Gguf& gguf, const AudioProjectorRow& row) {
  Keys keys(gguf, "clip.audio");
  AudioParameters p;
  WhisperEncoderShape& encoder = p.encoder;
  encoder.exact_gelu = encoder.half_inputs = true;
  encoder.halves = row.halves;
  encoder.sizes.n_ctx = kAudioFrames;
  keys.required("embedding_length", encoder.sizes.n_embd, 1 << 20);
  keys.required("attention.head_count", encoder.sizes.n_head, 1 << 16);
  keys.required("block_count", encoder.sizes.n_layer, 1024);
  keys.required("feed_forward_length", encoder.sizes.n_ff, 1 << 20);
  keys.required("num_mel_bins", encoder.n_mel, kMaxMel);
  if (!keys.f32("attention.layer_norm_epsilon", encoder.eps))
    keys.refuse(ErrorCode::kNotFound, "clip.audio.attention.layer_norm_epsilon is missing");
  if (row.stacks) keys.required("projector.stack_factor", p.stack, kAudioFrames);
  if (keys.failed()) return std::unexpected(keys.error());
  if (encoder.sizes.n_embd % encoder.sizes.n_head != 0)
    return fail(ErrorCode::kOutOfRange, "clip.audio.attention.head_count is " + std::to_string(encoder.sizes.n_head) +
                                            ", which does not share out " + std::to_string(encoder.sizes.n_embd));
  return p;
}

void plan_audio_encoder(Planner& planner, const WhisperEncoderShape& shape, WhisperEncoderWeights& w) {
  const uint64_t n = shape.sizes.n_embd;
  planner.convolution(w.conv1, "a.conv1d.1", 3, shape.n_mel, n);
  planner.convolution(w.conv2, "a.conv1d.2", 3, n, n);
  const std::string positions = "a.position_embd.weight";
  const TensorEntry* table = planner.find(positions);
  // A longer position table belongs to an encoder with a longer window. The first rows are the positions of 30 s.
  const uint64_t n_rows = table == nullptr ? kAudioFrames : table->shape[1];
  if (n_rows < kAudioFrames)
    planner.refuse(ErrorCode::kBadShape,
                   "tensor " + positions + " has " + counted(n_rows, "row") + " for " + counted(kAudioFrames, "frame"));
  planner.vector(w.positions, positions, n * n_rows);
  planner.affine(w.norm, "a.post_ln", n, Need::kOptional);
  w.blocks.resize(shape.sizes.n_layer);
  for (size_t i = 0; i < w.blocks.size() && !planner.failed(); ++i) {
    const std::string name = "a.blk." + std::to_string(i) + ".";
    WhisperBlock& block = w.blocks[i];
    planner.affine(block.attn_norm, name + "ln1", n);
    planner.affine(block.ffn_norm, name + "ln2", n);
    planner.linear(block.attn.q, name + "attn_q", n, n);
    planner.linear(block.attn.k, name + "attn_k", n, n);
    planner.linear(block.attn.v, name + "attn_v", n, n);
    planner.linear(block.attn.out, name + "attn_out", n, n);
    planner.linear(block.up, name + "ffn_up", n, shape.sizes.n_ff);
    planner.linear(block.down, name + "ffn_down", shape.sizes.n_ff, n);
  }
}

std::string_view audio_kind(const Gguf& gguf) {
  std::string_view kind = get_string(gguf, "clip.projector_type").value_or("");
  if (kind.empty()) kind = get_string(gguf, "clip.audio.projector_type").value_or("");
  return kind == "qwen2.5o" ? "qwen2a" : kind;
}

uint32_t inner_tokens(const AudioParameters& p) {
  const uint32_t n_frames = p.encoder.halves ? kAudioFrames / 2 : kAudioFrames;
  return (n_frames + p.stack - 1) / p.stack;
}

uint64_t audio_pass_floats(const AudioModel& model) {
  const AudioParameters& p = model.parameters();
  const AudioWeights& w = model.weights();
  const uint64_t n = inner_tokens(p), stacked = n * p.stack * p.encoder.sizes.n_embd;
  const uint64_t hidden = n * std::max({w.first.n_out, w.gate.n_out, w.last.n_in});
  const uint64_t projection = arena_floats(stacked, hidden, hidden, hidden);
  return std::max(WhisperEncoder::arena_floats(p.encoder), projection);
}

}  // namespace

Result<std::unique_ptr<AudioModel>> AudioModel::open(const ModelFile& file, uint32_t file_index, uint64_t n_embd_text) {
  const Gguf& gguf = *file.gguf;
  const Result<const AudioProjectorRow*> row = find_audio_projector(audio_kind(gguf));
  if (!row) return std::unexpected(row.error());
  Result<AudioParameters> parameters = read_audio_parameters(gguf, **row);
  if (!parameters) return std::unexpected(parameters.error());
  Result<std::vector<TensorEntry>> tensors = tensor_entries({&file, 1});
  if (!tensors) return std::unexpected(tensors.error());
  for (TensorEntry& entry : *tensors) entry.file = file_index;
  std::unique_ptr<AudioModel> model(new (std::nothrow) AudioModel);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate an audio encoder");
  model->row_ = *row;
  model->parameters_ = *parameters;
  Planner planner(std::move(*tensors));
  AudioPlan plan{planner, model->parameters_, model->weights_};
  plan_audio_encoder(planner, model->parameters_.encoder, model->weights_.encoder);
  if (!planner.failed()) (*row)->plan(plan);
  planner.ignore("");
  Result<std::vector<TensorRequest>> requests = planner.finish();
  if (!requests) return std::unexpected(requests.error());
  model->plan_ = std::move(*requests);
  model->n_out_ = static_cast<size_t>(plan.n_out);
  if (plan.n_out != n_embd_text)
    return fail(ErrorCode::kBadShape, "the audio projector's embeddings have " + std::to_string(plan.n_out) +
                                          " elements, but the model's have " + std::to_string(n_embd_text) +
                                          ": they do not belong together");
  return model;
}

uint32_t AudioModel::n_tokens() const { return inner_tokens(parameters_) + (row_->ends ? 2 : 0); }

Result<uint64_t> AudioModel::weight_bytes(Precision precision) const { return plan_bytes(plan_, precision); }

void AudioModel::begin_load(Precision precision) {
  precision_ = precision;
  begin_plan(plan_);
}

Result<void> AudioModel::set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows) {
  if (i >= plan_.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  const Linear* to = plan_[i].linear;
  const bool convolution = to != nullptr && (to == &weights_.encoder.conv1 || to == &weights_.encoder.conv2);
  return convolution ? pack_convolution_rows(pool, plan_[i], precision_, first_row, rows)
                     : pack_rows(pool, plan_[i], precision_, first_row, rows);
}

uint64_t AudioEncoder::scratch_bytes(const AudioModel& model, size_t n_threads) {
  const WhisperEncoderShape& shape = model.parameters().encoder;
  return (audio_pass_floats(model) + WhisperEncoder::thread_floats(shape) * n_threads +
          WhisperEncoder::own_floats(shape)) *
         sizeof(float);
}

Result<void> AudioEncoder::begin(std::span<const float> mel) {
  const WhisperEncoderShape& shape = model_.parameters().encoder;
  if (!allocated_) {
    if (const auto r = pass_.allocate(audio_pass_floats(model_), WhisperEncoder::thread_floats(shape)); !r) return r;
    if (const auto r = encoder_.allocate(); !r) return r;
    allocated_ = true;
  }
  at_ = 0;
  return encoder_.begin(mel, kAudioFrames);
}

bool AudioEncoder::step() {
  if (at_ < encoder_.n_steps()) {
    encoder_.step(at_);
  } else {
    project();
  }
  return ++at_ < n_steps();
}

void AudioEncoder::project() {
  const AudioParameters& p = model_.parameters();
  const AudioWeights& w = model_.weights();
  const size_t n_out = model_.n_out(), n = inner_tokens(p), n_stacked = n * p.stack * p.encoder.sizes.n_embd;
  pass_.arena.release(0);
  output_.assign(model_.n_tokens() * n_out, 0.0f);
  float* stacked = pass_.arena.take(n_stacked);
  const std::span<const float> encoded = encoder_.encoded();
  std::memcpy(stacked, encoded.data(), encoded.size_bytes());
  std::fill(stacked + encoded.size(), stacked + n_stacked, 0.0f);
  float* out = output_.data();
  if (model_.row().ends) {
    std::memcpy(out, w.begin.data(), n_out * sizeof(float));
    out += n_out;
    std::memcpy(out + n * n_out, w.end.data(), n_out * sizeof(float));
  }
  AudioProjectorInput input{p, w, pass_.pool, pass_.arena, stacked, encoder_.n_frames(), n, n_out, out};
  model_.row().project(input);
}

}  // namespace ggufscope
