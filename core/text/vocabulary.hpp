// The tokens of a file and their attributes: the data that all kinds of tokenizer share.
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
inline constexpr uint16_t kAttrLeftStrip = 64;    ///< takes the white space before it
inline constexpr uint16_t kAttrRightStrip = 128;  ///< takes the white space after it

struct Vocabulary {
  TokenizerKind kind = TokenizerKind::kSpm;
  std::string model;
  const PreTokenizer* pre = nullptr;  ///< of BPE only
  std::string pre_name;

  TextList texts;
  StringIndex index;          ///< of texts; the first of equal ones
  std::vector<float> scores;  ///< empty: all 0
  std::vector<uint16_t> attrs;
  std::vector<TokenId> end_of_generation;
  std::vector<TokenId> special_tokens;  ///< control, user-defined and unknown ones, longest text first
  size_t longest = 0;                   ///< bytes of the longest text

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
  /// The text that each token decodes to. Made on first use: encoding and counting do not need it.
  [[nodiscard]] const TextList& pieces() const;
  /// One of them, without making all; only for kinds whose pieces depend on the token alone.
  void append_piece_of(std::string& out, TokenId id) const;
  /// The token "<0x0A>" of a byte, or kNoToken.
  [[nodiscard]] TokenId byte_token(uint8_t byte) const;

  void note(bool strict, std::string_view code, std::string message) {
    notes.push_back({strict, std::string(code), std::move(message)});
  }

 private:
  mutable TextList pieces_;
};

/// Reads all of tokenizer.ggml.* but the merges and the character map, which belong to their kinds.
[[nodiscard]] Result<Vocabulary> load_vocabulary(const Gguf& gguf);

}  // namespace ggufscope
