// Prompts with audio, on the reference vectors made with libmtmd: spectrograms, the projector's output, the tokens
// around it, and the text model's logits after it.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "media/sound_frames.hpp"
#include "media_session.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(audio_session, *boost::unit_test::precondition(needs_shared("vectors/media/audio")) *
                                         boost::unit_test::label("floats"))

namespace {

std::vector<float> sound_named(const std::string& name) {
  return read_floats(shared("vectors/media/whisper/inputs") / (name + ".f32"));
}

std::vector<TokenId> encode_sound(Session& s, std::span<const float> samples, uint32_t rate = kMelSampleRate) {
  return encode_medium(s, s.begin_sound(samples, rate));
}

/// Calls work(folder, session, name, data) for every input of every folder.
template <class Work>
void each_input(const Work& work) {
  for (const auto& folder : folders_of("vectors/media/audio")) {
    const Json meta = read_json(folder / "meta.json");
    const auto loaded = load_folder(folder, Precision::kExact, 2048);
    for (const auto& [name, data] : meta["inputs"].fields)
      BOOST_TEST_CONTEXT(folder.filename().string() << ", " << name) work(folder, *loaded->session, name, data);
  }
}

ErrorCode refusal(const Result<void>& result) { return result ? ErrorCode{} : result.error().code; }

}  // namespace

BOOST_AUTO_TEST_CASE(spectrograms_match_libmtmd) {
  each_input([&](const auto& folder, Session& s, const std::string& name, const Json&) {
    if (name == "two") return;
    const size_t n_mel = s.audio()->parameters().sound.n_mel;
    const std::vector<float> samples = sound_named(name), expected = read_floats(folder / (name + ".mel.f32"));
    SoundFrames frames(s.audio()->parameters().sound, {}, {});
    BOOST_REQUIRE(frames.start(samples));
    do frames.compute(frames.first(), frames.last());
    while (frames.end_step());
    const std::vector<float> values = frames.part(0);
    const size_t n_frames = expected.size() / n_mel;
    std::vector<float> got(expected.size());
    for (size_t t = 0; t < n_frames; ++t)
      for (size_t m = 0; m < n_mel; ++m) got[m * n_frames + t] = values[t * n_mel + m];
    const double off = max_difference(got, expected);
    BOOST_TEST(off <= 1e-3);
    BOOST_TEST_MESSAGE(folder.filename().string() << " " << name << " spectrogram: " << off);
  });
}

BOOST_AUTO_TEST_CASE(embeddings_agree_with_libmtmd) {
  each_input([&](const auto& folder, Session& s, const std::string& name, const Json& data) {
    if (name == "two") return;
    const auto media = s.encoded_media(encode_sound(s, sound_named(name)));
    BOOST_REQUIRE_MESSAGE(media.has_value(), (media ? "" : media.error().message));
    const double tolerance = std::stod(data["tolerance"]["embd"]["max_abs"].text);
    const double off = max_difference(media->embeddings, read_floats(folder / (name + ".embd.f32")));
    BOOST_TEST(off <= tolerance);
    BOOST_TEST_MESSAGE(folder.filename().string() << " " << name << ": " << off << " of " << tolerance);
  });
}

BOOST_AUTO_TEST_CASE(prompts_and_logits_agree_with_libmtmd) {
  each_input([&](const auto& folder, Session& s, const std::string& name, const Json& data) {
    const std::vector<std::string> two{"speech-fr-short", "speech-en"};
    const std::vector<TokenId> tokens = prompt_tokens(
        s, data["prompt"].text, [&](size_t i) { return encode_sound(s, sound_named(name == "two" ? two[i] : name)); });
    check_chunks(tokens, data["result"]);
    check_answer(s, tokens, data, folder / (name + ".logits.f32"));
  });
}

BOOST_AUTO_TEST_CASE(audio_is_encoded_once_and_in_parts_of_30_seconds) {
  const auto loaded = load_folder(shared("vectors/media/audio/voxtral"), Precision::kExact, 512);
  Session& s = *loaded->session;
  const std::vector<float> samples = sound_named("speech-en");
  const std::vector<TokenId> first = encode_sound(s, samples);
  BOOST_TEST(s.n_media_steps() > 3u);
  BOOST_TEST(encode_sound(s, samples) == first, boost::test_tools::per_element());
  BOOST_TEST(s.n_media_steps() == 0u);
  // 31 s are two parts, and the second has its own id.
  std::vector<float> longer;
  while (longer.size() < 31 * kMelSampleRate) longer.insert(longer.end(), samples.begin(), samples.end());
  longer.resize(31 * kMelSampleRate);
  const std::vector<TokenId> parts = encode_sound(s, longer);
  BOOST_TEST(std::ranges::count_if(parts, is_media) == 300);
  BOOST_TEST(parts[parts.size() - 1] != parts[parts.size() - 151]);
  // The same sound at another sample rate is a different sound of the same length.
  std::vector<float> halved;
  for (size_t i = 0; i < samples.size(); i += 2) halved.push_back(samples[i]);
  BOOST_TEST(encode_sound(s, halved, 8000).size() == first.size());
}

BOOST_AUTO_TEST_CASE(invalid_audio_is_refused) {
  const auto loaded = load_folder(shared("vectors/media/audio/ultravox"), Precision::kExact, 512);
  Session& s = *loaded->session;
  BOOST_TEST((refusal(s.begin_sound({}, 16000)) == ErrorCode::kInvalidArgument));
  std::vector<float> samples(1000);
  BOOST_TEST((refusal(s.begin_sound(samples, 0)) == ErrorCode::kInvalidArgument));
  samples[7] = std::numeric_limits<float>::quiet_NaN();
  for (const uint32_t rate : {16000u, 44100u})
    BOOST_TEST((refusal(s.begin_sound(samples, rate)) == ErrorCode::kInvalidArgument));
  // 600 tokens exceed the limit of 512. At another rate, the sound is refused before it is resampled.
  const std::vector<float> silence(100 * 48000);
  BOOST_TEST((refusal(s.begin_sound(std::span(silence).first(31 * 16000), 16000)) == ErrorCode::kOutOfRange));
  BOOST_TEST((refusal(s.begin_sound(silence, 48000)) == ErrorCode::kOutOfRange));
  BOOST_TEST(!s.step_media());
  const Image pixel{{1, 1}, {0, 0, 0}};
  BOOST_TEST((refusal(s.begin_image(pixel.view())) == ErrorCode::kUnsupported));
  const auto seeing = load_folder(shared("vectors/media/vision/gemma3"));
  BOOST_TEST((refusal(seeing->session->begin_sound(samples, 16000)) == ErrorCode::kUnsupported));
}

BOOST_AUTO_TEST_SUITE_END()
