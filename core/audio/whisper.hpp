// Whisper (Radford et al. 2022): an encoder of log-mel spectrograms and a text decoder that attends to its output.
//
//   encoder  whisper_encoder.hpp
//   decoder  token and position embeddings; blocks with cross-attention between self-attention and feed-forward;
//            a norm; the token embeddings as output weights (tied)
//
// Key projections have no bias; query and value projections have one. Sizes come from the specification's keys
// whisper.encoder.* and whisper.decoder.*. Tensors have the names of the checkpoints
// ("encoder.blocks.0.attn.query.weight"). gguf/legacy.hpp translates the header of whisper.cpp's own container into the
// same keys, so both kinds of files open here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/alignment_heads.hpp"
#include "audio/whisper_encoder.hpp"
#include "audio/whisper_vocabulary.hpp"
#include "gguf/access.hpp"
#include "model/model.hpp"
#include "model/state.hpp"
#include "nn/attention.hpp"

namespace ggufscope {

struct WhisperHparams {
  WhisperSizes encoder, decoder;
  uint32_t n_mel = 0;
  uint32_t n_vocab = 0;
  std::vector<AlignmentHead> alignment_heads;
  [[nodiscard]] WhisperEncoderShape encoder_shape() const { return {.sizes = encoder, .n_mel = n_mel}; }
};

struct WhisperWeights {
  WhisperEncoderWeights encoder;
  Vector decoder_positions;  // [n_ctx, n_embd]
  Affine decoder_norm;
  Linear token_embedding;  // [n_vocab, n_embd]
  std::vector<WhisperBlock> decoder;
};

/// True if the file holds a Whisper model.
[[nodiscard]] bool is_whisper(const Gguf& gguf);

class WhisperModel {
 public:
  /// Checks the header and plans the tensors. Errors: kNotFound, kBadShape, kUnsupported, with the key or the tensor in
  /// the message; kTruncated if file_size shows that a tensor is cut off.
  [[nodiscard]] static Result<std::unique_ptr<WhisperModel>> open(const Gguf& gguf, std::optional<uint64_t> file_size);

  [[nodiscard]] const WhisperHparams& hparams() const { return hparams_; }
  [[nodiscard]] const WhisperWeights& weights() const { return weights_; }
  [[nodiscard]] const WhisperVocabulary& vocabulary() const { return vocabulary_; }
  /// [n_mel, 201].
  [[nodiscard]] const std::vector<float>& mel_filters() const { return filters_; }
  /// Sorted by offset.
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }

  /// Error: kOverflow.
  [[nodiscard]] Result<uint64_t> weight_bytes(Precision precision) const;
  void begin_load(Precision precision);
  /// See Model::set_rows.
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
  /// The tensor of a request is not read here.
  void leave_out(size_t i) { plan_[i].n_rows_arrived = plan_[i].n_rows_kept; }
  [[nodiscard]] Result<void> finish_load() const { return all_arrived(plan_); }
  [[nodiscard]] uint64_t loaded_bytes() const { return ggufscope::loaded_bytes(plan_); }

 private:
  WhisperModel() = default;

  WhisperHparams hparams_;
  WhisperWeights weights_;
  WhisperVocabulary vocabulary_;
  std::vector<float> filters_;
  std::vector<TensorRequest> plan_;
  Precision precision_ = Precision::kExact;
};

/// One input token of the decoder.
struct DecoderToken {
  int32_t id = 0;
  uint32_t position = 0;
  uint32_t cell = 0;                   ///< cache cell for its keys and values
  std::span<const CellRun> visible{};  ///< cells that it attends to, including its own
  bool has_output = false;             ///< output mask: return its logits
};

/// Tokens to decode, and what is computed of them.
struct DecodeRequest {
  std::vector<DecoderToken> tokens;
  std::vector<std::vector<CellRun>> runs;  ///< of the tokens: what they see
  bool watches = false;                    ///< weights of the alignment heads are asked for
  std::vector<float> logits{};             ///< [tokens with output, n_vocab]
  std::vector<float> weights{};            ///< of cross-attention: [heads, tokens, n_audio]
  size_t n_done = 0, n_outputs_done = 0;   ///< tokens that a device has computed, in several passes
};

