// Python's str methods: splitting, stripping, searching, changing case.
#include "jinja/text_ops.hpp"

#include <algorithm>

namespace ggufscope::jinja {
namespace {

void put_image(Writer& out, uint32_t c, CaseMap map, bool content) {
  const CaseImage image = map_case(c, map);
  for (uint32_t i = 0; i < image.n; ++i) out.put_code_point(image.code_points[i], content);
}

// True if a capital sigma ends a word: a cased letter precedes it and none follows, ignoring non-letters.
bool is_final_sigma(std::string_view text, size_t begin, size_t end) {
  bool before = false, after = false;
  for (size_t i = begin; i > 0;) {
    const CodePoint c = code_point_before(text, i);
    i -= c.length;
    if (has(c.value, kCaseIgnorable)) continue;
    before = has(c.value, kCased);
    break;
  }
  for (size_t i = end; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    i += c.length;
    if (has(c.value, kCaseIgnorable)) continue;
    after = has(c.value, kCased);
    break;
  }
  return before && !after;
}

bool is_line_end(uint32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool add_part(Runtime& r, const Str& text, size_t begin, size_t end, std::vector<Value>& out) {
  if (!r.spend()) return false;
  const Value part = r.part(text, begin, end);
  out.push_back(part);
  return !part.failed();
}

// Splits at white space, from the left or from the right.
bool split_words(Runtime& r, const Str& text, int64_t max, bool from_right, std::vector<Value>& out) {
  const std::string_view view = text.view();
  const auto space_at = [&](size_t i) { return has(code_point_at(view, i).value, kSpace); };
  const auto space_before = [&](size_t i) { return has(code_point_before(view, i).value, kSpace); };
  size_t begin = 0, end = view.size();
  const auto skip = [&] {
    if (from_right)
      while (end > begin && space_before(end)) end -= code_point_before(view, end).length;
    else
      while (begin < end && space_at(begin)) begin += code_point_at(view, begin).length;
  };
  for (skip(); begin < end; skip()) {
    size_t edge = from_right ? end : begin;
    if (max >= 0 && static_cast<int64_t>(out.size()) == max) {
      // The rest is kept, except for white space at its far end.
      if (from_right)
        while (end > begin && space_at(begin)) begin += code_point_at(view, begin).length;
      else
        while (end > begin && space_before(end)) end -= code_point_before(view, end).length;
      return add_part(r, text, begin, end, out);
    }
    if (from_right) {
      while (edge > begin && !space_before(edge)) edge -= code_point_before(view, edge).length;
      if (!add_part(r, text, edge, end, out)) return false;
      end = edge;
    } else {
      while (edge < end && !space_at(edge)) edge += code_point_at(view, edge).length;
      if (!add_part(r, text, begin, edge, out)) return false;
      begin = edge;
    }
  }
  return true;
}

}  // namespace

Value change_case(Runtime& r, const Str& text, Casing casing) {
  const std::string_view view = text.view();
  if (!r.spend(view.size())) return Value::fail();
  Writer out = r.writer();
  bool cased_before = false, first = true;
  for (size_t i = 0; i < view.size();) {
    const CodePoint c = code_point_at(view, i);
    const bool content = text.is_content(i);
    CaseMap map = CaseMap::kLower;
    switch (casing) {
      case Casing::kLower:
        break;
      case Casing::kUpper:
        map = CaseMap::kUpper;
        break;
      case Casing::kTitle:
        if (!cased_before) map = CaseMap::kTitle;
        break;
      case Casing::kCapitalize:
        if (first) map = CaseMap::kTitle;
        break;
      case Casing::kSwap:
        if (!has(c.value, kUpper)) map = CaseMap::kUpper;
        break;
      case Casing::kFold:
        map = CaseMap::kFold;
    }
    if (map == CaseMap::kLower && c.value == 0x3A3 && casing != Casing::kFold)
      out.put_code_point(is_final_sigma(view, i, i + c.length) ? 0x3C2 : 0x3C3, content);
    else if (casing == Casing::kSwap && !has(c.value, kUpper | kLower))
      out.put_part(text, i, i + c.length);
    else
      put_image(out, c.value, map, content);
    cased_before = has(c.value, kCased);
    first = false;
    i += c.length;
  }
  return r.string(out, text.markup);
}

Value strip(Runtime& r, const Str& text, const Value& chars, bool left, bool right) {
  const bool white = chars.missing() || chars.is_none();
  if (!white && !chars.is(Type::kString)) return r.fail({"strip wants a string or none, not ", type_name(chars)});
  const std::string_view view = text.view();
  const auto goes = [&](const CodePoint& c, size_t at) {
    return white ? has(c.value, kSpace) : chars.str->view().find(view.substr(at, c.length)) != std::string_view::npos;
  };
  size_t begin = 0, end = view.size();
  while (left && begin < end) {
    const CodePoint c = code_point_at(view, begin);
    if (!goes(c, begin)) break;
    begin += c.length;
  }
  while (right && end > begin) {
    const CodePoint c = code_point_before(view, end);
    if (!goes(c, end - c.length)) break;
    end -= c.length;
  }
  if (!r.spend((begin + view.size() - end) / 16)) return Value::fail();
  return r.part(text, begin, end);
}

Value replace(Runtime& r, const Str& text, const Str& old, const Str& with, int64_t count) {
  const std::string_view view = text.view();
  if (!r.spend(view.size() / 16)) return Value::fail();
  Writer out = r.writer();
  size_t pos = 0;
  if (old.size == 0) {
    for (int64_t n = 0; count < 0 || n < count; ++n) {
      out.put(with);
      if (pos == view.size()) return out.over() ? r.string(out) : r.string(out, text.markup);
      const size_t end = pos + code_point_at(view, pos).length;
      out.put_part(text, pos, end);
      pos = end;
    }
  } else {
    for (int64_t n = 0; count < 0 || n < count; ++n) {
      const size_t found = find_text(r, text, old, pos, view.size(), false);
      if (found == std::string_view::npos) break;
      out.put_part(text, pos, found);
      out.put(with);
      pos = found + old.size;
      if (out.over() || !r.spend()) break;
    }
    if (pos == 0) return Value::of(&text);
  }
  out.put_part(text, pos, view.size());
  return r.problem.code != Problem::Code::kNone ? Value::fail() : r.string(out, text.markup);
}

Value justify(Runtime& r, const Str& text, const Value& width, const Value& fill, Justify how) {
  if (!width.is_int()) return r.fail({"a width is an integer, not ", type_name(width)});
  const bool space = fill.missing();
  if (!space && (!fill.is(Type::kString) || length_of(fill) != 1))
    return r.fail({"what fills a width is one character"});
  const int64_t size = length_of(Value::of(&text));
  const int64_t want = clamp_integer(width);
  if (want <= size) return Value::of(&text);
  if (want > static_cast<int64_t>(r.limits.output_bytes)) return r.limit("it makes a text that is too long");
  const int64_t missing = want - size;
  if (!r.spend(static_cast<uint64_t>(missing) / 16)) return Value::fail();
  const int64_t before = how == Justify::kLeft    ? 0
                         : how == Justify::kRight ? missing
                                                  : missing / 2 + (missing & want & 1);
  Writer out = r.writer();
  for (int64_t i = 0; i < missing; ++i) {
    if (i == before) out.put(text);
    space ? out.put(" ") : out.put(*fill.str);
  }
  if (before == missing) out.put(text);
  return r.string(out, text.markup);
}

size_t byte_of(const Str& text, int64_t character) {
  if (length_of(Value::of(&text)) == text.size) return static_cast<size_t>(character);
  size_t byte = 0;
  for (int64_t i = 0; i < character; ++i) byte += code_point_at(text.view(), byte).length;
  return byte;
}
int64_t character_of(const Str& text, size_t byte) {
  if (length_of(Value::of(&text)) == text.size) return static_cast<int64_t>(byte);
  return count_code_points(text.view().substr(0, byte));
}

size_t find_text(Runtime& r, const Str& text, const Str& part, size_t begin, size_t end, bool last) {
  constexpr size_t kNone = std::string_view::npos;
  if (begin > end || end - begin < part.size) return kNone;
  if (part.size == 0) return last ? end : begin;
  const std::string_view view = text.view().substr(0, end);
  // Candidates count as steps, because a hostile pair of texts makes each comparison long.
  size_t at = last ? end - part.size : begin;
  for (;;) {
    at = last ? view.rfind(part.data[0], at) : view.find(part.data[0], at);
    if (at == kNone || at < begin || end - at < part.size) return kNone;
    size_t same = 1;
    while (same < part.size && view[at + same] == part.data[same]) ++same;
    if (same >= kBytesPerStep && !r.spend(same / kBytesPerStep)) return kNone;
    if (same == part.size) return at;
    if (last && at == begin) return kNone;
    at = last ? at - 1 : at + 1;
  }
}

bool split(Runtime& r, const Str& text, const Str* separator, int64_t max, bool from_right, std::vector<Value>& out) {
  if (!r.spend(text.size / 16)) return false;
  if (separator == nullptr) {
    if (!split_words(r, text, max, from_right, out)) return false;
  } else {
    size_t begin = 0, end = text.size;
    while (max < 0 || static_cast<int64_t>(out.size()) < max) {
      const size_t at = find_text(r, text, *separator, begin, end, from_right);
      if (r.problem.code != Problem::Code::kNone) return false;
      if (at == std::string_view::npos) break;
      const bool added =
          from_right ? add_part(r, text, at + separator->size, end, out) : add_part(r, text, begin, at, out);
      if (!added) return false;
      (from_right ? end : begin) = from_right ? at : at + separator->size;
    }
    if (!add_part(r, text, begin, end, out)) return false;
  }
  if (from_right) std::reverse(out.begin(), out.end());
  return true;
}

bool split_lines(Runtime& r, const Str& text, bool keep_ends, std::vector<Value>& out) {
  const std::string_view view = text.view();
  size_t begin = 0;
  for (size_t i = 0; i < view.size();) {
    const CodePoint c = code_point_at(view, i);
    size_t end = i + c.length;
    if (is_line_end(c.value)) {
      if (c.value == '\r' && end < view.size() && view[end] == '\n') ++end;
      if (!add_part(r, text, begin, keep_ends ? end : i, out)) return false;
      begin = end;
    }
    i = end;
  }
  return begin == view.size() || add_part(r, text, begin, view.size(), out);
}

bool ends_line(std::string_view text) {
  if (text.empty()) return true;
  const uint32_t last = code_point_before(text, text.size()).value;
  return is_line_end(last) && last != '\r';
}

Value plain(Runtime& r, const Value& text) {
  if (!text.str->markup) return text;
  Str str = *text.str;
  str.markup = false;
  return r.make(Type::kString, &Value::str, str);
}

Value join(Runtime& r, const Str& separator, const std::vector<Value>& parts) {
  Writer out = r.writer();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is(Type::kString)) return r.fail({"join wants strings, not ", type_name(parts[i])});
    if (i > 0) out.put(separator);
    const Value part = separator.markup ? escape(r, parts[i]) : parts[i];
    if (part.failed()) return part;
    out.put(*part.str);
  }
  return r.string(out, separator.markup);
}

}  // namespace ggufscope::jinja
