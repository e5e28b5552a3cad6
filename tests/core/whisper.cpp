// Compares Whisper with whisper.cpp's results: spectrograms, encoder, decoder.
#include <algorithm>
#include <numbers>
#include <numeric>

#include "json.hpp"
#include "media/log_mel.hpp"
#include "media/resample.hpp"
#include "whisper_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

namespace {

std::filesystem::path whisper_folder() { return shared("vectors/media/whisper"); }

/// The frames [n, n_mel]. Those after the sound are padding.
std::vector<float> spectrogram(const std::vector<float>& filters, const std::vector<float>& samples, size_t n_frames) {
  LogMel mel(filters);
  BOOST_REQUIRE(mel.start(samples.size()));
  const std::span<const float> all(samples);
  for (size_t at = 0; at < samples.size() || at == 0; at += 1000) {  // in pieces
    BOOST_REQUIRE(mel.add(all.subspan(at, std::min<size_t>(1000, samples.size() - at))));
    mel.compute(mel.first(), mel.ready());
    mel.consume();
  }
  mel.flush();
  std::vector<float> out(n_frames * mel.n_mel(), mel.padding());
  std::copy_n(mel.values(), std::min(n_frames, mel.n_stored()) * mel.n_mel(), out.data());
  return out;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  BOOST_REQUIRE_EQUAL(a.size(), b.size());
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(double(a[i]) - double(b[i])));
  return most;
}

/// The number after "what": { ... "key": in meta.json.
double nested(const std::string& text, const std::string& what, const std::string& key) {
  const size_t tolerance = text.find("\"tolerance\":");
  return json_number(text.substr(text.find("\"" + what + "\":", tolerance)), key);
}

void encode(LoadedWhisper& m, std::span<const float> mel, std::vector<float>* conv = nullptr) {
  BOOST_REQUIRE(m.state->begin_encode(mel, m.model->hparams().encoder.n_ctx));
  for (size_t step = 0; step < m.state->n_steps(); ++step) {
    m.state->encode_step(step);
    if (step == WhisperState::kConvolution && conv != nullptr)
      conv->assign(m.state->encoded().begin(), m.state->encoded().end());
  }
}

std::vector<float> every(std::span<const float> rows, size_t n, size_t stride) {
  std::vector<float> out;
  for (size_t at = 0; at < rows.size(); at += n * stride)
    out.insert(out.end(), rows.begin() + std::ptrdiff_t(at), rows.begin() + std::ptrdiff_t(at + n));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(whisper, *boost::unit_test::label("floats"))

BOOST_AUTO_TEST_CASE(mel_filters_match_slaney, *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  const std::vector<uint8_t> bytes = read_file(whisper_folder() / "multi-f32" / "model.bin");
  LegacyState state;
  BOOST_REQUIRE(read_legacy(bytes, bytes.size(), state));
  const auto header = legacy_header(state);
  const auto filters = get_floats({header->header, header->bytes}, "whisper.mel_filters");
  BOOST_REQUIRE(filters);
  BOOST_TEST(largest_difference(*filters, mel_filters(80)) < 1e-7);
}

BOOST_AUTO_TEST_CASE(spectrograms_of_a_sine_and_of_silence_match_the_formula) {
  // A sine of 1000 Hz. The values of its bands follow from the formula. Frame 12 is completely inside the sound.
  std::vector<float> sine(8000);
  for (size_t i = 0; i < sine.size(); ++i)
    sine[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 1000 * double(i) / 16000));
  const std::vector<float> filters = mel_filters(80);
  const std::vector<float> mel = spectrogram(filters, sine, 3000);
  // |DFT|^2 of the window: (0.5 * 400 / 4)^2 in bin 25, a quarter of it in each neighbour.
  double most = -10;
  for (size_t m = 0; m < 80; ++m) {
    double power = 0;
    for (int bin = 24; bin <= 26; ++bin) power += (bin == 25 ? 2500 : 625) * double(filters[m * 201 + size_t(bin)]);
    most = std::max(most, std::log10(std::max(power, 1e-10)));
  }
  for (size_t m = 0; m < 80; ++m) {
    double power = 0;
    for (int bin = 24; bin <= 26; ++bin) power += (bin == 25 ? 2500 : 625) * double(filters[m * 201 + size_t(bin)]);
    const double want = (std::max(std::log10(std::max(power, 1e-10)), most - 8) + 4) / 4;
    BOOST_TEST(std::fabs(double(mel[12 * 80 + m]) - want) < 1e-4);
  }
  BOOST_TEST(spectrogram(filters, std::vector<float>(16000), 3000)[0] == -1.5f);
  BOOST_TEST(spectrogram(filters, {}, 3000)[2999 * 80] == -1.5f);
}

