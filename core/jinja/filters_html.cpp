// Filters for HTML and addresses.
#include <algorithm>

#include "jinja/big_int.hpp"
#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

Value escape_text(Runtime& r, const Value* a, const Args&) { return escape(r, a[0]); }

Value force_escape(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  const Value bare = text.failed() ? text : plain(r, text);
  return bare.failed() ? bare : escape(r, bare);
}

Value safe(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  if (text.failed()) return text;
  Str str = *text.str;
  str.markup = true;
  return r.make(Type::kString, &Value::str, str);
}

// Decodes the entities that escape() writes, a few others, and numeric ones.
std::string unescaped(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"amp;", "&"}, {"lt;", "<"}, {"gt;", ">"}, {"quot;", "\""}, {"apos;", "'"}, {"nbsp;", "\xC2\xA0"}};
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '&') {
      out += text[i++];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                     [&](const auto& one) { return rest.starts_with(one.first); });
    const size_t end = rest.find(';');
    if (named != std::end(kNamed)) {
      out += named->second;
      i += named->first.size() + 1;
    } else if (rest.starts_with('#') && end != rest.npos && end > 1 && end < 10) {
      const bool hex = rest[1] == 'x' || rest[1] == 'X';
      uint32_t value = 0;
      bool valid = end > (hex ? 2u : 1u);
      for (const char c : rest.substr(hex ? 2 : 1, end - (hex ? 2 : 1))) {
        const uint32_t digit = digit_value(static_cast<uint8_t>(c));
        valid = valid && digit < (hex ? 16u : 10u);
        value = value * (hex ? 16 : 10) + digit;
      }
      if (valid && value < 0x110000) append_code_point(out, value);
      i += end + 2;
    } else {
      out += text[i++];
    }
  }
  return out;
}

void cut_between(std::string& text, std::string_view open, std::string_view close) {
  std::string out;
  size_t pos = 0;
  for (;;) {
    const size_t begin = text.find(open, pos);
    const size_t end = begin == text.npos ? text.npos : text.find(close, begin);
    if (end == text.npos) break;
    out.append(text, pos, begin - pos);
    pos = end + close.size();
  }
  out.append(text, pos);
  text.swap(out);
}

Value strip_tags(Runtime& r, const Value* a, const Args&) {
  const Value text = to_text(r, a[0]);
  if (text.failed() || !r.spend(text.str->size / 4)) return Value::fail();
  std::string bytes(text.str->view());
  cut_between(bytes, "<!--", "-->");
  cut_between(bytes, "<", ">");
  const Value cut = r.string(bytes, text.str->marks != nullptr), space = r.string(" ");
  std::vector<Value> words;
  if (cut.failed() || space.failed() || !split(r, *cut.str, nullptr, -1, false, words)) return Value::fail();
  const Value joined = join(r, *space.str, words);
  return joined.failed() ? joined : r.string(unescaped(joined.str->view()), text.str->marks != nullptr);
}

bool put_quoted(Runtime& r, const Value& value, bool for_query, Writer& out) {
  const Value text = to_text(r, value);
  if (text.failed() || !r.spend(text.str->size / 8)) return false;
  for (size_t i = 0; i < text.str->size; ++i) {
    const char c = text.str->data[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !for_query)) {
      out.put_part(*text.str, i, i + 1);
    } else if (c == ' ' && for_query) {
      out.put("+", text.str->is_content(i));
    } else {
      const auto byte = static_cast<uint8_t>(c);
      const char hex[] = {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
      out.put({hex, 3}, text.str->is_content(i));
    }
  }
  return true;
}

Value url_encode(Runtime& r, const Value* a, const Args&) {
  Writer out = r.writer();
  if (a[0].is(Type::kString) || !can_iterate(a[0]))
    return put_quoted(r, a[0], false, out) ? r.string(out) : Value::fail();
  std::vector<Value> pairs;
  if (a[0].is(Type::kDict)) {
    for (uint32_t i = 0; i < a[0].dict->n; ++i) {
      const Value pair[] = {a[0].dict->entries[i].key, a[0].dict->entries[i].value};
      pairs.push_back(r.sequence(Type::kTuple, pair, 2));
    }
  } else if (!collect(r, a[0], pairs)) {
    return Value::fail();
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    std::vector<Value> pair;
    if (pairs[i].failed() || !collect(r, pairs[i], pair)) return Value::fail();
    if (pair.size() != 2) return r.fail({"urlencode wants pairs"});
    if (i > 0) out.put("&");
    if (!put_quoted(r, pair[0], true, out)) return Value::fail();
    out.put("=");
    if (!put_quoted(r, pair[1], true, out)) return Value::fail();
  }
  return r.string(out);
}

Value xml_attributes(Runtime& r, const Value* a, const Args&) {
  if (a[0].is(Type::kUndefined)) return r.undefined_error(a[0]);
  if (!a[0].is(Type::kDict)) return r.fail({"xmlattr wants a mapping, not ", type_name(a[0])});
  Writer out = r.writer();
  for (uint32_t i = 0; i < a[0].dict->n; ++i) {
    const Entry& entry = a[0].dict->entries[i];
    if (entry.value.is_none() || entry.value.is(Type::kUndefined)) continue;
    if (!entry.key.is(Type::kString)) return r.fail({"names of attributes are strings, not ", type_name(entry.key)});
    if (entry.key.str->view().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos)
      return r.fail({"an invalid character in the name of an attribute: ", Quoted{entry.key.str->view()}});
    const Value key = escape(r, entry.key), value = escape(r, entry.value);
    if (key.failed() || value.failed()) return Value::fail();
    if (out.size() > 0 || a[1].missing() || truth(a[1])) out.put(" ");
    out.put(*key.str);
    out.put("=\"");
    out.put(*value.str);
    out.put("\"");
  }
  return r.string(out, r.autoescape);
}

constexpr Builtin kHtmlFilterRows[] = {
    {"e", "/", escape_text},
    {"escape", "/", escape_text},
    {"forceescape", "", force_escape},
    {"safe", "", safe},
    {"striptags", "", strip_tags},
    {"urlencode", "", url_encode},
    {"xmlattr", "autospace?", xml_attributes},
};

}  // namespace

constinit const std::span<const Builtin> kHtmlFilters = kHtmlFilterRows;

}  // namespace ggufscope::jinja
