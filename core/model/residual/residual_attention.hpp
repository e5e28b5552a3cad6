// Attention over earlier values of the residual stream (Kimi K3).
#pragma once

#include "model/forward.hpp"
#include "model/mixer.hpp"

namespace ggufscope {

struct BankSizes {
  uint32_t block = 0;  ///< number of layers that share a banked residual stream; 0: none is banked
};

struct BankLayerWeights {
  Vector attention_score, ffn_score;  // [n_embd]
};

struct Bank {
  float* streams = nullptr;  // [n, n_tokens, n_embd]
  size_t n = 0;
};
/// weights.residual: the output's score, a Vector [n_embd].
void plan_bank_output(Planner& planner, const Hparams& h, Weights& weights);
void plan_bank(const LayerPlan& plan, LayerWeights& weights);
/// Room for all streams that the layers will bank.
Bank take_bank(Pass& pass);
/// In a pass that counts: the memory that layers and output take to read the bank.
void count_bank(Pass& pass, const Bank& bank);
/// out [n_tokens, n_embd]: the mixture of x and the banked streams that the model's output reads.
void mix_bank_output(Pass& pass, const Bank& bank, const float* x, float* out);
void run_banking_layer(Pass& pass, size_t il, Bank& bank, const Activations& a);

}  // namespace ggufscope
