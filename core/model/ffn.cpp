// Feed-forward networks: dense, gated, or a mixture of experts.
#include "model/ffn.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "model/mixers/granite_switch.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void plan_dense(const LayerPlan& plan, FfnWeights& w, std::string_view suffix, bool check_width) {
  Planner& p = plan.planner;
  const auto name = [&](std::string_view part) { return plan.name(part) + std::string(suffix); };
  const TensorEntry* down = p.find(name("ffn_down") + ".weight");
  if (down == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor " + name("ffn_down") + ".weight is missing");
  const uint64_t n_ff = down->shape[0], n_embd = plan.h.n_embd;
  if (check_width && plan.h.n_ff_known && n_ff != plan.layer.n_ff)
    return p.refuse(ErrorCode::kBadShape, "tensor " + name("ffn_down") + ".weight has rows of " +
                                              counted(n_ff, "element") + ", feed_forward_length is " +
                                              std::to_string(plan.layer.n_ff));
  p.linear(w.gate, name("ffn_gate"), n_embd, n_ff, Need::kOptional);
  const TensorEntry* up = p.find(name("ffn_up") + ".weight");
  const bool fused = !w.gate && up != nullptr && n_ff <= (uint64_t{1} << 40) && up->shape[1] == 2 * n_ff;
  p.linear(w.up, name("ffn_up"), n_embd, fused ? 2 * n_ff : n_ff);
  p.linear(w.down, name("ffn_down"), n_ff, n_embd);
  for (Linear* linear : {&w.gate, &w.up, &w.down}) linear->bias_first = true;  // as in llama.cpp
  p.affine(w.sub_norm, name("ffn_sub_norm"), n_ff, Need::kOptional);
  if (suffix.empty()) p.vector(w.act_scales, plan.name("ffn.act.scales"), n_ff, Need::kOptional);
}

