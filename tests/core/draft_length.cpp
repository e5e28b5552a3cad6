// The number of proposed tokens on a simulated machine, on which a pass over one token takes 1 ms.
#include "engine/draft_length.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <utility>
#include <vector>

namespace ggufscope {
namespace {

struct Machine {
  double further_ms, step_ms;  // of each further token of a pass, and of a step of the draft
};
constexpr Machine kProcessor{0.45, 0.15}, kHead{0.45, 0.25}, kMemoryBound{0.06, 0.12}, kSlowDraft{0.45, 1.0},
    kBlock{0.06, 0.3};

struct Simulation {
  DraftLength length;
  std::mt19937 random{7};
  size_t n_most = 0;  // proposals of a round
  bool busy = false;

  // The time that is measured.
  double seen(double ms) { return busy && random() % 5 == 0 ? ms * static_cast<double>(3 + random() % 7) : ms; }

  double ms_for(size_t n_tokens, double rate, const Machine& machine, DraftSource source = DraftSource::kModel,
                bool recomputes = false, bool one_pass = false) {
    double ms = 0;
    length.begin_answer();
    for (size_t done = 0; done < n_tokens;) {
      const size_t n = length.choose({source, 8, one_pass, recomputes});
      if (source == DraftSource::kModel) {
        const double draft_ms = (one_pass && n > 0 ? 1 : static_cast<double>(n)) * machine.step_ms;
        length.add_draft(n, seen(draft_ms), false);
        ms += draft_ms;
      }
      const double pass_ms = 1 + static_cast<double>(n) * machine.further_ms;
      length.add_pass(1 + n, seen(pass_ms));
      ms += pass_ms;
      size_t n_right = 0;
      while (n_right < n && static_cast<double>(random()) < rate * 4294967296.0) ++n_right;
      if (n != 0) length.add_outcome(n_right, n_right < n);
      if (recomputes && n_right < n) ms += static_cast<double>(n_right) * machine.further_ms;
      n_most = std::max(n_most, n);
      done += 1 + n_right;
    }
    return ms;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(draft_lengths)

BOOST_AUTO_TEST_CASE(drafts_are_as_long_as_pays_off) {
  struct Row {
    const char* name;
    Machine machine;
    double rate, least_gain;
    DraftSource source = DraftSource::kModel;
    bool recomputes = false, one_pass = false;
  };
  const Row rows[] = {
      {"processor, 0 %", kProcessor, 0, 0.97},
      {"processor, 50 %", kProcessor, 0.5, 0.97},
      {"processor, 80 %", kProcessor, 0.8, 1.06},
      {"processor, 100 %", kProcessor, 1, 1.5},
      {"head, 0 %", kHead, 0, 0.97},
      {"head, 50 %", kHead, 0.5, 0.96},
      {"head, 80 %", kHead, 0.8, 1.01},
      {"head, 100 %", kHead, 1, 1.3},
      {"memory, 0 %", kMemoryBound, 0, 0.97},
      {"memory, 50 %", kMemoryBound, 0.5, 1.25},
      {"memory, 80 %", kMemoryBound, 0.8, 1.85},
      {"memory, 100 %", kMemoryBound, 1, 3.2},
      {"slow draft, 0 %", kSlowDraft, 0, 0.97},
      {"slow draft, 100 %", kSlowDraft, 1, 0.97},
      {"lookup, 0 %", kProcessor, 0, 0.97, DraftSource::kLookup},
      {"lookup, 80 %", kProcessor, 0.8, 1.2, DraftSource::kLookup},
      {"recurrent, 0 %", kProcessor, 0, 0.97, DraftSource::kModel, true},
      {"recurrent, 80 %", kProcessor, 0.8, 1.05, DraftSource::kModel, true},
      {"block, 0 %", kBlock, 0, 0.97, DraftSource::kModel, false, true},
      {"block, 80 %", kBlock, 0.8, 1.7, DraftSource::kModel, false, true},
  };
  for (const Row& row : rows) {
    Simulation simulation;
    const double gain = 2000 / simulation.ms_for(2000, row.rate, row.machine, row.source, row.recomputes, row.one_pass);
    BOOST_TEST(gain >= row.least_gain, row.name << ": " << gain);
    BOOST_TEST(simulation.n_most >= 1u, row.name);
  }
}

BOOST_AUTO_TEST_CASE(short_answers_lose_little) {
  for (const Machine& machine : {kProcessor, kHead, kMemoryBound, kSlowDraft}) {
    Simulation simulation;
    double ms = 0;
    for (int i = 0; i < 20; ++i) ms += simulation.ms_for(33, 0, machine);
    BOOST_TEST(20 * 33 / ms >= 0.95, 20 * 33 / ms);
  }
}

// Code, then prose, then code: a pause ends, and an old success does not keep long drafts alive.
BOOST_AUTO_TEST_CASE(the_length_follows_the_text) {
  Simulation simulation;
  const double first = simulation.ms_for(500, 0.95, kProcessor), prose = simulation.ms_for(500, 0, kProcessor);
  const double again = simulation.ms_for(500, 0.95, kProcessor);
  BOOST_TEST(500 / prose >= 0.95, 500 / prose);
  BOOST_TEST(first < 400);
  BOOST_TEST(again < 1.2 * first, again << " after " << first);
}

// Other programs make a fifth of all calls three to nine times as long.
BOOST_AUTO_TEST_CASE(a_busy_machine_changes_little) {
  for (const auto& [rate, least_gain] : {std::pair(0.0, 0.95), {0.8, 1.0}, {1.0, 1.3}}) {
    Simulation simulation;
    simulation.busy = true;
    double ms = 0;
    for (int i = 0; i < 40; ++i) ms += simulation.ms_for(49, rate, kProcessor);
    BOOST_TEST(40 * 49 / ms >= least_gain, rate << ": " << 40 * 49 / ms);
  }
}

// Times that were long by chance must not make proposals look cheap for the rest of an answer.
BOOST_AUTO_TEST_CASE(no_answer_loses_much_on_a_busy_machine) {
  for (const Machine& machine : {kProcessor, kHead, kSlowDraft})
    for (const double rate : {0.5, 0.7, 0.8})
      for (unsigned seed = 1; seed <= 40; ++seed) {
        Simulation simulation;
        simulation.random.seed(seed);
        simulation.busy = true;
        const double gain = 200 / simulation.ms_for(200, rate, machine);
        BOOST_TEST(gain >= 0.9,
                   "a step of " << machine.step_ms << " ms, rate " << rate << ", seed " << seed << ": " << gain);
      }
}

BOOST_AUTO_TEST_CASE(single_slow_calls_do_not_matter) {
  RunningQuartile quartile;
  for (const double value : {40.0, 1.0}) quartile.add(value);
  BOOST_TEST(quartile.value() == 1.0);
  for (const double value : {500.0, 2.0, 3.0, 2.0}) quartile.add(value);
  BOOST_TEST(quartile.value() == 2.0);
  for (int i = 0; i < 7; ++i) quartile.add(7);
  BOOST_TEST(quartile.value() == 7.0);
}

// Where a draft has to compute many tokens before it proposes, attempts become rare.
BOOST_AUTO_TEST_CASE(attempts_that_cost_much_are_rare) {
  DraftLength length;
  for (int i = 0; i < 3; ++i) length.add_pass(1, 1);
  std::vector<size_t> attempts;
  for (size_t i = 0; i < 4000; ++i) {
    const size_t n = length.choose({DraftSource::kModel, 4});
    if (n == 0) continue;
    const size_t n_behind = attempts.empty() ? 0 : i - attempts.back();
    attempts.push_back(i);
    length.add_draft(n, 0.2 + 0.1 * static_cast<double>(n_behind), n_behind > 6);
    length.add_pass(1 + n, 1.4);
    length.add_outcome(0, true);
  }
  BOOST_TEST(attempts.size() >= 3u);
  BOOST_TEST(attempts.size() <= 7u, attempts.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ggufscope
