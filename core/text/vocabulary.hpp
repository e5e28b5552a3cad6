// The tokens of a file and their attributes, shared by all kinds of tokenizers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"
#include "text/pretokenizer.hpp"
#include "text/string_index.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

// Attributes of a token, as llama.cpp derives them from its type, its text and the model's name.
inline constexpr uint16_t kAttrUnknown = 1;
inline constexpr uint16_t kAttrUnused = 2;
inline constexpr uint16_t kAttrNormal = 4;
inline constexpr uint16_t kAttrControl = 8;
inline constexpr uint16_t kAttrUserDefined = 16;
inline constexpr uint16_t kAttrByte = 32;
inline constexpr uint16_t kAttrLeftStrip = 64;    ///< removes the white space before it
inline constexpr uint16_t kAttrRightStrip = 128;  ///< removes the white space after it

struct Vocabulary {
  TokenizerKind kind = TokenizerKind::kSpm;
  std::string model;
  const PreTokenizer* pre = nullptr;  ///< BPE only
  std::string pre_name;

  TextList texts;
  StringIndex index;          ///< by text; of equal texts the first counts
  std::vector<float> scores;  ///< empty: all are 0
  std::vector<uint16_t> attrs;
  std::vector<TokenId> end_of_generation;
  std::vector<TokenId> special_tokens;  ///< control, user-defined and unknown tokens, longest text first
  size_t longest = 0;                   ///< length of the longest text in bytes

  SpecialIds special;
  bool add_bos = false, add_eos = false, add_sep = false;
  bool add_space_prefix = false;
  bool clean_spaces = false;
  bool remove_extra_whitespaces = false;
  bool escape_whitespaces = true;
  bool ignore_merges = false;
  bool byte_encode = true;  ///< BPE: tokens are spelled in GPT-2's printable bytes
  bool lowercase = true, strip_accents = true;

  std::vector<TokenizerNote> notes;

  [[nodiscard]] TokenId size() const { return static_cast<TokenId>(texts.size()); }
  [[nodiscard]] bool has(TokenId id) const { return id >= 0 && id < size(); }
  [[nodiscard]] std::string_view text(TokenId id) const { return texts[static_cast<size_t>(id)]; }
  [[nodiscard]] float score(TokenId id) const { return scores.empty() ? 0.0f : scores[static_cast<size_t>(id)]; }
  [[nodiscard]] bool is(TokenId id, uint16_t attr) const { return (attrs[static_cast<size_t>(id)] & attr) != 0; }
  [[nodiscard]] TokenId find(std::string_view text) const {
    return static_cast<TokenId>(index.find(text, [this](uint32_t id) { return texts[id]; }));
  }
  /// The text that each token decodes to. Built on first use, because encoding and counting do not need it.
  [[nodiscard]] const TextList& pieces() const;
  /// Appends one piece without building all of them. Only for kinds whose pieces depend on the token alone.
  void append_piece_of(std::string& out, TokenId id) const;
  /// The token "<0x0A>" for a byte, or kNoToken.
  [[nodiscard]] TokenId byte_token(uint8_t byte) const;

  void note(bool strict, std::string_view code, std::string message) {
    notes.push_back({strict, std::string(code), std::move(message)});
  }

 private:
  mutable TextList pieces_;
};

/// Reads tokenizer.ggml.* except for merges and the character map, which their kinds of tokenizer read. Errors:
/// kUnsupported without tokens; kBadValueType; kBadCount; kOutOfRange for a token's id.
[[nodiscard]] Result<Vocabulary> load_vocabulary(const Gguf& gguf);

}  // namespace ggufscope