void plan_chunks(const LayerPlan& plan, ExpertWeights& w) {
  Planner& p = plan.planner;
  const std::string down_name = plan.name("ffn_down_chexps.weight");
  const TensorEntry* down = p.find(down_name);
  if (down == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor " + down_name + " is missing");
  const uint64_t n_embd = plan.h.n_embd, n_ff = down->shape[0], n_chunk = plan.h.n_expert / plan.h.experts_per_chunk;
  p.stack(w.gate, plan.name("ffn_gate_chexps"), n_embd, n_ff, n_chunk);
  p.stack(w.up, plan.name("ffn_up_chexps"), n_embd, n_ff, n_chunk);
  p.stack(w.down, plan.name("ffn_down_chexps"), n_ff, n_embd, n_chunk);
}

void plan_experts(const LayerPlan& plan, MoeWeights& w) {
  Planner& p = plan.planner;
  const Hparams& h = plan.h;
  const uint64_t n_embd = h.n_embd, n_expert = h.n_expert;
  if (n_expert == 0)
    return p.refuse(ErrorCode::kOutOfRange, "tensor " + plan.name("ffn_gate_inp.weight") + " without expert_count");
  p.linear(w.router, plan.name("ffn_gate_inp"), n_embd, n_expert);
  const bool routed = p.has(plan.name("ffn_routed_down.weight"));
  const std::string latent_name = plan.name(routed ? "ffn_routed" : "ffn_latent");
  const TensorEntry* latent = p.find(latent_name + "_down.weight");
  const uint64_t n_in = latent != nullptr ? latent->shape[1] : n_embd;
  if (latent != nullptr) {
    p.linear(w.latent_down, latent_name + "_down", n_embd, n_in);
    p.linear(w.latent_up, latent_name + "_up", n_in, n_embd);
    p.affine(w.latent_norm, plan.name(routed ? "ffn_routed_norm" : "ffn_norm_exps"), n_in, Need::kOptional);
  }
  const std::string down_name = plan.name("ffn_down_exps.weight");
  const TensorEntry* down = p.find(down_name);
  if (down == nullptr) return p.refuse(ErrorCode::kNotFound, "tensor " + down_name + " is missing");
  const uint64_t n_ff = down->shape[0];
  // Without their own width, the experts that are used share the layer's width.
  const uint64_t derived = h.n_ff_exp == 0 && h.n_expert_used != 0 ? plan.layer.n_ff / h.n_expert_used : h.n_ff_exp;
  if (h.n_ff_known && n_ff != plan.layer.n_ff && n_ff != derived)
    return p.refuse(ErrorCode::kBadShape, "tensor " + down_name + " has rows of " + counted(n_ff, "element") +
                                              ", expert_feed_forward_length is " + std::to_string(h.n_ff_exp));
  if (p.has(plan.name("ffn_gate_up_exps.weight"))) {
    p.stack(w.experts.gate_up, plan.name("ffn_gate_up_exps"), n_in, n_ff <= (uint64_t{1} << 40) ? 2 * n_ff : 0,
            n_expert);
  } else {
    p.stack(w.experts.gate, plan.name("ffn_gate_exps"), n_in, n_ff, n_expert, Need::kOptional);
    p.stack(w.experts.up, plan.name("ffn_up_exps"), n_in, n_ff, n_expert);
  }
  p.stack(w.experts.down, plan.name("ffn_down_exps"), n_ff, n_in, n_expert);
  if (h.experts_per_chunk != 0) plan_chunks(plan, w.chunks);
  p.vector(w.selection_bias, plan.name(p.has(plan.name("exp_probs_b")) ? "exp_probs_b" : "exp_probs_b.bias"), n_expert,
           Need::kOptional);
  if (plan.il < h.n_hash_layer)
    p.integers(w.by_token, plan.name("ffn_gate_tid2eid.weight"), h.n_expert_used, h.n_vocab, h.n_expert);
  if (p.has(plan.name("ffn_down_shexp.weight"))) {
    plan_dense(plan, w.shared, "_shexp", false);
    p.linear(w.shared_gate, plan.name("ffn_gate_inp_shexp"), n_embd, 1, Need::kOptional);
  }
}

// out = activation(gate) * up, both clamped to the limit if there is one. out may be gate.
void gated(const Hparams& h, float limit, const float* gate, const float* up, size_t n, float* out) {
  if (limit == 0) return activate_gated(h.activation, gate, up, n, out, h.situ);
  if (out != gate) std::memcpy(out, gate, n * sizeof(float));
  for (size_t i = 0; i < n && h.clamp_before_activation; ++i) out[i] = std::min(out[i], limit);
  activate(h.activation, out, n);
  for (size_t i = 0; i < n; ++i) out[i] = std::min(out[i], limit) * std::clamp(up[i], -limit, limit);
}

void run_dense(Pass& pass, size_t il, const FfnWeights& w, const float* x, size_t n, float* y) {
  const Activation activation = pass.h().activation;
  const float limit = pass.layer(il).clamp_dense;
  const size_t n_ff = w.down.n_in;
  const ArenaScope scope(pass.state.arena);
  float* up = pass.take(n, w.up.n_out);  // [n_tokens, n_ff], or gate and up side by side [n_tokens, 2, n_ff]
  float* inner = pass.take(n, n_ff);     // [n_tokens, n_ff]
  if (pass.counting()) return;
  apply(pass.pool, {{&w.up, up}, {&w.gate, inner}}, x, n);
  if (w.gate) {
    each_token(pass.pool, Operation::kGate, n,
               [&](size_t t) { gated(pass.h(), limit, inner + t * n_ff, up + t * n_ff, n_ff, inner + t * n_ff); });
  } else if (w.up.n_out != n_ff) {
    each_token(pass.pool, Operation::kGate, n, [&](size_t t) {
      gated(pass.h(), limit, up + 2 * t * n_ff, up + (2 * t + 1) * n_ff, n_ff, inner + t * n_ff);
    });
  } else {
    each_token(pass.pool, Operation::kGate, n, [&](size_t t) {
      std::memcpy(inner + t * n_ff, up + t * n_ff, n_ff * sizeof(float));
      activate(activation, inner + t * n_ff, n_ff, pass.layer(il).xielu);
    });
    if (w.act_scales)
      for (size_t i = 0; i < n * n_ff; ++i) inner[i] /= w.act_scales.data()[i % n_ff];
  }
  if (w.sub_norm) normalize_rows(pass.pool, pass.h().norm_eps, pass.h().norm, w.sub_norm, inner, n, n_ff, inner);
  apply(pass.pool, w.down, inner, n, y);
}

constexpr float kMinWeight = 6.103515625e-5f;  // the smallest normal binary16

void gate_logits(Gating gating, float* x, size_t n) {
  switch (gating) {
    case Gating::kSoftmax:
      return softmax(x, n);
    case Gating::kSigmoid:
      return activate(Activation::kSigmoid, x, n);
    case Gating::kSqrtSoftplus:
      for (size_t i = 0; i < n; ++i) x[i] = std::sqrt(softplus(x[i]));
      return;
    case Gating::kSoftmaxOfChosen:
    case Gating::kNone:
      return;
  }
}

// Keeps the groups of experts with the highest sums of their two best scores. The others' scores become -inf.
void keep_best_groups(const Hparams& h, float* scores) {
  const size_t per_group = h.n_expert / h.n_expert_groups;
  float kept[64];
  uint32_t order[64];
  const uint32_t n_groups = std::min<uint32_t>(h.n_expert_groups, 64);
  for (uint32_t g = 0; g < n_groups; ++g) {
    float first = -INFINITY, second = -INFINITY;
    for (size_t i = 0; i < per_group; ++i) {
      const float s = scores[g * per_group + i];
      second = std::max(second, std::min(first, s));
      first = std::max(first, s);
    }
    kept[g] = first + second;
    order[g] = g;
  }
  std::sort(order, order + n_groups, [&](uint32_t a, uint32_t b) { return kept[a] > kept[b]; });
  for (uint32_t i = h.n_group_used; i < n_groups; ++i) std::fill_n(scores + order[i] * per_group, per_group, -INFINITY);
}

// If a token selects an expert twice, adds the weights.
void merge_repeated(size_t used, int32_t* ids, float* weights) {
  for (size_t i = 0; i < used; ++i)
    for (size_t k = 0; k < i; ++k)
      if (ids[k] == ids[i] && ids[i] >= 0) weights[k] += weights[i], ids[i] = -1;
}

// The best `used` of n scores. The ids are distinct even if scores are NaN, because the buffers have room for one row
// for each token and expert.
void select_best(const float* scores, size_t n, size_t used, int32_t* ids) {
  for (size_t i = 0; i < used; ++i) {
    size_t best = n;
    for (size_t e = 0; e < n; ++e)
      if (std::find(ids, ids + i, static_cast<int32_t>(e)) == ids + i && (best == n || scores[e] > scores[best]))
        best = e;
    ids[i] = static_cast<int32_t>(best);
  }
}

// The weights [used] of selected experts from their probabilities.
void weigh(const Hparams& h, const float* probabilities, const int32_t* ids, size_t used, float* weights) {
  for (size_t i = 0; i < used; ++i) weights[i] = probabilities[ids[i]];
  if (h.gating == Gating::kSoftmaxOfChosen) softmax(weights, used);
  if (h.normalize_expert_weights) {
    float sum = 0;
    for (size_t i = 0; i < used; ++i) sum += weights[i];
    vec::scale(weights, 1.0f / std::max(sum, kMinWeight), used);
  }
  if (h.expert_weights_scale != 0) vec::scale(weights, h.expert_weights_scale, used);
}

// Selects a token's experts and their weights: ids and weights [n_used]. named: ids that the token itself determines,
// or nullptr.
void choose(const Pass& pass, const MoeWeights& w, const int32_t* named, float* logits, float* scores, int32_t* ids,
            float* weights) {
  const Hparams& h = pass.h();
  const size_t n = h.n_expert, used = h.n_expert_used;
  std::memcpy(scores, logits, n * sizeof(float));
  gate_logits(h.gating, logits, n);  // now probabilities
  if (!pass.model.architecture().choose_by_logits) std::memcpy(scores, logits, n * sizeof(float));
  if (w.selection_bias) vec::add(scores, w.selection_bias.data(), n);
  if (h.n_expert_groups > 1) keep_best_groups(h, scores);
  if (named != nullptr) {
    std::copy_n(named, used, ids);
  } else {
    select_best(scores, n, used, ids);
  }
  weigh(h, logits, ids, used, weights);
  if (named != nullptr) merge_repeated(used, ids, weights);
}

// y += the weighted sum of each token's experts: ids and weights [n_tokens, n_used]; an id of -1 means none.
void mix_experts(Pass& pass, size_t il, const ExpertWeights& w, const int32_t* ids, const float* weights, size_t used,
                 const float* x, float* y) {
  const Hparams& h = pass.h();
  const Architecture& a = pass.model.architecture();
  const float limit = pass.layer(il).clamp_experts;
  const size_t n = pass.n_tokens, n_embd = w.down.n_out, n_ff = w.down.n_in;  // n_embd: of the experts
  const size_t n_up = w.gate_up ? w.gate_up.n_out : w.up.n_out;
  const ArenaScope scope(pass.state.arena);
  float* gathered = pass.take(n, n_embd);                        // the tokens of one expert [m, n_embd]
  float* up = pass.take(n, n_up);                                // [m, n_ff] or [m, 2 n_ff]
  float* inner = pass.take(n, n_ff);                             // [m, n_ff]
  float* result = pass.take(n, n_embd);                          // [m, n_embd]
  uint32_t* tokens = reinterpret_cast<uint32_t*>(pass.take(n));  // [m]
  if (pass.counting()) return;
  for (size_t e = 0; e < w.down.matrices.size(); ++e) {
    size_t m = 0;
    for (size_t t = 0; t < n; ++t)
      for (size_t i = 0; i < used; ++i)
        if (ids[t * used + i] == static_cast<int32_t>(e)) {
          float* row = gathered + m * n_embd;
          std::memcpy(row, x + t * n_embd, n_embd * sizeof(float));
          if (a.weigh_before_experts) vec::scale(row, weights[t * used + i], n_embd);
          tokens[m++] = static_cast<uint32_t>(t * used + i);
        }
    if (m == 0) continue;
    if (w.gate_up) {
      apply(pass.pool, w.gate_up, e, gathered, m, up);
      for (size_t r = 0; r < m; ++r)
        gated(h, limit, up + 2 * r * n_ff, up + (2 * r + 1) * n_ff, n_ff, inner + r * n_ff);
    } else {
      apply(pass.pool, w.up, e, gathered, m, up);
      if (w.gate) {
        apply(pass.pool, w.gate, e, gathered, m, inner);
        gated(h, limit, inner, up, m * n_ff, inner);
      } else {
        std::memcpy(inner, up, m * n_ff * sizeof(float));
        activate(h.activation, inner, m * n_ff, pass.layer(il).xielu);
      }
    }
    apply(pass.pool, w.down, e, inner, m, result);
    for (size_t r = 0; r < m; ++r)
      vec::add_scaled(y + tokens[r] / used * n_embd, a.weigh_before_experts ? 1.0f : weights[tokens[r]],
                      result + r * n_embd, n_embd);
  }
}

// GroveMoE: smaller experts, each shared by a few neighbouring experts, read the experts' output. Like llama.cpp, uses
// as weight the probability of the expert whose number is the chunk's.
void add_chunks(Pass& pass, size_t il, const MoeWeights& w, const float* probabilities, const int32_t* ids, float* y,
                float* copy) {
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, n_used = h.n_expert_used, size = n * h.n_embd;
  const ArenaScope scope(pass.state.arena);
  const size_t n_best = std::min<size_t>(n_used, w.chunks.down.matrices.size());
  int32_t* chunks = reinterpret_cast<int32_t*>(pass.take(n, n_used));  // [n_tokens, n_best]
  float* weights = pass.take(n, n_used);
  if (pass.counting()) return mix_experts(pass, il, w.chunks, nullptr, nullptr, n_best, nullptr, nullptr);
  for (size_t t = 0; t < n; ++t) {
    int32_t* chunk = chunks + t * n_best;
    float* weight = weights + t * n_best;
    float sum = 0;
    for (size_t i = 0; i < n_best; ++i) {
      chunk[i] = ids[t * n_used + i] / static_cast<int32_t>(h.experts_per_chunk);
      weight[i] = probabilities[t * h.n_expert + static_cast<size_t>(chunk[i])];
      sum += weight[i];
    }
    vec::scale(weight, h.chunk_scale / std::max(sum, kMinWeight), n_best);
    for (size_t i = 0; i < n_best; ++i)  // a chunk that was selected twice is computed once
      for (size_t k = 0; k < i; ++k)
        if (chunk[k] == chunk[i]) weight[k] += weight[i], chunk[i] = -1;
  }
  std::memcpy(copy, y, size * sizeof(float));
  mix_experts(pass, il, w.chunks, chunks, weights, n_best, copy, y);
}

void run_experts(Pass& pass, size_t il, const MoeWeights& w, const float* x, const float* router_input, float* y) {
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens, n_embd = h.n_embd, used = h.n_expert_used;
  const ArenaScope scope(pass.state.arena);
  float* logits = pass.take(n, h.n_expert);  // [n_tokens, n_expert]
  float* scores = pass.take(h.n_expert);
  int32_t* ids = reinterpret_cast<int32_t*>(pass.take(n, used));  // [n_tokens, n_expert_used]
  float* weights = pass.take(n, used);                            // the same
  float* shared = pass.take(n, n_embd);
  float* shared_gate = pass.take(n);
  const size_t n_latent = w.latent_down.n_out;  // 0 without
  float* low = pass.take(n, n_latent);
  float* mixed = pass.take(n, n_latent);
  if (pass.counting()) {
    mix_experts(pass, il, w.experts, nullptr, nullptr, used, nullptr, nullptr);
    if (w.chunks) add_chunks(pass, il, w, nullptr, nullptr, nullptr, nullptr);
    if (w.shared.down) run_dense(pass, il, w.shared, nullptr, n, nullptr);
    return;
  }

  apply(pass.pool, w.router, router_input, n, logits);
  for (size_t t = 0; t < n; ++t) {
    const int32_t* named =
        w.by_token.empty() ? nullptr : w.by_token.data() + static_cast<size_t>(pass.tokens[t]) * used;
    choose(pass, w, named, logits + t * h.n_expert, scores, ids + t * used, weights + t * used);
  }

  if (w.latent_down) {
    apply(pass.pool, w.latent_down, x, n, low);
    std::memset(mixed, 0, n * n_latent * sizeof(float));
    mix_experts(pass, il, w.experts, ids, weights, used, low, mixed);
    if (w.latent_norm) normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.latent_norm, mixed, n, n_latent, mixed);
    apply(pass.pool, w.latent_up, mixed, n, y);
  } else {
    std::memset(y, 0, n * n_embd * sizeof(float));
    mix_experts(pass, il, w.experts, ids, weights, used, x, y);
  }
  if (w.chunks) add_chunks(pass, il, w, logits, ids, y, shared);

  if (w.shared.down) {
    run_dense(pass, il, w.shared, x, n, shared);
    if (w.shared_gate) {
      apply(pass.pool, w.shared_gate, x, n, shared_gate);
      activate(Activation::kSigmoid, shared_gate, n);
    }
    for (size_t t = 0; t < n; ++t)
      vec::add_scaled(y + t * n_embd, w.shared_gate ? shared_gate[t] : 1.0f, shared + t * n_embd, n_embd);
    if (h.shared_expert_scale != 1) vec::scale(y, h.shared_expert_scale, n * n_embd);
  }
}

}  // namespace

