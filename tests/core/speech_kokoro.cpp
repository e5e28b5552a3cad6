// Kokoro, compared stage by stage with a small model that tests/fixtures/record-kokoro.py computes in double precision.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "json.hpp"
#include "model_data.hpp"
#include "speech/kokoro.hpp"
#include "speech_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(speech_kokoro, *boost::unit_test::label("floats"))

namespace {

const std::filesystem::path& folder() {
  static const std::filesystem::path path = fixture("golden/kokoro");
  return path;
}

std::vector<float> stage(const std::string& name) { return read_floats(folder() / (name + ".f32")); }

struct LoadedKokoro {
  std::unique_ptr<ParsedFile> file;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<SpeechModel> model;
  Json expected;
  [[nodiscard]] const Kokoro& kokoro() const { return static_cast<const Kokoro&>(model->generator()); }
  [[nodiscard]] std::vector<int32_t> ids() const { return expected["ids"].integers(); }
  [[nodiscard]] uint32_t seed() const { return static_cast<uint32_t>(std::stoul(expected["seed"].text)); }
  [[nodiscard]] std::span<const float> style() const {
    const Kokoro::Voice& voice = kokoro().voices()[0];
    const size_t n = 2 * kokoro().weights().n_style;
    return {voice.styles.data() + (ids().size() - 3) * n, n};
  }
};

Result<std::unique_ptr<SpeechModel>> open_bytes(const ParsedFile& file) {
  const Gguf gguf = file.gguf();
  return SpeechModel::open_alone({&gguf, file.bytes.size()});
}

LoadedKokoro load_kokoro(size_t n_threads = 1, Precision precision = Precision::kExact) {
  LoadedKokoro out{parse_file(read_file(folder() / "model.gguf")), make_pool(n_threads), nullptr,
                   JsonReader(read_text(folder() / "expected.json")).value()};
  auto model = open_bytes(*out.file);
  BOOST_REQUIRE_MESSAGE(model.has_value(), (model ? "" : model.error().message));
  out.model = std::move(*model);
  BOOST_REQUIRE(out.model->begin_load(*out.pool, precision).has_value());
  for (size_t i = out.model->plan().size(); i-- > 0;) {
    const TensorRequest& request = out.model->plan()[i];
    const ByteView rows = ByteView(out.file->bytes)
                              .subspan(static_cast<size_t>(request.entry.offset),
                                       static_cast<size_t>(request.n_rows * request.row_bytes));
    const Result<void> set = out.model->set_rows(*out.pool, i, 0, rows);
    BOOST_REQUIRE_MESSAGE(set.has_value(), (set ? "" : set.error().message));
  }
  BOOST_REQUIRE(out.model->finish_load(*out.pool).has_value());
  return out;
}

void run(StepList& steps) {
  while (steps.run_next()) {
  }
}

void agree(const char* name, std::span<const float> got, double tolerance) {
  const std::vector<float> expected = stage(name);
  BOOST_REQUIRE_MESSAGE(got.size() == expected.size(), name << ": " << got.size() << " values");
  const double difference = max_difference(got, expected);
  BOOST_TEST_MESSAGE(name << " differs by " << difference);
  BOOST_TEST(difference <= tolerance, name << " differs by " << difference);
}

SpeechFrames frames_of(const LoadedKokoro& k) {
  SpeechFrames frames;
  frames.codes = k.ids();
  frames.n = frames.codes.size();
  frames.latents.assign(k.style().begin(), k.style().end());
  frames.latents.push_back(std::stof(k.expected["speed"].text));
  frames.seed = k.seed();
  return frames;
}

std::vector<float> decode(SpeechDecoder& decoder, const SpeechFrames& frames) {
  std::vector<float> samples;
  for (bool more = true; more;) {
    const Result<bool> stepped = decoder.decode(frames, samples);
    BOOST_REQUIRE_MESSAGE(stepped.has_value(), (stepped ? "" : stepped.error().message));
    more = *stepped;
  }
  return samples;
}

// The file with the last letter of a name changed, after its length.
std::unique_ptr<ParsedFile> renamed(const ParsedFile& file, const std::string& name) {
  std::vector<uint8_t> bytes = file.bytes;
  std::string sought(8, '\0');
  for (size_t i = 0; i < 8; ++i) sought[i] = static_cast<char>(uint64_t{name.size()} >> (8 * i));
  const auto found = std::ranges::search(bytes, sought + name, {}, {}, [](char c) { return static_cast<uint8_t>(c); });
  BOOST_REQUIRE(!found.empty());
  found.back() = 'Z';
  return parse_file(std::move(bytes));
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_stage_agrees_with_its_definition) {
  const LoadedKokoro k = load_kokoro();
  const std::vector<int32_t> ids = k.ids();
  const KokoroWeights& w = k.kokoro().weights();
  const KokoroInput in{k.style().data(), ids, k.seed()};
  StepList steps(*k.pool);
  KokoroPhonemes phonemes;
  BOOST_REQUIRE(steps.record([&] { record_prosody(steps, w, in, phonemes); }).has_value());
  run(steps);
  agree("hidden", phonemes.hidden, 2e-5);
  agree("text", phonemes.text, 1e-5);
  agree("durations", phonemes.durations, 2e-5);
  const std::vector<float> pitch = stage("pitch");
  const size_t n = pitch.size(), width = w.sound.n_fft + 2;
  std::vector<float> spectra((n * w.sound.n_up + 1) * width);
  BOOST_REQUIRE(
      steps.record([&] { add_source(steps, w.sound, k.seed(), pitch.data(), n, spectra.data()); }).has_value());
  run(steps);
  agree("source", std::span(spectra).first(stage("source").size()), 1e-3);
}

BOOST_AUTO_TEST_CASE(samples_agree_with_their_definition) {
  for (const size_t n_threads : {1u, 2u}) {
    const LoadedKokoro k = load_kokoro(kWasm ? 1 : n_threads);
    auto decoder = k.kokoro().create_decoder(*k.pool);
    BOOST_REQUIRE(decoder.has_value());
    const std::vector<float> samples = decode(**decoder, frames_of(k));
    agree("samples", samples, kWasm ? 1e-3 : 5e-4);  // its kernels add in another order
    // The next text begins anew, also after one that was left.
    std::vector<float> some;
    for (size_t i = 0; i < 40; ++i) BOOST_REQUIRE((*decoder)->decode(frames_of(k), some).value());
    (*decoder)->reset();
    BOOST_TEST((decode(**decoder, frames_of(k)) == samples));
  }
}

BOOST_AUTO_TEST_CASE(the_seed_and_the_speed_matter) {
  const LoadedKokoro k = load_kokoro();
  auto decoder = k.kokoro().create_decoder(*k.pool);
  SpeechFrames frames = frames_of(k);
  const std::vector<float> samples = decode(**decoder, frames);
  frames.seed += 1;
  BOOST_TEST((decode(**decoder, frames) != samples));
  frames.latents.back() = 4;
  BOOST_TEST(decode(**decoder, frames).size() < samples.size());
  frames.latents.back() = 0.001f;
  std::vector<float> none;
  Result<bool> stepped = true;
  while (stepped && *stepped) stepped = (*decoder)->decode(frames, none);
  BOOST_REQUIRE(!stepped.has_value());
  BOOST_TEST((stepped.error().code == ErrorCode::kOutOfRange));
}

BOOST_AUTO_TEST_CASE(the_alphabet_is_that_of_the_file) {
  const LoadedKokoro k = load_kokoro();
  BOOST_TEST(k.kokoro().find("\u0259") == 3);
  BOOST_TEST(k.kokoro().find("t") == 11);
  BOOST_TEST(k.kokoro().find("") == -1);
  BOOST_TEST(k.kokoro().find("q") == -1);
  BOOST_TEST(k.kokoro().voices().size() == 2u);
  BOOST_TEST(k.kokoro().max_phonemes() == 38u);
  BOOST_TEST(k.model->weight_bytes(Precision::kExact).value() > 0u);
  BOOST_TEST(k.kokoro().scratch_bytes(*k.pool) > 0u);
}

// Weights of 32 bits become halves, unless everything is exact or their rows have no packed format.
BOOST_AUTO_TEST_CASE(floats_are_packed_as_halves_where_they_suffice) {
  constexpr size_t kIn = 64, kOut = 8, kRows = 5;
  const auto pool = make_pool(1);
  std::vector<float> w(kIn * kOut), x(kIn * kRows), exact(kOut * kRows), fast(kOut * kRows);
  for (size_t i = 0; i < w.size(); ++i) w[i] = std::sin(float(3 * i + 1)) / 8;
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(float(i * i % 97));
  const auto load = [&](Linear& to, size_t n_in, Precision precision) {
    to.n_in = n_in;
    to.n_out = w.size() / n_in;
    TensorRequest request;
    request.entry = {.name = "w", .n_dims = 2, .shape = {n_in, to.n_out, 1, 1}, .n_bytes = w.size() * sizeof(float)};
    request.n_rows = request.n_rows_kept = to.n_out;
    request.row_bytes = n_in * sizeof(float);
    request.linear = &to;
    request.halves_suffice = true;
    const ByteView rows(reinterpret_cast<const uint8_t*>(w.data()), w.size() * sizeof(float));
    BOOST_REQUIRE(pack_rows(*pool, request, precision, 0, rows).has_value());
    BOOST_TEST(loaded_size(request, precision).value() == to.matrix.packed_bytes());
    return to.matrix.type();
  };
  Linear as_floats, as_halves, narrow;
  BOOST_TEST(load(as_floats, kIn, Precision::kExact) == 0u);
  BOOST_TEST(load(as_halves, kIn, Precision::kFast) == 1u);
  BOOST_TEST(load(narrow, 16, Precision::kFast) == 0u);
  BOOST_TEST(2 * as_halves.matrix.packed_bytes() < as_floats.matrix.packed_bytes() * 5 / 4);
  apply(*pool, as_floats, x.data(), kRows, exact.data());
  apply(*pool, as_halves, x.data(), kRows, fast.data());
  const double difference = max_difference(fast, exact);
  BOOST_TEST_MESSAGE("halves differ by " << difference);
  BOOST_TEST(difference > 0);
  BOOST_TEST(difference < 1e-3);
}

// A tensor under another name is missing, and one too many; a key is missing.
BOOST_AUTO_TEST_CASE(every_tensor_and_key_is_needed) {
  const auto file = parse_file(read_file(folder() / "model.gguf"));
  const auto refused = [&](const std::string& name) {
    const auto changed = renamed(*file, name);
    const auto opened = open_bytes(*changed);
    BOOST_REQUIRE_MESSAGE(!opened.has_value(), name);
    BOOST_TEST(opened.error().message.find("kokoro.") != std::string::npos, name << ": " << opened.error().message);
  };
  const Gguf gguf = file->gguf();
  for (size_t i = 0; i < gguf.header.tensors.size(); i += whole_run() ? 1 : 7)
    refused(std::string(gguf.text(gguf.header.tensors[i].name)));
  for (const KeyValue& key : gguf.header.key_values) {
    const std::string name(gguf.text(key.key));
    if (name.starts_with("kokoro.") && name != "kokoro.duration_predictor.albert.layers") refused(name);
  }
}

// From here on a whole session: phonemes in, samples out.
namespace {

constexpr const char* kPhonemes = "a\u0283\u02d0 b\u0259n.";  // the ids of the reference

LoadedSession load_alone(std::vector<uint8_t> bytes = read_file(folder() / "model.gguf")) {
  LoadedSession out{std::move(bytes), {}, nullptr};
  auto session = Session::open(out.model, out.model.size(), kWasm ? 1 : 2);
  BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  out.session = std::move(*session);
  load_weights(out, Precision::kExact, 16, 1);
  return out;
}

SpeakOptions options_of(float speed = 1.25f, const char* voice = "") {
  SpeakOptions options;
  options.seed = 7;
  options.speed = speed;
  options.profile = voice;
  return options;
}

ErrorCode refusal(Session& s, std::string_view text, const SpeakOptions& options, const char* said) {
  const Result<void> begun = s.begin_speech(text, options);
  BOOST_REQUIRE_MESSAGE(!begun.has_value(), said);
  BOOST_TEST(begun.error().message.find(said) != std::string::npos, begun.error().message);
  return begun.error().code;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_session_speaks_the_reference) {
  const LoadedSession loaded = load_alone();
  Session& s = *loaded.session;
  const std::vector<float> samples = speak(s, kPhonemes, options_of());
  agree("samples", samples, kWasm ? 1e-3 : 5e-4);
  BOOST_TEST((speak(s, kPhonemes, options_of()) == samples));
  BOOST_TEST((speak(s, kPhonemes, options_of(1.25f, "bm_test")) != samples));
  BOOST_TEST(speak(s, kPhonemes, options_of(4)).size() < samples.size());
  BOOST_TEST((*s.speaker())->writer().voices() == "af_heart\nbm_test");
  BOOST_TEST(s.model().generation_refusal().empty() == false);
  BOOST_TEST(s.memory({.n_ctx = 16}, Precision::kExact)->weights > 0u);
}

BOOST_AUTO_TEST_CASE(a_long_text_is_cut_and_unknown_phonemes_are_named) {
  const LoadedSession loaded = load_alone();
  Session& s = *loaded.session;
  const std::string words = "aba nata \u0283\u0259n, ";
  BOOST_REQUIRE(s.begin_speech(words + words + words + words + "\u0283.", options_of()).has_value());
  BOOST_TEST((*s.speaker())->writer().n_chunks() >= 2u);  // the file's limit is 38
  BOOST_TEST((*s.speaker())->writer().warning() == "");
  // A mark is no reason to cut, only the length is.
  BOOST_REQUIRE(s.begin_speech("aba. nata. \u0283\u0259n, ta.", options_of()).has_value());
  BOOST_TEST((*s.speaker())->writer().n_chunks() == 1u);
  const std::vector<float> whole = speak(s, words + words + words, options_of());
  const std::vector<float> with_unknown = speak(s, words + "qq" + words + "\u0278" + words, options_of());
  BOOST_TEST((*s.speaker())->writer().warning() ==
             "the model's alphabet lacks the phoneme \"q\", which is left out\n"
             "the model's alphabet lacks the phoneme \"\u0278\", which is left out");
  BOOST_TEST((whole == with_unknown));
}

BOOST_AUTO_TEST_CASE(texts_and_options_that_cannot_be_spoken_are_refused) {
  const LoadedSession loaded = load_alone();
  Session& s = *loaded.session;
  const auto wrong = ErrorCode::kInvalidArgument;
  BOOST_TEST((refusal(s, "", options_of(), "no text to speak") == wrong));
  BOOST_TEST((refusal(s, " \n ", options_of(), "no text to speak") == wrong));
  BOOST_TEST((refusal(s, "q", options_of(), "none of these phonemes; the first is \"q\"") == wrong));
  BOOST_TEST((refusal(s, "\xff", options_of(), "UTF-8") == wrong));
  BOOST_TEST((refusal(s, "a", options_of(1, "alloy"), "but af_heart, bm_test") == wrong));
  for (const float speed : {0.0f, 4.5f, std::nanf("")})
    BOOST_TEST((refusal(s, "a", options_of(speed), "speed of speech") == wrong));
  SpeakOptions warm = options_of();
  warm.temperature = 1;
  BOOST_TEST((refusal(s, "a", warm, "no temperature") == wrong));
  BOOST_TEST((s.embed(std::vector<TokenId>{0}).has_value() == false));
  BOOST_TEST((s.evaluate(std::vector<TokenId>{0}).has_value() == false));
  BOOST_TEST((s.begin_answer(std::vector<TokenId>{0}, {}).has_value() == false));
  const std::vector<float> recording(24000);
  const Result<void> begun = (*s.speaker())->begin_voice(recording, kSpeechRate);
  BOOST_REQUIRE(!begun.has_value());
  BOOST_TEST(begun.error().message.find("is a name") != std::string::npos);
  const HeaderBytes file{loaded.model, loaded.model.size()};
  BOOST_TEST((Session::open({&file, 1}, 1, &file).error().code == ErrorCode::kUnsupported));
  BOOST_TEST((Session::open({&file, 1}, 1, nullptr, true).error().code == ErrorCode::kUnsupported));
}

BOOST_AUTO_TEST_SUITE_END()
