// Adapters. They change a loaded model's computation while they are active and do not modify its weights.
//
//   LoRA            general.type "adapter", adapter.type "lora". One pair for each weight NAME: NAME.lora_a
//                   [n_in, rank] and NAME.lora_b [rank, n_out]; for experts and heads with a third dimension.
//                   token_embd is stored transposed: lora_a [rank, n_vocab], lora_b [rank, n_embd].
//                   y = W x + s B (A x), s = scale * adapter.lora.alpha / rank; without an alpha, s = scale.
//                   adapter.alora.invocation_tokens (u32): the adapter is active from these tokens on.
//   control vector  general.architecture "controlvector". direction.N [n_embd], times the scale, is added to the output
//                   of layer N. N counts from 1.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace ggufscope {

class Adapter {
 public:
  /// Opens a whole file. Everything is checked and packed before the model changes. Errors: those of the parser;
  /// kInvalidArgument for a file that is not an adapter or is for another architecture; kNotFound for a weight that the
  /// model does not have or an incomplete pair; kBadShape; kBadValueType; kTruncated; kUnsupported for other kinds of
  /// adapters, unknown tensors, weights of integers, and a pair for embeddings that are also the output; kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<Adapter>> open(const Model& model, Pool& pool, ByteView file,
                                                             Precision precision);
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  [[nodiscard]] bool is_control_vector() const { return !directions_.empty(); }
  /// Tokens that activate it; empty: it is always active.
  [[nodiscard]] std::span<const int32_t> invocation() const { return invocation_; }
  /// Names of tensors in the file that have no effect: those of norms, position tables and convolutions.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }
  /// The number of weights or layers that it changes.
  [[nodiscard]] size_t n_targets() const { return is_control_vector() ? directions_.size() : targets_.size(); }
  [[nodiscard]] uint64_t packed_bytes() const;
  /// A hash of the file's bytes.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class AdapterReader;
  friend struct AdapterUse;
  friend Result<void> use_adapters(Model& model, std::span<const struct AdapterUse> uses);
  friend Result<void> check_scale(const struct AdapterUse& use);
  struct Target {
    std::vector<LowRankUse>* uses;  // the list in the weight
    LowRank pair;
    float factor;  // alpha / rank
  };
  struct Direction {
    uint32_t layer;
    std::vector<float> values;  // [n_embd]
  };
  Adapter() = default;

  std::vector<Target> targets_;
  std::vector<Direction> directions_;
  std::vector<int32_t> invocation_;
  std::vector<std::string> ignored_;
  Buffer scratch_;
  uint64_t fingerprint_ = 0;
};

struct AdapterUse {
  std::shared_ptr<const Adapter> adapter;
  float scale = 1;
  uint32_t first_layer = 0, last_layer = UINT32_MAX;  ///< for a control vector; both included
  bool operator==(const AdapterUse&) const = default;
};

/// Error: kInvalidArgument for a scale that is not finite, or above a million with the factors of the file.
[[nodiscard]] Result<void> check_scale(const AdapterUse& use);
/// From now on the model computes with exactly these adapters. They must live until the next call. Errors of
/// check_scale.
[[nodiscard]] Result<void> use_adapters(Model& model, std::span<const AdapterUse> uses);

}  // namespace ggufscope
