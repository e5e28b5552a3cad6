// DFlash (Chen et al. 2026): a draft model whose layers' keys and values are those of its target's states. A block
// [last token, mask, mask...] attends to them and to itself, and predicts a token for each mask in one pass.
//
//   state of a token = norm (fc (the inputs of some of the target's layers))
//   keys and values of a token = those of its state, in each layer
//
// DSpark adds a bias to the logits, which depends on the token before. DFlash 2 has convolutions along the block around
// attention and feed-forward, and a selector: of the best candidates of a position, it takes that with the highest
//
//   logit + successors[candidate] . (predecessors[token before] * selector (norm (hidden)))
#include "model/mixers/block_draft.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/ffn.hpp"
#include "model/logits.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxBlockSize = 256, kMaxTargetLayers = 64;

void read_selector(const Hparams& h, Keys& keys, DraftSizes& d) {
  keys.u32("conv_kernel_size", d.n_taps, kMaxBlockSize);
  keys.u32("conv_group_size", d.n_group);
  keys.u32("selector_rank", d.selector_rank);
  keys.u32("selector_top_k", d.n_candidates, kMaxBlockSize);
  const bool has = find_tensor(keys.gguf(), "selector_hidden.weight") != nullptr;
  if (!has) d.n_taps = d.n_candidates = 0;
  if (has && (d.n_taps == 0 || d.n_group == 0 || d.selector_rank == 0 || d.n_candidates == 0 ||
              h.n_embd % d.n_group != 0 || h.n_embd < d.n_candidates * (d.n_candidates + 1)))
    keys.refuse(ErrorCode::kOutOfRange, "the keys of dflash's convolutions or selector do not fit the model");
}

}  // namespace

void dflash(Hparams& h, Keys& keys) {
  DraftSizes& d = h.parts.edit<DraftSizes>();
  d.kind = DraftKind::kBlock;
  const KeyValue* layers = find_key(keys.gguf(), "dflash.target_layers");
  if (layers == nullptr || layers->type != ValueType::kArray || layers->count == 0 || layers->count > kMaxTargetLayers)
    return keys.refuse(ErrorCode::kNotFound, "dflash.target_layers is missing or no list of layers");
  d.target_layers.resize(static_cast<size_t>(layers->count));
  keys.u32s("target_layers", d.target_layers);
  d.n_state = d.n_target_embd = h.n_embd;
  d.n_features = static_cast<uint32_t>(d.target_layers.size()) * h.n_embd;
  d.block = 16;
  keys.u32("block_size", d.block, kMaxBlockSize);
  if (!keys.has(".tokenizer.ggml.mask_token_id"))
    return keys.refuse(ErrorCode::kNotFound, "tokenizer.ggml.mask_token_id is missing");
  keys.u32(".tokenizer.ggml.mask_token_id", d.mask);
  if (keys.has("attention.causal")) d.causal = h.causal;
  h.causal = true;  // blocks are computed as both_ways unless d.causal
  const bool markov = find_tensor(keys.gguf(), "markov_w1.weight") != nullptr;
  d.from_anchor = markov;
  if (markov) keys.boolean("sample_from_anchor", d.from_anchor);
  if (d.block < (d.from_anchor ? 1u : 2u))
    return keys.refuse(ErrorCode::kOutOfRange, "dflash.block_size leaves no token to propose");
  read_selector(h, keys, d);
  if (d.n_candidates != 0) {
    read_logit_cap(h, keys, 0);
  } else {
    h.logit_scale = 1;  // llama.cpp does not apply it before it chooses
  }
  std::string_view activation = "silu";
  keys.text("hidden_activation", activation);
  if (activation == "gelu_pytorch_tanh")
    h.activation = Activation::kGelu;
  else if (activation != "silu")
    keys.refuse(ErrorCode::kUnsupported, sentence({"dflash.hidden_activation ", Quoted{activation}, " is unknown"}));
  h.rope_sections = {};  // drafts of models with several axes rotate by time only
  if (find_tensor(keys.gguf(), "lilicorr.token_proj.weight") != nullptr)
    keys.refuse(ErrorCode::kUnsupported, "dflash with a LiLiCorr head, which llama.cpp 0.7.0 has, cannot run yet");
  if (keys.has("hyper_connection.count"))
    keys.refuse(ErrorCode::kUnsupported,
                "dflash with the layers of DeepSeek-V4, which llama.cpp 0.7.0 has, cannot run yet");
  count_draft_vocabulary(h, keys);
  if (!keys.failed() && d.mask >= h.n_vocab)
    keys.refuse(ErrorCode::kOutOfRange, "tokenizer.ggml.mask_token_id is beyond the vocabulary");
}

