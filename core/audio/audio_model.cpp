// Opens an audio encoder: reads its parameters, plans its tensors, and loads them.
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
  encoder.halves = row.halves;
  keys.required("embedding_length", encoder.sizes.n_embd, 1 << 20);
  keys.required("num_mel_bins", encoder.n_mel, row.family == &kWaveformFamily ? 1 << 20 : kMaxMel);
  p.sound.n_mel = encoder.n_mel;
  row.family->read(p, keys);
  if (row.stacks) keys.required("projector.stack_factor", p.stack, kAudioFrames);
  if (!keys.failed() && row.read != nullptr) row.read(p, keys);
  if (keys.failed()) return std::unexpected(keys.error());
  return p;
}

std::string_view audio_kind(const Gguf& gguf) {
  std::string_view kind = get_string(gguf, "clip.projector_type").value_or("");
  if (kind.empty()) kind = get_string(gguf, "clip.audio.projector_type").value_or("");
  return kind == "qwen2.5o" ? "qwen2a" : kind;
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
  model->parameters_ = std::move(*parameters);
  Planner planner(std::move(*tensors));
  AudioPlan plan{planner, model->parameters_, model->weights_};
  model->weights_.subsampling.shape.n_mel = model->parameters_.sound.n_mel;
  model->weights_.subsampling.stages.resize(model->parameters_.n_stages);
  (*row)->family->plan(plan);
  if (!planner.failed() && (*row)->plan != nullptr) (*row)->plan(plan);
  planner.ignore("");
  Result<std::vector<TensorRequest>> requests = planner.take_plan();
  if (!requests) return std::unexpected(requests.error());
  model->plan_ = std::move(*requests);
  model->n_out_ = static_cast<size_t>(plan.n_out);
  if (n_embd_text != 0 && plan.n_out != n_embd_text)
    return fail(ErrorCode::kOtherModel, "the audio projector's embeddings have " + std::to_string(plan.n_out) +
                                            " elements, but the model's have " + std::to_string(n_embd_text) +
                                            ": they do not belong together");
  return model;
}

size_t AudioModel::inner_tokens(size_t n_frames) const {
  const size_t n = row_->family->frames(parameters_, n_frames);
  if (parameters_.q_former.window != 0) return parameters_.q_former.n_windows(n) * parameters_.q_former.n_queries;
  return (n + parameters_.stack - 1) / parameters_.stack;
}

uint64_t AudioModel::scratch_bytes(size_t n_threads, size_t n_frames) const {
  const SoundRule& sound = parameters_.sound;
  if (n_frames == 0) n_frames = SoundFrames::part_frames(sound, uint64_t{30} * sound.rate, 0);
  Pool pool(Pool::Counting{n_threads});
  return row_->family->create(*this, pool)->count_bytes(n_frames);
}

Result<void> AudioEncoder::start(std::span<const float> frames, size_t n_frames) {
  Pool pool(Pool::Counting{pool_.n_threads()});
  const uint64_t n_floats = model_.row().family->create(model_, pool)->count_scratch(n_frames);
  if (const Result<void> done = arena_.allocate(n_floats); !done) return done;
  n_frames_ = n_frames;
  at_ = 0;
  return begin(frames);
}

uint64_t AudioEncoder::count_scratch(size_t n_frames) {
  arena_.count();
  n_frames_ = n_frames;
  if (!begin({})) return Arena::kMaxFloats;
  do {
    const LayerRun device = model_.parameters().encoder.without_blocks ? begin_layers() : LayerRun{};
    if (device) end_layers(device.end);
  } while (step());
  return arena_.peak();
}

uint64_t AudioEncoder::count_bytes(size_t n_frames) {
  const uint64_t n_floats = count_scratch(n_frames);
  return (n_floats + count_buffers()) * sizeof(float);
}

float* AudioEncoder::begin_output(size_t n_tokens) {
  if (arena_.counting()) return nullptr;
  output_.assign(n_tokens * model_.n_out(), 0.0f);
  return output_.data();
}

void AudioModel::begin_load(Precision precision) {
  precision_ = precision;
  begin_plan(plan_);
}

Result<void> AudioModel::set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows) {
  if (i >= plan_.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  const Linear* to = plan_[i].linear;
  const auto rounds = [to](const SubsamplingStage& stage) { return stage.half && to == &stage.mix; };
  const bool convolution =
      to != nullptr && (to == &weights_.encoder.conv1 || to == &weights_.encoder.conv2 ||
                        to == &weights_.mimo.shorten || std::ranges::any_of(weights_.subsampling.stages, rounds));
  return convolution ? pack_convolution_rows(pool, plan_[i], precision_, first_row, rows)
                     : pack_rows(pool, plan_[i], precision_, first_row, rows);
}

}  // namespace ggufscope
