// A session: a model, its tokenizer and a sampler. Work is divided into steps; the caller can stop between two.
//
//   open(header)  ->  memory()  ->  begin_load, set_rows for every request of model().plan(), start(context)
//   read_vocabulary() may be called any time before start, when there is nothing else to do
//   begin_answer(tokens) keeps the common beginning in the KV cache
//   advance(n) computes the next n tokens;  next() samples one;  resume_answer continues another session's answer
//   on a GPU: plan_device before begin_load; prepare(n) gives the record of a pass, accept its logits: they replace
//   advance and the computing in next
//   fork(from, to) copies a sequence, which shares cells of the cache;  select(sequence) switches between sequences
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/answer_grammar.hpp"
#include "engine/answer_text.hpp"
#include "engine/device_pass.hpp"
#include "engine/draft_length.hpp"
#include "engine/generate_options.hpp"
#include "engine/media.hpp"
#include "engine/speaker.hpp"
#include "gguf/parse.hpp"
#include "gpu/repack.hpp"
#include "gpu/step.hpp"
#include "model/adapter.hpp"
#include "model/decision/decision.hpp"
#include "model/forward.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/pooling.hpp"
#include "nn/peaks.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

struct TraceOptions {
  std::vector<uint32_t> layers;      ///< layers to read: 0 (the embeddings) to n_layer (the model's output)
  bool all_layers = false;           ///< instead: all, or only n_layer if the model has several residual streams
  uint32_t n_best = 5;               ///< for each layer and token, the most likely next tokens
  std::vector<LayerPart> attention;  ///< heads whose weights are recorded
  std::vector<LayerPart> ablated;
};

/// What a model computes for the tokens of a text.
struct Trace {
  std::vector<uint32_t> layers;
  uint32_t n_best = 0;
  std::vector<float> log_p;    ///< [n]: of each token after those before it; NaN for the first
  std::vector<int32_t> ranks;  ///< [n]: the number of tokens that were more likely; -1 for the first
  std::vector<TokenId> best;  ///< [layers, n, n_best]: of the output matrix applied to what leaves a layer (logit lens)
  std::vector<float> best_log_p;  ///< the same
  Buffer attention;               ///< [heads, n, n] floats: a row for each query
};

enum class Finish : uint8_t { kNone, kEnd, kStop, kContext };

struct Step {
  TokenId token = kNoToken;
  std::string text;  ///< whole code points, often empty; text that may be the beginning of a stop string is held back
  float log_p = 0;   ///< log probability of the token, if n_probabilities is not 0
  std::vector<LogProbability> best;
  Finish finish = Finish::kNone;  ///< if not kNone, this is the last step; token may be kNoToken
};

/// The beginning of a file, at least its whole header, and the file's length if known.
struct HeaderBytes {
  ByteView bytes;
  std::optional<uint64_t> file_size;
};

