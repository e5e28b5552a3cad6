// Tiny projectors of mmproj files with generated weights, and the pictures that go through them. What libmtmd makes of
// them is in tests/fixtures/golden/projectors.
#pragma once

#include "media/image.hpp"
#include "tiny_llama.hpp"

namespace ggufscope::test {

inline constexpr uint64_t kMadeWidth = 32;  ///< floats in a token, the embedding length of golden/arch/llama

struct MadeProjector {
  std::string name;  ///< of its folder in golden/projectors
  MadeModel file;
  double tolerance;  ///< for embeddings: ggml's GELU goes by a table of 16-bit floats
  std::vector<ImageSize> pictures{};
  std::vector<size_t> sounds{};  ///< lengths in samples
};

/// Every pixel is another color, and neighbours are not alike.
inline Image made_picture(ImageSize size) {
  Image image{size, {}};
  for (uint32_t y = 0; y < size.height; ++y)
    for (uint32_t x = 0; x < size.width; ++x)
      for (uint32_t c = 0; c < 3; ++c)
        image.rgb.push_back(static_cast<uint8_t>(x * x / 5 + (3 + c) * y + 70 * c + (x + c) * y / 9));
  return image;
}

/// A few notes of 1/16 s, as triangles. Exact in 16 bits.
inline std::vector<float> made_sound(size_t n_samples) {
  std::vector<float> samples;
  for (size_t i = 0; i < n_samples; ++i) {
    const size_t period = 24 + 17 * (i / 1000 % 5), at = i % period;
    const auto height = static_cast<float>(at < period / 2 ? at : period - at) / static_cast<float>(period);
    samples.push_back(static_cast<float>(static_cast<int>((height - 0.25f) * 40000)) / 32768);
  }
  return samples;
}

inline void add_layer(MadeModel& m, const std::string& blk, uint64_t n, uint64_t n_ff) {
  using Shape = std::vector<uint64_t>;
  for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_out", "ln1", "ln2"}) {
    m.tensors[blk + part + ".weight"] = part[0] == 'l' ? Shape{n} : Shape{n, n};
    m.tensors[blk + part + ".bias"] = {n};
  }
  m.tensors[blk + "ffn_up.weight"] = {n, n_ff};
  m.tensors[blk + "ffn_up.bias"] = {n_ff};
  m.tensors[blk + "ffn_down.weight"] = {n_ff, n};
  m.tensors[blk + "ffn_down.bias"] = {n};
}

/// A matrix with its bias.
inline void add_linear(MadeModel& m, const std::string& name, uint64_t n_in, uint64_t n_out) {
  m.tensors[name + ".weight"] = {n_in, n_out};
  m.tensors[name + ".bias"] = {n_out};
}
inline void add_norm(MadeModel& m, const std::string& name, uint64_t n) {
  m.tensors[name + ".weight"] = m.tensors[name + ".bias"] = {n};
}

/// An encoder of two layers; positions: rows of its table.
inline MadeModel made_vit(const std::string& type, uint64_t image_size, uint64_t patch, uint64_t positions) {
  MadeModel m;
  m.architecture = "clip";
  m.wide_integers = false;
  m.booleans = {{"has_vision_encoder", true}};
  m.strings = {{"projector_type", type}};
  m.integers = {{"vision.embedding_length", 32}, {"vision.feed_forward_length", 48}, {"vision.block_count", 2},
                {"vision.projection_dim", 32},   {"vision.attention.head_count", 2}, {"vision.image_size", image_size},
                {"vision.patch_size", patch}};
  m.floats = {{"vision.attention.layer_norm_epsilon", 1e-6f}};
  m.float_arrays = {{"vision.image_mean", {0.5f, 0.45f, 0.4f}}, {"vision.image_std", {0.25f, 0.3f, 0.35f}}};
  m.tensors = {{"v.patch_embd.weight", {patch, patch, 3, 32}}, {"v.patch_embd.bias", {32}}};
  if (positions != 0) m.tensors["v.position_embd.weight"] = {32, positions};
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) add_layer(m, blk, 32, 48);
  return m;
}

/// One matrix for queries, keys and values.
inline void fuse_attention(MadeModel& m, const std::string& blk, uint64_t n_fused) {
  for (const char* part : {"attn_q", "attn_k", "attn_v"})
    for (const char* end : {".weight", ".bias"}) m.tensors.erase(blk + part + end);
  add_linear(m, blk + "attn_qkv", 32, n_fused);
}

