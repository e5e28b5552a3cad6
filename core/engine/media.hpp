// Images and audio among the tokens of a text. An encoded part (an image tile, an overview, or 30 s of audio) is
// represented by a number of equal negative ids. The id is a hash of the pixels or samples, so that the same image
// always gives the same tokens and can be found in the cache.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "audio/audio_model.hpp"
#include "engine/image_canvas.hpp"
#include "text/tokenizer.hpp"
#include "vision/image_encoder.hpp"

namespace ggufscope {

/// Ids of media are below kNoToken (-1).
[[nodiscard]] constexpr bool is_media(TokenId id) { return id < kNoToken; }

/// One encoded part, or all parts of an image with a canvas.
struct Medium {
  uint64_t hash = 0;
  uint32_t n_tokens = 0;
  uint32_t columns = 0;      ///< of its grid with multi-axis positions; 0: no grid, positions advance on all axes
  uint32_t n_positions = 0;  ///< positions that it takes in a text
  bool both_ways = false;    ///< its tokens attend to each other in both directions
  std::vector<CanvasPlace> canvas;  ///< [n_tokens] with multi-axis positions, if the projector has a canvas
  std::vector<float> embeddings;    ///< [n_tokens, n_input]; empty for one that is only part of a restored cache
};
using MediaStore = std::map<TokenId, Medium>;

/// Consecutive tokens of a text: either vocabulary tokens, or tokens of one medium from `offset` on.
struct TokenRun {
  size_t begin = 0, end = 0;
  const Medium* medium = nullptr;
  size_t offset = 0;
  int32_t position = 0;  ///< of the first token; for a medium: of the medium's first token
};
/// Splits a whole text into runs. Error: kNotFound for an id that is not in the store.
[[nodiscard]] Result<std::vector<TokenRun>> token_runs(std::span<const TokenId> tokens, const MediaStore& store);

/// [n, 3]: time, row and column of a medium's tokens offset .. offset + n, if the medium starts at `position`.
/// canvas_time: on a canvas, the time is the canvas's own and not that of the part.
[[nodiscard]] std::vector<int32_t> media_axes(const Medium& medium, size_t offset, size_t n, int32_t position,
                                              bool canvas_time);

/// A piece of the token sequence for one image: vocabulary tokens, or a part of the image by number.
struct ImagePiece {
  std::vector<TokenId> tokens;
  int32_t part = -1;  ///< -1: the tokens; otherwise a tile (row by row), then the overview
};
/// The pieces in libmtmd's order (tools/mtmd/mtmd.cpp). number: images before it. Error: kNotFound if the vocabulary
/// lacks a token that the projector needs.
[[nodiscard]] Result<std::vector<ImagePiece>> image_pieces(const ImageMarkers& markers, const ImageLayout& layout,
                                                           uint32_t number, const Tokenizer& tokenizer);

/// Encodes one image, in steps.
class ImageJob {
 public:
  ImageJob(const VisionModel& model, Pool& pool) : model_(model), pool_(pool), encoder_(model, pool) {}
  /// Determines the image's tokens and splits it. Tokens and memory are checked before any pixel is computed. No steps
  /// remain if the store has all parts already. Errors: kOutOfRange if it needs more than max_tokens tokens;
  /// kOutOfMemory; those of image_layout, image_pieces and ImageEncoder::start.
  [[nodiscard]] Result<void> start(const ImageView& image, uint32_t number, const Tokenizer& tokenizer, bool multi_axis,
                                   size_t max_tokens, MediaStore& store);
  [[nodiscard]] size_t n_steps() const { return n_steps_; }
  /// Runs the next step. Returns false when all is done. Errors: kOutOfRange for values that are not finite, with the
  /// layer; those of the encoder's start.
  [[nodiscard]] Result<bool> step(MediaStore& store);
  /// Instead of steps: layers whose rows a device computes. Error of end_layers: kOutOfRange for values that are not
  /// finite.
  [[nodiscard]] LayerRun begin_layers() { return at_ == waiting_parts_.size() ? LayerRun{} : encoder_.begin_layers(); }
  [[nodiscard]] Result<void> end_layers(uint32_t end);
  /// The tokens, including those before and after the image.
  [[nodiscard]] const std::vector<TokenId>& tokens() const { return tokens_; }

