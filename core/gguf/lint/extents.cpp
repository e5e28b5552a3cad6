// Computes the tensor dimensions that a file's keys demand.
#include "gguf/lint/extents.hpp"

#include "gguf/lint/required.hpp"
#include "gguf/lint/tensor_plan.hpp"

namespace ggufscope {
namespace {

using Length = uint64_t;
constexpr Length kUnknown = Extents::kUnknown, kLongest = kUnknown - 1;

// Products and sums of what is known saturate. No tensor is that long, so the comparison still fails.
bool known(Length a, Length b) { return a != kUnknown && b != kUnknown; }
Length product(Length a, Length b) {
  Length out = 0;
  if (a == 0 || b == 0) return 0;
  if (!known(a, b)) return kUnknown;
  return __builtin_mul_overflow(a, b, &out) || out > kLongest ? kLongest : out;
}
Length quotient(Length a, Length b) { return known(a, b) && b != 0 ? a / b : kUnknown; }
Length sum(Length a, Length b) {
  Length out = 0;
  if (!known(a, b)) return kUnknown;
  return __builtin_add_overflow(a, b, &out) || out > kLongest ? kLongest : out;
}
Length less(Length a, Length b) { return known(a, b) && a >= b ? a - b : kUnknown; }

}  // namespace

Extents::Extents(const LintFile& file)
    : shares_width_(has_word("hunyuan-moe qwen2moe qwen3next qwen35moe qwen4exp", file.architecture)),
      derives_experts_(file.architecture == "glm4moe"),
      keeps_zero_(file.architecture == "smallthinker") {
  if (file.architecture == "gemma-embedding2")
    windows_ = get_integers(file.gguf, arch_key(file, "attention.sliding_window_pattern")).value_or(windows_);
  whole_.fill(kUnknown);
  for (size_t i = 0; i < kKeys.size(); ++i) {
    required_[i] = requires_key(file.architecture, kKeys[i]) ||
                   (i == kExpertFeedForward && has_word("grok qwen2moe qwen3moe smallthinker", file.architecture));
    const std::string key = arch_key(file, kKeys[i]);
    if (const KeyValue* kv = find_key(file.gguf, key); kv != nullptr) {
      there_[i] = true;
      whole_[i] = get_u64(file.gguf, key).value_or(kUnknown);
      if (kv->type == ValueType::kArray && kv->count <= kMaxBlocks)
        by_block_[i] = get_integers(file.gguf, key).value_or(std::vector<int64_t>());
    }
  }
  const KeyValue* labels = find_key(file.gguf, arch_key(file, "classifier.output_labels"));
  labels_ = labels != nullptr && labels->type == ValueType::kArray && labels->count > 0 ? labels->count : 1;
  first_head_ = first_head_block(file).value_or(kOutside);
  token_types_ = get_u64(file.gguf, "tokenizer.ggml.token_type_count").value_or(kUnknown);
  const KeyValue* tokens = find_key(file.gguf, "tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::kArray) tokens_ = tokens->count;
}

std::string_view Extents::key_of(size_t number) {
  return number < kKeys.size() ? kKeys[number] : "tokenizer.ggml.tokens";
}

bool Extents::is_there(size_t number) const { return number < kKeys.size() ? there_[number] : tokens_ != kUnknown; }

uint64_t Extents::number(size_t number) const { return number < kKeys.size() ? whole_[number] : tokens_; }

void Extents::set(size_t number, uint64_t value) {
  if (number >= kKeys.size()) {
    tokens_ = value;
    return;
  }
  there_[number] = true;
  whole_[number] = value;
  by_block_[number].clear();
}

// True for keys for which llama.cpp uses 0 as 0, or as the default if the key is absent. For other keys 0 means a
// different default, or that the tensor does not exist.
bool Extents::counts_from_zero(Key key) const {
  return key == kFeedForward || key == kHeads || key == kKvHeads ||
         (there_[key] && (required_[key] || key == kKeyLength || key == kValueLength || key == kRotated));
}

uint64_t Extents::value(Key key, uint64_t block) const {
  const std::vector<int64_t>& values = by_block_[key];
  if (key == kExpertFeedForward && derives_experts_ && whole_[key] == 0) return kUnknown;
  if (counts_from_zero(key) && (!there_[key] || whole_[key] == 0)) return 0;
  if (block >= values.size()) return whole_[key] != 0 ? whole_[key] : kUnknown;
  const int64_t one = values[static_cast<size_t>(block)];
  return one > 0 ? static_cast<uint64_t>(one) : kUnknown;
}

uint64_t Extents::head_length(Key key, Key windowed, uint64_t block) const {
  const auto heads = value(kHeads, block);
  if (heads == kUnknown) return kUnknown;
  if (there_[windowed] && value(windowed, block) != value(key, block)) {
    // Layers with sliding-window attention may have other head counts.
    if (block >= windows_.size()) return kUnknown;
    if (windows_[static_cast<size_t>(block)] != 0) return value(windowed, block);
  }
  if (there_[key]) return value(key, block);
  return heads == 0 ? heads : quotient(value(kWidth, block), heads);
}

uint64_t Extents::key_length(uint64_t block) const { return head_length(kKeyLength, kWindowedKeyLength, block); }

uint64_t Extents::value_length(uint64_t block) const { return head_length(kValueLength, kWindowedValueLength, block); }

uint64_t Extents::rotated(uint64_t block) const {
  return there_[kRotated] ? value(kRotated, block) : key_length(block);
}

uint64_t Extents::of(char letter, uint64_t block) const {
  const auto value = [&](Key key) { return this->value(key, block); };
  switch (letter) {
    case 'E':
      return value(kWidth);
    case 'F':
      return value(kFeedForward);
    case 'G':
      return product(value(kFeedForward), block != kOutside && block >= first_head_ ? 1 : 2);
    case '2':
      return quotient(value(kFeedForward), 2);
    case '0':
      return product(3, value(kWidth));
    case '!':
      return there_[kExpertLatent] ? value(kExpertLatent) : value(kWidth);
    case 'M':
      if (keeps_zero_ && !there_[kExpertFeedForward]) return 0;
      // Without the key, each expert gets an equal part of the usual width.
      return there_[kExpertFeedForward] ? value(kExpertFeedForward)
                                        : quotient(value(kFeedForward), value(kExpertsUsed));
    case 'h':
      if (there_[kSharedFeedForward]) return value(kSharedFeedForward);
      return shares_width_ ? value(kFeedForward) : product(value(kExpertFeedForward), value(kSharedExperts));
    case 'X':
      return value(kExpertCount);
    case 'C':
      return value(kContext);
    case 'T':
      return tokens_;
    case '9':
      return token_types_;
    case 'v':
      return value(kShortConvolution);
    case 'U':
      return value(kBuckets);
    case '1':
      return 1;
    case '5':
      return 5;
    case '6':
      return 6;
    case '+':
      return product(2, value(kWidth));
    case '/':
      return quotient(rotated(block), 2);
    case '#':
      return labels_;
    case '^':
      // A decision head has its own outputs.
      if (first_head_ != kOutside) return kUnknown;
      return there_[kWidthOut] ? value(kWidthOut) : value(kWidth);
    case '<':
      return value(kDense2Out) == kUnknown ? 0 : value(kDense2Out);
    case '>':
      return value(kDense3In) == kUnknown ? 0 : value(kDense3In);
    default:
      return attention(letter, block);
  }
}

uint64_t Extents::attention(char letter, uint64_t block) const {
  const auto heads = value(kHeads, block), kv_heads = there_[kKvHeads] ? value(kKvHeads, block) : heads;
  const auto keys = product(kv_heads, key_length(block)), values = product(kv_heads, value_length(block));
  const auto queries = product(heads, key_length(block));
  switch (letter) {
    case 'N':
      return heads;
    case 'H':
      return key_length(block);
    case 'Q':
      return queries;
    case 'O':
      return product(heads, value_length(block));
    case 'R':
      return product(2, queries);
    case 'D':
      return kv_heads;
    case 'K':
      return keys;
    case 'V':
      return values;
    case 'S':
      return sum(queries, sum(keys, values));
    case 'u':
      return sum(queries, product(2, keys));
    case 'p':
      return value(kIndexerLength, block);
    case 'q':
      return value(kIndexerHeads, block);
    case 't':
      return product(value(kIndexerLength, block), value(kIndexerHeads, block));
    case 'j':
      return product(heads, rotated(block));
    case 'k':
      return product(kv_heads, rotated(block));
    default:
      return latent_attention(letter, block);
  }
}

uint64_t Extents::latent_attention(char letter, uint64_t block) const {
  // In models with windows, the ranks differ between blocks.
  const bool latent = !there_[kWindowedLatentRank];
  const auto plain = [&](Key key) { return latent ? value(key, block) : kUnknown; };
  const auto heads = value(kHeads, block);
  const auto key = there_[kLatentKey] ? plain(kLatentKey) : latent ? key_length(block) : kUnknown;
  const auto length = there_[kLatentValue] ? plain(kLatentValue) : latent ? value_length(block) : kUnknown;
  const auto unrotated = less(key, rotated(block));
  switch (letter) {
    case 'a':
      return plain(kQueryRank);
    case 'b':
      return plain(kLatentRank);
    case 'c':
      return sum(plain(kLatentRank), rotated(block));
    case 'd':
      return product(heads, key);
    case 'e':
      return unrotated;
    case 'f':
      return length;
    case 'g':
      return product(heads, length);
    case 'i':
      return product(heads, sum(unrotated, length));
    default:
      return state_space(letter, block);
  }
}

uint64_t Extents::state_space(char letter, uint64_t block) const {
  const auto inner = value(kInner, block), rank = value(kStepRank, block), groups = value(kGroups, block);
  const auto state = value(kState, block);
  const auto shared = product(2, product(groups, state));  // B and C, or queries and keys
  switch (letter) {
    case 'w':
      return value(kConvKernel, block);
    case 'I':
      return inner;
    case 'L':
      return product(2, inner);
    case 's':
      return state;
    case 'r':
      return rank;
    case 'x':
      return sum(rank, product(2, state));
    case 'y':
      return sum(inner, shared);
    case 'z':
      return sum(sum(product(2, inner), shared), rank);
    case 'o':
      return product(state, rank);
    case 'A':
      return sum(product(state, rank), shared);
    case 'Z':
      return sum(product(2, product(state, rank)), shared);
    case 'n':
      return quotient(inner, groups);
    case 'm':
      return groups;
    case 'B':
      return product(2, rank);
    default:
      return rwkv(letter, block);
  }
}

uint64_t Extents::rwkv(char letter, uint64_t block) const {
  switch (letter) {
    case 'W':
      return value(kWkvHead, block);
    case 'P':
      return quotient(value(kWidth, block), value(kWkvHead, block));
    case 'Y':
      return product(5, value(kMixRank, block));
    case 'J':
      return value(kMixRank, block);
    case 'l':
      return value(kDecayRank, block);
    case '3':
      return value(kDecayLora, block);
    case '4':
      return value(kIclrLora, block);
    case '7':
      // The first block has no value residual. Its tensors exist, but are never read.
      return value(block == 0 ? kIclrLora : kValueLora, block);
    case '8':
      return there_[kGateLora] ? value(kGateLora, block) : 0;
    default:
      return kUnknown;
  }
}

}  // namespace ggufscope
