// The tensor dimensions that llama.cpp expects, named by the letters of tensors.inc.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "gguf/lint/rules.hpp"

namespace ggufscope {

/// Evaluates the letters of shapes, for one block or outside of blocks.
class Extents {
 public:
  explicit Extents(const LintFile& file);

  /// nullopt if the file does not define the value, or if the loader would use something else.
  [[nodiscard]] std::optional<uint64_t> of(char letter, std::optional<uint64_t> block) const;

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
    kKeyCount
  };
  static constexpr std::array<std::string_view, kKeyCount> kKeys = {"embedding_length",
                                                                    "feed_forward_length",
                                                                    "expert_feed_forward_length",
                                                                    "expert_count",
                                                                    "context_length",
                                                                    "attention.head_count",
                                                                    "attention.head_count_kv",
                                                                    "attention.key_length",
                                                                    "attention.value_length",
                                                                    "attention.key_length_swa",
                                                                    "attention.value_length_swa",
                                                                    "expert_shared_feed_forward_length",
                                                                    "expert_shared_count",
                                                                    "attention.q_lora_rank",
                                                                    "attention.kv_lora_rank",
                                                                    "attention.kv_lora_rank_swa",
                                                                    "attention.key_length_mla",
                                                                    "attention.value_length_mla",
                                                                    "rope.dimension_count",
                                                                    "expert_used_count",
                                                                    "attention.indexer.key_length",
                                                                    "attention.indexer.head_count",
                                                                    "ssm.conv_kernel",
                                                                    "ssm.inner_size",
                                                                    "ssm.state_size",
                                                                    "ssm.time_step_rank",
                                                                    "ssm.group_count",
                                                                    "wkv.head_size",
                                                                    "time_mix_extra_dim",
                                                                    "time_decay_extra_dim",
                                                                    "attention.decay_lora_rank",
                                                                    "attention.iclr_lora_rank",
                                                                    "attention.value_residual_mix_lora_rank",
                                                                    "attention.gate_lora_rank",
                                                                    "attention.relative_buckets_count",
                                                                    "shortconv.l_cache",
                                                                    "expert_latent_length",
                                                                    "embedding_length_out",
                                                                    "dense_2_feat_out",
                                                                    "dense_3_feat_in"};

  [[nodiscard]] bool counts_from_zero(Key key) const;
  [[nodiscard]] std::optional<uint64_t> value(Key key, std::optional<uint64_t> block) const;
  /// The length of an attention head: the key's value or, without the key, an equal part of the width.
  [[nodiscard]] std::optional<uint64_t> head_length(Key key, Key windowed, std::optional<uint64_t> block) const;
  [[nodiscard]] std::optional<uint64_t> key_length(std::optional<uint64_t> block) const;
  [[nodiscard]] std::optional<uint64_t> value_length(std::optional<uint64_t> block) const;
  [[nodiscard]] std::optional<uint64_t> rotated(std::optional<uint64_t> block) const;

  // The letters of one kind of layer. Each function passes a letter that it does not know to the next one.
  [[nodiscard]] std::optional<uint64_t> attention(char letter, std::optional<uint64_t> block) const;
  [[nodiscard]] std::optional<uint64_t> latent_attention(char letter, std::optional<uint64_t> block) const;
  [[nodiscard]] std::optional<uint64_t> state_space(char letter, std::optional<uint64_t> block) const;
  [[nodiscard]] std::optional<uint64_t> rwkv(char letter, std::optional<uint64_t> block) const;

  std::array<bool, kKeys.size()> there_{};
  std::array<std::optional<uint64_t>, kKeys.size()> whole_{};
  std::array<std::vector<int64_t>, kKeys.size()> by_block_;
  std::array<bool, kKeys.size()> required_{};  ///< llama.cpp has no default if the value is 0
  std::optional<uint64_t> tokens_, token_types_;
  uint64_t labels_;                     ///< of the classification head
  std::optional<uint64_t> first_head_;  ///< see first_head_block
  bool shares_width_;                   ///< without their own key, shared experts are as wide as a dense layer
  bool derives_experts_;                ///< an expert width of 0 counts as absent
  bool keeps_zero_;                     ///< without its key, the width of an expert is 0
};

}  // namespace ggufscope