/// The KV cache of one window of audio, and scratch memory.
class WhisperState {
 public:
  static constexpr size_t kConvolution = WhisperEncoder::kConvolution;

  struct Sizes {
    uint64_t cache = 0, scratch = 0;  ///< in bytes
  };
  /// Errors: kOverflow; kUnsupported for quantized caches.
  [[nodiscard]] static Result<Sizes> sizes(const WhisperModel& model, CacheType cache_type, size_t n_threads,
                                           bool on_device = false);
  /// The model and the pool must outlive this object. on_device: something else computes the layers of both, the norm
  /// of the encoder's output and the logits; there is no memory for them. Error: kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<WhisperState>> create(const WhisperModel& model, Pool& pool,
                                                                    CacheType cache_type, bool on_device = false);
  [[nodiscard]] bool on_device() const { return shape_.without_blocks; }

  /// Starts encoding mel [2 n_ctx, n_mel] to n_ctx frames, which is at most the encoder's context. The work is divided
  /// into n_steps() steps of about one layer each, so that the caller can stop between two steps. Error: kOutOfRange.
  [[nodiscard]] Result<void> begin_encode(std::span<const float> mel, uint32_t n_ctx);
  [[nodiscard]] size_t n_steps() const { return encoder_.n_steps(); }
  /// Steps must run in order, from 0. The last one computes the keys and values for cross-attention.
  void encode_step(size_t step);
  /// On a device, after the first step: its layers. Their output is the encoder's.
  [[nodiscard]] LayerRun begin_layers() { return on_device() ? encoder_.begin_layers() : LayerRun{}; }
  void end_layers(uint32_t end) { encoder_.end_layers(end); }
  /// See WhisperEncoder::encoded.
  [[nodiscard]] std::span<const float> encoded() const { return encoder_.encoded(); }
  [[nodiscard]] uint32_t n_audio() const { return static_cast<uint32_t>(encoder_.n_frames()); }

  /// Makes room for at least n cache cells. If the cache grows, its content is lost. Error: kOutOfMemory.
  [[nodiscard]] Result<void> reserve_cells(uint32_t n);
  [[nodiscard]] uint32_t n_cells() const { return n_cells_; }
  /// A text from its beginning, in cells from 0. rows: the positions whose logits are asked for, ascending.
  [[nodiscard]] DecodeRequest request_text(std::span<const int32_t> ids, std::span<const uint32_t> rows) const;
  /// What is wrong with a request; its results get their room. Errors of decode.
  [[nodiscard]] Result<void> prepare(DecodeRequest& request) const;
  /// Computes a request. Errors of decode.
  [[nodiscard]] Result<void> decode(DecodeRequest& request);

 private:
  struct Cache {
    Buffer keys, values;
  };
  WhisperState(const WhisperModel& model, Pool& pool)
      : model_(model),
        pool_(pool),
        pass_{pool, arena_},
        shape_(model.hparams().encoder_shape()),
        encoder_(shape_, model.weights().encoder, pass_) {}
  [[nodiscard]] static uint64_t count_scratch(const WhisperModel& model, bool on_device);
  void store_cross();
  void decoder_block(size_t il, std::span<const DecoderToken> tokens, std::span<const std::span<const CellRun>> visible,
                     float* x);
  void watch_cross(size_t il, const float* q, size_t n);
  [[nodiscard]] CacheView view(Cache& cache, size_t n_cells) const;
  [[nodiscard]] Result<void> check(std::span<const DecoderToken> tokens) const;
  void decode(std::span<const DecoderToken> tokens, float* out);

  const WhisperModel& model_;
  Pool& pool_;
  Arena arena_;
  WhisperPass pass_;
  WhisperEncoderShape shape_;
  WhisperEncoder encoder_;
  CacheType cache_type_ = CacheType::kF32;
  bool has_sound_ = false;
  std::vector<Cache> cross_, cells_;  // one for each decoder layer
  uint32_t n_cells_ = 0;
  float* watched_out_ = nullptr;  // the weights of the alignment heads, if they are asked for
};

}  // namespace ggufscope
