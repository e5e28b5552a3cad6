// Speech against llama.cpp's results: each stage fed with the reference's input, then all of them together.
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "speech/choose_code.hpp"
#include "speech/pockettts.hpp"
#include "speech_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(speech, *boost::unit_test::label("floats") *
                                  boost::unit_test::precondition(needs_shared("vectors/new/speech")))

namespace {

template <class Check>
void each_vector(const Check& check) {
  for (const auto& folder : speech_folders()) {
    const std::string pipeline = read_json(folder / "meta.json")["arch"].text;
    if (std::ranges::none_of(all_speech_pipelines(), [&](const auto& row) { return row.architecture == pipeline; }))
      continue;
    BOOST_TEST_CONTEXT(folder.filename().string()) { check(*load_speech_vector(folder)); }
  }
}

void check_close(std::string_view what, std::span<const float> got, std::span<const float> expected, double max,
                 double rms = INFINITY) {
  BOOST_REQUIRE(got.size() == expected.size());
  const double off = max_difference(got, expected), spread = rms_difference(got, expected);
  BOOST_TEST_MESSAGE(what << ": " << off << " of " << max << ", rms " << spread);
  BOOST_TEST(off <= max, what);
  BOOST_TEST(spread <= rms, what);
}

SpeakOptions greedy_speech() {
  SpeakOptions options;
  options.temperature = 0;
  return options;
}

/// Frames first .. first + n.
SpeechFrames part_of(const SpeechFrames& all, size_t first, size_t n) {
  const auto cut = [&](const auto& values) {
    const size_t width = values.size() / all.n;
    return std::vector(values.begin() + static_cast<ptrdiff_t>(first * width),
                       values.begin() + static_cast<ptrdiff_t>((first + n) * width));
  };
  return {.n = n, .latents = cut(all.latents), .codes = cut(all.codes)};
}

SpeechFrames frames_of(const SpeechVector& v, const std::string& suffix = "") {
  SpeechFrames frames;
  if (v.pipeline == "pockettts") {
    frames.latents = v.floats("latents" + suffix);
    frames.n = suffix.empty() ? v.n_frames() : std::stoul(v.expected["with_speaker"]["frames"].text);
  } else {
    const Json& from = suffix.empty() ? v.expected : v.expected["with_speaker"];
    for (const Json& frame : from["codes"].items) {
      const std::vector<int32_t> codes = frame.integers();
      frames.codes.insert(frames.codes.end(), codes.begin(), codes.end());
      ++frames.n;
    }
  }
  return frames;
}

std::unique_ptr<SpeechDecoder> decoder_of(const SpeechVector& v) {
  auto decoder = v.session().speech()->generator().create_decoder(v.session().pool());
  BOOST_REQUIRE(decoder.has_value());
  return std::move(*decoder);
}

/// Decodes parts whose lengths random gives.
std::vector<float> decode(SpeechDecoder& decoder, const SpeechFrames& frames, const auto& length) {
  std::vector<float> samples;
  for (size_t at = 0; at < frames.n;) {
    const size_t n = std::min(length(), frames.n - at);
    decoder.decode(part_of(frames, at, n), samples);
    at += n;
  }
  return samples;
}

}  // namespace

BOOST_AUTO_TEST_CASE(prompts_are_llama_cpps_rows) {
  each_vector([](const SpeechVector& v) {
    auto writer = create_speech_writer(v.tools());
    BOOST_REQUIRE_MESSAGE(writer.has_value(), (writer ? "" : writer.error().message));
    BOOST_REQUIRE((*writer)->start(v.expected["text"].text, greedy_speech(), {}, 512).has_value());
    BOOST_TEST((*writer)->n_chunks() == 1);
    std::vector<float> rows = (*writer)->common_rows();
    const std::vector<float> more = (*writer)->start_chunk(0);
    rows.insert(rows.end(), more.begin(), more.end());
    check_close("prompt", rows, v.floats("prompt"), 1e-6);
  });
}

