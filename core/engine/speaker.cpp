// Runs the steps of speaking a text.
#include "engine/speaker.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "media/resample.hpp"
#include "nn/finite.hpp"

namespace ggufscope {
namespace {

constexpr size_t kPromptRows = 16;  // of a step: the caller can stop between two steps

struct WriterRow {
  std::string_view pipeline;
  Result<std::unique_ptr<SpeechWriter>> (*create)(const SpeechTools& tools);
};
constexpr WriterRow kWriters[] = {
    {"pockettts_gen", create_pockettts_writer},
    {"qwen3tts_gen", create_qwen3tts_writer},
    {"outetts", create_outetts_writer},
    {kSpeaksAlone, create_kokoro_writer},
};

}  // namespace

float NormalRandom::next() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return static_cast<float>(radius * std::cos(2 * std::numbers::pi * uniform()));
}

std::vector<float> SpeechTools::embed(std::span<const TokenId> ids) const {
  std::vector<float> rows(ids.size() * model.hparams().n_embd);
  look_up(pool, model.token_embedding(), ids, rows.data());
  return rows;
}

Result<std::unique_ptr<SpeechWriter>> create_speech_writer(const SpeechTools& tools) {
  for (const WriterRow& row : kWriters)
    if (row.pipeline == tools.speech.pipeline().name) return row.create(tools);
  return fail(ErrorCode::kUnsupported, "this pipeline of speech cannot read texts");
}

Result<std::unique_ptr<Speaker>> Speaker::create(const SpeechTools& tools, State& state) {
  if (tools.tokenizer != nullptr && tools.tokenizer->size() > tools.model.hparams().n_vocab)
    return fail(ErrorCode::kBadShape, "the vocabulary has more tokens than the model has embeddings");
  std::unique_ptr<Speaker> speaker(new Speaker(tools, state));
  Result<std::unique_ptr<SpeechWriter>> writer = create_speech_writer(tools);
  if (!writer) return std::unexpected(writer.error());
  Result<std::unique_ptr<SpeechDecoder>> decoder = tools.speech.generator().create_decoder(tools.pool);
  if (!decoder) return std::unexpected(decoder.error());
  speaker->writer_ = std::move(*writer);
  speaker->decoder_ = std::move(*decoder);
  return speaker;
}

Result<void> Speaker::begin(std::string_view text, const SpeakOptions& options) {
  end();
  samples_.clear();
  if (!options.profile.empty() && !writer_->reads_profiles())
    return fail(ErrorCode::kInvalidArgument, "a voice of this model is a recording, not a profile");
  if (options.speed != 1 && !writer_->sets_speed())
    return fail(ErrorCode::kInvalidArgument, "the speed of this model's speech cannot be chosen");
  if (const Result<void> started = writer_->start(text, options, voice_, state_.options().n_ctx); !started)
    return started;
  chunk_ = n_computed_ = 0;
  n_at_once_ = tools_.speech.generator().frames_at_once() == kWholeChunk ? kWholeChunk : 1;
  prompt_ = writer_->common_rows();
  n_common_ = prompt_.size() / tools_.model.hparams().n_embd;
  speaking_ = true;
  start_chunk();
  return {};
}

// Adds the rows of the chunk's prompt to those that are to be computed.
void Speaker::start_chunk() {
  const std::vector<float> rows = writer_->start_chunk(chunk_);
  prompt_.insert(prompt_.end(), rows.begin(), rows.end());
  n_prompted_ = 0;
  chunk_ended_ = false;
  frames_.clear();
  decoder_->reset();
}

Result<bool> Speaker::next() {
  samples_.clear();
  if (!speaking_) return fail(ErrorCode::kInvalidArgument, "nothing is being spoken");
  if (state_.last_position(0) + 1 != static_cast<int32_t>(n_computed_)) {
    speaking_ = false;
    return fail(ErrorCode::kInvalidArgument, "the model was used for something else before the speech ended");
  }
  const Result<bool> more = !prompt_.empty() ? run_prompt() : run_frame();
  if (!more || !*more) end();
  return more;
}

void Speaker::end() {
  if (speaking_) state_.clear();
  speaking_ = false;
  prompt_.clear();
  input_.clear();
}

// Computes rows, which follow those of the cache. The last one's hidden state is then in hidden_.
Result<void> Speaker::compute(std::span<const float> rows) {
  const size_t n_embd = tools_.model.hparams().n_embd, n = rows.size() / n_embd;
  if (n > state_.n_free_cells())
    return fail(ErrorCode::kOutOfRange,
                "the speech does not fit the context of " + std::to_string(state_.options().n_ctx) + " positions");
  const std::vector<TokenId> ids(n, 0);
  std::vector<uint8_t> mask(n, 0);
  mask.back() = 1;
  hidden_.resize(n_embd);
  const Batch batch{
      .tokens = ids, .positions = {}, .sequences = {}, .output_mask = mask, .inputs = rows, .embeddings = true};
  if (const Result<void> done = forward(tools_.model, state_, tools_.pool, batch, hidden_.data()); !done) return done;
  n_computed_ += n;
  if (!all_finite(hidden_)) return fail(ErrorCode::kOutOfRange, "the model's hidden states are not numbers");
  return {};
}

