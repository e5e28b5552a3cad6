// The parser of GGUF headers, which continues where its bytes ended.
#include "gguf/parse.hpp"

#include <algorithm>
#include <string>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "gguf/small_blocks.hpp"
#include "gguf/sniff.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t kCountless = ~uint64_t{0};

/// Names what is being read: a part of the header, or of a key or tensor, by its name once that is read. It is turned
/// into words only for an error.
struct Context {
  std::string_view what;
  uint64_t index = kCountless;
  Extent name;

  Context(std::string_view part, uint64_t number = kCountless) : what(part), index(number) {}  // NOLINT: as written
  Context(std::string_view part, Extent entry) : what(part), name(entry) {}

  [[nodiscard]] std::string text(const Gguf& file) const {
    if (name.offset != 0) return sentence({what, " ", Quoted{file.text(name)}});
    return index == kCountless ? std::string(what) : sentence({what, " ", index});
  }
};

/// One call of parse_header. Every step either succeeds, or stores the reason in stop_ and returns false. The state
/// advances only by whole entries, so a step that lacks bytes can simply be repeated.
class Parser {
 public:
  Parser(ByteView bytes, std::optional<uint64_t> file_size, ParseState& state)
      : bytes_(bytes), file_size_(file_size), state_(state), header_(state.header), position_(state.position) {
    if (file_size_) file_size_ = std::max<uint64_t>(*file_size_, bytes.size());
    set_version(header_.version);
  }

  Result<ParseProgress> run() {
    if (header_.info_end != 0) return ParseProgress{true, header_.info_end};
    if (preamble() && key_values() && tensor_infos() && lay_out_data()) return ParseProgress{true, header_.info_end};
    return stop_;
  }

 private:
  void set_version(uint32_t version) { length_bytes_ = version == 1 ? 4 : 8; }

  bool stop(ErrorCode code, uint64_t offset, std::string_view what, Context context) {
    stop_ = fail(code, offset, what, context.text({header_, bytes_}));
    return false;
  }

  /// Checks for n more bytes at position_.
  bool need(uint64_t n, Context context) {
    if (n <= bytes_.size() - position_) return true;
    if (n >= kMaxOffset - position_) return stop(ErrorCode::kOverflow, position_, "length past 2^63", context);
    const uint64_t end = position_ + n;
    if (file_size_ && end > *file_size_) {
      const std::string what = "truncated (at least " + std::to_string(end - *file_size_) + " more bytes expected)";
      return stop(ErrorCode::kTruncated, *file_size_, what, context);
    }
    stop_ = ParseProgress{false, end};
    return false;
  }

  /// Checks that the rest of the file can hold n bytes. A truncated file is reported at once instead of after waiting
  /// for bytes.
  bool must_fit(uint64_t n, Context context) { return !file_size_ || n <= *file_size_ - position_ || need(n, context); }

  template <class T>
  bool read(T& value, Context context) {
    if (!need(sizeof(T), context)) return false;
    value = load<T>(bytes_.data() + position_, header_.big_endian);
    position_ += sizeof(T);
    return true;
  }

  /// Reads a length, a count or a dimension, which has 32 bits in version 1.
  bool read_length(uint64_t& value, Context context) {
    if (length_bytes_ == 8) return read(value, context);
    uint32_t narrow = 0;
    if (!read(narrow, context)) return false;
    value = narrow;
    return true;
  }

  bool read_string(Extent& out, Context context) {
    const uint64_t at = position_;
    if (!read_length(out.length, context)) return false;
    if (out.length > kMaxStringLength) return stop(ErrorCode::kBadLength, at, "a length over 1 GiB", context);
    out.offset = position_;
    if (!need(out.length, context)) return false;
    position_ += out.length;
    return true;
  }

  bool read_value_type(ValueType& out, Context context) {
    uint32_t id = 0;
    if (!read(id, context)) return false;
    if (id >= kValueTypes) {
      const std::string what = "unknown value type " + std::to_string(id);
      return stop(ErrorCode::kBadValueType, position_ - 4, what, context);
    }
    out = static_cast<ValueType>(id);
    return true;
  }

  bool read_count(uint64_t& out, uint64_t limit, Context context) {
    const uint64_t at = position_;
    if (!read_length(out, context)) return false;
    if (out > limit) return stop(ErrorCode::kBadCount, at, "impossible count " + std::to_string(out), context);
    return true;
  }

  [[nodiscard]] uint64_t min_key_value_bytes() const { return length_bytes_ + 4 + 1; }
  [[nodiscard]] uint64_t min_tensor_info_bytes() const { return length_bytes_ + 4 + 4 + 8; }

