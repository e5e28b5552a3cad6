// File names (ggml docs/gguf.md, "GGUF Naming Convention"):
//
//   [<sidecar>-]<base name>-<size label>[-<fine tune>]-<version>[-<encoding>][-<type>][-<shard>].gguf
//
//   sidecar     mmproj | mtp
//   base name   words of letters and digits, and numbers: "Hermes-2-Pro-Llama-3"
//   size label  [<experts>x]<count><K|M|B|T|Q>[-<attribute><count><unit>]: "8x7B", "3.8B-ContextLength4k"
//   version     v<major>[.<minor>...]
//   encoding    "F16", "Q4_K_M", ...
//   type        LoRA | vocab
//   shard       <number>-of-<total>, five digits each, from 00001
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ggufscope {

/// The parts of a file name, as views into it; missing parts are empty.
struct FileName {
  std::string_view sidecar, base_name, size_label, fine_tune, version, encoding, type;
  uint32_t shard = 0;  ///< 1-based; 0: not a shard
  uint32_t n_shards = 0;
  bool conforms = false;  ///< true if the name follows the convention; otherwise the parts are a best guess
};

/// Parses a file name without folders. A name that does not end in .gguf has no parts.
[[nodiscard]] FileName parse_file_name(std::string_view name);

/// Joins the parts. It is the inverse of parse_file_name for names that conform.
[[nodiscard]] std::string format_file_name(const FileName& parts);

struct Shard {
  std::string_view prefix;  ///< the common beginning of all names of the set, without the dash
  uint32_t number = 0;      ///< 1-based
  uint32_t total = 0;
};

/// Parses "<prefix>-00002-of-00005.gguf". nullopt for any other name.
[[nodiscard]] std::optional<Shard> parse_shard(std::string_view name);

/// The names of all files of the set, in order.
[[nodiscard]] std::vector<std::string> shard_names(const Shard& shard);

/// True if a word looks like the name of a weight encoding: "Q4_K_M", "IQ2_XXS", "f16", "MXFP4_MOE".
[[nodiscard]] bool is_encoding(std::string_view word);

}  // namespace ggufscope
