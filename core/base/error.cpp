// The names of error codes, and messages with an offset.
#include "base/error.hpp"

namespace ggufscope {

std::string_view error_name(ErrorCode code) {
  switch (code) {
#define GGUFSCOPE_ERROR(id, name) \
  case ErrorCode::id:             \
    return name;
#include "base/error_codes.inc"
#undef GGUFSCOPE_ERROR
  }
  return "unknown";
}

std::unexpected<Error> fail(ErrorCode code, uint64_t offset, std::string_view what, std::string_view context) {
  std::string message(what);
  message += " at byte ";
  message += std::to_string(offset);
  message += " in ";
  message += context;
  return std::unexpected(Error{code, offset, std::move(message)});
}

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, 0, std::move(message)});
}

}  // namespace ggufscope
