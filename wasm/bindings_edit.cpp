// The edit module as JavaScript sees it: the containers before GGUF, read.
#include <emscripten/bind.h>

#include <string>
#include <vector>

#include "gguf/legacy.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

struct Failure {
  std::string code;
  std::string message;
  double offset;
};

/// Reads a file by windows that it asks for; what comes out is a GGUF header.
class LegacyReader {
 public:
  /// Where the next n bytes of the file from position() on go.
  uintptr_t reserve(uint32_t n) {
    window_.resize(n);
    return reinterpret_cast<uintptr_t>(window_.data());
  }

  /// 0: all is read; > 0: at least so many bytes from position() on are needed; -1: failure().
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
  [[nodiscard]] Failure failure() const {
    return {std::string(error_name(error_.code)), error_.message, static_cast<double>(error_.offset)};
  }

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

}  // namespace

EMSCRIPTEN_BINDINGS(edit) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<Failure>("Failure")
      .field("code", &Failure::code)
      .field("message", &Failure::message)
      .field("offset", &Failure::offset);
  class_<LegacyReader>("LegacyReader")
      .constructor<>()
      .function("reserve", &LegacyReader::reserve)
      .function("advance", &LegacyReader::advance)
      .function("position", &LegacyReader::position)
      .function("version", &LegacyReader::version)
      .function("container", &LegacyReader::container)
      .function("header", &LegacyReader::header)
      .function("failure", &LegacyReader::failure);
}

}  // namespace ggufscope
