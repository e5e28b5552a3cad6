// OuteTTS: prompts, the steps of WavTokenizer's decoder, and sound of spectra, with small generated models.
#include <boost/test/unit_test.hpp>
#include <numbers>
#include <random>

#include "engine/english_words.hpp"
#include "media/inverse_stft.hpp"
#include "speech/outetts.hpp"
#include "speech_data.hpp"
#include "tiny_llama.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(speech_outetts, *boost::unit_test::label("floats"))

namespace {

using Complex = std::complex<double>;
constexpr size_t kCodes = 40, kSpectrum = 34;  // a transform of 32 values

MadeModel made_vocoder() {
  MadeModel m;
  m.architecture = "wavtokenizer-dec";
  m.integers = {{"context_length", 128},     {"embedding_length", kSpectrum},    {"block_count", 6},
                {"feed_forward_length", 24}, {"attention.head_count", 1},        {"features_length", 8},
                {"vocab_size", kCodes},      {"attention.group_norm_groups", 4}, {"posnet.embedding_length", 16},
                {"posnet.block_count", 6},   {"convnext.embedding_length", 16},  {"convnext.block_count", 2}};
  m.floats = {{"attention.layer_norm_epsilon", 1e-5f}, {"attention.group_norm_epsilon", 1e-5f}};
  m.booleans["attention.causal"] = false;
  const auto both = [&](const std::string& name, const std::vector<uint64_t>& shape,
                        const std::vector<uint64_t>& bias) {
    m.tensors[name + ".weight"] = shape;
    m.tensors[name + ".bias"] = bias;
  };
  const auto convolution = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    both(name, shape, {1, shape[2]});
    m.halves.insert(name + ".weight");
  };
  m.tensors["token_embd.weight"] = {8, kCodes};
  convolution("conv1d", {7, 8, 16});
  for (const std::string layer : {"posnet.0.", "posnet.1.", "posnet.3.", "posnet.4."})
    for (const std::string part : {"1", "2"}) {
      both(layer + "norm" + part, {1, 16}, {1, 16});
      convolution(layer + "conv" + part, {3, 16, 16});
    }
  for (const std::string layer : {"posnet.2.", "posnet.5."}) both(layer + "attn_norm", {1, 16}, {1, 16});
  for (const char* part : {"q", "k", "v", "output"}) convolution(std::string("posnet.2.attn_") + part, {1, 16, 16});
  both("token_embd_norm", {16}, {16});
  both("output_norm", {16}, {16});
  both("output", {16, kSpectrum}, {kSpectrum});
  for (const std::string block : {"convnext.0.", "convnext.1."}) {
    both(block + "dw", {7, 1, 16}, {1, 16});
    m.halves.insert(block + "dw.weight");
    both(block + "norm", {16}, {16});
    both(block + "pw1", {16, 24}, {24});
    both(block + "pw2", {24, 16}, {16});
    m.tensors[block + "gamma.weight"] = {16};
  }
  return m;
}

constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3;

/// A text model that writes codes. version: 2 or 3, of OuteTTS 0.2 and 0.3.
MadeModel made_writer(int version = 2) {
  MadeModel m = made_llama();
  m.tokens = {{"<unk>", kUnknown}, {"<|im_start|>", kControl}, {"<|im_end|>", kControl}, {"\n", kNormal}};
  for (const char* name :
       {"<|text_start|>", "<|text_end|>", "<|audio_start|>", "<|audio_end|>", "<|t_0.36|>", "<|t_1.05|>"})
    m.tokens.emplace_back(name, kControl);
  const std::vector<const char*> marks =
      version == 3 ? std::vector{"<|space|>"} : std::vector{"<|text_sep|>", "<|code_start|>", "<|code_end|>"};
  for (const char* name : marks) m.tokens.emplace_back(name, kControl);
  for (char c = 'a'; c <= 'z'; ++c) m.tokens.emplace_back(std::string(1, c), kNormal);
  m.tokens.emplace_back("\u2581", kNormal);
  for (size_t i = 0; i < kCodes; ++i) m.tokens.emplace_back("<|" + std::to_string(i) + "|>", kControl);
  m.tensors["token_embd.weight"] = m.tensors["output.weight"] = {16, m.tokens.size()};
  return m;
}

