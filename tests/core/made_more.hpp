// Further tiny models: convolutions beside attention, chunks with rope factors, encoders of T5, RWKV's own containers.
#pragma once

#include "made_variants.hpp"

namespace ggufscope::test {

/// Short convolutions around a layer with attention.
inline MadeModel made_lfm2(const std::string& architecture = "lfm2") {
  MadeModel m = made_decoder(architecture, 3);
  m.integers.erase("attention.head_count_kv");
  m.arrays = {{"attention.head_count_kv", {0, 2, 0}}};
  m.integers["shortconv.l_cache"] = 3;
  for (const std::string blk : {"blk.0.", "blk.2."}) {
    for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"}) m.tensors.erase(blk + part + ".weight");
    m.tensors[blk + "shortconv.conv.weight"] = {3, 16};
    m.tensors[blk + "shortconv.in_proj.weight"] = {16, 48};
    m.tensors[blk + "shortconv.out_proj.weight"] = {16, 16};
  }
  m.tensors["blk.1.attn_q_norm.weight"] = m.tensors["blk.1.attn_k_norm.weight"] = {4};
  m.tensors.erase("output_norm.weight");
  m.tensors.erase("output.weight");
  m.tensors["token_embd_norm.weight"] = {16};
  return m;
}

/// Rope factors; the fourth layer has no rope.
inline MadeModel made_llama4() {
  MadeModel m = made_decoder("llama4", 4);
  experts(m, 0, true);
  m.integers["expert_used_count"] = 1;
  m.integers["interleave_moe_layer_step"] = 1;
  m.tensors["rope_freqs.weight"] = {2};
  return m;
}

/// An encoder alone, or with its decoder.
inline MadeModel made_t5(bool with_decoder) {
  MadeModel m;
  m.architecture = with_decoder ? "t5" : "t5encoder";
  m.integers = {{"context_length", 64},      {"embedding_length", 16},    {"block_count", 2},
                {"feed_forward_length", 24}, {"attention.head_count", 4}, {"attention.relative_buckets_count", 8}};
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}};
  m.tensors = {{"token_embd.weight", {16, 32}}, {"enc.output_norm.weight", {16}}};
  if (with_decoder) m.tensors["dec.output_norm.weight"] = {16}, m.tensors["output.weight"] = {16, 32};
  for (const std::string stack : {"enc.", "dec."}) {
    if (stack == "dec." && !with_decoder) continue;
    for (const std::string il : {"0", "1"}) {
      const std::string blk = stack + "blk." + il + ".";
      for (const std::string part : {"attn_", "cross_attn_"}) {
        if (part == "cross_attn_" && stack == "enc.") continue;
        m.tensors[blk + part + "norm.weight"] = {16};
        for (const char* to : {"q", "k", "v", "o"}) m.tensors[blk + part + to + ".weight"] = {16, 16};
      }
      m.tensors[blk + "ffn_norm.weight"] = {16};
      m.tensors[blk + "ffn_gate.weight"] = m.tensors[blk + "ffn_up.weight"] = {16, 24};
      m.tensors[blk + "ffn_down.weight"] = {24, 16};
    }
    m.tensors[stack + "blk.0.attn_rel_b.weight"] = {4, 8};
  }
  return m;
}

}  // namespace ggufscope::test
