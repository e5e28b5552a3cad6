// Rules on chat templates. They are programs that change what a model reads, and users rarely look at them.
#include <algorithm>
#include <charconv>

#include "gguf/lint/rules.hpp"

namespace ggufscope {
namespace {

constexpr std::string_view kTemplateKey = "tokenizer.chat_template";

/// Calls visit(text, offset) for the default template and for each named one.
template <class Visit>
void visit_templates(const LintFile& file, Visit&& visit) {
  for (const KeyValue& kv : file.gguf.header.key_values) {
    const std::string_view key = file.gguf.text(kv.key);
    if (kv.type == ValueType::kString && key.starts_with(kTemplateKey) &&
        (key.size() == kTemplateKey.size() || key[kTemplateKey.size()] == '.'))
      visit(file.gguf.text(kv.value), kv.value.offset);
  }
}

/// Calls statement(content, position) for each {% %} and {{ }}.
template <class Statement>
void visit_parts(std::string_view text, Statement&& statement) {
  size_t at = 0;
  while (at < text.size()) {
    size_t open = text.find('{', at);
    while (open != std::string_view::npos &&
           (open + 1 == text.size() || !std::string_view("%{#").contains(text[open + 1])))
      open = text.find('{', open + 1);
    if (open == std::string_view::npos) break;
    const char kind = text[open + 1];
    const std::string_view closer = kind == '%' ? "%}" : kind == '{' ? "}}" : "#}";
    size_t close = text.find(closer, open + 2);
    if (close == std::string_view::npos) close = text.size();
    if (kind != '#') statement(text.substr(open + 2, close - open - 2), open + 2);
    at = std::min(text.size(), close + 2);
  }
}

/// Calls visit(literal) for each quoted literal, without its quotes.
template <class Visit>
void visit_literals(std::string_view statement, Visit&& visit) {
  for (size_t i = 0; i < statement.size(); ++i) {
    const char quote = statement[i];
    if (quote != '\'' && quote != '"') continue;
    size_t end = i + 1;
    while (end < statement.size() && statement[end] != quote) end += statement[end] == '\\' ? 2 : 1;
    end = std::min(end, statement.size());
    visit(statement.substr(i + 1, end - i - 1));
    i = end;
  }
}

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

constexpr uint64_t kLongLoop = 100000;

void check_loop(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    visit_parts(text, [&](std::string_view statement, size_t at) {
      const size_t range = statement.find("range(");
      if (range == std::string_view::npos) return;
      // A power or product of literals can be large although it is short, so every bound that is computed or large
      // counts.
      const std::string_view bound = statement.substr(range + 6, statement.find(')', range) - range - 6);
      bool large = bound.contains("**");
      for (size_t i = 0; i < bound.size(); ++i) {
        uint64_t value = 0;
        const auto [stop, problem] = std::from_chars(bound.data() + i, bound.data() + bound.size(), value);
        if (stop == bound.data() + i) continue;
        large = large || problem != std::errc() || value >= kLongLoop;
        i = static_cast<size_t>(stop - bound.data()) - 1;
      }
      if (large) findings.add(offset + at + range, {"a loop over range(", Quoted{bound}, ")"});
    });
  });
}

/// True for a condition on words in a message's content, as opposed to markers such as '</think>': a literal that is
/// `in` content, or compared with it.
bool is_condition_on_content(std::string_view before, std::string_view literal, std::string_view after) {
  const auto letters = std::ranges::count_if(literal, is_ascii_letter);
  const bool plain = std::ranges::all_of(
      literal, [](char c) { return is_ascii_letter(c) || std::string_view(" ,.?!'-0123456789").contains(c); });
  if (!plain || letters < 4 || (letters < 8 && !literal.contains(' '))) return false;
  // message.content == '...', message['content'].startswith('...')
  while (!before.empty() && std::string_view(" =()").contains(before.back())) before.remove_suffix(1);
  if (before.ends_with(".startswith")) before.remove_suffix(11);
  const bool compared = before.ends_with("content") || before.ends_with("content']") || before.ends_with("content\"]");
  return compared || (after.starts_with(" in ") && after.substr(0, 40).contains("content"));
}

