// A generated llama with a few thousand random weights. Tests change its keys and shapes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "gguf_bytes.hpp"
#include "random_weights.hpp"

namespace ggufscope::test {

struct MadeModel {
  std::string architecture = "llama";
  std::map<std::string, uint64_t> integers;  ///< without the prefix
  bool wide_integers = true;                 ///< written as u64, else as u32
  std::map<std::string, int32_t> signed_integers;
  std::map<std::string, float> floats;
  std::map<std::string, bool> booleans;
  std::map<std::string, std::string> strings;
  std::map<std::string, std::vector<int32_t>> arrays;
  std::map<std::string, std::vector<float>> float_arrays;
  std::map<std::string, std::vector<uint64_t>> tensors;  ///< name to shape, all F32
  std::map<std::string, uint32_t> types;                 ///< of tensors that are not F32: zero bytes
  std::set<std::string> halves;                          ///< tensors that are F16, with random values
  std::map<std::string, float> constants;                ///< tensors with one value
  std::vector<std::pair<std::string, int32_t>> tokens;   ///< the vocabulary, if any: pieces and their types
  std::map<std::string, float> around;                   ///< the middle of a tensor's values, as 1 is for norms
  float weight_scale = 0.3f;                             ///< 0: all weights are

  /// A tensor's values are middle + spread * random, with random from -1 to 1.
  struct Distribution {
    float middle = 0, spread = 0;
  };
  [[nodiscard]] Distribution distribution_of(const std::string& name) const {
    if (const auto constant = constants.find(name); constant != constants.end()) return {constant->second, 0};
    if (const auto middle = around.find(name); middle != around.end()) return {middle->second, 0.1f};
    const bool norm = name.find("norm") != std::string::npos || name.find("ln") != std::string::npos;
    return norm ? Distribution{1, 0.1f} : Distribution{0, weight_scale};
  }

  /// All up to the tensors' data.
  [[nodiscard]] Bytes header() const {
    GgufBytes b(tensors.size(), 1 + integers.size() + signed_integers.size() + floats.size() + booleans.size() +
                                    strings.size() + arrays.size() + float_arrays.size() + (tokens.empty() ? 0 : 4));
    b.kv("general.architecture", architecture);
    for (const auto& [key, value] : integers) {
      if (wide_integers) b.kv(architecture + "." + key, ValueType::kU64, value);
      if (!wide_integers) b.kv(architecture + "." + key, ValueType::kU32, static_cast<uint32_t>(value));
    }
    for (const auto& [key, value] : signed_integers) b.kv(architecture + "." + key, ValueType::kI32, value);
    if (!tokens.empty()) put_vocabulary(b);
    for (const auto& [key, value] : floats) b.kv(architecture + "." + key, ValueType::kF32, value);
    for (const auto& [key, value] : booleans) b.kv(architecture + "." + key, ValueType::kBool, uint8_t{value});
    for (const auto& [key, value] : strings) b.kv(architecture + "." + key, value);
    for (const auto& [key, values] : float_arrays) {
      b.array(architecture + "." + key, ValueType::kF32, values.size());
      for (const float value : values) b.put(value);
    }
    for (const auto& [key, values] : arrays) {
      b.array(architecture + "." + key, ValueType::kI32, values.size());
      for (const int32_t value : values) b.put(value);
    }
    uint64_t offset = 0;
    for (const auto& [name, shape] : tensors) {
      b.tensor(name, shape, type_of(name).id, offset);
      offset += (bytes_of(name, shape) + 31) / 32 * 32;
    }
    return b.pad().out;
  }

  /// What bytes() has after the header.
  [[nodiscard]] size_t n_data_bytes() const {
    size_t n = 0;
    for (const auto& [name, shape] : tensors) n += (bytes_of(name, shape) + 31) / 32 * 32;
    return n;
  }

  [[nodiscard]] Bytes bytes() const {
    GgufBytes b;
    b.out = header();
    uint32_t seed = 1;
    for (const auto& [name, shape] : tensors) {
      const size_t n_bytes = bytes_of(name, shape);
      if (types.contains(name) || weight_scale == 0) {
        b.out.resize(b.out.size() + n_bytes);
      } else {
        const bool half = halves.contains(name);
        const auto [middle, spread] = distribution_of(name);
        for (const float random : random_floats(n_bytes / (half ? 2 : 4), seed++)) {
          const float value = middle + spread * random;
          if (half) {
            b.put(f32_to_f16(value));
          } else {
            b.put(value);
          }
        }
      }
      b.pad();
    }
    return b.out;
  }

