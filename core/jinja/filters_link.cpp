// urlize: turns addresses in a text into links.
#include <algorithm>

#include "jinja/tables.hpp"
#include "jinja/text_ops.hpp"

namespace ggufscope::jinja {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char p, char c) { return p == lower(c); });
}

/// Length in bytes of the leading run of word characters and `others`.
size_t run_of(std::string_view text, std::string_view others) {
  size_t end = 0;
  while (end < text.size()) {
    const CodePoint c = code_point_at(text, end);
    if (!is_word(c.value) && (c.value >= 128 || others.find(static_cast<char>(c.value)) == others.npos)) break;
    end += c.length;
  }
  return end;
}

bool all_letters(std::string_view text, size_t min, size_t max) {
  return text.size() >= min && text.size() <= max &&
         std::all_of(text.begin(), text.end(), [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; });
}

/// True for a domain name with dots. Its last part must be a known top-level domain, unless any_top.
bool is_domain(std::string_view host, bool any_top, size_t min_part) {
  const size_t dot = host.rfind('.');
  const std::string_view top = dot == host.npos ? host : host.substr(dot + 1);
  std::string_view rest = dot == host.npos ? std::string_view() : host.substr(0, dot);
  if (any_top) {
    const bool idna = starts_with(top, "xn--") && count_code_points(top) >= 6 && count_code_points(top) <= 63 &&
                      top.find('-', 4) == top.npos;
    if (!all_letters(top, 2, 63) && !idna) return false;
    if (dot == host.npos) return true;
  } else {
    constexpr std::string_view kTops[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
    if (dot == host.npos || std::none_of(std::begin(kTops), std::end(kTops),
                                         [&](auto t) { return t.size() == top.size() && starts_with(top, t); }))
      return false;
  }
  for (;;) {
    const size_t end = std::min(rest.find('.'), rest.size());
    const uint32_t n = count_code_points(rest.substr(0, end));
    if (n < min_part || (!any_top && n > 63)) return false;
    if (end == rest.size()) return true;
    rest.remove_prefix(end + 1);
  }
}

/// True for what may follow a host: a port, then a path.
bool is_tail(std::string_view text) {
  if (text.starts_with(':')) {
    size_t digits = 0;
    while (1 + digits < text.size() && text[1 + digits] >= '0' && text[1 + digits] <= '9') ++digits;
    if (digits < 1 || digits > 5) return false;
    text.remove_prefix(1 + digits);
  }
  return text.empty() || text[0] == '/' || text[0] == '?' || text[0] == '#';
}

bool is_ip_address(std::string_view text, size_t& end) {
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == text.npos) return false;
    size_t colons = 0, run = 0, groups = 0;
    for (const char c : text.substr(1, end - 1)) {
      const bool hex = (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'f');
      if (!hex && c != ':') return false;
      run = hex ? run + 1 : 0;
      colons += c == ':';
      groups += run > 4;
    }
    ++end;
    return colons >= 2 && colons <= 8 && groups == 0;
  }
  end = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (end >= text.size() || text[end] != '.') return false;
      ++end;
    }
    size_t digits = 0;
    while (digits < 3 && end < text.size() && text[end] >= '0' && text[end] <= '9') ++end, ++digits;
    if (digits == 0) return false;
  }
  return true;
}

bool is_address(std::string_view text) {
  const size_t scheme = starts_with(text, "https://") ? 8 : starts_with(text, "http://") ? 7 : 0;
  const size_t prefix = scheme != 0 ? scheme : starts_with(text, "www.") ? 4 : 0;
  if (prefix != 0) {
    const std::string_view rest = text.substr(prefix);
    const size_t end = run_of(rest, "%-.");
    if (is_domain(rest.substr(0, end), true, 1) && is_tail(rest.substr(end))) return true;
  }
  const size_t end = run_of(text, "%-.");
  if (is_domain(text.substr(0, end), false, 2) && is_tail(text.substr(end))) return true;
  size_t ip_end = 0;
  return scheme != 0 && is_ip_address(text.substr(scheme), ip_end) && is_tail(text.substr(scheme + ip_end));
}

bool is_email(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == text.npos || at == 0 || at + 1 == text.size()) return false;
  const std::string_view domain = text.substr(at + 1);
  const size_t dot = domain.rfind('.');
  if (dot == domain.npos || dot == 0 || dot + 1 == domain.size() || run_of(domain, ".-") != domain.size()) return false;
  return is_word(code_point_at(domain, 0).value) && run_of(domain.substr(dot + 1), "") == domain.size() - dot - 1;
}

struct Links {
  std::string rel, target;
  int64_t limit = -1;
  std::vector<std::string> schemes;

  [[nodiscard]] std::string shortened(std::string_view text) const {
    if (limit < 0 || count_code_points(text) <= static_cast<uint64_t>(limit)) return std::string(text);
    size_t end = 0;
    for (int64_t i = 0; i < limit; ++i) end += code_point_at(text, end).length;
    return std::string(text.substr(0, end)) + "...";
  }
  [[nodiscard]] std::string link(std::string_view to, std::string_view text, bool with_attributes) const {
    return sentence(
        {"<a href=\"", to, "\"", with_attributes ? rel : "", with_attributes ? target : "", ">", text, "</a>"});
  }