/// A gate in each layer, and no bias but those of attention; RMS norms.
inline void gate_layers(MadeModel& m) {
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) {
    m.tensors[blk + "ffn_gate.weight"] = m.tensors[blk + "ffn_up.weight"];
    for (const char* part : {"ln1", "ln2", "ffn_up", "ffn_down"}) m.tensors.erase(blk + part + ".bias");
  }
}

inline void bound_pixels(MadeModel& m, uint64_t least, uint64_t most) {
  m.integers["vision.image_min_pixels"] = least;
  m.integers["vision.image_max_pixels"] = most;
}

inline void add_kimi_projector(MadeModel& m) {
  add_norm(m, "v.post_ln", 32);
  add_norm(m, "mm.input_norm", 32);
  add_linear(m, "mm.1", 4 * 32, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
}

inline std::vector<MadeProjector> made_projectors() {
  std::vector<MadeProjector> all;
  const std::vector<ImageSize> sizes{{52, 28}, {9, 30}};

  MadeModel m = made_vit("kimivl", 16, 4, 16);
  m.integers["vision.projector.scale_factor"] = 2;
  add_kimi_projector(m);
  all.push_back({"kimivl", m, 5e-3, sizes});

  m = made_vit("kimik25", 16, 4, 0);
  m.tensors["v.position_embd.weight"] = {32, 5, 3};
  m.integers["vision.projector.scale_factor"] = 2;
  m.booleans["use_gelu"] = true;
  bound_pixels(m, 500, 1500);
  add_kimi_projector(m);
  all.push_back({"kimik25", m, 5e-3, {{70, 34}, {9, 20}}});

  m = made_vit("llama4", 16, 4, 17);
  m.integers["vision.projector.scale_factor"] = 2;
  m.booleans["use_gelu"] = true;
  m.tensors["v.patch_embd.weight"] = {48, 32};
  m.tensors.erase("v.patch_embd.bias");
  m.tensors["v.class_embd"] = {32};
  add_norm(m, "v.pre_ln", 32);
  add_norm(m, "v.post_ln", 32);
  m.tensors["mm.model.mlp.1.weight"] = {128, 40};
  m.tensors["mm.model.mlp.2.weight"] = {40, 36};
  m.tensors["mm.model.fc.weight"] = {36, kMadeWidth};
  all.push_back({"llama4", m, 5e-3, {{40, 22}, {9, 12}}});

  m = made_vit("glm4v", 16, 4, 16);
  m.booleans["use_silu"] = true;
  m.tensors["v.patch_embd.weight.1"] = m.tensors["v.patch_embd.weight"];
  m.tensors["v.norm_embd.weight"] = m.tensors["v.post_ln.weight"] = {32};
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 96);
  gate_layers(m);
  m.tensors["mm.patch_merger.weight"] = {2, 2, 32, 40};
  m.tensors["mm.patch_merger.bias"] = {40};
  m.tensors["mm.model.fc.weight"] = {40, 36};
  add_norm(m, "mm.post_norm", 36);
  m.tensors["mm.up.weight"] = m.tensors["mm.gate.weight"] = {36, 44};
  m.tensors["mm.down.weight"] = {44, kMadeWidth};
  all.push_back({"glm4v", m, 5e-3, sizes});

  m = made_vit("youtuvl", 16, 4, 0);
  m.tensors["v.patch_embd.weight"] = {48, 32};
  m.integers["vision.window_size"] = 16;
  m.arrays["vision.wa_layer_indexes"] = {1};
  m.booleans["use_gelu"] = true;
  add_norm(m, "v.post_ln", 32);
  m.tensors["mm.input_norm.weight"] = {32};
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  all.push_back({"youtuvl", m, 5e-3, {{44, 26}, {9, 30}}});

  m = made_vit("cogvlm", 16, 4, 17);
  m.booleans["use_gelu"] = true;
  m.tensors["v.class_embd"] = {32};
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 96);
  m.tensors["mm.model.fc.weight"] = {32, 36};
  add_norm(m, "mm.post_fc_norm", 36);
  m.tensors["mm.up.weight"] = m.tensors["mm.gate.weight"] = {36, 44};
  m.tensors["mm.down.weight"] = {44, kMadeWidth};
  m.tensors["v.boi"] = m.tensors["v.eoi"] = {kMadeWidth};
  all.push_back({"cogvlm", m, 5e-3, {{40, 22}}});

  m = made_vit("lightonocr", 60, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.spatial_merge_size"] = 2;
  gate_layers(m);
  m.tensors["v.pre_ln.weight"] = m.tensors["mm.input_norm.weight"] = {32};
  m.tensors["mm.patch_merger.weight"] = {128, 32};
  m.tensors["mm.1.weight"] = {32, 40};
  m.tensors["mm.2.weight"] = {40, kMadeWidth};
  all.push_back({"lightonocr", m, 5e-3, {{52, 28}, {40, 90}}});

  m = made_vit("exaone4_5", 16, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.attention.head_count"] = 4;
  m.integers["vision.attention.head_count_kv"] = 2;
  m.integers["vision.n_wa_pattern"] = 2;
  m.integers["vision.patch_size"] = 14;
  bound_pixels(m, 14 * 14 * 4 * 8, 14 * 14 * 4 * 40);
  m.tensors["v.patch_embd.weight"] = m.tensors["v.patch_embd.weight.1"] = {14, 14, 3, 32};
  m.tensors.erase("v.patch_embd.bias");
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 64);
  gate_layers(m);
  m.tensors["v.post_ln.weight"] = {32};
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  all.push_back({"exaone4_5", m, 5e-3, {{230, 150}}});

  m = made_vit("mimovl", 16, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.block_count"] = 4;
  m.integers["vision.attention.head_count"] = 4;
  m.integers["vision.attention.head_count_kv"] = 2;
  m.integers["vision.window_size"] = 5;
  m.arrays["vision.wa_pattern_mode"] = {0, 1, -1, 1};
  bound_pixels(m, 600, 1500);
  m.tensors["v.patch_embd.weight.1"] = m.tensors["v.patch_embd.weight"];
  m.tensors.erase("v.patch_embd.bias");
  for (const std::string blk : {"v.blk.0.", "v.blk.1.", "v.blk.2.", "v.blk.3."}) {
    add_layer(m, blk, 32, 48);
    fuse_attention(m, blk, 8 * 12);
    m.tensors[blk + "attn_out.weight"] = {48, 32};
    m.tensors[blk + "attn_sinks"] = {4};
    m.tensors[blk + "ffn_gate.weight"] = {32, 48};
    m.tensors[blk + "ffn_gate.bias"] = {48};
    for (const char* norm : {"ln1.bias", "ln2.bias"}) m.tensors.erase(blk + norm);
  }
  m.tensors.erase("v.blk.2.attn_sinks");
  m.tensors["v.post_ln.weight"] = {32};
  m.tensors["mm.0.weight"] = {128, 40};
  m.tensors["mm.2.weight"] = {40, kMadeWidth};
  all.push_back({"mimovl", m, 5e-3, {{44, 26}, {9, 30}}});

  m = made_vit("dots_ocr", 16, 4, 0);
  m.booleans["use_silu"] = true;
  m.integers["vision.projector.scale_factor"] = 2;
  bound_pixels(m, 600, 1500);
  for (const std::string blk : {"v.blk.0.", "v.blk.1."}) fuse_attention(m, blk, 96);
  gate_layers(m);
  m.tensors["v.pre_ln.weight"] = m.tensors["mm.post_norm.weight"] = {32};
  add_norm(m, "mm.input_norm", 32);
  add_linear(m, "mm.0", 128, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  all.push_back({"dots_ocr", m, 5e-3, {{44, 26}, {9, 30}}});

  m = made_vit("paddleocr", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  bound_pixels(m, 600, 1500);
  add_kimi_projector(m);
  all.push_back({"paddleocr", m, 5e-3, {{44, 26}, {9, 30}}});

  m = made_vit("nemotron_v2_vl", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  m.integers["vision.projector.scale_factor"] = 2;
  m.tensors["v.class_embd"] = {32, 3};
  m.tensors["mm.model.mlp.0.weight"] = {128};
  m.tensors["mm.model.mlp.1.weight"] = {128, 40};
  m.tensors["mm.model.mlp.3.weight"] = {40, kMadeWidth};
  all.push_back({"nemotron_v2_vl", m, 5e-3, {{44, 26}, {9, 30}}});

  m = made_vit("janus_pro", 16, 4, 16);
  add_norm(m, "v.post_ln", 32);
  add_linear(m, "mm.0", 32, 40);
  add_linear(m, "mm.1", 40, kMadeWidth);
  all.push_back({"janus_pro", m, 5e-3, {{40, 22}}});

  m = made_vit("phi4", 16, 4, 16);
  m.booleans["use_gelu"] = true;
  bound_pixels(m, 300, 600);
  add_linear(m, "mm.0", 32, 40);
  add_linear(m, "mm.2", 40, kMadeWidth);
  all.push_back({"phi4", m, 5e-3, {{44, 26}, {9, 30}}});
  return all;
}

}  // namespace ggufscope::test
