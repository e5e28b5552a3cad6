// Entries from the input are written in every encoding. Each file must read back as the entries, and if it is written
// again in the first encoding, it must equal the first file. Input: a program of keys and tensors.
#include "gguf/write.hpp"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "gguf/parse.hpp"

using namespace ggufscope;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Returns the input's bytes in order; zeros after its end.
struct Input {
  const uint8_t* data;
  size_t size;

  [[nodiscard]] bool empty() const { return size == 0; }
  uint8_t byte() {
    if (size == 0) return 0;
    --size;
    return *data++;
  }
  std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> out(n);
    for (uint8_t& b : out) b = byte();
    return out;
  }
  std::string text(size_t n) {
    const std::vector<uint8_t> raw = bytes(n);
    return {raw.begin(), raw.end()};
  }
};

template <class T>
void append(std::vector<uint8_t>& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  store(&out[at], value);
}

/// Makes the elements of an array, little-endian. Returns their number.
uint64_t make_elements(Input& in, ValueType type, int depth, std::vector<uint8_t>& out) {
  const uint64_t count = in.byte() % 5;
  for (uint64_t i = 0; i < count; ++i) {
    if (type == ValueType::kString) {
      const std::vector<uint8_t> text = in.bytes(in.byte() % 9);
      append(out, uint64_t{text.size()});
      out.insert(out.end(), text.begin(), text.end());
    } else if (type == ValueType::kArray) {
      const ValueType inner = static_cast<ValueType>(in.byte() % (depth < 3 ? kValueTypes : 9));
      std::vector<uint8_t> elements;
      const uint64_t n = make_elements(in, inner, depth + 1, elements);
      append(out, static_cast<uint32_t>(inner));
      append(out, n);
      out.insert(out.end(), elements.begin(), elements.end());
    } else {
      const std::vector<uint8_t> number = in.bytes(value_size(type));
      out.insert(out.end(), number.begin(), number.end());
    }
  }
  return count;
}

struct Entries {
  std::deque<std::string> texts;
  std::deque<std::vector<uint8_t>> values;
  std::vector<WriteKeyValue> key_values;
  std::vector<WriteTensor> tensors;
};

void make_entries(Input& in, Entries& out) {
  while (!in.empty() && out.key_values.size() + out.tensors.size() < 64) {
    const uint8_t kind = in.byte();
    const std::string& name = out.texts.emplace_back(kind == 255 ? "general.alignment" : in.text(in.byte() % 20));
    if (kind < 64) {
      WriteTensor tensor;
      tensor.name = name;
      tensor.n_dims = in.byte() % 5;
      for (uint32_t i = 0; i < tensor.n_dims; ++i) tensor.shape[i] = in.byte() % 7u * 32u;
      tensor.type = in.byte() % 45;
      tensor.n_bytes = in.byte() * uint64_t{in.byte()};
      if (kind < 8) tensor.relative_offset = in.byte() * 8u;
      out.tensors.push_back(tensor);
      continue;
    }
    std::vector<uint8_t>& value = out.values.emplace_back();
    WriteKeyValue kv;
    kv.key = name;
    kv.type = kv.element_type = static_cast<ValueType>(in.byte() % kValueTypes);
    if (kv.type == ValueType::kArray) {
      kv.element_type = static_cast<ValueType>(in.byte() % kValueTypes);
      kv.count = make_elements(in, kv.element_type, 0, value);
    } else {
      value = in.bytes(kv.type == ValueType::kString ? in.byte() % 40 : value_size(kv.type));
    }
    kv.value = value;
    out.key_values.push_back(kv);
  }
}

bool same(ByteView a, ByteView b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in{data, size};
  Entries entries;
  make_entries(in, entries);
  const auto first = write_header({3, false}, entries.key_values, entries.tensors);
  for (const uint32_t version : {2u, 3u})
    for (const bool big_endian : {false, true}) {
      const auto written = write_header({version, big_endian}, entries.key_values, entries.tensors);
      require(written.has_value() == first.has_value());
      if (!written) continue;
      require(written->bytes.size() == first->bytes.size() && written->relative_offsets == first->relative_offsets);
      ParseState state;
      const auto progress = parse_header(written->bytes, std::nullopt, state);
      // Shapes and offsets come from the caller, so the parser may refuse them, but nothing else.
      if (!progress) {
        require(progress.error().code == ErrorCode::kOverflow || progress.error().code == ErrorCode::kBadShape);
        continue;
      }
      const Gguf read{state.header, written->bytes};
      require(progress->complete && read.header.version == version && read.header.big_endian == big_endian);
      require(read.header.alignment == written->alignment && read.header.data_offset == written->bytes.size());
      require(read.header.key_values.size() == entries.key_values.size());
      require(read.header.tensors.size() == entries.tensors.size());

      std::vector<WriteKeyValue> key_values;
      std::vector<WriteTensor> tensors;
      for (size_t i = 0; i < entries.key_values.size(); ++i) {
        const WriteKeyValue& want = entries.key_values[i];
        key_values.push_back(copy_of(read, read.header.key_values[i]));
        const WriteKeyValue& got = key_values.back();
        require(got.key == want.key && got.type == want.type && got.count == want.count);
        require(want.type != ValueType::kArray || got.element_type == want.element_type);
        require(big_endian || same(got.value, want.value));
      }
      for (size_t i = 0; i < entries.tensors.size(); ++i) {
        const WriteTensor& want = entries.tensors[i];
        tensors.push_back(copy_of(read, read.header.tensors[i]));
        const WriteTensor& got = tensors.back();
        require(got.name == want.name && got.n_dims == want.n_dims && got.type == want.type);
        require(got.relative_offset == written->relative_offsets[i]);
        for (uint32_t k = 0; k < want.n_dims; ++k) require(got.shape[k] == want.shape[k]);
      }
      const auto again = write_header({3, false}, key_values, tensors);
      require(again && again->bytes == first->bytes);
    }
  return 0;
}
