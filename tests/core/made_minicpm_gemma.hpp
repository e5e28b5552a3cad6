// Generated projectors of MiniCPM-V, Gemma 4 and Gemma 3n, and a text model for those that need one with wide
// embeddings or with the tokens around slices.
#pragma once

#include <array>

#include "made_encoder.hpp"

namespace ggufscope::test {

inline constexpr uint64_t kWideWidth =
    128;  ///< floats in a token of a `wide` projector: the resampler's heads are 128 wide

/// A llama of one layer. Its vocabulary has the tokens that libmtmd writes around slices.
inline MadeModel made_wide_text() {
  const std::vector<std::pair<const char*, int32_t>> tokens = {
      {"<unk>", 2},    {"<s>", 3},        {"</s>", 3},        {"\u2581", 1},   {"0", 1},
      {"1", 1},        {"\n", 4},         {"<image>", 3},     {"</image>", 3}, {"<slice>", 3},
      {"</slice>", 3}, {"<image_id>", 3}, {"</image_id>", 3}, {"a", 1},        {"b", 1}};
  MadeModel m;
  m.integers = {{"context_length", 512},       {"embedding_length", kWideWidth}, {"block_count", 1},
                {"feed_forward_length", 8},    {"attention.head_count", 2},      {"attention.key_length", 4},
                {"attention.value_length", 4}, {"rope.dimension_count", 4},      {"vocab_size", tokens.size()}};
  m.wide_integers = false;
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}};
  m.tokens.assign(tokens.begin(), tokens.end());
  m.tensors = {{"token_embd.weight", {kWideWidth, tokens.size()}}, {"output_norm.weight", {kWideWidth}},
               {"blk.0.attn_norm.weight", {kWideWidth}},           {"blk.0.ffn_norm.weight", {kWideWidth}},
               {"blk.0.attn_q.weight", {kWideWidth, 8}},           {"blk.0.attn_k.weight", {kWideWidth, 8}},
               {"blk.0.attn_v.weight", {kWideWidth, 8}},           {"blk.0.attn_output.weight", {8, kWideWidth}},
               {"blk.0.ffn_gate.weight", {kWideWidth, 8}},         {"blk.0.ffn_up.weight", {kWideWidth, 8}},
               {"blk.0.ffn_down.weight", {8, kWideWidth}}};
  return m;
}

/// The same with multi-axis positions: by default, or with the time of an image's canvas on the first axis.
inline MadeModel made_canvas_text(bool canvas_time) {
  MadeModel m = made_wide_text();
  m.architecture = "qwen2vl";
  for (const char* key : {"attention.key_length", "attention.value_length", "rope.dimension_count"})
    m.integers[key] = kWideWidth / 2;
  m.arrays["rope.dimension_sections"] = {10, 12, 10, 0};
  if (canvas_time) m.strings["rope.section_order"] = "zyxt";
  for (const char* part : {"q", "k", "v"}) {
    const std::string name = std::string("blk.0.attn_") + part;
    m.tensors[name + ".weight"] = {kWideWidth, kWideWidth};
    m.tensors[name + ".bias"] = {kWideWidth};
  }
  m.tensors["blk.0.attn_output.weight"] = {kWideWidth, kWideWidth};
  return m;
}

inline MadeModel made_resampler(int32_t version) {
  MadeModel m = made_vit("resampler", 28, 7, 4900);
  const uint64_t n = kWideWidth, n_queries = 5;
  m.signed_integers["minicpmv_version"] = version;
  m.integers["minicpmv_query_num"] = n_queries;
  m.booleans["use_gelu"] = true;
  add_norm(m, "v.post_ln", 32);
  m.tensors["resampler.pos_embed_k"] = {n, 4};
  m.tensors["resampler.query"] = {n, n_queries};
  m.tensors["resampler.proj.weight"] = {n, n};
  m.tensors["resampler.kv.weight"] = {32, n};
  for (const char* part : {"q", "k", "v", "out"}) add_linear(m, std::string("resampler.attn.") + part, n, n);
  for (const char* part : {"q", "kv", "post"}) add_norm(m, std::string("resampler.ln_") + part, n);
  return m;
}