void check_hidden_condition(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    visit_parts(text, [&](std::string_view statement, size_t at) {
      if (!statement.contains("if ")) return;
      visit_literals(statement, [&](std::string_view literal) {
        const auto from = static_cast<size_t>(literal.data() - statement.data());
        const size_t to = std::min(statement.size(), from + literal.size() + 1);
        if (is_condition_on_content(statement.substr(0, from - 1), literal, statement.substr(to)))
          findings.add(offset + at + from, {"a condition on what a message says: ", Quoted{literal}});
      });
    });
  });
}

constexpr std::string_view kCovertPhrases[] = {
    "ignore previous",    "ignore all previous", "ignore the above",   "do not tell the user", "don't tell the user",
    "without telling",    "do not mention this", "never mention this", "do not reveal",        "secretly",
    "regardless of what", "hide this",           "silently ",          "exfiltrate",           "do not disclose",
};

void check_instruction(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    const std::string plain = lower(text);
    for (const std::string_view phrase : kCovertPhrases)
      if (const size_t at = plain.find(phrase); at != std::string::npos)
        findings.add(offset + at, {"the template itself says ", Quoted{text.substr(at, 60)}});
  });
}

constexpr std::string_view kEscapes[] = {"__class__",   "__globals__", "__subclasses__", "__import__", "__builtins__",
                                         "__init__",    "os.popen",    "os.system",      "subprocess", "eval(",
                                         "constructor", "__proto__",   "| attr(",        "|attr(",     "__mro__",
                                         "__base__",    "__code__",    "lipsum",         "cycler.",    "joiner."};

void check_escape(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    visit_parts(text, [&](std::string_view statement, size_t at) {
      for (const std::string_view name : kEscapes)
        if (const size_t found = statement.find(name); found != std::string_view::npos)
          findings.add(offset + at + found, {"reaches for ", Quoted{name}, " of the program that renders it"});
    });
  });
}

/// Finds zero-width, bidirectional and tag characters. They are invisible to people but not to the model.
void check_invisible(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    for (size_t i = 0; i + 2 < text.size(); ++i) {
      const auto a = static_cast<uint8_t>(text[i]), b = static_cast<uint8_t>(text[i + 1]),
                 c = static_cast<uint8_t>(text[i + 2]);
      const bool general = a == 0xe2 && ((b == 0x80 && ((c >= 0x8b && c <= 0x8f) || (c >= 0xaa && c <= 0xae))) ||
                                         (b == 0x81 && c >= 0xa0 && c <= 0xaf));
      const bool mark = a == 0xef && b == 0xbb && c == 0xbf;
      const bool tag = a == 0xf3 && b == 0xa0 && (c == 0x80 || c == 0x81);
      if (general || mark || tag) findings.add(offset + i, "an invisible character in the template");
    }
  });
}

void check_balance(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    int64_t ifs = 0, fors = 0;
    visit_parts(text, [&](std::string_view statement, size_t at) {
      if (text[at - 1] != '%') return;  // this is a {{ value }}
      const size_t first = statement.find_first_not_of("-+ \t\r\n");
      const std::string_view word = first == std::string_view::npos
                                        ? std::string_view()
                                        : statement.substr(first, statement.find_first_of(" \t\r\n-", first) - first);
      ifs += word == "if" ? 1 : word == "endif" ? -1 : 0;
      fors += word == "for" ? 1 : word == "endfor" ? -1 : 0;
    });
    if (ifs != 0) findings.add(offset, "as many if as endif are not in the template");
    if (fors != 0) findings.add(offset, "as many for as endfor are not in the template");
  });
}

