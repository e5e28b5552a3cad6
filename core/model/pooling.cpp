// Pools embeddings and runs classification heads.
#include "model/pooling.hpp"

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "nn/activation.hpp"
#include "nn/norm.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void mean_of(const float* rows, size_t n_rows, size_t n, float* out) {
  std::memset(out, 0, n * sizeof(float));
  for (size_t t = 0; t < n_rows; ++t) vec::add(out, rows + t * n, n);
  vec::scale(out, 1.0f / static_cast<float>(n_rows), n);
}

// Applies the dense layers to n_rows rows.
void dense(const PoolingWeights& w, Pool& pool, const float* x, size_t n_rows, size_t n, float* out) {
  if (!w.dense_2) {
    std::memcpy(out, x, n_rows * n * sizeof(float));
    return;
  }
  if (!w.dense_3) return apply(pool, w.dense_2, x, n_rows, out);
  std::vector<float> middle(n_rows * w.dense_2.n_out);
  apply(pool, w.dense_2, x, n_rows, middle.data());
  apply(pool, w.dense_3, middle.data(), n_rows, out);
}

void classify(const Model& model, Pool& pool, const float* x, float* out) {
  const PoolingWeights& w = model.weights().pooling;
  const RankHead head = model.architecture().rank_head;
  std::vector<float> row(x, x + model.hparams().n_embd);
  if (w.cls) {
    row.resize(w.cls.n_out);
    apply(pool, w.cls, x, 1, row.data());
    const Activation activation = model.hparams().rank_activation;
    if (activation == Activation::kGelu)
      for (float& v : row) v *= 0.5f * (1.0f + std::erf(v / std::numbers::sqrt2_v<float>));
    else
      activate(activation, row.data(), row.size());
  }
  if (w.cls_norm)
    normalize(NormKind::kLayer, row.data(), w.cls_norm.weight.data(), w.cls_norm.bias.data(), row.size(),
              model.hparams().norm_eps, row.data());
  if (w.cls_output)
    apply(pool, w.cls_output, row.data(), 1, out);
  else
    std::memcpy(out, row.data(), row.size() * sizeof(float));
  if (head == RankHead::kLast) softmax(out, pooled_floats(model, Pooling::kRank));
}

}  // namespace

Pooling pooling_of(const Model& model) {
  const auto named = static_cast<Pooling>(model.hparams().pooling);
  return named == Pooling::kUnspecified ? Pooling::kMean : named;
}

size_t pooled_floats(const Model& model, Pooling pooling) {
  const PoolingWeights& w = model.weights().pooling;
  if (pooling == Pooling::kUnspecified) pooling = pooling_of(model);
  if (pooling == Pooling::kRank) return w.cls_output ? w.cls_output.n_out : w.cls.n_out;
  return w.dense_3 ? w.dense_3.n_out : w.dense_2 ? w.dense_2.n_out : model.n_embedding();
}

Result<void> pool_embeddings(const Model& model, Pool& pool, Pooling pooling, const float* embeddings, size_t n_tokens,
                             float* out) {
  const size_t n = model.n_embedding();
  const PoolingWeights& w = model.weights().pooling;
  const float* const first = embeddings;
  const float* const last = embeddings + (n_tokens - 1) * n;
  if (pooling == Pooling::kUnspecified) pooling = pooling_of(model);
  if (pooling == Pooling::kRank && pooled_floats(model, pooling) == 0)
    return fail(ErrorCode::kUnsupported, "this model has no classification head: it cannot rank");
  const bool of_mean = pooling == Pooling::kMean || (pooling == Pooling::kRank && model.hparams().rank_by_mean);
  std::vector<float> mean(of_mean ? n : 0);
  if (of_mean) mean_of(embeddings, n_tokens, n, mean.data());
  switch (pooling) {
    case Pooling::kNone:
      dense(w, pool, embeddings, n_tokens, n, out);
      break;
    case Pooling::kCls:
      dense(w, pool, first, 1, n, out);
      break;
    case Pooling::kLast:
      dense(w, pool, last, 1, n, out);
      break;
    case Pooling::kRank:
      classify(model, pool,
               of_mean                                             ? mean.data()
               : model.architecture().rank_head == RankHead::kLast ? last
                                                                   : first,
               out);
      break;
    default:
      dense(w, pool, mean.data(), 1, n, out);
  }
  return {};
}

void plan_pooling(Planner& planner, const Architecture& a, const Hparams& h, PoolingWeights& w) {
  if (a.dense_after_pooling)
    if (const uint64_t n = planner.rows_of("dense_2"); n != 0) {
      planner.linear(w.dense_2, "dense_2", h.n_embd, n);
      if (const uint64_t m = planner.rows_of("dense_3"); m != 0) planner.linear(w.dense_3, "dense_3", n, m);
    }
  if (a.rank_head == RankHead::kNone) return;
  uint64_t n = h.n_embd;
  if (const uint64_t rows = planner.rows_of("cls"); rows != 0) {
    planner.linear(w.cls, "cls", n, rows);
    n = rows;
  }
  planner.affine(w.cls_norm, "cls.norm", n, Need::kOptional);
  if (const uint64_t rows = planner.rows_of("cls.output"); rows != 0)
    planner.linear(w.cls_output, "cls.output", n, rows);
}

}  // namespace ggufscope
