// Filters that break text into lines: wordwrap as Python's textwrap, pprint as its pprint.
#include <algorithm>

#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

bool is_blank(uint32_t c) { return c == ' ' || (c >= 9 && c <= 13); }
bool is_letter(uint32_t c) { return is_word(c) && !has(c, kDecimal); }
bool is_word_punctuation(uint32_t c) {
  return is_word(c) || (c < 128 && std::string_view("!\"'&.,?").find(static_cast<char>(c)) != std::string_view::npos);
}

// A line as code points, with the byte where each begins.
struct Line {
  std::vector<uint32_t> code_points;
  std::vector<size_t> bytes;
  std::vector<size_t> dashes;  // for each position in a run of dashes, where the run ends

  explicit Line(std::string_view text) {
    for (size_t i = 0; i < text.size();) {
      const CodePoint c = code_point_at(text, i);
      code_points.push_back(c.value);
      bytes.push_back(i);
      i += c.length;
    }
    bytes.push_back(text.size());
    dashes.resize(code_points.size());
    for (size_t i = code_points.size(); i-- > 0;)
      dashes[i] = code_points[i] != '-' ? i : i + 1 < size() ? std::max(dashes[i + 1], i + 1) : i + 1;
  }
  [[nodiscard]] size_t size() const { return code_points.size(); }
  [[nodiscard]] uint32_t at(size_t i) const { return i < size() ? code_points[i] : 0; }
  [[nodiscard]] bool letter(size_t i) const { return i < size() && is_letter(code_points[i]); }

  /// True at an em dash ("--") after a word and before another.
  [[nodiscard]] bool em_dash(size_t i) const {
    if (i == 0 || at(i) != '-' || !is_word_punctuation(at(i - 1))) return false;
    const size_t end = dashes[i];
    return end - i >= 2 && end < size() && is_word(at(end));
  }
  /// True at a hyphen between letters of a word.
  [[nodiscard]] bool hyphen(size_t i) const {
    if (at(i) != '-') return false;
    const bool two = i >= 2 && letter(i - 1) && letter(i - 2);
    const bool linked = i >= 3 && letter(i - 1) && at(i - 2) == '-' && letter(i - 3);
    return (two || linked) && letter(i + 1) && (letter(i + 2) || (at(i + 2) == '-' && letter(i + 3)));
  }
  [[nodiscard]] size_t chunk_end(size_t i, bool hyphens) const {
    size_t end = i + 1;
    if (is_blank(at(i))) {
      while (end < size() && is_blank(at(end))) ++end;
      return end;
    }
    if (hyphens && em_dash(i)) return dashes[i];
    for (; end < size() && !is_blank(at(end)); ++end) {
      if (!hyphens) continue;
      if (hyphen(end)) return end + 1;
      if (em_dash(end)) return end;
    }
    return end;
  }
};

struct Chunk {
  size_t begin, end;
};

struct Wrapper {
  Runtime& r;
  const Str& text;
  Line line;
  int64_t width;
  bool break_words, break_hyphens;
  std::vector<Value> lines = {};

  [[nodiscard]] bool blank(const Chunk& c) const {
    for (size_t i = c.begin; i < c.end; ++i)
      if (!has(line.at(i), kSpace)) return false;
    return true;
  }

  // Takes the part of a word that fits. Returns false if none does.
  bool cut(Chunk& chunk, std::vector<Chunk>& current, int64_t room) {
    if (!break_words) {
      if (!current.empty()) return false;
      current.push_back(chunk);
      chunk.begin = chunk.end;
      return true;
    }
    size_t end =
        chunk.begin + static_cast<size_t>(std::min<int64_t>(room, static_cast<int64_t>(chunk.end - chunk.begin)));
    if (break_hyphens && static_cast<int64_t>(chunk.end - chunk.begin) > room) {
      size_t last = end;
      while (last > chunk.begin && line.at(last - 1) != '-') --last;
      const auto first = line.code_points.begin() + static_cast<std::ptrdiff_t>(chunk.begin);
      const bool words =
          last > chunk.begin + 1 && std::any_of(first, line.code_points.begin() + static_cast<std::ptrdiff_t>(last - 1),
                                                [](uint32_t c) { return c != '-'; });
      if (words) end = last;
    }
    current.push_back({chunk.begin, end});
    chunk.begin = end;
    return true;
  }

  bool flush(std::vector<Chunk>& current) {
    if (!current.empty() && blank(current.back())) current.pop_back();
    if (current.empty()) return true;
    lines.push_back(r.part(text, line.bytes[current.front().begin], line.bytes[current.back().end]));
    current.clear();
    return !lines.back().failed() && r.spend();
  }

