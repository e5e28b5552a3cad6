// Parts of generated projectors, and the pictures and sounds that go through them.
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
  bool wide = false;             ///< for made_wide_text() instead of golden/arch/llama
  [[nodiscard]] uint64_t width() const { return wide ? 128 : kMadeWidth; }  ///< floats in a token
};

/// A pattern in which neighbouring pixels differ.
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
    const auto noise = static_cast<int>(uint64_t{i} * i * 7919 % 601) - 300;  // in every band
    samples.push_back(static_cast<float>(static_cast<int>((height - 0.25f) * 40000) + noise) / 32768);
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

}  // namespace ggufscope::test
