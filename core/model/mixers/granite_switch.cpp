// Granite models that contain low-rank adapters (2026). Control tokens in the text select the adapter for the following
// tokens; slot 0 means none. The selection is a separate attention head. Its keys are +gain at control tokens and -gain
// elsewhere, and its values are the slots. With several control tokens in view, the result is their mean, rounded.
#include "model/mixers/granite_switch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/vec.hpp"

namespace ggufscope {

std::vector<int32_t> switch_tokens(Pass& pass, std::span<const int32_t> tokens) {
  const SwitchSizes& s = pass.h().part<SwitchSizes>();
  State& state = pass.state;
  const CacheView cache = state.further(0, 0);
  std::vector<int32_t> shown(tokens.begin(), tokens.end());
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    // Of equal tokens the last one counts, as in llama.cpp's table.
    const auto at = std::find(s.activate.rbegin(), s.activate.rend(), tokens[t]);
    const float slot = static_cast<float>(s.activate.rend() - at);
    if (at != s.activate.rend()) shown[t] = s.substitute[static_cast<size_t>(slot) - 1];
    cache_store(cache, {1, 1, 1, 0}, state.batch_cells[t], &slot, nullptr);
  }
  pass.slots.resize(pass.n_tokens);
  const float one = 1.0f, other = std::exp(-2.0f * s.gain);
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    float weights = 0, sum = 0, row = 0;
    for (const CellRun& run : state.visible_full[t])
      for (uint32_t c = run.begin; c < run.end; ++c) {
        const float slot = cached_dot(cache, c, 1, &one, &row);
        weights += slot != 0 ? 1.0f : other;
        sum += slot;
      }
    const float mean = std::round(std::clamp(sum / weights, 0.0f, static_cast<float>(s.activate.size())));
    pass.slots[t] = static_cast<uint32_t>(mean);
  }
  return shown;
}

