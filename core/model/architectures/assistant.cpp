// Gemma 4's assistants: draft models whose layers have queries only. They attend to the keys and values of the last
// layer of their target that is windowed or full as they are.
//
//   input of the layers = pre_projection [the target's embedding of the token, the state before it]
//   state of the token  = post_projection (norm (what left the layers))
//
// All tokens of a proposal have the position of the first one.
#include "model/architectures/assistant.hpp"

#include <algorithm>
#include <cstring>

#include "model/architectures/adjustments.hpp"
#include "model/logits.hpp"
#include "model/mixers/draft_attention.hpp"
#include "nn/vec.hpp"

namespace ggufscope {

void gemma4_assistant(Hparams& h, Keys& keys) {
  h.attention_scale = 1.0f;
  h.rope_factors = RopeFactors::kFullLayers;
  DraftSizes& d = h.parts.edit<DraftSizes>();
  d.kind = DraftKind::kAssistant;
  keys.required("embedding_length_out", d.n_target_embd);
  if (d.n_target_embd == h.n_embd)
    return keys.refuse(ErrorCode::kOutOfRange, "gemma4-assistant.embedding_length_out is the assistant's own width");
  d.n_features = d.n_state = d.n_target_embd;
  for (LayerParameters& layer : h.layers) layer.kv_layer = UINT32_MAX;  // share_cache sets it
}

void plan_assistant_ends(Planner& planner, const Hparams& h, Weights& w) {
  const DraftSizes& d = h.part<DraftSizes>();
  planner.linear(w.output, "token_embd", h.n_embd, h.n_vocab);
  planner.affine(w.output_norm, "output_norm", h.n_embd);
  planner.linear(w.features, "nextn.pre_projection", 2 * uint64_t{d.n_state}, h.n_embd);
  planner.linear(w.embedding_output, "nextn.post_projection", h.n_embd, d.n_state);
  planner.ignore("masked_embd_");  // a shorter way to the best logits; llama.cpp 0.7.0 computes all of them
}

void join_assistant_inputs(Pass& pass, std::span<const int32_t> tokens, float* x) {
  const size_t width = pass.h().part<DraftSizes>().n_state;
  const ArenaScope scope(pass.state.arena);
  float* embeddings = pass.take(pass.n_tokens, width);
  float* wide = pass.take(pass.n_tokens, 2, width);
  if (pass.counting()) return;
  const Model& target = *pass.model.target();
  look_up(pass.pool, target.token_embedding(), tokens, embeddings);
  vec::scale(embeddings, target.hparams().embedding_scale, pass.n_tokens * width);
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    std::memcpy(wide + 2 * t * width, embeddings + t * width, width * sizeof(float));
    std::memcpy(wide + (2 * t + 1) * width, pass.inputs.data() + t * width, width * sizeof(float));
  }
  apply(pass.pool, pass.model.weights().features, wide, pass.n_tokens, x);
}

void read_states(const Model& target, Pool& pool, std::span<const float> seen, float* states) {
  const Hparams& h = target.hparams();
  normalize_tokens(pool, h, target.weights().output_norm, seen.data(), seen.size() / h.n_embd, states);
}

void project_states(const Model& assistant, Pool& pool, std::span<const float> x, float* states) {
  const Hparams& h = assistant.hparams();
  const size_t n = x.size() / h.n_embd;
  std::vector<float> normed(x.size());
  normalize_tokens(pool, h, assistant.weights().output_norm, x.data(), n, normed.data());
  apply(pool, assistant.weights().embedding_output, normed.data(), n, states);
}

bool share_cache(const Model& target, Hparams& assistant) {
  const std::vector<LayerParameters>& theirs = target.hparams().layers;
  for (LayerParameters& layer : assistant.layers) {
    const auto same = std::find_if(theirs.rbegin(), theirs.rend(),
                                   [&](const LayerParameters& one) { return one.windowed == layer.windowed; });
    if (same == theirs.rend() || same->d_k != layer.d_k || same->d_v != layer.d_v || same->n_head_kv != layer.n_head_kv)
      return false;
    layer.kv_layer = same->kv_layer;
  }
  return true;
}

}  // namespace ggufscope
