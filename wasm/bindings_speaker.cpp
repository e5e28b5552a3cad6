// The JavaScript interface of speech out: a text model whose projector makes sound of what the model writes
// (core/engine/speaker.hpp). The contract:
//
//   new Speaker(engine.session())   after startSession; engine.facts().speech names the pipeline, "" if there is none.
//                                   It stays valid as long as the engine. Delete it before the engine.
//   open()                          comes first.
//   begin(n, options)               n bytes of UTF-8 in the reserved buffer: the text. Clears all sequences.
//   next()                          one step, a part of the prompt, one frame (80 ms of sound) or its samples: 1 if
//   there is more to
//                                   do, 0 after the last one, -1 on an error. Stop by not calling it, then end().
//   samples()                       what this call of next() added, often none: floats from -1 to 1, one channel, at
//                                   facts().rate. The first ones come after one frame, later ones in parts of 2.
//   progress()                      the share of the text that is spoken, 0 to 1; it grows with each chunk of the text.
//   beginVoice(n, rate), stepVoice() n samples (floats) of a recording in the reserved buffer: steps as those of
//   next().
//                                   Then texts are spoken with that voice. voice() returns it as numbers.
//   setVoice(n)                     n numbers in the reserved buffer, as voice() gave them; 0: the model's own voice.
//
// Spans stay valid until the next call. If a call returns false or -1, failure() describes the error.
#include <emscripten/bind.h>

#include <vector>

#include "engine/session.hpp"
#include "engine_values.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

struct SpeakerFacts {
  uint32_t rate;           ///< samples per second
  uint32_t frame_samples;  ///< samples of a frame
  bool voices;             ///< it can encode recordings
  float temperature;       ///< the default
  std::string languages;   ///< names separated by spaces; empty: it speaks one
  std::string warning;     ///< what a user should know about the file and the text, one a line; usually empty
};

class SpeakerBinding {
 public:
  explicit SpeakerBinding(uintptr_t session) : session_(reinterpret_cast<Session*>(session)) {}

  uintptr_t reserve(uint32_t n) { return ggufscope::reserve(input_, n); }
  [[nodiscard]] Failure failure() const { return failure_of(error_); }
  /// Creates what facts() and the other calls need. Call it first.
  bool open() {
    const Result<Speaker*> speaker = session_->speaker();
    if (!speaker) return refuse(speaker.error());
    speaker_ = *speaker;
    return true;
  }
  [[nodiscard]] SpeakerFacts facts() const {
    return {.rate = kSpeechRate,
            .frame_samples = static_cast<uint32_t>(session_->speech()->generator().frame_samples()),
            .voices = session_->speech()->has_voices(),
            .temperature = speaker_->writer().default_temperature(),
            .languages = speaker_->writer().languages(),
            .warning = speaker_->writer().warning()};
  }
  static SpeakOptions default_options() { return {}; }
  bool begin(uint32_t n, const SpeakOptions& options) {
    const Result<void> begun = session_->begin_speech({reinterpret_cast<const char*>(input_.data()), n}, options);
    return begun ? true : refuse(begun.error());
  }
  int next() { return step(speaker_->next()); }
  void end() { speaker_->end(); }
  [[nodiscard]] Span samples() const { return span_of(speaker_->samples()); }
  [[nodiscard]] double progress() const { return speaker_->progress(); }
  bool begin_voice(uint32_t n, uint32_t rate) {
    const Result<void> begun = speaker_->begin_voice({input_.as<float>(), n}, rate);
    return begun ? true : refuse(begun.error());
  }
  int step_voice() { return step(speaker_->step_voice()); }
  [[nodiscard]] Span voice() const { return span_of(speaker_->voice()); }
  bool set_voice(uint32_t n) {
    const Result<void> set = speaker_->set_voice({input_.as<float>(), input_.as<float>() + n});
    return set ? true : refuse(set.error());
  }

 private:
  bool refuse(const Error& error) {
    error_ = error;
    return false;
  }
  int step(const Result<bool>& more) {
    if (!more) return refuse(more.error()), -1;
    return *more ? 1 : 0;
  }

  Session* session_;
  Speaker* speaker_ = nullptr;
  Error error_{};
  Buffer input_;
};

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
EMSCRIPTEN_BINDINGS(speaker) {
  value_object<SpeakOptions>("SpeakOptions")
      .field("temperature", &SpeakOptions::temperature)
      .field("topK", &SpeakOptions::top_k)
      .field("topP", &SpeakOptions::top_p)
      .field("seed", &SpeakOptions::seed)
      .field("speed", &SpeakOptions::speed)
      .field("profile", &SpeakOptions::profile)
      .field("language", &SpeakOptions::language);
  value_object<SpeakerFacts>("SpeakerFacts")
      .field("rate", &SpeakerFacts::rate)
      .field("frameSamples", &SpeakerFacts::frame_samples)
      .field("voices", &SpeakerFacts::voices)
      .field("temperature", &SpeakerFacts::temperature)
      .field("languages", &SpeakerFacts::languages)
      .field("warning", &SpeakerFacts::warning);
  class_<SpeakerBinding>("Speaker")
      .constructor<uintptr_t>()
      .function("reserve", &SpeakerBinding::reserve)
      .function("failure", &SpeakerBinding::failure)
      .function("open", &SpeakerBinding::open)
      .function("facts", &SpeakerBinding::facts)
      .class_function("defaultOptions", &SpeakerBinding::default_options)
      .function("begin", &SpeakerBinding::begin)
      .function("next", &SpeakerBinding::next)
      .function("end", &SpeakerBinding::end)
      .function("samples", &SpeakerBinding::samples)
      .function("progress", &SpeakerBinding::progress)
      .function("beginVoice", &SpeakerBinding::begin_voice)
      .function("stepVoice", &SpeakerBinding::step_voice)
      .function("voice", &SpeakerBinding::voice)
      .function("setVoice", &SpeakerBinding::set_voice);
}

}  // namespace ggufscope
