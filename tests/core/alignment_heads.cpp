// The heads of Whisper's decoder whose attention gives the times of words.
#include "audio/alignment_heads.hpp"

#include <boost/test/unit_test.hpp>

#include "gguf/parse.hpp"
#include "gguf_bytes.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

namespace {

using Heads = std::vector<AlignmentHead>;
constexpr WhisperSizes kTiny = {.n_ctx = 448, .n_embd = 384, .n_head = 6, .n_layer = 4, .n_ff = 1536};

Result<Heads> heads_of(const GgufBytes& file, const WhisperSizes& decoder, uint32_t n_vocab) {
  ParseState state;
  const auto progress = parse_header(file.out, file.out.size(), state);
  BOOST_REQUIRE(progress && progress->complete);
  return alignment_heads({state.header, file.out}, decoder, n_vocab);
}

GgufBytes with_key(const std::vector<int32_t>& numbers) {
  GgufBytes file(0, 1);
  file.array("whisper.decoder.alignment_heads", ValueType::kI32, numbers.size());
  for (const int32_t n : numbers) file.put(n);
  return file;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(word_alignment, *boost::unit_test::label("floats"))

BOOST_AUTO_TEST_CASE(published_models_are_known_by_their_sizes) {
  BOOST_TEST((*heads_of(GgufBytes(), kTiny, 51865) == Heads{{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}));
  BOOST_TEST(heads_of(GgufBytes(), kTiny, 51864)->size() == 8u);
  constexpr WhisperSizes kLarge = {.n_ctx = 448, .n_embd = 1280, .n_head = 20, .n_layer = 32, .n_ff = 5120};
  BOOST_TEST(heads_of(GgufBytes(), kLarge, 51865)->size() == 23u);
  BOOST_TEST(heads_of(GgufBytes(), kLarge, 51866)->size() == 10u);
}

BOOST_AUTO_TEST_CASE(other_models_use_the_upper_half_of_their_layers) {
  const WhisperSizes small = {.n_ctx = 96, .n_embd = 128, .n_head = 2, .n_layer = 3, .n_ff = 512};
  BOOST_TEST((*heads_of(GgufBytes(), small, 867) == Heads{{1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  const WhisperSizes wide = {.n_ctx = 448, .n_embd = 1280, .n_head = 20, .n_layer = 24, .n_ff = 5120};
  const Heads kept = *heads_of(GgufBytes(), wide, 51865);
  BOOST_TEST(kept.size() == 48u);
  for (const AlignmentHead& head : kept) BOOST_TEST((head.layer >= 12 && head.layer < 24 && head.head < 20));
}

BOOST_AUTO_TEST_CASE(the_key_overrides_known_heads) {
  BOOST_TEST((*heads_of(with_key({0, 1, 3, 5}), kTiny, 51865) == Heads{{0, 1}, {3, 5}}));
  const std::vector<std::vector<int32_t>> impossible = {
      {}, {1}, {0, 6}, {4, 0}, {-1, 0}, {0, -1}, std::vector<int32_t>(98, 0)};
  for (const std::vector<int32_t>& numbers : impossible) {
    const Result<Heads> heads = heads_of(with_key(numbers), kTiny, 51865);
    BOOST_REQUIRE(!heads);
    BOOST_TEST((heads.error().code == ErrorCode::kOutOfRange));
  }
  GgufBytes text(0, 1);
  text.kv("whisper.decoder.alignment_heads", "3,5");
  BOOST_TEST(!heads_of(text, kTiny, 51865));
}

BOOST_AUTO_TEST_SUITE_END()
