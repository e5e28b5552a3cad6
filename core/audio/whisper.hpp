// Whisper (Radford et al. 2022): an encoder of log-mel spectrograms and a decoder of text that attends to its output.
//
//   encoder  two convolutions of 3 frames (the second one at every other frame), each with GELU; positions; blocks of
//            norm, attention, add, norm, feed-forward, add; a norm
//   decoder  token and position embeddings; blocks with attention to the encoder's output between the two parts; a
//   norm;
//            the token embeddings as the output's weights
//
// Keys have no bias, queries and values have one. Sizes come from the specification's keys whisper.encoder.* and
// whisper.decoder.*, tensors have the names of the checkpoints ("encoder.blocks.0.attn.query.weight"). The header of
// whisper.cpp's own container (gguf/legacy.hpp) says the same, so both kinds of files open here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/whisper_vocabulary.hpp"
#include "gguf/access.hpp"
#include "model/model.hpp"
#include "model/state.hpp"
#include "nn/attention.hpp"

namespace ggufscope {

/// One of the two stacks.
struct WhisperSizes {
  uint32_t n_ctx = 0;  ///< encoder: frames of its output; decoder: tokens
  uint32_t n_embd = 0;
  uint32_t n_head = 0;
  uint32_t n_layer = 0;
  uint32_t n_ff = 0;
};

struct WhisperHparams {
  WhisperSizes encoder, decoder;
  uint32_t n_mel = 0;
  uint32_t n_vocab = 0;
};

struct WhisperBlock {
  Affine attn_norm, cross_norm, ffn_norm;
  AttentionWeights attn, cross;  // cross: of the decoder
  Linear up, down;
};

struct WhisperWeights {
  Linear conv1, conv2;
  Vector encoder_positions, decoder_positions;  // [n_ctx, n_embd]
  Affine encoder_norm, decoder_norm;
  Linear token_embedding;  // [n_vocab, n_embd]
  std::vector<WhisperBlock> encoder, decoder;
};

/// True where the header is that of a Whisper model.
[[nodiscard]] bool is_whisper(const Gguf& gguf);

class WhisperModel {
 public:
  /// kNotFound, kBadShape, kUnsupported name the key or the tensor; kTruncated where file_size says that one is cut
  /// off.
  [[nodiscard]] static Result<std::unique_ptr<WhisperModel>> open(const Gguf& gguf, std::optional<uint64_t> file_size);

  [[nodiscard]] const WhisperHparams& hparams() const { return hparams_; }
  [[nodiscard]] const WhisperWeights& weights() const { return weights_; }
  [[nodiscard]] const WhisperVocabulary& vocabulary() const { return vocabulary_; }
  /// [n_mel, 201]
  [[nodiscard]] const std::vector<float>& mel_filters() const { return filters_; }
  /// In order of offsets.
  [[nodiscard]] const std::vector<TensorRequest>& plan() const { return plan_; }

  [[nodiscard]] Result<uint64_t> weight_bytes(Precision precision) const;
  void begin_load(Precision precision);
  /// As Model::set_rows.
  [[nodiscard]] Result<void> set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows);
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

/// A token to decode.
struct DecoderToken {
  int32_t id = 0;
  uint32_t position = 0;
  uint32_t cell = 0;                   ///< of the cache, where its keys and values go
  std::span<const CellRun> visible{};  ///< cells that it sees, its own among them
  bool wanted = false;                 ///< its logits are returned
};

/// What a model remembers of one sound, and scratch memory.
class WhisperState {
 public:
  static constexpr size_t kConvolution = 0;  ///< the first step of encoding; one a block, and the last norm follow

  struct Sizes {
    uint64_t cache = 0, scratch = 0;  ///< bytes
  };
  /// kOverflow.
  [[nodiscard]] static Result<Sizes> sizes(const WhisperModel& model, CacheType cache_type, size_t n_threads);
  /// Both must outlive it. kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<WhisperState>> create(const WhisperModel& model, Pool& pool,
                                                                    CacheType cache_type);

  /// Encodes mel [2 n_ctx, n_mel] frames to n_ctx frames (at most the encoder's), in n_steps() steps of about one layer
  /// each, so that the caller can stop between any two. kOutOfRange.
  [[nodiscard]] Result<void> begin_encode(std::span<const float> mel, uint32_t n_ctx);
  [[nodiscard]] size_t n_steps() const;
  /// Steps must come in order, from 0. The last one makes the keys and values that the decoder attends to.
  void encode_step(size_t step);
  /// After the first step the convolutions' output, after the last one the encoder's: [n_ctx, n_embd].
  [[nodiscard]] std::span<const float> encoded() const { return {encoded_.as<float>(), n_audio_ * n_audio_embd_}; }
  [[nodiscard]] uint32_t n_audio() const { return static_cast<uint32_t>(n_audio_); }

  /// Room for so many cells; forgets what was in them. kOutOfMemory.
  [[nodiscard]] Result<void> reserve_cells(uint32_t n);
  [[nodiscard]] uint32_t n_cells() const { return n_cells_; }
  /// out [tokens wanted, n_vocab]. kOutOfRange for ids, positions and cells, or before anything was encoded.
  [[nodiscard]] Result<void> decode(std::span<const DecoderToken> tokens, float* out);
  /// The same for a text from the beginning, in cells 0 ..: out [n, n_vocab], or of the last token only.
  [[nodiscard]] Result<void> decode_text(std::span<const int32_t> ids, bool all, float* out);

  /// Attention of the decoder's tokens over the encoder's frames, of heads (layer, head) in the next decode:
  /// out [heads, tokens, n_audio].
  struct Head {
    uint32_t layer, head;
  };
  void watch(std::vector<Head> heads, float* out) {
    watched_ = std::move(heads);
    watched_out_ = out;
  }

 private:
  struct Cache {
    Buffer keys, values;
  };
  WhisperState(const WhisperModel& model, Pool& pool) : model_(model), pool_(pool) {}
  void convolve();
  void encoder_block(const WhisperBlock& block);
  void feed_forward(const WhisperBlock& block, size_t n, size_t n_embd, size_t n_ff, float* x);
  void attend(const AttentionShape& shape, float scale, const CacheView& cache, float* q, size_t n,
              std::span<const std::span<const CellRun>> visible, float* out);
  void decoder_block(size_t il, std::span<const DecoderToken> tokens, std::span<const std::span<const CellRun>> visible,
                     float* x);
  void watch_cross(size_t il, const float* q, size_t n);
  [[nodiscard]] CacheView view(Cache& cache, CacheType type, size_t n_cells) const;
  [[nodiscard]] Result<void> check(std::span<const DecoderToken> tokens) const;

  const WhisperModel& model_;
  Pool& pool_;
  CacheType cache_type_ = CacheType::kF32;
  size_t n_audio_ = 0, n_audio_embd_ = 0, n_next_step_ = 0;
  bool has_sound_ = false;
  std::vector<float> mel_;            // [2 n_audio, n_mel]
  Buffer encoded_;                    // [n_ctx, n_embd]
  std::vector<Cache> cross_, cells_;  // a layer of the decoder each
  Cache own_;                         // of the encoder's layer at hand
  uint32_t n_cells_ = 0;
  Buffer scratch_, thread_scratch_;
  size_t thread_floats_ = 0;
  std::vector<int32_t> positions_;
  Arena arena_;
  std::vector<Head> watched_;
  float* watched_out_ = nullptr;
};

}  // namespace ggufscope
