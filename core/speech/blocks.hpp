// The blocks of the small transformers in pipelines of speech: a text model's, but with a window, and with a scale for
// each channel of what a block adds.
//
//   x += scale_1 * out(attention(norm_1(x)));  x += scale_2 * ffn(norm_2(x))
#pragma once

#include <span>

#include "nn/activation.hpp"
#include "nn/attention.hpp"
#include "nn/rope.hpp"
#include "speech/stream.hpp"

namespace ggufscope {

struct SpeechBlock {
  Affine norm_1, norm_2, q_norm, k_norm;
  Linear q, k, v, out, gate, up, down;
  Vector scale_1, scale_2;
};

struct SpeechBlocks {
  std::vector<SpeechBlock> blocks;
  AttentionShape heads;
  size_t n_embd = 0, n_ff = 0;
  NormKind norm = NormKind::kLayer;
  float eps = 1e-5f;
  RopeKind rope_kind = RopeKind::kAdjacent;
  float rope_base = 10000;
  size_t window = 0;  ///< positions that each one attends to, itself included
  Activation activation = Activation::kGelu;
  RopeTable rope;

  /// Plans n_layer blocks named prefix + number, with the sizes set above and n_head heads; n_head_kv 0: as many.
  /// The head's size is that of the first block's matrix of queries.
  void plan(SpeechPlan& plan, const std::string& prefix, size_t n_layer, size_t n_head, size_t n_head_kv = 0);
};

/// Runs the blocks over rows x [n, n_embd] whose first position is `position`. n_max: the most rows of any run.
void run_blocks(Stream& stream, const SpeechBlocks& blocks, float* x, size_t n, uint64_t position, size_t n_max);

}  // namespace ggufscope