 private:
  [[nodiscard]] const TypeGeometry& type_of(const std::string& name) const {
    const auto type = types.find(name);
    const uint32_t kind = halves.contains(name) ? static_cast<uint32_t>(TypeId::kF16) : 0u;
    return *find_type(type == types.end() ? kind : type->second);
  }
  /// 0 for a tensor that is too large to exist.
  [[nodiscard]] size_t bytes_of(const std::string& name, const std::vector<uint64_t>& shape) const {
    uint64_t n = 1;
    for (const uint64_t dim : shape) n *= dim;
    const TypeGeometry& geometry = type_of(name);
    return n > (1 << 24) ? 0 : static_cast<size_t>(n / geometry.block_size * geometry.block_bytes);
  }
  void put_vocabulary(GgufBytes& b) const {
    b.kv("tokenizer.ggml.model", "llama");
    b.array("tokenizer.ggml.tokens", ValueType::kString, tokens.size());
    for (const auto& [piece, type] : tokens) b.string(piece);
    b.array("tokenizer.ggml.scores", ValueType::kF32, tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) b.put(-static_cast<float>(i));
    b.array("tokenizer.ggml.token_type", ValueType::kI32, tokens.size());
    for (const auto& [piece, type] : tokens) b.put(type);
  }
};

inline MadeModel made_llama() {
  MadeModel m;
  m.integers = {{"context_length", 64},      {"embedding_length", 16},    {"block_count", 2},
                {"feed_forward_length", 24}, {"attention.head_count", 4}, {"attention.head_count_kv", 2},
                {"rope.dimension_count", 4}};
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}, {"rope.freq_base", 10000.0f}};
  m.tensors = {{"token_embd.weight", {16, 32}}, {"output_norm.weight", {16}}, {"output.weight", {16, 32}}};
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    m.tensors[blk + "attn_norm.weight"] = m.tensors[blk + "ffn_norm.weight"] = {16};
    m.tensors[blk + "attn_q.weight"] = m.tensors[blk + "attn_output.weight"] = {16, 16};
    m.tensors[blk + "attn_k.weight"] = m.tensors[blk + "attn_v.weight"] = {16, 8};
    m.tensors[blk + "ffn_gate.weight"] = m.tensors[blk + "ffn_up.weight"] = {16, 24};
    m.tensors[blk + "ffn_down.weight"] = {24, 16};
  }
  return m;
}

/// The same with experts: a router, four of them, two used.
inline MadeModel made_experts() {
  MadeModel m = made_llama();
  m.integers["expert_count"] = 4;
  m.integers["expert_used_count"] = 2;
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    for (const char* part : {"ffn_gate", "ffn_up", "ffn_down"}) m.tensors.erase(blk + part + ".weight");
    m.tensors[blk + "ffn_gate_inp.weight"] = {16, 4};
    m.tensors[blk + "ffn_gate_exps.weight"] = m.tensors[blk + "ffn_up_exps.weight"] = {16, 24, 4};
    m.tensors[blk + "ffn_down_exps.weight"] = {24, 16, 4};
  }
  return m;
}

/// Windows in every other layer, norms around both parts, soft caps.
inline MadeModel made_gemma2() {
  MadeModel m = made_llama();
  m.architecture = "gemma2";
  m.integers["attention.sliding_window"] = 4;
  m.tensors.erase("output.weight");
  for (const std::string blk : {"blk.0.", "blk.1."})
    m.tensors[blk + "post_attention_norm.weight"] = m.tensors[blk + "post_ffw_norm.weight"] = {16};
  return m;
}

inline MadeModel made_mamba() {
  MadeModel m;
  m.architecture = "mamba";
  m.integers = {{"context_length", 64}, {"embedding_length", 16}, {"block_count", 2},       {"ssm.conv_kernel", 4},
                {"ssm.inner_size", 24}, {"ssm.state_size", 6},    {"ssm.time_step_rank", 3}};
  m.floats = {{"attention.layer_norm_rms_epsilon", 1e-5f}};
  m.tensors = {{"token_embd.weight", {16, 32}}, {"output_norm.weight", {16}}};
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    m.tensors[blk + "attn_norm.weight"] = {16};
    m.tensors[blk + "ssm_in.weight"] = {16, 48};
    m.tensors[blk + "ssm_conv1d.weight"] = {4, 24};
    m.tensors[blk + "ssm_conv1d.bias"] = m.tensors[blk + "ssm_dt.bias"] = m.tensors[blk + "ssm_d"] = {24};
    m.tensors[blk + "ssm_x.weight"] = {24, 15};
    m.tensors[blk + "ssm_dt.weight"] = {3, 24};
    m.tensors[blk + "ssm_a"] = {6, 24};
    m.tensors[blk + "ssm_out.weight"] = {24, 16};
  }
  return m;
}

/// The same with a step of 8 numbers: rows of weights have a multiple of 8 elements on a GPU.
inline MadeModel made_wide_mamba() {
  MadeModel m = made_mamba();
  m.integers["ssm.time_step_rank"] = 8;
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    m.tensors[blk + "ssm_x.weight"] = {24, 20};
    m.tensors[blk + "ssm_dt.weight"] = {8, 24};
  }
  return m;
}

/// Four heads in two groups, whose outputs are normalized apart.
inline MadeModel made_mamba2() {
  MadeModel m = made_mamba();
  m.architecture = "mamba2";
  for (const auto& [key, value] : std::map<std::string, uint64_t>{
           {"ssm.inner_size", 32}, {"ssm.state_size", 20}, {"ssm.time_step_rank", 4}, {"ssm.group_count", 2}})
    m.integers[key] = value;
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    for (const char* part : {"ssm_x.weight", "ssm_dt.weight"}) m.tensors.erase(blk + part);
    m.tensors[blk + "ssm_in.weight"] = {16, 148};
    m.tensors[blk + "ssm_conv1d.weight"] = {4, 112};
    m.tensors[blk + "ssm_conv1d.bias"] = {112};
    m.tensors[blk + "ssm_dt.bias"] = {4};
    m.tensors[blk + "ssm_a"] = m.tensors[blk + "ssm_d"] = {1, 4};
    m.tensors[blk + "ssm_norm.weight"] = {16, 2};
    m.tensors[blk + "ssm_out.weight"] = {32, 16};
  }
  return m;
}

inline Bytes tiny_llama() { return made_llama().bytes(); }

}  // namespace ggufscope::test
