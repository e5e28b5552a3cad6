// The matching functions of the pre-tokenizers' steps.
#include "text/splitters.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "text/character_ranges.hpp"
#include "text/unicode.hpp"

namespace ggufscope::split {
namespace {

using Mask = uint8_t;  // one bit for each CharClass; 0 past the end
constexpr Mask bit(CharClass c) { return static_cast<Mask>(1u << static_cast<unsigned>(c)); }
constexpr Mask kL = bit(CharClass::kLetter);
constexpr Mask kN = bit(CharClass::kNumber);
constexpr Mask kP = bit(CharClass::kPunctuation);
constexpr Mask kM = bit(CharClass::kMark);
constexpr Mask kS = bit(CharClass::kSymbol);
constexpr Mask kSpace = bit(CharClass::kWhitespace);

constexpr bool one_of(char32_t c, std::string_view set) {
  return c < 0x80 && set.find(static_cast<char>(c)) != std::string_view::npos;
}
constexpr std::string_view kAsciiSymbols = "$+<=>^`|~";

constexpr auto kAsciiMask = [] {
  std::array<Mask, 128> masks{};
  for (char32_t c = 0; c < 128; ++c) {
    CharClass kind = CharClass::kPunctuation;
    if ((c | 32) >= 'a' && (c | 32) <= 'z')
      kind = CharClass::kLetter;
    else if (c >= '0' && c <= '9')
      kind = CharClass::kNumber;
    else if (c == ' ' || (c >= 9 && c <= 13))
      kind = CharClass::kWhitespace;
    else if (c < 32 || c == 127)
      kind = CharClass::kControl;
    else if (one_of(c, kAsciiSymbols))
      kind = CharClass::kSymbol;
    masks[c] = bit(kind);
  }
  return masks;
}();

struct Char {
  char32_t code = 0;
  Mask mask = 0;        // 0 past the end
  uint32_t length = 0;  // bytes
};

// A piece of canonical UTF-8; positions are byte offsets.
struct Text {
  std::string_view text;

