// Valid files of every kind that lint knows, as lists of entries that a case can change in one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gguf_bytes.hpp"

namespace ggufscope::test {

using enum ValueType;

/// A file as a list of entries that a case can replace, so that exactly one thing differs from the valid file.
struct Recipe {
  using Entry = std::function<void(GgufBytes&)>;
  std::map<std::string, Entry> keys;
  struct Tensor {
    std::string name;
    std::vector<uint64_t> shape;
    uint32_t type;
    uint64_t offset;
  };
  std::vector<Tensor> tensors;
  std::vector<Entry> extra;  ///< keys after the others
  uint32_t version = 3;
  bool big_endian = false;
  size_t alignment = 32;
  size_t data = 0;
  std::string name = "Tiny-1M-v1.0-F32.gguf";

  void text(const std::string& key, std::string value) {
    keys[key] = [key, value](GgufBytes& b) { b.kv(key, value); };
  }
  template <class T>
  void number(const std::string& key, ValueType type, T value) {
    keys[key] = [key, type, value](GgufBytes& b) { b.kv(key, type, value); };
  }
  void u32(const std::string& key, uint32_t value) { number(key, kU32, value); }
  void strings(const std::string& key, std::vector<std::string> values) {
    keys[key] = [key, values](GgufBytes& b) {
      b.array(key, kString, values.size());
      for (const std::string& value : values) b.string(value);
    };
  }
  template <class T>
  void array(const std::string& key, ValueType type, std::vector<T> values) {
    keys[key] = [key, type, values](GgufBytes& b) {
      b.array(key, type, values.size());
      for (const T value : values) b.put(value);
    };
  }

