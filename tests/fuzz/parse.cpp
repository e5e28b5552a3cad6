// A file that is parsed as a whole must equal the same file parsed in growing prefixes. A parsed file can be inspected,
// linted, used for a tokenizer and written again, and the written file reads back the same.
#include "gguf/parse.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gguf/access.hpp"
#include "gguf/arrays.hpp"
#include "gguf/lint/lint.hpp"
#include "gguf/write.hpp"
#include "text/tokenizer.hpp"

using namespace ggufscope;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(Extent a, Extent b) { return a.offset == b.offset && a.length == b.length; }

void require_same(const Header& a, const Header& b) {
  require(a.version == b.version && a.big_endian == b.big_endian && a.alignment == b.alignment);
  require(a.info_end == b.info_end && a.data_offset == b.data_offset);
  require(a.key_values.size() == b.key_values.size() && a.tensors.size() == b.tensors.size());
  for (size_t i = 0; i < a.key_values.size(); ++i) {
    const KeyValue &x = a.key_values[i], &y = b.key_values[i];
    require(same(x.key, y.key) && same(x.value, y.value) && x.type == y.type && x.count == y.count);
  }
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const TensorInfo &x = a.tensors[i], &y = b.tensors[i];
    require(same(x.name, y.name) && x.shape == y.shape && x.type == y.type && x.offset == y.offset);
  }
}

/// Checks that a file written from the entries has the same header.
void write_again(const Gguf& gguf) {
  std::vector<WriteKeyValue> key_values;
  for (const KeyValue& kv : gguf.header.key_values) key_values.push_back(copy_of(gguf, kv));
  std::vector<WriteTensor> tensors;
  for (const TensorInfo& tensor : gguf.header.tensors) tensors.push_back(copy_of(gguf, tensor));
  for (const bool big_endian : {false, true}) {
    const auto written = write_header({3, big_endian}, key_values, tensors);
    if (!written) continue;
    ParseState state;
    const auto progress = parse_header(written->bytes, std::nullopt, state);
    require(progress && progress->complete && state.header.big_endian == big_endian);
    require(state.header.key_values.size() == key_values.size() && state.header.tensors.size() == tensors.size());
    const Gguf again{state.header, written->bytes};
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TensorInfo &x = gguf.header.tensors[i], &y = state.header.tensors[i];
      require(gguf.text(x.name) == again.text(y.name) && x.shape == y.shape && x.relative_offset == y.relative_offset);
    }
    for (size_t i = 0; i < key_values.size(); ++i) {
      const KeyValue &x = gguf.header.key_values[i], &y = state.header.key_values[i];
      require(gguf.text(x.key) == again.text(y.key) && x.type == y.type && x.count == y.count);
    }
  }
}

void look_into(const Gguf& gguf, uint64_t file_size) {
  for (const KeyValue& kv : gguf.header.key_values) {
    const std::string_view key = gguf.text(kv.key);
    (void)get_u64(gguf, key);
    (void)get_f64(gguf, key);
    (void)get_strings(gguf, key);
    (void)get_integers(gguf, key);
    (void)get_floats(gguf, key);
    ArrayIndex index;
    const uint64_t half = kv.count / 2;
    require(slice(gguf, kv, index, half, half + 3).size() <= 3);
  }
  for (const Finding& finding : lint(gguf, file_size, "fuzz-1M-v1.0-F16.gguf")) require(!finding.message.empty());
  if (const auto tokenizer = Tokenizer::create(gguf)) {
    const auto ids = tokenizer->encode("ab a\n\xE4\xB8\xAD", {.special = true, .bos = true});
    for (const TokenId id : ids) require(id >= 0 && static_cast<size_t>(id) < tokenizer->size());
    (void)tokenizer->decode(ids, {});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView file(data, size);
  ParseState whole;
  const auto at_once = parse_header(file, size, whole);
  if (!at_once) require(at_once.error().offset <= size);

  ParseState grown;
  Result<ParseProgress> progress = ParseProgress{};
  uint32_t random = static_cast<uint32_t>(size) * 2654435761u + 1;
  for (size_t prefix = 0; progress && !progress->complete && prefix < size;) {
    random = random * 1664525 + 1013904223;
    prefix = std::min(size, std::max<size_t>(prefix + 1, prefix + (random >> 20) % 97));
    const std::vector<uint8_t> exact(data, data + prefix);  // a copy of this size, so that reads beyond it are detected
    progress = parse_header(exact, size, grown);
    if (progress && !progress->complete) require(progress->at_least > prefix && progress->at_least <= size);
  }
  if (size == 0) return 0;
  require(at_once.has_value() == progress.has_value());
  if (!at_once) {
    require(at_once.error().code == progress.error().code && at_once.error().offset == progress.error().offset);
    return 0;
  }
  require(at_once->complete == progress->complete);
  if (!at_once->complete) return 0;
  require_same(whole.header, grown.header);
  look_into({whole.header, file}, size);
  write_again({whole.header, file});
  return 0;
}
