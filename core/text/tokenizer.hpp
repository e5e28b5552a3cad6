// Converts text to token ids and back, using only the header. Results equal llama.cpp's llama_tokenize and
// llama_detokenize.
//
//   1. Special and added tokens split the text into fragments (user-defined ones always, control ones on request).
//   2. Each fragment is tokenized by the file's kind of tokenizer:
//        llama   SentencePiece BPE: merges the adjacent pair whose union is the token with the best score
//        gpt2    byte-level BPE: a pre-tokenizer splits words, ranked merges join bytes
//                (also gemma4, hybriddna, whitespace)
//        bert    WordPiece: normalize, split, longest match
//        t5      Unigram: the most likely path over the scores (also replit)
//        rwkv    greedy longest match
//        plamo2  the path with the lowest cost
//   3. BOS, EOS and SEP are added as the file's flags say.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

using TokenId = int32_t;
inline constexpr TokenId kNoToken = -1;

enum class TokenizerKind : uint8_t { kSpm, kBpe, kWordPiece, kUnigram, kRwkv, kPlamo2 };

/// tokenizer.ggml.token_type
enum class TokenType : uint8_t { kUndefined = 0, kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct SpecialIds {
  TokenId bos = kNoToken, eos = kNoToken, eot = kNoToken, eom = kNoToken, unk = kNoToken, sep = kNoToken;
  TokenId pad = kNoToken, mask = kNoToken;
  TokenId fim_pre = kNoToken, fim_suf = kNoToken, fim_mid = kNoToken, fim_pad = kNoToken, fim_rep = kNoToken;
  TokenId fim_sep = kNoToken;
};

struct EncodeOptions {
  bool special = false;  ///< convert the texts of control tokens to their ids (llama.cpp: parse_special)
  bool bos = false;      ///< add BOS, EOS and SEP as the file's flags say (llama.cpp: add_special)
};

struct DecodeOptions {
  bool remove_special = false;  ///< drop a leading BOS and a trailing EOS that the flags add
  bool special = true;          ///< output control and unknown tokens as text (llama.cpp: unparse_special)
};

/// An irregularity of the vocabulary. The tokenizer still works.
struct TokenizerNote {
  bool strict;       ///< llama.cpp refuses the file because of it
  std::string code;  ///< "token-duplicate", "pre-tokenizer-unknown", ...
  std::string message;
};

struct TokenizerImpl;

/// Owns all its data, so the header's bytes may be freed. Encoding uses small caches; each thread needs its own
/// tokenizer.
class Tokenizer {
 public:
  /// Errors: kUnsupported if there is no vocabulary or its kind is unknown; kBadValueType if the tokens are not
  /// strings.
  [[nodiscard]] static Result<Tokenizer> create(const Gguf& gguf);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// text: any bytes. Bytes that are not UTF-8 count as U+FFFD if the kind has no byte tokens.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;
  /// Returns bytes, which may be incomplete UTF-8. Ids out of range are skipped.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  [[nodiscard]] TokenizerKind kind() const;
  [[nodiscard]] std::string_view model() const;  ///< tokenizer.ggml.model
  [[nodiscard]] std::string_view pre() const;    ///< tokenizer.ggml.pre, or "default" if absent
  [[nodiscard]] const SpecialIds& special() const;
  [[nodiscard]] bool adds_bos() const;
  [[nodiscard]] bool adds_eos() const;
  [[nodiscard]] bool adds_sep() const;  ///< between the two texts of a pair
  [[nodiscard]] bool is_end_of_generation(TokenId id) const;
  [[nodiscard]] std::span<const TokenizerNote> notes() const;

  [[nodiscard]] uint32_t size() const;
  [[nodiscard]] std::string_view text(TokenId id) const;   ///< as spelled in the file; "" if the id is out of range
  [[nodiscard]] std::string_view piece(TokenId id) const;  ///< the bytes that it decodes to; special tokens as text
  [[nodiscard]] TokenType type(TokenId id) const;          ///< control-looking tokens are kControl
  [[nodiscard]] float score(TokenId id) const;
  [[nodiscard]] bool is_special(TokenId id) const;          ///< control or unknown: not shown to users
  [[nodiscard]] TokenId find(std::string_view text) const;  ///< looks up the file's spelling

 private:
  explicit Tokenizer(std::unique_ptr<TokenizerImpl> impl);
  std::unique_ptr<TokenizerImpl> impl_;
};

/// Decodes one id at a time. The bytes of an incomplete code point are held back until it is complete.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool special = false) : tokenizer_(tokenizer), special_(special) {}
  /// Adds a token. Returns the text that is now complete, which is often empty. It is valid UTF-8; a broken
  /// character becomes one U+FFFD.
  [[nodiscard]] std::string push(TokenId id);
  /// Ends the text: U+FFFD if its last character is incomplete.
  [[nodiscard]] std::string flush();

 private:
  const Tokenizer& tokenizer_;
  bool special_;
  std::string pending_;
};

}  // namespace ggufscope
