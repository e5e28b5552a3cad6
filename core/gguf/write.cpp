// Encodes a header in a version and byte order.
#include "gguf/write.hpp"

#include <algorithm>
#include <string>

#include "gguf/parse.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxAlignment = 1 << 24;  // limited because the padding is stored in memory

/// Appends values in the target encoding, converted from the encoding of each value.
class Writer {
 public:
  explicit Writer(Encoding target) : target_(target) {}

  std::vector<uint8_t> out;

  void raw(const void* data, size_t n) {
    const uint8_t* p = static_cast<const uint8_t*>(data);
    out.insert(out.end(), p, p + n);
  }

  template <class T>
  void put(T value) {
    if (target_.big_endian) value = swap_bytes(value);
    raw(&value, sizeof(T));
  }

  void string(std::string_view text) {
    put(uint64_t{text.size()});
    raw(text.data(), text.size());
  }

  /// Returns false if the bytes do not match the type and count.
  bool value(const WriteKeyValue& kv) {
    rest_ = kv.value;
    source_ = kv.encoding;
    if (kv.type == ValueType::kString) {
      string({reinterpret_cast<const char*>(rest_.data()), rest_.size()});
      return true;
    }
    if (kv.type != ValueType::kArray) return numbers(value_size(kv.type), 1) && rest_.empty();
    return elements(kv.element_type, kv.count, 0) && rest_.empty();
  }

 private:
  bool elements(ValueType type, uint64_t count, size_t depth) {
    if (static_cast<uint32_t>(type) >= kValueTypes || count > rest_.size()) return false;
    put(static_cast<uint32_t>(type));
    put(count);
    if (const uint32_t size = value_size(type)) return numbers(size, count);
    if (depth == kMaxArrayDepth) return false;
    for (uint64_t i = 0; i < count; ++i) {
      if (type == ValueType::kString) {
        uint64_t n = 0;
        if (!take_length(n) || n > rest_.size()) return false;
        string({reinterpret_cast<const char*>(rest_.data()), static_cast<size_t>(n)});
        rest_ = rest_.subspan(static_cast<size_t>(n));
      } else {
        uint32_t inner = 0;
        uint64_t n = 0;
        if (!take(inner) || !take_length(n) || !elements(static_cast<ValueType>(inner), n, depth + 1)) return false;
      }
    }
    return true;
  }

  bool numbers(uint32_t size, uint64_t count) {
    if (size == 0 || count > rest_.size() / size) return false;
    const size_t n = static_cast<size_t>(count) * size;
    const size_t at = out.size();
    raw(rest_.data(), n);
    rest_ = rest_.subspan(n);
    if (size > 1 && source_.big_endian != target_.big_endian)
      for (size_t i = at; i < out.size(); i += size) std::reverse(&out[i], &out[i] + size);
    return true;
  }

  template <class T>
  bool take(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    value = load<T>(rest_.data(), source_.big_endian);
    rest_ = rest_.subspan(sizeof(T));
    return true;
  }

  bool take_length(uint64_t& n) {
    if (source_.version != 1) return take(n);
    uint32_t narrow = 0;
    const bool taken = take(narrow);
    n = narrow;
    return taken;
  }

  Encoding target_;
  Encoding source_;
  ByteView rest_;
};

/// general.alignment among the entries: 32 if absent, nullopt if it is not a u32 in range.
std::optional<uint32_t> alignment_of(std::span<const WriteKeyValue> key_values) {
  for (const WriteKeyValue& kv : key_values) {
    if (kv.key != "general.alignment") continue;
    if (kv.type != ValueType::kU32 || kv.value.size() != 4) return std::nullopt;
    const uint32_t alignment = load<uint32_t>(kv.value.data(), kv.encoding.big_endian);
    return alignment != 0 && alignment <= kMaxAlignment ? std::optional(alignment) : std::nullopt;
  }
  return 32;
}

}  // namespace

Result<WrittenHeader> write_header(Encoding target, std::span<const WriteKeyValue> key_values,
                                   std::span<const WriteTensor> tensors) {
  if (target.version != 2 && target.version != 3)
    return fail(ErrorCode::kUnsupported, "cannot write version " + std::to_string(target.version) + ": 2 or 3");
  const std::optional<uint32_t> alignment = alignment_of(key_values);
  if (!alignment) return fail(ErrorCode::kBadAlignment, "general.alignment must be a u32 from 1 to 2^24");

  WrittenHeader header;
  header.alignment = *alignment;
  header.relative_offsets.reserve(tensors.size());
  Writer writer(target);
  writer.raw("GGUF", 4);
  writer.put(target.version);
  writer.put(uint64_t{tensors.size()});
  writer.put(uint64_t{key_values.size()});

  for (const WriteKeyValue& kv : key_values) {
    writer.string(kv.key);
    writer.put(static_cast<uint32_t>(kv.type));
    if (!writer.value(kv))
      return fail(ErrorCode::kInvalidArgument, "the bytes of " + std::string(kv.key) + " are not what its type says");
  }

  for (const WriteTensor& tensor : tensors) {
    const std::string name(tensor.name);
    if (tensor.n_dims > kMaxDims) return fail(ErrorCode::kBadShape, "tensor " + name + " has too many dimensions");
    const uint64_t offset = tensor.relative_offset.value_or(header.data_bytes);
    if (offset >= kMaxOffset || tensor.n_bytes >= kMaxOffset - offset - *alignment)
      return fail(ErrorCode::kOverflow, "tensor " + name + " would end past 2^63");
    header.relative_offsets.push_back(offset);
    header.data_bytes = std::max(header.data_bytes, align_up(offset + tensor.n_bytes, *alignment));
    writer.string(tensor.name);
    writer.put(tensor.n_dims);
    for (uint32_t i = 0; i < tensor.n_dims; ++i) writer.put(tensor.shape[i]);
    writer.put(tensor.type);
    writer.put(offset);
  }

  header.bytes = std::move(writer.out);
  header.bytes.resize(static_cast<size_t>(align_up(header.bytes.size(), *alignment)));
  return header;
}

WriteKeyValue copy_of(const Gguf& gguf, const KeyValue& kv) {
  const ByteView value = gguf.bytes.subspan(static_cast<size_t>(kv.value.offset), static_cast<size_t>(kv.value.length));
  return {gguf.text(kv.key), kv.type, kv.element_type, kv.count, value, {gguf.header.version, gguf.header.big_endian}};
}

WriteTensor copy_of(const Gguf& gguf, const TensorInfo& tensor) {
  return {gguf.text(tensor.name), tensor.n_dims, tensor.shape, tensor.type, tensor.n_bytes, tensor.relative_offset};
}

std::vector<uint8_t> encode_strings(std::span<const std::string_view> strings) {
  Writer writer({});
  for (const std::string_view text : strings) writer.string(text);
  return std::move(writer.out);
}

}  // namespace ggufscope