void plan_ffn(const LayerPlan& plan, LayerWeights& weights) {
  Planner& p = plan.planner;
  const bool experts = p.has(plan.name("ffn_gate_inp.weight")) || p.has(plan.name("ffn_down_exps.weight"));
  if (experts) {
    weights.moe = std::make_unique<MoeWeights>();
    plan_experts(plan, *weights.moe);
  }
  const bool dense = p.has(plan.name("ffn_down.weight")) || p.has(plan.name("ffn_up.weight"));
  const bool beside = plan.architecture.experts_read_layer_input;
  if (beside) p.affine(weights.experts_norm, plan.name("ffn_norm_exps"), plan.h.n_embd);
  // A mixture-of-experts file may have a selection bias in its dense layers, too.
  if (!experts && plan.h.n_expert != 0) p.ignore(plan.name("exp_probs_b"));
  if (dense && (!experts || plan.h.dense_and_experts_scale != 0)) plan_dense(plan, weights.ffn, "", !beside);
  // A layer with a norm or a width for a feed-forward network must have one.
  const bool mixes_only = plan.layer.mixer == MixerKind::kMamba2 || plan.layer.mixer == MixerKind::kMamba;
  if (!experts && !dense && ((plan.layer.n_ff != 0 && !mixes_only) || p.has(plan.name("ffn_norm.weight"))))
    p.refuse(ErrorCode::kNotFound, "tensor " + plan.name("ffn_down.weight") + " is missing");
}