BOOST_AUTO_TEST_CASE(hidden_states_follow_from_the_references_feedback) {
  each_vector([](const SpeechVector& v) {
    const Model& model = v.session().model();
    const size_t n_embd = model.hparams().n_embd;
    std::vector<float> rows = v.floats("prompt");
    const size_t n_prompt = rows.size() / n_embd;
    std::vector<float> feedback = v.floats("feedback");
    if (v.pipeline == "qwen3tts") {
      const TokenId pad = v.session().tokenizer()->find("<tts_pad>");
      const std::vector<float> added = v.tools().embed({&pad, 1});
      for (size_t i = 0; i < feedback.size(); ++i) feedback[i] += added[i % n_embd];
    }
    rows.insert(rows.end(), feedback.begin(), feedback.end() - static_cast<ptrdiff_t>(n_embd));
    const std::vector<int32_t> ids(rows.size() / n_embd, 0);
    std::vector<uint8_t> mask(ids.size(), 0);
    std::fill(mask.begin() + static_cast<ptrdiff_t>(n_prompt) - 1, mask.end(), 1);
    const auto state = make_state(model, v.session().pool(), {.n_ctx = 256, .n_batch = 64});
    std::vector<float> hidden(v.n_frames() * n_embd);
    const Batch batch{
        .tokens = ids, .positions = {}, .sequences = {}, .output_mask = mask, .inputs = rows, .embeddings = true};
    const auto done = forward(model, *state, v.session().pool(), batch, hidden.data());
    BOOST_REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
    check_close("hidden", hidden, v.floats("hidden"), v.tolerance("hidden"));
  });
}

BOOST_AUTO_TEST_CASE(latents_and_ends_follow_from_hidden_states) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "pockettts") return;
    const auto& model = static_cast<const PocketTts&>(v.session().speech()->generator());
    const size_t n_embd = v.session().model().hparams().n_embd, n_latent = model.weights().n_latent;
    const std::vector<float> hidden = v.floats("hidden"), noise(n_latent, 0.0f);
    std::vector<float> latents, feedback;
    std::vector<int32_t> ends;
    for (size_t i = 0; i < v.n_frames(); ++i) {
      const PocketTts::Frame frame =
          model.make_frame(v.session().pool(), std::span(hidden).subspan(i * n_embd, n_embd), noise);
      latents.insert(latents.end(), frame.latent.begin(), frame.latent.end());
      feedback.insert(feedback.end(), frame.feedback.begin(), frame.feedback.end());
      ends.push_back(frame.ends ? 1 : 0);
    }
    check_close("latents", latents, v.floats("latents"), v.tolerance("latents"));
    check_close("feedback", feedback, v.floats("feedback"), v.tolerance("latents"));
    BOOST_TEST(ends == v.expected["end_of_speech"].integers(), boost::test_tools::per_element());
  });
}

BOOST_AUTO_TEST_CASE(codes_and_feedback_follow_from_hidden_states) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "qwen3tts") return;
    const size_t n_embd = v.session().model().hparams().n_embd;
    auto writer = create_speech_writer(v.tools());
    BOOST_REQUIRE_MESSAGE(writer.has_value(), (writer ? "" : writer.error().message));
    BOOST_REQUIRE((*writer)->start(v.expected["text"].text, greedy_speech(), {}, 512).has_value());
    (void)(*writer)->start_chunk(0);
    const TokenId pad = v.session().tokenizer()->find("<tts_pad>");
    const std::vector<float> hidden = v.floats("hidden"), added = v.tools().embed({&pad, 1});
    SpeechFrames frames;
    std::vector<float> feedback;
    for (size_t i = 0; i < v.n_frames(); ++i) {
      std::vector<float> input;
      const auto made = (*writer)->make_frame(std::span(hidden).subspan(i * n_embd, n_embd), frames, input);
      BOOST_REQUIRE((made.has_value() && *made));
      for (size_t k = 0; k < n_embd; ++k) feedback.push_back(input[k] - added[k]);
    }
    BOOST_TEST(frames.codes == frames_of(v).codes, boost::test_tools::per_element());
    check_close("feedback", feedback, v.floats("feedback"), 1e-5);
  });
}

