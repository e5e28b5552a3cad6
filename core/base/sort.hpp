// Sorting without a copy of the algorithm for each caller: the wasm module that every page loads has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ggufscope {

/// 0 .. n - 1 in the order that comes_before gives of what they stand for. Stable; n log n.
template <class ComesBefore>
[[nodiscard]] std::vector<uint32_t> sorted_order(size_t n, const ComesBefore& comes_before);

using ComparePlaces = bool (*)(const void* context, uint32_t a, uint32_t b);
[[nodiscard]] std::vector<uint32_t> sorted_places(size_t n, ComparePlaces comes_before, const void* context);

template <class ComesBefore>
std::vector<uint32_t> sorted_order(size_t n, const ComesBefore& comes_before) {
  return sorted_places(
      n, [](const void* f, uint32_t a, uint32_t b) { return (*static_cast<const ComesBefore*>(f))(a, b); },
      &comes_before);
}

}  // namespace ggufscope