void plan_block_ends(Planner& planner, const Hparams& h, Weights& w) {
  const DraftSizes& d = h.part<DraftSizes>();
  planner.affine(w.features_norm, "enc.output_norm", h.n_embd);
  BlockDraftWeights& b = w.draft.create<BlockDraftWeights>();
  if (const TensorEntry* markov = planner.find("markov_w1.weight"); markov != nullptr) {
    const uint64_t rank = markov->shape[0];
    const TensorEntry* known = planner.find("d2t");
    planner.linear(b.markov_in, "markov_w1", rank, h.n_vocab);
    planner.linear(b.markov_out, "markov_w2", rank, known != nullptr ? known->shape[0] : h.n_vocab);
    planner.ignore("conf_proj.");  // how likely a token is accepted: all are proposed
  }
  if (d.n_candidates == 0) return;
  planner.linear(b.predecessors, "selector_predecessor", d.selector_rank, h.n_vocab);
  planner.linear(b.successors, "selector_successor", d.selector_rank, h.n_vocab);
  planner.linear(b.selector, "selector_hidden", h.n_embd, d.selector_rank);
}

bool is_draft_table(const Weights& w, const Linear* linear) {
  if (!w.draft) return false;
  const BlockDraftWeights& b = w.draft.get<BlockDraftWeights>();
  return linear == &b.markov_in || linear == &b.predecessors || linear == &b.successors;
}

namespace {

void plan_block_attention(const LayerPlan& plan, LayerWeights& weights) {
  BlockAttentionWeights& w = weights.mixer.create<BlockAttentionWeights>();
  plan_attention(plan, w.attention);
  const DraftSizes& d = plan.h.part<DraftSizes>();
  const uint64_t n_embd = plan.h.n_embd;
  plan.planner.affine(weights.attn_post_norm, plan.name("post_attention_norm"), n_embd, Need::kOptional);
  plan.planner.affine(weights.ffn_post_norm, plan.name("post_ffw_norm"), n_embd, Need::kOptional);
  if (d.n_taps == 0) return;
  const uint64_t n = 2 * uint64_t{d.n_taps};
  plan.planner.linear(w.attention_taps, plan.name("attn_conv_proj"), n_embd, n * (n_embd / d.n_group));
  plan.planner.linear(w.ffn_taps, plan.name("ffn_conv_proj"), n_embd, n * (n_embd / d.n_group));
  plan.planner.vector(w.attention_base, plan.name("attn_conv_base"), n * n_embd);
  plan.planner.vector(w.ffn_base, plan.name("ffn_conv_base"), n * n_embd);
}

// y [n_tokens, n_embd] = a causal convolution of x along the block. Its weights are a base and a part that depends on
// the token: dynamic [n_tokens, before or after, n_taps, n_embd / n_group].
void convolve_block(const Pass& pass, const float* x, const float* dynamic, const float* base, size_t side, float* y) {
  const DraftSizes& d = pass.h().part<DraftSizes>();
  const size_t n_embd = pass.h().n_embd, n_groups = n_embd / d.n_group, n_taps = d.n_taps;
  each_token(pass.pool, Operation::kRecurrence, pass.n_tokens, [&](size_t t) {
    float* row = y + t * n_embd;
    std::fill_n(row, n_embd, 0.0f);
    for (size_t tap = 0; tap < n_taps && tap <= t; ++tap) {
      const float* from = x + (t - tap) * n_embd;
      const float* fixed = base + (side * n_taps + tap) * n_embd;
      const float* varied = dynamic + ((t * 2 + side) * n_taps + tap) * n_groups;
      for (size_t i = 0; i < n_embd; ++i) row[i] += (varied[i / d.n_group] + fixed[i]) * from[i];
    }
  });
}

// Runs `part` on x between the two convolutions.
template <class Part>
void run_convolved(Pass& pass, const Linear& taps, const Vector& base, const float* x, float* y, const Part& part) {
  const ArenaScope scope(pass.state.arena);
  float* dynamic = pass.take(pass.n_tokens, taps.n_out);
  float* before = pass.take(pass.n_tokens, pass.h().n_embd);
  float* after = pass.take(pass.n_tokens, pass.h().n_embd);
  if (pass.counting()) return part(nullptr, nullptr);
  apply(pass.pool, taps, x, pass.n_tokens, dynamic);
  convolve_block(pass, x, dynamic, base.data(), 0, before);
  part(before, after);
  convolve_block(pass, after, dynamic, base.data(), 1, y);
}

void run_block_attention(Pass& pass, size_t il, const float* x, float* y) {
  const BlockAttentionWeights& w = pass.mixer<BlockAttentionWeights>(il);
  if (!w.attention_taps) return run_attention(pass, il, w.attention, x, y);
  run_convolved(pass, w.attention_taps, w.attention_base, x, y,
                [&](const float* from, float* to) { run_attention(pass, il, w.attention, from, to); });
}

}  // namespace