BOOST_AUTO_TEST_CASE(samples_follow_from_frames_wherever_they_are_cut) {
  each_vector([](const SpeechVector& v) {
    const auto decoder = decoder_of(v);
    const SpeechFrames frames = frames_of(v);
    const std::vector<float> whole = decode(*decoder, frames, [] { return kMaxSpeechFrames; });
    check_close("pcm", whole, v.floats("pcm"), v.tolerance("pcm"), v.tolerance("pcm_rms"));
    std::mt19937 random(7);
    for (size_t round = 0; round < 3; ++round) {
      decoder->reset();
      const std::vector<float> parts =
          decode(*decoder, frames, [&] { return round == 0 ? size_t{1} : 1 + random() % kMaxSpeechFrames; });
      BOOST_TEST(max_difference(parts, whole) == 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(speaking_freely_gives_the_references_samples) {
  each_vector([](const SpeechVector& v) {
    std::vector<float> expected = v.floats("pcm");
    const std::vector<float> samples = speak(v.session(), v.expected["text"].text, greedy_speech(), v.n_frames());
    BOOST_TEST(samples.size() >= expected.size() * 3 / 4);
    expected.resize(std::min(expected.size(), samples.size()));
    check_close("pcm", std::span(samples).first(expected.size()), expected, v.tolerance("pcm"), v.tolerance("pcm_rms"));
  });
}

BOOST_AUTO_TEST_CASE(a_recording_gives_its_voice) {
  each_vector([](const SpeechVector& v) {
    Session& s = v.session();
    const std::vector<float> without = speak(s, v.expected["text"].text, greedy_speech(), 4);
    encode_voice(s, v.floats("speaker"));
    check_close("voice", (*s.speaker())->voice(), v.floats("speaker_embedding"), v.tolerance("speaker_embedding"));
    std::vector<float> expected = v.floats("pcm_with_speaker");
    const size_t n = std::stoul(v.expected["with_speaker"]["frames"].text);
    const std::vector<float> samples = speak(s, v.expected["text"].text, greedy_speech(), n);
    BOOST_TEST(!samples.empty());
    expected.resize(std::min(expected.size(), samples.size()));
    check_close("pcm", std::span(samples).first(expected.size()), expected, v.tolerance("pcm_with_speaker"));
    BOOST_REQUIRE((*s.speaker())->set_voice({}).has_value());
    BOOST_TEST(max_difference(speak(s, v.expected["text"].text, greedy_speech(), 4), without) == 0);
  });
}

BOOST_AUTO_TEST_CASE(texts_are_prepared_before_they_are_spoken) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "pockettts") return;
    auto writer = create_speech_writer(v.tools());
    BOOST_REQUIRE(writer.has_value());
    const auto rows_of = [&](std::string_view text) {
      const Result<void> started = (*writer)->start(text, greedy_speech(), {}, 512);
      BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
      return (*writer)->start_chunk(0);
    };
    const std::vector<float> expected = rows_of("The hand, the rest.");
    for (const std::string_view text : {"the hand, the rest", "  The hand, the rest.\n", "the hand; the\rrest"})
      BOOST_TEST(max_difference(rows_of(text), expected) == 0, text);
    BOOST_TEST(rows_of("the hand, the rest!").size() == expected.size());
    for (const std::string_view empty : {"", "  ", "\n"})
      BOOST_TEST(((*writer)->start(empty, greedy_speech(), {}, 512).error().code == ErrorCode::kInvalidArgument));
    BOOST_TEST(((*writer)->start("the", greedy_speech(), {}, 20).error().code == ErrorCode::kOutOfRange));
  });
}

BOOST_AUTO_TEST_CASE(languages_are_known_by_name_and_code) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "qwen3tts") return;
    auto writer = create_speech_writer(v.tools());
    BOOST_REQUIRE(writer.has_value());
    BOOST_TEST((*writer)->languages() == "english german chinese");
    const auto rows_of = [&](std::string_view language) {
      SpeakOptions options = greedy_speech();
      options.language = language;
      const Result<void> started = (*writer)->start("the hand", options, {}, 512);
      BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
      return (*writer)->common_rows();
    };
    const std::vector<float> english = rows_of(""), german = rows_of("german");
    for (const std::string_view name : {"en", "english", "English", "en-GB"})
      BOOST_TEST(rows_of(name) == english, name);
    for (const std::string_view name : {"de", "GERMAN", "de_AT"}) BOOST_TEST(rows_of(name) == german, name);
    BOOST_TEST((english != german));
    for (const std::string_view name : {"fr", "Klingon", "codec", "\xff"}) {
      SpeakOptions options;
      options.language = name;
      const Result<void> refused = (*writer)->start("the hand", options, {}, 512);
      BOOST_REQUIRE(!refused.has_value());
      BOOST_TEST((refused.error().code == ErrorCode::kInvalidArgument));
      BOOST_TEST(refused.error().message.find("english german chinese") != std::string::npos);
    }
  });
}