BOOST_AUTO_TEST_CASE(spectrograms_match_reference_vectors,
                     *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  for (const auto& [name, n_mel] : {std::pair("speech-en.mel80", 80), {"speech-fr-short.mel128", 128}}) {
    const std::string base(name, std::string_view(name).find('.'));
    const std::vector<float> want = read_floats(whisper_folder() / "inputs" / (std::string(name) + ".f32"));
    const size_t n = want.size() / size_t(n_mel);  // [n_mel, frames]
    const std::vector<float> got =
        spectrogram(mel_filters(size_t(n_mel)), read_floats(whisper_folder() / "inputs" / (base + ".f32")), n);
    double most = 0;
    for (size_t m = 0; m < size_t(n_mel); ++m)
      for (size_t t = 0; t < n; ++t)
        most = std::max(most, std::fabs(double(want[m * n + t]) - double(got[t * size_t(n_mel) + m])));
    BOOST_TEST(most < 1e-4, name << " differs by " << most);
  }
}

BOOST_AUTO_TEST_CASE(invalid_audio_is_refused) {
  const std::vector<float> filters = mel_filters(80);
  LogMel mel(filters);
  BOOST_TEST((mel.start(uint64_t{1} << 40).error().code == ErrorCode::kInvalidArgument));
  BOOST_REQUIRE(mel.start(2));
  const float bad[] = {0, std::nanf("")};
  BOOST_TEST(mel.add(bad).error().message == "sample 1 of the audio is not a finite number");
  const float many[3] = {};
  BOOST_TEST((mel.add(many).error().code == ErrorCode::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(resampling_keeps_tones_below_the_nyquist_frequency) {
  // A tone of 1 kHz at other rates, against the same tone at 16 kHz; one of 12 kHz, which 16 kHz cannot have, is gone.
  for (const uint32_t rate : {8000u, 22050u, 44100u, 48000u}) {
    std::vector<float> tone(rate), high(rate);
    for (size_t i = 0; i < tone.size(); ++i) {
      const double t = 2 * std::numbers::pi * double(i) / rate;
      tone[i] = static_cast<float>(std::sin(1000 * t));
      high[i] = static_cast<float>(std::sin(12000 * t));
    }
    const auto got = resample(tone, rate, 16000);
    BOOST_REQUIRE(got);
    BOOST_TEST(got->size() == 16000);
    double most = 0;
    for (size_t i = 1000; i < 15000; ++i)
      most = std::max(most, std::fabs(double((*got)[i]) - std::sin(2 * std::numbers::pi * 1000 * double(i) / 16000)));
    BOOST_TEST(most < 2e-4, rate << " Hz differs by " << most);
    if (rate < 24001) continue;
    const auto gone = resample(high, rate, 16000);
    for (size_t i = 1000; i < 15000; ++i) BOOST_REQUIRE(std::fabs((*gone)[i]) < 5e-5);
  }
  BOOST_TEST(!resample({}, 0, 16000));
  BOOST_TEST(resample({}, 44100, 16000)->empty());
}

BOOST_AUTO_TEST_CASE(rates_without_speech_are_refused) {
  const std::vector<float> samples(10);
  for (const uint32_t rate : {1u, 100u, 1999u, 768001u}) {
    const auto got = resample(samples, rate, 16000);
    BOOST_TEST((!got && got.error().code == ErrorCode::kInvalidArgument), rate << " Hz");
  }
  BOOST_TEST(resample(samples, 2000, 16000).has_value());
}

BOOST_AUTO_TEST_CASE(languages_are_found_by_codes_and_names) {
  struct Case {
    const char *name, *code;
  };
  for (const auto& [name, code] : {
           Case{"en", "en"},
           Case{"EN", "en"},
           Case{"English", "en"},
           Case{"en-US", "en"},
           Case{"en_GB", "en"},
           Case{"English (US)", "en"},
           Case{" german ", "de"},
           Case{"de-AT-1996", "de"},
           Case{"Mandarin", "zh"},
           Case{"zh-Hant-TW", "zh"},
           Case{"CANTONESE", "yue"},
           Case{"yue-HK", "yue"},
           Case{"Haitian Creole", "ht"},
           Case{"Castilian", "es"},
           Case{"nb-NO", "no"},
           Case{"jv", "jw"},
       }) {
    const auto found = find_language(name);
    BOOST_TEST_REQUIRE(found.has_value(), name);
    BOOST_TEST(whisper_languages()[*found].code == code, name);
  }
  for (const char* name : {"", "-", "klingon", "e", "engl", "-en", "(en)"}) BOOST_TEST(!find_language(name), name);
}

BOOST_AUTO_TEST_CASE(encoder_and_decoder_match_reference_vectors,
                     *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  for (const auto& entry : std::filesystem::directory_iterator(whisper_folder())) {
    if (!std::filesystem::exists(entry.path() / "model.bin")) continue;
    const std::string name = entry.path().filename().string(), meta = read_text(entry.path() / "meta.json");
    LoadedWhisper m = load_whisper(entry.path() / "model.bin", Precision::kExact, CacheType::kF32);
    const WhisperHparams& h = m.model->hparams();
    BOOST_TEST((WhisperState::sizes(*m.model, CacheType::kQ8_0, 1).error().code == ErrorCode::kUnsupported));
    const std::vector<float> samples = read_floats(whisper_folder() / "inputs" / (json_string(meta, "audio") + ".f32"));
    std::vector<float> conv;
    encode(m, spectrogram(m.model->mel_filters(), samples, 2 * h.encoder.n_ctx), &conv);
    const auto within = [&](const char* what, std::span<const float> got, const char* file, double factor) {
      const double most = largest_difference(got, read_floats(entry.path() / file));
      const double tolerance = nested(meta, what, "against_oracle") * factor;
      BOOST_TEST_MESSAGE(name << " " << file << ": " << most << " of " << tolerance);
      BOOST_TEST(most < tolerance, name << " " << file << " differs by " << most);
    };
    within("conv", every(conv, h.encoder.n_embd, 20), "conv.f32", 1);
    within("encoder", every(m.state->encoded(), h.encoder.n_embd, 4), "encoder.f32", 1);
    within("encoder", every(m.state->encoded(), h.encoder.n_embd, 4), "encoder_exact.f32", 0.1);

    std::vector<int32_t> ids = json_integers(meta, "prompt");
    const std::vector<int32_t> best = json_integers(meta, "argmax");
    ids.insert(ids.end(), best.begin(), best.end() - 1);
    std::vector<float> some;
    std::vector<uint32_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), 0);
    DecodeRequest request = m.state->request_text(ids, rows);
    BOOST_REQUIRE(m.state->decode(request));
    const auto columns = read_file(entry.path() / "logit_ids.i32");
    for (size_t row = ids.size() - best.size(); row < ids.size(); ++row)
      for (size_t i = 0; i < columns.size(); i += 4)
        some.push_back(request.logits[row * h.n_vocab + load<uint32_t>(columns.data() + i)]);
    within("logits", some, "logits.f32", 1);
    within("logits", some, "logits_exact.f32", 0.1);
  }
}

namespace {

TranscribeOptions options_of(const Json& params) {
  const auto flag = [&](const char* name) { return params[name].text == "true"; };
  const auto number = [&](const char* name) { return static_cast<uint32_t>(std::stoul(params[name].text)); };
  TranscribeOptions o;
  o.temperature_step = 0;
  o.best_of = 1;
  o.language = params["language"].text;
  o.translate = flag("translate");
  o.timestamps = !flag("no_timestamps");
  o.single_segment = flag("single_segment");
  o.suppress_non_speech = flag("suppress_nst");
  o.token_times = flag("token_timestamps");
  o.split_on_word = flag("split_on_word");
  o.keep_context = !flag("no_context");
  o.prompt = params["initial_prompt"].text;
  o.max_tokens = number("max_tokens");
  o.max_length = number("max_len");
  o.audio_context = number("audio_ctx");
  o.offset_ms = number("offset_ms");
  o.duration_ms = number("duration_ms");
  o.beam_size = number("beam_size");
  return o;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    out += "0123456789abcdef"[static_cast<uint8_t>(c) >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

/// The transcript in the form of the vectors.
std::string segments_text(std::span<const TranscriptSegment> segments, bool with_begin) {
  std::string out;
  for (const TranscriptSegment& s : segments) {
    out += (with_begin ? std::to_string(s.t0) : "") + "-" + std::to_string(s.t1) + " " + hex(s.text) + ":";
    for (const TokenData& token : s.tokens) out += " " + std::to_string(token.id);
    out += "\n";
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(transcripts_match_reference_vectors,
                     *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  for (const auto& entry : std::filesystem::directory_iterator(whisper_folder())) {
    if (!std::filesystem::exists(entry.path() / "model.bin")) continue;
    const std::string name = entry.path().filename().string(), meta = read_text(entry.path() / "meta.json");
    LoadedWhisper m = load_whisper(entry.path() / "model.bin", Precision::kExact, CacheType::kF32);
    // The runs for weights in F16 are also those for F32: of each model, others are taken.
    EveryNth taken{3, name == "multi-f32" ? size_t{0} : name == "multi-f16" ? size_t{2} : size_t{1}};
    const std::vector<float> input = read_floats(whisper_folder() / "inputs" / (json_string(meta, "audio") + ".f32"));
    const std::string text = read_text(entry.path() / "full.json");
    const Json full = JsonReader(text).value();
    const bool quantized = name.find("-q") != std::string::npos;
    size_t n_other = 0, n_runs = 0;
    for (const Json& run : full["runs"].items) {
      if (kSanitized && n_runs > 0) break;
      ++n_runs;
      if (!taken.takes_next()) continue;
      std::vector<float> samples = input;
      const size_t n = static_cast<size_t>(16000 * std::stod(run["params"]["audio_seconds"].text));
      for (size_t i = 0; samples.size() < n; ++i) samples.push_back(input[i % input.size()]);
      Transcriber transcriber(*m.model, *m.state, *m.pool);
      transcribe(transcriber, options_of(run["params"]), samples);
      const bool timed = run["segments"].items.empty() || run["segments"].items[0]["t0"].text != "null";
      std::string want;
      for (const Json& s : run["segments"].items) {
        want += (timed ? s["t0"].text : "") + "-" + s["t1"].text + " " + s["text_hex"].text + ":";
        for (const int32_t id : s["ids"].integers()) want += " " + std::to_string(id);
        want += "\n";
      }
      // The reference quantizes activations if the weights are quantized, but exact precision does not. If two tokens
      // are about equally likely, the choice may differ.
      const std::string got = segments_text(transcriber.segments(), timed);
      if (quantized && got != want && ++n_other <= 1) continue;
      BOOST_TEST(got == want, name << " " << run["set"].text);
      BOOST_TEST(whisper_languages()[transcriber.language()].code == run["lang"].text);
      for (size_t i = 0; i < std::min(run["segments"].items.size(), transcriber.segments().size()); ++i) {
        const auto& times = run["segments"].items[i].fields;
        if (!timed || !times.contains("token_t0_t1")) continue;
        const auto& tokens = transcriber.segments()[i].tokens;
        for (size_t t = 0; t < std::min(tokens.size(), times.at("token_t0_t1").items.size()); ++t) {
          const std::vector<int32_t> both = times.at("token_t0_t1").items[t].integers();
          BOOST_TEST((tokens[t].t0 == both[0] && tokens[t].t1 == both[1]),
                     name << " segment " << i << " token " << t << " is at " << tokens[t].t0 << "-" << tokens[t].t1
                          << ", not " << both[0] << "-" << both[1]);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(silence_is_skipped, *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  LoadedWhisper m = load_whisper(whisper_folder() / "multi-f32" / "model.bin", Precision::kExact, CacheType::kF32);
  Transcriber transcriber(*m.model, *m.state, *m.pool);
  TranscribeOptions options;
  options.temperature_step = 0;
  options.max_tokens = 8;
  const std::vector<float> speech = read_floats(whisper_folder() / "inputs" / "speech-en.f32");

  // Nothing of ten minutes is encoded, and no language is detected.
  std::vector<float> samples(600 * kMelSampleRate);
  BOOST_TEST(transcribe(transcriber, options, samples) == 1);
  BOOST_TEST((transcriber.segments().empty() && transcriber.language_probabilities().empty()));
  options.language = "en";
  BOOST_TEST(transcribe(transcriber, options, samples) <= 2);
  BOOST_TEST((transcriber.segments().empty() && transcriber.progress() == 1));
  BOOST_TEST(transcribe(transcriber, options, std::vector<float>(kMelSampleRate, 1e-4f)) <= 2);

  // Speech after it is found, with its time and its language.
  samples.resize(100 * kMelSampleRate);
  samples.insert(samples.end(), speech.begin(), speech.end());
  options.language = "auto";
  transcribe(transcriber, options, samples);
  BOOST_REQUIRE(!transcriber.segments().empty());
  BOOST_TEST(transcriber.language_probabilities().size() == 100);
  const int64_t seek = transcriber.segments()[0].seek;
  BOOST_TEST((9980 <= seek && seek < 10100), "the first window begins at " << seek);

  // Short silence after speech is decoded, as in whisper.cpp. So is all silence if the threshold is 0.
  options.language = "en";
  samples = speech;
  const size_t n_steps = transcribe(transcriber, options, samples);
  samples.resize(samples.size() + 600 * kMelSampleRate);
  BOOST_TEST(transcribe(transcriber, options, samples) < 10 * n_steps);
  BOOST_TEST(!transcriber.segments().empty());
  options.silence_threshold = 0;
  BOOST_TEST(transcribe(transcriber, options, std::vector<float>(kMelSampleRate)) > m.state->n_steps());
  options.silence_threshold = std::nanf("");
  BOOST_TEST((transcriber.start(options, 0).error().code == ErrorCode::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(languages_and_word_times_match_reference_vectors,
                     *boost::unit_test::precondition(needs_shared("vectors/media/whisper"))) {
  for (const auto& entry : std::filesystem::directory_iterator(whisper_folder())) {
    if (!std::filesystem::exists(entry.path() / "model.bin")) continue;
    const std::string text = read_text(entry.path() / "meta.json");
    const Json meta = JsonReader(text).value();
    LoadedWhisper m = load_whisper(entry.path() / "model.bin", Precision::kExact, CacheType::kF32);
    const WhisperVocabulary& v = m.model->vocabulary();
    const std::pair<const char*, int32_t> ids[] = {
        {"eot", v.eot()},        {"sot", v.sot()},           {"solm", v.start_of_lm()},   {"prev", v.previous()},
        {"nosp", v.no_speech()}, {"not", v.no_timestamps()}, {"beg", v.first_timestamp()}};
    for (const auto& [key, id] : ids) BOOST_TEST(std::to_string(id) == meta["special"][key].text);
    for (const Json& words : meta["tokenize"].items) {
      Json bytes;
      bytes.fields["hex"].text = words["text_hex"].text;
      BOOST_TEST(v.tokenize(bytes.bytes()) == words["ids"].integers(), boost::test_tools::per_element());
    }
    if (!meta.fields.contains("lang_probs") || !v.multilingual()) continue;
    const std::vector<float> samples = read_floats(whisper_folder() / "inputs" / (meta["audio"].text + ".f32"));
    Transcriber transcriber(*m.model, *m.state, *m.pool);
    TranscribeOptions options;
    options.duration_ms = 10;  // only detects the language
    transcribe(transcriber, options, samples);
    BOOST_TEST(transcriber.segments().empty());
    for (const auto& [code, p] : meta["lang_probs"].fields) {
      const double got = double(transcriber.language_probabilities()[*find_language(code)]);
      BOOST_TEST(std::fabs(got - std::stod(p.text)) < 0.02, code << " has " << got << ", not " << p.text);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
