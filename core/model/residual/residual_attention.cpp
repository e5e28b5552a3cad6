// Attention over earlier values of the residual stream (Kimi K3, 2026). Every block_size-th layer banks its input and
// restarts the stream from its attention's output. Each part of a layer reads a mixture of the stream and the banked
// ones,
//
//   weights = softmax over streams s of (rms_norm(s) . score),   read = sum of weight(s) s.
#include "model/residual/residual_attention.hpp"

#include <cstring>

#include "model/ffn.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

namespace {

uint32_t n_banked(const Hparams& h) { return (h.n_layer + h.part<BankSizes>().block - 1) / h.part<BankSizes>().block; }

// out [n_tokens, n_embd]: the mixture of x and the banked streams.
void mix_banked(Pass& pass, const Bank& bank, const Vector& score, const float* x, float* out) {
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, n_embd = h.n_embd, n_streams = bank.n + 1;
  const ArenaScope scope(pass.state.arena);
  if (bank.n == 0) return void(std::memcpy(out, x, n * n_embd * sizeof(float)));
  float* weights = pass.take(n, n_streams);
  float* normed = pass.take(n, n_embd);
  if (pass.counting()) return;
  each_token(pass.pool, Operation::kNorm, n, [&](size_t t) {
    float* own = weights + t * n_streams;
    float* row = normed + t * n_embd;
    const auto stream = [&](size_t s) { return s < bank.n ? bank.streams + (s * n + t) * n_embd : x + t * n_embd; };
    for (size_t s = 0; s < n_streams; ++s) {
      normalize(NormKind::kRms, stream(s), nullptr, nullptr, n_embd, h.norm_eps, row);
      own[s] = vec::dot(row, score.data(), n_embd);
    }
    softmax(own, n_streams);
    std::memset(row, 0, n_embd * sizeof(float));
    for (size_t s = 0; s < n_streams; ++s) vec::add_scaled(row, own[s], stream(s), n_embd);
  });
  std::memcpy(out, normed, n * n_embd * sizeof(float));
}

}  // namespace

void plan_bank_output(Planner& planner, const Hparams& h, Weights& weights) {
  planner.vector(weights.residual.create<Vector>(), "output_res_score.weight", h.n_embd);
}

void plan_bank(const LayerPlan& plan, LayerWeights& weights) {
  BankLayerWeights& w = weights.residual.create<BankLayerWeights>();
  plan.planner.vector(w.attention_score, plan.name("attn_res_score.weight"), plan.h.n_embd);
  plan.planner.vector(w.ffn_score, plan.name("ffn_res_score.weight"), plan.h.n_embd);
}

Bank take_bank(Pass& pass) {
  const Hparams& h = pass.h();
  return {pass.take(pass.n_tokens, n_banked(h), h.n_embd)};
}

void count_bank(Pass& pass, const Bank& bank) {
  mix_banked(pass, {bank.streams, n_banked(pass.h())}, {}, nullptr, nullptr);
}

void mix_bank_output(Pass& pass, const Bank& bank, const float* x, float* out) {
  mix_banked(pass, bank, pass.model.weights().residual.get<Vector>(), x, out);
}

void run_banking_layer(Pass& pass, size_t il, Bank& bank, const Activations& a) {
  const Hparams& h = pass.h();
  const LayerWeights& w = pass.weights(il);
  const BankLayerWeights& scores = w.residual.get<BankLayerWeights>();
  const size_t n = pass.n_tokens, size = n * h.n_embd;
  const auto read = [&](const Vector& score, const Affine& norm) {
    mix_banked(pass, bank, score, a.x, a.input);
    normalize_rows(pass.pool, h.norm_eps, h.norm, norm, a.input, n, h.n_embd, a.normed);
  };
  read(scores.attention_score, w.attn_norm);
  const bool banks = il % h.part<BankSizes>().block == 0;
  if (banks) std::memcpy(bank.streams + bank.n++ * size, a.x, size * sizeof(float));
  find_mixer(pass.layer(il).mixer).run(pass, il, a.normed, a.mixed);
  if (banks) {
    std::memcpy(a.x, a.mixed, size * sizeof(float));
  } else {
    add_rows(pass.pool, a.x, a.mixed, n, h.n_embd);
  }
  read(scores.ffn_score, w.ffn_norm);
  run_ffn(pass, il, a.normed, a.input, a.forward);
  add_rows(pass.pool, a.x, a.forward, n, h.n_embd);
}

}  // namespace ggufscope
