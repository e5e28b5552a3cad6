// The header of one open file inside the wasm heap: the bytes received so far, the parser's state over them, and the
// tables and texts that JavaScript copies out. What a function returns by reference or pointer holds until the next
// call of any of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "gguf/arrays.hpp"
#include "gguf/lint/lint.hpp"
#include "gguf/parse.hpp"

namespace ggufscope {

class Document {
 public:
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() { std::free(bytes_); }

  /// Where the next n bytes of the file go. nullptr where memory does not suffice.
  uint8_t* reserve(size_t n);

  /// n bytes were written there: parse on. 0: the header is whole; > 0: at least that many bytes of the file are
  /// needed; -1: error(). file_size: negative while it is not known.
  double advance(size_t n, double file_size);

  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const ParseState& state() const { return state_; }
  [[nodiscard]] const Header& header() const { return state_.header; }
  [[nodiscard]] ByteView bytes() const { return {bytes_, size_}; }
  [[nodiscard]] Gguf gguf() const { return {state_.header, bytes()}; }

  /// kKeyColumns numbers a key-value: type, element type, count, value offset, value length.
  const std::vector<double>& key_table();
  /// kTensorColumns numbers a tensor: type, offset, bytes, elements, dimensions, shape[kMaxDims].
  const std::vector<double>& tensor_table();

  // Texts come as one run of bytes and the end of each. True: every one is valid UTF-8 and the ends count UTF-16 units,
  // so that JavaScript decodes once and slices. False: the ends count bytes, and each is decoded alone.
  bool gather_keys();
  bool gather_tensor_names();
  /// Elements [from, to) of an array of strings.
  bool gather_strings(uint32_t array, double from, double to);
  [[nodiscard]] const std::vector<uint8_t>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<uint32_t>& ends() const { return ends_; }

  // Arrays are named by small numbers: that of a key-value, or of an element of an array of arrays. Each keeps the
  // index that makes its pages cheap.
  uint32_t array_of_key(uint32_t key);
  uint32_t array_of_element(uint32_t array, double i);
  [[nodiscard]] const KeyValue& array(uint32_t i) const { return arrays_[i].value; }
  /// Text of one string.
  Extent string_at(uint32_t array, double i);

  /// Runs every rule over the whole header; file_size is negative where it is not known. Gives how many findings there
  /// are.
  uint32_t lint(double file_size, const std::string& file_name);
  [[nodiscard]] const Finding& finding(uint32_t i) const { return findings_[i]; }

 private:
  struct IndexedArray {
    KeyValue value;
    ArrayIndex index;
  };
  struct ArrayAt {
    uint64_t offset;  // of its elements
    uint32_t array;
  };

  uint32_t add_array(const KeyValue& value);
  template <class Extents>
  bool gather(const Extents& extents);

  uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  ParseState state_;
  Error error_{};
  std::vector<double> table_;
  std::vector<uint8_t> texts_;
  std::vector<uint32_t> ends_;
  std::vector<Finding> findings_;
  std::vector<IndexedArray> arrays_;
  std::vector<ArrayAt> array_at_;  // ascending
};

}  // namespace ggufscope
