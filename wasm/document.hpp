// The header of one open file in the wasm heap: the bytes received so far, the parser's state, and the tables and texts
// that JavaScript copies. References and pointers that a function returns are valid until the next call of any
// function.
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

  /// Returns where to store the next n bytes of the file, or nullptr if memory is exhausted.
  uint8_t* reserve(size_t n);

  /// Parses after n bytes were stored there. Returns 0 if the header is complete; a positive number if at least that
  /// many bytes of the file are needed; -1 on an error, which error() describes. file_size: negative if unknown.
  double advance(size_t n, double file_size);

  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const ParseState& state() const { return state_; }
  [[nodiscard]] const Header& header() const { return state_.header; }
  [[nodiscard]] ByteView bytes() const { return {bytes_, size_}; }
  [[nodiscard]] Gguf gguf() const { return {state_.header, bytes()}; }

  /// kKeyColumns numbers for each key-value: type, element type, count, value offset, value length.
  const std::vector<double>& key_table();
  /// kTensorColumns numbers for each tensor: type, offset, bytes, elements, dimensions, shape[kMaxDims].
  const std::vector<double>& tensor_table();

  // Texts are returned as one sequence of bytes and the end of each text. True: all are valid UTF-8 and the ends count
  // UTF-16 code units, so that JavaScript can decode once and slice. False: the ends count bytes, and each text must be
  // decoded separately.
  bool gather_keys();
  bool gather_tensor_names();
  /// Elements [from, to) of an array of strings.
  bool gather_strings(uint32_t array, double from, double to);
  [[nodiscard]] const std::vector<uint8_t>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<uint32_t>& ends() const { return ends_; }

  // Arrays are identified by small numbers, from a key-value or from an element of an array of arrays. Each keeps an
  // index that makes it fast to read ranges.
  uint32_t array_of_key(uint32_t key);
  uint32_t array_of_element(uint32_t array, double i);
  [[nodiscard]] const KeyValue& array(uint32_t i) const { return arrays_[i].value; }
  /// The text of one string.
  Extent string_at(uint32_t array, double i);

  /// Runs lint rules over the complete header and returns the number of findings. file_size: negative if unknown.
  /// scope: the number of a bit of LintScope.
  uint32_t lint(double file_size, const std::string& file_name, uint32_t scope);
  [[nodiscard]] const Finding& finding(uint32_t i) const { return findings_[i]; }

 private:
  struct IndexedArray {
    KeyValue value;
    ArrayIndex index;
  };
  struct ArrayAt {
    uint64_t offset;  // of the array's elements
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
  std::vector<ArrayAt> array_at_;  // sorted
};

}  // namespace ggufscope
