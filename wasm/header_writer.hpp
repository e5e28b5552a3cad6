// Builds a header in the wasm heap, from entries of other files' headers and new ones. Returned pointers stay valid
// until the writer is destroyed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/parse.hpp"
#include "gguf/write.hpp"

namespace ggufscope {

class HeaderWriter {
 public:
  /// Returns where to store the n bytes of another header; parse_source() then parses them.
  uint8_t* add_source(size_t n) {
    sources_.emplace_back().bytes.resize(n);
    return sources_.back().bytes.data();
  }

  bool parse_source() {
    Source& source = sources_.back();
    const Result<ParseProgress> progress = parse_header(source.bytes, std::nullopt, source.state);
    if (!progress) return fail_with(progress.error());
    return progress->complete || fail_with({ErrorCode::kTruncated, source.bytes.size(), "the header is not whole"});
  }

  /// Returns where to store the value of the next add_key(), little-endian and with 64-bit lengths.
  uint8_t* add_value(size_t n) { return values_.emplace_back(n).data(); }

  void add_key(std::string_view key, uint32_t type, uint32_t element_type, uint64_t count) {
    key_values_.push_back(
        {keep(key), static_cast<ValueType>(type), static_cast<ValueType>(element_type), count, values_.back(), {}});
  }

  /// Copies the i-th key-value of a source under its own key.
  void copy_key(uint32_t source, uint32_t i) {
    const Gguf gguf = sources_[source].gguf();
    key_values_.push_back(copy_of(gguf, gguf.header.key_values[i]));
  }
  void copy_key_as(uint32_t source, uint32_t i, std::string_view key) {
    copy_key(source, i);
    key_values_.back().key = keep(key);
  }

  /// offset < 0: directly after the previous tensor.
  void add_tensor(std::string_view name, const std::vector<double>& shape, uint32_t type, double n_bytes,
                  double offset) {
    WriteTensor tensor;
    tensor.name = keep(name);
    tensor.n_dims = static_cast<uint32_t>(shape.size());
    for (size_t i = 0; i < shape.size() && i < kMaxDims; ++i) tensor.shape[i] = static_cast<uint64_t>(shape[i]);
    place(tensor, type, n_bytes, offset);
  }

  /// Copies name and shape of the i-th tensor of a source.
  void copy_tensor(uint32_t source, uint32_t i, uint32_t type, double n_bytes, double offset) {
    const Gguf gguf = sources_[source].gguf();
    place(copy_of(gguf, gguf.header.tensors[i]), type, n_bytes, offset);
  }

  bool write(uint32_t version, bool big_endian) {
    Result<WrittenHeader> written = write_header({version, big_endian}, key_values_, tensors_);
    if (!written) return fail_with(written.error());
    written_ = std::move(*written);
    offsets_.assign(written_.relative_offsets.begin(), written_.relative_offsets.end());
    return true;
  }

  [[nodiscard]] const WrittenHeader& written() const { return written_; }
  [[nodiscard]] const std::vector<double>& offsets() const { return offsets_; }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  struct Source {
    std::vector<uint8_t> bytes;
    ParseState state;
    [[nodiscard]] Gguf gguf() const { return {state.header, bytes}; }
  };

  std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

  void place(WriteTensor tensor, uint32_t type, double n_bytes, double offset) {
    tensor.type = type;
    tensor.n_bytes = static_cast<uint64_t>(n_bytes);
    tensor.relative_offset = offset < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(offset));
    tensors_.push_back(tensor);
  }

  bool fail_with(const Error& error) {
    error_ = error;
    return false;
  }

  // A deque does not move its elements.
  std::deque<Source> sources_;
  std::deque<std::vector<uint8_t>> values_;
  std::deque<std::string> texts_;
  std::vector<WriteKeyValue> key_values_;
  std::vector<WriteTensor> tensors_;
  WrittenHeader written_;
  std::vector<double> offsets_;
  Error error_{};
};

}  // namespace ggufscope
