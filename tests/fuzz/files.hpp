// A whole GGUF file whose header a target damages.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../core/gguf_bytes.hpp"
#include "gguf/parse.hpp"

namespace ggufscope::fuzz {

struct File {
  test::Bytes bytes;
  size_t n_header = 0;
};

inline File read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  File out{{std::istreambuf_iterator<char>(in), {}}, 0};
  ParseState parsed;
  const Result<ParseProgress> progress = parse_header(out.bytes, out.bytes.size(), parsed);
  if (!progress || !progress->complete) std::abort();
  out.n_header = static_cast<size_t>(parsed.header.data_offset);
  return out;
}

}  // namespace ggufscope::fuzz
