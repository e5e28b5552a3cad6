// Finds errors and suspicious content in a file that could be parsed.
//
//   error  a strict loader (ggml's gguf.cpp, llama.cpp) refuses the file
//   spec   the specification (ggml docs/gguf.md) does not allow it
//   note   it looks wrong, or is worth knowing
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/header.hpp"
#include "gguf/keys.hpp"

namespace ggufscope {

enum class FindingLevel : uint8_t { kError, kSpec, kNote };

/// "error", "spec", "note"
[[nodiscard]] std::string_view finding_level_name(FindingLevel level);

/// The offset of what has no place in the file, such as a missing key, or the file's name.
inline constexpr uint64_t kNoPlace = UINT64_MAX;

struct Finding {
  FindingLevel level;
  std::string_view code;  ///< the rule's code; static text
  std::string message;    ///< a sentence; names from the file are shortened and made printable
  uint64_t offset;        ///< absolute byte offset in the file, or kNoPlace
};

/// The input of the rules.
struct LintFile {
  const Gguf& gguf;
  std::optional<uint64_t> file_size;
  std::string_view file_name;  ///< without folders; empty if unknown
  FileKind kind;
  std::string_view architecture;  ///< empty if the file has none
};

/// Collects the findings of the rules. Only the first kMaxFindings of a rule are kept; the last one then says how many
/// more there are.
class FindingList;

/// Which rules run.
enum LintScope : uint8_t {
  kUsual = 1,
  kStrict = 2,   ///< also those that most good files break
  kMissing = 4,  ///< only the one on missing tensors
};

struct LintRule {
  std::string_view code;
  FindingLevel level;
  void (*check)(const LintFile& file, FindingList& findings);
  uint8_t scopes = kUsual | kStrict;  ///< those in which it runs
};

/// Limit of findings for each rule, because a file can repeat one mistake a million times.
inline constexpr uint64_t kMaxFindings = 20;

/// All rules, in the order in which lint() runs them.
[[nodiscard]] std::vector<LintRule> lint_rules();

/// Runs the rules over a file with a complete header. Time and memory are linear in the header's size, except for
/// sorting.
[[nodiscard]] std::vector<Finding> lint(const Gguf& gguf, std::optional<uint64_t> file_size = std::nullopt,
                                        std::string_view file_name = {}, LintScope scope = kUsual);

}  // namespace ggufscope
