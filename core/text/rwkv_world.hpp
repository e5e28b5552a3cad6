// The RWKV World vocabulary as text, which files may carry whole in tokenizer.rwkv.world.
//
// 1. one token a line: its id, a space, a literal of Python, a space, the token's length in bytes
// 2. the literal is '...' or "..." for text, b'...' or b"..." for bytes that are not text
// 3. escapes: \t \n \r \\ \' \" \xHH \uHHHH \UHHHHHHHH; in text \xHH is a code point, in bytes a byte
// 4. ids rise from 1; 0 ends a text and is not listed
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ggufscope {

struct RwkvWorldToken {
  uint32_t id = 0;
  std::string bytes;
};

/// Reads the line at `pos` and moves `pos` behind it; offset: of the text in the file. 'bad-length' if the given length
/// is not the literal's, 'unsupported' for anything but a line of that form.
[[nodiscard]] Result<RwkvWorldToken> read_rwkv_world_line(std::string_view text, size_t& pos, uint64_t offset);

/// Bytes in the spelling of tokenizer.ggml.tokens of RWKV: what unescape_rwkv() reads.
[[nodiscard]] std::string escape_rwkv(std::string_view bytes);

}  // namespace ggufscope
