// How vocabularies spell bytes and spaces in the texts of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ggufscope {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, a space in SentencePiece's spelling

/// The value of "<0x41>", or -1.
[[nodiscard]] int parse_byte_token(std::string_view text);

// GPT-2 spells bytes as printable characters: 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF as themselves, the others from U+0100.
[[nodiscard]] uint32_t printable_of_byte(uint8_t byte);
/// -1 where the character stands for no byte.
[[nodiscard]] int byte_of_printable(uint32_t code_point);
/// Appends the bytes that a text in that spelling stands for; false, with out unchanged, if a character stands for
/// none.
bool append_printable_bytes(std::string& out, std::string_view text);

/// Appends text with every U+2581 as a space.
void append_unescaped_spaces(std::string& out, std::string_view text);
/// Appends text with every space as U+2581.
void append_escaped_spaces(std::string& out, std::string_view text);

/// True if a U+2581 comes after another character: then tokens cross the starts of words.
[[nodiscard]] bool has_inner_mark(std::string_view text);
/// Where the word that begins at start ends: before the first U+2581 after something else.
[[nodiscard]] size_t end_of_marked_word(std::string_view text, size_t start);

/// The bytes of a token of an RWKV vocabulary: \t \n \r \xHH and \c for any other character.
[[nodiscard]] std::string unescape_rwkv(std::string_view text);

}  // namespace ggufscope
