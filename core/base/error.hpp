// The result of every function of the core that can fail: a value, or an error code with an absolute byte offset and a
// message.
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

/// The code's name in JavaScript: "truncated", "bad-magic", ...
[[nodiscard]] std::string_view error_name(ErrorCode code);

struct Error {
  ErrorCode code;
  uint64_t offset;      ///< absolute byte offset in the file; 0 if the error has no position
  std::string message;  ///< a whole sentence, including the offset if there is one
};

template <class T>
using Result = std::expected<T, Error>;

/// "<what> at byte <offset> in <context>", e.g. "truncated at byte 1048560 in tensor name 812".
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, uint64_t offset, std::string_view what,
                                          std::string_view context);

/// An error without a byte position: a wrong argument, a missing tensor.
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string message);

}  // namespace ggufscope
