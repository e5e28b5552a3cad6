// Audio projectors without reference vectors: generated ones, on libmtmd's results in tests/fixtures/golden/projectors.
#include <boost/test/unit_test.hpp>

#include "gguf/lint/lint.hpp"
#include "made_sound_projectors.hpp"
#include "media_session.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(sound_projectors, *boost::unit_test::label("floats"))

namespace {

std::unique_ptr<LoadedSession> load_made(const MadeModel& made, uint32_t n_threads = 1) {
  auto out = std::make_unique<LoadedSession>();
  out->model = read_file(fixture("golden/arch/llama/model.gguf"));
  out->projector = made.bytes();
  const HeaderBytes model{out->model, out->model.size()}, projector{out->projector, out->projector.size()};
  auto session = Session::open({&model, 1}, n_threads, &projector);
  BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  out->session = std::move(*session);
  load_weights(*out, Precision::kExact, 2048, 1);
  return out;
}

/// Compares the tokens before and after the audio in "a<audio>b".
void check_text(const Tokenizer& tokenizer, std::span<const TokenId> tokens, const Json& around) {
  const auto first = std::ranges::find_if(tokens, is_media);
  const auto last = std::find_if(tokens.rbegin(), tokens.rend(), is_media).base();
  std::vector<TokenId> before = tokenizer.encode("a", {.special = true}), after(last, tokens.end());
  before.insert(before.end(), tokens.begin(), first);
  const std::vector<TokenId> b = tokenizer.encode("b", {.special = true});
  after.insert(after.end(), b.begin(), b.end());
  BOOST_TEST(before == around.items.front().integers(), boost::test_tools::per_element());
  BOOST_TEST(after == around.items.back().integers(), boost::test_tools::per_element());
}

/// A row's file with one change.
MadeModel changed(const std::string& name, const auto& change) {
  for (MadeProjector& made : made_sound_projectors())
    if (made.name == name) {
      change(made.file);
      return made.file;
    }
  BOOST_FAIL("no such projector");
  return {};
}

/// Opening reads headers alone.
std::string refusal_of(const MadeModel& made) {
  static const Bytes model = read_file(fixture("golden/arch/llama/model.gguf"));
  const Bytes projector = made.header();
  const HeaderBytes text{model, model.size()}, header{projector, projector.size() + made.n_data_bytes()};
  const auto session = Session::open({&text, 1}, 1, &header);
  return session ? "" : session.error().message;
}

}  // namespace

