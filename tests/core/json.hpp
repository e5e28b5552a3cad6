// A JSON reader that supports what the reference vectors need. {"hex": "..."} is read as a string of those bytes.
#pragma once

#include <boost/test/unit_test.hpp>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode.hpp"

namespace ggufscope::test {

struct Json {
  std::string text;         // of strings, and of numbers, true, false and null as they are written
  std::vector<Json> items;  // of arrays
  std::map<std::string, Json> fields;

  [[nodiscard]] const Json& operator[](const std::string& key) const { return fields.at(key); }
  [[nodiscard]] std::vector<int32_t> integers() const {
    std::vector<int32_t> out;
    for (const Json& item : items) out.push_back(std::stoi(item.text));
    return out;
  }
  [[nodiscard]] std::string bytes() const {
    const auto hex = fields.find("hex");
    if (hex == fields.end()) return text;
    std::string out;
    for (size_t i = 0; i + 1 < hex->second.text.size(); i += 2)
      out.push_back(static_cast<char>(std::stoi(hex->second.text.substr(i, 2), nullptr, 16)));
    return out;
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json value() {
    Json json;
    const char c = peek();
    if (c == '"') {
      json.text = string();
    } else if (c == '[' || c == '{') {
      ++pos_;
      while (peek() != ']' && peek() != '}') {
        if (peek() == ',') ++pos_;
        if (c == '[') {
          json.items.push_back(value());
          continue;
        }
        peek();
        std::string key = string();
        BOOST_REQUIRE(peek() == ':');
        ++pos_;
        json.fields.emplace(std::move(key), value());
      }
      ++pos_;
    } else {
      const size_t end = text_.find_first_of(",]} \n", pos_);
      json.text = text_.substr(pos_, end - pos_);
      pos_ = std::min(end, text_.size());
    }
    return json;
  }

  /// The fields of an object as unparsed text.
  std::map<std::string, std::string> raw_fields() {
    std::map<std::string, std::string> out;
    BOOST_REQUIRE(peek() == '{');
    ++pos_;
    while (peek() != '}') {
      if (peek() == ',') ++pos_;
      peek();
      std::string key = string();
      BOOST_REQUIRE(peek() == ':');
      ++pos_;
      peek();
      const size_t begin = pos_;
      value();
      out.emplace(std::move(key), text_.substr(begin, pos_ - begin));
    }
    return out;
  }

 private:
  char peek() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n')) ++pos_;
    BOOST_REQUIRE(pos_ < text_.size());
    return text_[pos_];
  }
  uint32_t unit() {
    uint32_t value = 0;
    std::from_chars(text_.data() + pos_, text_.data() + pos_ + 4, value, 16);
    pos_ += 4;
    return value;
  }
  std::string string() {
    std::string out;
    for (++pos_; text_.at(pos_) != '"';) {
      const char c = text_[pos_++];
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      const char escape = text_[pos_++];
      if (escape == 'u') {
        uint32_t code = unit();
        if (code >= 0xD800 && code < 0xDC00) {
          pos_ += 2;
          code = 0x10000 + ((code - 0xD800) << 10) + (unit() - 0xDC00);
        }
        append_utf8(out, code);
      } else {
        out.push_back(escape == 'n'   ? '\n'
                      : escape == 't' ? '\t'
                      : escape == 'r' ? '\r'
                      : escape == 'b' ? '\b'
                      : escape == 'f' ? '\f'
                                      : escape);
      }
    }
    ++pos_;
    return out;
  }

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace ggufscope::test
