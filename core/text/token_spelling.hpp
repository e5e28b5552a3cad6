// How vocabularies spell bytes and spaces in token texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ggufscope {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, SentencePiece's spelling of a space

/// The value of a text such as "<0x41>", or -1.
[[nodiscard]] int parse_byte_token(std::string_view text);

// GPT-2 spells bytes as printable characters: 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF as themselves, the others from U+0100
// on.
[[nodiscard]] uint32_t printable_of_byte(uint8_t byte);
/// -1 if the character does not represent a byte.
[[nodiscard]] int byte_of_printable(uint32_t code_point);
/// Appends the bytes that a text in GPT-2's spelling represents. If a character represents none, returns false and
/// leaves out unchanged.
bool append_printable_bytes(std::string& out, std::string_view text);

/// Appends text with every U+2581 replaced by a space.
void append_unescaped_spaces(std::string& out, std::string_view text);
/// Appends text with every space replaced by U+2581.
void append_escaped_spaces(std::string& out, std::string_view text);

/// True if a U+2581 follows another character. Then tokens can cross the starts of words.
[[nodiscard]] bool has_inner_mark(std::string_view text);
/// The end of the word that begins at start: before the first U+2581 that follows another character.
[[nodiscard]] size_t end_of_marked_word(std::string_view text, size_t start);

/// Decodes a token of an RWKV vocabulary: \t \n \r \xHH, and \c for any other character c.
[[nodiscard]] std::string unescape_rwkv(std::string_view text);

}  // namespace ggufscope