  bool run() {
    std::vector<Chunk> chunks, current;
    for (size_t i = 0; i < line.size();) {
      const size_t end = line.chunk_end(i, break_hyphens);
      chunks.push_back({i, end});
      i = end;
    }
    for (size_t i = 0; i < chunks.size();) {
      if (blank(chunks[i]) && !lines.empty()) ++i;
      int64_t used = 0;
      const auto size = [&](const Chunk& c) { return static_cast<int64_t>(c.end - c.begin); };
      for (; i < chunks.size() && used + size(chunks[i]) <= width; ++i) {
        current.push_back(chunks[i]);
        used += size(chunks[i]);
      }
      if (i < chunks.size() && size(chunks[i]) > width && cut(chunks[i], current, width - used) &&
          chunks[i].begin == chunks[i].end)
        ++i;
      if (!flush(current)) return false;
    }
    return true;
  }
};

Value word_wrap(Runtime& r, const Value* a, const Args&) {
  if (a[0].is(Type::kUndefined)) return r.undefined_error(a[0]);
  if (!a[0].is(Type::kString)) return r.fail({"wordwrap wants a string, not ", type_name(a[0])});
  const Value width = a[1].missing() ? Value::of(int64_t{79}) : a[1];
  const Value between = a[3].missing() || a[3].is_none() ? r.string("\n") : a[3];
  if (!width.is_int() || !between.is(Type::kString))
    return r.fail({"wordwrap wants an integer as width, and a string between lines"});
  std::vector<Value> paragraphs, out;
  if (!split_lines(r, *a[0].str, false, paragraphs) || !r.spend(a[0].str->size / 4)) return Value::fail();
  if (!paragraphs.empty() && clamp_integer(width) <= 0) return r.fail({"wordwrap wants a width above 0"});
  for (const Value& paragraph : paragraphs) {
    Wrapper wrapper = {r,
                       *paragraph.str,
                       Line(paragraph.str->view()),
                       clamp_integer(width),
                       a[2].missing() || truth(a[2]),
                       a[4].missing() || truth(a[4])};
    if (!wrapper.run()) return Value::fail();
    out.push_back(join(r, *between.str, wrapper.lines));
    if (out.back().failed()) return Value::fail();
  }
  return join(r, *between.str, out);
}

// A copy of the value with the keys of its dicts sorted.
Value in_order(Runtime& r, const Value& value) {
  const Nesting nesting(r);
  if (nesting.over()) return Value::fail();
  std::vector<Value> items, keys;
  if (value.is_seq()) {
    for (uint32_t i = 0; i < value.seq->n; ++i) {
      items.push_back(in_order(r, value.seq->items[i]));
      if (items.back().failed()) return items.back();
    }
    return r.sequence(value.type, items);
  }
  if (!value.is(Type::kDict)) return value;
  // Keys that do not compare are ordered by the names of their types: NoneType, numbers, str, tuple.
  std::vector<Value> ranked;
  size_t tuples = 0;
  for (uint32_t i = 0; i < value.dict->n; ++i) {
    const Value& key = value.dict->entries[i].key;
    keys.push_back(key);
    items.push_back(in_order(r, value.dict->entries[i].value));
    if (items.back().failed()) return items.back();
    const int64_t rank = key.is_none() ? 0 : key.is_number() ? 1 : key.is(Type::kString) ? 2 : 3;
    tuples += rank == 3 ? 1 : 0;
    const std::vector<Value> pair = {Value::of(rank), rank == 1 || rank == 2 ? key : Value::of(int64_t{0})};
    ranked.push_back(r.sequence(Type::kTuple, pair));
    if (ranked.back().failed()) return ranked.back();
  }
  if (tuples < 2) {
    std::vector<Value> again = ranked;
    if (!sort_values(r, ranked, items, false) || !sort_values(r, again, keys, false)) return Value::fail();
  }
  Dict* dict = r.create<Dict>();
  for (size_t i = 0; dict != nullptr && i < keys.size(); ++i)
    if (!insert(r, *dict, keys[i], items[i])) return Value::fail();
  return dict != nullptr ? Value::of(dict) : Value::fail();
}

class Pretty {
 public:
  explicit Pretty(Runtime& r, Writer& out) : r_(r), out_(out) {}

