// Chooses a code from its logits: the k best, of those the likeliest up to a sum of p, then one by chance.
#pragma once

#include <random>
#include <span>
#include <vector>

namespace ggufscope {

struct CodeChoice {
  float temperature = 0;  ///< 0: the largest logit
  size_t top_k = 0;       ///< 0: all
  float top_p = 1;
  std::mt19937 random{};
};

/// The index of the chosen logit. Those that are -infinity are never chosen, unless all are.
[[nodiscard]] size_t choose_code(std::span<const float> logits, CodeChoice& choice);

}  // namespace ggufscope
