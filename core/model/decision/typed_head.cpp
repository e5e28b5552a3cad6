// The head of Laya (modern-bert) and LFM2-D1-Omni (lfm2): for each type of question
//
//   x = hidden + token_types[type];  for each block:  x += attention(LN x),  x += down(relu(up LN x))
//   score[token, type] = cls.output(GELU_erf(cls LN x))
//
// with biases everywhere, and attention both ways without positions.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "model/decision/blocks.hpp"
#include "model/decision/decision.hpp"
#include "model/mixer.hpp"
#include "nn/activation.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

struct TypedBlock {
  Affine attention_norm, ffn_norm;
  Linear qkv, out, up, down;
};

struct TypedHeadWeights {
  Vector types;  // [kQuestionTypes, n_embd]
  std::vector<TypedBlock> blocks;
  Affine norm;
  Linear cls, out;
};

// Activations of all tokens.
struct TypedBuffers {
  float* x;       // [n_tokens, n_embd]
  float* normed;  // the same
  float* added;   // the same
  float* inner;   // [n_tokens, width of the widest part]
  float* mixed;   // [n_tokens, n_head, d_v]
  float* scores;  // [n_tokens]
};

void run_typed_block(Pass& pass, const TypedBlock& w, const LayerParameters& layer, const TypedBuffers& b) {
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd;
  const float eps = pass.h().part<DecisionSizes>().norm_eps;
  const HeadShape shape{layer.n_head, layer.n_head_kv, layer.d_k, layer.d_v};
  const size_t n_q = shape.n_head * shape.d_k, n_k = shape.n_head_kv * shape.d_k;
  normalize_rows(pass.pool, eps, NormKind::kLayer, w.attention_norm, b.x, n, n_embd, b.normed);
  apply(pass.pool, w.qkv, b.normed, n, b.inner);
  const size_t stride = w.qkv.n_out;
  attend_rows(pass.pool, shape, {b.inner, stride}, n, {b.inner + n_q, stride}, {b.inner + n_q + n_k, stride}, n,
              pass.sequences, b.mixed);
  apply(pass.pool, w.out, b.mixed, n, b.added);
  add_rows(pass.pool, b.x, b.added, n, n_embd);
  normalize_rows(pass.pool, eps, NormKind::kLayer, w.ffn_norm, b.x, n, n_embd, b.normed);
  apply(pass.pool, w.up, b.normed, n, b.inner);
  activate(Activation::kRelu, b.inner, n * w.up.n_out);
  apply(pass.pool, w.down, b.inner, n, b.added);
  add_rows(pass.pool, b.x, b.added, n, n_embd);
}

}  // namespace

void read_typed_head(Hparams& h, Keys& keys) {
  uint32_t n_blocks = 0;
  keys.u32("decision.block_count", n_blocks);
  if (n_blocks == 0) {
    // Of these architectures, only files with a head have this tensor.
    if (find_tensor(keys.gguf(), "token_types.weight") != nullptr)
      keys.refuse(ErrorCode::kNotFound, "decision.block_count is missing or 0, but there is a decision head");
    return;
  }
  if (n_blocks >= h.n_layer) return keys.refuse(ErrorCode::kOutOfRange, "decision.block_count leaves no layers");
  DecisionSizes& sizes = h.parts.edit<DecisionSizes>();
  sizes.head = DecisionHead::kTyped;
  sizes.n_blocks = n_blocks;
  read_head_epsilon(sizes, keys);
  h.n_layer -= n_blocks;
  sizes.layers.assign(h.layers.end() - static_cast<std::ptrdiff_t>(n_blocks), h.layers.end());
  h.layers.resize(h.n_layer);
  if (h.causal) return keys.refuse(ErrorCode::kOutOfRange, "attention.causal is not false, as the decision head needs");
  h.n_embd_out = kQuestionTypes;
  for (const LayerParameters& layer : sizes.layers)
    if (layer.n_head == 0 || layer.n_head_kv == 0 || layer.n_head % layer.n_head_kv != 0 || layer.d_k == 0 ||
        layer.n_ff == 0)
      return keys.refuse(ErrorCode::kOutOfRange, "a block of the decision head has no heads or no width");
}

