// Builds a text, with marks for the bytes that are content of messages.
#pragma once

#include <string>
#include <string_view>

#include "jinja/unicode.hpp"
#include "jinja/value.hpp"

namespace ggufscope::jinja {

class Writer {
 public:
  explicit Writer(size_t max_bytes) : max_bytes_(max_bytes) {}

  void put(std::string_view bytes, bool content = false) {
    if (bytes.size() > max_bytes_ - bytes_.size()) {
      over_ = true;
      return;
    }
    if (content && marks_.empty()) marks_.resize(bytes_.size());
    bytes_.append(bytes);
    if (content || !marks_.empty()) marks_.resize(bytes_.size(), content ? 1 : 0);
  }
  void put(const Str& text) { put_part(text, 0, text.size); }
  /// Appends bytes begin to end of a text, with their marks.
  void put_part(const Str& text, size_t begin, size_t end) {
    const std::string_view part = text.view().substr(begin, end - begin);
    if (text.marks == nullptr || text.marks == kAllContent || part.size() > max_bytes_ - bytes_.size())
      return put(part, text.marks != nullptr);
    marks_.resize(bytes_.size());
    bytes_.append(part);
    marks_.append(reinterpret_cast<const char*>(text.marks) + begin, part.size());
  }
  void put_code_point(uint32_t code_point, bool content) {
    std::string bytes;
    append_code_point(bytes, code_point);
    put(bytes, content);
  }

  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// Empty if no byte is content; otherwise one mark for each byte.
  [[nodiscard]] const std::string& marks() const { return marks_; }

 private:
  std::string bytes_, marks_;
  size_t max_bytes_;
  bool over_ = false;
};

}  // namespace ggufscope::jinja
