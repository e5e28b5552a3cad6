#include "gguf/lint/extents.hpp"

#include "gguf/lint/required.hpp"

namespace ggufscope {
namespace {

using Length = std::optional<uint64_t>;

// Products and sums saturate at the maximum. No tensor is that long, so the comparison still fails.
Length product(Length a, Length b) {
  uint64_t out = 0;
  if (!a || !b) return std::nullopt;
  return __builtin_mul_overflow(*a, *b, &out) ? UINT64_MAX : out;
}
Length quotient(Length a, Length b) { return a && b && *b != 0 ? Length(*a / *b) : std::nullopt; }
Length sum(Length a, Length b) {
  uint64_t out = 0;
  if (!a || !b) return std::nullopt;
  return __builtin_add_overflow(*a, *b, &out) ? UINT64_MAX : out;
}
Length less(Length a, Length b) { return a && b && *a >= *b ? Length(*a - *b) : std::nullopt; }

}  // namespace

Extents::Extents(const LintFile& file)
    : shares_width_(has_word("hunyuan-moe qwen2moe qwen3next qwen35moe", file.architecture)),
      derives_experts_(file.architecture == "glm4moe") {
  for (size_t i = 0; i < kKeys.size(); ++i) {
    required_[i] = requires_key(file.architecture, kKeys[i]) ||
                   (i == kExpertFeedForward && has_word("grok qwen2moe qwen3moe smallthinker", file.architecture));
    const std::string key = arch_key(file, kKeys[i]);
    if (const KeyValue* kv = find_key(file.gguf, key); kv != nullptr) {
      there_[i] = true;
      whole_[i] = get_u64(file.gguf, key);
      if (kv->type == ValueType::kArray && kv->count <= kMaxBlocks)
        by_block_[i] = get_integers(file.gguf, key).value_or(std::vector<int64_t>());
    }
  }
  token_types_ = get_u64(file.gguf, "tokenizer.ggml.token_type_count");
  const KeyValue* tokens = find_key(file.gguf, "tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::kArray) tokens_ = tokens->count;
}

// True for keys for which llama.cpp uses 0 as 0, or as the default if the key is absent. For other keys 0 means a
// different default, or that the tensor does not exist.
bool Extents::counts_from_zero(Key key) const {
  return key == kFeedForward || key == kHeads || key == kKvHeads ||
         (there_[key] && (required_[key] || key == kKeyLength || key == kValueLength || key == kRotated));
}

std::optional<uint64_t> Extents::value(Key key, std::optional<uint64_t> block) const {
  const std::vector<int64_t>& values = by_block_[key];
  if (key == kExpertFeedForward && derives_experts_ && whole_[key] == uint64_t{0}) return std::nullopt;
  if (counts_from_zero(key) && (!there_[key] || whole_[key] == uint64_t{0})) return 0;
  if (!block || *block >= values.size()) return whole_[key] != uint64_t{0} ? whole_[key] : std::nullopt;
  const int64_t one = values[static_cast<size_t>(*block)];
  return one > 0 ? std::optional(static_cast<uint64_t>(one)) : std::nullopt;
}

std::optional<uint64_t> Extents::of(char letter, std::optional<uint64_t> block) const {
  const auto value = [&](Key key) { return this->value(key, block); };
  const auto heads = value(kHeads), kv_heads = there_[kKvHeads] ? value(kKvHeads) : heads;
  const auto head = [&](Key key, Key windowed) -> std::optional<uint64_t> {
    // Layers with sliding-window attention may have other head counts.
    if (!heads || (there_[windowed] && value(windowed) != value(key))) return std::nullopt;
    if (there_[key]) return value(key);
    const auto width = value(kWidth);
    return width && *heads != 0 ? std::optional(*width / *heads) : *heads == 0 ? heads : std::nullopt;
  };
  const auto key = [&] { return head(kKeyLength, kWindowedKeyLength); };
  const auto value_length = [&] { return head(kValueLength, kWindowedValueLength); };
  // Latent attention. In models with windows, its ranks differ between blocks.
  const bool latent = !there_[kWindowedLatentRank];
  const auto latent_key = [&] { return latent ? there_[kLatentKey] ? value(kLatentKey) : key() : std::nullopt; };
  const auto latent_value = [&] {
    return latent ? there_[kLatentValue] ? value(kLatentValue) : value_length() : std::nullopt;
  };
  const auto rotated = [&] { return there_[kRotated] ? value(kRotated) : key(); };
  const auto unrotated = [&] { return less(latent_key(), rotated()); };
  switch (letter) {
    case 'E':
      return value(kWidth);
    case 'F':
      return value(kFeedForward);
    case 'G':
      return product(value(kFeedForward), 2);
    case '2':
      return quotient(value(kFeedForward), 2);
    case '0':
      return product(3, value(kWidth));
    case 'M':
      // Without the key, each expert gets an equal part of the usual width.
      return there_[kExpertFeedForward] ? value(kExpertFeedForward)
                                        : quotient(value(kFeedForward), value(kExpertsUsed));
    case 'X':
      return value(kExperts);
    case 'C':
      return value(kContext);
    case 'T':
      return tokens_;
    case 'N':
      return heads;
    case 'H':
      return key();
    case 'Q':
      return product(heads, key());
    case 'O':
      return product(heads, value_length());
    case 'R':
      return product(2, product(heads, key()));
    case 'D':
      return kv_heads;
    case 'K':
      return product(kv_heads, key());
    case 'V':
      return product(kv_heads, value_length());
    case 'S':
      return sum(product(heads, key()), sum(product(kv_heads, key()), product(kv_heads, value_length())));
    case 'u':
      return sum(product(heads, key()), product(2, product(kv_heads, key())));
    case 'h':
      if (there_[kSharedFeedForward]) return value(kSharedFeedForward);
      return shares_width_ ? value(kFeedForward) : product(value(kExpertFeedForward), value(kSharedExperts));
    case 'a':
      return latent ? value(kQueryRank) : std::nullopt;
    case 'b':
      return latent ? value(kLatentRank) : std::nullopt;
    case 'c':
      return latent ? sum(value(kLatentRank), rotated()) : std::nullopt;
    case 'd':
      return product(heads, latent_key());
    case 'e':
      return unrotated();
    case 'f':
      return latent_value();
    case 'g':
      return product(heads, latent_value());
    case 'i':
      return product(heads, sum(unrotated(), latent_value()));
    case 'p':
      return value(kIndexerLength);
    case 'q':
      return value(kIndexerHeads);
    case 't':
      return product(value(kIndexerLength), value(kIndexerHeads));
    case 'j':
      return product(heads, rotated());
    case 'k':
      return product(kv_heads, rotated());
    case '1':
      return 1;
    default:
      return recurrent(letter, block);
  }
}

std::optional<uint64_t> Extents::recurrent(char letter, std::optional<uint64_t> block) const {
  const auto value = [&](Key key) { return this->value(key, block); };
  const auto inner = value(kInner), rank = value(kStepRank), groups = value(kGroups);
  const auto shared = product(2, product(groups, value(kState)));  // B and C, or queries and keys
  switch (letter) {
    case 'w':
      return value(kConvKernel);
    case 'I':
      return inner;
    case 'L':
      return product(2, inner);
    case 's':
      return value(kState);
    case 'r':
      return rank;
    case 'x':
      return sum(rank, product(2, value(kState)));
    case 'y':
      return sum(inner, shared);
    case 'z':
      return sum(sum(product(2, inner), shared), rank);
    case 'o':
      return product(value(kState), rank);
    case 'A':
      return sum(product(value(kState), rank), shared);
    case 'Z':
      return sum(product(2, product(value(kState), rank)), shared);
    case 'n':
      return quotient(inner, groups);
    case 'm':
      return groups;
    case 'B':
      return product(2, rank);
    case 'W':
      return value(kWkvHead);
    case 'P':
      return quotient(value(kWidth), value(kWkvHead));
    case '5':
      return 5;
    case '6':
      return 6;
    case 'Y':
      return product(5, value(kMixRank));
    case 'J':
      return value(kMixRank);
    case 'l':
      return value(kDecayRank);
    case '3':
      return value(kDecayLora);
    case '4':
      return value(kIclrLora);
    case '7':
      // The first block has no value residual. Its tensors exist, but are never read.
      return value(block == uint64_t{0} ? kIclrLora : kValueLora);
    case '8':
      return value(kGateLora);
    case 'v':
      return value(kShortConvolution);
    case '9':
      return token_types_;
    case 'U':
      return value(kBuckets);
    default:
      return std::nullopt;
  }
}

}  // namespace ggufscope