void plan_typed_head(Planner& p, const Hparams& h, Weights& weights) {
  TypedHeadWeights& w = weights.decision.create<TypedHeadWeights>();
  const DecisionSizes& sizes = h.part<DecisionSizes>();
  const uint64_t n_embd = h.n_embd;
  p.vector(w.types, "token_types.weight", n_embd * kQuestionTypes, Need::kRequired);
  w.blocks.resize(sizes.n_blocks);
  for (size_t i = 0; i < w.blocks.size() && !p.failed(); ++i) {
    TypedBlock& block = w.blocks[i];
    const LayerParameters& layer = sizes.layers[i];
    const std::string prefix = "blk." + std::to_string(h.n_layer + i) + ".";
    const uint64_t n_q = uint64_t{layer.n_head} * layer.d_k, n_out = uint64_t{layer.n_head} * layer.d_v;
    plan_layer_norm(p, block.attention_norm, prefix + "attn_norm", n_embd);
    plan_biased(p, block.qkv, prefix + "attn_qkv", n_embd, n_q + uint64_t{layer.n_head_kv} * (layer.d_k + layer.d_v));
    plan_biased(p, block.out, prefix + "attn_output", n_out, n_embd);
    plan_layer_norm(p, block.ffn_norm, prefix + "ffn_norm", n_embd);
    plan_biased(p, block.up, prefix + "ffn_up", n_embd, layer.n_ff);
    plan_biased(p, block.down, prefix + "ffn_down", layer.n_ff, n_embd);
  }
  plan_layer_norm(p, w.norm, "cls.norm", n_embd);
  const uint64_t n_cls = p.rows_of("cls");
  plan_biased(p, w.cls, "cls", n_embd, n_cls);
  plan_biased(p, w.out, "cls.output", n_cls, 1);
}

void run_typed_head(Pass& pass, const float* hidden, float* scores) {
  const TypedHeadWeights& w = pass.model.weights().decision.get<TypedHeadWeights>();
  const DecisionSizes& sizes = pass.h().part<DecisionSizes>();
  const size_t n = pass.n_tokens, n_embd = pass.h().n_embd;
  size_t widest = w.cls.n_out, n_mixed = 0;
  for (const TypedBlock& block : w.blocks) {
    widest = std::max({widest, block.qkv.n_out, block.up.n_out});
    n_mixed = std::max(n_mixed, block.out.n_in);
  }
  const ArenaScope scope(pass.state.arena);
  TypedBuffers b{};
  for (float** buffer : {&b.x, &b.normed, &b.added}) *buffer = pass.take(n, n_embd);
  b.inner = pass.take(n, widest);
  b.mixed = pass.take(n, n_mixed);
  b.scores = pass.take(n);
  if (pass.counting()) return;
  for (size_t type = 0; type < kQuestionTypes; ++type) {
    std::memcpy(b.x, hidden, n * n_embd * sizeof(float));
    for (size_t t = 0; t < n; ++t) vec::add(b.x + t * n_embd, w.types.data() + type * n_embd, n_embd);
    for (size_t i = 0; i < w.blocks.size(); ++i) run_typed_block(pass, w.blocks[i], sizes.layers[i], b);
    normalize_rows(pass.pool, sizes.norm_eps, NormKind::kLayer, w.norm, b.x, n, n_embd, b.normed);
    apply(pass.pool, w.cls, b.normed, n, b.inner);
    gelu_erf(b.inner, n * w.cls.n_out);
    apply(pass.pool, w.out, b.inner, n, b.scores);
    for (size_t t = 0; t < n; ++t) scores[t * kQuestionTypes + type] = b.scores[t];
  }
}

}  // namespace ggufscope