void run_convolved_ffn(Pass& pass, size_t il, const float* x, const float* layer_input, float* y) {
  const BlockAttentionWeights& w = pass.mixer<BlockAttentionWeights>(il);
  run_convolved(pass, w.ffn_taps, w.ffn_base, x, y,
                [&](const float* from, float* to) { run_ffn(pass, il, from, layer_input, to); });
}

void cache_states(Pass& pass, const float* states) {
  for (size_t il = 0; il < pass.h().n_layer; ++il)
    cache_keys(pass, il, pass.mixer<BlockAttentionWeights>(il).attention, states);
}

namespace {

int32_t index_of_best(std::span<const float> scores) {
  return static_cast<int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// Adds DSpark's bias to the logits of the token after `last`.
void add_markov_bias(const Model& model, Pool& pool, int32_t last, std::span<float> logits) {
  const Weights& w = model.weights();
  const BlockDraftWeights& b = w.draft.get<BlockDraftWeights>();
  std::vector<float> row(b.markov_in.n_in), bias(b.markov_out.n_out);
  look_up(pool, b.markov_in, {&last, 1}, row.data());
  apply(pool, b.markov_out, row.data(), 1, bias.data());
  if (w.draft_tokens.empty()) return vec::add(logits.data(), bias.data(), logits.size());
  for (size_t i = 0; i < bias.size(); ++i) logits[static_cast<size_t>(w.draft_tokens[i])] += bias[i];
}

// hidden [rank]: the selector's projection.
int32_t select_candidate(const Model& model, Pool& pool, int32_t last, std::span<const float> logits,
                         std::span<const float> hidden) {
  const BlockDraftWeights& b = model.weights().draft.get<BlockDraftWeights>();
  const size_t rank = hidden.size(),
               n = std::min<size_t>(model.hparams().part<DraftSizes>().n_candidates, logits.size());
  std::vector<int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto better = [&](int32_t a, int32_t c) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(c)];
  };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(n), ids.end(), better);
  ids.resize(n);
  std::vector<float> before(rank), after(n * rank), scores(n);
  look_up(pool, b.predecessors, {&last, 1}, before.data());
  look_up(pool, b.successors, ids, after.data());
  vec::multiply(before.data(), hidden.data(), rank);
  for (size_t i = 0; i < n; ++i)
    scores[i] = std::inner_product(before.begin(), before.end(), after.begin() + static_cast<ptrdiff_t>(i * rank),
                                   logits[static_cast<size_t>(ids[i])]);
  return ids[static_cast<size_t>(index_of_best(scores))];
}

}  // namespace

std::vector<int32_t> choose_block(const Model& model, Pool& pool, int32_t last, std::span<float> logits,
                                  std::span<float> hidden) {
  const Hparams& h = model.hparams();
  const DraftSizes& d = h.part<DraftSizes>();
  const BlockDraftWeights& b = model.weights().draft.get<BlockDraftWeights>();
  const size_t n = logits.size() / h.n_vocab, rank = d.selector_rank;
  std::vector<float> selecting(b.selector ? n * rank : 0);
  if (b.selector) {
    normalize_tokens(pool, h, model.weights().output_norm, hidden.data(), n, hidden.data());
    apply(pool, b.selector, hidden.data(), n, selecting.data());
  }
  std::vector<int32_t> chosen;
  for (size_t i = d.from_anchor ? 0 : 1; i < n; ++i) {
    const std::span<float> row = logits.subspan(i * h.n_vocab, h.n_vocab);
    if (b.markov_in) add_markov_bias(model, pool, last, row);
    last = b.selector ? select_candidate(model, pool, last, row, std::span(selecting).subspan(i * rank, rank))
                      : index_of_best(row);
    chosen.push_back(last);
  }
  return chosen;
}

const Mixer kBlockAttentionMixer{.plan = plan_block_attention, .run = run_block_attention, .cache = key_value_heads};

}  // namespace ggufscope