  bool preamble() {
    if (header_.version != 0) return true;
    if (file_size_ == 0) return stop(ErrorCode::kTruncated, 0, "the file is empty: truncated", {"magic"});
    static constexpr std::string_view kMagic = "GGUF", kDraftMagic = "FUGG";
    const std::string_view seen(reinterpret_cast<const char*>(bytes_.data()), std::min<size_t>(bytes_.size(), 4));
    if (!kMagic.starts_with(seen) && !kDraftMagic.starts_with(seen)) {
      if (!need(std::min(kSniffBytes, file_size_.value_or(kSniffBytes)), {"magic"})) return false;
      stop_ = std::unexpected(
          foreign_file(bytes_.first(static_cast<size_t>(std::min<uint64_t>(bytes_.size(), kSniffBytes)))));
      return false;
    }
    if (!need(8, {"magic and version"})) return false;
    uint32_t version = load<uint32_t>(bytes_.data() + 4);
    // In the wrong byte order, the low 16 bits of a small number are zero.
    const bool big_endian = version != 0 && (version & 0xffff) == 0;
    if (big_endian) version = swap_bytes(version);
    if (version < 1 || version > 3)
      return stop(ErrorCode::kBadVersion, 4, "unknown version " + std::to_string(version), {"header"});

    set_version(version);
    header_.big_endian = big_endian;
    position_ = 8;
    if (!read_count(state_.n_tensors, kMaxEntries, {"tensor count"}) ||
        !read_count(state_.n_key_values, kMaxEntries, {"key-value count"}) ||
        !must_fit(state_.n_key_values * min_key_value_bytes() + state_.n_tensors * min_tensor_info_bytes(),
                  {"declared key-values and tensors"}))
      return false;
    header_.version = version;
    state_.position = position_;
    return true;
  }

  bool key_values() {
    for (;;) {
      if (!open_arrays()) return false;
      if (header_.key_values.size() == state_.n_key_values) return true;
      if (!key_value()) return false;
    }
  }

  bool key_value() {
    KeyValue kv;
    if (!read_string(kv.key, {"key", header_.key_values.size()}) ||
        !read_value_type(kv.type, {"value type of key", kv.key}))
      return false;
    kv.element_type = kv.type;
    if (kv.type == ValueType::kString) {
      if (!read_string(kv.value, {"value of key", kv.key})) return false;
    } else if (kv.type == ValueType::kArray) {
      if (!array(kv, {"array of key", kv.key})) return false;
    } else {
      kv.value = {position_, value_size(kv.type)};
      if (!need(kv.value.length, {"value of key", kv.key})) return false;
      position_ += kv.value.length;
    }
    header_.key_values.push_back(kv);
    state_.position = position_;
    return true;
  }

  /// Reads element type and count. Elements of fixed size are skipped at once; other arrays are opened for
  /// open_arrays().
  bool array(KeyValue& out, Context context) {
    const uint64_t at = position_;
    if (!read_value_type(out.element_type, context) || !read_count(out.count, kMaxArrayElements, context)) return false;
    out.value = {position_, 0};
    if (const uint32_t size = value_size(out.element_type)) {
      out.value.length = out.count * size;
      if (!need(out.value.length, context)) return false;
      position_ += out.value.length;
      return true;
    }
    if (state_.open_arrays.size() == kMaxArrayDepth)
      return stop(ErrorCode::kTooDeep, at, "arrays nested too deep", context);
    const uint64_t min = length_bytes_ + (out.element_type == ValueType::kArray ? 4 : 0);
    if (!must_fit(out.count * min, context)) return false;
    state_.open_arrays.push_back({out.element_type, out.count});
    return true;
  }

  bool open_arrays() {
    auto& open = state_.open_arrays;
    if (open.empty()) return true;
    while (!open.empty()) {
      ParseState::OpenArray& top = open.back();
      if (top.element_type == ValueType::kString) {
        if (!strings(top)) return false;
        open.pop_back();
      } else if (top.remaining == 0) {
        open.pop_back();
      } else {
        KeyValue element;
        const size_t depth = open.size();
        if (!array(element, {"nested array of key", header_.key_values.back().key})) return false;
        --open[depth - 1].remaining;  // not via a reference: array() may have reallocated the vector
        state_.position = position_;
      }
    }
    KeyValue& kv = header_.key_values.back();
    kv.value.length = position_ - kv.value.offset;
    return true;
  }

