// Writes GGUF bytes field by field, valid or invalid: nothing is checked and nothing is derived.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "gguf/header.hpp"

namespace ggufscope::test {

using Bytes = std::vector<uint8_t>;

struct GgufBytes {
  Bytes out;
  uint32_t version;
  bool big_endian;

  explicit GgufBytes(uint64_t n_tensors = 0, uint64_t n_key_values = 0, uint32_t v = 3, bool big = false)
      : version(v), big_endian(big) {
    raw("GGUF").put(version).length(n_tensors).length(n_key_values);
  }

  GgufBytes& raw(std::string_view text) {
    out.insert(out.end(), text.begin(), text.end());
    return *this;
  }

  template <class T>
  GgufBytes& put(T value) {
    out.resize(out.size() + sizeof(T));
    store(out.data() + out.size() - sizeof(T), value, big_endian);
    return *this;
  }

  GgufBytes& type(ValueType t) { return put(static_cast<uint32_t>(t)); }

  GgufBytes& length(uint64_t n) { return version == 1 ? put(static_cast<uint32_t>(n)) : put(n); }

  GgufBytes& string(std::string_view text) { return length(text.size()).raw(text); }

  template <class T>
  GgufBytes& kv(std::string_view key, ValueType t, T value) {
    return string(key).type(t).put(value);
  }

  GgufBytes& kv(std::string_view key, std::string_view value) {
    return string(key).type(ValueType::kString).string(value);
  }

  /// Followed by count elements.
  GgufBytes& array(std::string_view key, ValueType element, uint64_t count) {
    return string(key).type(ValueType::kArray).type(element).length(count);
  }

  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& shape, uint32_t type_id, uint64_t offset) {
    string(name).put(static_cast<uint32_t>(shape.size()));
    for (const uint64_t dim : shape) length(dim);
    return put(type_id).put(offset);
  }

  GgufBytes& pad(size_t alignment = 32, size_t then = 0) {
    out.resize((out.size() + alignment - 1) / alignment * alignment + then);
    return *this;
  }
};

/// A file with all value types, arrays of all types, nested arrays, and tensors of several shapes and types.
inline Bytes everything(uint32_t version, bool big_endian) {
  using enum ValueType;
  GgufBytes b(4, 20, version, big_endian);
  b.kv("general.architecture", "llama");
  b.kv("u8", kU8, uint8_t{200}).kv("i8", kI8, int8_t{-100}).kv("u16", kU16, uint16_t{60000});
  b.kv("i16", kI16, int16_t{-30000}).kv("u32", kU32, 4000000000u).kv("i32", kI32, -2000000000);
  b.kv("f32", kF32, 1.5f).kv("bool", kBool, uint8_t{1}).kv("u64", kU64, uint64_t{1} << 60);
  b.kv("i64", kI64, -(int64_t{1} << 60)).kv("f64", kF64, 0.1);
  b.array("strings", kString, 200);
  for (int i = 0; i < 200; ++i) b.string(std::string(static_cast<size_t>(i % 7), static_cast<char>('a' + i % 26)));
  b.array("floats", kF32, 3).put(1.0f).put(-2.0f).put(0.5f);
  b.array("i8s", kI8, 2).put(int8_t{-1}).put(int8_t{127});
  b.array("u64s", kU64, 2).put(uint64_t{7}).put(~uint64_t{0});
  b.array("none", kString, 0);
  b.array("nested", kArray, 3);
  b.type(kU16).length(2).put(uint16_t{1}).put(uint16_t{2});
  b.type(kString).length(2).string("x").string("yz");
  b.type(kArray).length(2).type(kArray).length(0).type(kBool).length(1).put(uint8_t{1});
  b.kv("__proto__", "harmless").kv("general.alignment", kU32, 64u);
  b.tensor("token_embd.weight", {256, 4}, 12, 0).tensor("scalar", {}, 0, 576).tensor("odd", {100}, 12, 640);
  b.tensor("future", {32, 2, 3, 1}, 999, 704);
  b.pad(64, 1024);
  return std::move(b.out);
}

}  // namespace ggufscope::test
