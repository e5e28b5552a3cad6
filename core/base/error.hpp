// What every fallible function of the core returns: a value, or a code, an absolute byte offset and a noun.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace ggufscope {

enum class ErrorCode : uint8_t {
#define GGUFSCOPE_ERROR(id, name) id,
#include "base/error_codes.inc"
#undef GGUFSCOPE_ERROR
};

/// The code as JavaScript sees it: "truncated", "bad-magic", ...
[[nodiscard]] std::string_view error_name(ErrorCode code);

struct Error {
  ErrorCode code;
  uint64_t offset;      ///< absolute byte offset in the file; 0 where no byte is to blame
  std::string message;  ///< a whole sentence, the offset included where there is one
};

template <class T>
using Result = std::expected<T, Error>;

/// "<what> at byte <offset> in <noun>", e.g. "truncated at byte 1048560 in tensor name 812".
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, uint64_t offset, std::string_view what,
                                          std::string_view noun);

/// An error that no byte is to blame for: a wrong argument, a missing tensor.
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string message);

}  // namespace ggufscope