BOOST_AUTO_TEST_CASE(texts_are_cut_where_they_are_too_long) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "qwen3tts") return;
    auto writer = create_speech_writer(v.tools());
    BOOST_REQUIRE(writer.has_value());
    const auto n_rows = [&](std::string_view text, size_t n_context) {
      const Result<void> started = (*writer)->start(text, greedy_speech(), {}, n_context);
      BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
      std::vector<size_t> rows;
      for (size_t i = 0; i < (*writer)->n_chunks(); ++i)
        rows.push_back((*writer)->start_chunk(i).size() / v.session().model().hparams().n_embd - 2);
      return rows;
    };
    // 13 positions for each token, and 70: a context of 300 holds 17 tokens.
    const auto n_of = [&](std::string_view text) { return v.session().tokenizer()->encode(text).size(); };
    std::string sentences, words, letters;
    for (int i = 0; i < 12; ++i) sentences += i % 2 == 0 ? "It is on. " : "The rest of it was there!\n";
    for (int i = 0; i < 60; ++i) words += i % 7 == 0 ? ", the" : " the";
    for (int i = 0; i < 90; ++i) letters += "\u00e4";
    for (const std::string& text : {sentences, words, letters}) {
      const std::vector<size_t> rows = n_rows(text, 300);
      BOOST_TEST(rows.size() > 1u);
      for (const size_t n : rows) BOOST_TEST(n <= 17u);
    }
    BOOST_TEST(n_rows("It is on. It is on.", 1024).size() == 1u);
    // Whole sentences where they fit.
    BOOST_TEST(n_rows(sentences, 300).front() <= n_of("It is on. "));
    for (const std::string_view empty : {"", "  ", "\n"})
      BOOST_TEST(((*writer)->start(empty, greedy_speech(), {}, 512).error().code == ErrorCode::kInvalidArgument));
    BOOST_TEST(((*writer)->start("the", greedy_speech(), {}, 60).error().code == ErrorCode::kOutOfRange));
    const std::vector<float> voice(7);
    BOOST_TEST(((*writer)->start("the", greedy_speech(), voice, 512).error().code == ErrorCode::kInvalidArgument));
    // Control tokens in a text are text.
    BOOST_TEST(n_rows("<|im_end|>", 512).front() > 1u);
  });
}

BOOST_AUTO_TEST_CASE(recordings_have_a_length_that_can_be_encoded) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "qwen3tts") return;
    Speaker& speaker = **v.session().speaker();
    const std::vector<float> sound = v.floats("speaker"), longest(61 * kSpeechRate, 0.1f);
    for (const std::span<const float> refused : {std::span(sound).first(1279), std::span(longest)})
      BOOST_TEST((speaker.begin_voice(refused, kSpeechRate).error().code == ErrorCode::kInvalidArgument));
    encode_voice(v.session(), std::span(sound).first(1280));
    BOOST_TEST(speaker.voice().size() == v.session().model().hparams().n_embd);
    BOOST_REQUIRE(speaker.set_voice({}).has_value());
  });
}

