// Time for sampling one token, by vocabulary size and sampler settings. Prints one JSON line for each case.
// Logits are normal, with a deviation of 3; "sure" has one token that is ten times as likely as all others together,
// and "open" has none, so that tens of thousands of tokens share the mass.
#include "engine/sampler.hpp"

#include <cmath>
#include <cstdio>
#include <random>

#include "timing.hpp"

using namespace ggufscope;

namespace {

struct Chain {
  const char* name;
  SamplerOptions options;
};

template <class Set>
Chain chain(const char* name, Set set) {
  Chain c{name, {}};
  set(c.options);
  return c;
}

std::vector<Chain> chains() {
  return {
      chain("defaults", [](SamplerOptions&) {}),
      chain("topK 0", [](SamplerOptions& o) { o.top_k = 0; }),
      chain("topK 0, minP 0", [](SamplerOptions& o) { o.top_k = 0, o.min_p = 0; }),
      chain("typicalP 0.9", [](SamplerOptions& o) { o.top_k = 0, o.typical_p = 0.9f; }),
      chain("typicalP 0.9 alone", [](SamplerOptions& o) { o.top_k = 0, o.typical_p = 0.9f, o.top_p = 1, o.min_p = 0; }),
      chain("mirostat 2", [](SamplerOptions& o) { o.mirostat = 2; }),
      chain("temperature alone", [](SamplerOptions& o) { o.top_k = 0, o.top_p = 1, o.min_p = 0; })};
}

std::vector<float> logits_of(size_t n, bool sure) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  double sum = 0;
  for (float& logit : logits) sum += std::exp(static_cast<double>(logit = normal(random)));
  if (sure) logits[n / 3] = static_cast<float>(std::log(10 * sum));
  return logits;
}

}  // namespace

int main() {
  constexpr int kSlices = 15;
  for (const size_t n : {size_t{128} << 10, size_t{256} << 10})
    for (const bool sure : {true, false}) {
      const std::vector<float> logits = logits_of(n, sure);
      for (const Chain& c : chains()) {
        Sampler sampler(c.options);
        const auto draw = [&] { (void)sampler.sample(logits); };
        bench::warm_up(150, draw);
        const size_t runs = bench::runs_in(10, draw);
        std::vector<double> ms;
        for (int i = 0; i < kSlices; ++i) ms.push_back(bench::time_runs(runs, draw) / static_cast<double>(runs));
        std::printf("{\"vocabulary\": %zu, \"logits\": \"%s\", \"chain\": \"%s\", \"ms\": %.3f}\n", n,
                    sure ? "sure" : "open", c.name, bench::median(ms));
        std::fflush(stdout);
      }
    }
}
