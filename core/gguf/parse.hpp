// The parser. It is a pure function of the file's first bytes and a resume point.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

// Limits that no real file reaches. The first two are ggml's.
inline constexpr uint64_t kMaxStringLength = uint64_t{1} << 30;
inline constexpr uint64_t kMaxArrayElements = uint64_t{1} << 30;
inline constexpr uint64_t kMaxEntries = uint64_t{1} << 32;  ///< for key-values, and for tensors
inline constexpr size_t kMaxArrayDepth = 16;

/// Either complete, or the normal result for an incomplete header: call again with at least this many bytes.
struct ParseProgress {
  bool complete = false;
  uint64_t at_least = 0;
};

/// The parser's state between two calls. Start with a default-constructed one. Each byte of the header is walked once,
/// regardless of the chunk sizes.
struct ParseState {
  Header header;
  uint64_t position = 0;      ///< offset after the last complete key-value, array element or tensor info
  uint64_t n_tensors = 0;     ///< as declared by the file
  uint64_t n_key_values = 0;  ///< as declared by the file
  // The open levels of an unfinished array of strings or arrays, with the number of elements still to come.
  struct OpenArray {
    ValueType element_type = ValueType::kU8;
    uint64_t remaining = 0;
  };
  std::vector<OpenArray> open_arrays;
};

/// Parses on. prefix: the first bytes of the file, of which state.position bytes were walked before. file_size: if
/// known. When complete, state.header is valid. The result is the same for one call and for any sequence of chunks.
/// Memory grows with the bytes seen, never with a declared count.
///
/// Errors carry the absolute byte offset. Calling again with the same state gives the same error, and state.header
/// keeps what was parsed before it. Codes: kTruncated (the offset is where the bytes end), kBadMagic and the codes for
/// other kinds of files (sniff.hpp), kBadVersion, kBadCount, kBadLength, kBadValueType, kTooDeep, kBadShape (more than
/// kMaxDims dimensions), kOverflow (elements, bytes or the absolute end of a tensor reach 2^63). Anything else parses,
/// and lint.hpp reports it.
[[nodiscard]] Result<ParseProgress> parse_header(ByteView prefix, std::optional<uint64_t> file_size, ParseState& state);

}  // namespace ggufscope
