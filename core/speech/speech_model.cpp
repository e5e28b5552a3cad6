// Opens and loads the part of an mmproj file that makes speech.
#include "speech/speech_model.hpp"

#include <algorithm>
#include <cstring>

#include "base/find_row.hpp"
#include "gguf/access.hpp"
#include "model/load_plan.hpp"
#include "speech/kokoro.hpp"

namespace ggufscope {
namespace {

constexpr SpeechPipeline kPipelines[] = {
    {"pockettts_gen", "pockettts_spkenc", "pockettts", create_pockettts},
    {"qwen3tts_gen", "qwen3tts_spkenc", "qwen3tts", create_qwen3tts},
};

constexpr uint64_t kMaxSpectrum = 1 << 14;
constexpr std::string_view kVocoder = "wavtokenizer-dec";
constexpr SpeechPipeline kOuteTts{.name = "outetts", .voice_encoder = "", .architecture = ""};
constexpr std::string_view kKokoroSound = "kokoro.decoder.";  // the tensors after the prosody
constexpr SpeechPipeline kKokoro{.name = kSpeaksAlone, .voice_encoder = "", .architecture = kSpeaksAlone};

// Turns rows [n_in, n_kernel] of a convolution to [n_kernel, n_in]. size: bytes of an element.
std::vector<uint8_t> turn_rows(const CausalConvolution& by, size_t size, ByteView rows) {
  const size_t row = by.n_in * by.n_kernel * size;
  std::vector<uint8_t> out(rows.size());
  for (size_t at = 0; at < rows.size(); at += row)
    for (size_t c = 0; c < by.n_in; ++c)
      for (size_t k = 0; k < by.n_kernel; ++k)
        std::memcpy(&out[at + (k * by.n_in + c) * size], &rows[at + (c * by.n_kernel + k) * size], size);
  return out;
}

}  // namespace

std::span<const SpeechPipeline> all_speech_pipelines() { return kPipelines; }

Result<std::unique_ptr<SpeechModel>> SpeechModel::open_vocoder(const ModelFile& file, uint32_t file_index) {
  Result<const Architecture*> architecture = find_architecture(kVocoder);
  if (!architecture) return std::unexpected(architecture.error());
  Result<Hparams> hparams = read_hparams(*file.gguf, **architecture);
  if (!hparams) return std::unexpected(hparams.error());
  Result<std::vector<TensorEntry>> tensors = tensor_entries({&file, 1});
  if (!tensors) return std::unexpected(tensors.error());
  for (TensorEntry& entry : *tensors) entry.file = file_index;
  Result<std::unique_ptr<Model>> vocoder = Model::open(**architecture, std::move(*hparams), std::move(*tensors));
  if (!vocoder) return std::unexpected(vocoder.error());
  std::unique_ptr<SpeechModel> model(new (std::nothrow) SpeechModel);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a pipeline of speech");
  const uint64_t n_out = (*vocoder)->n_output();
  if (n_out < 10 || n_out % 4 != 2 || n_out > kMaxSpectrum)
    return fail(ErrorCode::kBadShape, "frames of " + counted(n_out, "value") + " are no spectra of sound");
  model->pipeline_ = &kOuteTts;
  model->vocoder_ = std::move(*vocoder);
  model->generator_ = create_outetts(*model->vocoder_);
  return model;
}

Result<std::unique_ptr<SpeechModel>> SpeechModel::open(const ModelFile& file, uint32_t file_index, const Model* text) {
  const Gguf& gguf = *file.gguf;
  if (get_string(gguf, "general.architecture") == kVocoder) return open_vocoder(file, file_index);
  const std::string_view kind = get_string(gguf, "clip.gen.audio.projector_type").value_or("");
  const Result<const SpeechPipeline*> row =
      find_row<&SpeechPipeline::create>(all_speech_pipelines(), "the pipeline of speech", kind);
  if (!row) return std::unexpected(row.error());
  const std::string_view architecture = text == nullptr ? (*row)->architecture : text->architecture().name;
  if (architecture != (*row)->architecture)
    return fail(ErrorCode::kOtherModel, "the pipeline of speech " + std::string(kind) + " needs a text model of " +
                                            std::string((*row)->architecture) + ", not " + std::string(architecture));
  const bool with_voices = get_bool(gguf, "clip.has_audio_encoder").value_or(false);
  std::string_view voices = get_string(gguf, "clip.audio.projector_type").value_or("");
  if (with_voices && voices != (*row)->voice_encoder)
    return fail(ErrorCode::kUnsupported,
                sentence({"the encoder of voices ", Quoted{voices}, " does not belong to the pipeline ", kind}));
  std::unique_ptr<SpeechModel> model(new (std::nothrow) SpeechModel);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a pipeline of speech");
  model->pipeline_ = *row;
  model->has_voices_ = with_voices;
  model->generator_ = (*row)->create();
  Keys keys(gguf, "clip");
  uint32_t n_embd = 0;
  keys.required("gen.audio.projection_dim", n_embd);
  if (text != nullptr && !keys.failed() && n_embd != text->hparams().n_embd)
    return fail(ErrorCode::kOtherModel, "the pipeline of speech reads states of " + std::to_string(n_embd) +
                                            " elements, but the model's have " +
                                            std::to_string(text->hparams().n_embd) + ": they do not belong together");
  if (const Result<void> planned = model->plan_file(file, file_index, keys, n_embd); !planned)
    return std::unexpected(planned.error());
  return model;
}

Result<std::unique_ptr<SpeechModel>> SpeechModel::open_alone(const ModelFile& file) {
  std::unique_ptr<SpeechModel> model(new (std::nothrow) SpeechModel);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a pipeline of speech");
  model->pipeline_ = &kKokoro;
  model->generator_ = create_kokoro();
  Keys keys(*file.gguf, kSpeaksAlone);
  if (const Result<void> planned = model->plan_file(file, 0, keys, 0); !planned)
    return std::unexpected(planned.error());
  // Products with floats are the slowest of all. An error of the pitch would add up in the phases of the whole sound,
  // and one of a duration could change the number of frames: so only what follows them is rounded.
  for (TensorRequest& request : model->plan_) request.halves_suffice = request.entry.name.starts_with(kKokoroSound);
  for (TransposedConvolution* by : model->transposed_) by->halves_suffice = true;
  return model;
}

Result<void> SpeechModel::plan_file(const ModelFile& file, uint32_t file_index, Keys& keys, uint64_t n_embd) {
  Result<std::vector<TensorEntry>> tensors = tensor_entries({&file, 1});
  if (!tensors) return std::unexpected(tensors.error());
  for (TensorEntry& entry : *tensors) entry.file = file_index;
  Planner planner(std::move(*tensors));
  SpeechPlan plan{planner, {}, {}};
  generator_->plan(*file.gguf, plan, keys, n_embd, has_voices_);
  if (keys.failed()) return std::unexpected(keys.error());
  Result<std::vector<TensorRequest>> requests = planner.take_plan();
  if (!requests) return std::unexpected(requests.error());
  plan_ = std::move(*requests);
  convolutions_ = std::move(plan.convolutions);
  transposed_ = std::move(plan.transposed);
  return {};
}

Result<uint64_t> SpeechModel::weight_bytes(Precision precision) const {
  if (vocoder_) {
    const Result<MemoryEstimate> memory = vocoder_->memory({.n_ctx = 1, .n_batch = 1}, precision, 1);
    if (!memory) return std::unexpected(memory.error());
    return memory->weights;
  }
  Result<uint64_t> bytes = plan_bytes(plan_, precision);
  if (!bytes) return bytes;
  for (const TransposedConvolution* by : transposed_) {
    // The file's floats are freed when they are packed.
    const uint64_t n_rows = uint64_t{by->n_kernel} * by->n_out;
    const Result<uint64_t> packed = packed_bytes(by->packed_type(precision), by->n_in, n_rows, precision);
    if (!packed) return packed;
    *bytes = *bytes + *packed - n_rows * by->n_in * sizeof(float);
  }
  return bytes;
}

Result<void> SpeechModel::begin_load(Pool& pool, Precision precision) {
  if (vocoder_) return vocoder_->begin_load(pool, precision);
  precision_ = precision;
  turned_ = false;
  begin_plan(plan_);
  return {};
}

Result<void> SpeechModel::set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows) {
  if (vocoder_) return vocoder_->set_rows(pool, i, first_row, rows);
  if (i >= plan_.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  TensorRequest& request = plan_[i];
  const auto found = std::ranges::find_if(convolutions_, [&](const CausalConvolution* by) {
    return request.linear != nullptr && request.linear == &by->by;
  });
  if (found == convolutions_.end() || rows.size() % request.row_bytes != 0)
    return pack_rows(pool, request, precision_, first_row, rows);
  const auto size = static_cast<size_t>(request.row_bytes / ((*found)->n_in * (*found)->n_kernel));
  const std::vector<uint8_t> turned = turn_rows(**found, size, rows);
  return (*found)->exact ? pack_rows(pool, request, precision_, first_row, turned)
                         : pack_convolution_rows(pool, request, precision_, first_row, turned);
}

Result<void> SpeechModel::finish_load(Pool& pool) {
  if (vocoder_) return vocoder_->finish_load();
  if (const Result<void> arrived = all_arrived(plan_); !arrived) return arrived;
  if (turned_) return {};
  turned_ = true;
  for (TransposedConvolution* by : transposed_)
    if (const Result<void> turned = by->turn(pool, precision_); !turned) return turned;
  return generator_->finish_load(pool);
}

}  // namespace ggufscope
