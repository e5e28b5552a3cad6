// Adapters: what changes a loaded model while it runs, and leaves its weights as they are.
//
//   LoRA            general.type "adapter", adapter.type "lora". A pair a weight NAME: NAME.lora_a [n_in, rank] and
//                   NAME.lora_b [rank, n_out]; of experts and heads with a third dimension. token_embd is stored the
//                   other way round: lora_a [rank, n_vocab], lora_b [rank, n_embd].
//                   y = W x + s B (A x), s = scale * adapter.lora.alpha / rank; scale alone without an alpha.
//                   adapter.alora.invocation_tokens (u32): the adapter works from these tokens on, not before.
//   control vector  general.architecture "controlvector". direction.N [n_embd] is added to what leaves layer N, N from
//                   1 on, times the scale.
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
  /// A whole file. Everything is checked and packed before anything of the model changes.
  /// Errors: those of the parser; kInvalidArgument for a file that is no adapter, or one of another architecture;
  /// kNotFound for a weight that the model lacks or half a pair; kBadShape; kBadValueType; kTruncated; kUnsupported for
  /// other kinds of adapters, tensors without a meaning, and a pair for embeddings that are the output, too;
  /// kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<Adapter>> open(const Model& model, Pool& pool, ByteView file,
                                                             Precision precision);
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  [[nodiscard]] bool is_control_vector() const { return !directions_.empty(); }
  /// Tokens that switch it on; empty: it always works.
  [[nodiscard]] std::span<const int32_t> invocation() const { return invocation_; }
  /// Tensors of the file that change nothing, by name: of norms, tables of positions, convolutions.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }
  /// Weights or layers that it changes.
  [[nodiscard]] size_t n_targets() const { return is_control_vector() ? directions_.size() : targets_.size(); }
  [[nodiscard]] uint64_t packed_bytes() const;
  /// Of the file's bytes.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class AdapterReader;
  friend struct AdapterUse;
  friend Result<void> use_adapters(Model& model, std::span<const struct AdapterUse> uses);
  struct Target {
    std::vector<LowRankUse>* uses;  // of the weight
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
  uint32_t first_layer = 0, last_layer = UINT32_MAX;  ///< of a control vector, both included
  bool operator==(const AdapterUse&) const = default;
};

/// From now on the model computes with these and no others. The adapters must live until the next call.
[[nodiscard]] Result<void> use_adapters(Model& model, std::span<const AdapterUse> uses);

}  // namespace ggufscope
