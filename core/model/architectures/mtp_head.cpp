// An MTP head (multi-token prediction, as in DeepSeek-V3): a further layer of a model, which predicts the token after
// the next one. As a draft model it is a model of one layer:
//
//   input of the layer = eh_proj [norm(embedding of the next token), norm(hidden state of the token)]
//
// Embeddings and output are the target's unless the head has its own. What leaves the layer is used as the hidden state
// of a token that the target has not computed yet. A file may have several heads; only the first is used. In Qwen 4 and
// DeepSeek-V4 the hidden state has several streams. Each is joined with the embedding, and the head's layer has them.
#include "model/architectures/mtp_head.hpp"

#include <cstring>

#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/forward.hpp"
#include "model/logits.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/mixers/indexer.hpp"
#include "model/residual/hyper_connections.hpp"
#include "model/residual/low_rank_connections.hpp"
#include "model/residual/ngram_embedding.hpp"

namespace ggufscope {
namespace {

// What the other layers have and a head does not.
void keep_own_streams(Hparams& h) {
  if (h.part<HyperSizes>().mean_output) h.parts.edit<HyperSizes>() = {};
  if (h.part<NgramSizes>().n != 0) h.parts.edit<NgramSizes>() = {};
}

}  // namespace

uint32_t n_state_streams(const Hparams& h) {
  const HyperSizes& hyper = h.part<HyperSizes>();
  return std::max({h.part<LowRankSizes>().n, hyper.mean_output ? 0 : hyper.n, 1u});
}

void keep_mtp_head(Hparams& h, Keys& keys) {
  if (h.n_next_layer == 0)
    return keys.refuse(ErrorCode::kNotFound, "the model has no layers that predict further tokens");
  h.layers = {h.layers[h.first_layer]};
  LayerParameters& layer = h.layers[0];
  layer.kv_layer = 0;
  DraftSizes& d = h.parts.edit<DraftSizes>();
  // Nemotron's layers either attend or are feed-forward networks. Its head is both, and ends with a layer norm.
  d.centres_output = layer.mixer == MixerKind::kNone;
  if (d.centres_output && !keys.f32("attention.layer_norm_epsilon", d.output_eps))
    keys.refuse(ErrorCode::kNotFound, "attention.layer_norm_epsilon is missing");
  // Heads attend, with rotated keys and, unless keys are pooled, to all positions, whatever the other layers do.
  if (find_mixer(layer.mixer).state != nullptr || d.centres_output) layer.mixer = MixerKind::kAttention;
  layer.chooses = layer.has_indexer = h.part<IndexerSizes>().pool != 0;
  layer.use_rope = layer.n_rot != 0 && h.rope_kind != RopeKind::kNone;
  keep_own_streams(h);
  // Only a list of all layers says that a head has a window; a period is one of the other layers. DeepSeek-V4's have.
  if (layer.mixer != MixerKind::kCompressedAttention && !keys.has_array("attention.sliding_window_pattern"))
    layer.windowed = false;
  h.n_layer = 1;
  h.n_next_layer = 0;
  d.kind = DraftKind::kMtpHead;
  d.n_target_embd = h.n_embd;
  d.n_features = d.n_state = n_state_streams(h) * h.n_embd;
  count_draft_vocabulary(h, keys);
}

void plan_mtp_head(Planner& planner, const Architecture& a, const Hparams& h, Weights& w) {
  const std::string layer = std::string(a.blocks) + std::to_string(h.first_layer) + ".", head = layer + "nextn.";
  planner.linear(w.token_embedding, head + "embed_tokens", h.n_embd, h.n_vocab, Need::kOptional);
  planner.affine(w.features_norm, head + "enorm", h.n_embd);
  // DeepSeek-V4's streams share a norm.
  const bool low_rank = h.part<LowRankSizes>().n != 0;
  planner.vector(w.state_norm, head + "hnorm.weight", low_rank ? h.part<DraftSizes>().n_state : h.n_embd);
  planner.linear(w.features, head + "eh_proj", 2 * uint64_t{h.n_embd}, h.n_embd);
  if (h.part<HyperSizes>().n != 0) plan_hyper_ends(planner, h, w);
  if (low_rank) {
    plan_low_rank_ends(planner, h, w, head + "hc_head");
  } else {
    const Need own = h.part<DraftSizes>().centres_output ? Need::kRequired : Need::kOptional;
    planner.affine(w.output_norm, head + "shared_head_norm", h.n_embd, own);
    for (const std::string& name : {layer + "layer_output_norm", std::string(a.norms.output)})
      if (!w.output_norm)
        planner.affine(w.output_norm, name, h.n_embd, name == a.norms.output ? Need::kRequired : Need::kOptional);
  }
  planner.linear(w.output, head + "shared_head_head", h.n_embd, h.n_vocab, Need::kOptional);
}

void join_mtp_inputs(Pass& pass, float* to) {
  const Weights& w = pass.model.weights();
  const Hparams& h = pass.h();
  const size_t n_embd = h.n_embd, n = n_state_streams(h), n_rows = pass.n_tokens * n;
  const ArenaScope scope(pass.state.arena);
  float* wide = pass.take(n_rows, 2, n_embd);
  if (pass.counting()) return;
  each_token(pass.pool, Operation::kNorm, n_rows, [&](size_t r) {
    const float* embedding = pass.first_value + r / n * n_embd;
    float* row = wide + 2 * r * n_embd;
    normalize(h.norm, embedding, w.features_norm.weight.data(), w.features_norm.bias.data(), n_embd, h.norm_eps, row);
    normalize(h.norm, pass.inputs.data() + r * n_embd, w.state_norm.data() + r * n_embd % w.state_norm.n, nullptr,
              n_embd, h.norm_eps, row + n_embd);
  });
  apply(pass.pool, w.features, wide, n_rows, to);
}

void norm_mtp_states(const Model& head, const Model& by, Pool& pool, std::span<const float> x, float* states) {
  const Hparams& h = head.hparams();
  if (head.architecture().mtp_head == MtpHead::kRaw) {
    std::memcpy(states, x.data(), x.size_bytes());
  } else {
    normalize_output(pool, by.hparams(), by.weights().output_norm, x.data(), x.size() / h.n_embd, states);
  }
}

}  // namespace ggufscope
