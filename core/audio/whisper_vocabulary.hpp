// Whisper's tokens: byte strings, then control tokens whose ids follow from the vocabulary's size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "gguf/access.hpp"

namespace ggufscope {

struct Language {
  std::string_view code, name;
};
/// The 100 languages, in the order of their tokens.
[[nodiscard]] std::span<const Language> whisper_languages();
/// Finds a language by its code ("de") or English name ("german").
[[nodiscard]] std::optional<uint32_t> find_language(std::string_view text);

class WhisperVocabulary {
 public:
  WhisperVocabulary() = default;
  /// Reads tokenizer.ggml.tokens. They are bare bytes in whisper.cpp's files, or GPT-2's byte characters if
  /// tokenizer.ggml.model is "gpt2". Errors: kNotFound, kBadCount.
  [[nodiscard]] static Result<WhisperVocabulary> read(const Gguf& gguf, uint32_t n_vocab);

  // Ids follow OpenAI's numbering. A multilingual vocabulary has at least 51865 tokens: one more text token, and one
  // more language for each token beyond 51865.
  [[nodiscard]] bool multilingual() const { return n_vocab_ >= 51865; }
  [[nodiscard]] int32_t n_vocab() const { return static_cast<int32_t>(n_vocab_); }
  [[nodiscard]] int32_t eot() const { return multilingual() ? 50257 : 50256; }  ///< end of text
  [[nodiscard]] int32_t sot() const { return eot() + 1; }                       ///< start of a transcript
  [[nodiscard]] int32_t language(uint32_t i) const { return sot() + 1 + static_cast<int32_t>(i); }
  [[nodiscard]] int32_t translate() const { return 50357 + shift(); }
  [[nodiscard]] int32_t transcribe() const { return 50358 + shift(); }
  [[nodiscard]] int32_t start_of_lm() const { return 50359 + shift(); }
  [[nodiscard]] int32_t previous() const {
    return 50360 + shift();
  }  ///< start-of-previous token: previous text follows
  [[nodiscard]] int32_t no_speech() const { return 50361 + shift(); }
  [[nodiscard]] int32_t no_timestamps() const { return 50362 + shift(); }
  [[nodiscard]] int32_t first_timestamp() const { return 50363 + shift(); }  ///< 0.00 s; each next id is 20 ms later
  /// The number of languages in this vocabulary.
  [[nodiscard]] uint32_t n_languages() const { return n_vocab_ - 51765 - (multilingual() ? 1 : 0); }

  /// The token's bytes; for control tokens whisper.cpp's name ("[_TT_50]").
  [[nodiscard]] std::string text(int32_t id) const;
  /// The token with exactly these bytes.
  [[nodiscard]] std::optional<int32_t> find(std::string_view word) const;
  /// Tokenizes like whisper.cpp: splits into GPT-2's pre-tokens (only ASCII letters and digits count as such), then
  /// takes the longest matching tokens from the left.
  [[nodiscard]] std::vector<int32_t> tokenize(std::string_view text) const;

 private:
  [[nodiscard]] int32_t shift() const { return multilingual() ? static_cast<int32_t>(n_languages()) - 98 : 0; }

  uint32_t n_vocab_ = 0;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace ggufscope