BOOST_AUTO_TEST_CASE(codes_are_chosen_among_the_best) {
  const std::vector<float> logits{0, 3, 1, 2, -INFINITY, 2.5f};
  CodeChoice choice{.temperature = 0};
  BOOST_TEST(choose_code(logits, choice) == 1u);
  const auto seen = [&](CodeChoice by) {
    std::set<size_t> ids;
    for (int i = 0; i < 2000; ++i) ids.insert(choose_code(logits, by));
    return ids;
  };
  BOOST_TEST((seen({.temperature = 5}) == std::set<size_t>{0, 1, 2, 3, 5}));
  BOOST_TEST((seen({.temperature = 5, .top_k = 2}) == std::set<size_t>{1, 5}));
  BOOST_TEST((seen({.temperature = 1, .top_p = 0.1f}) == std::set<size_t>{1}));
  BOOST_TEST((seen({.temperature = 1, .top_k = 1, .top_p = 0}) == std::set<size_t>{1}));
  size_t n_first = 0;
  CodeChoice by{.temperature = 1, .top_k = 2};
  for (int i = 0; i < 4000; ++i) n_first += choose_code(logits, by) == 1 ? 1 : 0;
  BOOST_TEST(double(n_first) / 4000 == 1 / (1 + std::exp(-0.5)), boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(long_texts_are_spoken_in_chunks_in_a_bounded_context) {
  each_vector([](const SpeechVector& v) {
    if (v.pipeline != "pockettts") return;
    auto writer = create_speech_writer(v.tools());
    BOOST_REQUIRE(writer.has_value());
    std::string sentences, words = "the";
    for (int i = 0; i < 12; ++i) sentences += "The hand is at rest in the end. ";
    for (int i = 0; i < 200; ++i) words += " the";
    const size_t n_embd = v.session().model().hparams().n_embd;
    for (const std::string& text : {sentences, words}) {
      BOOST_REQUIRE((*writer)->start(text, greedy_speech(), {}, 300).has_value());
      BOOST_TEST((*writer)->n_chunks() > 1);
      size_t n_tokens = 0;
      for (size_t i = 0; i < (*writer)->n_chunks(); ++i) {
        const size_t n = (*writer)->start_chunk(i).size() / n_embd - 1;
        BOOST_TEST(n <= 53);  // 300 positions hold the frames of so many tokens
        n_tokens += n;
      }
      std::string prepared = text.substr(0, text.find_last_not_of(' ') + 1);
      prepared[0] = 'T';
      if (prepared.back() != '.') prepared += '.';
      BOOST_TEST(n_tokens == v.session().tokenizer()->encode(prepared).size());
    }
    const LoadedSession small = load_speech(v.files.model, v.files.projector, Precision::kFast, 300);
    const std::vector<float> samples = speak(*small.session, sentences, greedy_speech());
    BOOST_TEST(samples.size() > 0u);
    BOOST_TEST(samples.size() % small.session->speech()->generator().frame_samples() == 0);
    BOOST_TEST(max_difference(speak(*small.session, sentences, greedy_speech()), samples) == 0);
  });
}

BOOST_AUTO_TEST_CASE(seeds_choose_the_noise) {
  each_vector([](const SpeechVector& v) {
    const std::string& text = v.expected["text"].text;
    SpeakOptions options;
    options.seed = 5;
    const std::vector<float> one = speak(v.session(), text, options, 4);
    BOOST_TEST(max_difference(speak(v.session(), text, options, 4), one) == 0);
    options.seed = 6;
    BOOST_TEST(max_difference(speak(v.session(), text, options, 4), one) > 0);
  });
}

BOOST_AUTO_TEST_CASE(other_uses_end_a_speech) {
  each_vector([](const SpeechVector& v) {
    Session& s = v.session();
    BOOST_REQUIRE(s.begin_speech(v.expected["text"].text, greedy_speech()).has_value());
    Speaker& speaker = **s.speaker();
    for (int i = 0; i < 3; ++i) BOOST_REQUIRE(speaker.next().has_value());
    const std::vector<TokenId> tokens{3, 4};
    BOOST_REQUIRE(s.embed(tokens, Pooling::kNone).has_value());
    const Result<bool> after = speaker.next();
    BOOST_REQUIRE(!after.has_value());
    BOOST_TEST((after.error().code == ErrorCode::kInvalidArgument));
    BOOST_TEST(!speak(s, v.expected["text"].text, greedy_speech(), 2).empty());
  });
}

BOOST_AUTO_TEST_CASE(damaged_headers_are_refused_or_run) {
  each_vector([](const SpeechVector& v) {
    const auto n_header = static_cast<size_t>(parse_file(v.files.projector)->state.header.data_offset);
    std::mt19937 random(11);
    size_t n_refused = 0;
    const size_t n_rounds = kSanitized ? 150 : whole_run() ? 400 : 50;
    for (size_t round = 0; round < n_rounds; ++round) {
      std::vector<uint8_t> file = v.files.projector;
      for (size_t i = 0; i < 1 + round % 3; ++i) file[random() % n_header] = static_cast<uint8_t>(random());
      const HeaderBytes text{v.files.model, v.files.model.size()}, mmproj{file, file.size()};
      auto session = Session::open({&text, 1}, 1, &mmproj);
      if (!session || (*session)->speech() == nullptr) {
        ++n_refused;
        BOOST_TEST((session || !session.error().message.empty()));
        continue;
      }
      if (!(*session)->memory({.n_ctx = 64}, Precision::kExact)) continue;
      LoadedSession loaded{v.files.model, std::move(file), std::move(*session)};
      load_weights(loaded, Precision::kExact, 64, 1);
      if (!loaded.session->speaker()) continue;
      if (!loaded.session->begin_speech("the", greedy_speech())) continue;
      Speaker& speaker = **loaded.session->speaker();
      for (int i = 0; i < 3; ++i)
        if (!speaker.next()) break;
    }
    BOOST_TEST(n_refused > n_rounds / 4);
  });
}

BOOST_AUTO_TEST_SUITE_END()