  [[nodiscard]] std::string middle(const std::string& text) const {
    if (is_address(text)) {
      const bool complete = text.starts_with("https://") || text.starts_with("http://");
      return link(complete ? text : "https://" + text, shortened(text), true);
    }
    if (text.starts_with("mailto:") && is_email(std::string_view(text).substr(7)))
      return link(text, text.substr(7), false);
    if (text.find('@') != text.npos && !text.starts_with("www.") && text[0] != '@' && text.find(':') == text.npos &&
        is_email(text))
      return link("mailto:" + text, text, false);
    for (const std::string& scheme : schemes)
      if (text != scheme && text.starts_with(scheme)) return link(text, text, true);
    return text;
  }

  [[nodiscard]] std::string word(std::string_view whole) const {
    std::string_view inner = whole;
    const auto take = [&](std::string_view part) {
      const bool there = inner.starts_with(part);
      if (there) inner.remove_prefix(part.size());
      return there;
    };
    while (take("(") || take("<") || take("&lt;")) continue;
    const std::string head(whole.substr(0, whole.size() - inner.size()));
    const std::string_view before_tail = inner;
    const auto drop = [&](std::string_view part) {
      const bool there = inner.ends_with(part);
      if (there) inner.remove_suffix(part.size());
      return there;
    };
    while (drop(")") || drop(">") || drop(".") || drop(",") || drop("\n") || drop("&gt;")) continue;
    std::string text(inner), tail(before_tail.substr(inner.size()));
    constexpr std::pair<std::string_view, std::string_view> kPairs[] = {{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};
    for (const auto& [open, close] : kPairs) {
      const size_t opened = count(text, open);
      if (opened <= count(text, close)) continue;
      for (size_t n = std::min(opened, count(tail, close)); n > 0; --n) {
        const size_t end = tail.find(close) + close.size();
        text += tail.substr(0, end);
        tail.erase(0, end);
      }
    }
    return head + middle(text) + tail;
  }

  static size_t count(std::string_view text, std::string_view part) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++n;
    return n;
  }
};

bool attribute(Runtime& r, const Value& value, std::string_view name, std::string& out) {
  if (value.missing() || !truth(value)) return true;
  const Value text = escape(r, value);
  if (!text.failed()) out = sentence({" ", name, "=\"", text.str->view(), "\""});
  return !text.failed();
}

// The words of rel together with those that urlize adds, sorted and without duplicates.
Value rel_words(Runtime& r, const Value& rel, bool no_follow) {
  std::vector<Value> words;
  if (!rel.missing() && truth(rel)) {
    if (!rel.is(Type::kString)) return r.fail({"urlize wants a string as rel, not ", type_name(rel)});
    if (!split(r, *rel.str, nullptr, -1, false, words)) return Value::fail();
  }
  if (no_follow) words.push_back(r.string("nofollow"));
  words.push_back(r.string("noopener"));
  const auto text = [](const Value& v) { return v.str->view(); };
  std::vector<Value> keys = words;
  if (!sort_values(r, keys, words, false)) return Value::fail();
  words.erase(
      std::unique(words.begin(), words.end(), [&](const Value& a, const Value& b) { return text(a) == text(b); }),
      words.end());
  const Value space = r.string(" ");
  return join(r, *space.str, words);
}

bool is_scheme(std::string_view text) {
  size_t end = run_of(text, ".+-");
  if (count_code_points(text.substr(0, end)) < 2 || end >= text.size() || text[end] != ':') return false;
  const std::string_view rest = text.substr(end + 1);
  return rest.empty() || rest == "/" || rest == "//";
}

Value urlize(Runtime& r, const Value* a, const Args&) {
  Links links;
  const Value text = escape(r, a[0]);
  const Value rel = text.failed() ? text : rel_words(r, a[4], truth(a[2]));
  if (rel.failed() || !attribute(r, rel, "rel", links.rel) || !attribute(r, a[3], "target", links.target))
    return Value::fail();
  if (!a[1].missing() && !a[1].is_none()) {
    if (!a[1].is_int()) return r.fail({"urlize wants an integer as limit, not ", type_name(a[1])});
    links.limit = std::max<int64_t>(clamp_integer(a[1]), 0);
  }
  std::vector<Value> schemes;
  if (!a[5].missing() && !a[5].is_none() && !collect(r, a[5], schemes)) return Value::fail();
  for (const Value& scheme : schemes) {
    if (!scheme.is(Type::kString) || !is_scheme(scheme.str->view()))
      return r.fail({"urlize wants schemes such as 'ftp:'"});
    links.schemes.emplace_back(scheme.str->view());
  }
  if (!r.spend(text.str->size)) return Value::fail();
  Writer out = r.writer();
  const std::string_view view = text.str->view();
  for (size_t begin = 0; begin < view.size();) {
    const bool space = has(code_point_at(view, begin).value, kSpace);
    size_t end = begin;
    while (end < view.size() && has(code_point_at(view, end).value, kSpace) == space)
      end += code_point_at(view, end).length;
    out.put(space ? std::string(view.substr(begin, end - begin)) : links.word(view.substr(begin, end - begin)),
            text.str->is_content(begin));
    begin = end;
  }
  return r.string(out, r.autoescape);
}

constexpr Builtin kLinkFilterRows[] = {
    {"urlize", "trim_url_limit? nofollow? target? rel? extra_schemes?", urlize},
};

}  // namespace

constinit const std::span<const Builtin> kLinkFilters = kLinkFilterRows;

}  // namespace ggufscope::jinja
