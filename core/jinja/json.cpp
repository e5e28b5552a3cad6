// Reads and writes JSON.
#include "jinja/json.hpp"

#include <algorithm>
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/decimal.hpp"

namespace ggufscope::jinja {
namespace {

void put_unit(Writer& out, uint32_t unit, bool content) { put_hex(out, "\\u", unit, 4, content); }

void write_string(const Str& text, bool ascii, Writer& out) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t\f\b";
  constexpr std::string_view kLetters = "\"\\nrtfb";
  const std::string_view view = text.view();
  out.put("\"");
  size_t begin = 0;
  for (size_t i = 0; i < view.size();) {
    const auto byte = static_cast<uint8_t>(view[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x7f || !ascii)) {
      ++i;
      continue;
    }
    out.put_part(text, begin, i);
    const bool content = text.is_content(i);
    const CodePoint c = code_point_at(view, i);
    if (const size_t known = kEscaped.find(view[i]); known != kEscaped.npos) {
      const char pair[] = {'\\', kLetters[known]};
      out.put({pair, 2}, content);
    } else if (c.value < 0x10000) {
      put_unit(out, c.value, content);
    } else {
      put_unit(out, 0xD800 + ((c.value - 0x10000) >> 10), content);
      put_unit(out, 0xDC00 + ((c.value - 0x10000) & 0x3FF), content);
    }
    begin = i += c.length;
  }
  out.put_part(text, begin, view.size());
  out.put("\"");
}

std::string number_text(double value) {
  return std::isnan(value) ? "NaN" : std::isinf(value) ? (value < 0 ? "-Infinity" : "Infinity") : float_text(value);
}

bool write_key(Runtime& r, const Value& key, const JsonStyle& style, Writer& out) {
  if (key.is(Type::kString)) return write_string(*key.str, style.ascii, out), true;
  std::string text;
  if (key.is(Type::kBool))
    text = key.boolean ? "true" : "false";
  else if (key.is_none())
    text = "null";
  else if (key.is(Type::kFloat))
    text = number_text(key.real);
  else if (key.is_int())
    text = integer_text(key);
  else
    return r.fail({"a key of JSON is a string or a number, not ", type_name(key)}).is(Type::kNone);
  out.put("\"" + text + "\"");
  return true;
}

void put_line(const JsonStyle& style, Writer& out, uint32_t level) {
  if (!style.indents) return;
  out.put("\n");
  for (uint32_t i = 0; i < level; ++i) out.put(style.indent);
}

bool write_dict(Runtime& r, const Dict& dict, const JsonStyle& style, Writer& out, uint32_t level) {
  if (dict.n == 0) return out.put("{}"), true;
  std::vector<Value> keys, values;
  for (uint32_t i = 0; i < dict.n; ++i) {
    keys.push_back(dict.entries[i].key);
    values.push_back(dict.entries[i].value);
  }
  if (style.sort_keys && !sort_values(r, keys, values, false)) return false;
  out.put("{");
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) out.put(style.item_separator);
    put_line(style, out, level + 1);
    if (!write_key(r, keys[i], style, out)) return false;
    out.put(style.key_separator);
    if (!write_json(r, values[i], style, out, level + 1)) return false;
  }
  put_line(style, out, level);
  out.put("}");
  return true;
}

bool write_list(Runtime& r, const Seq& list, const JsonStyle& style, Writer& out, uint32_t level) {
  if (list.n == 0) return out.put("[]"), true;
  out.put("[");
  for (uint32_t i = 0; i < list.n; ++i) {
    if (i > 0) out.put(style.item_separator);
    put_line(style, out, level + 1);
    if (!write_json(r, list.items[i], style, out, level + 1)) return false;
  }
  put_line(style, out, level);
  out.put("]");
  return true;
}

class Reader {
 public:
  Reader(Runtime& r, std::string_view text, bool marks) : r_(r), text_(text), marks_(marks) {}

  Value run() {
    const Value value = read(false, {});
    space();
    return value.failed() || pos_ == text_.size() ? value : wrong();
  }

