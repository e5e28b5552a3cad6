// The containers before GGUF (2022 to 2023), all little-endian:
//
//   1. magic, a u32: "ggml" (no version follows), "ggmf", "ggjt" or "ggla"; u32 version
//        ggml      llama.cpp before 2023-03, whisper.cpp, the examples of ggml
//        ggmf 1    llama.cpp; 100, 101: rwkv.cpp
//        ggjt 1-3  llama.cpp: tensor data aligned to 32 bytes; blocks as in legacy_type()
//        ggla 1    a LoRA adapter of llama.cpp
//   2. hyper-parameters: u32 each, which ones depends on the program that wrote the file (legacy.cpp has the tables)
//   3. for speech models: mel filters, windows; then the vocabulary: u32 length, bytes and, from ggmf on, an f32 score
//   4. tensors to the end of the file: u32 n_dims, name length, type; u32 dimensions, fastest first; name;
//        padding (ggjt, ggla); data
//
// The tensor headers lie between the data, so reading them hops from one to the next. What is found is shown as the
// header that a converter to GGUF would have written; tensor names and data stay as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

struct LegacyValue {
  std::string key;
  ValueType type = ValueType::kU32;
  ValueType element_type = ValueType::kU32;
  uint64_t count = 1;
  std::vector<uint8_t> bytes;  ///< as in GGUF v3, little-endian
};

struct LegacyTensor {
  std::string name;
  uint32_t n_dims = 0;
  std::array<uint64_t, kMaxDims> shape{};
  uint32_t type = 0;    ///< ggml type id, or one of legacy_types()
  uint64_t offset = 0;  ///< absolute
  uint64_t n_bytes = 0;
};

struct LegacyLayout;

/// Plain data between two calls. Start with a fresh one.
struct LegacyState {
  uint64_t position = 0;  ///< where the next bytes are wanted
  const LegacyLayout* layout = nullptr;
  uint32_t version = 0;      ///< 0 where the container has none
  size_t step = 0;           ///< of the layout's preamble
  uint64_t tokens_left = 0;  ///< of the vocabulary that is being read
  bool in_vocabulary = false;
  std::vector<uint32_t> words;  ///< the hyper-parameters, in order
  std::vector<LegacyValue> values;
  std::vector<LegacyTensor> tensors;
};

/// complete, or: call again with bytes from state.position on, at_least so many (the file has them).
struct LegacyProgress {
  bool complete = false;
  uint64_t at_least = 0;
};

/// bytes: of the file from state.position on, any number. state.position moves over what was understood, and over the
/// tensor data without looking at it. Errors name the absolute offset; an error is final.
[[nodiscard]] Result<LegacyProgress> read_legacy(ByteView bytes, uint64_t file_size, LegacyState& state);

struct LegacyHeader {
  std::vector<uint8_t> bytes;  ///< a GGUF header that says the same
  Header header;               ///< of those bytes, but with each tensor's absolute offset in the original file
  std::string_view container;  ///< "ggml", "ggmf", "ggjt", "ggla"
};

/// Of a state that is complete.
[[nodiscard]] Result<LegacyHeader> legacy_header(const LegacyState& state);

}  // namespace ggufscope
