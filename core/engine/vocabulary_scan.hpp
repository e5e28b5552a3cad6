// Computes what samplers need from the logits of a whole vocabulary, in a few SIMD passes and without sorting. Sorting
// 128,000 candidates takes tens of milliseconds. A histogram of probability by distance shows which of them matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ggufscope {

/// A candidate for the next token. p is set by normalization.
struct Candidate {
  int32_t id;
  float logit;
  float p;
};

class VocabularyScan {
 public:
  /// Reads logits, which must stay valid. NaN and -infinity count as probability 0. Returns false if no logit is a
  /// number, or if one is infinite.
  [[nodiscard]] bool read(std::span<const float> logits);

  [[nodiscard]] float max() const { return max_; }
  /// The natural logarithm of the sum of exp(logit - max()).
  [[nodiscard]] double log_sum() const;
  /// The sum of p * logit: a token with this logit has a surprise equal to the entropy.
  [[nodiscard]] double expected_logit() const { return static_cast<double>(max_) + weighted_ / sum_; }

  /// Tokens with logits of at least `min`, in order of id. p is relative to the whole vocabulary.
  void collect_above(float min, std::vector<Candidate>& out) const;
  /// The smallest set of tokens with logits nearest to center (for equal distances the smaller id) whose probabilities
  /// sum to more than p or, if `enough`, to at least p. Not sorted.
  void collect_nearest(double center, double p, bool enough, std::vector<Candidate>& out);

 private:
  [[nodiscard]] Candidate candidate(size_t id) const;
  void collect_bins(size_t first, size_t last, std::vector<Candidate>& out) const;
  [[nodiscard]] size_t crossing_bin(float center, double p, double& before);

  std::span<const float> logits_;
  std::vector<float> exps_;   // exp(logit - max)
  std::vector<double> bins_;  // probability by distance from a center
  std::vector<uint16_t> bin_of_;
  float max_ = 0;
  double sum_ = 0, weighted_ = 0;  // sums of exp(logit - max) and of (logit - max) * exp(logit - max)
};

}  // namespace ggufscope
