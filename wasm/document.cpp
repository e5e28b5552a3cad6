// Reads the header of one open file, and makes the tables and texts that JavaScript copies.
#include "document.hpp"

#include <algorithm>
#include <array>

#include "base/sentence.hpp"
#include "base/utf8.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t kMaxSafeInteger = (uint64_t{1} << 53) - 1;

/// JavaScript's numbers are exact up to 2^53. A tensor beyond that cannot be real, and is refused instead of rounded.
std::optional<Error> unsafe_tensor(const Gguf& file) {
  for (const TensorInfo& tensor : file.header.tensors) {
    const bool safe = tensor.offset <= kMaxSafeInteger && tensor.n_bytes <= kMaxSafeInteger &&
                      tensor.n_elements <= kMaxSafeInteger &&
                      std::ranges::all_of(tensor.shape, [](uint64_t dim) { return dim <= kMaxSafeInteger; });
    if (safe) continue;
    return fail(ErrorCode::kOverflow, tensor.info_offset, "a number past 2^53",
                sentence({"tensor ", Quoted{file.text(tensor.name)}}))
        .error();
  }
  return std::nullopt;
}

}  // namespace

uint8_t* Document::reserve(size_t n) {
  if (n > SIZE_MAX - size_) return nullptr;
  if (size_ + n > capacity_) {
    // The buffer grows by at least half, so that adding chunks takes linear time.
    const size_t wanted = std::max(size_ + n, capacity_ + std::min(capacity_ / 2, SIZE_MAX - capacity_));
    void* grown = std::realloc(bytes_, wanted);
    if (grown == nullptr) grown = std::realloc(bytes_, size_ + n);
    if (grown == nullptr) return nullptr;
    bytes_ = static_cast<uint8_t*>(grown);
    capacity_ = wanted;
  }
  return bytes_ + size_;
}

double Document::advance(size_t n, double file_size) {
  size_ += n;
  const auto size = file_size < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(file_size));
  const Result<ParseProgress> progress = parse_header(bytes(), size, state_);
  if (!progress) {
    error_ = progress.error();
    return -1;
  }
  if (!progress->complete) return static_cast<double>(progress->at_least);
  if (const auto error = unsafe_tensor(gguf())) {
    error_ = *error;
    return -1;
  }
  return 0;
}

const std::vector<double>& Document::key_table() {
  table_.clear();
  for (const KeyValue& kv : header().key_values) {
    for (const uint64_t x : {static_cast<uint64_t>(kv.type), static_cast<uint64_t>(kv.element_type), kv.count,
                             kv.value.offset, kv.value.length})
      table_.push_back(static_cast<double>(x));
  }
  return table_;
}

const std::vector<double>& Document::tensor_table() {
  table_.clear();
  for (const TensorInfo& tensor : header().tensors) {
    for (const uint64_t x :
         {uint64_t{tensor.type}, tensor.offset, tensor.n_bytes, tensor.n_elements, uint64_t{tensor.n_dims}})
      table_.push_back(static_cast<double>(x));
    for (const uint64_t dim : tensor.shape) table_.push_back(static_cast<double>(dim));
  }
  return table_;
}

template <class Extents>
bool Document::gather(const Extents& extents) {
  texts_.clear();
  ends_.clear();
  bool valid = true;
  uint64_t units = 0;
  for (const Extent& text : extents) {
    const auto view = bytes().subspan(static_cast<size_t>(text.offset), static_cast<size_t>(text.length));
    texts_.insert(texts_.end(), view.begin(), view.end());
    const auto length = valid ? utf16_length(view) : std::nullopt;
    valid = length.has_value();
    units += length.value_or(0);
    ends_.push_back(static_cast<uint32_t>(units));
  }
  if (valid) return true;
  uint32_t end = 0;
  size_t i = 0;
  for (const Extent& text : extents) ends_[i++] = end += static_cast<uint32_t>(text.length);
  return false;
}

bool Document::gather_keys() {
  std::vector<Extent> extents;
  for (const KeyValue& kv : header().key_values) extents.push_back(kv.key);
  return gather(extents);
}

bool Document::gather_tensor_names() {
  std::vector<Extent> extents;
  for (const TensorInfo& tensor : header().tensors) extents.push_back(tensor.name);
  return gather(extents);
}

bool Document::gather_strings(uint32_t array, double from, double to) {
  IndexedArray& it = arrays_[array];
  std::vector<Extent> extents;
  for (const KeyValue& element :
       slice(gguf(), it.value, it.index, static_cast<uint64_t>(from), static_cast<uint64_t>(to)))
    extents.push_back(element.value);
  return gather(extents);
}

Extent Document::string_at(uint32_t array, double i) {
  IndexedArray& it = arrays_[array];
  const auto elements = slice(gguf(), it.value, it.index, static_cast<uint64_t>(i), static_cast<uint64_t>(i) + 1);
  return elements.empty() ? Extent{} : elements.front().value;
}

uint32_t Document::lint(double file_size, const std::string& file_name, uint32_t scope) {
  const auto size = file_size < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(file_size));
  findings_ = ggufscope::lint(gguf(), size, file_name, static_cast<LintScope>(1u << scope));
  return static_cast<uint32_t>(findings_.size());
}

uint32_t Document::add_array(const KeyValue& value) {
  const auto at = std::ranges::lower_bound(array_at_, value.value.offset, {}, &ArrayAt::offset);
  if (at != array_at_.end() && at->offset == value.value.offset) return at->array;
  const auto array = static_cast<uint32_t>(arrays_.size());
  array_at_.insert(at, {value.value.offset, array});
  arrays_.push_back({value, {}});
  return array;
}

uint32_t Document::array_of_key(uint32_t key) { return add_array(header().key_values[key]); }

uint32_t Document::array_of_element(uint32_t array, double i) {
  IndexedArray& it = arrays_[array];
  return add_array(slice(gguf(), it.value, it.index, static_cast<uint64_t>(i), static_cast<uint64_t>(i) + 1).front());
}

}  // namespace ggufscope
