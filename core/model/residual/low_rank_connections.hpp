// Hyper-connections of low rank (Qwen 4): several residual streams that a small network weighs for each part of a
// layer.
#pragma once

#include "model/forward.hpp"
#include "model/mixer.hpp"

namespace ggufscope {

struct LowRankSizes {
  uint32_t n = 0;  ///< residual streams; 0: the usual single one
  uint32_t rank = 0;
};

struct LowRankWeights {
  Vector norm;      // [n, n_embd]
  Linear down, up;  // [n, n_embd] -> [rank] -> [n, n_embd]
  Linear inject;    // [n, n_embd] -> [n]; the output has none
};

struct LowRankLayerWeights {
  LowRankWeights attention, ffn;
};

struct LowRankStreams {
  float* x = nullptr;       // [n_tokens, n, n_embd]
  float* inject = nullptr;  // [n_tokens, n]: what the weights of the next output are computed from
};
void plan_low_rank_ends(Planner& planner, const Hparams& h, Weights& weights, const std::string& name = "output_hc");
void plan_low_rank(const LayerPlan& plan, LayerWeights& weights);
/// Converts x [n_tokens, n_embd] to streams, and the weighed streams back to x.
LowRankStreams split_low_rank_streams(Pass& pass, const float* x);
void merge_low_rank_streams(Pass& pass, LowRankStreams& s, float* x);
void run_low_rank_layer(Pass& pass, size_t il, LowRankStreams& s, const Activations& a);
/// In a pass that counts: the memory that a layer takes besides its parts.
void count_low_rank(Pass& pass);

}  // namespace ggufscope
