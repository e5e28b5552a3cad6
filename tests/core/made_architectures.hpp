// Tiny models of architectures that the reference vectors do not have.
#pragma once

#include "tiny_llama.hpp"

namespace ggufscope::test {

/// An expert network beside a dense one, which reads the layer's input.
inline MadeModel made_arctic() {
  MadeModel m = made_experts();
  m.architecture = "arctic";
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    m.tensors[blk + "ffn_norm_exps.weight"] = {16};
    for (const char* part : {"ffn_gate", "ffn_up", "ffn_down"}) m.tensors[blk + part + ".weight"] = {16, 16};
  }
  return m;
}

/// Layer 1 has a projection instead of attention, layer 2 has no token mixer.
inline MadeModel made_deci() {
  MadeModel m = made_llama();
  m.architecture = "deci";
  m.integers["block_count"] = 3;
  m.integers.erase("attention.head_count");
  m.integers.erase("attention.head_count_kv");
  m.arrays = {{"attention.head_count", {4, 4, 0}}, {"attention.head_count_kv", {2, 0, 0}}};
  for (const char* part : {"attn_q", "attn_k", "attn_v"}) m.tensors.erase("blk.1." + std::string(part) + ".weight");
  for (const char* part : {"ffn_norm", "ffn_gate", "ffn_up", "ffn_down"}) {
    const std::string name = std::string(part) + ".weight";
    m.tensors["blk.2." + name] = m.tensors["blk.0." + name];
  }
  return m;
}

/// Further residual streams, sparse gates in the first layers, and two layers that read the keys of earlier ones.
inline MadeModel made_gemma3n() {
  MadeModel m;
  m.architecture = "gemma3n";
  const uint64_t n_layer = 22, n_own = 256, rank = 64;
  m.weight_scale = 0.2f;
  m.integers = {{"context_length", 64},      {"embedding_length", 16},      {"block_count", n_layer},
                {"feed_forward_length", 24}, {"attention.head_count", 2},   {"attention.head_count_kv", 1},
                {"attention.key_length", 8}, {"attention.value_length", 8}, {"attention.sliding_window", 4},
                {"rope.dimension_count", 8}};
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}, {"rope.freq_base", 1000.0f}};
  m.tensors = {{"token_embd.weight", {16, 32}},
               {"output_norm.weight", {16}},
               {"altup_proj.weight", {16, 16, 3}},
               {"altup_unembd_proj.weight", {16, 16, 3}},
               {"per_layer_token_embd.weight", {n_own * n_layer, 32}},
               {"per_layer_model_proj.weight", {16, n_own * n_layer}},
               {"per_layer_proj_norm.weight", {n_own}}};
  for (uint64_t il = 0; il < n_layer; ++il) {
    const std::string blk = "blk." + std::to_string(il) + ".";
    for (const char* part : {"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm",
                             "altup_router_norm", "altup_correct_scale", "laurel_post_norm"})
      m.tensors[blk + part + ".weight"] = {16};
    m.tensors[blk + "attn_q_norm.weight"] = m.tensors[blk + "attn_k_norm.weight"] = {8};
    m.tensors[blk + "attn_q.weight"] = m.tensors[blk + "attn_output.weight"] = {16, 16};
    m.tensors[blk + "attn_k.weight"] = m.tensors[blk + "attn_v.weight"] = {16, 8};
    m.tensors[blk + "ffn_gate.weight"] = m.tensors[blk + "ffn_up.weight"] = {16, 24};
    m.tensors[blk + "ffn_down.weight"] = {24, 16};
    m.tensors[blk + "inp_gate.weight"] = {16, n_own};
    m.tensors[blk + "proj.weight"] = {n_own, 16};
    m.tensors[blk + "altup_correct_coef.weight"] = {4, 4};
    m.tensors[blk + "altup_predict_coef.weight"] = {4, 16};
    m.tensors[blk + "altup_router.weight"] = {16, 4};
    m.tensors[blk + "laurel_l.weight"] = {16, rank};
    m.tensors[blk + "laurel_r.weight"] = {rank, 16};
  }
  return m;
}