LoadedSession load_made(const MadeModel& writer = made_writer(), uint32_t n_ctx = 1024) {
  return load_speech(writer.bytes(), made_vocoder().bytes(), Precision::kExact, n_ctx);
}

SpeechTools tools_of(Session& s) { return {s.model(), s.pool(), s.tokenizer(), *s.speech()}; }

std::vector<float> rows_of(SpeechWriter& writer, size_t chunk) {
  std::vector<float> rows = writer.common_rows();
  const std::vector<float> more = writer.start_chunk(chunk);
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

constexpr const char* kProfile = "an 36 3 0 39\nowl 105 7";

}  // namespace

BOOST_AUTO_TEST_CASE(the_inverse_transform_is_its_sum) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const size_t n : {1u, 2u, 3u, 4u, 5u, 7u, 12u, 30u, 49u, 128u, 1280u}) {
    std::vector<Complex> values(n);
    for (Complex& value : values) value = {normal(random), normal(random)};
    std::vector<Complex> got = values;
    InverseDft(n).run(got);
    for (size_t k = 0; k < n; k += 1 + n / 50) {
      Complex sum = 0;
      for (size_t m = 0; m < n; ++m)
        sum += values[m] * std::polar(1.0, 2 * std::numbers::pi * double(m * k % n) / double(n));
      BOOST_TEST(std::abs(got[k] - sum) <= 1e-9, n << " values, " << k);
    }
  }
}

// The spectra of windowed parts of a sound give the sound.
BOOST_AUTO_TEST_CASE(spectra_become_the_sound_that_they_were_made_of) {
  for (const size_t n_fft : {8u, 40u, 1280u}) {
    InverseStft stft(n_fft);
    const size_t n_frames = 7, hop = n_fft / 4, padding = (n_fft - hop) / 2;
    std::vector<float> sound = random_floats((n_frames - 1) * hop + n_fft, 11), spectra;
    for (size_t t = 0; t < n_frames; ++t) {
      std::vector<float> phases;
      for (size_t k = 0; k <= n_fft / 2; ++k) {
        Complex sum = 0;
        for (size_t i = 0; i < n_fft; ++i) {
          const double angle = 2 * std::numbers::pi * double(i) / double(n_fft);
          sum += (0.5 - 0.5 * std::cos(angle)) * double(sound[t * hop + i]) *
                 std::polar(1.0, -2 * std::numbers::pi * double(i * k % n_fft) / double(n_fft));
        }
        spectra.push_back(static_cast<float>(std::log(std::abs(sum) + 1e-12)));
        phases.push_back(static_cast<float>(std::arg(sum)));
      }
      spectra.insert(spectra.end(), phases.begin(), phases.end());
    }
    std::vector<float> samples{0.25f};  // appended to
    stft.append(spectra, n_frames, samples);
    BOOST_REQUIRE(samples.size() == 1 + n_frames * hop);
    BOOST_TEST(max_difference(std::span(samples).subspan(1), std::span(sound).subspan(padding, n_frames * hop)) <=
               1e-5);
  }
}

BOOST_AUTO_TEST_CASE(loud_spectra_stay_in_the_range_of_samples) {
  InverseStft stft(32);
  std::vector<float> spectra(2 * kSpectrum, 0.0f), samples;
  std::fill_n(spectra.begin(), 17, 50.0f);  // e^50, cut to 100
  stft.append(spectra, 2, samples);
  BOOST_TEST(samples.size() == 16u);
  for (const float sample : samples) BOOST_TEST(std::abs(sample) <= 1.0f);
}

BOOST_AUTO_TEST_CASE(texts_become_words_as_in_llama_cpp) {
  const auto joined = [](std::string_view text) {
    std::string out;
    for (const std::string& word : english_words(text)) out += (out.empty() ? "" : " ") + word;
    return out;
  };
  const std::pair<const char*, const char*> kTexts[] = {
      {"Hello, World!", "hello world"},
      {"It's a well-known_fact/claim.", "its a well known fact claim"},
      {"  \n ", ""},
      {"0", "zero"},
      {"I have 21 owls", "i have twenty one owls"},
      {"1000", "one thousand"},
      {"110", "one hundred ten"},
      {"2147483647",
       "two billion one hundred forty seven million four hundred eighty three thousand six hundred forty seven"},
      {"2147483648", "two one four seven four eight three six four eight"},
      {"3.14", "three point one four"},
      {"007.50 m", "seven point five zero m"},
      {"1.", "one"},
      {"4x", "fourx"},
      {"100m", "one hundred m"},
      {"caf\u00e9 \u4f60", "caf"},
      {"a\\b", "a b"},
  };
  for (const auto& [text, words] : kTexts) BOOST_TEST(joined(text) == words, text);
}

