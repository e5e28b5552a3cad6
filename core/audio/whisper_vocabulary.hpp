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
/// Finds a language by its code ("de"), a code with a region or script ("de-AT", "zh_Hant"), its English name
/// ("German"), or another code or name of it ("nb", "Mandarin"), in any case.
[[nodiscard]] std::optional<uint32_t> find_language(std::string_view text);

class WhisperVocabulary {
 public:
  WhisperVocabulary() = default;
  /// Reads tokenizer.ggml.tokens. They are bare bytes in whisper.cpp's files, or GPT-2's byte characters if
  /// tokenizer.ggml.model is "gpt2". Errors: kNotFound, kBadCount.
  [[nodiscard]] static Result<WhisperVocabulary> read(const Gguf& gguf, uint32_t n_vocab);

  // The order of control tokens is OpenAI's: end of text, start of a transcript, languages, tasks, times. If the file
  // names them ("<|endoftext|>"), any number of text tokens and languages may precede them. Otherwise ids follow
  // OpenAI's numbering: a vocabulary of 51864 tokens is English-only; a multilingual one has one more text token, and
  // one more language for each token beyond 51865.
  [[nodiscard]] bool multilingual() const { return multilingual_; }
  [[nodiscard]] int32_t n_vocab() const { return static_cast<int32_t>(n_vocab_); }
  [[nodiscard]] int32_t eot() const { return eot_; }      ///< end of text
  [[nodiscard]] int32_t sot() const { return eot_ + 1; }  ///< start of a transcript
  [[nodiscard]] int32_t language(uint32_t i) const { return sot() + 1 + static_cast<int32_t>(i); }
  [[nodiscard]] int32_t translate() const { return language(n_languages_); }
  [[nodiscard]] int32_t transcribe() const { return translate() + 1; }
  [[nodiscard]] int32_t start_of_lm() const { return translate() + 2; }
  [[nodiscard]] int32_t previous() const { return translate() + 3; }  ///< the previous text follows
  [[nodiscard]] int32_t no_speech() const { return translate() + 4; }
  [[nodiscard]] int32_t no_timestamps() const { return translate() + 5; }
  [[nodiscard]] int32_t first_timestamp() const { return translate() + 6; }  ///< 0.00 s; each next id is 20 ms later
  /// The number of languages in this vocabulary.
  [[nodiscard]] uint32_t n_languages() const { return n_languages_; }

  /// The token's bytes; for control tokens whisper.cpp's name ("[_TT_50]").
  [[nodiscard]] std::string text(int32_t id) const;
  /// The token with exactly these bytes.
  [[nodiscard]] std::optional<int32_t> find(std::string_view word) const;
  /// Tokenizes like whisper.cpp: splits into GPT-2's pre-tokens (only ASCII letters and digits count as such), then
  /// takes the longest matching tokens from the left.
  [[nodiscard]] std::vector<int32_t> tokenize(std::string_view text) const;

 private:
  uint32_t n_vocab_ = 0, n_languages_ = 0;
  int32_t eot_ = 0;
  bool multilingual_ = false;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace ggufscope