 private:
  Value wrong() { return r_.fail({"the variables are no JSON at byte ", pos_}); }
  void space() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\t' || text_[pos_] == '\r'))
      ++pos_;
  }
  bool skip(char c) {
    space();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  Value read(bool content, std::string_view key) {
    const Nesting nesting(r_);
    if (nesting.over() || !r_.spend()) return Value::fail();
    space();
    const std::string_view rest = text_.substr(pos_);
    if (rest.empty()) return wrong();
    if (rest[0] == '{') return object(content);
    if (rest[0] == '[') return array(content, key);
    if (rest[0] == '"') return string(content, key == "role" || key == "type");
    constexpr std::pair<std::string_view, int> kWords[] = {{"true", 1}, {"false", 0}, {"null", 2}};
    for (const auto& [word, meaning] : kWords) {
      if (!rest.starts_with(word)) continue;
      pos_ += word.size();
      return meaning == 2 ? Value::none() : Value::of(meaning == 1);
    }
    return number();
  }

  Value object(bool content) {
    const bool top = depth_ == 0;
    ++depth_;
    Dict* dict = r_.create<Dict>();
    ++pos_;
    if (dict == nullptr) return Value::fail();
    if (!skip('}')) {
      do {
        space();
        const Value key = pos_ < text_.size() && text_[pos_] == '"' ? string(content, false) : wrong();
        if (key.failed() || !skip(':')) return wrong();
        const std::string_view name = key.str->view();
        const bool within =
            content || (marks_ && top && (name == "messages" || name == "tools" || name == "documents"));
        const Value value = read(within, name);
        if (value.failed() || !insert(r_, *dict, key, value)) return Value::fail();
      } while (skip(','));
      if (!skip('}')) return wrong();
    }
    --depth_;
    return Value::of(dict);
  }

  Value array(bool content, std::string_view key) {
    std::vector<Value> items;
    ++depth_;
    ++pos_;
    if (!skip(']')) {
      do {
        items.push_back(read(content, key));
        if (items.back().failed()) return Value::fail();
      } while (skip(','));
      if (!skip(']')) return wrong();
    }
    --depth_;
    return r_.sequence(Type::kList, items);
  }

  Value number() {
    const size_t begin = pos_;
    bool integer = true;
    if (pos_ < text_.size() && text_[pos_] == '-') ++pos_;
    const size_t digits = pos_;
    for (; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-')
        integer = false;
      else if (c < '0' || c > '9')
        break;
    }
    if (pos_ == digits || text_[digits] < '0' || text_[digits] > '9') return wrong();
    if (integer) return r_.integer(parse_integer(r_.arena, text_.substr(digits, pos_ - digits), 10, digits != begin));
    return Value::of(parse_float(text_.substr(begin, pos_ - begin)));
  }

  bool hex(uint32_t& out) {
    if (text_.size() - pos_ < 4) return false;
    out = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t digit = digit_value(static_cast<uint8_t>(text_[pos_++]));
      if (digit >= 16) return false;
      out = out * 16 + digit;
    }
    return true;
  }

  // Parses the rest of a \u escape. Joins surrogate pairs and replaces lone surrogates.
  bool unicode(std::string& out) {
    uint32_t unit = 0, low = 0;
    if (!hex(unit)) return false;
    if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(pos_).starts_with("\\u")) {
      const size_t before = pos_;
      pos_ += 2;
      if (!hex(low)) return false;
      if (low >= 0xDC00 && low < 0xE000) {
        append_code_point(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        return true;
      }
      pos_ = before;
    }
    append_code_point(out, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit);
    return true;
  }

  Value string(bool content, bool word) {
    constexpr std::string_view kLetters = "\"\\/nrtbf";
    constexpr std::string_view kMeanings = "\"\\/\n\r\t\b\f";
    std::string out;
    for (++pos_; pos_ < text_.size() && text_[pos_] != '"';) {
      const size_t plain = std::min(text_.find_first_of("\"\\", pos_), text_.size());
      out += text_.substr(pos_, plain - pos_);
      pos_ = plain;
      if (pos_ + 1 >= text_.size() || text_[pos_] == '"') continue;
      const char c = text_[pos_ + 1];
      pos_ += 2;
      const size_t known = kLetters.find(c);
      if (known != kLetters.npos)
        out += kMeanings[known];
      else if (c != 'u' || !unicode(out))
        return wrong();
    }
    if (pos_ >= text_.size()) return wrong();
    ++pos_;
    if (word)
      content = content && !std::all_of(out.begin(), out.end(), [](char c) {
                  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
                });
    return r_.string(out, content);
  }

  Runtime& r_;
  std::string_view text_;
  bool marks_;
  size_t pos_ = 0;
  uint32_t depth_ = 0;
};

}  // namespace

bool write_json(Runtime& r, const Value& value, const JsonStyle& style, Writer& out, uint32_t level) {
  const Nesting nesting(r);
  if (nesting.over() || !r.spend()) return false;
  switch (value.type) {
    case Type::kNone:
      return out.put("null"), true;
    case Type::kBool:
      return out.put(value.boolean ? "true" : "false"), true;
    case Type::kInt:
    case Type::kBig:
      return out.put(integer_text(value)), true;
    case Type::kFloat:
      return out.put(number_text(value.real)), true;
    case Type::kString:
      write_string(*value.str, style.ascii, out);
      return r.spend(value.str->size / 32);
    case Type::kList:
    case Type::kTuple:
      return write_list(r, *value.seq, style, out, level);
    case Type::kDict:
      return write_dict(r, *value.dict, style, out, level);
    default:
      return r.fail({"tojson cannot write ", type_name(value)}).is(Type::kNone);
  }
}

Value read_json(Runtime& r, std::string_view text, bool marks) { return Reader(r, text, marks).run(); }

}  // namespace ggufscope::jinja
