// Tiny audio projectors with generated weights. What libmtmd makes of them is in tests/fixtures/golden/projectors.
#pragma once

#include "made_encoder.hpp"

namespace ggufscope::test {

/// Sizes that all generated audio encoders have.
inline constexpr uint64_t kEar = 24, kEarWide = 40, kEarHead = 12;

inline MadeModel made_ear(const std::string& type, uint64_t n_mel, uint64_t n_layer = 2) {
  MadeModel m;
  m.architecture = "clip";
  m.wide_integers = false;
  m.booleans = {{"has_audio_encoder", true}};
  m.strings = {{"audio.projector_type", type}};
  // libmtmd ignores the length of the feed-forward layers; the tensors have it.
  m.integers = {{"audio.embedding_length", kEar},  {"audio.feed_forward_length", kEarWide / 2},
                {"audio.block_count", n_layer},    {"audio.projection_dim", kMadeWidth},
                {"audio.attention.head_count", 2}, {"audio.num_mel_bins", n_mel}};
  m.floats = {{"audio.attention.layer_norm_epsilon", 1e-5f}};
  return m;
}

inline std::string ear_block(uint64_t i) { return "a.blk." + std::to_string(i) + "."; }

/// A matrix, with a bias if `bias`.
inline void add_matrix(MadeModel& m, const std::string& name, uint64_t n_in, uint64_t n_out, bool bias) {
  m.tensors[name + ".weight"] = {n_in, n_out};
  if (bias) m.tensors[name + ".bias"] = {n_out};
}

/// Whisper's convolutions, two blocks and the last norm.
inline MadeModel made_whisper_ear(const std::string& type) {
  MadeModel m = made_ear(type, 16);
  m.tensors = {{"a.conv1d.1.weight", {3, 16, kEar}},
               {"a.conv1d.2.weight", {3, kEar, kEar}},
               {"a.position_embd.weight", {kEar, 1500}}};
  m.tensors["a.conv1d.1.bias"] = m.tensors["a.conv1d.2.bias"] = {1, kEar};
  for (uint64_t i = 0; i < 2; ++i) {
    add_layer(m, ear_block(i), kEar, kEarWide);
    m.tensors.erase(ear_block(i) + "attn_k.bias");
  }
  add_norm(m, "a.post_ln", kEar);
  return m;
}

struct ConformerBiases {
  bool ffn = true, heads = true, out = true, convolution = true;
};

/// The matrices of a Conformer's blocks.
inline void add_conformer(MadeModel& m, uint64_t n_layer, uint64_t n_kernel, const ConformerBiases& bias) {
  for (uint64_t i = 0; i < n_layer; ++i) {
    const std::string blk = ear_block(i);
    for (const char* end : {"", "_1"}) {
      add_matrix(m, blk + "ffn_up" + end, kEar, kEarWide, bias.ffn);
      add_matrix(m, blk + "ffn_down" + end, kEarWide, kEar, bias.ffn);
    }
    for (const char* part : {"attn_q", "attn_k", "attn_v"}) add_matrix(m, blk + part, kEar, kEar, bias.heads);
    add_matrix(m, blk + "attn_out", kEar, kEar, bias.out);
    add_matrix(m, blk + "conv_pw1", kEar, 2 * kEar, bias.convolution);
    add_matrix(m, blk + "conv_pw2", kEar, kEar, bias.convolution);
    m.tensors[blk + "conv_dw.weight"] = {n_kernel, kEar};
  }
}

/// The norms of NeMo's blocks.
inline void add_conformer_norms(MadeModel& m, uint64_t n_layer) {
  for (uint64_t i = 0; i < n_layer; ++i)
    for (const char* part : {"ffn_norm", "ffn_norm_1", "ln1", "norm_conv", "conv_norm", "ln2"})
      add_norm(m, ear_block(i) + part, kEar);
}

/// The convolutions in front of NeMo's blocks, for 16 bands, and the embeddings of distances.
inline void add_nemo(MadeModel& m, uint64_t n_position) {
  m.weight_scale = 0.9f;
  constexpr uint64_t kChannels = 6;
  m.tensors["a.conv1d.0.weight"] = {3, 3, 1, kChannels};
  for (const char* depthwise : {"a.conv1d.2", "a.conv1d.5"})
    m.tensors[std::string(depthwise) + ".weight"] = {3, 3, 1, kChannels};
  for (const char* mix : {"a.conv1d.3", "a.conv1d.6"})
    m.tensors[std::string(mix) + ".weight"] = {1, 1, kChannels, kChannels};
  for (const char* i : {"0", "2", "3", "5", "6"}) m.tensors["a.conv1d." + std::string(i) + ".bias"] = {1, 1, kChannels};
  add_linear(m, "a.pre_encode.out", 2 * kChannels, kEar);
  add_conformer_norms(m, 2);
  for (uint64_t i = 0; i < 2; ++i) {
    m.tensors[ear_block(i) + "pos_bias_u"] = m.tensors[ear_block(i) + "pos_bias_v"] = {kEarHead, 2};
    m.tensors[ear_block(i) + "linear_pos.weight"] = {n_position, kEar};
  }
}

inline MadeModel made_lfm2a() {
  MadeModel m = made_ear("lfm2a", 16);
  add_conformer(m, 2, 9, {});
  add_nemo(m, 512);
  for (uint64_t i = 0; i < 2; ++i) m.tensors[ear_block(i) + "conv_dw.bias"] = {kEar};
  m.tensors["a.position_embd.weight"] = {kMadeWidth, 512};  // not used, but libmtmd reads its shape
  add_linear(m, "mm.a.mlp.1", kEar, 44);
  add_linear(m, "mm.a.mlp.3", 44, kMadeWidth);
  m.tensors["mm.a.mlp.0.weight"] = m.tensors["mm.a.mlp.0.bias"] = {kEar};
  return m;
}

inline MadeModel made_parakeet() {
  MadeModel m = made_ear("parakeet", 16);
  m.integers["audio.subsampling_factor"] = 8;
  m.integers["audio.conv_kernel_size"] = 7;
  add_conformer(m, 2, 7, {.ffn = false, .heads = false, .out = false, .convolution = false});
  add_nemo(m, kEar);
  for (uint64_t i = 0; i < 2; ++i)
    for (const char* part : {"conv_norm_mean", "conv_norm_var"}) m.tensors[ear_block(i) + part] = {kEar};
  m.tensors["a.mel_filters"] = {257, 16};
  m.tensors["a.window"] = {400};
  m.around = {{"a.mel_filters", 0.1f}, {"a.window", 1.0f}};
  m.tensors["mm.a.norm_pre.weight"] = {kEar};
  m.tensors["mm.a.mlp.1.weight"] = {kEar, 44};
  m.tensors["mm.a.mlp.2.weight"] = {44, kMadeWidth};
  for (const char* i : {"0", "1", "3"})
    m.tensors["mm.model.mlp." + std::string(i) + ".weight"] = {4, 4};  // an image projector's
  return m;
}

inline MadeModel made_gemma4a() {
  MadeModel m = made_ear("gemma4a", 32, 3);
  m.tensors = {{"a.conv1d.0.weight", {3, 3, 1, 4}},
               {"a.conv1d.1.weight", {3, 3, 4, 6}},
               {"a.conv1d.0.norm.weight", {4}},
               {"a.conv1d.1.norm.weight", {6}},
               {"a.input_projection.weight", {48, kEar}}};
  add_conformer(m, 3, 5, {.ffn = false, .heads = false, .out = false, .convolution = false});
  for (uint64_t i = 0; i < 3; ++i) {
    const std::string blk = ear_block(i);
    for (const char* part : {"ffn_norm", "ffn_norm_1", "ffn_post_norm", "ffn_post_norm_1", "attn_pre_norm",
                             "attn_post_norm", "conv_norm", "norm_conv", "ln2"})
      m.tensors[blk + part + ".weight"] = {kEar};
    m.tensors[blk + "attn_k_rel.weight"] = {kEar, kEar};
    m.tensors[blk + "per_dim_scale.weight"] = {kEarHead};
    if (i == 1) m.tensors[blk + "per_dim_k_scale.weight"] = {kEarHead};
    for (const char* part : {"ffn_up", "ffn_down_1", "attn_q", "attn_v", "attn_out", "conv_pw1", "conv_pw2"})
      for (const auto& [end, center] :
           {std::pair("input_min", -1.2f), {"input_max", 1.3f}, {"output_min", -0.9f}, {"output_max", 0.8f}}) {
        m.tensors[blk + part + "." + end] = {1};
        m.around[blk + part + "." + end] = center;
      }
  }
  add_linear(m, "a.pre_encode.out", kEar, 28);
  m.tensors["mm.a.input_projection.weight"] = {28, kMadeWidth};
  return m;
}

inline MadeModel made_gemma4ua() {
  MadeModel m = made_ear("gemma4ua", 640, 0);
  m.tensors = {{"mm.a.input_projection.weight", {640, kMadeWidth}}};
  return m;
}

/// features: layers whose outputs the projector reads in addition to the last one's.
inline MadeModel made_granite_speech(const std::vector<int32_t>& features) {
  MadeModel m = made_ear("granite_speech", 32);
  for (const auto& [key, value] : {std::pair("chunk_size", 20),
                                   {"conv_kernel_size", 7},
                                   {"max_pos_emb", 32},
                                   {"projector.window_size", 15},
                                   {"projector.downsample_rate", 5},
                                   {"projector.head_count", 3}})
    m.integers["audio." + std::string(key)] = static_cast<uint64_t>(value);
  if (!features.empty()) m.arrays["audio.feature_layer"] = features;
  add_linear(m, "a.input_projection", 32, kEar);
  add_conformer(m, 2, 7, {.heads = false});
  add_conformer_norms(m, 2);
  for (uint64_t i = 0; i < 2; ++i) m.tensors[ear_block(i) + "attn_rel_pos_emb"] = {kEarHead, 65};
  add_linear(m, "a.enc_ctc_out", kEar, 14);
  add_linear(m, "a.enc_ctc_out_mid", 14, kEar);
  m.tensors["a.proj_query"] = {kEar, 3};
  add_norm(m, "a.proj_norm", kEar);
  add_linear(m, "a.proj_linear", kEar, kMadeWidth);
  for (const std::string blk : {"a.proj_blk.0.", "a.proj_blk.1."}) {
    for (const auto& [part, n_in] : {std::pair(std::string("self_attn"), kEar),
                                     std::pair(std::string("cross_attn"), kEar * (features.size() + 1))}) {
      add_linear(m, blk + part + "_q", kEar, kEar);
      add_linear(m, blk + part + "_k", n_in, kEar);
      add_linear(m, blk + part + "_v", n_in, kEar);
      add_linear(m, blk + part + "_out", kEar, kEar);
      add_norm(m, blk + part + "_norm", kEar);
    }
    add_linear(m, blk + "ffn_up", kEar, kEarWide);
    add_linear(m, blk + "ffn_down", kEarWide, kEar);
    add_norm(m, blk + "ffn_norm", kEar);
  }
  return m;
}

inline MadeModel made_qwen3a() {
  constexpr uint64_t kChannels = 6;
  MadeModel m = made_ear("qwen3a", 32);
  for (const auto& [i, n_in] : {std::pair("1", uint64_t{1}), {"2", kChannels}, {"3", kChannels}}) {
    m.tensors["a.conv2d." + std::string(i) + ".weight"] = {3, 3, n_in, kChannels};
    m.tensors["a.conv2d." + std::string(i) + ".bias"] = {kChannels};
  }
  m.tensors["a.conv_out.weight"] = {4 * kChannels, kEar};
  m.tensors["a.position_embd.weight"] = {kEar, 13};
  for (uint64_t i = 0; i < 2; ++i) add_layer(m, ear_block(i), kEar, kEarWide);
  add_norm(m, "a.post_ln", kEar);
  add_linear(m, "mm.a.mlp.1", kEar, 44);
  add_linear(m, "mm.a.mlp.2", 44, kMadeWidth);
  return m;
}

inline MadeModel made_mimo_audio() {
  MadeModel m = made_ear("mimo_audio", 16, 4);
  for (const auto& [key, value] :
       {std::pair("rvq.num_quantizers", 3), {"window_size", 5}, {"local_block_count", 2}, {"local_group_size", 3}})
    m.integers["audio." + std::string(key)] = static_cast<uint64_t>(value);
  m.arrays = {{"audio.rvq.codebook_size", {9, 7, 5}}, {"audio.wa_pattern_mode", {-1, 0, 0, -1}}};
  m.tensors = {{"a.conv1d.1.weight", {3, 16, kEar}},          {"a.conv1d.2.weight", {3, kEar, kEar}},
               {"a.downsample.conv.weight", {2, kEar, kEar}}, {"a.rvq.codebook.weight", {kEar, 9, 3}},
               {"mm.a.code_embd.weight", {kEar, 10, 3}},      {"mm.a.local_norm.weight", {kEar}},
               {"mm.a.mlp.1.weight", {3 * kEar, 44}},         {"mm.a.mlp.2.weight", {44, kMadeWidth}}};
  m.tensors["a.conv1d.1.bias"] = m.tensors["a.conv1d.2.bias"] = {1, kEar};
  for (uint64_t i = 0; i < 4; ++i) {
    add_layer(m, ear_block(i), kEar, kEarWide);
    m.tensors.erase(ear_block(i) + "attn_k.bias");
  }
  add_norm(m, "a.post_ln", kEar);
  add_norm(m, "a.downsample.norm", kEar);
  for (const std::string blk : {"mm.a.local_blk.0.", "mm.a.local_blk.1."}) {
    for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_out"})
      add_matrix(m, blk + part, kEar, kEar, std::string(part) != "attn_out");
    for (const char* part : {"ffn_gate", "ffn_up"}) m.tensors[blk + part + ".weight"] = {kEar, 36};
    m.tensors[blk + "ffn_down.weight"] = {36, kEar};
    m.tensors[blk + "ln1.weight"] = m.tensors[blk + "ln2.weight"] = {kEar};
  }
  return m;
}

inline std::vector<MadeProjector> made_sound_projectors() {
  std::vector<MadeProjector> all;
  const auto add = [&](const std::string& name, const MadeModel& m, const std::vector<size_t>& sounds) {
    all.push_back({name, m, 2e-3, {}, sounds});
  };
  add("lfm2a", made_lfm2a(), {20000, 1000, 91234});
  add("parakeet", made_parakeet(), {20000, 1000, 91234});
  // The second has two parts of 30 s and 0.2 s.
  add("gemma4a", made_gemma4a(), {20000, 483333, 100});
  add("gemma4ua", made_gemma4ua(), {7000, 639});
  add("granite_speech", made_granite_speech({}), {50000, 1000, 180});
  add("granite_speech_features", made_granite_speech({0, 1}), {20000});
  // The first has two parts of 8 s and 1 s.
  add("qwen3a", made_qwen3a(), {140000, 20000, 150});
  add("mimo_audio", made_mimo_audio(), {20000, 5000});

  MadeModel m = made_whisper_ear("musicflamingo");
  add_linear(m, "mm.a.mlp.1", kEar, 44);
  add_linear(m, "mm.a.mlp.2", 44, kMadeWidth);
  add("musicflamingo", m, {20000});

  m = made_whisper_ear("meralion");
  m.integers["audio.projector.stack_factor"] = 5;
  add_norm(m, "mm.a.norm_pre", 5 * kEar);
  add_linear(m, "mm.a.mlp.0", 5 * kEar, 44);
  add_linear(m, "mm.a.mlp.1", 44, 36);
  add_linear(m, "mm.a.mlp.2", 44, 36);
  add_linear(m, "mm.a.mlp.3", 36, kMadeWidth);
  add("meralion", m, {20000});

  m = made_whisper_ear("glma");
  m.integers["audio.projector.stack_factor"] = 4;
  add_norm(m, "mm.a.norm_pre", kEar);
  add_linear(m, "mm.a.mlp.1", 4 * kEar, 44);
  add_linear(m, "mm.a.mlp.2", 44, kMadeWidth);
  m.tensors["v.boi"] = m.tensors["v.eoi"] = {kMadeWidth};
  add("glma", m, {20000});
  return all;
}

}  // namespace ggufscope::test