BOOST_AUTO_TEST_CASE(prompts_have_the_form_of_their_version) {
  for (const int version : {2, 3}) {
    const LoadedSession loaded = load_made(made_writer(version));
    const SpeechTools tools = tools_of(*loaded.session);
    auto writer = create_speech_writer(tools);
    BOOST_REQUIRE_MESSAGE(writer.has_value(), (writer ? "" : writer.error().message));
    const bool is_0_2 = version == 2;
    const std::string separator = is_0_2 ? "<|text_sep|>" : "<|space|>", start = is_0_2 ? "<|code_start|>" : "",
                      end = is_0_2 ? "<|code_end|>" : "<|space|>";
    const auto expect = [&](const SpeakOptions& options, const std::string& text) {
      const auto started = (*writer)->start("Two owls.", options, {}, 1024);
      BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
      std::vector<TokenId> ids = tools.tokenizer->encode("<|im_start|>\n", {.special = true, .bos = true});
      for (const TokenId id : tools.tokenizer->encode(text, {.special = true})) ids.push_back(id);
      BOOST_TEST(rows_of(**writer, 0) == tools.embed(ids));
    };
    expect({}, "<|text_start|>two" + separator + "owls<|text_end|>\n<|audio_start|>\n");
    SpeakOptions with_voice;
    with_voice.profile = kProfile;
    expect(with_voice, "<|text_start|>an" + separator + "owl" + separator + "two" + separator +
                           "owls<|text_end|>\n<|audio_start|>\nan<|t_0.36|>" + start + "<|3|><|0|><|39|>" + end +
                           "\nowl<|t_1.05|>" + start + "<|7|>" + end + "\n");
  }
}

BOOST_AUTO_TEST_CASE(codes_become_sound_in_steps) {
  const LoadedSession loaded = load_made();
  const SpeechModel& speech = *loaded.session->speech();
  Pool& pool = loaded.session->pool();
  const std::vector<int32_t> codes{3, 1, 4, 1, 5, 9, 2, 6, 39, 0, 17};
  const auto file = parse_file(made_vocoder().bytes());
  const LoadedModel vocoder = load_model(*file, pool);
  const auto state = make_state(*vocoder.model, pool, {.n_ctx = 64, .n_batch = 64});
  std::vector<float> spectra(codes.size() * kSpectrum), expected;
  const Batch batch{.tokens = codes, .positions = {}, .sequences = {}, .output_mask = {}};
  BOOST_REQUIRE(forward(*vocoder.model, *state, pool, batch, spectra.data()).has_value());
  InverseStft(kSpectrum - 2).append(spectra, codes.size(), expected);
  auto decoder = speech.generator().create_decoder(pool);
  BOOST_REQUIRE_MESSAGE(decoder.has_value(), (decoder ? "" : decoder.error().message));
  const SpeechFrames frames{.n = codes.size(), .latents = {}, .codes = codes};
  const auto decode = [&](size_t n_max) {
    std::vector<float> samples;
    size_t n = 0;
    for (bool more = true; more && n < n_max; ++n) {
      const Result<bool> stepped = (*decoder)->decode(frames, samples);
      BOOST_REQUIRE(stepped.has_value());
      more = *stepped;
    }
    BOOST_TEST(n == std::min<size_t>(n_max, 18));  // a look-up, a convolution, two for each of 6 + 2 layers
    return samples;
  };
  BOOST_TEST(decode(99).size() == codes.size() * 8);
  BOOST_TEST(max_difference(decode(99), expected) <= 1e-6);
  BOOST_TEST(decode(4).empty());
  (*decoder)->reset();
  BOOST_TEST(max_difference(decode(99), expected) <= 1e-6);
  const SpeechFrames unknown{.n = 1, .latents = {}, .codes = {int32_t{kCodes}}};
  std::vector<float> samples;
  BOOST_TEST(((*decoder)->decode(unknown, samples).error().code == ErrorCode::kOutOfRange));
}

