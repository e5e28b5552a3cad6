// The tensor dimensions that llama.cpp expects, named by the letters of tensors.inc.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "gguf/lint/rules.hpp"

namespace ggufscope {

/// Cuts the first dimension off a shape: a letter, or an expression in braces.
[[nodiscard]] std::string_view cut_dimension(std::string_view& shape);

/// Evaluates the dimensions of shapes, for one block or outside of blocks.
class Extents {
 public:
  static constexpr uint64_t kOutside = UINT64_MAX, kUnknown = UINT64_MAX;

  explicit Extents(const LintFile& file);

  /// block: kOutside outside of blocks. kUnknown if the file does not define the value, or if the loader would use
  /// something else.
  [[nodiscard]] uint64_t of(std::string_view dimension, uint64_t block) const;

  /// The numbers that the dimensions are made of: those of keys and, last, the count of tokens.
  static constexpr size_t size() { return kKeyCount + 1; }
  /// The key of a number; a suffix after "{architecture}.", or a whole key that begins with "tokenizer.".
  [[nodiscard]] static std::string_view key_of(size_t number);
  [[nodiscard]] bool is_there(size_t number) const;
  /// kUnknown if the file does not have the number, or if it differs between blocks.
  [[nodiscard]] uint64_t number(size_t number) const;
  /// Replaces one number, as if the file had that value.
  void set(size_t number, uint64_t value);

 private:
  enum Key : uint8_t {
    kWidth,
    kFeedForward,
    kExpertFeedForward,
    kExpertCount,
    kContext,
    kHeads,
    kKvHeads,
    kKeyLength,
    kValueLength,
    kWindowedKeyLength,
    kWindowedValueLength,
    kSharedFeedForward,
    kSharedExperts,
    kQueryRank,
    kLatentRank,
    kWindowedLatentRank,
    kLatentKey,
    kLatentValue,
    kRotated,
    kExpertsUsed,
    kIndexerLength,
    kIndexerHeads,
    kConvKernel,
    kInner,
    kState,
    kStepRank,
    kGroups,
    kWkvHead,
    kMixRank,
    kDecayRank,
    kDecayLora,
    kIclrLora,
    kValueLora,
    kGateLora,
    kBuckets,
    kShortConvolution,
    kExpertLatent,
    kWidthOut,
    kDense2Out,
    kDense3In,
    kWindowedLatentKey,
    kWindowedLatentValue,
    kDeltaHead,
    kRatios,
    kKeyCount = kRatios + 16  ///< only expressions name the others
  };
  /// The letters of the first keys; a blank for keys without one.
  static constexpr std::string_view kLetters = "EF XCN       a      pqwIsrmWJl34  Uv";
  static constexpr std::string_view kKeys =
      "embedding_length feed_forward_length expert_feed_forward_length expert_count context_length "
      "attention.head_count attention.head_count_kv attention.key_length attention.value_length "
      "attention.key_length_swa attention.value_length_swa expert_shared_feed_forward_length "
      "expert_shared_count attention.q_lora_rank attention.kv_lora_rank attention.kv_lora_rank_swa "
      "attention.key_length_mla attention.value_length_mla rope.dimension_count expert_used_count "
      "attention.indexer.key_length attention.indexer.head_count ssm.conv_kernel ssm.inner_size "
      "ssm.state_size ssm.time_step_rank ssm.group_count wkv.head_size time_mix_extra_dim "
      "time_decay_extra_dim attention.decay_lora_rank attention.iclr_lora_rank "
      "attention.value_residual_mix_lora_rank attention.gate_lora_rank attention.relative_buckets_count "
      "shortconv.l_cache expert_latent_length embedding_length_out dense_2_feat_out dense_3_feat_in "
      "attention.key_length_mla_swa attention.value_length_mla_swa kda.head_dim attention.compress_ratios "
      "block_count hyper_connection.count hyper_connection.low_rank embedding_length_per_layer_input "
      "adapters.count adapters.lora_rank convnext.embedding_length posnet.embedding_length features_length "
      "moe_latent_size attention.indexer.kpool attention.output_group_count attention.output_lora_rank "
      "attention.value_expert_count ple.conv_kernel";

  /// The key of a name.
  [[nodiscard]] static Key key_named(std::string_view name);
  /// Sums of products and quotients, without blanks.
  [[nodiscard]] uint64_t expression(std::string_view sums, uint64_t block) const;
  /// One operand of an expression: a number, a letter or a key.
  [[nodiscard]] uint64_t operand(std::string_view text, uint64_t block) const;
  [[nodiscard]] uint64_t letter(char letter, uint64_t block) const;
  /// Whether a block attends to a window; nothing if that is unknown.
  [[nodiscard]] std::optional<bool> is_windowed(uint64_t block) const;

  [[nodiscard]] bool counts_from_zero(Key key) const;
  [[nodiscard]] uint64_t value(Key key, uint64_t block) const;
  /// The length of an attention head: the key's value or, without the key, an equal part of the width.
  [[nodiscard]] uint64_t head_length(Key key, Key windowed, uint64_t block) const;
  // The letters that neither a key nor an expression gives. Each function passes those that it does not know on.
  [[nodiscard]] uint64_t feed_forward(char letter, uint64_t block) const;
  [[nodiscard]] uint64_t end(char letter, uint64_t block) const;
  [[nodiscard]] uint64_t attention(char letter, uint64_t block) const;
  [[nodiscard]] uint64_t latent_attention(char letter, uint64_t block) const;

  std::array<bool, kKeyCount> there_{};
  std::array<uint64_t, kKeyCount> whole_{};
  std::array<std::vector<int64_t>, kKeyCount> by_block_;
  std::array<bool, kKeyCount> required_{};  ///< llama.cpp has no default if the value is 0
  uint64_t tokens_ = kUnknown, token_types_;
  uint64_t labels_;                   ///< of the classification head
  uint64_t head_width_, head_inner_;  ///< of a decision head
  uint64_t first_head_;               ///< see first_head_block; kOutside if there is none
  bool shares_width_;                 ///< without their own key, shared experts are as wide as a dense layer
  bool derives_experts_;              ///< an expert width of 0 counts as absent
  std::vector<int64_t> windows_;      ///< a flag for each block, where they decide on lengths of heads
  bool keeps_zero_;                   ///< without its key, the width of an expert is 0
};

}  // namespace ggufscope