  [[nodiscard]] Bytes bytes() const {
    GgufBytes b(tensors.size(), keys.size() + extra.size(), version, big_endian);
    for (const auto& [key, put] : keys) put(b);
    for (const Entry& put : extra) put(b);
    for (const Tensor& t : tensors) b.tensor(t.name, t.shape, t.type, t.offset);
    b.pad(alignment);
    b.out.resize(b.out.size() + data);
    return std::move(b.out);
  }
};

/// One block, four tokens, 32 wide.
inline Recipe sound() {
  Recipe r;
  r.text("general.architecture", "llama");
  r.u32("general.file_type", 0);
  r.u32("general.quantization_version", 2);
  r.u32("llama.context_length", 64);
  r.u32("llama.embedding_length", 32);
  r.u32("llama.block_count", 1);
  r.u32("llama.feed_forward_length", 64);
  r.u32("llama.rope.dimension_count", 8);
  r.u32("llama.attention.head_count", 4);
  r.number("llama.attention.layer_norm_rms_epsilon", kF32, 1e-5f);
  r.text("tokenizer.ggml.model", "llama");
  r.strings("tokenizer.ggml.tokens", {"<unk>", "<0x0A>", "a", "b"});
  r.array<float>("tokenizer.ggml.scores", kF32, {0, 0, -1, -2});
  r.array<int32_t>("tokenizer.ggml.token_type", kI32, {2, 6, 1, 1});
  r.u32("tokenizer.ggml.unknown_token_id", 0);
  r.text("tokenizer.chat_template",
         "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}");
  r.tensors = {{"token_embd.weight", {32, 4}, 0, 0},         {"blk.0.attn_q.weight", {32, 32}, 0, 512},
               {"blk.0.ffn_up.weight", {32, 64}, 0, 4608},   {"output_norm.weight", {32}, 0, 12800},
               {"blk.0.attn_norm.weight", {32}, 0, 12928},   {"blk.0.attn_k.weight", {32, 32}, 0, 13056},
               {"blk.0.attn_v.weight", {32, 32}, 0, 17152},  {"blk.0.attn_output.weight", {32, 32}, 0, 21248},
               {"blk.0.ffn_norm.weight", {32}, 0, 25344},    {"blk.0.ffn_gate.weight", {32, 64}, 0, 25472},
               {"blk.0.ffn_down.weight", {64, 32}, 0, 33664}};
  r.data = 41856;
  return r;
}

inline Recipe merging() {
  Recipe r = sound();
  r.text("tokenizer.ggml.model", "gpt2");
  r.text("tokenizer.ggml.pre", "gpt-2");
  r.strings("tokenizer.ggml.merges", {"a b"});
  return r;
}

inline Recipe adapter() {
  Recipe r;
  r.name = "";
  r.text("general.type", "adapter");
  r.text("general.architecture", "llama");
  r.text("adapter.type", "lora");
  r.number("adapter.lora.alpha", kF32, 16.0f);
  r.tensors = {{"blk.0.attn_q.weight.lora_a", {32, 4}, 0, 0}, {"blk.0.attn_q.weight.lora_b", {4, 32}, 0, 512}};
  r.data = 1024;
  return r;
}

inline Recipe importance() {
  Recipe r;
  r.name = "";
  r.text("general.type", "imatrix");
  r.strings("imatrix.datasets", {"x"});
  r.u32("imatrix.chunk_count", 1);
  r.u32("imatrix.chunk_size", 512);
  r.tensors = {{"blk.0.attn_q.weight.in_sum2", {32}, 0, 0}, {"blk.0.attn_q.weight.counts", {1}, 0, 128}};
  r.data = 160;
  return r;
}

inline Recipe projector() {
  Recipe r;
  r.name = "";
  r.text("general.type", "mmproj");
  r.text("general.architecture", "clip");
  r.text("clip.projector_type", "mlp");
  r.number("clip.has_vision_encoder", kBool, uint8_t{1});
  for (const char* key : {"image_size", "patch_size", "embedding_length", "feed_forward_length", "block_count",
                          "projection_dim", "attention.head_count"})
    r.u32(std::string("clip.vision.") + key, 8);
  r.number("clip.vision.attention.layer_norm_epsilon", kF32, 1e-5f);
  r.u32("clip.vision.block_count", 1);
  r.array<float>("clip.vision.image_mean", kF32, {0, 0, 0});
  r.array<float>("clip.vision.image_std", kF32, {1, 1, 1});
  r.tensors = {{"mm.0.weight", {32, 4}, 0, 0},
               {"v.blk.0.attn_out.weight", {8, 8}, 0, 512},
               {"v.blk.0.ffn_up.weight", {8, 8}, 0, 768},
               {"v.blk.0.ffn_down.weight", {8, 8}, 0, 1024}};
  r.data = 1280;
  return r;
}

/// Another encoder, of a kind that requires its own keys.
inline Recipe audio_projector() {
  Recipe r;
  r.name = "";
  r.text("general.type", "mmproj");
  r.text("general.architecture", "clip");
  r.text("clip.audio.projector_type", "ultravox");
  r.number("clip.has_audio_encoder", kBool, uint8_t{1});
  for (const char* key : {"embedding_length", "feed_forward_length", "projection_dim", "attention.head_count",
                          "num_mel_bins", "projector.stack_factor"})
    r.u32(std::string("clip.audio.") + key, 8);
  r.u32("clip.audio.block_count", 0);
  r.number("clip.audio.attention.layer_norm_epsilon", kF32, 1e-5f);
  uint64_t at = 0;
  for (const char* name : {"a.conv1d.1.weight", "a.conv1d.1.bias", "a.conv1d.2.weight", "a.conv1d.2.bias",
                           "mm.a.mlp.1.weight", "mm.a.mlp.2.weight", "mm.a.norm_pre.weight", "mm.a.norm_mid.weight"})
    r.tensors.push_back({name, {8}, 0, std::exchange(at, at + 32)});
  r.data = static_cast<size_t>(at);
  return r;
}

inline Recipe control_vector() {
  Recipe r;
  r.name = "";
  r.text("general.architecture", "controlvector");
  r.text("controlvector.model_hint", "llama");
  r.tensors = {{"direction.1", {32}, 0, 0}, {"direction.3", {32, 1}, 0, 128}};
  r.data = 256;
  return r;
}

}  // namespace ggufscope::test