class Session {
 public:
  /// headers: of the model's files in order (a split model has several). Errors of the parser and of Model::open;
  /// kTruncated if a header is incomplete. A file without a vocabulary can be opened, too: it has no tokenizer and
  /// accepts only token ids.
  ///
  /// projector: the header of an mmproj file for the model. Its tensors follow the model's in the plan, as if it were
  /// another file. It may have an encoder for images, for audio, or both. If only one of them can run, using the other
  /// is an error later. Or it makes speech of what the model writes. Errors: kUnsupported if none can run; those of
  /// VisionModel::open, AudioModel::open and SpeechModel::open.
  ///
  /// as_draft: of a file with MTP heads, only the first of these, for set_draft of a session of the model.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(std::span<const HeaderBytes> headers, size_t n_threads,
                                                             const HeaderBytes* projector = nullptr,
                                                             bool as_draft = false);
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(ByteView header, std::optional<uint64_t> file_size,
                                                             size_t n_threads) {
    const HeaderBytes only{header, file_size};
    return open({&only, 1}, n_threads, nullptr);
  }

  /// Checks the header of an mmproj file without a model: its keys, and the shapes of its tensors.
  [[nodiscard]] static Result<void> check_projector(const HeaderBytes& projector);

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const VisionModel* projector() const { return vision_.get(); }
  [[nodiscard]] const AudioModel* audio() const { return audio_.get(); }
  [[nodiscard]] const SpeechModel* speech() const { return speech_.get(); }
  /// Number of requests for the model, then for the projector's encoders or for speech.
  [[nodiscard]] size_t n_planned() const {
    return model_->plan().size() + n_vision_planned() + n_audio_planned() + (speech_ ? speech_->plan().size() : 0);
  }
  [[nodiscard]] const TensorRequest& planned(size_t i) const {
    const size_t n = model_->plan().size(), n_seen = n + n_vision_planned();
    if (speech_ && i >= n) return speech_->plan()[i - n];
    return i < n ? model_->plan()[i] : i < n_seen ? vision_->plan()[i - n] : audio_->plan()[i - n_seen];
  }
  [[nodiscard]] const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  [[nodiscard]] Pool& pool() { return *pool_; }
  [[nodiscard]] size_t n_threads() const { return pool_->n_threads(); }
  [[nodiscard]] void* worker(size_t thread) { return pool_->worker(thread); }
  void use_threads(size_t n) { pool_->use_threads(n); }
  /// The profile since the last call. The first call starts the timing and returns nothing.
  [[nodiscard]] std::vector<Profile::Row> take_profile();
  /// Measures DRAM bandwidth on as many bytes as the weights have, because each token reads all of them.
  [[nodiscard]] Result<Peaks> measure_peaks() {
    return ggufscope::measure_peaks(*pool_, std::min<uint64_t>(model_->loaded_bytes(), 1 << 30));
  }
  [[nodiscard]] const SamplerOptions& sampler_defaults() const { return defaults_; }
  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  /// The index of the stop string that ended the answer, among those that are not empty; -1: none.
  [[nodiscard]] int32_t stop_index() const;
  [[nodiscard]] uint32_t n_context() const { return state_ ? state_->options().n_ctx : 0; }
  [[nodiscard]] uint32_t n_sequences() const { return static_cast<uint32_t>(sequences_.size()); }

  [[nodiscard]] Result<MemoryEstimate> memory(const StateOptions& options, Precision precision) const;
  /// Adds the memory of the projector. Error: kOverflow.
  [[nodiscard]] Result<void> add_projector_memory(Precision precision, MemoryEstimate& to) const;
  [[nodiscard]] Result<void> begin_load(Precision precision) {
    precision_ = precision;
    if (vision_) vision_->begin_load(precision);
    if (audio_) audio_->begin_load(precision);
    if (auto begun = speech_ ? speech_->begin_load(*pool_, precision) : Result<void>{}; !begun) return begun;
    return model_->begin_load(*pool_, precision);
  }
  [[nodiscard]] Result<void> set_rows(size_t request, uint64_t first_row, ByteView rows) {
    const size_t n = model_->plan().size(), n_seen = n + n_vision_planned();
    if (speech_ && request >= n) return speech_->set_rows(*pool_, request - n, first_row, rows);
    if (audio_ && request >= n_seen) return audio_->set_rows(*pool_, request - n_seen, first_row, rows);
    if (vision_ && request >= n) return vision_->set_rows(*pool_, request - n, first_row, rows);
    return model_->set_rows(*pool_, request, first_row, rows);
  }
  /// Builds the tokenizer; until then, the first file's header must stay valid. A loader can call it while it waits for
  /// bytes; otherwise start does it.
  void read_vocabulary();
  /// Allocates the state. Call it when all rows have arrived. Errors: kTruncated if rows are missing; kOutOfMemory.
  [[nodiscard]] Result<void> start(const StateOptions& options);

  /// Lowers the model to a plan for a device, and from then on computes nothing itself. Call it before begin_load, with
  /// the options of start. The layers of encoders get plans of their own, if they can have one. Errors: those
  /// of gpu::lower; kUnsupported with a projector of speech, or if the model adds position embeddings or norms to those
  /// of tokens.
  [[nodiscard]] Result<void> plan_device(const StateOptions& options, const gpu::DeviceLimits& limits);
  /// nullptr without a device.
  [[nodiscard]] const gpu::Plan* device_plan() const { return plan_.get(); }
  [[nodiscard]] const DeviceEncoder& device_encoder(Encoder encoder) const { return encoders_[encoder]; }
  /// The encoder will run on the CPU instead. Call it before begin_load.
  void keep_encoder(Encoder encoder, std::string reason);
  /// The encoder that a request is for.
  [[nodiscard]] Encoder encoder_of(size_t request) const {
    const size_t n = model_->plan().size();
    return request < n ? kNoEncoder : request < n + n_vision_planned() ? kImageEncoder : kAudioEncoder;
  }
  /// With such plans, before step_media: the layers that the device computes instead of steps, whose rows are then
  /// accepted. Errors: those of gpu::lower_encoder, encoder_record and step_media.
  [[nodiscard]] Result<EncoderPass> prepare_layers();
  [[nodiscard]] Result<void> accept_layers(std::span<const float> rows);
  /// What set_rows is with a device: what to write to its buffers. Errors: those of gpu::repack and set_rows.
  [[nodiscard]] Result<std::vector<gpu::BufferWrite>> repack_rows(size_t request, uint64_t first_row, ByteView rows);
  /// Places up to n of the pending tokens of the selected sequence, and proposed tokens (n_lookup). n_tokens is 0 if
  /// next() needs nothing, or if the context is full, which next() then returns. accept() or discard() must follow.
  /// Errors: kUnsupported for an image that must be, but is not, in one pass; kInvalidArgument if a pass is in flight;
  /// those of place_batch and step_record.
  [[nodiscard]] Result<DevicePass> prepare(size_t n);
  /// The logits [n_outputs, n_vocab] of the pass. Then next() samples, if no tokens are pending. Error:
  /// kInvalidArgument for another length, or without a pass.
  [[nodiscard]] Result<void> accept(std::span<const float> logits);
  /// Whether the device's most likely token is the answer's next one: greedy sampling without anything that changes
  /// logits. Then passes may be prepared before the tokens of those in flight are known.
  [[nodiscard]] bool device_chooses() const;
  /// Places the token that the device chooses in the last pass in flight. n_tokens is 0 if the context is full. Error:
  /// kInvalidArgument unless device_chooses() and a pass is in flight.
  [[nodiscard]] Result<DevicePass> prepare_chosen();
  /// The token that the device chose in the oldest pass in flight; next() returns it. Errors: kInvalidArgument without
  /// such a pass, or while a chosen token waits for next(); kOutOfRange for no token.
  [[nodiscard]] Result<void> accept_chosen(TokenId token);
  /// Removes all passes in flight: after the end of an answer, or if the device failed.
  void discard();
  /// Before evaluate, evaluate_last and embed on a device: open_text, then prepare_text and accept_text for each pass
  /// until one has no tokens. The function with the same tokens then uses what was accepted. Errors: those of the
  /// function without a device.
  [[nodiscard]] Result<void> open_text(std::span<const TokenId> tokens, TextOutputs outputs);
  [[nodiscard]] Result<DevicePass> prepare_text();
  /// rows: of the pass, [n_outputs, n_vocab], or [n_outputs, embedding length] if it embeds.
  [[nodiscard]] Result<void> accept_text(std::span<const float> rows);
  [[nodiscard]] size_t n_in_flight() const { return in_flight_.size(); }

  /// Sets the draft model of speculative decoding (Leviathan et al. 2023): another session with the same vocabulary and
  /// loaded weights, or one that reads this model's states. It shares this session's threads and must outlive it. Call
  /// the draft's start, with the same sizes, after this. Errors: kUnsupported for models whose states cannot be
  /// rewound; kInvalidArgument if the vocabularies differ, or the draft model was made for another model.
  [[nodiscard]] Result<void> set_draft(Session& draft);

  /// Selects the sequence of the calls below; 0 at first. Sequences share the cells of the cache, so a common beginning
  /// is stored once. Error: kOutOfRange unless it is less than the n_sequences passed to start.
  [[nodiscard]] Result<void> select(uint32_t sequence);
  /// Makes sequence `to` a copy of sequence `from`. Errors: kOutOfRange; kUnsupported for encoder-decoder models;
  /// kInvalidArgument before start.
  [[nodiscard]] Result<void> fork(uint32_t from, uint32_t to);
  /// Clears the selected sequence, and frees cells that no other sequence uses.
  void drop();

  /// Starts to encode an image [height, width, 3] before which a text has `number` others. media_tokens() are then the
  /// tokens that represent it in a text. It takes several steps, so that the caller can stop between two steps, or none
  /// if the image was encoded before. Errors: kUnsupported without a projector for images or without a vocabulary;
  /// those of ImageJob.
  [[nodiscard]] Result<void> begin_image(const ImageView& image, uint32_t number = 0);
  /// The same for audio: one channel with `rate` samples per second. Errors: those of resample and of SoundJob.
  [[nodiscard]] Result<void> begin_sound(std::span<const float> samples, uint32_t rate);
  [[nodiscard]] size_t n_media_steps() const;
  /// Runs the next step. Returns false when all is done. Errors: kInvalidArgument if nothing is being encoded;
  /// kOutOfRange if a value is not finite, with the layer.
  [[nodiscard]] Result<bool> step_media();
  [[nodiscard]] std::vector<TokenId> media_tokens() const;
  /// All encoded media, for load_encoded of another session of the same files. Error of load_encoded: kInvalidArgument.
  [[nodiscard]] std::vector<uint8_t> save_encoded() const;
  [[nodiscard]] Result<void> load_encoded(ByteView bytes);
  /// The projector's output for the media in a text of these tokens: embeddings [n, n_input], and [n, 3] times, rows
  /// and columns. Errors: kNotFound for a medium that load_state restored without its embeddings; those of
  /// token_runs.
  struct EncodedMedia {
    std::vector<float> embeddings;
    std::vector<int32_t> positions;
  };
  [[nodiscard]] Result<EncodedMedia> encoded_media(std::span<const TokenId> tokens) const;
  /// Whether the media among these tokens need not be encoded again.
  [[nodiscard]] bool holds_media(std::span<const TokenId> tokens) const;
  /// Discards encoded media. Sequences that are already computed stay valid.
  void discard_media();

  /// What speaks, if the projector makes speech. It is created by the first call. Errors: kUnsupported without such a
  /// projector or without a vocabulary; kInvalidArgument before start; those of Speaker::create.
  [[nodiscard]] Result<Speaker*> speaker();
  /// Starts to speak a text: speaker()->next() goes on. Clears the cache of all sequences. Using the session for
  /// anything else ends what is being spoken. Errors of speaker and Speaker::begin.
  [[nodiscard]] Result<void> begin_speech(std::string_view text, const SpeakOptions& options);

  /// Opens an adapter from a whole file, for set_adapters. Errors of Adapter::open.
  [[nodiscard]] Result<std::shared_ptr<const Adapter>> open_adapter(ByteView file);
  /// Replaces the adapters of the selected sequence; a fork copies them. Clears the sequence's cache if they change. A
  /// plan has those set before it, for all sequences: others are kUnsupported. Errors of check_scale.
  [[nodiscard]] Result<void> set_adapters(std::vector<AdapterUse> uses);

  /// Starts an answer after these tokens. The longest common beginning with the cache is kept; advance computes the
  /// rest. Errors: kOutOfRange for unknown ids, no tokens, or more tokens than the context holds; errors of
  /// Grammar::compile.
  [[nodiscard]] Result<void> begin_answer(std::span<const TokenId> tokens, GenerateOptions options);
  /// Continues an answer that another session of the same file began after the same tokens with the same options, from
  /// these tokens of it, whose text is not returned again. Call it after begin_answer, before advance. Errors:
  /// kInvalidArgument if the answer had ended before, or could not have these tokens; kOutOfRange for unknown ids.
  [[nodiscard]] Result<void> resume_answer(std::span<const TokenId> answered);
  [[nodiscard]] size_t n_waiting() const { return selected().tokens.size() - selected().n_computed; }
  [[nodiscard]] size_t n_reused() const { return selected().n_reused; }
  /// Computes up to n of the pending tokens. Errors of forward.
  [[nodiscard]] Result<void> advance(size_t n);
  /// Samples the next token; no tokens may be pending. The next call of advance or next computes it.
  ///
  /// Speculative decoding: with options.n_lookup (prompt lookup), the tokens that followed an earlier occurrence of
  /// the last tokens are computed together with the last one; with options.n_draft, the draft model's most likely
  /// tokens, as many as pay off (draft_length.hpp). If a proposed token is sampled, it needs no separate pass; the
  /// others are removed from the cache. A proposal is accepted with the probability that this model gives it; otherwise
  /// another token is sampled from the rest. So the answer is the same as without. Encoder-decoder models do not use
  /// it. Errors: kInvalidArgument after the answer's end; kOutOfRange if the grammar allows no token; those of forward.
  [[nodiscard]] Result<Step> next();
  /// Ends the answer here and returns the text that was held back. finish is kStop if that text completes a stop
  /// string. Empty after the last step.
  [[nodiscard]] Step end_answer();
  /// Number of this answer's tokens that prompt lookup proposed and that were accepted.
  [[nodiscard]] size_t n_accepted_drafts() const { return selected().n_accepted_drafts; }

  /// Logits [tokens.size(), n_vocab] (for encoders: embeddings [tokens.size(), n_embd]) of a separate sequence, with
  /// the selected sequence's adapters. Clears the cache of all sequences. Errors: kUnsupported for encoder-decoder
  /// models; kOutOfRange if a result is not a number (NaN), with the layer.
  [[nodiscard]] Result<Buffer> evaluate(std::span<const TokenId> tokens);
  /// One pooled vector [pooled_floats], or for kNone [tokens.size(), pooled_floats]; for encoder-decoder models from
  /// the encoder's output. Not normalized. Clears the cache of all sequences. Errors: kUnsupported for tokens of media;
  /// kOutOfRange if a result is not finite, with the layer; those of pool_embeddings.
  [[nodiscard]] Result<std::vector<float>> embed(std::span<const TokenId> tokens,
                                                 Pooling pooling = Pooling::kUnspecified);

  /// The logits [n_vocab] of the last token only; otherwise as evaluate.
  [[nodiscard]] Result<Buffer> evaluate_last(std::span<const TokenId> tokens);
  /// One score for each option of the questions in a text, in one pass; parts [tokens.size()] tell where they are.
  /// Clears the cache of all sequences. Errors: kUnsupported for tokens of media; kOutOfRange if a score is not finite,
  /// with the layer; those of score_options.
  [[nodiscard]] Result<std::vector<float>> decide(std::span<const TokenId> tokens, std::span<const DecisionPart> parts);

  /// Starts to trace a text, as a separate sequence with the selected sequence's adapters. Clears the cache of all
  /// sequences. Encoders have no logits: only the attention can be traced. Errors: kUnsupported for tokens of media,
  /// encoder-decoder models, layers of models with several residual streams; kOutOfRange for unknown layers and heads;
  /// kOutOfMemory.
  [[nodiscard]] Result<void> begin_trace(std::span<const TokenId> tokens, TraceOptions options);
  /// Computes the next tokens of the text. Returns false when all is done: trace() is then complete. Errors:
  /// kInvalidArgument if no trace was begun; kUnsupported for heads of a layer without attention by heads; those of
  /// evaluate.
  [[nodiscard]] Result<bool> step_trace();
  /// Tokens of the traced text that are done.
  [[nodiscard]] size_t n_traced() const { return n_traced_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }
  void free_trace();

  /// Serializes and restores the selected sequence: its tokens and their cache. The session that restores them must run
  /// the same file. Errors: kInvalidArgument before start or for bytes that are not a state; those of State::save and
  /// State::restore.
  [[nodiscard]] Result<std::vector<uint8_t>> save_state();
  [[nodiscard]] Result<void> load_state(ByteView bytes);

 private:
  class NumberWatch;
  /// A sequence: prompt and answer, and the sampler's state.
  struct Sequence {
    std::vector<TokenId> tokens;  // the first n_computed are in the cache
    size_t n_computed = 0;
    size_t n_reused = 0;
    std::vector<TokenId> drafts;   // proposed tokens, computed after the first n_computed (selected sequence only)
    size_t n_accepted = 0;         // number of these that are included in n_computed
    size_t n_accepted_drafts = 0;  // of the whole answer
    std::vector<float> states;     // of the computed tokens, for a draft model that reads them: [n, its n_embd]
    std::vector<float> logits;     // of the last computed token if tokens were proposed, then of each proposed token
    GenerateOptions options;
    std::optional<Sampler> sampler;
    std::optional<AnswerText> answer;
    bool finished = true;
    void clear() {
      tokens.clear();
      n_computed = n_reused = 0;
      drafts.clear();
      states.clear();
      ablated.clear();
      finished = true;
    }
    AnswerGrammar grammar;
    std::vector<AdapterUse> adapters;
    std::vector<size_t> adapter_starts;  // for each adapter, the first prompt token to which it applies
    std::vector<LayerPart> ablated;
  };

  Session() = default;
  [[nodiscard]] Result<Buffer> evaluate(std::span<const TokenId> tokens, std::span<const uint8_t> output_mask,
                                        size_t n_outputs);
  /// Errors: kOutOfRange for unknown parts; kUnsupported for layers of encoder-decoders, or of several streams.
  [[nodiscard]] Result<void> check_parts(std::span<const LayerPart> parts) const;
  [[nodiscard]] static Result<void> no_heads(const LayerPart& part);
  [[nodiscard]] Result<void> check_trace(std::span<const TokenId> tokens, const TraceOptions& options) const;
  [[nodiscard]] Result<void> trace_tokens(std::span<const TokenId> tokens, size_t first);
  void read_layers(size_t first, size_t n, std::span<float> states);
  [[nodiscard]] bool read_numbers(size_t first, size_t n) const;
  [[nodiscard]] Result<void> check_logits() const;
  /// Errors of check; kUnsupported for tokens of media.
  [[nodiscard]] Result<void> check_text(std::span<const TokenId> tokens) const;
  /// The hidden states [tokens.size(), output_floats] of a separate sequence. Clears the cache of all sequences.
  [[nodiscard]] Result<Buffer> embed_rows(std::span<const TokenId> tokens);
  /// The rows that a device has computed of a text.
  [[nodiscard]] Result<Buffer> take_text(std::span<const TokenId> tokens, uint64_t n_bytes);
  [[nodiscard]] size_t n_vision_planned() const { return vision_ ? vision_->plan().size() : 0; }
  [[nodiscard]] size_t n_audio_planned() const { return audio_ ? audio_->plan().size() : 0; }
  [[nodiscard]] Result<void> open_projector(const HeaderBytes& header, uint32_t file_index);
  /// n_input: the width of the model's embeddings, or 0 for any.
  [[nodiscard]] Result<void> open_encoders(const HeaderBytes& header, uint32_t file_index, uint64_t n_input);
  [[nodiscard]] Result<void> open_speech(const ModelFile& file, uint32_t file_index);  // session_speech.cpp
  /// The common checks of begin_image and begin_sound. refused: why the projector cannot encode such media.
  [[nodiscard]] Result<void> check_media(const std::optional<Error>& refused) const;
  [[nodiscard]] bool multi_axis() const { return state_ && !state_->rope_tables[0].axis.empty(); }
  /// Computes tokens first .. first + n of a sequence, then draft tokens. out: one row for each token of the mask (all
  /// if `output_mask` is empty).
  [[nodiscard]] Result<void> run(std::span<const TokenId> tokens, size_t first, size_t n, uint32_t sequence,
                                 std::span<const uint8_t> output_mask, float* out);
  [[nodiscard]] Result<void> run_part(const TokenRun& run, std::span<const TokenId> tokens, size_t first, size_t n,
                                      std::span<const int32_t> sequences, std::span<const uint8_t> output_mask,
                                      float* out);
  /// A batch of the run's tokens `part`, from token `first` of the text on.
  [[nodiscard]] Result<RunBatch> batch_of(const TokenRun& run, std::span<const TokenId> part, size_t first) const;
  /// n, or more if a medium with bidirectional attention would be split.
  [[nodiscard]] size_t whole_media(std::span<const TokenId> tokens, size_t first, size_t n) const;
  /// n, or the begin of the medium whose tokens it would split.
  [[nodiscard]] size_t before_medium(std::span<const TokenId> tokens, size_t n) const;
  static constexpr size_t kSavedMedium = 32;  ///< in bytes
  [[nodiscard]] std::vector<uint8_t> save_media(std::span<const TokenId> tokens) const;
  /// Returns the number of bytes read.
  [[nodiscard]] Result<size_t> load_media(ByteView bytes);
  /// The position of token n.
  [[nodiscard]] int32_t position_of(std::span<const TokenId> tokens, size_t n) const;
  [[nodiscard]] Sequence& selected() { return sequences_[selected_]; }
  [[nodiscard]] const Sequence& selected() const { return sequences_[selected_]; }
  [[nodiscard]] StateOptions adjusted(StateOptions options) const;
  [[nodiscard]] Result<void> check(std::span<const TokenId> tokens) const;
  void clear_sequences();
  [[nodiscard]] Result<void> set_grammar(const GenerateOptions& options);
  [[nodiscard]] std::span<const float> logits() const;
  [[nodiscard]] Result<Candidate> sample();
  [[nodiscard]] std::vector<TokenId> draft_tokens();
  [[nodiscard]] std::vector<TokenId> look_up(size_t n_max) const;
  [[nodiscard]] bool reads_states() const { return model_->hparams().part<DraftSizes>().n_features != 0; }
  [[nodiscard]] Result<void> bind_states(Session& draft);
  bool follow(uint32_t sequence, std::span<const TokenId> tokens, std::span<const float> states);
  bool follow_states(uint32_t sequence, std::span<const TokenId> tokens, std::span<const float> states);
  void reuse_prefix(std::span<const TokenId> tokens, size_t n_max);
  [[nodiscard]] size_t n_behind(uint32_t sequence, size_t n_tokens) const;
  [[nodiscard]] std::vector<TokenId> propose(Session& target, size_t n);
  [[nodiscard]] std::vector<TokenId> propose_from_cache(Session& target, size_t n);
  [[nodiscard]] std::vector<TokenId> propose_block(Session& target, size_t n);
  void keep_states(size_t first);
  [[nodiscard]] bool accept_draft();
  bool drop_drafts();  // true if accepted tokens must be computed again: recurrent states went back before them
  [[nodiscard]] Result<void> compute(size_t n, std::span<const TokenId> drafts);
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] Result<void> plan_encoder(Encoder encoder, size_t n_rows);
  void leave_layers(Encoder encoder, bool leave);
  [[nodiscard]] Result<DevicePass> place(const Batch& batch, std::span<const uint32_t> ids,
                                         std::span<const uint32_t> outputs);
  [[nodiscard]] Result<DevicePass> prepare_prompt();
  [[nodiscard]] gpu::StateSlots next_slots() const;
  [[nodiscard]] Result<TokenRun> next_run(size_t n) const;
  [[nodiscard]] bool shift_context();
  // session_adapters.cpp
  [[nodiscard]] static std::vector<size_t> adapter_starts(const Sequence& sequence, std::span<const TokenId> tokens);
  /// The number of tokens from `first` on that are computed with the same adapters.
  [[nodiscard]] static size_t n_with_same_adapters(const Sequence& sequence, size_t first);
  /// Activates the adapters that apply to a token of the sequence.
  [[nodiscard]] Result<void> use_adapters_at(const Sequence& sequence, size_t token);
  /// Runs forward for the tokens from the selected sequence's token `first` on, in parts if the adapters change.
  [[nodiscard]] Result<void> forward_parts(size_t first, const Batch& batch, float* out);
  /// Serializes a sequence's adapters; empty if it has none.
  [[nodiscard]] static std::vector<uint8_t> adapter_record(const Sequence& sequence);
  /// Checks such a record and returns its length and the adapters' first tokens. Error: kInvalidArgument if the
  /// sequence has other adapters.
  [[nodiscard]] static Result<size_t> read_adapter_record(const Sequence& sequence, bool present, ByteView bytes,
                                                          std::vector<size_t>& starts);
  void release_held_text(Step& step);

  std::string architecture_;
  SamplerOptions defaults_;
  std::shared_ptr<Pool> pool_;  // a draft model uses its target model's pool
  Session* draft_ = nullptr;
  DraftLength draft_length_;
  // For a draft model that reads hidden states, and for its target.
  bool bound_ = false;                    // the draft model has its target
  std::vector<uint32_t> watched_;         // the layers whose inputs are recorded
  std::vector<float> seen_;               // [n_tokens, watched_.size(), n_embd] of the last tokens
  std::span<const float> target_states_;  // the draft's: states of tokens from first_target_state_ on
  size_t first_target_state_ = 0;
  std::unique_ptr<Model> model_;
  std::unique_ptr<VisionModel> vision_;
  std::unique_ptr<AudioModel> audio_;
  std::unique_ptr<SpeechModel> speech_;         // instead of the two
  std::optional<Error> no_images_, no_sounds_;  // the reason, if the projector cannot encode them
  MediaStore media_;
  std::variant<std::monostate, ImageJob, SoundJob> job_;
  std::optional<Header> header_;  // of the first file, until the tokenizer is built
  ByteView header_bytes_;
  std::optional<Tokenizer> tokenizer_;
  TokenTrie trie_;  // built for the first grammar
  std::unique_ptr<State> state_;
  std::unique_ptr<Speaker> speaker_;
  std::vector<Sequence> sequences_ = std::vector<Sequence>(1);
  uint32_t selected_ = 0;
  Precision precision_ = Precision::kExact;
  std::vector<AdapterUse> used_;  // the model's active adapters
  std::unique_ptr<gpu::Plan> plan_;
  std::array<DeviceEncoder, 2> encoders_;
  gpu::DeviceLimits limits_;
  Probe* probe_ = nullptr;  // of the passes that run now
  Trace trace_;
  std::optional<Probe> trace_probe_;
  std::vector<TokenId> traced_;  // tokens of the text
  size_t n_traced_ = 0;
  std::vector<InFlight> in_flight_;  // of the selected sequence
  DeviceText text_;
  std::vector<TokenId> prompt_;  // that an encoder reads; on a device, empty once it has
  TokenId chosen_ = kNoToken;    // by the device; next() returns it
  std::vector<uint32_t> slots_;  // of each sequence's recurrent states on the device; no pass writes one that it reads
};

}  // namespace ggufscope
