// The JavaScript interface of the edit module: writes headers and reads the containers before GGUF.
#include <emscripten/bind.h>

#include <string>
#include <vector>

#include "gguf/keys.hpp"
#include "gguf/legacy.hpp"
#include "header_writer.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

struct Failure {
  std::string code;
  std::string message;
  double offset;
};

Failure failure_of(const Error& error) {
  return {std::string(error_name(error.code)), error.message, static_cast<double>(error.offset)};
}

uintptr_t add_source(HeaderWriter& writer, uint32_t n) { return reinterpret_cast<uintptr_t>(writer.add_source(n)); }
uintptr_t add_value(HeaderWriter& writer, uint32_t n) { return reinterpret_cast<uintptr_t>(writer.add_value(n)); }
void add_key(HeaderWriter& writer, const std::string& key, uint32_t type, uint32_t element_type, double count) {
  writer.add_key(key, type, element_type, static_cast<uint64_t>(count));
}
void copy_key_as(HeaderWriter& writer, uint32_t source, uint32_t i, const std::string& key) {
  writer.copy_key_as(source, i, key);
}
void add_tensor(HeaderWriter& writer, const std::string& name, const val& shape, uint32_t type, double n_bytes,
                double offset) {
  writer.add_tensor(name, vecFromJSArray<double>(shape), type, n_bytes, offset);
}
Span header(const HeaderWriter& writer) { return span_of(writer.written().bytes); }
Span offsets(const HeaderWriter& writer) { return span_of(writer.offsets()); }
uint32_t alignment(const HeaderWriter& writer) { return writer.written().alignment; }
double data_bytes(const HeaderWriter& writer) { return static_cast<double>(writer.written().data_bytes); }
Failure writer_failure(const HeaderWriter& writer) { return failure_of(writer.error()); }

/// Reads a file in windows that it requests, and produces a GGUF header.
class LegacyReader {
 public:
  /// Returns where to store the next n bytes of the file, starting at position().
  uintptr_t reserve(uint32_t n) {
    window_.resize(n);
    return reinterpret_cast<uintptr_t>(window_.data());
  }

  /// Returns 0 if everything was read; a positive number if at least that many bytes from position() are needed; -1 on
  /// an error, which failure() describes.
  double advance(double file_size) {
    const Result<LegacyProgress> progress = read_legacy(window_, static_cast<uint64_t>(file_size), state_);
    if (!progress) return fail_with(progress.error());
    if (!progress->complete) return static_cast<double>(progress->at_least);
    Result<LegacyHeader> header = legacy_header(state_);
    if (!header) return fail_with(header.error());
    header_ = std::move(*header);
    return 0;
  }

  [[nodiscard]] double position() const { return static_cast<double>(state_.position); }
  [[nodiscard]] uint32_t version() const { return state_.version; }
  [[nodiscard]] std::string container() const { return std::string(header_.container); }
  [[nodiscard]] Span header() const { return span_of(header_.bytes); }
  [[nodiscard]] Failure failure() const { return failure_of(error_); }

 private:
  double fail_with(const Error& error) {
    error_ = error;
    return -1;
  }

  std::vector<uint8_t> window_;
  LegacyState state_;
  LegacyHeader header_;
  Error error_{};
};

struct Meaning {
  std::string unit;
  std::string text;
};

Meaning key_meaning(const std::string& key) {
  const KeyMeaning* found = find_key_meaning(key);
  return found == nullptr ? Meaning{} : Meaning{std::string(found->unit), std::string(found->meaning)};
}

}  // namespace

EMSCRIPTEN_BINDINGS(edit) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<Failure>("Failure")
      .field("code", &Failure::code)
      .field("message", &Failure::message)
      .field("offset", &Failure::offset);
  value_array<Meaning>("Meaning").element(&Meaning::unit).element(&Meaning::text);
  function("keyMeaning", &key_meaning);
  class_<LegacyReader>("LegacyReader")
      .constructor<>()
      .function("reserve", &LegacyReader::reserve)
      .function("advance", &LegacyReader::advance)
      .function("position", &LegacyReader::position)
      .function("version", &LegacyReader::version)
      .function("container", &LegacyReader::container)
      .function("header", &LegacyReader::header)
      .function("failure", &LegacyReader::failure);
  class_<HeaderWriter>("HeaderWriter")
      .constructor<>()
      .function("addSource", &add_source)
      .function("parseSource", &HeaderWriter::parse_source)
      .function("addValue", &add_value)
      .function("addKey", &add_key)
      .function("copyKey", &HeaderWriter::copy_key)
      .function("copyKeyAs", &copy_key_as)
      .function("addTensor", &add_tensor)
      .function("copyTensor", &HeaderWriter::copy_tensor)
      .function("write", &HeaderWriter::write)
      .function("header", &header)
      .function("offsets", &offsets)
      .function("alignment", &alignment)
      .function("dataBytes", &data_bytes)
      .function("failure", &writer_failure);
}

}  // namespace ggufscope