void choose_experts(const Hparams& h, size_t n, size_t used, const float* bias, float* logits, float* scores,
                    int32_t* ids, float* weights) {
  gate_logits(h.gating, logits, n);
  std::memcpy(scores, logits, n * sizeof(float));
  if (bias != nullptr) vec::add(scores, bias, n);
  select_best(scores, n, used, ids);
  weigh(h, logits, ids, used, weights);
}

bool has_ffn(const LayerWeights& weights) { return weights.ffn.down || weights.moe != nullptr; }

void run_ffn(Pass& pass, size_t il, const float* x, const float* layer_input, float* y) {
  const LayerWeights& w = pass.weights(il);
  const Hparams& h = pass.h();
  if (pass.layer(il).mixer == MixerKind::kSwitchedAttention) return run_switched_ffn(pass, il, x, y);
  if (w.moe == nullptr) return run_dense(pass, il, w.ffn, x, pass.n_tokens, y);
  if (w.experts_norm) {
    const ArenaScope scope(pass.state.arena);
    float* own = pass.take(pass.n_tokens, h.n_embd);
    if (!pass.counting())
      normalize_rows(pass.pool, h.norm_eps, NormKind::kRms, w.experts_norm, layer_input, pass.n_tokens, h.n_embd, own);
    run_experts(pass, il, *w.moe, own, own, y);
  } else {
    run_experts(pass, il, *w.moe, x, pass.model.architecture().router_reads_layer_input ? layer_input : x, y);
  }
  if (!w.ffn.down) return;
  const ArenaScope scope(pass.state.arena);
  float* dense = pass.take(pass.n_tokens, h.n_embd);
  run_dense(pass, il, w.ffn, x, pass.n_tokens, dense);
  if (pass.counting()) return;
  vec::add(y, dense, pass.n_tokens * h.n_embd);
  vec::scale(y, h.dense_and_experts_scale, pass.n_tokens * h.n_embd);
}

}  // namespace ggufscope
