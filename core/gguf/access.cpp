// Finds keys of a header and converts their values.
#include "gguf/access.hpp"

#include <utility>

#include "gguf/arrays.hpp"

namespace ggufscope {
namespace {

/// Calls visit(value) for each of `count` values of the given type at p, where enough bytes must be present. Returns
/// false for strings and arrays, and when visit returns false.
template <class Visit>
bool visit_numbers(ValueType type, const uint8_t* p, uint64_t count, bool big_endian, Visit&& visit) {
  const auto all = [&]<class T>(T) {
    for (uint64_t i = 0; i < count; ++i)
      if (!visit(load<T>(p + i * sizeof(T), big_endian))) return false;
    return true;
  };
  switch (type) {
    case ValueType::kU8:
      return all(uint8_t{});
    case ValueType::kI8:
      return all(int8_t{});
    case ValueType::kU16:
      return all(uint16_t{});
    case ValueType::kI16:
      return all(int16_t{});
    case ValueType::kU32:
      return all(uint32_t{});
    case ValueType::kI32:
      return all(int32_t{});
    case ValueType::kU64:
      return all(uint64_t{});
    case ValueType::kI64:
      return all(int64_t{});
    case ValueType::kF32:
      return all(float{});
    case ValueType::kF64:
      return all(double{});
    case ValueType::kBool:
      for (uint64_t i = 0; i < count; ++i)
        if (!visit(static_cast<uint8_t>(p[i] != 0))) return false;
      return true;
    default:
      return false;
  }
}

template <class Visit>
bool visit_scalar(const Gguf& gguf, std::string_view key, Visit&& visit) {
  const KeyValue* kv = find_key(gguf, key);
  return kv != nullptr &&
         visit_numbers(kv->type, gguf.bytes.data() + kv->value.offset, 1, gguf.header.big_endian, visit);
}

/// Reads an integer that fits Out. Returns nothing for floats.
template <class Out>
constexpr auto store_integer(std::optional<Out>& out) {
  return [&out]<class T>(T value) {
    if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<Out>(value)) return false;
      out = static_cast<Out>(value);
      return true;
    } else {
      return false;
    }
  };
}

}  // namespace

const KeyValue* find_key(const Gguf& gguf, std::string_view key) {
  for (const KeyValue& kv : gguf.header.key_values)
    if (gguf.text(kv.key) == key) return &kv;
  return nullptr;
}

std::optional<uint64_t> get_u64(const Gguf& gguf, std::string_view key) {
  std::optional<uint64_t> out;
  visit_scalar(gguf, key, store_integer(out));
  return out;
}

std::optional<int64_t> get_i64(const Gguf& gguf, std::string_view key) {
  std::optional<int64_t> out;
  visit_scalar(gguf, key, store_integer(out));
  return out;
}

std::optional<double> get_f64(const Gguf& gguf, std::string_view key) {
  std::optional<double> out;
  visit_scalar(gguf, key, [&](auto value) {
    out = static_cast<double>(value);
    return true;
  });
  return out;
}

std::optional<bool> get_bool(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  if (kv == nullptr || kv->type != ValueType::kBool) return std::nullopt;
  return gguf.bytes[static_cast<size_t>(kv->value.offset)] != 0;
}

std::optional<std::string_view> get_string(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  if (kv == nullptr || kv->type != ValueType::kString) return std::nullopt;
  return gguf.text(kv->value);
}

std::optional<std::vector<std::string_view>> get_strings(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  if (kv == nullptr || kv->type != ValueType::kArray || kv->element_type != ValueType::kString) return std::nullopt;
  std::vector<std::string_view> out;
  out.reserve(static_cast<size_t>(kv->count));
  for_each_string(gguf, *kv, [&](uint64_t, Extent text) { out.push_back(gguf.text(text)); });
  return out;
}

std::optional<std::vector<int64_t>> get_integers(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  if (kv == nullptr || kv->type != ValueType::kArray) return std::nullopt;
  std::vector<int64_t> out;
  if (value_size(kv->element_type) != 0) out.reserve(static_cast<size_t>(kv->count));
  const bool whole = visit_numbers(kv->element_type, gguf.bytes.data() + kv->value.offset, kv->count,
                                   gguf.header.big_endian, [&]<class T>(T value) {
                                     if constexpr (std::is_integral_v<T>) {
                                       out.push_back(static_cast<int64_t>(value));
                                       return std::in_range<int64_t>(value);
                                     } else {
                                       return false;
                                     }
                                   });
  const bool floats = kv->element_type == ValueType::kF32 || kv->element_type == ValueType::kF64;
  if (!whole || floats) return std::nullopt;
  return out;
}

std::optional<std::vector<float>> get_floats(const Gguf& gguf, std::string_view key) {
  const KeyValue* kv = find_key(gguf, key);
  if (kv == nullptr || kv->type != ValueType::kArray) return std::nullopt;
  std::vector<float> out;
  if (value_size(kv->element_type) != 0) out.reserve(static_cast<size_t>(kv->count));
  const bool whole = visit_numbers(kv->element_type, gguf.bytes.data() + kv->value.offset, kv->count,
                                   gguf.header.big_endian, [&](auto value) {
                                     out.push_back(static_cast<float>(value));
                                     return true;
                                   });
  if (!whole) return std::nullopt;
  return out;
}

const TensorInfo* find_tensor(const Gguf& gguf, std::string_view name) {
  for (const TensorInfo& tensor : gguf.header.tensors)
    if (gguf.text(tensor.name) == name) return &tensor;
  return nullptr;
}

}  // namespace ggufscope