inline MadeModel made_minicpmv46(uint64_t factor) {
  MadeModel m = made_vit("minicpmv4_6", 32, 4, 4900);
  m.integers["vision.projector.scale_factor"] = factor;
  m.booleans["use_gelu"] = true;
  add_norm(m, "v.post_ln", 32);
  add_norm(m, "mm.input_norm", 128);
  add_linear(m, "mm.up", 128, 40);
  add_linear(m, "mm.down", 40, kWideWidth);
  if (factor == 2) return m;
  add_norm(m, "v.vit_merger.ln1", 32);
  for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_out"})
    add_linear(m, std::string("v.vit_merger.") + part, 32, 32);
  add_norm(m, "v.vit_merger.ds_ln", 128);
  add_linear(m, "v.vit_merger.ds_ffn_up", 128, 44);
  add_linear(m, "v.vit_merger.ds_ffn_down", 44, 32);
  return m;
}

/// All parts of an image are one run of tokens, with separators between them.
inline MadeModel made_minicpmv47(uint64_t factor) {
  MadeModel m = made_minicpmv46(factor);
  m.strings["projector_type"] = "minicpmv4_7";
  m.tensors["v.tok_embd_sep"] = {kWideWidth, 4};
  return m;
}

inline MadeModel made_gemma4v() {
  MadeModel m = made_vit("gemma4v", 16, 4, 0);
  m.booleans["use_gelu"] = true;
  m.tensors.erase("v.patch_embd.bias");
  m.tensors["v.position_embd.weight"] = {32, 60, 2};
  m.tensors["v.std_bias"] = m.tensors["v.std_scale"] = {32};
  m.tensors["mm.input_projection.weight"] = {32, kMadeWidth};
  gate_layers(m);
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) {
    for (const char* part : {"ln1", "ln2", "attn_q", "attn_k", "attn_v", "attn_out", "ffn_up", "ffn_gate", "ffn_down"})
      m.tensors.erase(blk + part + ".bias");
    m.tensors[blk + "attn_q_norm.weight"] = m.tensors[blk + "attn_k_norm.weight"] = {16};
    m.tensors[blk + "attn_post_norm.weight"] = m.tensors[blk + "ffn_post_norm.weight"] = {32};
  }
  for (const char* part : {"v.blk.0.attn_q", "v.blk.0.attn_v", "v.blk.0.attn_out", "v.blk.1.ffn_up", "v.blk.1.ffn_down",
                           "mm.input_projection"})
    for (const char* end : {".input_min", ".input_max", ".output_min", ".output_max"})
      m.constants[std::string(part) + end] = std::string(end).ends_with("min") ? -0.8f : 0.9f;
  m.constants.erase("v.blk.0.attn_v.input_min");
  for (const auto& [name, value] : m.constants) m.tensors[name] = {1};
  return m;
}

inline MadeModel made_gemma4uv() {
  MadeModel m = made_vit("gemma4uv", 16, 2, 0);
  m.integers["vision.block_count"] = m.integers["vision.attention.head_count"] = 0;
  m.integers["vision.projector.scale_factor"] = 2;
  std::erase_if(m.tensors, [](const auto& tensor) { return tensor.first.starts_with("v.blk."); });
  m.tensors["v.patch_embd.weight"] = {48, 32};
  m.tensors["v.position_embd.weight"] = {32, 60, 2};
  m.tensors["mm.input_projection.weight"] = {32, kMadeWidth};
  add_norm(m, "v.patch_norm.1", 48);
  add_norm(m, "v.patch_norm.2", 32);
  add_norm(m, "v.patch_norm.3", 32);
  return m;
}

/// A block of MobileNetV5 with depthwise kernels of this size, or without them.
inline void add_inverted(MadeModel& m, const std::string& blk, std::array<uint64_t, 3> channels, uint64_t kernel) {
  const auto convolution = [&](const std::string& part, std::vector<uint64_t> shape) {
    m.tensors[blk + part + ".bn.weight"] = {shape[3]};
    if (shape[2] == 1) m.halves.insert(blk + part + ".conv.weight");
    m.tensors[blk + part + ".conv.weight"] = std::move(shape);
  };
  const auto [n_in, n_wide, n_out] = channels;
  if (kernel != 0) convolution("dw_start", {3, 3, 1, n_in});
  convolution("pw_exp", {1, 1, n_in, n_wide});
  if (kernel != 0) convolution("dw_mid", {kernel, kernel, 1, n_wide});
  convolution("pw_proj", {1, 1, n_wide, n_out});
  m.tensors[blk + "layer_scale.gamma"] = {1, 1, n_out};
}