  bool write(const Value& value, int64_t indent, int64_t allowance, int level) {
    const Nesting nesting(r_);
    const Value repr = nesting.over() ? Value::fail() : repr_of(value);
    if (repr.failed()) return false;
    const bool parts = value.is_seq() || value.is(Type::kDict) || (value.is(Type::kString) && !value.str->markup);
    if (!parts || length_of(repr) <= kWidth - indent - allowance) return out_.put(*repr.str), true;
    if (value.is(Type::kString)) return write_string(value, indent, allowance, level + 1);
    if (value.is(Type::kDict)) return write_dict(*value.dict, indent, allowance + 1, level + 1);
    const bool list = value.is(Type::kList);
    const std::string_view end = list ? "]" : value.seq->n == 1 ? ",)" : ")";
    out_.put(list ? "[" : "(");
    for (uint32_t i = 0; i < value.seq->n; ++i) {
      if (i > 0) new_line(",", indent + 1);
      const bool last = i + 1 == value.seq->n;
      if (!write(value.seq->items[i], indent + 1, last ? allowance + static_cast<int64_t>(end.size()) : 1, level + 1))
        return false;
    }
    out_.put(end);
    return true;
  }

 private:
  static constexpr int64_t kWidth = 80;

  Value repr_of(const Value& value) {
    Writer made = r_.writer();
    return write_repr(r_, value, made) ? r_.string(made) : Value::fail();
  }
  void new_line(std::string_view after, int64_t indent) {
    out_.put(after);
    out_.put("\n");
    out_.put(std::string(static_cast<size_t>(indent), ' '));
  }

  bool write_dict(const Dict& dict, int64_t indent, int64_t allowance, int level) {
    out_.put("{");
    for (uint32_t i = 0; i < dict.n; ++i) {
      if (i > 0) new_line(",", indent + 1);
      const Value key = repr_of(dict.entries[i].key);
      if (key.failed()) return false;
      out_.put(*key.str);
      out_.put(": ");
      const bool last = i + 1 == dict.n;
      if (!write(dict.entries[i].value, indent + 1 + length_of(key) + 2, last ? allowance : 1, level)) return false;
    }
    out_.put("}");
    return true;
  }

  // Splits a line that is too long into chunks of words, each followed by its white space.
  bool chunk_line(const Str& line, int64_t width, int64_t last_width, std::vector<Value>& chunks) {
    size_t begin = 0;
    std::vector<size_t> ends;
    for (size_t i = 0; i < line.size;) {
      while (i < line.size && !has(code_point_at(line.view(), i).value, kSpace))
        i += code_point_at(line.view(), i).length;
      while (i < line.size && has(code_point_at(line.view(), i).value, kSpace))
        i += code_point_at(line.view(), i).length;
      ends.push_back(i);
    }
    size_t current = 0;
    for (size_t j = 0; j < ends.size(); ++j) {
      const Value candidate = r_.part(line, begin, ends[j]);
      const Value repr = candidate.failed() ? candidate : repr_of(candidate);
      if (repr.failed()) return false;
      if (length_of(repr) > (j + 1 == ends.size() ? last_width : width) && current > begin) {
        chunks.push_back(repr_of(r_.part(line, begin, current)));
        begin = current;
      }
      current = ends[j];
    }
    if (current > begin) chunks.push_back(repr_of(r_.part(line, begin, current)));
    return r_.problem.code == Problem::Code::kNone;
  }

  bool write_string(const Value& value, int64_t indent, int64_t allowance, int level) {
    std::vector<Value> lines, chunks;
    if (!split_lines(r_, *value.str, true, lines)) return false;
    if (level == 1) {
      ++indent;
      ++allowance;
    }
    Value repr;
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      const int64_t width = kWidth - indent;
      repr = repr_of(lines[i]);
      if (repr.failed()) return false;
      if (length_of(repr) <= (last ? width - allowance : width))
        chunks.push_back(repr);
      else if (!chunk_line(*lines[i].str, width, last ? width - allowance : width, chunks))
        return false;
    }
    if (chunks.size() == 1) return out_.put(*repr.str), true;
    if (level == 1) out_.put("(");
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (i > 0) new_line("", indent);
      out_.put(*chunks[i].str);
    }
    if (level == 1) out_.put(")");
    return true;
  }

  Runtime& r_;
  Writer& out_;
};

Value pretty_print(Runtime& r, const Value* a, const Args&) {
  const Value ordered = in_order(r, a[0]);
  Writer out = r.writer();
  return !ordered.failed() && Pretty(r, out).write(ordered, 0, 0, 0) ? r.string(out) : Value::fail();
}

constexpr Builtin kLayoutFilterRows[] = {
    {"pprint", "", pretty_print},
    {"wordwrap", "width? break_long_words? wrapstring? break_on_hyphens?", word_wrap},
};

}  // namespace

constinit const std::span<const Builtin> kLayoutFilters = kLayoutFilterRows;

}  // namespace ggufscope::jinja
