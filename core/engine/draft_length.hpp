// How many tokens to propose in a round of speculative decoding: as many as pay off with the acceptance rate and the
// times measured so far, or none.
//
// With an acceptance rate p, n proposals yield (1 - p^(n+1)) / (1 - p) tokens on average (Leviathan et al. 2023). They
// cost a pass over n + 1 tokens and n steps of the draft. Where no n is faster than passes over one token, drafting
// pauses. Then a single proposal is tried at growing distances, so that trying costs a bounded share of the time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ggufscope {

/// The lower quartile of the last values, and the least of four or fewer. Other programs and the first calls of code
/// make some times long, and none short.
class RunningQuartile {
 public:
  void add(double value);
  [[nodiscard]] size_t size() const { return std::min(n_, last_.size()); }
  [[nodiscard]] double value() const { return quartile_; }

 private:
  std::array<double, 8> last_{};
  size_t n_ = 0;
  double quartile_ = 0;
};

/// Where proposals come from.
enum class DraftSource : uint8_t { kLookup, kModel };

/// What a round may propose.
struct DraftRound {
  DraftSource source = DraftSource::kLookup;
  size_t max = 0;           ///< tokens
  bool one_pass = false;    ///< the draft model proposes all of them in one pass
  bool recomputes = false;  ///< accepted tokens are computed again if others are refused: recurrent states go back
};

class DraftLength {
 public:
  /// A new text begins: what was refused in the last one may be right here.
  void begin_answer();
  /// The number of tokens to propose in this round.
  [[nodiscard]] size_t choose(const DraftRound& round);
  /// The time of a pass of the model.
  void add_pass(size_t n_tokens, double ms);
  /// The time of n proposals of the draft model. late: it had to compute many tokens first, so this is not the time of
  /// its steps.
  void add_draft(size_t n, double ms, bool late);
  /// How many of the round's proposals were accepted, and whether the next one was refused.
  void add_outcome(size_t n_accepted, bool refused);

 private:
  struct Record {
    double n_right = 0, n_seen = 0;  // proposals, of which older ones count less
    size_t wait = 0;                 // rounds until the next attempt
    size_t distance = 0;             // rounds between the last attempts; 0: drafting pays off
    [[nodiscard]] double rate() const;
  };
  [[nodiscard]] Record& record() { return records_[static_cast<size_t>(round_.source)]; }
  [[nodiscard]] size_t best(double p) const;
  void pause();

  RunningQuartile one_;      // a pass over one token, in ms
  RunningQuartile further_;  // each further token of a pass, in ms
  RunningQuartile step_;     // a proposal of the draft model, in ms
  size_t n_rounds_ = 0;      // with proposals, since a pass over one token was measured
  DraftRound round_;         // max is 0 if nothing is proposed
  double draft_ms_ = 0;      // the time of its proposals
  std::array<Record, 2> records_;
};

}  // namespace ggufscope
