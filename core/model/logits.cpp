// Computes logits from rows of the residual stream.
#include "model/logits.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "model/mixers/draft_attention.hpp"
#include "model/rows.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// The logits [n, n_vocab] of an output that has rows for the last tokens only.
void write_last_logits(Pool& pool, const Linear& output, const float* rows, size_t n, size_t n_vocab, float* out) {
  std::vector<float> few(n * output.n_out);
  apply(pool, output, rows, n, few.data());
  for (size_t i = 0; i < n; ++i)
    std::copy_n(&few[i * output.n_out], output.n_out, out + (i + 1) * n_vocab - output.n_out);
}

}  // namespace

void normalize_tokens(Pool& pool, const Hparams& h, const Affine& by, const float* from, size_t n_rows, float* to,
                      float eps) {
  if (h.norm_groups != 1) return normalize_groups(pool, h.norm_eps, by, from, n_rows, h.n_embd, h.norm_groups, to);
  normalize_rows(pool, eps != 0 ? eps : h.norm_eps, h.norm, by, from, n_rows, h.n_embd, to);
}

void normalize_output(Pool& pool, const Hparams& h, const Affine& by, const float* from, size_t n_rows, float* to) {
  const DraftSizes& d = h.part<DraftSizes>();
  if (!d.centres_output) return normalize_tokens(pool, h, by, from, n_rows, to);
  normalize_rows(pool, d.output_eps, NormKind::kLayer, by, from, n_rows, h.n_embd, to);
}

void write_logits(const Model& model, Pool& pool, const float* rows, size_t n, float* out) {
  const Hparams& h = model.hparams();
  const Weights& w = model.weights();
  const size_t n_logits = n * h.n_vocab;
  if (w.draft_tokens.empty() && model.output().n_out == h.n_vocab) {
    apply(pool, model.output(), rows, n, out);
  } else if (w.draft_tokens.empty()) {
    write_last_logits(pool, model.output(), rows, n, h.n_vocab, out);
  } else {
    draft_logits(pool, w, rows, n, h.n_vocab, out);
  }
  for (size_t i = 0; i < n && w.output_bias; ++i) vec::add(out + i * h.n_vocab, w.output_bias.data(), h.n_vocab);
  if (h.logit_scale != 1) vec::scale(out, h.logit_scale, n_logits);
  if (const auto cap = h.logit_soft_cap)
    for (size_t i = 0; i < n_logits; ++i) out[i] = *cap * std::tanh(out[i] / *cap);
  if (h.n_silent != 0)
    for (size_t i = 0; i < n; ++i) std::fill_n(out + i * h.n_vocab + h.first_silent, h.n_silent, -FLT_MAX);
}

void logits_of_states(const Model& model, Pool& pool, float* rows, size_t n, float* out) {
  const Affine& norm = model.weights().output_norm;
  if (norm) normalize_tokens(pool, model.hparams(), norm, rows, n, rows);
  write_logits(model, pool, rows, n, out);
}

}  // namespace ggufscope
