// The encoder of Whisper (Radford et al. 2022), which most audio projectors share:
//
//   two convolutions of 3 frames (the second one at every other frame), each with GELU; positions; blocks of norm,
//   attention, add, norm, feed-forward, add; (the mean of each two frames;) a norm
#pragma once

#include <span>
#include <vector>

#include "model/mixer.hpp"
#include "model/state.hpp"

namespace ggufscope {

/// One of Whisper's two stacks.
struct WhisperSizes {
  uint32_t n_ctx = 0;  ///< encoder: frames of its output; decoder: tokens
  uint32_t n_embd = 0;
  uint32_t n_head = 0;
  uint32_t n_layer = 0;
  uint32_t n_ff = 0;
};

[[nodiscard]] inline AttentionShape whisper_heads(const WhisperSizes& sizes) {
  const size_t d = sizes.n_embd / sizes.n_head;
  return {sizes.n_head, sizes.n_head, d, d};
}

struct WhisperBlock {
  Affine attn_norm, cross_norm, ffn_norm;
  AttentionWeights attn, cross;  // cross: of the decoder
  Linear up, down;
};

struct WhisperEncoderWeights {
  Linear conv1, conv2;
  Vector positions;  // [n_ctx, n_embd]
  std::vector<WhisperBlock> blocks;
  Affine norm;
};

struct WhisperEncoderShape {
  WhisperSizes sizes;
  uint32_t n_mel = 0;
  float eps = 1e-5f;
  bool exact_gelu = false;   ///< with erf; else with tanh
  bool half_inputs = false;  ///< what the convolutions read is rounded to half precision, as ggml does
  bool halves = false;       ///< the mean of each two frames, before the last norm
};

/// What the buffer held is freed first. kOutOfMemory.
[[nodiscard]] Result<void> allocate_into(Buffer& to, uint64_t bytes);

/// Where the blocks of both stacks compute.
struct WhisperPass {
  explicit WhisperPass(Pool& of) : pool(of) {}
  /// kOutOfMemory.
  [[nodiscard]] Result<void> allocate(uint64_t n_arena, uint64_t n_thread);
  void attend(const AttentionShape& shape, const CacheView& cache, float* q, size_t n,
              std::span<const std::span<const CellRun>> visible, float* out);
  /// x [n, n_embd] += the block's feed-forward network of its norm.
  void feed_forward(const WhisperBlock& block, size_t n, bool exact_gelu, float eps, float* x);
  [[nodiscard]] static uint64_t feed_forward_floats(const WhisperSizes& sizes);

  Pool& pool;
  Buffer scratch, thread_scratch;
  size_t thread_floats = 0;
  Arena arena;

 private:
  std::vector<int32_t> positions_;
};

class WhisperEncoder {
 public:
  static constexpr size_t kConvolution = 0;  ///< the first step; one a block, and the last norm follow

  /// All must outlive it.
  WhisperEncoder(const WhisperEncoderShape& shape, const WhisperEncoderWeights& weights, WhisperPass& pass)
      : shape_(shape), weights_(weights), pass_(pass) {}

  /// Floats of the pass's arena, and of a thread's scratch.
  [[nodiscard]] static uint64_t arena_floats(const WhisperEncoderShape& shape);
  [[nodiscard]] static uint64_t thread_floats(const WhisperEncoderShape& shape);
  /// Floats of its own: the spectrogram, its output, keys and values of the block at hand.
  [[nodiscard]] static uint64_t own_floats(const WhisperEncoderShape& shape);
  /// kOutOfMemory.
  [[nodiscard]] Result<void> allocate();

  /// Encodes mel [2 n_ctx, n_mel] frames to n_ctx frames (at most the encoder's), in n_steps() steps of about one layer
  /// each, so that the caller can stop between any two. kOutOfRange.
  [[nodiscard]] Result<void> begin(std::span<const float> mel, uint32_t n_ctx);
  [[nodiscard]] size_t n_steps() const { return weights_.blocks.size() + 2; }
  /// Steps come in order; false: this one is not the next.
  bool step(size_t step);
  /// After the first step the convolutions' output, after the last one the encoder's: [n_frames, n_embd].
  [[nodiscard]] std::span<const float> encoded() const {
    return {encoded_.as<float>(), n_frames_ * shape_.sizes.n_embd};
  }
  [[nodiscard]] size_t n_frames() const { return n_frames_; }

 private:
  void convolve();
  void run_block(const WhisperBlock& block);
  void finish();

  const WhisperEncoderShape& shape_;
  const WhisperEncoderWeights& weights_;
  WhisperPass& pass_;
  size_t n_frames_ = 0, n_next_step_ = 0;
  std::vector<float> mel_;  // [2 n_frames, n_mel]
  Buffer encoded_;          // [n_ctx, n_embd]
  Buffer keys_, values_;    // of the block at hand
};

}  // namespace ggufscope
