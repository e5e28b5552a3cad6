// Whisper's tokens: words of bytes, then control tokens whose ids follow from the size of the vocabulary.
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
/// In the order of their tokens: 100 of them.
[[nodiscard]] std::span<const Language> whisper_languages();
/// By code ("de") or English name ("german").
[[nodiscard]] std::optional<uint32_t> find_language(std::string_view text);

class WhisperVocabulary {
 public:
  WhisperVocabulary() = default;
  /// The words are tokenizer.ggml.tokens: bare bytes as whisper.cpp's files have them, or with
  /// tokenizer.ggml.model = "gpt2" in GPT-2's letters for bytes. kNotFound, kBadCount.
  [[nodiscard]] static Result<WhisperVocabulary> read(const Gguf& gguf, uint32_t n_vocab);

  // Ids, as OpenAI numbers them: a multilingual vocabulary (51865 tokens or more) has one word more, and a language
  // more with each token beyond that.
  [[nodiscard]] bool multilingual() const { return n_vocab_ >= 51865; }
  [[nodiscard]] int32_t n_vocab() const { return static_cast<int32_t>(n_vocab_); }
  [[nodiscard]] int32_t eot() const { return multilingual() ? 50257 : 50256; }  ///< end of text
  [[nodiscard]] int32_t sot() const { return eot() + 1; }                       ///< start of a transcript
  [[nodiscard]] int32_t language(uint32_t i) const { return sot() + 1 + static_cast<int32_t>(i); }
  [[nodiscard]] int32_t translate() const { return 50357 + shift(); }
  [[nodiscard]] int32_t transcribe() const { return 50358 + shift(); }
  [[nodiscard]] int32_t start_of_lm() const { return 50359 + shift(); }
  [[nodiscard]] int32_t previous() const { return 50360 + shift(); }  ///< text before this follows
  [[nodiscard]] int32_t no_speech() const { return 50361 + shift(); }
  [[nodiscard]] int32_t no_timestamps() const { return 50362 + shift(); }
  [[nodiscard]] int32_t first_timestamp() const { return 50363 + shift(); }  ///< 0.00 s; one every 20 ms
  /// Languages of this vocabulary.
  [[nodiscard]] uint32_t n_languages() const { return n_vocab_ - 51765 - (multilingual() ? 1 : 0); }

  /// A word's bytes; of control tokens whisper.cpp's name ("[_TT_50]").
  [[nodiscard]] std::string text(int32_t id) const;
  /// The word of exactly these bytes.
  [[nodiscard]] std::optional<int32_t> find(std::string_view word) const;
  /// As whisper.cpp: GPT-2's pieces, letters and digits being ASCII's, each cut into the longest words from the left.
  [[nodiscard]] std::vector<int32_t> tokenize(std::string_view text) const;

 private:
  [[nodiscard]] int32_t shift() const { return multilingual() ? static_cast<int32_t>(n_languages()) - 98 : 0; }

  uint32_t n_vocab_ = 0;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace ggufscope
