// Sorts no more logits than are chosen from.
#include "speech/choose_code.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ggufscope {

size_t choose_code(std::span<const float> logits, CodeChoice& choice) {
  const auto best = static_cast<size_t>(std::ranges::max_element(logits) - logits.begin());
  if (choice.temperature <= 0 || !std::isfinite(logits[best])) return best;
  std::vector<size_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), size_t{0});
  std::erase_if(ids, [&](size_t i) { return !(logits[i] > -INFINITY); });
  const size_t n = choice.top_k == 0 ? ids.size() : std::min(choice.top_k, ids.size());
  // Equal logits are in the order of their ids, so that the choice does not depend on the library's sort.
  const auto precedes = [&](size_t a, size_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  std::partial_sort(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(n), ids.end(), precedes);
  std::vector<double> sums(n);
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    sums[i] = sum += std::exp((double(logits[ids[i]]) - double(logits[best])) / double(choice.temperature));
  const double kept = *std::ranges::lower_bound(sums, std::min(double(choice.top_p), 1.0) * sum);
  const double drawn = (double(choice.random()) + 0.5) / 4294967296.0 * kept;
  return ids[static_cast<size_t>(std::ranges::lower_bound(sums, drawn) - sums.begin())];
}

}  // namespace ggufscope
