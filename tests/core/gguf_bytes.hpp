// Writes GGUF bytes field by field, right or wrong as the test likes: nothing is checked and nothing is derived.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "gguf/header.hpp"

namespace ggufscope::test {

struct GgufBytes {
  std::vector<uint8_t> out;
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

}  // namespace ggufscope::test
