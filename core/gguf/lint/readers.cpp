// Determines which program a file is for, and so which rules apply.
#include "gguf/lint/rules.hpp"

namespace ggufscope {

std::string_view other_reader(const LintFile& file) {
  struct Reader {
    std::string_view name, architectures;
  };
  constexpr Reader kReaders[] = {
#include "gguf/readers.inc"
  };
  for (const Reader& reader : kReaders)
    if (has_word(reader.architectures, file.architecture)) return reader.name;
  return {};
}

bool is_foreign(const LintFile& file) {
  if (file.kind != FileKind::kModel || is_known_architecture(file.architecture)) return false;
  if (!file.architecture.empty()) return true;
  return find_key(file.gguf, "tokenizer.ggml.model") == nullptr &&
         find_tensor(file.gguf, "token_embd.weight") == nullptr && !is_shard(file);
}

}  // namespace ggufscope
