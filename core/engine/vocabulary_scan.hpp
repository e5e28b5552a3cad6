// What samplers that look at a whole vocabulary need of its logits, in a few SIMD passes and without sorting it.
// Sorting 128,000 candidates takes tens of milliseconds; a histogram of probability mass by distance tells which of
// them matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ggufscope {

/// A token that may follow. p is set once candidates are normalized.
struct Candidate {
  int32_t id;
  float logit;
  float p;
};

class VocabularyScan {
 public:
  /// Reads logits, which must stay. NaN and -infinity have no mass. False where no logit is a number, or one is
  /// infinite.
  [[nodiscard]] bool read(std::span<const float> logits);

  [[nodiscard]] float max() const { return max_; }
  /// Natural logarithm of the sum of exp(logit - max()).
  [[nodiscard]] double log_sum() const;
  /// Sum of p * logit: a token of this logit has the entropy as its surprise.
  [[nodiscard]] double expected_logit() const { return static_cast<double>(max_) + weighted_ / sum_; }

  /// Tokens of logits from `least` on, in order of id; p is their share of the whole vocabulary.
  void collect_above(float least, std::vector<Candidate>& out) const;
  /// The tokens whose logits are nearest to center (ties: the smaller id), as few as have more than p of the mass
  /// together, or where `enough` is true at least p. Not sorted.
  void collect_nearest(double center, double p, bool enough, std::vector<Candidate>& out);

 private:
  [[nodiscard]] Candidate candidate(size_t id) const;
  void collect_bins(size_t first, size_t last, std::vector<Candidate>& out) const;
  [[nodiscard]] size_t crossing_bin(float center, double p, double& before);

  std::span<const float> logits_;
  std::vector<float> exps_;   // exp(logit - max)
  std::vector<double> bins_;  // mass by distance from a center
  std::vector<uint16_t> bin_of_;
  float max_ = 0;
  double sum_ = 0, weighted_ = 0;  // of exp(logit - max), and of (logit - max) * exp(logit - max)
};

}  // namespace ggufscope
