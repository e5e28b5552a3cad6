// Parses and composes file names by the naming convention.
#include "gguf/names.hpp"

#include <algorithm>

#include "base/word_list.hpp"

namespace ggufscope {
namespace {

constexpr std::string_view kExtension = ".gguf";
constexpr std::string_view kTypes = "LoRA vocab";

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr bool is_letter(char c) { return to_upper(c) >= 'A' && to_upper(c) <= 'Z'; }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_word_char(char c) { return is_digit(c) || is_letter(c) || is_space(c); }
constexpr bool is_encoding_char(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

/// Removes leading characters of a kind from the word and returns their number.
template <class Kind>
size_t take(std::string_view& word, Kind kind) {
  size_t n = 0;
  while (n < word.size() && kind(word[n])) ++n;
  word.remove_prefix(n);
  return n;
}

bool take(std::string_view& word, char c) {
  if (!word.starts_with(c)) return false;
  word.remove_prefix(1);
  return true;
}

/// Removes digits, or digits "." digits.
bool take_decimal(std::string_view& word) {
  if (take(word, is_digit) == 0) return false;
  std::string_view rest = word;
  if (take(rest, '.') && take(rest, is_digit) > 0) word = rest;
  return true;
}

/// [<experts>x]<count><letter>
bool is_size(std::string_view word) {
  std::string_view experts = word;
  if (take(experts, is_digit) > 0 && take(experts, 'x')) word = experts;
  return take_decimal(word) && word.size() == 1 && is_letter(word[0]);
}

/// <letters><count><letters>
bool is_attribute(std::string_view word) {
  return take(word, is_letter) > 0 && take_decimal(word) && take(word, is_letter) > 0 && word.empty();
}

bool is_version(std::string_view word) {
  if (!take(word, 'v') || take(word, is_digit) == 0) return false;
  while (take(word, '.'))
    if (take(word, is_digit) == 0) return false;
  return word.empty();
}

/// Words after the first one: they begin with a letter, or are a number, or are empty.
bool is_base_word(std::string_view word, bool first) {
  if (!std::ranges::all_of(word, is_word_char)) return false;
  return first || word.empty() || !is_digit(word[0]) || std::ranges::all_of(word, [](char c) { return !is_letter(c); });
}

/// The words of a name, as views into it, so that adjacent words can be joined without a copy.
using Words = std::vector<std::string_view>;

Words split(std::string_view text) {
  Words words;
  for (;;) {
    const size_t dash = text.find('-');
    words.push_back(text.substr(0, dash));
    if (dash == std::string_view::npos) return words;
    text.remove_prefix(dash + 1);
  }
}

/// Words [from, to), including the dashes between them.
std::string_view join(const Words& words, size_t from, size_t to) {
  if (from >= to) return {};
  const char* begin = words[from].data();
  return {begin, static_cast<size_t>(words[to - 1].data() + words[to - 1].size() - begin)};
}

/// Matches <base name>-<size label>[-<fine tune>] in words [0, end) strictly. The size label may be empty (two dashes).
bool strict_front(const Words& words, size_t end, FileName& out) {
  size_t i = 0;
  while (i < end && is_base_word(words[i], i == 0)) ++i;
  if (i == end) {
    if (end < 2 || !words[end - 1].empty()) return false;
    out.base_name = join(words, 0, end - 1);
    return true;
  }
  if (i == 0 || !is_size(words[i])) return false;
  size_t after = i + 1;
  if (after < end && is_attribute(words[after])) ++after;
  for (size_t j = after; j < end; ++j)
    if (!std::ranges::all_of(words[j], is_word_char)) return false;
  out.base_name = join(words, 0, i);
  out.size_label = join(words, i, after);
  out.fine_tune = join(words, after, end);
  return true;
}

bool strict(const Words& words, size_t end, FileName& out) {
  if (end >= 2 && is_version(words[end - 1]) && strict_front(words, end - 1, out)) {
    out.version = words[end - 1];
    return true;
  }
  if (end < 3 || !is_version(words[end - 2])) return false;
  const std::string_view encoding = words[end - 1];
  if (encoding.empty() || !std::ranges::all_of(encoding, is_encoding_char)) return false;
  for (const std::string_view type : WordList(kTypes))
    if (encoding.starts_with(type)) return false;
  if (!strict_front(words, end - 2, out)) return false;
  out.version = words[end - 2];
  out.encoding = encoding;
  return true;
}

/// Accepts what real file names have: version and encoding in any order, "name.Q4_K_M", no version.
void lenient(Words words, size_t end, FileName& out) {
  if (end > 0) {
    std::string_view& last = words[end - 1];
    const size_t dot = last.rfind('.');
    if (is_encoding(last)) {
      out.encoding = last;
      --end;
    } else if (dot != std::string_view::npos && is_encoding(last.substr(dot + 1))) {
      out.encoding = last.substr(dot + 1);
      last = last.substr(0, dot);
    }
  }
  size_t size = end, version = end;
  for (size_t i = 0; i < end; ++i) {
    if (i > 0 && is_size(words[i])) size = i;
    if (i > 0 && is_version(words[i])) version = i;
  }
  if (version < end) out.version = words[version];
  out.base_name = join(words, 0, std::min(size, version));
  if (size == end) return;
  const size_t after = size + 1 < end && is_attribute(words[size + 1]) ? size + 2 : size + 1;
  out.size_label = join(words, size, after);
  out.fine_tune = join(words, after, version > size ? version : end);
}

std::optional<uint32_t> five_digits(std::string_view word) {
  if (word.size() != 5 || !std::ranges::all_of(word, is_digit)) return std::nullopt;
  uint32_t value = 0;
  for (const char c : word) value = 10 * value + static_cast<uint32_t>(c - '0');
  return value;
}

/// Removes "00002-of-00005" from the end of the words, if the numbers are in range.
bool take_shard(const Words& words, uint32_t& number, uint32_t& total) {
  const size_t n = words.size();
  if (n < 4 || words[n - 2] != "of") return false;
  const auto first = five_digits(words[n - 3]), last = five_digits(words[n - 1]);
  if (!first || !last || *first == 0 || *first > *last) return false;
  number = *first;
  total = *last;
  return true;
}

std::string shard_suffix(uint32_t number, uint32_t total) {
  const auto padded = [](uint32_t value) {
    const std::string digits = std::to_string(value);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return '-' + padded(number) + "-of-" + padded(total);
}

}  // namespace

bool is_encoding(std::string_view word) {
  std::string upper(word);
  std::ranges::transform(upper, upper.begin(), to_upper);
  if (!std::ranges::all_of(upper, is_encoding_char)) return false;
  if (has_word("F16 F32 F64 FP16 FP32 BF16", upper)) return true;
  if (upper.starts_with("MXFP4") || upper.starts_with("NVFP4")) return true;
  std::string_view rest = upper;
  if (rest.starts_with('I') || rest.starts_with('T')) rest.remove_prefix(1);
  return rest.size() >= 2 && rest[0] == 'Q' && is_digit(rest[1]) && (rest.size() == 2 || rest[2] == '_');
}

FileName parse_file_name(std::string_view name) {
  FileName out;
  if (!name.ends_with(kExtension)) return out;
  name.remove_suffix(kExtension.size());
  Words words = split(name);
  if (words.size() > 1 && has_word("mmproj mtp", words[0])) {
    out.sidecar = words[0];
    words.erase(words.begin());
  }
  size_t end = words.size();
  if (take_shard(words, out.shard, out.n_shards)) end -= 3;
  if (end > 1 && has_word(kTypes, words[end - 1])) out.type = words[--end];
  out.conforms = strict(words, end, out);
  if (!out.conforms) lenient(words, end, out);
  return out;
}

std::string format_file_name(const FileName& parts) {
  std::string out;
  for (const std::string_view part :
       {parts.sidecar, parts.base_name, parts.size_label, parts.fine_tune, parts.version, parts.encoding, parts.type}) {
    if (part.empty()) continue;
    if (!out.empty()) out += '-';
    out += part;
  }
  if (parts.shard != 0) out += shard_suffix(parts.shard, parts.n_shards);
  return out += kExtension;
}

std::optional<Shard> parse_shard(std::string_view name) {
  if (!name.ends_with(kExtension)) return std::nullopt;
  const Words words = split(name.substr(0, name.size() - kExtension.size()));
  Shard shard;
  if (!take_shard(words, shard.number, shard.total)) return std::nullopt;
  shard.prefix = join(words, 0, words.size() - 3);
  return shard;
}

std::vector<std::string> shard_names(const Shard& shard) {
  std::vector<std::string> names;
  names.reserve(shard.total);
  for (uint32_t i = 1; i <= shard.total; ++i)
    names.push_back(std::string(shard.prefix) + shard_suffix(i, shard.total) + std::string(kExtension));
  return names;
}

}  // namespace ggufscope
