// The steps of pre-tokenizers. The comment next to each is llama.cpp's regular expression for it. Text between two
// matches becomes a piece, too.
#pragma once

#include <string_view>

#include "text/pretokenizer.hpp"

namespace ggufscope::split {

// clang-format off
void gpt2(std::string_view piece, const Pieces& out);            // 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

// The family of cl100k: W stands for '[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD], E for \s+(?!\S)|\s+
void llama3(std::string_view piece, const Pieces& out);          // W|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|E
void minicpm5(std::string_view piece, const Pieces& out);        // the same with \p{N}+
void jais2(std::string_view piece, const Pieces& out);           // llama3, spaces in blocks of 512, 256, ..., 4, 2, 1
void qwen2(std::string_view piece, const Pieces& out);           // llama3 with \p{N}
void k2_horizon(std::string_view piece, const Pieces& out);      // W|[^\r\n\p{L}\p{N}]?(?:\p{L}|\p{M}|\u200C|\u200D)+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|E
void qwen35(std::string_view piece, const Pieces& out);          // W|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|E
void ufakzeka(std::string_view piece, const Pieces& out);        // qwen2 without W
void seed_coder(std::string_view piece, const Pieces& out);      // qwen2 without the newlines after symbols
void exaone_moe(std::string_view piece, const Pieces& out);      // W|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|E
// U: a letter but a-z. V: a letter but A-Z.
void tekken(std::string_view piece, const Pieces& out);          // [^\r\n\p{L}\p{N}]?U*V+|[^\r\n\p{L}\p{N}]?U+V*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|E
void gpt4o(std::string_view piece, const Pieces& out);           // [^\r\n\p{L}\p{N}]?U*V+W?|[^\r\n\p{L}\p{N}]?U+V*W?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|E
void granite_multi(std::string_view piece, const Pieces& out);   // gpt4o, marks count as letters
void tiny_aya(std::string_view piece, const Pieces& out);        // [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+W?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|E
void youtu(std::string_view piece, const Pieces& out);           // the same with \p{N}
void kimi_k2(std::string_view piece, const Pieces& out);         // \p{Han}+|[^\r\n\p{L}\p{N}]?[\p{L}--\p{Han}]+W?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|E

void deepseek3(std::string_view piece, const Pieces& out);       // [!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|E
void spark(std::string_view piece, const Pieces& out);           // ... | ?[\p{P}\p{S}]+|[\r\n]|E
void bloom(std::string_view piece, const Pieces& out);           //  ?[^(\s|.,!?...)]+

void number(std::string_view piece, const Pieces& out);             // \p{N}
void numbers(std::string_view piece, const Pieces& out);            // \p{N}+
void numbers_of_three(std::string_view piece, const Pieces& out);   // \p{N}{1,3}
void digit_triples(std::string_view piece, const Pieces& out);      // [0-9][0-9][0-9]
void digits_from_right(std::string_view piece, const Pieces& out);  // \d{1,3}(?=(?:\d{3})*\b), as llama.cpp does it
void digits_from_right_if_whole(std::string_view piece, const Pieces& out);  // (?=(\d{3})+(?!\d))

void default_symbols(std::string_view piece, const Pieces& out);    // [\p{P}\$\+<=>\^~\|]+
void falcon_symbols(std::string_view piece, const Pieces& out);     // [\p{P}\$\+<=>\^~\|`]+
void any_punctuation(std::string_view piece, const Pieces& out);    // [\p{P}!-/:-@\[-`{-~]
void newline(std::string_view piece, const Pieces& out);            // [\r\n]
void lines(std::string_view piece, const Pieces& out);              // [^\n]+|[\n]+
void non_spaces(std::string_view piece, const Pieces& out);         // \S+
void trailing_spaces(std::string_view piece, const Pieces& out);    // \s+$
void letter_words(std::string_view piece, const Pieces& out);       // \s?\p{L}+
void punctuation_words(std::string_view piece, const Pieces& out);  // \s?\p{P}+
void cased_words(std::string_view piece, const Pieces& out);        // \s?[letters of scripts with case]+
void western_symbols(std::string_view piece, const Pieces& out);    // \s?[!-/:-~ and the full-width and general ones]+
void cjk(std::string_view piece, const Pieces& out);                // [U+4E00-9FA5 and kana]+
void east_asian(std::string_view piece, const Pieces& out);         // [U+0800-9FA5 and hangul]+
void asian_scripts(std::string_view piece, const Pieces& out);      // [scripts written without spaces, and hangul]+
void youtu_scripts(std::string_view piece, const Pieces& out);      // runs of hangul, of CJK punctuation, of bopomofo, of han and kana
void sentinels(std::string_view piece, const Pieces& out);          // <sentinel:[0-9]+>
void image_codes(std::string_view piece, const Pieces& out);        // (IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z
void chameleon_spaces(std::string_view piece, const Pieces& out);   // ([\t\n]|    |  )
// clang-format on

}  // namespace ggufscope::split
