// Chooses the number of proposed tokens from acceptance rates and measured times.
#include "engine/draft_length.hpp"

#include <algorithm>
#include <cmath>

namespace ggufscope {
namespace {

constexpr double kMinMs = 1e-6;
constexpr size_t kMinSingle = 3;  // passes over one token that are measured before the first proposals
constexpr size_t kEnough = 4;     // times that are measured before they alone are a reason not to draft
// Before anything is measured. Times are relative to a pass over one token.
constexpr double kFirstRate = 0.6, kFirstFurther = 0.4, kFirstStep = 0.2;
constexpr double kKept = 0.95;           // weight of the acceptance rate's older proposals for each new one
constexpr double kMinGain = 1.02;        // drafting must be at least so many times as fast
constexpr double kAttemptShare = 0.025;  // of the time, that attempts may take while drafting pauses
constexpr size_t kMinWait = 8, kMaxWait = 128, kMaxCostWait = 4096;  // in rounds
constexpr size_t kMeasureDistance = 32;  // rounds with proposals, after which a pass over one token is measured

}  // namespace

void RunningQuartile::add(double value) {
  last_[n_++ % last_.size()] = value;
  std::array<double, 8> sorted = last_;
  const auto low = sorted.begin() + static_cast<std::ptrdiff_t>((size() - 1) / 4);
  std::nth_element(sorted.begin(), low, sorted.begin() + static_cast<std::ptrdiff_t>(size()));
  quartile_ = *low;
}

double DraftLength::Record::rate() const { return (n_right + kFirstRate) / (n_seen + 1); }

void DraftLength::begin_answer() {
  for (Record& r : records_) r.wait = std::min(r.wait, kMinWait);
}

// The number of proposals with the largest gain if each is right with probability p; 0 if none is fast enough.
size_t DraftLength::best(double p) const {
  const bool is_model = round_.source == DraftSource::kModel,
             measured = further_.size() != 0 && (!is_model || step_.size() != 0);
  const double one = std::max(one_.value(), kMinMs);
  const double further = further_.size() != 0 ? std::min(1.0, further_.value() / one) : kFirstFurther;
  const double step = !is_model ? 0 : step_.size() != 0 ? step_.value() / one : kFirstStep;
  size_t n_best = 0;
  double best_gain = kMinGain, n_expected = 1, all_right = 1;
  for (size_t n = 1; n <= (measured ? round_.max : 1); ++n) {
    all_right *= p;
    n_expected += all_right;
    const auto count = static_cast<double>(n);
    double cost = 1 + count * further + (round_.one_pass ? 1 : count) * step;
    if (round_.recomputes) cost += further * (n_expected - 1 - count * all_right);
    if (n_expected / cost > best_gain) best_gain = n_expected / cost, n_best = n;
  }
  return n_best;
}

size_t DraftLength::choose(const DraftRound& round) {
  round_ = {};
  Record& r = records_[static_cast<size_t>(round.source)];
  if (round.max == 0 || one_.size() < kMinSingle || n_rounds_ == kMeasureDistance) return 0;
  if (r.wait > 0) {
    --r.wait;
    return 0;
  }
  ++n_rounds_;
  round_ = round;
  draft_ms_ = 0;
  return std::max<size_t>(1, best(record().rate()));
}

void DraftLength::add_pass(size_t n_tokens, double ms) {
  if (n_tokens == 1) {
    one_.add(ms);
    n_rounds_ = 0;
  } else if (one_.size() != 0) {
    further_.add(std::max(0.0, ms - one_.value()) / static_cast<double>(n_tokens - 1));
  }
}

void DraftLength::add_draft(size_t n, double ms, bool late) {
  draft_ms_ = ms;
  if (!late && n != 0) step_.add(round_.one_pass ? ms : ms / static_cast<double>(n));
}

void DraftLength::add_outcome(size_t n_accepted, bool refused) {
  if (round_.max == 0) return;
  Record& r = record();
  for (size_t i = 0; i < n_accepted + (refused ? 1 : 0); ++i) {
    r.n_right = kKept * r.n_right + (i < n_accepted ? 1 : 0);
    r.n_seen = kKept * r.n_seen + 1;
  }
  if (best(r.rate()) != 0) {
    r.distance = 0;
  } else if (refused || (further_.size() >= kEnough && best(1) == 0)) {  // else the next one may be right, too
    pause();
  }
  round_ = {};
}

// After the pause, the old acceptance rate counts less.
void DraftLength::pause() {
  Record& r = record();
  r.n_right /= 2;
  r.n_seen /= 2;
  const double one = std::max(one_.value(), kMinMs), cost = draft_ms_ + std::min(further_.value(), one);
  const double n_rounds = std::min(std::ceil(cost / one / kAttemptShare), static_cast<double>(kMaxCostWait));
  r.distance = std::max({kMinWait, std::min(2 * r.distance, kMaxWait), static_cast<size_t>(n_rounds)});
  r.wait = r.distance;
}

}  // namespace ggufscope
