// Typed look-ups in a parsed header. None allocates more than it says; all are total: a missing key, or one of another
// type, is std::nullopt / nullptr / an empty view, never an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gguf/header.hpp"

namespace ggufscope {

/// First key-value of that name, by linear search (headers have some tens of keys). nullptr if absent.
[[nodiscard]] const KeyValue* find_key(const Gguf& gguf, std::string_view key);

/// Any integer type whose value is not negative; bool as 0 / 1.
[[nodiscard]] std::optional<uint64_t> get_u64(const Gguf& gguf, std::string_view key);
[[nodiscard]] std::optional<int64_t> get_i64(const Gguf& gguf, std::string_view key);
/// Any numeric type.
[[nodiscard]] std::optional<double> get_f64(const Gguf& gguf, std::string_view key);
[[nodiscard]] std::optional<bool> get_bool(const Gguf& gguf, std::string_view key);
/// Borrows gguf.bytes. Not checked to be UTF-8.
[[nodiscard]] std::optional<std::string_view> get_string(const Gguf& gguf, std::string_view key);

/// Every string of an array of strings, in order: views that borrow gguf.bytes. nullopt if absent or of another type.
/// Allocates one view a string.
[[nodiscard]] std::optional<std::vector<std::string_view>> get_strings(const Gguf& gguf, std::string_view key);
/// Arrays of any integer or float type, converted. nullopt if absent, of another type, or (integers) out of int64.
[[nodiscard]] std::optional<std::vector<int64_t>> get_integers(const Gguf& gguf, std::string_view key);
[[nodiscard]] std::optional<std::vector<float>> get_floats(const Gguf& gguf, std::string_view key);

/// First tensor of that name. nullptr if absent.
[[nodiscard]] const TensorInfo* find_tensor(const Gguf& gguf, std::string_view name);

}  // namespace ggufscope
