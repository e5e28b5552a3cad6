// A session's images and audio: encoding them, and computing sequences that contain them.
#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "engine/session.hpp"
#include "gguf/access.hpp"
#include "media/resample.hpp"
#include "model/load_plan.hpp"

namespace ggufscope {
namespace {

constexpr size_t kMaxMediaBytes = size_t{256}
                                  << 20;  // of embeddings that are kept in case an image or audio is used again

// Discards media that no sequence uses, if all media together exceed the limit.
template <class Sequences>
void trim_media(MediaStore& store, const Sequences& sequences) {
  size_t bytes = 0;
  for (const auto& [id, medium] : store) bytes += medium.embeddings.size() * sizeof(float);
  if (bytes <= kMaxMediaBytes) return;
  for (auto& [id, medium] : store) {
    const auto has = [sought = id](const auto& s) { return std::ranges::find(s.tokens, sought) != s.tokens.end(); };
    if (!std::ranges::any_of(sequences, has)) medium.embeddings = {};
  }
}

// Bytes of an encoder's weights that the device does not have.
Result<uint64_t> host_bytes(std::vector<TensorRequest> here, const gpu::Plan* plan, Precision precision) {
  if (plan == nullptr) return plan_bytes(here, precision);
  for (const gpu::Upload& upload : plan->uploads) here[upload.request].entry.n_bytes = 0;
  std::erase_if(here, [](const TensorRequest& r) { return r.entry.n_bytes == 0; });
  return plan_bytes(here, precision);
}

}  // namespace

Result<void> Session::check_projector(const HeaderBytes& header) { return Session().open_encoders(header, 0, 0); }

Result<void> Session::open_projector(const HeaderBytes& header, uint32_t file_index) {
  return open_encoders(header, file_index, model_->n_input());
}

Result<void> Session::open_encoders(const HeaderBytes& header, uint32_t file_index, uint64_t n_input) {
  ParseState parsed;
  const Result<ParseProgress> progress = parse_header(header.bytes, header.file_size, parsed);
  if (!progress) return std::unexpected(progress.error());
  if (!progress->complete)
    return fail(ErrorCode::kTruncated, header.bytes.size(), "truncated", "header of the projector");
  const Gguf gguf{parsed.header, header.bytes};
  const std::string_view architecture = get_string(gguf, "general.architecture").value_or("");
  if (architecture == "wavtokenizer-dec") return open_speech({&gguf, header.file_size}, file_index);
  if (architecture != "clip") return fail(ErrorCode::kUnsupported, "a projector's general.architecture is \"clip\"");
  if (get_bool(gguf, "clip.has_gen_audio_encoder").value_or(false))
    return open_speech({&gguf, header.file_size}, file_index);
  if (model_ && (model_->is_encoder() || model_->has_encoder() || !model_->hparams().causal))
    return fail(ErrorCode::kUnsupported, "a projector needs a model that continues text");
  const bool sees = get_bool(gguf, "clip.has_vision_encoder").value_or(false);
  const bool hears = get_bool(gguf, "clip.has_audio_encoder").value_or(false);
  const ModelFile file{&gguf, header.file_size};
  no_images_ = Error{ErrorCode::kUnsupported, 0, "this projector has no image encoder: it cannot read images"};
  no_sounds_ = Error{ErrorCode::kUnsupported, 0, "this projector has no audio encoder: it cannot read audio"};
  if (!sees && !hears) return fail(ErrorCode::kUnsupported, "this projector has neither an image nor an audio encoder");
  // If only one encoder cannot run, the other can still be used. A damaged file is an error for both.
  const auto take = [](auto& opened, auto& to, std::optional<Error>& refused) -> Result<void> {
    if (opened) to = std::move(*opened);
    refused = opened ? std::nullopt : std::optional(opened.error());
    if (opened || refused->code == ErrorCode::kUnsupported || refused->code == ErrorCode::kSurplusTensor) return {};
    return std::unexpected(*refused);
  };
  if (sees) {
    auto vision = VisionModel::open(file, file_index, n_input);
    if (const Result<void> taken = take(vision, vision_, no_images_); !taken) return taken;
  }
  if (hears) {
    auto audio = AudioModel::open(file, file_index, n_input);
    if (const Result<void> taken = take(audio, audio_, no_sounds_); !taken) return taken;
  }
  if (!vision_ && !audio_) return std::unexpected(sees ? *no_images_ : *no_sounds_);
  return {};
}

Result<void> Session::add_projector_memory(Precision precision, MemoryEstimate& to) const {
  uint64_t max = 0;
  if (speech_) {
    const Result<uint64_t> weights = speech_->weight_bytes(precision);
    if (!weights) return std::unexpected(weights.error());
    to.weights += *weights;
    max = speech_->generator().scratch_bytes(*pool_);
  }
  if (audio_) {
    const Result<uint64_t> weights = host_bytes(audio_->plan(), encoders_[kAudioEncoder].plan.get(), precision);
    if (!weights) return std::unexpected(weights.error());
    to.weights += *weights;
    max = audio_->scratch_bytes(pool_->n_threads());
  }
  if (vision_) {
    const Result<uint64_t> weights = host_bytes(vision_->plan(), encoders_[kImageEncoder].plan.get(), precision);
    if (!weights) return std::unexpected(weights.error());
    to.weights += *weights;
    // Memory for the largest part of fixed size, or for a part of a typical photo.
    const Result<ImageLayout> layout = image_layout({1024, 768}, vision_->parameters().image);
    const auto count = [&](ImageSize part) {
      max = std::max(max, ImageEncoder::scratch_bytes(*vision_, part, pool_->n_threads()));
    };
    if (layout && layout->n_tiles() != 0) count(layout->tile);
    if (layout) count(layout->overview);
  }
  to.scratch += max;
  return {};
}

Result<void> Session::check_media(const std::optional<Error>& refused) const {
  if (!vision_ && !audio_)
    return fail(ErrorCode::kUnsupported,
                speech_ ? "this projector makes speech; it can read neither images nor audio"
                        : "the model was loaded without a projector; it can read neither images nor audio");
  if (refused) return std::unexpected(*refused);
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (!tokenizer_) return fail(ErrorCode::kUnsupported, "images and audio need a vocabulary, and this file has none");
  return {};
}

Result<void> Session::begin_image(const ImageView& image, uint32_t number) {
  job_.emplace<std::monostate>();
  if (const Result<void> good = check_media(no_images_); !good) return good;
  // Texts have the position 0 on the fourth axis, in either order; images would have the time.
  if (const Hparams& h = model_->hparams(); h.canvas_time && h.rope_sections[3] != 0)
    return fail(ErrorCode::kUnsupported, "images with a fourth section of RoPE in the order zyxt are not supported");
  trim_media(media_, sequences_);
  const Result<void> begun =
      job_.emplace<ImageJob>(*vision_, *pool_).start(image, number, *tokenizer_, multi_axis(), n_context(), media_);
  if (!begun) job_.emplace<std::monostate>();
  return begun;
}

Result<void> Session::begin_sound(std::span<const float> samples, uint32_t rate) {
  job_.emplace<std::monostate>();
  if (const Result<void> good = check_media(no_sounds_); !good) return good;
  trim_media(media_, sequences_);
  if (const Result<void> good = check_rate(rate); !good) return good;
  Result<std::vector<float>> sound = std::vector<float>();
  const uint32_t model_rate = audio_->parameters().sound.rate;
  if (rate == model_rate) {
    sound->assign(samples.begin(), samples.end());
  } else {
    const auto n = samples.size() * uint64_t{model_rate} / rate;
    if (const Result<void> good = SoundJob::check(samples, n, *audio_, pool_->n_threads(), n_context()); !good)
      return good;
    sound = resample(samples, rate, model_rate);
    if (!sound) return std::unexpected(sound.error());
  }
  const Result<void> begun =
      job_.emplace<SoundJob>(*audio_, *pool_).start(std::move(*sound), *tokenizer_, n_context(), media_);
  if (!begun) job_.emplace<std::monostate>();
  return begun;
}

size_t Session::n_media_steps() const {
  if (const auto* job = std::get_if<ImageJob>(&job_)) return job->n_steps();
  if (const auto* job = std::get_if<SoundJob>(&job_)) return job->n_steps();
  return 0;
}

Result<bool> Session::step_media() {
  if (auto* job = std::get_if<ImageJob>(&job_)) return job->step(media_);
  if (auto* job = std::get_if<SoundJob>(&job_)) return job->step(media_);
  return fail(ErrorCode::kInvalidArgument, "no image or audio is being encoded");
}

std::vector<TokenId> Session::media_tokens() const {
  if (const auto* job = std::get_if<ImageJob>(&job_)) return job->tokens();
  if (const auto* job = std::get_if<SoundJob>(&job_)) return job->tokens();
  return {};
}

Result<Session::EncodedMedia> Session::encoded_media(std::span<const TokenId> tokens) const {
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return std::unexpected(runs.error());
  EncodedMedia out;
  for (const TokenRun& run : *runs) {
    if (run.medium == nullptr) continue;
    const Medium& medium = *run.medium;
    const size_t n = run.end - run.begin;
    if (medium.embeddings.empty())
      return fail(ErrorCode::kNotFound,
                  "the image or audio was restored without its embeddings; it must be encoded again");
    const auto end = medium.embeddings.begin() + static_cast<ptrdiff_t>(n * model_->n_input());
    out.embeddings.insert(out.embeddings.end(), medium.embeddings.begin(), end);
    if (multi_axis()) {
      const std::vector<int32_t> axes = media_axes(medium, 0, n, run.position, model_->hparams().canvas_time);
      out.positions.insert(out.positions.end(), axes.begin(), axes.end());
    } else {
      for (size_t i = 0; i < n; ++i)
        out.positions.insert(out.positions.end(), 3, run.position + static_cast<int32_t>(i));
    }
  }
  return out;
}

bool Session::holds_media(std::span<const TokenId> tokens) const {
  return std::ranges::all_of(tokens, [&](TokenId id) {
    if (!is_media(id)) return true;
    const auto found = media_.find(id);
    return found != media_.end() && !found->second.embeddings.empty();
  });
}

void Session::discard_media() {
  for (auto& [id, medium] : media_) medium.embeddings = {};
}

size_t Session::before_medium(std::span<const TokenId> tokens, size_t n) const {
  if (media_.empty()) return n;
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return n;
  for (const TokenRun& run : *runs)
    if (run.medium != nullptr && run.begin < n && n < run.end) return run.begin;
  return n;
}

size_t Session::whole_media(std::span<const TokenId> tokens, size_t first, size_t n) const {
  if (media_.empty()) return n;
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return n;
  for (const TokenRun& run : *runs)
    if (run.medium != nullptr && run.medium->both_ways && run.begin < first + n && first + n < run.end)
      return run.end - first;
  return n;
}

int32_t Session::position_of(std::span<const TokenId> tokens, size_t n) const {
  if (media_.empty() || !multi_axis()) return static_cast<int32_t>(n);
  const Result<std::vector<TokenRun>> runs = token_runs(tokens.first(std::min(n, tokens.size())), media_);
  if (!runs || runs->empty()) return static_cast<int32_t>(n);
  const TokenRun& last = runs->back();
  return last.position +
         static_cast<int32_t>(last.medium != nullptr ? last.medium->n_positions : last.end - last.begin);
}

Result<void> Session::run(std::span<const TokenId> tokens, size_t first, size_t n, uint32_t sequence,
                          std::span<const uint8_t> output_mask, float* out) {
  const std::vector<int32_t> sequences(n, static_cast<int32_t>(sequence));
  if (media_.empty()) {
    const Batch batch{
        .tokens = tokens.subspan(first, n), .positions = {}, .sequences = sequences, .output_mask = output_mask};
    return forward_parts(first, batch, out);
  }
  const Result<std::vector<TokenRun>> runs = token_runs(tokens, media_);
  if (!runs) return std::unexpected(runs.error());
  for (const TokenRun& run : *runs) {
    const size_t begin = std::max(run.begin, first), end = std::min(run.end, first + n);
    if (begin >= end) continue;
    const size_t count = end - begin;
    const std::span<const uint8_t> part_mask =
        output_mask.empty() ? output_mask : output_mask.subspan(begin - first, count);
    if (const Result<void> done =
            run_part(run, tokens, begin, count, std::span(sequences).first(count), part_mask, out);
        !done)
      return done;
    out += (part_mask.empty() ? count : static_cast<size_t>(std::ranges::count(part_mask, 1))) * model_->n_output();
  }
  return {};
}

Result<RunBatch> Session::batch_of(const TokenRun& run, std::span<const TokenId> part, size_t first) const {
  RunBatch out{{.tokens = part, .positions = {}, .sequences = {}, .output_mask = {}}, {}, {}, {}};
  Batch& batch = out.batch;
  const size_t offset = first - run.begin, n = part.size();
  if (run.medium == nullptr || !multi_axis()) {
    const int32_t at = multi_axis() ? run.position : static_cast<int32_t>(run.begin);
    for (size_t i = 0; i < n; ++i) out.positions.push_back(at + static_cast<int32_t>(offset + i));
    batch.positions = out.positions;
  }
  if (run.medium == nullptr) return out;
  const Medium& medium = *run.medium;
  if (medium.embeddings.empty())
    return fail(ErrorCode::kNotFound,
                "an encoded image or audio was discarded to free memory; it must be encoded again");
  out.stand_ins.assign(n, 0);
  batch.tokens = out.stand_ins;
  batch.inputs = std::span(medium.embeddings).subspan(offset * model_->n_input(), n * model_->n_input());
  batch.both_ways = medium.both_ways;
  if (multi_axis()) batch.axes = out.axes = media_axes(medium, offset, n, run.position, model_->hparams().canvas_time);
  for (size_t i = offset; i < offset + n && !medium.canvas.empty(); ++i)
    out.positions.push_back(run.position + medium.canvas[i].step);
  if (!out.positions.empty()) batch.positions = out.positions;
  return out;
}

Result<void> Session::run_part(const TokenRun& run, std::span<const TokenId> tokens, size_t first, size_t n,
                               std::span<const int32_t> sequences, std::span<const uint8_t> output_mask, float* out) {
  Result<RunBatch> part = batch_of(run, tokens.subspan(first, n), first);
  if (!part) return std::unexpected(part.error());
  part->batch.sequences = sequences;
  part->batch.output_mask = output_mask;
  return forward_parts(first, part->batch, out);
}

// For each medium: id, tokens, columns, positions, whether attention is bidirectional, 0, and its hash.
std::vector<uint8_t> Session::save_media(std::span<const TokenId> tokens) const {
  std::vector<uint8_t> out(4);
  std::vector<TokenId> ids;
  for (const TokenId id : tokens)
    if (is_media(id) && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  store(out.data(), static_cast<uint32_t>(ids.size()));
  for (const TokenId id : ids) {
    const Medium& medium = media_.at(id);
    const size_t at = out.size();
    out.resize(at + kSavedMedium);
    const uint32_t fields[] = {static_cast<uint32_t>(id), medium.n_tokens, medium.columns, medium.n_positions,
                               medium.both_ways ? 1u : 0u};
    for (size_t i = 0; i < std::size(fields); ++i) store(out.data() + at + 4 * i, fields[i]);
    store(out.data() + at + 24, medium.hash);
  }
  return out;
}

Result<size_t> Session::load_media(ByteView bytes) {
  const auto cut = [] { return fail(ErrorCode::kInvalidArgument, "the saved state is truncated"); };
  if (bytes.size() < 4) return cut();
  const uint64_t n = load<uint32_t>(bytes.data());
  if (n > (bytes.size() - 4) / kSavedMedium) return cut();
  for (size_t i = 0; i < n; ++i) {
    const uint8_t* at = bytes.data() + 4 + i * kSavedMedium;
    const auto id = static_cast<TokenId>(load<uint32_t>(at));
    Medium medium;
    medium.n_tokens = load<uint32_t>(at + 4);
    medium.columns = load<uint32_t>(at + 8);
    medium.n_positions = load<uint32_t>(at + 12);
    medium.both_ways = load<uint32_t>(at + 16) != 0;
    medium.hash = load<uint64_t>(at + 24);
    const bool sound = is_media(id) && medium.n_tokens != 0 && medium.n_tokens <= kMaxPatches &&
                       medium.columns <= medium.n_tokens && medium.n_positions <= medium.n_tokens;
    if (!sound) return fail(ErrorCode::kInvalidArgument, "the saved state's tokens of an image or audio are invalid");
    const auto found = media_.find(id);
    if (found != media_.end() && found->second.hash != medium.hash)
      return fail(ErrorCode::kInvalidArgument,
                  "an image or audio in the saved state has the id of a different one in this session");
    if (found == media_.end()) media_.emplace(id, std::move(medium));
  }
  return 4 + static_cast<size_t>(n) * kSavedMedium;
}

// Format: the output of save_media; of each of these media its canvas and its embeddings, each with their number
// before.
std::vector<uint8_t> Session::save_encoded() const {
  std::vector<TokenId> ids;
  for (const auto& [id, medium] : media_)
    if (!medium.embeddings.empty()) ids.push_back(id);
  std::vector<uint8_t> out = save_media(ids);
  const auto add = [&](const auto& values) {
    const size_t at = out.size(), n_bytes = values.size() * sizeof(values[0]);
    out.resize(at + 8 + n_bytes);
    store(out.data() + at, uint64_t{values.size()});
    if (n_bytes != 0) std::memcpy(out.data() + at + 8, values.data(), n_bytes);
  };
  for (const TokenId id : ids) {
    add(media_.at(id).canvas);
    add(media_.at(id).embeddings);
  }
  return out;
}

Result<void> Session::load_encoded(ByteView bytes) {
  const Result<size_t> table = load_media(bytes);
  if (!table) return std::unexpected(table.error());
  ByteView rest = bytes.subspan(*table);
  // Reads n_wanted values, or none where there may be none.
  const auto read = [&](auto& values, uint64_t n_wanted, bool may_lack) {
    const uint64_t n = rest.size() < 8 ? UINT64_MAX : load<uint64_t>(rest.data());
    if (n != n_wanted && (n != 0 || !may_lack)) return false;
    if (n > (rest.size() - 8) / sizeof(values[0])) return false;
    values.resize(static_cast<size_t>(n));
    if (n != 0) std::memcpy(values.data(), rest.data() + 8, values.size() * sizeof(values[0]));
    rest = rest.subspan(8 + values.size() * sizeof(values[0]));
    return true;
  };
  for (const uint8_t* at = bytes.data() + 4; at != bytes.data() + *table; at += kSavedMedium) {
    Medium& medium = media_.at(static_cast<TokenId>(load<uint32_t>(at)));
    if (!read(medium.canvas, medium.n_tokens, true) ||
        !read(medium.embeddings, uint64_t{medium.n_tokens} * model_->n_input(), false))
      return fail(ErrorCode::kInvalidArgument, "the saved images or audio are truncated");
  }
  return {};
}

}  // namespace ggufscope
