// Structs that the engine's classes exchange with JavaScript by name (wasm/src/engine/protocol.ts). The value objects
// are registered in bindings_values.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "engine/sampler.hpp"
#include "model/model.hpp"
#include "nn/profile.hpp"

namespace ggufscope {

struct Failure {
  std::string code, message;
  double offset;
};
inline Failure failure_of(const Error& error) {
  return {std::string(error_name(error.code)), error.message, static_cast<double>(error.offset)};
}

/// Grows a buffer for bytes from JavaScript. Returns its address, or 0 if the memory cannot be allocated.
inline uintptr_t reserve(Buffer& buffer, uint32_t n) {
  if (buffer.size() < n) {
    // Rounded up, because pieces of a file are of similar sizes, and each larger one would leave a gap in memory.
    constexpr uint64_t kRounded = 64 << 10;
    buffer = Buffer();
    Result<Buffer> grown = Buffer::allocate((uint64_t{n} + kRounded - 1) / kRounded * kRounded);
    if (!grown) return 0;
    buffer = std::move(*grown);
  }
  return reinterpret_cast<uintptr_t>(buffer.data());
}

/// Facts from the model's keys, and facts about the engine that the package needs.
struct Facts {
  uint32_t vocabulary_size, embedding_length, layers, trained_context_length, threads, output_length;
  std::string pooling;        ///< default of embed
  uint32_t pooled_length;     ///< floats in a pooled vector
  std::string decision_head;  ///< typed, endpoints or joint; empty: none
  std::string speech;         ///< the pipeline of speech; empty: none
  bool encoder, recurrent;
  std::string generation_refusal;  ///< why the model cannot continue a text; empty: it can
  uint32_t row_group;  ///< rows that are packed together: a tensor's rows must be passed in multiples of it, except for
                       ///< the last ones
};

/// A tensor's rows, in the order of the files.
struct PlannedTensor {
  uint32_t file;
  double offset;  ///< offset of row 0 in the file
  double rows, row_bytes;
};

/// The arguments of begin_load and start.
struct Sizes {
  uint32_t context, batch,
      sequences;  ///< context: tokens that all sequences share; batch: tokens; sequences: number of them
  std::string cache_keys, cache_values, precision;
  bool sparse_attention = true;
};

struct MemoryBytes {
  double weights, cache, recurrent, scratch;
};

/// Rows of a planned tensor: its bytes start at byte `at` of the reserved buffer.
struct ArrivedRows {
  uint32_t tensor;
  double first_row;
  uint32_t at, bytes;
};

/// The options of one answer, except for texts and biases, which are set separately.
struct AnswerOptions {
  SamplerOptions sampler;
  uint32_t seed, logprobs, lookup, draft, keep;
  bool ignore_end, context_shift;
};

struct ProfileRow {
  std::string operation;
  bool one_token;
  int32_t type_a, type_b, type_c;  ///< ggml types of weights that are multiplied together; -1: none
  double columns, rows, calls, ms, bytes, products;
};

inline ProfileRow row_of(const Profile::Row& r) {
  const auto type = [&](size_t at) {
    return r.key.types[at] == Profile::kNone ? -1 : static_cast<int32_t>(r.key.types[at]);
  };
  return {.operation = std::string(kOperationNames[static_cast<size_t>(r.key.operation)]),
          .one_token = r.key.one_token,
          .type_a = type(0),
          .type_b = type(1),
          .type_c = type(2),
          .columns = double(r.key.n_in),
          .rows = double(r.key.n_out),
          .calls = double(r.calls),
          .ms = r.ms,
          .bytes = r.bytes,
          .products = r.products};
}

constexpr std::string_view kPrecisionNames[] = {"exact", "fast", "compact"};    // in the order of Precision
constexpr std::string_view kCacheTypeNames[] = {"f32", "f16", "q8_0", "q4_0"};  // in the order of CacheType

template <class Enum, size_t N>
Result<Enum> named(const std::string_view (&names)[N], std::string_view name, const char* what) {
  const auto* const found = std::ranges::find(names, name);
  if (found == std::end(names))
    return std::unexpected(
        Error{ErrorCode::kInvalidArgument, 0, "no " + std::string(what) + " \"" + std::string(name) + "\""});
  return static_cast<Enum>(found - names);
}

inline Result<StateOptions> state_options(const Sizes& sizes) {
  const Result<CacheType> keys = named<CacheType>(kCacheTypeNames, sizes.cache_keys, "cache type");
  if (!keys) return std::unexpected(keys.error());
  const Result<CacheType> values = named<CacheType>(kCacheTypeNames, sizes.cache_values, "cache type");
  if (!values) return std::unexpected(values.error());
  StateOptions o;
  o.n_ctx = sizes.context;
  o.n_batch = sizes.batch;
  o.n_sequences = sizes.sequences;
  o.cache_types = {*keys, *values};
  o.attend_to_all = !sizes.sparse_attention;
  return o;
}

}  // namespace ggufscope