Result<bool> Speaker::run_prompt() {
  const size_t n_embd = tools_.model.hparams().n_embd, n_rows = prompt_.size() / n_embd;
  const size_t n = std::min(kPromptRows, n_rows - n_prompted_);
  const Result<void> done = compute(std::span(prompt_).subspan(n_prompted_ * n_embd, n * n_embd));
  if (!done) return std::unexpected(done.error());
  n_prompted_ += n;
  if (n_prompted_ == n_rows) prompt_.clear();
  return true;
}

Result<void> Speaker::decode_frames() {
  const Result<bool> more = decoder_->decode(frames_, samples_);
  if (!more) return std::unexpected(more.error());
  if (!*more) {
    frames_.clear();
    const size_t limit = tools_.speech.generator().frames_at_once();
    n_at_once_ = n_at_once_ < limit / 2 ? 2 * n_at_once_ : limit;
  }
  if (all_finite(samples_)) return {};
  samples_.clear();
  return fail(ErrorCode::kOutOfRange, "the samples that the decoder of speech makes are not numbers");
}

// The frames are decoded in a step of their own, so that an abort waits for less.
Result<bool> Speaker::run_frame() {
  const bool is_full = !input_.empty() && state_.n_free_cells() == 0;  // what was made is heard all the same
  if (frames_.n == n_at_once_ || (frames_.n != 0 && (chunk_ended_ || is_full))) {
    if (const Result<void> decoded = decode_frames(); !decoded) return std::unexpected(decoded.error());
    return true;
  }
  if (chunk_ended_) return next_chunk();
  if (!input_.empty()) {
    const Result<void> done = compute(input_);
    if (!done) return std::unexpected(done.error());
    input_.clear();
  }
  const Result<bool> made = writer_->make_frame(hidden_, frames_, input_);
  if (!made) return std::unexpected(made.error());
  chunk_ended_ = !*made;
  return true;
}

Result<bool> Speaker::next_chunk() {
  input_.clear();
  if (++chunk_ == writer_->n_chunks()) return false;
  if (!state_.remove(0, static_cast<int32_t>(n_common_), -1))
    return fail(ErrorCode::kUnsupported, "the model's state cannot be rewound to speak the next part of the text");
  n_computed_ = n_common_;
  start_chunk();
  return true;
}

Result<void> Speaker::begin_voice(std::span<const float> samples, uint32_t rate) {
  encoder_.reset();
  if (writer_->reads_profiles())
    return fail(ErrorCode::kUnsupported, writer_->voices().empty()
                                             ? "a voice of this model is a profile, not a recording"
                                             : "a voice of this model is a name, not a recording");
  if (!tools_.speech.has_voices())
    return fail(ErrorCode::kUnsupported, "this projector has no encoder of voices: it cannot read a recording");
  if (!all_finite(samples)) return fail(ErrorCode::kInvalidArgument, "a sample of the recording is not a number");
  std::vector<float> sound(samples.begin(), samples.end());
  if (rate != kSpeechRate) {
    Result<std::vector<float>> resampled = resample(samples, rate, kSpeechRate);
    if (!resampled) return std::unexpected(resampled.error());
    sound = std::move(*resampled);
  }
  std::unique_ptr<VoiceEncoder> encoder = tools_.speech.generator().create_voice_encoder(tools_.pool);
  if (const Result<void> started = encoder->start(std::move(sound)); !started) return started;
  encoder_ = std::move(encoder);
  return {};
}

Result<bool> Speaker::step_voice() {
  if (!encoder_) return fail(ErrorCode::kInvalidArgument, "no recording is being encoded");
  if (encoder_->step()) return true;
  std::vector<float> rows = encoder_->take_rows();
  encoder_.reset();
  if (const Result<void> set = set_voice(std::move(rows)); !set) return std::unexpected(set.error());
  return false;
}

Result<void> Speaker::set_voice(std::vector<float> rows) {
  if (rows.size() % tools_.model.hparams().n_embd != 0)
    return fail(ErrorCode::kInvalidArgument, "a voice has rows of " + std::to_string(tools_.model.hparams().n_embd) +
                                                 " numbers, but " + std::to_string(rows.size()) + " are no whole rows");
  if (!all_finite(rows)) return fail(ErrorCode::kInvalidArgument, "a number of the voice is not finite");
  voice_ = std::move(rows);
  return {};
}

}  // namespace ggufscope
