// A stable merge sort of indices.
#include "base/sort.hpp"

#include <algorithm>

namespace ggufscope {

// Bottom-up merge sort between two buffers.
std::vector<uint32_t> sorted_places(size_t n, ComparePlaces comes_before, const void* context) {
  std::vector<uint32_t> from(n), to(n);
  for (uint32_t i = 0; i < n; ++i) from[i] = i;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * width) {
      const size_t middle = std::min(begin + width, n), end = std::min(middle + width, n);
      size_t left = begin, right = middle;
      for (size_t at = begin; at < end; ++at) {
        const bool take_right = left == middle || (right < end && comes_before(context, from[right], from[left]));
        to[at] = from[take_right ? right++ : left++];
      }
    }
    from.swap(to);
  }
  return from;
}

}  // namespace ggufscope
