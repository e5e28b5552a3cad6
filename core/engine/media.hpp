// Images and sounds among the tokens of a text: an encoded part of one (a tile, an overview, 30 s) is so many tokens of
// one negative id, which its pixels or samples give it, so that the same image is the same tokens wherever and whenever
// it comes.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "audio/audio_model.hpp"
#include "media/log_mel.hpp"
#include "text/tokenizer.hpp"
#include "vision/image_encoder.hpp"

namespace ggufscope {

/// kNoToken is -1; ids of media are below it.
[[nodiscard]] constexpr bool is_media(TokenId id) { return id < kNoToken; }

/// One encoded part.
struct Medium {
  uint64_t hash = 0;
  uint32_t n_tokens = 0;
  uint32_t columns = 0;           ///< of its grid with multi-axis positions; 0: no grid, all axes go on
  uint32_t n_positions = 0;       ///< that it takes in a text
  bool both_ways = false;         ///< its tokens see each other whatever their order
  std::vector<float> embeddings;  ///< [n_tokens, n_input]; empty of one that only a restored cache knows
};
using MediaStore = std::map<TokenId, Medium>;

/// Consecutive tokens of a text: words, or tokens of one medium from `offset` on.
struct TokenRun {
  size_t begin = 0, end = 0;
  const Medium* medium = nullptr;
  size_t offset = 0;
  int32_t position = 0;  ///< of its first token; of a medium's all: of the medium
};
/// A whole text from its first token. kNotFound for an id that the store does not have.
[[nodiscard]] Result<std::vector<TokenRun>> token_runs(std::span<const TokenId> tokens, const MediaStore& store);

/// [n, 3]: time, row, column of a medium's tokens offset .. offset + n, from its position on.
[[nodiscard]] std::vector<int32_t> media_axes(const Medium& medium, size_t offset, size_t n, int32_t position);

/// Pieces of a prompt that stand for one image: tokens of the vocabulary, and parts of the image by number.
struct ImagePiece {
  std::vector<TokenId> tokens;
  int32_t part = -1;  ///< -1: the tokens; else tiles row by row, then the overview
};
/// As libmtmd puts them (tools/mtmd/mtmd.cpp). kNotFound where the vocabulary has no token that the projector needs.
[[nodiscard]] Result<std::vector<ImagePiece>> image_pieces(const ImageMarkers& markers, const ImageParts& parts,
                                                           const Tokenizer& tokenizer);

/// One image on its way through a projector, a step at a time.
class ImageJob {
 public:
  ImageJob(const VisionModel& model, Pool& pool) : model_(model), encoder_(model, pool) {}
  /// What to encode, and its tokens; nothing is left to do where the store has it all. Errors of split_image,
  /// image_pieces and ImageEncoder::begin.
  [[nodiscard]] Result<void> begin(const ImageView& image, const Tokenizer& tokenizer, bool multi_axis,
                                   MediaStore& store);
  [[nodiscard]] size_t n_steps() const { return n_steps_; }
  /// False: all is done.
  [[nodiscard]] Result<bool> step(MediaStore& store);
  /// With those around the image.
  [[nodiscard]] const std::vector<TokenId>& tokens() const { return tokens_; }

 private:
  [[nodiscard]] Result<bool> next_part();

  const VisionModel& model_;
  ImageEncoder encoder_;
  ImageParts parts_;
  std::vector<std::pair<TokenId, Medium>> waiting_;  // with the number of the part in waiting_parts_
  std::vector<const Image*> waiting_parts_;
  size_t at_ = 0, n_steps_ = 0;
  bool multi_axis_ = false;
  std::vector<TokenId> tokens_;
};

/// One sound on its way through an audio projector, a step at a time: its spectrogram, 30 s of it in each step, then
/// each 30 s through the encoder.
class SoundJob {
 public:
  SoundJob(const AudioModel& model, Pool& pool);
  /// Samples at 16 kHz, which are kept. Nothing is left to do where the store has it all. kInvalidArgument for no
  /// samples, or one that is not finite; kOutOfRange where it needs more than max_tokens; errors of LogMel::begin.
  [[nodiscard]] Result<void> begin(std::vector<float> samples, const Tokenizer& tokenizer, size_t max_tokens,
                                   const MediaStore& store);
  /// What begin refuses, of samples at any rate: n of them at 16 kHz.
  [[nodiscard]] static Result<void> check(std::span<const float> samples, uint64_t n, const AudioModel& model,
                                          size_t max_tokens);
  /// Parts that a sound of so many samples has: 30 s each, with the silence behind it that libmtmd adds.
  [[nodiscard]] static uint64_t n_parts(uint64_t n_samples);
  [[nodiscard]] size_t n_steps() const { return n_steps_; }
  /// False: all is done.
  [[nodiscard]] Result<bool> step(MediaStore& store);
  /// With those around the sound.
  [[nodiscard]] const std::vector<TokenId>& tokens() const { return tokens_; }

 private:
  struct Waiting {
    TokenId id;
    Medium medium;
    size_t part;
  };
  [[nodiscard]] Result<void> step_mel();
  [[nodiscard]] Result<void> begin_part();

  const AudioModel& model_;
  Pool& pool_;
  AudioEncoder encoder_;
  LogMel mel_;
  std::vector<float> samples_;
  size_t n_added_ = 0;
  std::vector<Waiting> waiting_;
  size_t at_ = 0, n_steps_ = 0;
  bool encoding_ = false;
  std::vector<TokenId> tokens_;
};

}  // namespace ggufscope