BOOST_AUTO_TEST_CASE(a_text_is_spoken_in_chunks) {
  const LoadedSession loaded = load_made();
  Session& s = *loaded.session;
  SpeakOptions options;
  options.seed = 4;
  std::string text;
  for (int i = 0; i < 9; ++i) text += "The owl sleeps by day. ";
  const std::vector<float> samples = speak(s, text, options);
  BOOST_TEST(samples.size() > 0u);
  BOOST_TEST(samples.size() % 8 == 0u);
  BOOST_TEST(max_difference(speak(s, text, options), samples) == 0);
  BOOST_TEST((*s.speaker())->writer().n_chunks() == 5u);
  options.profile = kProfile;
  const std::vector<float> other = speak(s, text, options);
  BOOST_TEST((other != samples));
  const auto estimate = s.memory({.n_ctx = 1024}, Precision::kExact);
  BOOST_REQUIRE(estimate.has_value());
  BOOST_TEST(estimate->scratch >= s.speech()->generator().scratch_bytes(s.pool()));
}

BOOST_AUTO_TEST_CASE(bad_texts_and_voices_are_refused_in_words) {
  const LoadedSession loaded = load_made();
  Session& s = *loaded.session;
  const auto refused = [&](std::string_view text, const std::string& profile) {
    SpeakOptions options;
    options.profile = profile;
    const Result<void> begun = s.begin_speech(text, options);
    BOOST_REQUIRE(!begun.has_value());
    BOOST_TEST((begun.error().code == ErrorCode::kInvalidArgument), begun.error().message);
    return begun.error().message;
  };
  for (const char* text : {"", " ", "...", "\u4f60\u597d"})
    BOOST_TEST(refused(text, "").find("no text") != std::string::npos);
  BOOST_TEST(refused("a", "an 30 40").find("word 1 of the voice's profile has the code '40'") == 0u);
  for (const char* profile :
       {"\n", "an", "an x", "an -1 3", "an 0.3 3", "an 6001 3", "an 1 -1", "an 1 3x", "an 1  3", "<|im_end|> 1 3"})
    BOOST_TEST(refused("a", profile).find("profile") != std::string::npos, profile);
  BOOST_TEST(((*s.speaker())->begin_voice(std::vector<float>(24000), 24000).error().code == ErrorCode::kUnsupported));
  BOOST_REQUIRE(s.begin_speech("caf\u00e9", {}).has_value());
  BOOST_TEST((*s.speaker())->writer().warning() != "");
  BOOST_REQUIRE(s.begin_speech("cafe", {}).has_value());
  BOOST_TEST((*s.speaker())->writer().warning() == "");
  const LoadedSession small = load_made(made_writer(), 100);
  BOOST_TEST((small.session->begin_speech("a", {}).error().code == ErrorCode::kOutOfRange));
}

BOOST_AUTO_TEST_CASE(vocabularies_without_the_codes_are_refused) {
  const auto refused = [](const MadeModel& writer) {
    const LoadedSession loaded = load_made(writer);
    const Result<Speaker*> speaker = loaded.session->speaker();
    BOOST_REQUIRE(!speaker.has_value());
    BOOST_TEST((speaker.error().code == ErrorCode::kNotFound));
    return speaker.error().message;
  };
  MadeModel other = made_writer();
  other.tokens.back().first = "x";
  BOOST_TEST(refused(other).find("<|39|>") != std::string::npos);
  other.tokens[1].first = "y";
  BOOST_TEST(refused(other).find("<|im_start|>") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(decoders_whose_frames_are_no_spectra_are_refused) {
  for (const uint64_t n : {33u, 36u, 6u}) {
    MadeModel vocoder = made_vocoder();
    vocoder.integers["embedding_length"] = n;
    vocoder.tensors["output.weight"] = {16, n};
    vocoder.tensors["output.bias"] = {n};
    const Bytes text = made_writer().bytes(), file = vocoder.bytes();
    const HeaderBytes header{text, text.size()}, projector{file, file.size()};
    const auto session = Session::open({&header, 1}, 1, &projector);
    BOOST_REQUIRE(!session.has_value());
    BOOST_TEST((session.error().code == ErrorCode::kBadShape), session.error().message);
  }
}

BOOST_AUTO_TEST_SUITE_END()
