// The vectors of speech: a text model with the projector that makes sound of its hidden states, and llama.cpp's results
// stage by stage.
#pragma once

#include "media_session.hpp"

namespace ggufscope::test {

struct SpeechVector {
  std::filesystem::path folder;
  std::string pipeline;
  Json meta, expected;
  LoadedSession files;
  [[nodiscard]] Session& session() const { return *files.session; }
  [[nodiscard]] std::vector<float> floats(const std::string& name) const {
    return read_floats(folder / (name + ".f32"));
  }
  [[nodiscard]] double tolerance(const std::string& name) const { return std::stod(meta["tolerance"][name].text); }
  [[nodiscard]] size_t n_frames() const { return std::stoul(meta["frames"].text); }
  [[nodiscard]] SpeechTools tools() const {
    return {session().model(), session().pool(), session().tokenizer(), *session().speech()};
  }
};

inline std::vector<std::filesystem::path> speech_folders() { return folders_of("vectors/new/speech"); }

/// A session of the two files, of whose bytes it keeps a copy.
inline LoadedSession load_speech(std::vector<uint8_t> model, std::vector<uint8_t> projector,
                                 Precision precision = Precision::kExact, uint32_t n_ctx = 512) {
  LoadedSession out{std::move(model), std::move(projector), nullptr};
  const HeaderBytes text{out.model, out.model.size()}, mmproj{out.projector, out.projector.size()};
  auto session = Session::open({&text, 1}, kWasm ? 1 : 2, &mmproj);
  BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  out.session = std::move(*session);
  load_weights(out, precision, n_ctx, 1);
  return out;
}

inline std::unique_ptr<SpeechVector> load_speech_vector(const std::filesystem::path& folder,
                                                        Precision precision = Precision::kExact) {
  auto out = std::make_unique<SpeechVector>();
  out->folder = folder;
  out->meta = read_json(folder / "meta.json");
  out->expected = read_json(folder / "expected.json");
  out->pipeline = out->meta["arch"].text;
  out->files = load_speech(read_file(folder / "text.gguf"), read_file(folder / "mmproj.gguf"), precision);
  return out;
}

/// The difference's root mean square.
inline double rms_difference(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
  return std::sqrt(sum / double(std::max<size_t>(a.size(), 1)));
}

/// The samples of a whole text; with `most`, of so many frames.
inline std::vector<float> speak(Session& s, std::string_view text, const SpeakOptions& options,
                                size_t most = SIZE_MAX) {
  const Result<void> begun = s.begin_speech(text, options);
  BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
  Speaker& speaker = **s.speaker();
  std::vector<float> out;
  const size_t max = most == SIZE_MAX ? most : most * s.speech()->generator().frame_samples();
  for (bool more = true; more && out.size() < max;) {
    const Result<bool> stepped = speaker.next();
    BOOST_REQUIRE_MESSAGE(stepped.has_value(), (stepped ? "" : stepped.error().message));
    out.insert(out.end(), speaker.samples().begin(), speaker.samples().end());
    more = *stepped;
  }
  speaker.end();
  if (out.size() > max) out.resize(max);
  return out;
}

inline void encode_voice(Session& s, std::span<const float> recording, uint32_t rate = kSpeechRate) {
  Speaker& speaker = **s.speaker();
  const Result<void> begun = speaker.begin_voice(recording, rate);
  BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
  for (;;) {
    const Result<bool> more = speaker.step_voice();
    BOOST_REQUIRE_MESSAGE(more.has_value(), (more ? "" : more.error().message));
    if (!*more) return;
  }
}

}  // namespace ggufscope::test
