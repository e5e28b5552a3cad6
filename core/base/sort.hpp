// Sorting without an instance of the algorithm for each caller, to keep the wasm module that every page loads small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ggufscope {

/// Sorts the indices 0 .. n - 1 by comes_before. Stable, O(n log n).
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