namespace {

// y += the output of each token's adapter for x.
void add_switched(Pass& pass, const SwitchedAdapter& adapter, const float* x, float* y) {
  const size_t n = pass.n_tokens, n_in = adapter.a.n_in, rank = adapter.a.n_out, n_out = adapter.b.n_out;
  const ArenaScope scope(pass.state.arena);
  float* gathered = pass.take(n, n_in);
  float* low = pass.take(n, rank);
  float* delta = pass.take(n, n_out);
  if (pass.counting()) return;
  for (uint32_t slot = 0; slot < adapter.a.matrices.size(); ++slot) {
    size_t m = 0;
    for (size_t t = 0; t < n; ++t)
      if (pass.slots[t] == slot) std::memcpy(gathered + m++ * n_in, x + t * n_in, n_in * sizeof(float));
    if (m == 0) continue;
    apply(pass.pool, adapter.a, slot, gathered, m, low);
    apply(pass.pool, adapter.b, slot, low, m, delta);
    m = 0;
    for (size_t t = 0; t < n; ++t)
      if (pass.slots[t] == slot) vec::add(y + t * n_out, delta + m++ * n_out, n_out);
  }
}

void plan_switched_attention(const LayerPlan& plan, LayerWeights& weights) {
  SwitchedAttentionWeights& w = weights.mixer.create<SwitchedAttentionWeights>();
  plan_attention(plan, w.attention);
  const LayerParameters& layer = plan.layer;
  const uint64_t n_embd = plan.h.n_embd, n_q = uint64_t{layer.n_head} * layer.d_k;
  const uint64_t n_kv = uint64_t{layer.n_head_kv} * layer.d_k, n_ff = layer.n_ff;
  const auto adapter = [&](SwitchedAdapter& to, std::string_view part, uint64_t n_in, uint64_t n_out) {
    const uint64_t rank = plan.h.part<SwitchSizes>().rank, n_slots = plan.h.part<SwitchSizes>().activate.size() + 1;
    plan.planner.bare_stack(to.a, plan.name(part) + ".lora_a", n_in, rank, n_slots);
    plan.planner.bare_stack(to.b, plan.name(part) + ".lora_b", rank, n_out, n_slots);
  };
  if (!w.attention.qkv)
    return plan.planner.refuse(ErrorCode::kNotFound, "tensor " + plan.name("attn_qkv.weight") + " is missing");
  adapter(w.q, "attn_q", n_embd, n_q);
  adapter(w.k, "attn_k", n_embd, n_kv);
  adapter(w.v, "attn_v", n_embd, n_kv);
  adapter(w.out, "attn_output", n_q, n_embd);
  adapter(w.gate, "ffn_gate", n_embd, n_ff);
  adapter(w.up, "ffn_up", n_embd, n_ff);
  adapter(w.down, "ffn_down", n_ff, n_embd);
}

void run_switched_attention(Pass& pass, size_t il, const float* x, float* y) {
  const Hparams& h = pass.h();
  const LayerParameters& layer = pass.layer(il);
  const SwitchedAttentionWeights& w = pass.mixer<SwitchedAttentionWeights>(il);
  const size_t n = pass.n_tokens, d = layer.d_k, n_q = layer.n_head * d, n_kv = layer.n_head_kv * d;
  const size_t row = n_q + 2 * n_kv;
  const ArenaScope scope(pass.state.arena);
  float* q = pass.take(n, layer.n_head, d);
  float* k = pass.take(n, layer.n_head_kv, d);
  float* v = pass.take(n, layer.n_head_kv, d);
  float* fused = pass.take(n, layer.n_head + uint64_t{2} * layer.n_head_kv, d);  // later the mixed heads
  if (pass.counting()) {
    for (const SwitchedAdapter* adapter : {&w.q, &w.k, &w.v, &w.out}) add_switched(pass, *adapter, nullptr, nullptr);
    return;
  }
  apply(pass.pool, w.attention.qkv, x, n, fused);
  for (size_t t = 0; t < n; ++t) {
    std::memcpy(q + t * n_q, fused + t * row, n_q * sizeof(float));
    std::memcpy(k + t * n_kv, fused + t * row + n_q, n_kv * sizeof(float));
    std::memcpy(v + t * n_kv, fused + t * row + n_q + n_kv, n_kv * sizeof(float));
  }
  add_switched(pass, w.q, x, q);
  add_switched(pass, w.k, x, k);
  add_switched(pass, w.v, x, v);
  rotate(pass, il, q, n_q, layer.n_head, d, 0);
  rotate(pass, il, k, n_kv, layer.n_head_kv, d, 0);
  AttentionOptions options = attention_options(h, d);
  add_relative_bias(pass, il, w.attention, options);
  attend(pass, il, {layer.n_head, layer.n_head_kv, d, d}, options, q, k, v, fused);
  apply(pass.pool, w.attention.out, fused, n, y);
  add_switched(pass, w.out, fused, y);
}

// The token's adapter slot is stored in the cells of the first layer.
FurtherRows slot_rows(const Hparams& h, const LayerParameters& layer) {
  FurtherRows rows;
  if (&layer == h.layers.data()) rows[0] = {1, false};
  return rows;
}

}  // namespace

void run_switched_ffn(Pass& pass, size_t il, const float* x, float* y) {
  const LayerWeights& weights = pass.weights(il);
  const SwitchedAttentionWeights& w = weights.mixer.get<SwitchedAttentionWeights>();
  const size_t n = pass.n_tokens, n_ff = w.down.a.n_in;
  const ArenaScope scope(pass.state.arena);
  float* gate = pass.take(n, n_ff);
  float* up = pass.take(n, n_ff);
  if (pass.counting()) {
    for (const SwitchedAdapter* adapter : {&w.gate, &w.up, &w.down}) add_switched(pass, *adapter, nullptr, nullptr);
    return;
  }
  apply(pass.pool, {{&weights.ffn.gate, gate}, {&weights.ffn.up, up}}, x, n);
  add_switched(pass, w.gate, x, gate);
  add_switched(pass, w.up, x, up);
  activate_gated(pass.h().activation, gate, up, n * n_ff, gate);
  apply(pass.pool, weights.ffn.down, gate, n, y);
  add_switched(pass, w.down, gate, y);
}

const Mixer kSwitchedAttentionMixer{.plan = plan_switched_attention,
                                    .run = run_switched_attention,
                                    .cache = key_value_heads,
                                    .further_rows = slot_rows};

}  // namespace ggufscope
