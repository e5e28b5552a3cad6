// An MTP head (multi-token prediction, as in DeepSeek-V3): a further layer of a model, which predicts the token after
// the next one. As a draft model it is a model of one layer:
//
//   input of the layer = eh_proj [norm(embedding of the next token), norm(hidden state of the token)]
//
// Embeddings and output are the target's unless the head has its own. What leaves the layer is used as the hidden state
// of a token that the target has not computed yet. A file may have several heads; only the first is used.
#include "model/architectures/mtp_head.hpp"

#include <cstring>

#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/forward.hpp"
#include "model/mixers/draft_attention.hpp"

namespace ggufscope {

void keep_mtp_head(Hparams& h, Keys& keys) {
  if (h.n_next_layer == 0)
    return keys.refuse(ErrorCode::kNotFound, "the model has no layers that predict further tokens");
  h.first_layer = h.n_layer - h.n_next_layer;
  h.layers = {h.layers[h.first_layer]};
  LayerParameters& layer = h.layers[0];
  layer.kv_layer = 0;
  // Heads attend, to all positions and with rotated keys, whatever the other layers do.
  if (find_mixer(layer.mixer).state != nullptr) layer.mixer = MixerKind::kAttention;
  layer.chooses = layer.has_indexer = false;
  layer.use_rope = true;
  // Only a list of all layers says that a head has a window; a period is one of the other layers.
  if (!keys.has_array("attention.sliding_window_pattern")) layer.windowed = false;
  h.n_layer = 1;
  h.n_next_layer = 0;
  DraftSizes& d = h.parts.edit<DraftSizes>();
  d.kind = DraftKind::kMtpHead;
  d.n_features = d.n_state = d.n_target_embd = h.n_embd;
  count_draft_vocabulary(h, keys);
}

void plan_mtp_head(Planner& planner, const Architecture& a, const Hparams& h, Weights& w) {
  const std::string layer = std::string(a.blocks) + std::to_string(h.first_layer) + ".", head = layer + "nextn.";
  planner.linear(w.token_embedding, head + "embed_tokens", h.n_embd, h.n_vocab, Need::kOptional);
  planner.affine(w.features_norm, head + "enorm", h.n_embd);
  planner.affine(w.embedding_norm, head + "hnorm", h.n_embd);
  planner.linear(w.features, head + "eh_proj", 2 * uint64_t{h.n_embd}, h.n_embd);
  for (const std::string& name : {head + "shared_head_norm", layer + "layer_output_norm"})
    if (!w.output_norm) planner.affine(w.output_norm, name, h.n_embd, Need::kOptional);
  if (!w.output_norm) planner.affine(w.output_norm, std::string(a.norms.output), h.n_embd);
  planner.linear(w.output, head + "shared_head_head", h.n_embd, h.n_vocab, Need::kOptional);
}

void join_mtp_inputs(Pass& pass, float* x) {
  const Weights& w = pass.model.weights();
  const Hparams& h = pass.h();
  const size_t n_embd = h.n_embd;
  const ArenaScope scope(pass.state.arena);
  float* wide = pass.take(pass.n_tokens, 2, n_embd);
  if (pass.counting()) return;
  each_token(pass.pool, Operation::kNorm, pass.n_tokens, [&](size_t t) {
    float* row = wide + 2 * t * n_embd;
    normalize(h.norm, pass.first_value + t * n_embd, w.features_norm.weight.data(), w.features_norm.bias.data(), n_embd,
              h.norm_eps, row);
    std::memcpy(row + n_embd, x + t * n_embd, n_embd * sizeof(float));
  });
  apply(pass.pool, w.features, wide, pass.n_tokens, x);
}

void norm_mtp_states(const Model& head, const Model& by, Pool& pool, std::span<const float> x, float* states) {
  const Hparams& h = head.hparams();
  if (head.architecture().mtp_head == MtpHead::kRaw) {
    std::memcpy(states, x.data(), x.size_bytes());
  } else {
    normalize_rows(pool, h.norm_eps, h.norm, by.weights().output_norm, x.data(), x.size() / h.n_embd, h.n_embd, states);
  }
}

}  // namespace ggufscope
