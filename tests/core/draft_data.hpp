// What the tests of draft models share.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cfloat>

#include "session_data.hpp"

namespace ggufscope::test {

inline constexpr size_t kDraftWidth = 32;

// llama.cpp has -infinity for tokens that a draft model does not know.
inline std::vector<float> finite_logits(std::vector<float> logits) {
  for (float& x : logits) x = std::max(x, -FLT_MAX);
  return logits;
}

struct Watched {
  std::vector<float> out, seen;
};

inline Watched run_watched(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens,
                           std::span<const float> inputs, const std::vector<uint32_t>& watched) {
  Watched w{std::vector<float>(tokens.size() * model.n_output()),
            std::vector<float>(tokens.size() * watched.size() * model.n_last_state())};
  Batch batch;
  batch.tokens = tokens;
  batch.inputs = inputs;
  batch.watched = watched;
  batch.all_streams = true;
  batch.seen = w.seen.data();
  const Result<void> done = forward(model, state, pool, batch, w.out.data());
  BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  return w;
}

/// Options for the same answer without and with a draft model.
struct DraftOptions {
  GenerateOptions plain, drafted;
};

inline DraftOptions with_and_without_draft() {
  DraftOptions options{greedy(), {}};
  options.plain.ignore_end = true;
  options.plain.sampler.seed = 3;
  options.drafted = options.plain;
  options.drafted.n_draft = 4;
  options.drafted.fixed_drafts = true;
  return options;
}

inline void check_same_answer(Session& target, const std::vector<int32_t>& prompt, const DraftOptions& options,
                              size_t n) {
  BOOST_TEST(generate(target, prompt, options.drafted, n).tokens == generate(target, prompt, options.plain, n).tokens,
             boost::test_tools::per_element());
}

}  // namespace ggufscope::test