/// tokenizer.chat_templates lists the templates that have their own keys.
void check_names(const LintFile& file, FindingList& findings) {
  const auto names = get_strings(file.gguf, "tokenizer.chat_templates");
  for (const std::string_view name : names.value_or(std::vector<std::string_view>()))
    if (find_key(file.gguf, std::string(kTemplateKey) + '.' + std::string(name)) == nullptr)
      findings.add(key_offset(file.gguf, "tokenizer.chat_templates"),
                   {"tokenizer.chat_templates names ", Quoted{name}, ", which is not there"});
}

constexpr int64_t kDeep = 64;  // recursive renderers overflow their stack slightly above this

void check_depth(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    int64_t blocks = 0;
    bool said = false;
    visit_parts(text, [&](std::string_view statement, size_t at) {
      const size_t first = std::min(statement.find_first_not_of("-+ \t\r\n"), statement.size());
      const std::string_view rest = statement.substr(first);
      if (text[at - 1] == '%') {
        if (rest.starts_with("if ") || rest.starts_with("for ") || rest.starts_with("macro ")) ++blocks;
        if (rest.starts_with("endif") || rest.starts_with("endfor") || rest.starts_with("endmacro")) --blocks;
      }
      int64_t open = 0, deepest = blocks;
      for (const char c : rest) {
        open += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        deepest = std::max(deepest, open);
      }
      if (deepest > kDeep && !said) findings.add(offset + at, "the template nests more than 64 deep");
      said = said || deepest > kDeep;
    });
  });
}

/// Finds templates that behave differently from some date on. Legitimate templates do not compare dates.
void check_clock(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    visit_parts(text, [&](std::string_view statement, size_t at) {
      const size_t call = statement.find("strftime_now(");
      if (call == std::string_view::npos || !statement.contains("if ")) return;
      const std::string_view rest = statement.substr(call);
      for (const std::string_view sign : {">", "<", "==", "!=", " in "})
        if (rest.contains(sign)) {
          findings.add(offset + at + call, "a condition on today's date");
          return;
        }
    });
  });
}

constexpr size_t kLongBlank = 200, kLongWord = 200;

/// Finds text that is pushed out of sight with blanks, and text that is not human-readable.
void check_obscured(const LintFile& file, FindingList& findings) {
  const auto is_code = [](char c) {
    return is_ascii_letter(c) || (c >= '0' && c <= '9') || std::string_view("+/=_-").contains(c);
  };
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    size_t blank = 0, word = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      blank = std::string_view(" \t\r\n").contains(text[i]) ? blank + 1 : 0;
      word = is_code(text[i]) ? word + 1 : 0;
      if (blank == kLongBlank)
        findings.add(offset + i + 1 - blank, "200 blanks in a row: what follows is out of sight");
      if (word == kLongWord) findings.add(offset + i + 1 - word, "a word of 200 letters, as encoded text is");
    }
  });
}

void check_link(const LintFile& file, FindingList& findings) {
  visit_templates(file, [&](std::string_view text, uint64_t offset) {
    for (const std::string_view scheme : {"https://", "http://"})
      for (size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at + 1))
        findings.add(offset + at, {"the template itself names ", Quoted{text.substr(at, 60)}});
  });
}

constexpr LintRule kTemplateRules[] = {
    {"template-loop", FindingLevel::kNote, check_loop},
    {"template-condition", FindingLevel::kNote, check_hidden_condition},
    {"template-instruction", FindingLevel::kNote, check_instruction},
    {"template-escape", FindingLevel::kNote, check_escape},
    {"template-invisible", FindingLevel::kNote, check_invisible},
    {"template-balance", FindingLevel::kNote, check_balance},
    {"template-names", FindingLevel::kNote, check_names},
    {"template-depth", FindingLevel::kNote, check_depth},
    {"template-clock", FindingLevel::kNote, check_clock},
    {"template-obscured", FindingLevel::kNote, check_obscured},
    {"template-link", FindingLevel::kNote, check_link},
};

}  // namespace

RuleSpan template_rules() { return kTemplateRules; }

}  // namespace ggufscope
