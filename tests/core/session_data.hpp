// Sessions for tests: loading a model, and generating a whole answer.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/session.hpp"
#include "model_data.hpp"

namespace ggufscope::test {

/// A session whose weights are loaded, but which has not been started.
inline std::unique_ptr<Session> with_weights(const std::vector<uint8_t>& file, Precision precision = Precision::kExact,
                                             size_t n_threads = 1, bool as_draft = false) {
  const HeaderBytes header{file, file.size()};
  Result<std::unique_ptr<Session>> session = Session::open({&header, 1}, n_threads, nullptr, as_draft);
  BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  BOOST_REQUIRE((*session)->begin_load(precision).has_value());
  const std::vector<TensorRequest>& plan = (*session)->model().plan();
  for (size_t i = plan.size(); i-- > 0;) {
    const auto offset = static_cast<size_t>(plan[i].entry.offset);
    const auto n_bytes = static_cast<size_t>(plan[i].n_rows * plan[i].row_bytes);
    BOOST_REQUIRE((*session)->set_rows(i, 0, ByteView(file).subspan(offset, n_bytes)).has_value());
  }
  return std::move(*session);
}

inline std::unique_ptr<Session> loaded(const std::vector<uint8_t>& file, const StateOptions& options,
                                       Precision precision = Precision::kFast, size_t n_threads = 1) {
  auto session = with_weights(file, precision, n_threads);
  const Result<void> started = session->start(options);
  BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
  return session;
}

inline std::unique_ptr<Session> loaded(uint32_t n_ctx, Precision precision = Precision::kFast, size_t n_threads = 1) {
  return loaded(read_file(fixture("stories.gguf")), {.n_ctx = n_ctx}, precision, n_threads);
}

inline GenerateOptions greedy() {
  GenerateOptions options;
  options.sampler.temperature = 0;
  return options;
}

struct Answer {
  std::string text;
  std::vector<TokenId> tokens;
  Finish finish = Finish::kNone;
};

inline Answer generate(Session& s, std::span<const TokenId> prompt, const GenerateOptions& options, size_t most = 400) {
  const Result<void> begun = s.begin_answer(prompt, options);
  BOOST_REQUIRE_MESSAGE(begun.has_value(), begun.error().message);
  Answer answer;
  while (answer.finish == Finish::kNone && answer.tokens.size() < most) {
    const Result<Step> step = s.next();
    BOOST_REQUIRE_MESSAGE(step.has_value(), step.error().message);
    answer.text += step->text;
    if (step->token != kNoToken) answer.tokens.push_back(step->token);
    answer.finish = step->finish;
  }
  return answer;
}

inline std::vector<TokenId> prompt_of(const Session& s, std::string_view text) {
  return s.tokenizer()->encode(text, {.special = true, .bos = true});
}

}  // namespace ggufscope::test
