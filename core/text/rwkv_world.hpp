// The RWKV World vocabulary in text form, which a file may contain in tokenizer.rwkv.world.
//
// 1. Each line is one token: its id, a space, a Python literal, a space, the token's length in bytes.
// 2. The literal is '...' or "..." for text, b'...' or b"..." for bytes that are not valid text.
// 3. Escapes: \t \n \r \\ \' \" \xHH \uHHHH \UHHHHHHHH. In text \xHH is a code point, in bytes a byte.
// 4. Ids ascend from 1. Id 0 is the end of text and is not listed.
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

/// Reads the line at `pos` and moves `pos` to the next one. offset: the text's offset in the file. Errors: kBadLength
/// if the given length is not the literal's; kUnsupported for any line of another form.
[[nodiscard]] Result<RwkvWorldToken> read_rwkv_world_line(std::string_view text, size_t& pos, uint64_t offset);

/// Encodes bytes in the spelling of RWKV's tokenizer.ggml.tokens, which unescape_rwkv() decodes.
[[nodiscard]] std::string escape_rwkv(std::string_view bytes);

}  // namespace ggufscope
