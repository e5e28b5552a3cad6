// Samples the next token from logits, in llama.cpp's order and meaning (common/sampling, src/llama-sampler of build
// 11669):
//
//   1. logit bias, then repeat, frequency and presence penalties, then DRY, over the last tokens
//   2. top-n-sigma, top-k, typical, top-p, min-p, XTC: each removes candidates
//   3. temperature (0 or less: greedy), then a sample from the softmax
//   mirostat v2 replaces 2 and 3: temperature, then a cut at a surprise that adapts to the text
//
// The vocabulary is never completely sorted: candidates are sorted only as far as a step reads them.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/vocabulary_scan.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

struct SamplerOptions {
#define SAMPLER_OPTION(type, member, name, value, ...) type member = value;
#include "engine/sampler_options.inc"
  uint32_t seed = 0;
  std::vector<std::pair<int32_t, float>> logit_bias;  ///< token and a value to add to its logit; -infinity forbids it
};

/// The defaults above, overridden by the file's general.sampling.* keys. Keys with wrong types and numbers out of
/// their range are ignored.
[[nodiscard]] SamplerOptions sampler_defaults(const Gguf& gguf);

/// Candidates by descending logit (for equal logits by ascending id), sorted lazily.
class Candidates {
 public:
  void assign(std::span<const float> logits);                ///< without NaN and -infinity
  void assign_top(std::span<const float> logits, size_t k);  ///< only the k best, without sorting all

  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// The i-th best. Sorts further if needed.
  [[nodiscard]] const Candidate& sorted(size_t i) {
    if (i >= n_sorted_) sort_until(i + 1);
    return items_[i];
  }
  [[nodiscard]] std::span<Candidate> items() { return items_; }
  void keep_best(size_t n);
  void drop_best(size_t n);
  /// Replaces the list by what `fill` adds, in any order.
  template <class Fill>
  void refill(const Fill& fill) {
    fill(items_);
    n_sorted_ = 0;
  }
  /// The largest logit. There must be one.
  [[nodiscard]] float largest();
  void divide_logits(float divisor);
  /// Sets each p to the softmax probability.
  void normalize();
  template <class Predicate>
  void filter(const Predicate& stays) {
    size_t kept = 0, kept_sorted = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!stays(items_[i])) continue;
      if (i < n_sorted_) ++kept_sorted;
      items_[kept++] = items_[i];
    }
    items_.resize(kept);
    n_sorted_ = kept_sorted;
  }

 private:
  void sort_until(size_t n);

  std::vector<Candidate> items_;
  size_t n_sorted_ = 0;  // items_[0, n_sorted_) are the best, sorted
};

/// What DRY and the penalties need from the vocabulary. The data must outlive the sampler.
struct DryBreakers {
  /// For each token id, whether its text contains a sequence breaker. Empty: none.
  std::vector<bool> breaks;
};

class Sampler {
 public:
  explicit Sampler(SamplerOptions options, DryBreakers breakers = {});

  /// Appends a token of the prompt or the answer, in order.
  void accept(int32_t token) { history_.push_back(token); }
  [[nodiscard]] std::span<const int32_t> history() const { return history_; }

  /// Samples the next token from logits [n_vocab] and does not append it. allowed: false for forbidden ids (from a
  /// grammar), or empty. Error: kOutOfRange if no candidate is a number, or none is allowed.
  [[nodiscard]] Result<Candidate> sample(std::span<const float> logits, const std::vector<bool>& allowed = {});

  /// The candidates with probabilities, best first, from which sample would choose. Only XTC uses the random generator
  /// here.
  [[nodiscard]] const Candidates& distribution(std::span<const float> logits, const std::vector<bool>& allowed = {});

  /// Moves the random generator on as the sample of a token does, without the token's logits. XTC, which draws only for
  /// some tokens, is not followed.
  void skip() {
    if (options_.temperature > 0) (void)random_();
  }

  /// A copy of the random generator and mirostat's state, to sample a second time from the same logits.
  struct Checkpoint {
    std::mt19937 random;
    float mirostat_mu;
  };
  [[nodiscard]] Checkpoint checkpoint() const { return {random_, mirostat_mu_}; }
  void restore(const Checkpoint& checkpoint) { random_ = checkpoint.random, mirostat_mu_ = checkpoint.mirostat_mu; }

 private:
  void adjust_logits(std::span<const float> logits, const std::vector<bool>& allowed);
  void apply_penalties();
  void apply_dry();
  void run_chain();
  void run_mirostat();
  [[nodiscard]] bool cut_vocabulary();
  double uniform();

  SamplerOptions options_;
  DryBreakers breakers_;
  std::vector<int32_t> history_;
  std::mt19937 random_;
  float mirostat_mu_;
  std::vector<float> work_;  // [n_vocab]: logits with bias and penalties
  VocabularyScan scan_;
  Candidates candidates_;
};

/// Natural logarithms of softmax probabilities from raw logits: for one token, and for the n best.
struct LogProbability {
  int32_t id;
  float log_p;
};
struct LogProbabilities {
  float token;
  std::vector<LogProbability> best;
};
[[nodiscard]] LogProbabilities log_probabilities(std::span<const float> logits, int32_t token, size_t n_best);

/// The id of the largest logit (the first of equals), or -1 if none is a number.
[[nodiscard]] int32_t argmax(std::span<const float> logits);

}  // namespace ggufscope
