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
  // stable-diffusion.cpp writes tensors without any keys.
  return file.architecture.empty() && is_foreign(file) ? kReaders[0].name : std::string_view();
}

bool is_foreign(const LintFile& file) {
  if (file.kind != FileKind::kModel || is_known_architecture(file.architecture)) return false;
  if (!file.architecture.empty()) return true;
  return find_key(file.gguf, "tokenizer.ggml.model") == nullptr &&
         find_tensor(file.gguf, "token_embd.weight") == nullptr && !is_shard(file);
}

}  // namespace ggufscope
