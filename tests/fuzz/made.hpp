// Damages the headers of generated models. A target takes its choices from the hash of its input, so that any bytes are
// a test case.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "../core/tiny_llama.hpp"

namespace ggufscope::fuzz {

/// Random choices that depend only on the input.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 0x100000001b3u;
    random_.seed(static_cast<uint32_t>(hash ^ hash >> 32));
  }
  /// A number below n, which is not 0.
  size_t pick(size_t n) { return random_() % n; }
  bool once_in(size_t n) { return pick(n) == 0; }
  uint8_t byte() { return static_cast<uint8_t>(random_()); }

 private:
  std::mt19937 random_;
};

inline uint64_t odd_integer(Choices& c, uint64_t before) {
  constexpr uint64_t kOdd[] = {0,  1,   2,   3,    5,    7,     8,        16,         31,        33,
                               64, 100, 255, 1000, 4096, 65535, 1u << 20, 0x7fffffff, 0xffffffff};
  switch (c.pick(4)) {
    case 0:
      return before + 1;
    case 1:
      return before * 2;
    case 2:
      return before / 2;
    default:
      return kOdd[c.pick(std::size(kOdd))];
  }
}

inline float odd_float(Choices& c) {
  constexpr float kOdd[] = {0, -0.0f, 1, -1, 1e-30f, 1e30f, -3e38f, 0.5f, 1e6f};
  return kOdd[c.pick(std::size(kOdd))];
}

template <class Map>
typename Map::iterator any_of(Map& map, Choices& c) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(c.pick(map.size())));
}

/// Changes, adds or removes one key or tensor.
inline void damage(test::MadeModel& m, Choices& c) {
  const size_t what = c.pick(8);
  if (what < 3 && !m.integers.empty()) {
    auto& value = any_of(m.integers, c)->second;
    value = odd_integer(c, value);
  } else if (what == 3 && !m.floats.empty()) {
    any_of(m.floats, c)->second = odd_float(c);
  } else if (what == 4 && !m.arrays.empty()) {
    auto& values = any_of(m.arrays, c)->second;
    if (values.empty() || c.once_in(4)) values.resize(c.pick(9));
    if (!values.empty()) values[c.pick(values.size())] = static_cast<int32_t>(odd_integer(c, 7));
  } else if (what == 5 && !m.float_arrays.empty()) {
    auto& values = any_of(m.float_arrays, c)->second;
    if (values.empty() || c.once_in(4)) values.resize(c.pick(5));
    if (!values.empty()) values[c.pick(values.size())] = odd_float(c);
  } else if (what == 6 && c.once_in(2) && !m.integers.empty()) {
    m.integers.erase(any_of(m.integers, c));
  } else if (!m.tensors.empty()) {
    const auto tensor = any_of(m.tensors, c);
    if (c.once_in(3)) {
      m.tensors.erase(tensor);
    } else if (c.once_in(2)) {
      constexpr uint32_t kTypes[] = {0, 1, 2, 6, 8, 12, 14, 16, 24, 26, 27, 28, 30, 34, 39};
      m.types[tensor->first] = kTypes[c.pick(std::size(kTypes))];
    } else if (!tensor->second.empty()) {
      uint64_t& side = tensor->second[c.pick(tensor->second.size())];
      side = odd_integer(c, side);
    }
  }
}

/// Changes single bytes of a header.
inline void damage(test::Bytes& bytes, Choices& c) {
  for (size_t n = c.pick(4); n > 0; --n) bytes[c.pick(bytes.size())] = c.byte();
}

/// Rows for a tensor: small numbers in every type, or any bytes.
inline std::vector<uint8_t> rows_of(size_t n_bytes, bool any, Choices& c) {
  std::vector<uint8_t> out(n_bytes);
  const uint8_t seed = c.byte();
  for (size_t i = 0; i < n_bytes; ++i)
    out[i] = static_cast<uint8_t>(any          ? (i * 2654435761u >> 13) + seed
                                  : i % 4 == 3 ? 0x3c + (i / 4 + seed) % 2
                                               : i * 7);
  return out;
}

}  // namespace ggufscope::fuzz