/// Queries of low rank, keys of a latent vector, a factor that grows with the position, a shared expert.
inline MadeModel made_mistral4() {
  MadeModel m;
  m.architecture = "mistral4";
  m.integers = {{"context_length", 64},
                {"embedding_length", 16},
                {"block_count", 2},
                {"feed_forward_length", 24},
                {"attention.head_count", 4},
                {"attention.head_count_kv", 1},
                {"attention.q_lora_rank", 6},
                {"attention.kv_lora_rank", 10},
                {"attention.key_length", 14},
                {"attention.value_length", 10},
                {"attention.key_length_mla", 9},
                {"attention.value_length_mla", 7},
                {"rope.dimension_count", 4},
                {"leading_dense_block_count", 1},
                {"expert_count", 4},
                {"expert_used_count", 2},
                {"expert_shared_count", 1},
                {"expert_feed_forward_length", 12},
                {"expert_gating_func", 1},
                {"attention.temperature_length", 4},
                {"rope.scaling.original_context_length", 4}};
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f},
              {"rope.freq_base", 1000.0f},
              {"expert_weights_scale", 1.5f},
              {"attention.temperature_scale", 0.3f}};
  m.tensors = {{"token_embd.weight", {16, 32}},
               {"output_norm.weight", {16}},
               {"output.weight", {16, 32}},
               {"blk.0.ffn_gate.weight", {16, 24}},
               {"blk.0.ffn_up.weight", {16, 24}},
               {"blk.0.ffn_down.weight", {24, 16}},
               {"blk.1.ffn_gate_inp.weight", {16, 4}},
               {"blk.1.ffn_gate_exps.weight", {16, 12, 4}},
               {"blk.1.ffn_up_exps.weight", {16, 12, 4}},
               {"blk.1.ffn_down_exps.weight", {12, 16, 4}},
               {"blk.1.ffn_gate_shexp.weight", {16, 12}},
               {"blk.1.ffn_up_shexp.weight", {16, 12}},
               {"blk.1.ffn_down_shexp.weight", {12, 16}}};
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    m.tensors[blk + "attn_norm.weight"] = m.tensors[blk + "ffn_norm.weight"] = {16};
    m.tensors[blk + "attn_q_a_norm.weight"] = {6};
    m.tensors[blk + "attn_kv_a_norm.weight"] = {10};
    m.tensors[blk + "attn_q_a.weight"] = {16, 6};
    m.tensors[blk + "attn_q_b.weight"] = {6, 36};
    m.tensors[blk + "attn_kv_a_mqa.weight"] = {16, 14};
    m.tensors[blk + "attn_k_b.weight"] = {5, 10, 4};
    m.tensors[blk + "attn_v_b.weight"] = {10, 7, 4};
    m.tensors[blk + "attn_output.weight"] = {28, 16};
  }
  return m;
}

/// Attention, then a scan whose heads have a gate and one decay each.
inline MadeModel made_plamo2() {
  MadeModel m;
  m.architecture = "plamo2";
  m.integers = {{"context_length", 64},      {"embedding_length", 32},    {"block_count", 2},
                {"feed_forward_length", 24}, {"attention.key_length", 8}, {"attention.value_length", 8},
                {"rope.dimension_count", 8}, {"ssm.conv_kernel", 4},      {"ssm.inner_size", 64},
                {"ssm.state_size", 16},      {"ssm.time_step_rank", 4},   {"ssm.group_count", 0}};
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}, {"rope.freq_base", 1000.0f}};
  m.arrays = {{"attention.head_count", {4, 0}}, {"attention.head_count_kv", {2, 0}}};
  m.tensors = {{"token_embd.weight", {32, 32}},
               {"output_norm.weight", {32}},
               {"output.weight", {32, 32}},
               {"blk.0.attn_qkv.weight", {32, 64}},
               {"blk.0.attn_output.weight", {32, 32}},
               {"blk.0.attn_q_norm.weight", {8, 4}},
               {"blk.0.attn_k_norm.weight", {8, 2}},
               {"blk.1.ssm_in.weight", {32, 128}},
               {"blk.1.ssm_conv1d.weight", {4, 64}},
               {"blk.1.ssm_x.weight", {64, 96}},
               {"blk.1.ssm_dt.weight", {64, 4}},
               {"blk.1.ssm_dt.bias", {4}},
               {"blk.1.ssm_a", {4}},
               {"blk.1.ssm_d", {4}},
               {"blk.1.ssm_b_norm", {16}},
               {"blk.1.ssm_c_norm", {16}},
               {"blk.1.ssm_dt_norm", {64}},
               {"blk.1.ssm_out.weight", {64, 32}}};
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    m.tensors[blk + "attn_norm.weight"] = m.tensors[blk + "ffn_norm.weight"] = {32};
    m.tensors[blk + "post_attention_norm"] = m.tensors[blk + "post_ffw_norm"] = {32};
    m.tensors[blk + "ffn_up.weight"] = {32, 48};
    m.tensors[blk + "ffn_down.weight"] = {24, 32};
  }
  return m;
}

}  // namespace ggufscope::test
