// Runs the rules of the table over a file and collects their findings.
#include "gguf/lint/lint.hpp"

#include "base/sort.hpp"
#include "gguf/lint/rules.hpp"

namespace ggufscope {

std::string_view finding_level_name(FindingLevel level) {
  constexpr std::string_view names[] = {"error", "spec", "note"};
  return names[static_cast<size_t>(level)];
}

void FindingList::end() {
  if (rule_ != nullptr && count_ > kMaxFindings)
    out_.back().message += sentence({" (and ", count_ - kMaxFindings, " more)"});
  rule_ = nullptr;
}

void FindingList::add(uint64_t offset, std::initializer_list<Part> message) {
  if (count_++ < kMaxFindings) out_.push_back({rule_->level, rule_->code, sentence(message), offset});
}

void FindingList::add(uint64_t offset, std::string_view message) { add(offset, std::initializer_list<Part>{message}); }

std::vector<size_t> find_duplicates(const std::vector<std::string_view>& texts) {
  // Sorts by length first, so that most comparisons end immediately.
  const std::vector<uint32_t> order = sorted_order(texts.size(), [&](uint32_t a, uint32_t b) {
    return texts[a].size() != texts[b].size() ? texts[a].size() < texts[b].size() : texts[a] < texts[b];
  });
  std::vector<uint8_t> repeats(texts.size());
  for (size_t i = 1; i < order.size(); ++i) repeats[order[i]] = texts[order[i]] == texts[order[i - 1]] ? 1 : 0;
  std::vector<size_t> duplicates;
  for (size_t i = 0; i < repeats.size(); ++i)
    if (repeats[i] != 0) duplicates.push_back(i);
  return duplicates;
}

void check_key_type(const LintFile& file, FindingList& findings, std::string_view key, ValueType type, bool list) {
  const KeyValue* kv = find_key(file.gguf, key);
  const bool array = kv != nullptr && kv->type == ValueType::kArray;
  if (kv == nullptr || (kv->element_type == type && array == list)) return;
  findings.add(kv->key.offset, {key, " is ", array ? "an array of " : "", value_type_name(kv->element_type),
                                ": llama.cpp reads ", list ? "an array of " : "", value_type_name(type)});
}

std::vector<LintRule> lint_rules() {
  std::vector<LintRule> all;
  for (const RuleSpan rules :
       {header_rules(), layout_rules(), kind_rules(), projector_rules(), model_rules(), required_rules(), shape_rules(),
        tensor_rules(), tensor_shape_rules(), tokenizer_rules(), template_rules()})
    all.insert(all.end(), rules.begin(), rules.end());
  return all;
}

std::vector<Finding> lint(const Gguf& gguf, std::optional<uint64_t> file_size, std::string_view file_name,
                          LintScope scope) {
  const LintFile file{gguf, file_size, file_name, file_kind(gguf),
                      get_string(gguf, "general.architecture").value_or(std::string_view())};
  std::vector<Finding> out;
  FindingList findings(out);
  const std::vector<LintRule> rules = lint_rules();
  for (const LintRule& rule : rules) {
    if ((rule.scopes & scope) == 0) continue;
    findings.start(rule);
    rule.check(file, findings);
  }
  findings.end();
  return out;
}

}  // namespace ggufscope