BOOST_AUTO_TEST_CASE(embeddings_and_tokens_agree_with_libmtmd) {
  for (const MadeProjector& made : made_sound_projectors()) {
    BOOST_TEST_CONTEXT(made.name) {
      const auto folder = fixture("golden/projectors") / made.name;
      const Json index = read_json(folder / "index.json");
      const std::vector<float> expected = read_floats(folder / "embd.f32");
      const auto loaded = load_made(made.file, 2);
      Session& s = *loaded->session;
      size_t at = 0;
      for (size_t i = 0; i < made.sounds.size(); ++i) {
        const std::vector<float> sound = made_sound(made.sounds[i]);
        const auto tokens = encode_medium(s, s.begin_sound(sound, s.audio()->parameters().sound.rate));
        const std::vector<int32_t> counts = index.items[i]["tokens"].integers();
        std::vector<int32_t> got;
        for (size_t t = 0; t < tokens.size(); ++t)
          if (is_media(tokens[t])) {
            if (t == 0 || tokens[t] != tokens[t - 1]) got.push_back(0);
            ++got.back();
          }
        BOOST_TEST(got == counts, boost::test_tools::per_element());
        const auto media = s.encoded_media(tokens);
        BOOST_REQUIRE_MESSAGE(media.has_value(), (media ? "" : media.error().message));
        BOOST_REQUIRE(at + media->embeddings.size() <= expected.size());
        const double off = max_difference(media->embeddings, std::span(expected).subspan(at, media->embeddings.size()));
        BOOST_TEST(off <= made.tolerance);
        BOOST_TEST_MESSAGE(made.name << ", " << made.sounds[i] << " samples: " << off << " of " << made.tolerance);
        at += media->embeddings.size();
        check_text(*s.tokenizer(), tokens, index.items[i]["around"]);
      }
      BOOST_TEST(at == expected.size());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_may_have_an_image_and_a_sound_projector) {
  MadeModel both = made_gemma4a();
  const MadeModel eye = made_vit("", 16, 4, 16);
  both.booleans.insert(eye.booleans.begin(), eye.booleans.end());
  both.integers.insert(eye.integers.begin(), eye.integers.end());
  both.floats.insert(eye.floats.begin(), eye.floats.end());
  both.float_arrays = eye.float_arrays;
  both.tensors.insert(eye.tensors.begin(), eye.tensors.end());
  both.strings["vision.projector_type"] = "gemma3";
  both.integers["vision.projector.scale_factor"] = 2;
  both.tensors["mm.input_projection.weight"] = {kMadeWidth, 32};
  both.tensors["mm.soft_emb_norm.weight"] = {32};
  add_norm(both, "v.post_ln", 32);
  const auto loaded = load_made(both);
  Session& s = *loaded->session;
  const auto sound = encode_medium(s, s.begin_sound(made_sound(20000), kMelSampleRate));
  BOOST_TEST(std::ranges::count_if(sound, is_media) == 31);
  const Image picture = made_picture({20, 30});
  const auto image = encode_medium(s, s.begin_image(picture.view()));
  BOOST_TEST(std::ranges::count_if(image, is_media) == 4);
  std::vector<TokenId> prompt = sound;
  prompt.insert(prompt.end(), image.begin(), image.end());
  BOOST_TEST(s.evaluate(prompt).has_value());
}

BOOST_AUTO_TEST_CASE(short_audio_is_refused_where_its_bands_cannot_be_scaled) {
  for (const char* name : {"lfm2a", "parakeet"}) {
    const auto loaded = load_made(changed(name, [](MadeModel&) {}));
    const auto begun = loaded->session->begin_sound(made_sound(319), kMelSampleRate);
    BOOST_REQUIRE(!begun.has_value());
    BOOST_TEST((begun.error().code == ErrorCode::kInvalidArgument));
    BOOST_TEST(loaded->session->begin_sound(made_sound(320), kMelSampleRate).has_value());
  }
}

BOOST_AUTO_TEST_CASE(lint_and_the_loader_agree_on_missing_tensors) {
  const auto missing = [](const MadeModel& made) {
    const auto file = parse_file(made.header());
    std::string out;
    for (const Finding& finding : lint(file->gguf(), file->bytes.size() + made.n_data_bytes()))
      if (finding.code.starts_with("projector")) out += finding.message + "; ";
    return out;
  };
  EveryNth removed{3};
  for (const MadeProjector& made : made_sound_projectors()) {
    BOOST_TEST(missing(made.file) == "", made.name << ": " << missing(made.file));
    for (const auto& [name, shape] : made.file.tensors) {
      MadeModel without = made.file;
      without.tensors.erase(name);
      if (name.starts_with("mm.model.") || !removed.takes_next()) continue;  // of the image projector
      const std::string refusal = refusal_of(without), findings = missing(without);
      const bool refused = refusal == "tensor " + name + " is missing";
      const bool found = findings.find(name) != std::string::npos;
      // libmtmd loads a file without these, but then its graph aborts, or leaves out a step that the model needs.
      const bool aborts = name.find("attn_") != std::string::npos || name.find(".ln") != std::string::npos ||
                          name.starts_with("a.position_embd") || name.starts_with("a.post_ln");
      const bool bias = name.ends_with(".bias");  // a file without one is read as if it were 0
      BOOST_TEST((refused == found || (refused && aborts) || (found && bias)),
                 made.name << " without " << name << ": " << refusal << " / " << findings);
    }
  }
}

BOOST_AUTO_TEST_CASE(damaged_projectors_are_refused) {
  const auto contains = [](const std::string& text, const char* part) {
    BOOST_TEST(text.find(part) != std::string::npos, text << " does not say " << part);
  };
  contains(refusal_of(changed("parakeet", [](MadeModel& m) { m.integers["audio.subsampling_factor"] = 4; })),
           "clip.audio.subsampling_factor is 4");
  contains(refusal_of(changed("parakeet", [](MadeModel& m) { m.integers["audio.conv_kernel_size"] = 6; })), "even");
  contains(refusal_of(changed("granite_speech", [](MadeModel& m) { m.integers.erase("audio.chunk_size"); })),
           "clip.audio.chunk_size is missing");
  contains(refusal_of(changed("granite_speech", [](MadeModel& m) { m.integers["audio.chunk_size"] = 34; })),
           "max_pos_emb");
  contains(refusal_of(changed("granite_speech", [](MadeModel& m) { m.arrays["audio.feature_layer"] = {3}; })),
           "clip.audio.feature_layer holds 3");
  contains(refusal_of(changed("qwen3a",
                              [](MadeModel& m) {
                                m.tensors["a.position_embd.weight"] = {kEar, 12};
                              })),
           "12 rows");
  contains(refusal_of(changed("lfm2a", [](MadeModel& m) { m.integers["audio.attention.head_count"] = 5; })),
           "clip.audio.attention.head_count is 5");
  contains(refusal_of(changed("gemma4ua",
                              [](MadeModel& m) {
                                m.tensors["mm.a.input_projection.weight"] = {640, 31};
                              })),
           "do not belong together");
}

// A spectrogram has n / 160 + 1 frames and 3000 of silence; libmtmd encodes each whole 3000.
BOOST_AUTO_TEST_CASE(a_part_begins_one_frame_before_30_seconds) {
  SoundRule rule;
  rule.part_frames = 3000;
  rule.silent_end = true;
  for (const auto& [n_samples, n_parts] :
       {std::pair{1, 1}, {479839, 1}, {479840, 2}, {480000, 2}, {959839, 2}, {959840, 3}})
    BOOST_TEST(SoundFrames::n_parts(rule, static_cast<uint64_t>(n_samples)) == static_cast<size_t>(n_parts), n_samples);
}

BOOST_AUTO_TEST_SUITE_END()