 private:
  [[nodiscard]] Result<bool> next_part();
  /// Errors of start: the size of each part, and the tokens of all.
  [[nodiscard]] Result<void> check_parts(ImageSize image, const ImageLayout& layout, size_t max_tokens) const;
  [[nodiscard]] Result<void> check_memory(const ImageLayout& layout) const;
  /// Adds the tokens of a medium. Returns it if it is to be encoded.
  Medium* add_medium(Medium&& medium, const MediaStore& store, MediaStore& known);
  /// The same for all parts of an image and the separators between them.
  void add_canvas(const ImageLayout& layout, bool multi_axis, const MediaStore& store, MediaStore& known);
  /// Adds a part's embeddings to the image's, and those of the separators that follow.
  void join(Medium& medium, const std::vector<float>& part);
  /// Adds the tokens of a part, and the part itself if it is to be encoded.
  void add_part(const Image& part, bool multi_axis, const MediaStore& store, MediaStore& known);

  const VisionModel& model_;
  Pool& pool_;
  ImageEncoder encoder_;
  ImageParts parts_;
  std::vector<std::pair<TokenId, Medium>> waiting_;  // second: index in waiting_parts_
  std::vector<const Image*> waiting_parts_;          // with a canvas, all are of the only one that waits
  std::vector<CanvasItem> items_;                    // of a canvas, and the next one to encode
  size_t item_ = 0;
  size_t at_ = 0, part_step_ = 0, n_steps_ = 0;
  std::vector<TokenId> tokens_;
};

/// Encodes audio, in steps: first the frames that the encoder reads, then each part through the encoder.
class SoundJob {
 public:
  SoundJob(const AudioModel& model, Pool& pool);
  /// Takes samples at the model's rate, and keeps them. No steps remain if the store has all parts already. Errors:
  /// kInvalidArgument for too few samples or one that is not finite; kOutOfRange if it needs more than max_tokens
  /// tokens; kOutOfMemory; errors of SoundFrames::start.
  [[nodiscard]] Result<void> start(std::vector<float> samples, const Tokenizer& tokenizer, size_t max_tokens,
                                   const MediaStore& store);
  /// Checks n samples at the model's rate, with the errors of start. `samples` may have any rate.
  [[nodiscard]] static Result<void> check(std::span<const float> samples, uint64_t n, const AudioModel& model,
                                          size_t n_threads, size_t max_tokens);
  [[nodiscard]] size_t n_steps() const { return n_steps_; }
  /// Runs the next step. Returns false when all is done. Errors: kOutOfRange for values that are not finite, with the
  /// layer; those of the encoder's start.
  [[nodiscard]] Result<bool> step(MediaStore& store);
  /// As those of ImageJob.
  [[nodiscard]] LayerRun begin_layers() {
    return encoding_ && at_ < waiting_.size() ? encoder_->begin_layers() : LayerRun{};
  }
  [[nodiscard]] Result<void> end_layers(uint32_t end);
  /// The tokens, including those before and after the audio.
  [[nodiscard]] const std::vector<TokenId>& tokens() const { return tokens_; }

 private:
  struct Waiting {
    TokenId id;
    Medium medium;
    size_t part, n_frames;
  };
  [[nodiscard]] Result<void> begin_part();

  const AudioModel& model_;
  Pool& pool_;
  std::unique_ptr<AudioEncoder> encoder_;
  SoundFrames frames_;
  std::vector<Waiting> waiting_;
  size_t at_ = 0, part_step_ = 0, n_steps_ = 0;
  bool encoding_ = false;
  std::vector<TokenId> tokens_;
};

}  // namespace ggufscope
