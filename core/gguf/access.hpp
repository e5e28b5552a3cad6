// Typed look-ups in a parsed header. A missing key, or a key of another type, gives std::nullopt, nullptr or an empty
// view, never an error. Only the functions that return vectors allocate.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gguf/header.hpp"

namespace ggufscope {

/// The first key-value with that name, or nullptr. Linear search; most headers have fewer than a hundred keys.
[[nodiscard]] const KeyValue* find_key(const Gguf& gguf, std::string_view key);

/// Reads any integer type with a value that is not negative. A bool gives 0 or 1.
[[nodiscard]] std::optional<uint64_t> get_u64(const Gguf& gguf, std::string_view key);
[[nodiscard]] std::optional<int64_t> get_i64(const Gguf& gguf, std::string_view key);
/// Reads any numeric type.
[[nodiscard]] std::optional<double> get_f64(const Gguf& gguf, std::string_view key);
[[nodiscard]] std::optional<bool> get_bool(const Gguf& gguf, std::string_view key);
/// Returns a view into gguf.bytes. The bytes may be invalid UTF-8.
[[nodiscard]] std::optional<std::string_view> get_string(const Gguf& gguf, std::string_view key);

/// All strings of an array, in order, as views into gguf.bytes. nullopt if the key is absent or has another type.
[[nodiscard]] std::optional<std::vector<std::string_view>> get_strings(const Gguf& gguf, std::string_view key);
/// Reads an array of any numeric type, converted to the result's type. nullopt if the key is absent, has another type,
/// or an integer does not fit int64.
[[nodiscard]] std::optional<std::vector<int64_t>> get_integers(const Gguf& gguf, std::string_view key);
[[nodiscard]] std::optional<std::vector<float>> get_floats(const Gguf& gguf, std::string_view key);

/// The first tensor with that name, or nullptr.
[[nodiscard]] const TensorInfo* find_tensor(const Gguf& gguf, std::string_view name);

}  // namespace ggufscope
