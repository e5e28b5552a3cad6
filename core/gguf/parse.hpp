// The parser: a pure function of a prefix of the file and a resume point.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

// Bounds that no real file reaches; the first two are ggml's.
inline constexpr uint64_t kMaxStringLength = uint64_t{1} << 30;
inline constexpr uint64_t kMaxArrayElements = uint64_t{1} << 30;
inline constexpr uint64_t kMaxEntries = uint64_t{1} << 32;  ///< key-values, and tensors
inline constexpr size_t kMaxArrayDepth = 16;

/// complete, or the ordinary answer while the header is not whole: call again with at least this many bytes of the
/// file.
struct ParseProgress {
  bool complete = false;
  uint64_t at_least = 0;
};

/// Plain data between two calls: what was parsed so far and where to go on. Start with a fresh one.
/// Each byte of the header is walked once, however the chunks fall.
struct ParseState {
  Header header;
  uint64_t position = 0;      ///< offset after the last whole key-value, array element or tensor info
  uint64_t n_tensors = 0;     ///< declared by the file
  uint64_t n_key_values = 0;  ///< declared by the file
  // Inside an unfinished array of strings or arrays: how many elements of each open level are still to come.
  struct OpenArray {
    ValueType element_type = ValueType::kU8;
    uint64_t remaining = 0;
  };
  std::vector<OpenArray> open_arrays;
};

/// prefix: the first bytes of the file (state.position of them were walked before). file_size: when it is known.
/// When complete, state.header is whole. Errors carry the absolute byte offset; one who goes on with the same state
/// gets the same error again, and what was parsed before it stays in state.header. Parsed at once or grown chunk by
/// chunk, the result is the same. Memory grows with the bytes seen, never with a declared count.
///
/// Errors: kTruncated (the offset is where the bytes end), kBadMagic and the codes of what else it is (sniff.hpp),
/// kBadVersion, kBadCount, kBadLength, kBadValueType, kTooDeep, kBadShape (more than kMaxDims dimensions), kOverflow
/// (elements, bytes or the absolute end of a tensor reach 2^63). All else parses, and is a finding of lint.hpp.
[[nodiscard]] Result<ParseProgress> parse_header(ByteView prefix, std::optional<uint64_t> file_size, ParseState& state);

}  // namespace ggufscope
