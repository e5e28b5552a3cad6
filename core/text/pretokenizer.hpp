// Pre-tokenizers of byte-level BPE, which split a text into words. Merges never cross word boundaries.
//
// A pre-tokenizer is a list of steps; each step splits every piece of the previous one. llama.cpp writes the steps as
// regular expressions. Here they are hand-written scanners with the same results, including llama.cpp's peculiarities:
// letters beyond ASCII count as both upper and lower case, and the end of a piece counts as the end of the text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ggufscope {

/// Receives the words in order. They are never empty.
struct WordSink {
  void (*take)(void* context, std::string_view word);
  void* context;
};

struct Pieces;
using SplitStep = void (*)(std::string_view piece, const Pieces& out);

/// Receives a step's pieces and passes them to the next step or, after the last, to the sink.
struct Pieces {
  std::span<const SplitStep> next;
  WordSink sink;

  void add(std::string_view piece) const {
    if (piece.empty()) return;
    if (next.empty()) return sink.take(sink.context, piece);
    next.front()(piece, Pieces{next.subspan(1), sink});
  }
};

// Flags of a row: further settings that llama.cpp has for this name.
inline constexpr uint32_t kIgnoreMerges = 1;  ///< a word that equals a token becomes that token, even without merges
inline constexpr uint32_t kAddBos = 2;        ///< BOS unless the file says otherwise
inline constexpr uint32_t kAddSep = 4;
inline constexpr uint32_t kKeepSpaces = 8;       ///< decoding does not remove spaces before punctuation
inline constexpr uint32_t kEscapeSpaces = 16;    ///< tokens spell spaces as U+2581
inline constexpr uint32_t kRawBytes = 32;        ///< tokens are plain UTF-8, not GPT-2's printable bytes
inline constexpr uint32_t kNoBos = 64;           ///< no BOS unless the file names one
inline constexpr uint32_t kForceBos = 128;       ///< BOS regardless of the file
inline constexpr uint32_t kWholeNewlines = 256;  ///< a run of newlines that equals a token becomes that token

struct PreTokenizer {
  std::string_view name;
  std::span<const SplitStep> steps;
  uint32_t flags;
};

[[nodiscard]] std::span<const PreTokenizer> all_pre_tokenizers();
/// nullptr for an unknown name. The first row is "default".
[[nodiscard]] const PreTokenizer* find_pre_tokenizer(std::string_view name);

/// text must be canonical UTF-8.
inline void pre_tokenize(const PreTokenizer& pre, std::string_view text, WordSink sink) {
  Pieces{pre.steps, sink}.add(text);
}

}  // namespace ggufscope
