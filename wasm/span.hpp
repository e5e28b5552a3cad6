// Tables and texts that are returned to JavaScript: an address range in the heap that stays valid until the next call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ggufscope {

struct Span {
  uintptr_t pointer;
  uint32_t length;
};

template <class T>
Span span_of(const std::vector<T>& values) {
  return {reinterpret_cast<uintptr_t>(values.data()), static_cast<uint32_t>(values.size())};
}

template <class T>
Span span_of(std::span<const T> values) {
  return {reinterpret_cast<uintptr_t>(values.data()), static_cast<uint32_t>(values.size())};
}

}  // namespace ggufscope
