// EAGLE-3 (Li et al. 2025): a draft model of one layer, which reads the hidden states of its target model.
//
//   state of a token = fc(norm?(the inputs of three of the target's layers))
//   attention reads [norm(embedding of the next token), norm(state)], and the residual stream begins with the state
//
// What leaves the layer is used as the state of a token that the target has not computed yet.
#include "model/mixers/draft_attention.hpp"

#include <algorithm>
#include <cfloat>
#include <cstring>

#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/architectures/assistant.hpp"
#include "model/architectures/mtp_head.hpp"
#include "model/forward.hpp"
#include "model/mixers/block_draft.hpp"

namespace ggufscope {

void eagle3(Hparams& h, Keys& keys) {
  DraftSizes& d = h.parts.edit<DraftSizes>();
  d.kind = DraftKind::kEagle;
  d.n_state = h.n_embd;
  d.target_layers.resize(3);
  if (!keys.u32s("target_layers", d.target_layers))
    return keys.refuse(ErrorCode::kNotFound, "eagle3.target_layers is missing");
  keys.required("target_hidden_size", d.n_target_embd);
  d.n_features = static_cast<uint32_t>(d.target_layers.size()) * d.n_target_embd;
  keys.boolean("norm_before_residual", d.norm_before_residual);
  keys.boolean("norm_before_fc", d.norm_before_fc);
  if (h.n_layer != 1) keys.refuse(ErrorCode::kUnsupported, "an eagle3 model has one layer");
  count_draft_vocabulary(h, keys);
}

void count_draft_vocabulary(Hparams& h, Keys& keys) {
  const KeyValue* tokens = find_key(keys.gguf(), "tokenizer.ggml.tokens");
  if (h.n_vocab == 0 && tokens != nullptr && tokens->type == ValueType::kArray && tokens->count <= Keys::kMaxCount)
    h.n_vocab = static_cast<uint32_t>(tokens->count);
  if (h.n_vocab == 0) keys.refuse(ErrorCode::kNotFound, "a draft model without embeddings needs a vocabulary");
}

namespace {

void plan_draft_attention(const LayerPlan& plan, LayerWeights& weights) {
  plan_attention(plan, weights.mixer.create<AttentionWeights>());
  plan.planner.affine(weights.attn_norm_2, plan.name("attn_norm"), plan.h.n_embd);
}

// x: the normalized states. The embeddings of the tokens are in pass.first_value.
void run_draft_attention(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const Affine& norm = pass.weights(il).attn_norm_2;
  const size_t n_embd = h.n_embd;
  const ArenaScope scope(pass.state.arena);
  float* wide = pass.take(pass.n_tokens, 2, n_embd);
  each_token(pass.pool, Operation::kNorm, pass.counting() ? 0 : pass.n_tokens, [&](size_t t) {
    float* row = wide + 2 * t * n_embd;
    normalize(h.norm, pass.first_value + t * n_embd, norm.weight.data(), norm.bias.data(), n_embd, h.norm_eps, row);
    std::memcpy(row + n_embd, x + t * n_embd, n_embd * sizeof(float));
  });
  run_attention(pass, il, pass.mixer<AttentionWeights>(il), wide, y);
}

}  // namespace

void plan_draft_ends(Planner& planner, const Hparams& h, Weights& w) {
  const DraftSizes& d = h.part<DraftSizes>();
  planner.linear(w.features, "fc", d.n_features, h.n_embd);
  if (d.kind == DraftKind::kBlock) plan_block_ends(planner, h, w);
  if (d.norm_before_fc) planner.affine(w.features_norm, "enc.output_norm", d.n_features);
  const TensorEntry* tokens = planner.find("d2t");
  const uint64_t n = tokens != nullptr ? tokens->shape[0] : h.n_vocab;
  if (n > h.n_vocab) return planner.refuse(ErrorCode::kBadShape, "the draft model has more tokens than its target");
  if (tokens != nullptr) planner.integers(w.draft_tokens, "d2t", n, 1, h.n_vocab);
  planner.linear(w.output, "output", h.n_embd, n, tokens != nullptr ? Need::kRequired : Need::kOptional);
}

void draft_logits(Pool& pool, const Weights& w, const float* rows, size_t n_rows, size_t n_vocab, float* out) {
  const size_t n = w.draft_tokens.size();
  std::vector<float> few(n_rows * n);
  apply(pool, w.output, rows, n_rows, few.data());
  std::fill_n(out, n_rows * n_vocab, -FLT_MAX);
  for (size_t r = 0; r < n_rows; ++r)
    for (size_t i = 0; i < n; ++i) out[r * n_vocab + static_cast<size_t>(w.draft_tokens[i])] = few[r * n + i];
}

void fuse_states(const Model& draft, Pool& pool, std::span<float> seen, float* states) {
  const Weights& w = draft.weights();
  const Hparams& h = draft.hparams();
  const DraftSizes& d = h.part<DraftSizes>();
  if (d.kind == DraftKind::kMtpHead) return norm_mtp_states(draft, *draft.target(), pool, seen, states);
  if (d.kind == DraftKind::kAssistant) return read_states(*draft.target(), pool, seen, states);
  const size_t n = seen.size() / d.n_features;
  const bool before = d.kind == DraftKind::kEagle;
  if (w.features_norm && before)
    normalize_rows(pool, h.norm_eps, h.norm, w.features_norm, seen.data(), n, d.n_features, seen.data());
  apply(pool, w.features, seen.data(), n, states);
  if (!before) normalize_rows(pool, h.norm_eps, h.norm, w.features_norm, states, n, h.n_embd, states);
}

void next_states(const Model& draft, Pool& pool, std::span<const float> x, float* states) {
  switch (draft.hparams().part<DraftSizes>().kind) {
    case DraftKind::kMtpHead:
      return norm_mtp_states(draft, draft, pool, x, states);
    case DraftKind::kAssistant:
      return project_states(draft, pool, x, states);
    default:
      std::memcpy(states, x.data(), x.size_bytes());
  }
}

const Mixer kDraftAttentionMixer{.plan = plan_draft_attention, .run = run_draft_attention, .cache = key_value_heads};

}  // namespace ggufscope
