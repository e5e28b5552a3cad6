// A session's speech: a projector that makes sound of what the model writes.
#include "engine/session.hpp"

namespace ggufscope {

Result<void> Session::open_speech(const ModelFile& file, uint32_t file_index) {
  Result<std::unique_ptr<SpeechModel>> speech = SpeechModel::open(file, file_index, model_.get());
  if (!speech) return std::unexpected(speech.error());
  speech_ = std::move(*speech);
  return {};
}

Result<Speaker*> Session::speaker() {
  if (!speech_)
    return fail(ErrorCode::kUnsupported, "the model was loaded without a projector that makes speech: it cannot speak");
  if (!state_) return fail(ErrorCode::kInvalidArgument, "the model is not loaded");
  if (!tokenizer_ && speech_->pipeline().name != kSpeaksAlone)
    return fail(ErrorCode::kUnsupported, "speech needs a vocabulary, and this file has none");
  if (!speaker_) {
    Result<std::unique_ptr<Speaker>> created = Speaker::create({*model_, *pool_, tokenizer(), *speech_}, *state_);
    if (!created) return std::unexpected(created.error());
    speaker_ = std::move(*created);
  }
  return speaker_.get();
}

Result<void> Session::begin_speech(std::string_view text, const SpeakOptions& options) {
  const Result<Speaker*> speaker = this->speaker();
  if (!speaker) return std::unexpected(speaker.error());
  clear_sequences();
  return (*speaker)->begin(text, options);
}

}  // namespace ggufscope