  /// The hot loop: a vocabulary has some hundred thousand strings.
  bool strings(ParseState::OpenArray& array) {
    const uint8_t* data = bytes_.data();
    const bool big_endian = header_.big_endian, wide = length_bytes_ == 8;
    const uint64_t size = bytes_.size();
    uint64_t at = position_, remaining = array.remaining;
    for (; remaining != 0; --remaining) {
      if (size - at < length_bytes_) break;
      const uint64_t length = wide ? load<uint64_t>(data + at, big_endian) : load<uint32_t>(data + at, big_endian);
      if (length > std::min(size - at - length_bytes_, kMaxStringLength)) break;
      at += length_bytes_ + length;
    }
    state_.position = position_ = at;
    array.remaining = remaining;
    if (remaining == 0) return true;
    Extent text;  // for the error message
    return read_string(text, {"string array of key", header_.key_values.back().key});
  }

  bool tensor_infos() {
    while (header_.tensors.size() < state_.n_tensors) {
      TensorInfo info;
      if (!tensor_info(info)) return false;
      header_.tensors.push_back(info);
      state_.position = position_;
    }
    return true;
  }

  bool tensor_info(TensorInfo& info) {
    info.info_offset = position_;
    if (!read_string(info.name, {"tensor name", header_.tensors.size()}) ||
        !read(info.n_dims, {"dimension count of tensor", info.name}))
      return false;
    if (info.n_dims > kMaxDims) {
      const std::string what = counted(info.n_dims, "dimension");
      return stop(ErrorCode::kBadShape, position_ - 4, what, {"tensor", info.name});
    }
    info.shape.fill(1);
    for (uint32_t i = 0; i < info.n_dims; ++i)
      if (!read_length(info.shape[i], {"shape of tensor", info.name})) return false;
    if (!read(info.type, {"type of tensor", info.name}) || !read(info.relative_offset, {"offset of tensor", info.name}))
      return false;
    return sizes(info) ||
           stop(ErrorCode::kOverflow, info.info_offset, "a shape past 2^63 elements or bytes", {"tensor", info.name});
  }

  /// Computes n_elements and n_bytes. Returns false if one of them reaches 2^63.
  static bool sizes(TensorInfo& info) {
    // A tensor with a zero dimension is valid, whatever the other dimensions are.
    info.n_elements = std::ranges::find(info.shape, 0u) != info.shape.end() ? 0 : 1;
    for (const uint64_t dim : info.shape)
      if (__builtin_mul_overflow(info.n_elements, dim, &info.n_elements) || info.n_elements >= kMaxOffset) return false;
    const TypeGeometry* type = find_gguf_type(info.type);
    if (type == nullptr || type->block_size == 0 || info.shape[0] % type->block_size != 0) return true;
    return !__builtin_mul_overflow(info.n_elements / type->block_size, uint64_t{type->block_bytes}, &info.n_bytes) &&
           info.n_bytes < kMaxOffset;
  }

  /// Computes what depends on all entries, after the last one.
  bool lay_out_data() {
    const std::optional<uint64_t> alignment = get_u64({header_, bytes_}, "general.alignment");
    header_.alignment =
        alignment && *alignment != 0 && *alignment <= UINT32_MAX ? static_cast<uint32_t>(*alignment) : 32;
    const uint64_t beyond = position_ % header_.alignment;
    header_.data_offset = position_ + (beyond == 0 ? 0 : header_.alignment - beyond);
    if (!place_tensors()) return false;
    header_.small_blocks = has_small_blocks(header_, file_size_);
    if (header_.small_blocks) {
      for (TensorInfo& info : header_.tensors) info.n_bytes = small_block_size(info).value_or(info.n_bytes);
      if (!place_tensors()) return false;
    }
    header_.info_end = position_;
    return true;
  }

  bool place_tensors() {
    for (TensorInfo& info : header_.tensors) {
      if (info.relative_offset >= kMaxOffset - header_.data_offset ||
          info.n_bytes >= kMaxOffset - header_.data_offset - info.relative_offset)
        return stop(ErrorCode::kOverflow, info.info_offset, "an offset past 2^63", {"tensor", info.name});
      info.offset = header_.data_offset + info.relative_offset;
    }
    return true;
  }

  ByteView bytes_;
  std::optional<uint64_t> file_size_;
  ParseState& state_;
  Header& header_;
  uint64_t position_;
  uint64_t length_bytes_ = 8;
  Result<ParseProgress> stop_ = ParseProgress{};
};

}  // namespace

Result<ParseProgress> parse_header(ByteView prefix, std::optional<uint64_t> file_size, ParseState& state) {
  return Parser(prefix, file_size, state).run();
}

}  // namespace ggufscope
