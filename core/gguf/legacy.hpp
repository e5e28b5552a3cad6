// The containers used before GGUF (2022 to 2023). All are little-endian.
//
//   1. magic, a u32: "ggml" (no version follows), "ggmf", "ggjt" or "ggla"; u32 version
//        ggml      llama.cpp before 2023-03, whisper.cpp, the examples of ggml
//        ggmf 1    llama.cpp; 100, 101: rwkv.cpp
//        ggjt 1-3  llama.cpp: tensor data aligned to 32 bytes; blocks as in legacy_type()
//        ggla 1    a LoRA adapter of llama.cpp
//   2. hyper-parameters: u32 each; which ones depends on the program that wrote the file (tables in legacy.cpp)
//   3. for speech models: mel filters, windows; then the vocabulary: u32 length, bytes and, from ggmf on, an f32 score
//   4. tensors to the end of the file: u32 n_dims, name length, type; u32 dimensions, fastest first; name;
//        padding (ggjt, ggla); data
//
// Tensor headers are interleaved with the data, so the reader jumps from one to the next. The result is shown as the
// header that a converter to GGUF would have written. Tensor names and data are not changed.
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
  std::vector<uint8_t> bytes;  ///< encoded as in GGUF v3, little-endian
};

struct LegacyTensor {
  std::string name;
  uint32_t n_dims = 0;
  std::array<uint64_t, kMaxDims> shape{};
  uint32_t type = 0;    ///< ggml type id, or one of legacy_types()
  uint64_t offset = 0;  ///< absolute offset in the file
  uint64_t n_bytes = 0;
};

struct LegacyLayout;

/// The reader's state between two calls. Start with a default-constructed one.
struct LegacyState {
  uint64_t position = 0;  ///< offset of the next bytes to read
  const LegacyLayout* layout = nullptr;
  uint32_t version = 0;      ///< 0 if the container has no version
  size_t step = 0;           ///< index in the layout's preamble
  uint64_t tokens_left = 0;  ///< tokens of the vocabulary still to read
  bool in_vocabulary = false;
  std::vector<uint32_t> words;  ///< the hyper-parameters, in order
  std::vector<LegacyValue> values;
  std::vector<LegacyTensor> tensors;
};

/// Either complete, or at_least says how many bytes from state.position the next call needs. The file has that many.
struct LegacyProgress {
  bool complete = false;
  uint64_t at_least = 0;
};

/// Reads on. `bytes` is any number of the file's bytes from state.position. state.position advances over what was read
/// and skips tensor data. Errors name the absolute offset and are final.
[[nodiscard]] Result<LegacyProgress> read_legacy(ByteView bytes, uint64_t file_size, LegacyState& state);

struct LegacyHeader {
  std::vector<uint8_t> bytes;  ///< an equivalent GGUF header
  Header header;               ///< parsed from `bytes`, but with tensor offsets in the original file
  std::string_view container;  ///< "ggml", "ggmf", "ggjt", "ggla"
};

/// Builds the header from a complete state.
[[nodiscard]] Result<LegacyHeader> legacy_header(const LegacyState& state);

}  // namespace ggufscope
