#include "gguf/lint.hpp"

#include <algorithm>
#include <numeric>

#include "gguf/lint_rules.hpp"

namespace ggufscope {

std::string_view finding_level_name(FindingLevel level) {
  constexpr std::string_view names[] = {"error", "spec", "note"};
  return names[static_cast<size_t>(level)];
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  out += text.size() > kMost ? "...'" : "'";
  return out;
}

std::vector<size_t> find_duplicates(const std::vector<std::string_view>& texts) {
  // Sorted by length first: most comparisons then end at once.
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    if (texts[a].size() != texts[b].size()) return texts[a].size() < texts[b].size();
    const int by_text = texts[a].compare(texts[b]);
    return by_text != 0 ? by_text < 0 : a < b;
  });
  std::vector<size_t> duplicates;
  for (size_t i = 1; i < order.size(); ++i)
    if (texts[order[i]] == texts[order[i - 1]]) duplicates.push_back(order[i]);
  std::ranges::sort(duplicates);
  return duplicates;
}

std::vector<LintRule> lint_rules() {
  std::vector<LintRule> all;
  for (const RuleSpan rules : {header_rules(), layout_rules(), kind_rules(), model_rules(), shape_rules(),
                               tokenizer_rules(), template_rules()})
    all.insert(all.end(), rules.begin(), rules.end());
  return all;
}

std::vector<Finding> lint(const Gguf& gguf, std::optional<uint64_t> file_size, std::string_view file_name) {
  const LintFile file{gguf, file_size, file_name, file_kind(gguf),
                      get_string(gguf, "general.architecture").value_or(std::string_view())};
  std::vector<Finding> out;
  FindingList findings(out);
  const std::vector<LintRule> rules = lint_rules();
  for (const LintRule& rule : rules) {
    findings.begin(rule);
    rule.check(file, findings);
  }
  findings.end();
  return out;
}

}  // namespace ggufscope
