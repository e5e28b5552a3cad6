// Computes the tensor dimensions that a file's keys demand.
#include "gguf/lint/extents.hpp"

#include <algorithm>

#include "gguf/lint/required.hpp"
#include "gguf/lint/tensor_plan.hpp"

namespace ggufscope {
namespace {

#include "gguf/dimensions.inc"

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

/// The second dimension of a tensor.
Length rows_of(const LintFile& file, std::string_view name) {
  const TensorInfo* tensor = find_tensor(file.gguf, name);
  return tensor != nullptr && tensor->n_dims > 1 ? tensor->shape[1] : kUnknown;
}

Length less(Length a, Length b) { return known(a, b) && a >= b ? a - b : kUnknown; }

}  // namespace

std::string_view cut_dimension(std::string_view& shape) {
  const size_t n = shape.starts_with('{') ? shape.find('}') + 1 : 1;
  const std::string_view dimension = shape.substr(0, n);
  shape.remove_prefix(dimension.size());
  return dimension;
}

Extents::Extents(const LintFile& file)
    : shares_width_(has_word("hunyuan-moe qwen2moe qwen3next qwen35moe qwen4exp", file.architecture)),
      derives_experts_(file.architecture == "glm4moe"),
      keeps_zero_(file.architecture == "smallthinker") {
  if (has_word("dots3note gemma-embedding2 gemma4", file.architecture))
    windows_ = get_integers(file.gguf, arch_key(file, "attention.sliding_window_pattern")).value_or(windows_);
  whole_.fill(kUnknown);
  for (size_t i = 0; i < kKeyCount; ++i) {
    const std::string_view suffix = key_of(i);
    required_[i] = requires_key(file.architecture, suffix) ||
                   (i == kExpertFeedForward && has_word("grok qwen2moe qwen3moe smallthinker", file.architecture));
    const std::string key = arch_key(file, suffix);
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
  head_width_ = rows_of(file, file.architecture == "clef" ? "decision.proj_memory.weight" : "decision.key.weight");
  head_inner_ = rows_of(file, "dec.blk.0.ffn_up.weight");
  token_types_ = get_u64(file.gguf, "tokenizer.ggml.token_type_count").value_or(kUnknown);
  const KeyValue* tokens = find_key(file.gguf, "tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == ValueType::kArray) tokens_ = tokens->count;
}

std::string_view Extents::key_of(size_t number) {
  for (const std::string_view key : WordList(kKeys))
    if (number-- == 0) return key;
  return "tokenizer.ggml.tokens";
}

Extents::Key Extents::key_named(std::string_view name) {
  size_t i = 0;
  for (const std::string_view key : WordList(kKeys)) {
    if (key == name) break;
    ++i;
  }
  return static_cast<Key>(i);
}

bool Extents::is_there(size_t number) const { return number < kKeyCount ? there_[number] : tokens_ != kUnknown; }

uint64_t Extents::number(size_t number) const { return number < kKeyCount ? whole_[number] : tokens_; }

void Extents::set(size_t number, uint64_t value) {
  if (number >= kKeyCount) {
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
  return key == kFeedForward || key == kHeads || key == kKvHeads || key >= kDeltaHead ||
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
    const std::optional<bool> is = is_windowed(block);
    if (!is) return kUnknown;
    if (*is) return value(windowed, block);
  }
  if (there_[key]) return value(key, block);
  return heads == 0 ? heads : quotient(value(kWidth, block), heads);
}

std::optional<bool> Extents::is_windowed(uint64_t block) const {
  if (block >= windows_.size()) return std::nullopt;
  return windows_[static_cast<size_t>(block)] != 0;
}

uint64_t Extents::of(std::string_view dimension, uint64_t block) const {
  return dimension.size() == 1 ? letter(dimension.front(), block)
                               : expression(dimension.substr(1, dimension.size() - 2), block);
}

uint64_t Extents::expression(std::string_view sums, uint64_t block) const {
  Length all = 0;
  while (!sums.empty()) {
    std::string_view products = cut_off(sums, '+');
    Length one = 1;
    while (!products.empty()) {
      std::string_view divisor = cut_off(products, '*');
      const Length dividend = operand(cut_off(divisor, '/'), block);
      one = product(one, divisor.empty() ? dividend : quotient(dividend, operand(divisor, block)));
    }
    all = sum(all, one);
  }
  return all;
}

uint64_t Extents::operand(std::string_view text, uint64_t block) const {
  const char first = text.front();
  if (text.size() == 1) return first >= '0' && first <= '9' ? static_cast<Length>(first - '0') : letter(first, block);
  return value(key_named(text), block);
}

uint64_t Extents::letter(char letter, uint64_t block) const {
  if (const size_t key = kLetters.find(letter); key != std::string_view::npos)
    return value(static_cast<Key>(key), block);
  const char word[] = {' ', letter, ':'};
  const size_t at = kDerivedDimensions.find(std::string_view(word, 3));
  if (at == std::string_view::npos) return feed_forward(letter, block);
  std::string_view derived = kDerivedDimensions.substr(at + 3);
  return expression(cut_off(derived, ' '), block);
}

uint64_t Extents::feed_forward(char letter, uint64_t block) const {
  const auto value = [&](Key key) { return this->value(key, block); };
  switch (letter) {
    case '1':
    case '5':
    case '6':
      return static_cast<Length>(letter - '0');
    case 'G':
      return product(value(kFeedForward), block != kOutside && block >= first_head_ ? 1 : 2);
    case '!':
      return there_[kExpertLatent] ? value(kExpertLatent) : value(kWidth);
    case 'M':
      if (keeps_zero_ && !there_[kExpertFeedForward]) return 0;
      // Without the key, each expert gets an equal part of the usual width.
      return there_[kExpertFeedForward] ? value(kExpertFeedForward)
                                        : quotient(value(kFeedForward), value(kExpertsUsed));
    case 'h':
      if (shares_width_)
        return number(kSharedFeedForward) != 0 && there_[kSharedFeedForward] ? value(kSharedFeedForward)
                                                                             : value(kFeedForward);
      if (there_[kSharedFeedForward]) return value(kSharedFeedForward);
      return product(value(kExpertFeedForward), value(kSharedExperts));
    case '7':
      // The first block has no value residual. Its tensors exist, but are never read.
      return value(block == 0 ? kIclrLora : kValueLora);
    case '8':
      return there_[kGateLora] ? value(kGateLora) : 0;
    default:
      return end(letter, block);
  }
}

uint64_t Extents::end(char letter, uint64_t block) const {
  const auto or_zero = [&](Key key) { return value(key, block) == kUnknown ? 0 : value(key, block); };
  switch (letter) {
    case 'T':
      return tokens_;
    case '9':
      return token_types_;
    case '&':
      return head_width_;
    case '$':
      return head_inner_;
    case '#':
      return labels_;
    case '^':
      // A decision head has an output for each type of question: choice, score, noul.
      if (first_head_ != kOutside) return 3;
      return value(there_[kWidthOut] ? kWidthOut : kWidth, block);
    case '<':
      return or_zero(kDense2Out);
    case '>':
      return or_zero(kDense3In);
    default:
      return attention(letter, block);
  }
}

uint64_t Extents::attention(char letter, uint64_t block) const {
  switch (letter) {
    case 'H':
      return head_length(kKeyLength, kWindowedKeyLength, block);
    case '=':
      return head_length(kValueLength, kWindowedValueLength, block);
    case '-':
      return there_[kRotated] ? value(kRotated, block) : this->letter('H', block);
    case 'D':
      return value(there_[kKvHeads] ? kKvHeads : kHeads, block);
    case '%':
      return value(kRatios, block) == 4 ? 2 : 1;
    default:
      return latent_attention(letter, block);
  }
}

uint64_t Extents::latent_attention(char letter, uint64_t block) const {
  // In models with windows, the ranks differ between blocks.
  const auto plain = [&](Key key, Key windowed) {
    const std::optional<bool> is = there_[kWindowedLatentRank] ? is_windowed(block) : false;
    return is ? value(*is ? windowed : key, block) : kUnknown;
  };
  const auto heads = value(kHeads, block);
  const auto key = there_[kLatentKey] ? plain(kLatentKey, kWindowedLatentKey) : this->letter('H', block);
  const auto length = there_[kLatentValue] ? plain(kLatentValue, kWindowedLatentValue) : this->letter('=', block);
  const std::vector<int64_t>& kv_heads = by_block_[kKvHeads];
  switch (letter) {
    case 'b':
      return plain(kLatentRank, kWindowedLatentRank);
    case 'd':
      return product(heads, key);
    case 'e':
      return less(key, this->letter('-', block));
    case 'f':
      return length;
    case 'g':
      if (there_[kDeltaHead] && block < kv_heads.size() && kv_heads[static_cast<size_t>(block)] == 0)
        return product(heads, value(kDeltaHead, block));
      return product(heads, length);
    default:
      return kUnknown;
  }
}

}  // namespace ggufscope
