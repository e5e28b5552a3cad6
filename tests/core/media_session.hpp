// Sessions of the media vectors: a text model with its projector, prompts with images or audio, and libmtmd's results.
#pragma once

#include "engine/session.hpp"
#include "vision_data.hpp"

namespace ggufscope::test {

struct LoadedSession {
  std::vector<uint8_t> model, projector;
  std::unique_ptr<Session> session;
};

/// Loads all weights of an opened session and starts it.
inline void load_weights(const LoadedSession& loaded, Precision precision, uint32_t n_ctx, uint32_t n_sequences) {
  Session& s = *loaded.session;
  BOOST_REQUIRE(s.begin_load(precision).has_value());
  for (size_t i = 0; i < s.n_planned(); ++i) {
    const TensorRequest& request = s.planned(i);
    const ByteView file = request.entry.file == 0 ? ByteView(loaded.model) : ByteView(loaded.projector);
    const auto r = s.set_rows(i, 0,
                              file.subspan(static_cast<size_t>(request.entry.offset),
                                           static_cast<size_t>(request.n_rows * request.row_bytes)));
    BOOST_REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  }
  const auto started = s.start({.n_ctx = n_ctx, .n_sequences = n_sequences});
  BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
}

inline std::unique_ptr<LoadedSession> load_folder(const std::filesystem::path& folder,
                                                  Precision precision = Precision::kExact, uint32_t n_ctx = 512,
                                                  uint32_t n_sequences = 1) {
  auto out = std::make_unique<LoadedSession>();
  out->model = read_file(folder / "model.gguf");
  out->projector = read_file(folder / "mmproj.gguf");
  const HeaderBytes model{out->model, out->model.size()}, projector{out->projector, out->projector.size()};
  auto session = Session::open({&model, 1}, 1, &projector);
  BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  out->session = std::move(*session);
  load_weights(*out, precision, n_ctx, n_sequences);
  return out;
}

/// Completes the encoding that begin_image or begin_sound started, and returns its tokens.
inline std::vector<TokenId> encode_medium(Session& s, const Result<void>& begun) {
  BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
  size_t n = 0;
  for (;;) {
    const auto more = s.step_media();
    BOOST_REQUIRE_MESSAGE(more.has_value(), (more ? "" : more.error().message));
    if (s.n_media_steps() != 0) ++n;
    if (!*more) break;
  }
  BOOST_TEST(n == s.n_media_steps());
  return s.media_tokens();
}

/// Tokenizes each text piece separately. Between them are the tokens of medium(0), medium(1) ...
template <class Medium>
std::vector<TokenId> prompt_tokens(Session& s, std::string_view prompt, const Medium& medium) {
  constexpr std::string_view kMarker = "<__media__>";
  const Tokenizer& tokenizer = *s.tokenizer();
  std::vector<TokenId> out;
  if (tokenizer.adds_bos()) out.push_back(tokenizer.special().bos);
  size_t number = 0;
  for (size_t at = 0; at <= prompt.size();) {
    const size_t end = std::min(prompt.find(kMarker, at), prompt.size());
    const std::vector<TokenId> text = tokenizer.encode(prompt.substr(at, end - at), {.special = true});
    if (end > at) out.insert(out.end(), text.begin(), text.end());
    if (end == prompt.size()) break;
    const std::vector<TokenId> tokens = medium(number++);
    out.insert(out.end(), tokens.begin(), tokens.end());
    at = end + kMarker.size();
  }
  return out;
}

/// Compares the chunks: the tokens of text, and the number of tokens of media.
inline void check_chunks(std::span<const TokenId> tokens, const Json& result) {
  size_t at = 0;
  for (const Json& chunk : result["chunks"].items) {
    const auto count = static_cast<size_t>(std::stoi(chunk["n_tokens"].text));
    BOOST_REQUIRE(at + count <= tokens.size());
    const std::span<const TokenId> part = tokens.subspan(at, count);
    if (chunk["type"].text == "text") {
      const std::vector<int32_t> ids = chunk["ids"].integers();
      BOOST_CHECK_EQUAL_COLLECTIONS(part.begin(), part.end(), ids.begin(), ids.end());
    } else {
      BOOST_TEST(std::ranges::all_of(part, is_media));
    }
    at += count;
  }
  BOOST_TEST(at == tokens.size());
}

/// Compares the logits after the prompt, and the continuation as long as the reference's choice is clear.
inline void check_answer(Session& s, std::span<const TokenId> tokens, const Json& data,
                         const std::filesystem::path& logits) {
  const double tolerance = std::stod(data["tolerance"]["logits"]["max_abs"].text);
  const auto out = s.evaluate(tokens);
  BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
  const size_t n_vocab = s.model().n_output();
  const std::span<const float> last(out->as<float>() + (tokens.size() - 1) * n_vocab, n_vocab);
  const double off = max_difference(last, read_floats(logits));
  BOOST_TEST(off <= tolerance);
  BOOST_TEST_MESSAGE(logits.string() << ": " << off << " of " << tolerance);
  GenerateOptions greedy;
  greedy.sampler.temperature = 0;
  greedy.ignore_end = true;
  BOOST_REQUIRE(s.begin_answer(tokens, greedy).has_value());
  const std::vector<int32_t> ids = data["result"]["greedy"].integers();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::stod(data["result"]["margins"].items[i].text) < 2 * tolerance) break;
    const auto step = s.next();
    BOOST_REQUIRE_MESSAGE(step.has_value(), (step ? "" : step.error().message));
    BOOST_TEST(step->token == ids[i]);
  }
}

}  // namespace ggufscope::test
