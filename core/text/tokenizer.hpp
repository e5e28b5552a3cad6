// Text to token ids and back, from a header alone, the same as llama.cpp's llama_tokenize and llama_detokenize.
//
//   1. special and added tokens cut the text into fragments (user-defined ones always, control ones when asked for)
//   2. each fragment is tokenized by the file's kind:
//        llama   SentencePiece BPE: merge the adjacent pair whose union is the best-scored token
//        gpt2    byte-level BPE: a pre-tokenizer cuts words, ranked merges join bytes (also gemma4, hybriddna,
//        whitespace) bert    WordPiece: normalize, split, longest match t5      Unigram: most likely path over the
//        scores (also replit) rwkv    greedy longest match;   plamo2: cheapest path
//   3. BOS, EOS and SEP as the file's flags say
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
  bool special = false;  ///< control tokens written in the text become their ids (llama.cpp: parse_special)
  bool bos = false;      ///< add BOS, EOS, SEP as the file's flags say (llama.cpp: add_special)
};

struct DecodeOptions {
  bool remove_special = false;  ///< drop a leading BOS and a trailing EOS that the file's flags add
  bool special = true;          ///< show control and unknown tokens as text (llama.cpp: unparse_special)
};

/// An irregularity of the vocabulary. The tokenizer works all the same.
struct TokenizerNote {
  bool strict;       ///< llama.cpp refuses the file for it
  std::string code;  ///< "token-duplicate", "pre-tokenizer-unknown", ...
  std::string message;
};

struct TokenizerImpl;

/// Owns all its data: the header's bytes may be freed. Encoding uses small caches, so use one tokenizer in each thread.
class Tokenizer {
 public:
  /// kUnsupported without a vocabulary or for an unknown kind; kBadValueType if the tokens are not strings.
  [[nodiscard]] static Result<Tokenizer> make(const Gguf& gguf);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// text: any bytes. Bytes that are not UTF-8 read as U+FFFD if the kind has no byte tokens.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;
  /// Bytes, not always whole UTF-8. Ids out of range are skipped.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  [[nodiscard]] TokenizerKind kind() const;
  [[nodiscard]] std::string_view model() const;  ///< tokenizer.ggml.model
  [[nodiscard]] std::string_view pre() const;    ///< tokenizer.ggml.pre, "default" when absent
  [[nodiscard]] const SpecialIds& special() const;
  [[nodiscard]] bool adds_bos() const;
  [[nodiscard]] bool adds_eos() const;
  [[nodiscard]] bool adds_sep() const;  ///< between the two texts of a pair
  [[nodiscard]] bool is_end_of_generation(TokenId id) const;
  [[nodiscard]] std::span<const TokenizerNote> notes() const;

  [[nodiscard]] uint32_t size() const;
  [[nodiscard]] std::string_view text(TokenId id) const;   ///< as the file spells it; "" out of range
  [[nodiscard]] std::string_view piece(TokenId id) const;  ///< the bytes that it decodes to, special tokens shown
  [[nodiscard]] TokenType type(TokenId id) const;          ///< as derived: control-looking tokens are kControl
  [[nodiscard]] float score(TokenId id) const;
  [[nodiscard]] bool is_special(TokenId id) const;          ///< control or unknown: hidden from readers
  [[nodiscard]] TokenId find(std::string_view text) const;  ///< by the file's spelling

 private:
  explicit Tokenizer(std::unique_ptr<TokenizerImpl> impl);
  std::unique_ptr<TokenizerImpl> impl_;
};

/// Decodes ids one by one: bytes of an incomplete code point are held back until it is complete.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool special = false) : tokenizer_(tokenizer), special_(special) {}
  /// Adds a token. Returns the text that is now complete: valid UTF-8 (broken bytes become U+FFFD), often empty.
  [[nodiscard]] std::string push(TokenId id);
  /// Ends the text. Returns what was held back.
  [[nodiscard]] std::string finish();

 private:
  const Tokenizer& tokenizer_;
  bool special_;
  std::string pending_;
};

}  // namespace ggufscope