inline void add_mobile_attention(MadeModel& m, const std::string& blk, uint64_t n, bool down) {
  m.tensors[blk + "norm.weight"] = {n};
  m.tensors[blk + "attn.query.proj.weight"] = {1, 1, n, 16};
  m.tensors[blk + "attn.output.proj.weight"] = {1, 1, 16, n};
  for (const std::string part : {"key", "value"}) {
    m.tensors[blk + "attn." + part + ".proj.weight"] = {1, 1, n, 8};
    if (!down) continue;
    m.tensors[blk + "attn." + part + ".down_conv.weight"] = {3, 3, 1, n};
    m.halves.insert(blk + "attn." + part + ".down_conv.weight");
    m.tensors[blk + "attn." + part + ".norm.weight"] = {n};
  }
  m.tensors[blk + "layer_scale.gamma"] = {1, 1, n};
}

inline MadeModel made_gemma3nv() {
  MadeModel m = made_vit("gemma3nv", 64, 4, 0);
  m.integers["vision.block_count"] = 0;
  m.tensors = {{"v.conv_stem.conv.weight", {3, 3, 3, 8}},
               {"v.conv_stem.conv.bias", {1, 1, 8}},
               {"v.conv_stem.bn.weight", {8}},
               {"v.msfa.ffn.pw_exp.conv.weight", {1, 1, 32, 24}},
               {"v.msfa.ffn.pw_exp.bn.weight", {24}},
               {"v.msfa.ffn.pw_proj.conv.weight", {1, 1, 24, 32}},
               {"v.msfa.ffn.pw_proj.bn.weight", {32}},
               {"v.msfa.norm.weight", {32}},
               {"mm.soft_emb_norm.weight", {32}},
               {"mm.input_projection.weight", {32, kMadeWidth}}};
  const auto edge = [&](const std::string& blk, uint64_t n_in, uint64_t n_wide, uint64_t n_out) {
    m.tensors[blk + "conv_exp.weight"] = {3, 3, n_in, n_wide};
    m.tensors[blk + "bn1.weight"] = {n_wide};
    m.tensors[blk + "conv_pwl.weight"] = {1, 1, n_wide, n_out};
    m.tensors[blk + "bn2.weight"] = {n_out};
    m.halves.insert(blk + "conv_exp.weight");
  };
  edge("v.blk.0.0.", 8, 12, 8);
  edge("v.blk.0.1.", 8, 12, 8);
  add_inverted(m, "v.blk.1.0.", {8, 16, 12}, 5);
  add_inverted(m, "v.blk.1.1.", {12, 16, 12}, 0);
  add_inverted(m, "v.blk.2.0.", {12, 16, 16}, 5);
  add_mobile_attention(m, "v.blk.2.1.", 16, true);
  add_inverted(m, "v.blk.3.0.", {16, 20, 16}, 5);
  add_mobile_attention(m, "v.blk.3.1.", 16, false);
  return m;
}

/// Appends them all.
inline void add_minicpm_gemma(std::vector<MadeProjector>& all) {
  const auto wide = [&](const char* name, MadeModel file, std::vector<ImageSize> pictures) {
    all.push_back({name, std::move(file), 5e-3, std::move(pictures)});
    all.back().wide = true;
  };
  wide("resampler", made_resampler(3), {{80, 50}, {20, 20}});
  wide("resampler-2", made_resampler(2), {{20, 61}});
  wide("minicpmv4_6", made_minicpmv46(4), {{70, 45}, {17, 30}});
  wide("minicpmv4_7", made_minicpmv47(4), {{70, 45}, {17, 30}, {120, 40}, {40, 40}});
  wide("minicpmv4_7-2", made_minicpmv47(2), {{61, 33}});
  wide("minicpmv4_6-2", made_minicpmv46(2), {{61, 33}});
  all.push_back({"gemma4v", made_gemma4v(), 5e-3, {{90, 61}}});
  all.push_back({"gemma4uv", made_gemma4uv(), 5e-3, {{40, 27}}});
  all.push_back({"gemma3nv", made_gemma3nv(), 2e-2, {{70, 52}}});
}

}  // namespace ggufscope::test