  [[nodiscard]] size_t size() const { return text.size(); }
  [[nodiscard]] Char at(size_t pos) const {
    if (pos >= text.size()) return {};
    const auto lead = static_cast<uint8_t>(text[pos]);
    if (lead < 0x80) return {lead, kAsciiMask[lead], 1};
    const Decoded decoded = decode_utf8(text, pos);
    return {decoded.code_point, bit(char_class(decoded.code_point)), decoded.length};
  }
  [[nodiscard]] Mask mask(size_t pos) const { return at(pos).mask; }
  [[nodiscard]] char byte(size_t pos) const { return pos < text.size() ? text[pos] : '\0'; }
  // The first position from pos on with a character that is not in these classes.
  [[nodiscard]] size_t skip(size_t pos, Mask classes) const {
    for (Char c = at(pos); (c.mask & classes) != 0; c = at(pos)) pos += c.length;
    return pos;
  }
};

constexpr size_t kNoMatch = static_cast<size_t>(-1);

// Splits the piece: every match of match(text, pos) -> end or kNoMatch becomes a piece, and so does the text between
// matches.
template <class Match>
void isolate_with(std::string_view piece, const Pieces& out, const Match& match) {
  const Text text{piece};
  size_t gap = 0;
  for (size_t pos = 0; pos < piece.size();) {
    const size_t end = match(text, pos);
    if (end == kNoMatch) {
      pos += text.at(pos).length;
      continue;
    }
    out.add(piece.substr(gap, pos - gap));
    out.add(piece.substr(pos, end - pos));
    gap = pos = end;
  }
  out.add(piece.substr(gap));
}

// One loop serves all but the most common steps, to save code size.
void isolate(std::string_view piece, const Pieces& out, size_t (*match)(const Text&, size_t)) {
  isolate_with(piece, out, match);
}

constexpr bool is_newline(char c) { return c == '\r' || c == '\n'; }

size_t skip_bytes(const Text& text, size_t pos, std::string_view set) {
  while (pos < text.size() && set.find(text.text[pos]) != std::string_view::npos) ++pos;
  return pos;
}

// Matches 's 't 'm 'd 're 've 'll at pos and returns the end, or pos if there is none.
template <bool any_case>
size_t skip_contraction(const Text& text, size_t pos) {
  if (text.byte(pos) != '\'') return pos;
  const auto letter = [&](size_t at) {
    const char c = text.byte(at);
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  const char a = letter(pos + 1);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return pos + 2;
  const char b = letter(pos + 2);
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return pos + 3;
  return pos;
}

// Matches \s+(?!\S)|\s+ at a space, after the rule for newlines.
enum class Newlines { kNoRule, kRuns, kSingle };
template <Newlines rule>
size_t match_spaces(const Text& text, size_t pos) {
  size_t end = pos, last = pos, after_newline = kNoMatch;
  for (Char c = text.at(pos); (c.mask & kSpace) != 0; c = text.at(end)) {
    last = end;
    end += c.length;
    if (is_newline(static_cast<char>(c.code)) && c.code < 0x80) {
      if (rule == Newlines::kSingle && last == pos) return end;
      after_newline = end;
    }
  }
  if (rule == Newlines::kRuns && after_newline != kNoMatch) return after_newline;
  return end == text.size() || last == pos ? end : last;
}

size_t match_gpt2(const Text& text, size_t pos) {
  if (const size_t end = skip_contraction<false>(text, pos); end != pos) return end;
  const size_t start = pos + (text.byte(pos) == ' ' ? 1 : 0);
  const Mask mask = text.mask(start);
  if ((mask & kL) != 0) return text.skip(start, kL);
  if ((mask & kN) != 0) return text.skip(start, kN);
  if (mask != 0 && (mask & kSpace) == 0) return text.skip(start, static_cast<Mask>(~(kL | kN | kSpace)));
  return match_spaces<Newlines::kNoRule>(text, pos);
}

// The differences between the members of the cl100k family.
enum class Words { kLetters, kLettersMarks, kJoined, kCased, kCasedMarks, kPhrases, kNotHan };
enum class Tail { kNothing, kNewlines, kNewlinesSlashes, kOneNewlineSlash };
struct Rules {
  Words words = Words::kLetters;
  bool contractions = true;         // before words
  bool contraction_suffix = false;  // at the end of words
  uint32_t digits = 1;              // digits in a group; 0: any number
  Mask not_symbol = kSpace | kL | kN;
  Tail tail = Tail::kNewlines;  // what may follow symbols in the same piece
  bool blocks = false;          // spaces are split into blocks of 512, 256, ..., 4, 2, 1
};

constexpr bool lower_ascii(char32_t c) { return c >= 'a' && c <= 'z'; }
constexpr bool upper_ascii(char32_t c) { return c >= 'A' && c <= 'Z'; }

// Matches U*V+ at pos, or U+V* if `second`; otherwise returns kNoMatch. letters: the classes that count as letters.
size_t match_cased(const Text& text, size_t pos, Mask letters, bool second) {
  size_t end = pos, after_both = kNoMatch;
  Char c = text.at(end);
  while ((c.mask & letters) != 0 && !lower_ascii(c.code)) {
    end += c.length;
    if (!upper_ascii(c.code)) after_both = end;
    c = text.at(end);
  }
  if ((c.mask & letters) == 0) {
    // Backtracking: if no V follows the run, its last character that is both U and V is used as the V.
    if (!second) return after_both;
    return end != pos ? end : kNoMatch;
  }
  if (second && end == pos) return kNoMatch;
  while ((c.mask & letters) != 0 && !upper_ascii(c.code)) {
    end += c.length;
    c = text.at(end);
  }
  return end;
}

// (?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+
size_t match_phrase(const Text& text, size_t pos) {
  size_t end = kNoMatch;
  while ((text.mask(pos) & kL) != 0) {
    end = text.skip(pos + text.at(pos).length, kM);
    pos = end + (text.byte(end) == ' ' && (text.mask(end + 1) & kL) != 0 ? 1 : 0);
  }
  return end;
}

inline size_t match_word(const Words words, const Text& text, size_t pos, const Char& first) {
  const bool leads = (first.mask & (kL | kN)) == 0 && first.code != '\r' && first.code != '\n';
  const size_t after = pos + first.length;
  if (words == Words::kLetters || words == Words::kLettersMarks) {
    const Mask letters = words == Words::kLetters ? kL : kL | kM;
    if ((first.mask & letters) != 0 || (leads && (text.mask(after) & letters) != 0)) return text.skip(after, letters);
  } else if (words == Words::kJoined) {  // letters, marks and the joiners of scripts such as Persian
    const auto inside = [](const Char& c) { return (c.mask & (kL | kM)) != 0 || c.code == 0x200c || c.code == 0x200d; };
    if (!inside(first) && !(leads && inside(text.at(after)))) return kNoMatch;
    size_t end = after;
    for (Char c = text.at(end); inside(c); c = text.at(end)) end += c.length;
    return end;
  } else if (words == Words::kPhrases) {
    if (const size_t end = leads ? match_phrase(text, after) : kNoMatch; end != kNoMatch) return end;
    return match_phrase(text, pos);
  } else if (words == Words::kNotHan) {
    const auto inside = [&](const Char& c) { return (c.mask & kL) != 0 && !is_han(c.code); };
    size_t end = pos;
    if (leads && inside(text.at(after))) end = after;
    for (Char c = text.at(end); inside(c); c = text.at(end)) end += c.length;
    if (end != pos) return end;
  } else {
    const Mask letters = words == Words::kCased ? kL : kL | kM;
    for (const bool second : {false, true}) {
      if (const size_t end = leads ? match_cased(text, after, letters, second) : kNoMatch; end != kNoMatch) return end;
      if (const size_t end = match_cased(text, pos, letters, second); end != kNoMatch) return end;
    }
  }
  return kNoMatch;
}

// Splits spaces into blocks of 512, 256, ..., each followed by a space or the end.
size_t match_blocks(const Text& text, size_t pos) {
  const size_t newline_end = match_spaces<Newlines::kRuns>(text, pos);
  if (newline_end > pos && is_newline(text.text[newline_end - 1])) return newline_end;
  std::array<size_t, 514> ends{};  // ends[i]: position after i spaces
  size_t count = 0;
  ends[0] = pos;
  for (Char c = text.at(pos); (c.mask & kSpace) != 0 && count < 513; c = text.at(ends[count])) {
    ends[count + 1] = ends[count] + c.length;
    ++count;
  }
  const size_t usable = ends[count] == text.size() ? count : count - 1;
  for (size_t block = 512; block >= 4; block /= 2)
    if (block <= usable) return ends[block];
  return ends[usable >= 2 ? 2 : 1];
}

// Inlined, so that constant rules are folded.
[[gnu::always_inline]] inline size_t match_cl100k(const Rules& rules, const Text& text, size_t pos) {
  if (rules.words == Words::kNotHan) {
    size_t end = pos;
    while (end < text.size() && is_han(text.at(end).code)) end += text.at(end).length;
    if (end != pos) return end;
  }
  if (rules.contractions) {
    if (const size_t end = skip_contraction<true>(text, pos); end != pos) return end;
  }
  // llama.cpp folds the long s to an s in this pre-tokenizer only.
  if (rules.words == Words::kJoined && text.text.substr(pos).starts_with("'\u017F")) return pos + 3;
  const Char first = text.at(pos);
  if (size_t end = match_word(rules.words, text, pos, first); end != kNoMatch) {
    if (rules.contraction_suffix) end = skip_contraction<true>(text, end);
    return end;
  }
  if ((first.mask & kN) != 0) {
    if (rules.digits == 0) return text.skip(pos, kN);
    size_t end = pos + first.length;
    for (uint32_t i = 1; i < rules.digits && (text.mask(end) & kN) != 0; ++i) end += text.at(end).length;
    return end;
  }
  const size_t start = pos + (first.code == ' ' ? 1 : 0);
  const Mask mask = text.mask(start);
  if (mask != 0 && (mask & rules.not_symbol) == 0) {
    const size_t end = text.skip(start, static_cast<Mask>(~rules.not_symbol));
    if (rules.tail == Tail::kNothing) return end;
    const size_t tail_end = skip_bytes(text, end, rules.tail == Tail::kNewlines ? "\r\n" : "\r\n/");
    return rules.tail == Tail::kOneNewlineSlash ? std::min(end + 1, tail_end) : tail_end;
  }
  if ((first.mask & kSpace) == 0) return kNoMatch;
  return rules.blocks ? match_blocks(text, pos) : match_spaces<Newlines::kRuns>(text, pos);
}

void isolate_by(std::string_view piece, const Pieces& out, const Rules& rules) {
  isolate_with(piece, out, [&](const Text& text, size_t pos) { return match_cl100k(rules, text, pos); });
}

template <bool spark_rules>
size_t match_deepseek3(const Text& text, size_t pos) {
  const Char first = text.at(pos);
  const auto ascii_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  if (first.code < 0x80 && (first.mask & (kP | kS)) != 0 && ascii_letter(text.byte(pos + 1))) {
    size_t end = pos + 2;
    while (ascii_letter(text.byte(end))) ++end;
    return end;
  }
  const bool leads = (first.mask & (kL | kP | kS)) == 0 && first.code != '\r' && first.code != '\n';
  const size_t after = pos + first.length;
  if ((first.mask & (kL | kM)) != 0 || (leads && (text.mask(after) & (kL | kM)) != 0)) return text.skip(after, kL | kM);
  const size_t start = pos + (first.code == ' ' ? 1 : 0);
  if ((text.mask(start) & (kP | kS)) != 0) {
    const size_t end = text.skip(start, kP | kS);
    return spark_rules ? end : skip_bytes(text, end, "\r\n");
  }
  if ((first.mask & kSpace) == 0) return kNoMatch;
  return match_spaces<(spark_rules ? Newlines::kSingle : Newlines::kRuns)>(text, pos);
}

// Matches one character, or a run, or an optional space and a run.
template <auto belongs>
size_t match_one(const Text& text, size_t pos) {
  const Char c = text.at(pos);
  return belongs(c) ? pos + c.length : kNoMatch;
}
template <auto belongs>
size_t match_run(const Text& text, size_t pos) {
  size_t end = pos;
  for (Char c = text.at(pos); c.mask != 0 && belongs(c); c = text.at(end)) end += c.length;
  return end != pos ? end : kNoMatch;
}
template <auto leads, auto belongs>
size_t match_led_run(const Text& text, size_t pos) {
  const Char first = text.at(pos);
  if (const size_t end = leads(first) ? match_run<belongs>(text, pos + first.length) : kNoMatch; end != kNoMatch)
    return end;
  return match_run<belongs>(text, pos);
}

// White space is never in these sets, because llama.cpp replaces it first.
template <const auto& ranges>
constexpr bool in_ranges(const Char& c) {
  return (c.mask & kSpace) == 0 && within(ranges, c.code);
}
template <Mask classes>
constexpr bool of_class(const Char& c) {
  return (c.mask & classes) != 0;
}
constexpr bool is_blank(const Char& c) { return c.code == ' '; }
constexpr bool is_default_symbol(const Char& c) { return (c.mask & kP) != 0 || one_of(c.code, "$+<=>^~|"); }
constexpr bool is_falcon_symbol(const Char& c) { return is_default_symbol(c) || c.code == '`'; }
constexpr bool is_any_punctuation(const Char& c) { return (c.mask & kP) != 0 || one_of(c.code, kAsciiSymbols); }
constexpr bool is_newline_char(const Char& c) { return c.code == '\r' || c.code == '\n'; }
constexpr bool is_not_space(const Char& c) { return (c.mask & kSpace) == 0; }
constexpr bool is_bloom_letter(const Char& c) {
  return (c.mask & kSpace) == 0 && !one_of(c.code, "(|.,!?)") && !within(kBloomStops, c.code);
}

size_t match_youtu_scripts(const Text& text, size_t pos) {
  for (const auto run : {match_run<in_ranges<kHangul>>, match_run<in_ranges<kCjkPunctuation>>,
                         match_run<in_ranges<kBopomofo>>, match_run<in_ranges<kHan>>})
    if (const size_t end = run(text, pos); end != kNoMatch) return end;
  return kNoMatch;
}

size_t match_three_numbers(const Text& text, size_t pos) {
  size_t end = pos;
  for (int i = 0; i < 3 && (text.mask(end) & kN) != 0; ++i) end += text.at(end).length;
  return end != pos ? end : kNoMatch;
}

constexpr bool ascii_digit(char c) { return c >= '0' && c <= '9'; }

size_t match_digit_triple(const Text& text, size_t pos) {
  for (size_t i = 0; i < 3; ++i)
    if (!ascii_digit(text.byte(pos + i))) return kNoMatch;
  return pos + 3;
}

size_t match_trailing_spaces(const Text& text, size_t pos) {
  // Inside a run of spaces, the match was already tried at its start.
  size_t before = pos;
  while (before > 0 && (static_cast<uint8_t>(text.text[before - 1]) & 0xC0) == 0x80) --before;
  if (pos > 0 && (text.mask(before - 1) & kSpace) != 0) return kNoMatch;
  const size_t end = text.skip(pos, kSpace);
  return end != pos && end == text.size() ? end : kNoMatch;
}

size_t match_sentinel(const Text& text, size_t pos) {
  constexpr std::string_view kOpen = "<sentinel:";
  if (!text.text.substr(pos).starts_with(kOpen)) return kNoMatch;
  const size_t digits = pos + kOpen.size();
  size_t end = digits;
  while (ascii_digit(text.byte(end))) ++end;
  return end != digits && text.byte(end) == '>' ? end + 1 : kNoMatch;
}

size_t match_image_code(const Text& text, size_t pos) {
  constexpr std::string_view kOpen = "IMGIMG";
  if (!text.text.substr(pos).starts_with(kOpen)) return kNoMatch;
  size_t end = pos + kOpen.size();
  for (int i = 0; i < 4 && text.byte(end) >= 'A' && text.byte(end) <= 'I'; ++i) ++end;
  return end != pos + kOpen.size() && text.byte(end) == 'Z' ? end + 1 : kNoMatch;
}

size_t match_chameleon_spaces(const Text& text, size_t pos) {
  if (text.byte(pos) == '\t' || text.byte(pos) == '\n') return pos + 1;
  for (const std::string_view blanks : {"    ", "  "})
    if (text.text.substr(pos).starts_with(blanks)) return pos + blanks.size();
  return kNoMatch;
}

}  // namespace

// clang-format off
#define GGUFSCOPE_STEP(name, ...) void name(std::string_view piece, const Pieces& out) { isolate(piece, out, __VA_ARGS__); }
#define GGUFSCOPE_FAST(name, ...) void name(std::string_view piece, const Pieces& out) { isolate_with(piece, out, [](const Text& text, size_t pos) { return __VA_ARGS__; }); }
#define GGUFSCOPE_RULES(name, ...) void name(std::string_view piece, const Pieces& out) { static constexpr Rules rules{__VA_ARGS__}; isolate_by(piece, out, rules); }
GGUFSCOPE_FAST(gpt2, match_gpt2(text, pos))
GGUFSCOPE_FAST(llama3, match_cl100k(Rules{.digits = 3}, text, pos))
GGUFSCOPE_RULES(minicpm5, .digits = 0)
GGUFSCOPE_RULES(jais2, .digits = 3, .blocks = true)
GGUFSCOPE_FAST(qwen2, match_cl100k(Rules{}, text, pos))
GGUFSCOPE_RULES(qwen35, .words = Words::kLettersMarks, .not_symbol = kSpace | kL | kM | kN)
GGUFSCOPE_RULES(k2_horizon, .words = Words::kJoined, .digits = 3)
GGUFSCOPE_RULES(ufakzeka, .contractions = false)
GGUFSCOPE_RULES(seed_coder, .tail = Tail::kNothing)
GGUFSCOPE_RULES(exaone_moe, .words = Words::kPhrases, .tail = Tail::kOneNewlineSlash)
GGUFSCOPE_RULES(tekken, .words = Words::kCased, .contractions = false, .tail = Tail::kNewlinesSlashes)
GGUFSCOPE_RULES(gpt4o, .words = Words::kCased, .contractions = false, .contraction_suffix = true, .digits = 3, .tail = Tail::kNewlinesSlashes)
GGUFSCOPE_RULES(granite_multi, .words = Words::kCasedMarks, .contractions = false, .contraction_suffix = true, .digits = 3, .tail = Tail::kNewlinesSlashes)
GGUFSCOPE_RULES(tiny_aya, .words = Words::kLettersMarks, .contractions = false, .contraction_suffix = true, .digits = 3, .tail = Tail::kNewlinesSlashes)
GGUFSCOPE_RULES(youtu, .words = Words::kLettersMarks, .contractions = false, .contraction_suffix = true, .tail = Tail::kNewlinesSlashes)
GGUFSCOPE_RULES(kimi_k2, .words = Words::kNotHan, .contractions = false, .contraction_suffix = true, .digits = 3)
GGUFSCOPE_STEP(deepseek3, match_deepseek3<false>)
GGUFSCOPE_STEP(spark, match_deepseek3<true>)
GGUFSCOPE_STEP(bloom, match_led_run<is_blank, is_bloom_letter>)
GGUFSCOPE_STEP(number, match_one<of_class<kN>>)
GGUFSCOPE_STEP(numbers, match_run<of_class<kN>>)
GGUFSCOPE_STEP(numbers_of_three, match_three_numbers)
GGUFSCOPE_STEP(digit_triples, match_digit_triple)
GGUFSCOPE_STEP(default_symbols, match_run<is_default_symbol>)
GGUFSCOPE_STEP(falcon_symbols, match_run<is_falcon_symbol>)
GGUFSCOPE_STEP(any_punctuation, match_one<is_any_punctuation>)
GGUFSCOPE_STEP(newline, match_one<is_newline_char>)
GGUFSCOPE_STEP(non_spaces, match_run<is_not_space>)
GGUFSCOPE_STEP(trailing_spaces, match_trailing_spaces)
GGUFSCOPE_STEP(letter_words, match_led_run<of_class<kSpace>, of_class<kL>>)
GGUFSCOPE_STEP(punctuation_words, match_led_run<of_class<kSpace>, of_class<kP>>)
GGUFSCOPE_STEP(cased_words, match_led_run<of_class<kSpace>, in_ranges<kCasedLetters>>)
GGUFSCOPE_STEP(western_symbols, match_led_run<of_class<kSpace>, in_ranges<kWesternSymbols>>)
GGUFSCOPE_STEP(cjk, match_run<in_ranges<kHan>>)
GGUFSCOPE_STEP(east_asian, match_run<in_ranges<kEastAsian>>)
GGUFSCOPE_STEP(asian_scripts, match_run<in_ranges<kAsianScripts>>)
GGUFSCOPE_STEP(youtu_scripts, match_youtu_scripts)
GGUFSCOPE_STEP(sentinels, match_sentinel)
GGUFSCOPE_STEP(image_codes, match_image_code)
GGUFSCOPE_STEP(chameleon_spaces, match_chameleon_spaces)
#undef GGUFSCOPE_STEP
#undef GGUFSCOPE_FAST
#undef GGUFSCOPE_RULES
// clang-format on

void lines(std::string_view piece, const Pieces& out) {
  for (size_t pos = 0; pos < piece.size();) {
    size_t end = piece[pos] == '\n' ? piece.find_first_not_of('\n', pos) : piece.find('\n', pos);
    end = std::min(end, piece.size());
    out.add(piece.substr(pos, end - pos));
    pos = end;
  }
}

void digits_from_right(std::string_view piece, const Pieces& out) {
  // Like llama.cpp, keeps the text before a number in one piece with the number's first group.
  const Text text{piece};
  size_t start = 0;
  for (size_t pos = 0; pos < piece.size();) {
    const size_t end = text.skip(pos, kN);
    if (end == pos) {
      pos += text.at(pos).length;
      continue;
    }
    size_t count = 0;
    for (size_t at = pos; at < end; at += text.at(at).length) ++count;
    for (size_t group = count % 3 == 0 ? 3 : count % 3; pos < end; group = 3) {
      for (size_t i = 0; i < group; ++i) pos += text.at(pos).length;
      out.add(piece.substr(start, pos - start));
      start = pos;
    }
  }
  out.add(piece.substr(start));
}

void digits_from_right_if_whole(std::string_view piece, const Pieces& out) {
  size_t start = 0;
  for (size_t pos = 0; pos < piece.size();) {
    size_t end = pos;
    while (end < piece.size() && ascii_digit(piece[end])) ++end;
    if (end - pos < 3) {
      pos = std::max(end, pos + 1);
      continue;
    }
    for (pos += (end - pos) % 3; pos < end; pos += 3) {
      out.add(piece.substr(start, pos - start));
      start = pos;
    }
  }
  out.add(piece.substr(start));
}

}  // namespace ggufscope::split
