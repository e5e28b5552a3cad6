// Tiny models of architectures that the reference vectors do not have, each by what sets it apart from made_llama.
#pragma once

#include "tiny_llama.hpp"

namespace ggufscope::test {

inline std::string block(uint64_t il) { return "blk." + std::to_string(il) + "."; }

/// A llama of n_layer layers under another name, 16 wide, 4 heads of 4 over 2 key heads.
inline MadeModel made_decoder(const std::string& architecture, uint64_t n_layer = 2) {
  MadeModel m = made_llama();
  m.architecture = architecture;
  m.integers["block_count"] = n_layer;
  m.floats["rope.freq_base"] = 1000.0f;
  std::map<std::string, std::vector<uint64_t>> first;
  for (const auto& [name, shape] : m.tensors)
    if (name.starts_with("blk.0.")) first[name.substr(6)] = shape;
  for (uint64_t il = 2; il < n_layer; ++il)
    for (const auto& [part, shape] : first) m.tensors[block(il) + part] = shape;
  return m;
}

inline void add(MadeModel& m, const std::string& part, std::vector<uint64_t> shape, uint64_t first_layer = 0) {
  for (uint64_t il = first_layer; il < m.integers["block_count"]; ++il) m.tensors[block(il) + part] = shape;
}

inline void head_norms(MadeModel& m, uint64_t d) {
  add(m, "attn_q_norm.weight", {d});
  add(m, "attn_k_norm.weight", {d});
}

/// Four experts 12 wide, two used, from a layer on; the layers before stay dense.
inline void experts(MadeModel& m, uint64_t first_layer, bool shared) {
  m.integers["expert_count"] = 4;
  m.integers["expert_used_count"] = 2;
  m.integers["expert_feed_forward_length"] = 12;
  m.integers["leading_dense_block_count"] = first_layer;
  if (shared) m.integers["expert_shared_count"] = 1;
  for (uint64_t il = first_layer; il < m.integers["block_count"]; ++il)
    for (const char* part : {"ffn_gate", "ffn_up", "ffn_down"}) m.tensors.erase(block(il) + part + ".weight");
  add(m, "ffn_gate_inp.weight", {16, 4}, first_layer);
  for (const std::string part : {"ffn_gate", "ffn_up"}) {
    add(m, part + "_exps.weight", {16, 12, 4}, first_layer);
    if (shared) add(m, part + "_shexp.weight", {16, 12}, first_layer);
  }
  add(m, "ffn_down_exps.weight", {12, 16, 4}, first_layer);
  if (shared) add(m, "ffn_down_shexp.weight", {12, 16}, first_layer);
}

/// Sigmoid-gated experts with a bias for the choice, as in DeepSeek-V3.
inline void sigmoid_experts(MadeModel& m, uint64_t first_layer, bool shared) {
  experts(m, first_layer, shared);
  m.integers["expert_gating_func"] = 2;
  m.floats["expert_weights_scale"] = 1.5f;
  m.booleans["expert_weights_norm"] = true;
  if (shared) m.integers["expert_shared_feed_forward_length"] = 12;
}

inline MadeModel made_dream() { return made_decoder("dream"); }
inline MadeModel made_llada() { return made_decoder("llada"); }

inline MadeModel made_llada_moe(const std::string& architecture) {
  MadeModel m = made_decoder(architecture);
  experts(m, 0, false);
  m.integers.erase("leading_dense_block_count");
  head_norms(m, 4);
  m.integers["attention.head_count_kv"] = 4;
  add(m, "attn_k.weight", {16, 16});
  add(m, "attn_v.weight", {16, 16});
  return m;
}

/// Two experts share a smaller one.
inline MadeModel made_grovemoe() {
  MadeModel m = made_llada_moe("grovemoe");
  m.integers["expert_chunk_feed_forward_length"] = 8;
  m.integers["experts_per_group"] = 2;
  m.floats["expert_group_scale"] = 0.5f;
  add(m, "ffn_gate_chexps.weight", {16, 8, 2});
  add(m, "ffn_up_chexps.weight", {16, 8, 2});
  add(m, "ffn_down_chexps.weight", {8, 16, 2});
  return m;
}

/// Attention and experts side by side, LayerNorm, rope in windowed layers and the dense one.
inline MadeModel made_cohere2moe() {
  MadeModel m = made_decoder("cohere2moe", 3);
  sigmoid_experts(m, 1, true);
  m.floats.erase("attention.layer_norm_rms_epsilon");
  m.floats["attention.layer_norm_epsilon"] = 1e-5f;
  m.floats["logit_scale"] = 0.8f;
  m.integers["attention.sliding_window"] = 4;
  m.integers["attention.sliding_window_pattern"] = 2;
  for (uint64_t il = 0; il < 3; ++il) m.tensors.erase(block(il) + "ffn_norm.weight");
  return m;
}

/// Windows by a list, heads of other sizes for keys and values, sinks, a factor of the output.
inline MadeModel made_mimo2() {
  MadeModel m = made_decoder("mimo2", 3);
  sigmoid_experts(m, 1, false);
  m.integers["attention.sliding_window"] = 4;
  m.integers["attention.key_length"] = 6;
  m.integers["attention.value_length"] = 5;
  m.floats["attention.value_scale"] = 0.6f;
  m.floats["rope.freq_base_swa"] = 100.0f;
  m.arrays = {{"attention.sliding_window_pattern", {1, 0, 1}}, {"attention.head_count_kv", {2, 4, 2}}};
  m.integers.erase("attention.head_count_kv");
  add(m, "attn_q.weight", {16, 24});
  add(m, "attn_output.weight", {20, 16});
  for (uint64_t il = 0; il < 3; ++il) {
    m.tensors[block(il) + "attn_k.weight"] = {16, il == 1 ? 24u : 12u};
    m.tensors[block(il) + "attn_v.weight"] = {16, il == 1 ? 20u : 10u};
  }
  m.tensors["blk.0.attn_sinks.weight"] = m.tensors["blk.2.attn_sinks.weight"] = {4};
  add(m, "exp_probs_b.bias", {4}, 1);
  return m;
}

/// A gate for each head, limits of the activations, half of the rotation in full layers.
inline MadeModel made_step35() {
  MadeModel m = made_decoder("step35", 3);
  sigmoid_experts(m, 1, true);
  m.integers["attention.sliding_window"] = 4;
  m.floats["rope.freq_base_swa"] = 100.0f;
  m.arrays = {{"attention.sliding_window_pattern", {1, 0, 1}}};
  m.float_arrays = {{"swiglu_clamp_exp", {0, 0.05f, 0}}, {"swiglu_clamp_shexp", {0, 0.04f, 0.1f}}};
  add(m, "attn_gate.weight", {16, 4});
  head_norms(m, 4);
  add(m, "exp_probs_b.bias", {4}, 1);
  return m;
}

/// Latent attention in the last layer, delta attention in the others.
inline MadeModel made_delta(const std::string& architecture, bool full_rank) {
  MadeModel m = made_decoder(architecture);
  sigmoid_experts(m, 1, true);
  add(m, "exp_probs_b.bias", {4}, 1);
  m.integers.erase("attention.head_count_kv");
  m.arrays = {{"attention.head_count_kv", {0, 1}}};
  for (const auto& [key, value] : std::map<std::string, uint64_t>{{"attention.kv_lora_rank", 10},
                                                                  {"attention.key_length", 14},
                                                                  {"attention.value_length", 10},
                                                                  {"attention.key_length_mla", 9},
                                                                  {"attention.value_length_mla", 7},
                                                                  {"rope.dimension_count", 4},
                                                                  {"ssm.conv_kernel", 3},
                                                                  {"kda.head_dim", 5}})
    m.integers[key] = value;
  for (const std::string part : {"q", "k", "v"}) {
    m.tensors["blk.0.attn_" + part + ".weight"] = {16, 20};
    m.tensors["blk.0.ssm_conv1d_" + part + ".weight"] = {3, 1, 20};
  }
  for (const std::string part : {"f", "g"}) {
    m.tensors["blk.0.ssm_" + part + "_a.weight"] = {16, full_rank ? 20u : 5u};
    if (!full_rank) m.tensors["blk.0.ssm_" + part + "_b.weight"] = {5, 20};
  }
  m.tensors["blk.0.ssm_beta.weight"] = {16, 4};
  m.tensors["blk.0.ssm_a"] = {1, 4};
  m.tensors["blk.0.ssm_dt.bias"] = {20};
  m.tensors["blk.0.ssm_norm.weight"] = {5};
  m.tensors["blk.0.attn_output.weight"] = {20, 16};
  m.tensors["blk.1.attn_q.weight"] = {16, 36};
  m.tensors.erase("blk.1.attn_k.weight");
  m.tensors.erase("blk.1.attn_v.weight");
  m.tensors["blk.1.attn_kv_a_mqa.weight"] = {16, 14};
  m.tensors["blk.1.attn_kv_a_norm.weight"] = {10};
  m.tensors["blk.1.attn_k_b.weight"] = {5, 10, 4};
  m.tensors["blk.1.attn_v_b.weight"] = {10, 7, 4};
  m.tensors["blk.1.attn_output.weight"] = {28, 16};
  return m;
}

inline MadeModel made_kimi_linear() { return made_delta("kimi-linear", false); }

/// Decays between 1 and e^bound, and a gate for each head of the latent attention.
inline MadeModel made_bailingmoe3() {
  MadeModel m = made_delta("bailingmoe3", true);
  m.booleans["kda.safe_gate"] = true;
  m.floats["kda.gate_lower_bound"] = -4.0f;
  m.tensors["blk.1.attn_gate.weight"] = {16, 4};
  return m;
}

/// A softplus gate for each head, other rotations in windowed layers.
inline MadeModel made_laguna() {
  MadeModel m = made_decoder("laguna", 3);
  sigmoid_experts(m, 1, true);
  add(m, "exp_probs_b.bias", {4}, 1);
  head_norms(m, 4);
  add(m, "attn_gate.weight", {16, 4});
  m.integers["attention.sliding_window"] = 4;
  m.integers["rope.dimension_count"] = 2;
  m.integers["rope.dimension_count_swa"] = 4;
  m.floats["rope.freq_base_swa"] = 100.0f;
  return m;
}

/// Norms without weights, a factor for each head's queries, the embedding once more after each layer.
inline MadeModel made_talkie() {
  MadeModel m = made_decoder("talkie");
  m.floats["logit_scale"] = 0.7f;
  m.tensors.erase("output_norm.weight");
  for (uint64_t il = 0; il < 2; ++il)
    for (const char* part : {"attn_norm", "ffn_norm"}) m.tensors.erase(block(il) + part + ".weight");
  add(m, "attn_q_norm.weight", {1, 4});
  add(m, "layer_output_scale.weight", {1});
  return m;
}

/// Norms after both parts, LayerNorm with other weights for each head, suppressed image tokens.
inline MadeModel made_chameleon() {
  MadeModel m = made_decoder("chameleon");
  m.booleans["swin_norm"] = true;
  m.tensors["token_embd.weight"] = m.tensors["output.weight"] = {16, 8200};
  add(m, "attn_q_norm.weight", {4, 4});
  add(m, "attn_k_norm.weight", {4, 2});
  return m;
}

inline MadeModel made_deepseek2_ocr() {
  MadeModel m = made_decoder("deepseek2-ocr");
  experts(m, 1, true);
  m.floats["rope.freq_base"] = 10000.0f;
  m.floats["expert_weights_scale"] = 1.5f;
  m.integers["attention.head_count_kv"] = 4;
  add(m, "attn_k.weight", {16, 16});
  add(m, "attn_v.weight", {16, 16});
  return m;
}

/// Normalized embeddings, norms around both parts, gated attention, rope in windowed layers, a soft cap.
inline MadeModel made_muse_glimmer() {
  MadeModel m = made_decoder("muse-glimmer", 3);
  head_norms(m, 4);
  m.integers["attention.sliding_window"] = 4;
  m.integers["attention.sliding_window_pattern"] = 3;
  m.floats["logit_scale"] = 0.8f;
  m.floats["final_logit_softcapping"] = 2.0f;
  add(m, "attn_gate.weight", {16, 16});
  add(m, "post_attention_norm.weight", {16});
  add(m, "post_ffw_norm.weight", {16});
  return m;
}

/// Linear attention with a decay in two of three layers; the residual is the normalized input.
inline MadeModel made_minimax01() {
  MadeModel m = made_decoder("minimax-01", 3);
  experts(m, 0, false);
  m.integers.erase("leading_dense_block_count");
  m.integers.erase("expert_feed_forward_length");
  m.integers["feed_forward_length"] = 12;
  m.arrays = {{"attention.recurrent_layers", {1, 0, 1}}};
  m.floats["residual_scale"] = 0.8f;
  for (const std::string blk : {"blk.0.", "blk.2."}) {
    for (const char* part : {"attn_q", "attn_k", "attn_v"}) m.tensors.erase(blk + part + ".weight");
    m.tensors[blk + "attn_qkv.weight"] = {16, 48};
    m.tensors[blk + "attn_gate.weight"] = {16, 16};
    m.tensors[blk + "attn_norm_2.weight"] = {16};
  }
  return m;
}

/// Two layers that run three times.
inline MadeModel made_nanbeige() {
  MadeModel m = made_decoder("nanbeige");
  m.integers["num_loops"] = 3;
  return m;
}

inline MadeModel made_cogvlm() {
  MadeModel m = made_decoder("cogvlm");
  for (uint64_t il = 0; il < 2; ++il)
    for (const char* part : {"attn_q", "attn_k", "attn_v"}) m.tensors.erase(block(il) + part + ".weight");
  m.integers["attention.head_count_kv"] = 4;
  add(m, "attn_qkv.weight", {16, 48});
  // The weights for tokens of images.
  add(m, "vis_attn_qkv.weight", {16, 48});
  add(m, "vis_attn_output.weight", {16, 16});
  for (const char* part : {"vis_gate", "vis_up"}) add(m, std::string(part) + ".weight", {16, 24});
  add(m, "vis_down.weight", {24, 16});
  return m;
}

/// Granite's factors with windows and layers that do not rotate.
inline MadeModel made_granite_swa() {
  MadeModel m = made_decoder("granite_swa", 3);
  for (const auto& [key, value] : std::map<std::string, float>{
           {"embedding_scale", 2.0f}, {"residual_scale", 0.7f}, {"logit_scale", 1.5f}, {"attention.scale", 0.4f}})
    m.floats[key] = value;
  m.integers["attention.sliding_window"] = 4;
  m.arrays = {{"attention.sliding_window_pattern", {1, 0, 1}}, {"attention.rope_pattern", {1, 0, 1}}};
  add(m, "attn_sinks.weight", {4});
  return m;
}

/// Queries and keys of other sizes than values, all of low rank.
inline MadeModel made_minicpm3() {
  MadeModel m = made_decoder("minicpm3");
  m.integers["attention.q_lora_rank"] = 6;
  m.integers["attention.kv_lora_rank"] = 10;
  m.integers["attention.key_length"] = 10;
  m.integers["attention.value_length"] = 4;
  m.integers["attention.head_count_kv"] = 4;
  for (uint64_t il = 0; il < 2; ++il)
    for (const char* part : {"attn_q", "attn_k", "attn_v"}) m.tensors.erase(block(il) + part + ".weight");
  add(m, "attn_q_a.weight", {16, 6});
  add(m, "attn_q_a_norm.weight", {6});
  add(m, "attn_q_b.weight", {6, 40});
  add(m, "attn_kv_a_mqa.weight", {16, 14});
  add(m, "attn_kv_a_norm.weight", {10});
  add(m, "attn_kv_b.weight", {10, 40});
  return m;
}

inline MadeModel made_refact() {
  MadeModel m = made_decoder("refact");
  experts(m, 0, false);
  for (const char* key : {"leading_dense_block_count", "expert_feed_forward_length"}) m.integers.erase(key);
  m.integers["feed_forward_length"] = 12;
  m.floats.erase("rope.freq_base");
  m.integers.erase("rope.dimension_count");
  return m;
}

/// Two of six layers read the keys of earlier ones; each layer has an input of its own.
inline MadeModel made_gemma4() {
  MadeModel m = made_decoder("gemma4", 6);
  m.weight_scale = 0.2f;
  head_norms(m, 4);
  for (const auto& [key, value] : std::map<std::string, uint64_t>{{"attention.sliding_window", 4},
                                                                  {"attention.shared_kv_layers", 2},
                                                                  {"embedding_length_per_layer_input", 8},
                                                                  {"attention.key_length", 4},
                                                                  {"attention.value_length", 4},
                                                                  {"attention.key_length_swa", 4},
                                                                  {"attention.value_length_swa", 4},
                                                                  {"rope.dimension_count_swa", 4}})
    m.integers[key] = value;
  m.floats["rope.freq_base_swa"] = 100.0f;
  m.arrays = {{"attention.sliding_window_pattern", {1, 0, 1, 0, 1, 0}}};
  for (const std::string blk : {"blk.4.", "blk.5."})
    for (const char* part : {"attn_k", "attn_v", "attn_k_norm"}) m.tensors.erase(blk + part + ".weight");
  m.tensors.erase("output.weight");
  m.tensors["rope_freqs.weight"] = {2};
  m.tensors["per_layer_token_embd.weight"] = {48, 32};
  m.tensors["per_layer_model_proj.weight"] = {16, 48};
  m.tensors["per_layer_proj_norm.weight"] = {8};
  for (const char* part : {"post_attention_norm", "post_ffw_norm", "post_norm"})
    add(m, std::string(part) + ".weight", {16});
  add(m, "inp_gate.weight", {16, 8});
  add(m, "proj.weight", {8, 16});
  add(m, "layer_output_scale.weight", {1});
  return m;
}

/// A scan, attention, and experts that are narrower than the model and have no gates.
inline MadeModel made_nemotron_h_moe() {
  MadeModel m = made_decoder("nemotron_h_moe", 3);
  sigmoid_experts(m, 2, true);
  for (const char* key : {"feed_forward_length", "attention.head_count_kv", "leading_dense_block_count"})
    m.integers.erase(key);
  m.floats["attention.layer_norm_epsilon"] = 1e-5f;
  m.arrays = {{"attention.head_count_kv", {0, 2, 0}}, {"feed_forward_length", {0, 0, 24}}};
  for (const auto& [key, value] : std::map<std::string, uint64_t>{{"ssm.conv_kernel", 4},
                                                                  {"ssm.inner_size", 32},
                                                                  {"ssm.state_size", 8},
                                                                  {"ssm.time_step_rank", 4},
                                                                  {"ssm.group_count", 2},
                                                                  {"moe_latent_size", 10}})
    m.integers[key] = value;
  for (uint64_t il = 0; il < 3; ++il) {
    for (const char* part : {"ffn_norm", "ffn_gate", "ffn_up", "ffn_down", "ffn_gate_exps", "ffn_gate_shexp"})
      m.tensors.erase(block(il) + part + ".weight");
    if (il != 1)
      for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"})
        m.tensors.erase(block(il) + part + ".weight");
  }
  m.tensors["blk.0.ssm_in.weight"] = {16, 100};
  m.tensors["blk.0.ssm_conv1d.weight"] = {4, 64};
  m.tensors["blk.0.ssm_conv1d.bias"] = {64};
  m.tensors["blk.0.ssm_dt.bias"] = {4};
  m.tensors["blk.0.ssm_a"] = m.tensors["blk.0.ssm_d"] = {1, 4};
  m.tensors["blk.0.ssm_norm.weight"] = {16, 2};
  m.tensors["blk.0.ssm_out.weight"] = {32, 16};
  m.tensors["blk.2.ffn_latent_down.weight"] = {16, 10};
  m.tensors["blk.2.ffn_latent_up.weight"] = {10, 16};
  m.tensors["blk.2.ffn_up_exps.weight"] = {10, 12, 4};
  m.tensors["blk.2.ffn_down_exps.weight"] = {12, 10, 4};
  m.tensors["blk.2.exp_probs_b.bias"] = {4};
  return m;
}

/// All models of this file.
inline std::vector<MadeModel> made_variants() {
  return {made_dream(),           made_llada(),         made_llada_moe("llada-moe"),
          made_llada_moe("rnd1"), made_grovemoe(),      made_cohere2moe(),
          made_mimo2(),           made_step35(),        made_kimi_linear(),
          made_bailingmoe3(),     made_laguna(),        made_talkie(),
          made_chameleon(),       made_deepseek2_ocr(), made_muse_glimmer(),
          made_minimax01(),       made_nanbeige(),      made_cogvlm(),
          made_granite_swa(),     made_minicpm3(),      made_refact(),
          made_gemma4(),          made_nemotron_h_moe()};
}

}  // namespace ggufscope::test
