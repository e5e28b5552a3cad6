// The encoder of Whisper (Radford et al. 2022), which most audio projectors share:
//
//   two convolutions over 3 frames (the second with stride 2), each followed by GELU; position embeddings; blocks of
//   norm, attention, add, norm, feed-forward, add; optionally the mean of each pair of frames; a norm
#pragma once

#include <span>
#include <vector>

#include "model/arena.hpp"
#include "model/layer_run.hpp"
#include "model/rows.hpp"
#include "model/weights.hpp"
#include "nn/attention.hpp"

namespace ggufscope {

/// Sizes of the encoder or of the decoder.
struct WhisperSizes {
  uint32_t n_ctx = 0;  ///< encoder: output frames; decoder: tokens
  uint32_t n_embd = 0;
  uint32_t n_head = 0;
  uint32_t n_layer = 0;
  uint32_t n_ff = 0;
};

[[nodiscard]] inline AttentionShape whisper_heads(const WhisperSizes& sizes) {
  const size_t d = sizes.n_embd / sizes.n_head;
  return {sizes.n_head, sizes.n_head, d, d};
}

struct WhisperAttention {
  Linear q, k, v, out;
};

struct WhisperBlock {
  Affine attn_norm, cross_norm, ffn_norm;
  WhisperAttention attn, cross;  // cross: only in the decoder
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
  bool exact_gelu = false;      ///< with erf; otherwise the tanh approximation
  bool half_inputs = false;     ///< the convolutions' inputs are rounded to half precision, as ggml does
  bool halves = false;          ///< averages each pair of frames before the last norm
  bool without_blocks = false;  ///< something else computes them: there is no memory for them
};

/// Scratch memory that the blocks of encoder and decoder share.
struct WhisperPass {
  /// n_thread: floats of scratch memory for each thread. Error: kOutOfMemory.
  [[nodiscard]] Result<void> allocate(uint64_t n_thread);
  void attend(const AttentionShape& shape, const CacheView& cache, float* q, size_t n,
              std::span<const std::span<const CellRun>> visible, float* out);
  /// x [n, n_embd] += feed_forward(norm(x)).
  void feed_forward(const WhisperBlock& block, size_t n, bool exact_gelu, float eps, float* x);

  Pool& pool;
  Arena& arena;
  Buffer thread_scratch{};
  size_t thread_floats = 0;
  std::vector<int32_t> positions{};
};

class WhisperEncoder {
 public:
  static constexpr size_t kConvolution = 0;  ///< the first step; one step for each block and the last norm follow

  /// The shape, the weights and the pass must outlive this object.
  WhisperEncoder(const WhisperEncoderShape& shape, const WhisperEncoderWeights& weights, WhisperPass& pass)
      : shape_(shape), weights_(weights), pass_(pass) {}

  /// Floats of each thread's scratch memory.
  [[nodiscard]] static uint64_t count_thread_scratch(const WhisperEncoderShape& shape);
  /// Floats that this object allocates: the spectrogram, its output, the keys and values of the current block.
  [[nodiscard]] static uint64_t count_buffers(const WhisperEncoderShape& shape);
  /// Error: kOutOfMemory.
  [[nodiscard]] Result<void> allocate();

  /// Starts encoding mel [2 n_ctx, n_mel] to n_ctx frames, which is at most the encoder's context. The work is divided
  /// into n_steps() steps of about one layer each, so that the caller can stop between two steps. Error: kOutOfRange.
  [[nodiscard]] Result<void> start(std::span<const float> mel, uint32_t n_ctx);
  /// Starts after the first step, with n frames of the shape's context that the caller writes: [n, n_embd].
  [[nodiscard]] float* begin_embedded(size_t n);
  [[nodiscard]] size_t n_steps() const { return weights_.blocks.size() + 2; }
  /// Runs a step. Steps must run in order; returns false for any other than the next.
  bool step(size_t step);
  /// Instead of the steps of blocks: the blocks that something else computes.
  [[nodiscard]] LayerRun begin_layers();
  void end_layers(uint32_t end) { n_next_step_ = end + 1; }
  /// [n_frames, n_embd]: the convolutions' output after the first step, the encoder's output after the last.
  [[nodiscard]] std::span<const float> encoded() const {
    return {encoded_.as<float>(), n_frames_ * shape_.sizes.n_embd};
  }
  [[nodiscard]] size_t n_frames() const { return n_frames_; }

 private:
  void see_all();
  void convolve();
  void add_positions();
  void run_block(const WhisperBlock& block);
  void norm_output();

  const WhisperEncoderShape& shape_;
  const WhisperEncoderWeights& weights_;
  WhisperPass& pass_;
  size_t n_frames_ = 0, n_next_step_ = 0;
  std::vector<float> mel_;  // [2 n_frames, n_mel]
  Buffer encoded_;          // [n_ctx, n_embd]
  Buffer keys_, values_;    // of the current block
  CellRun all_{};           // the frames, and for each of them what it sees
  std::vector<std::span<const CellRun>> sees_all_;
};

}  // namespace ggufscope
