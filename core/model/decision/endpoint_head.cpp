// The head of Decision 2.0 (vllm-decision2). With o = LN of the state of an option's last token, and q = LN of that of
// the question's:
//
//   score = (key o) . (query q) / sqrt(n) + scorer_out GELU_erf(option_mlp o + bias + query_mlp q)
#include <cmath>

#include "model/decision/blocks.hpp"
#include "model/decision/decision.hpp"
#include "model/model.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/norm.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

struct EndpointHeadWeights {
  Affine option_norm, query_norm;
  Linear key, query, option_mlp, query_mlp, out;
};

}  // namespace

void plan_endpoint_head(Planner& p, const Hparams& h, Weights& weights) {
  EndpointHeadWeights& w = weights.decision.create<EndpointHeadWeights>();
  const uint64_t n_embd = h.n_embd, n = p.rows_of("decision.key"), n_mlp = p.rows_of("decision.option_mlp");
  plan_layer_norm(p, w.option_norm, "decision.option_norm", n_embd);
  plan_layer_norm(p, w.query_norm, "decision.query_norm", n_embd);
  plan_unbiased(p, w.key, "decision.key", n_embd, n);
  plan_unbiased(p, w.query, "decision.query", n_embd, n);
  plan_biased(p, w.option_mlp, "decision.option_mlp", n_embd, n_mlp);
  plan_unbiased(p, w.query_mlp, "decision.query_mlp", n_embd, n_mlp);
  plan_unbiased(p, w.out, "decision.scorer_out", n_mlp, 1);
}

void run_endpoint_head(const DecisionInput& in, float* scores) {
  const EndpointHeadWeights& w = in.model.weights().decision.get<EndpointHeadWeights>();
  const size_t n_embd = in.model.hparams().n_embd, n_options = in.spans.options.size();
  const size_t n = w.key.n_out, n_mlp = w.option_mlp.n_out;
  const float eps = in.model.hparams().part<DecisionSizes>().norm_eps;
  const ArenaScope scope(in.arena);
  float* options = in.arena.take(n_options, n_embd);
  float* keys = in.arena.take(n_options, n);
  float* inner = in.arena.take(n_options, n_mlp);
  float* question = in.arena.take(n_embd);
  float* query = in.arena.take(n);
  float* query_inner = in.arena.take(n_mlp);
  if (in.arena.counting()) return;
  const auto normed = [&](const DecisionSpan& span, const Affine& norm, float* to) {
    normalize(NormKind::kLayer, in.hidden + (span.end - 1) * n_embd, norm.weight.data(), norm.bias.data(), n_embd, eps,
              to);
  };
  normed(in.spans.questions[0], w.query_norm, question);
  apply(in.pool, w.query, question, 1, query);
  apply(in.pool, w.query_mlp, question, 1, query_inner);
  for (size_t i = 0; i < n_options; ++i) normed(in.spans.options[i], w.option_norm, options + i * n_embd);
  apply(in.pool, w.key, options, n_options, keys);
  apply(in.pool, w.option_mlp, options, n_options, inner);
  for (size_t i = 0; i < n_options; ++i) vec::add(inner + i * n_mlp, query_inner, n_mlp);
  gelu_erf(inner, n_options * n_mlp);
  apply(in.pool, w.out, inner, n_options, scores);
  for (size_t i = 0; i < n_options; ++i)
    scores[i] += vec::dot(keys + i * n, query, n) / std::sqrt(static_cast<float>(n));
}

}  // namespace ggufscope
