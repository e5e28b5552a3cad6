// The weights of a model, and the destination of each tensor of the file. Bytes may arrive in any order. Each tensor is
// packed when its rows arrive, so that there is never a second copy of the file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "gguf/header.hpp"
#include "model/part.hpp"
#include "nn/gemm/gemm.hpp"

namespace ggufscope {

/// A tensor of the file, from a GGUF header or an older container.
struct TensorEntry {
  std::string name;
  uint32_t n_dims = 0;
  std::array<uint64_t, 4> shape{1, 1, 1, 1};  ///< fastest first
  uint32_t type = 0;
  uint64_t offset = 0;  ///< absolute offset in the file
  uint64_t n_bytes = 0;
  uint32_t file = 0;  ///< index of the file in a split model
  bool big_endian = false;
  std::optional<uint64_t> file_size = std::nullopt;
};

/// Floats, dequantized at load. Empty if the file has no such tensor.
struct Vector {
  Buffer buffer;
  size_t n = 0;
  [[nodiscard]] const float* data() const { return n == 0 ? nullptr : buffer.as<float>(); }
  [[nodiscard]] float* data() { return n == 0 ? nullptr : buffer.as<float>(); }
  explicit operator bool() const { return n != 0; }
};

/// A low-rank adapter of a weight: y += B (A x) times a scale.
struct LowRank {
  std::vector<PackedMatrix> a, b;  // [rank, n_in] and [n_out, rank]; for a stack one pair for each matrix
  size_t rank = 0;
};
/// Floats of scratch memory that add_low_rank needs.
[[nodiscard]] size_t low_rank_scratch(const LowRank& pair);
struct LowRankUse {
  const LowRank* pair;
  float scale;
  float* scratch;  // [low_rank_scratch]
};

/// y = x W^T * scale + bias.
struct Linear {
  PackedMatrix matrix;
  Vector bias;   // [n_out]
  Vector scale;  // [1]
  size_t n_in = 0, n_out = 0;
  bool bias_first = false;           // y = (x W^T + bias) * scale
  std::vector<LowRankUse> adapters;  // active adapters; usually none
  explicit operator bool() const { return n_out != 0; }
};

/// Matrices of one shape in one tensor [n_in, n_out, n]: experts or heads.
struct LinearStack {
  std::vector<PackedMatrix> matrices;
  Vector biases;  // [n, n_out]
  Vector scales;  // [n]
  size_t n_in = 0, n_out = 0;
  std::vector<LowRankUse> adapters;
  explicit operator bool() const { return n_out != 0; }
};

struct Affine {
  Vector weight, bias;
  bool present = false;  // true also for an unweighted norm, which has no tensor
  explicit operator bool() const { return present; }
};

struct FfnWeights {
  Linear gate, up, down;  // no gate: not gated, or gate and up are fused in up
  Affine sub_norm;
  Vector act_scales;  // [n_ff]
};

struct ExpertWeights {
  LinearStack gate, up, down, gate_up;  // no gate: not gated; gate_up: both concatenated
  explicit operator bool() const { return static_cast<bool>(down); }
};

struct MoeWeights {
  Linear router;  // [n_embd] -> [n_expert]
  ExpertWeights experts;
  Linear latent_down, latent_up;  // projections for experts that are narrower than the model
  Affine latent_norm;
  ExpertWeights chunks;           // grovemoe: smaller experts, each shared by a few neighbouring experts
  Vector selection_bias;          // [n_expert]
  std::vector<int32_t> by_token;  // [n_vocab, n_expert_used]: experts determined by the token id instead of the router
  FfnWeights shared;
  Linear shared_gate;  // [n_embd] -> [1]
};

struct LayerWeights {
  Affine attn_norm, attn_norm_2, attn_post_norm, ffn_norm, ffn_post_norm;
  ModelPart mixer;  // see the header of the layer's mixer, mixers/*.hpp
  ModelPart cross;  // mixers/cross_attention.hpp
  FfnWeights ffn;
  std::unique_ptr<MoeWeights> moe;
  Affine experts_norm;
  ModelPart channel_mix;  // instead of ffn; mixers/rwkv.hpp
  ModelPart residual;     // of architectures with several residual streams, residual/*.hpp
  ModelPart per_layer;    // gemma3n, gemma4: residual/altup.hpp
  Vector output_scale;    // [1]
};

/// Weights of pooling and of the classification head; see pooling.hpp.
struct PoolingWeights {
  Linear dense_2, dense_3;
  Linear cls, cls_output;
  Affine cls_norm;
};

struct Weights {
  Linear token_embedding;     // [n_vocab, n_embd]
  Linear position_embedding;  // [n_ctx, n_embd]
  Vector token_type;          // first row of token_types
  Affine embedding_norm, output_norm, encoder_norm;
  ModelPart residual;                                // see LayerWeights
  Linear output;                                     // absent: tied to token_embedding
  Linear embedding_output;                           // [n_embd] -> [n_embd_out], of the models that have one
  Vector output_bias;                                // [n_vocab], if the output is tied
  Linear per_layer_embedding, per_layer_model_proj;  // gemma3n, gemma4
  Affine per_layer_proj_norm;
  PoolingWeights pooling;
  Linear features;                                             // eagle3: [n_features] -> [n_embd]
  Affine features_norm;                                        // [n_features]
  Vector state_norm;                                           // [n_state], of MTP heads
  std::vector<int32_t> draft_tokens;                           // the token of each of eagle3's outputs; empty: all
  ModelPart draft;                                             // mixers/block_draft.hpp
  ModelPart codec;                                             // wavtokenizer.hpp
  ModelPart decision;                                          // decision/*.cpp
  Vector rope_factors, rope_factors_long, rope_factors_short;  // [n_rot / 2]
  std::vector<LayerWeights> layers;
  std::vector<LayerWeights> encoder;  // t5
};

/// One tensor to load, and its destination.
struct TensorRequest {
  TensorEntry entry;
  uint64_t n_rows = 0;  ///< number of rows, each of entry.shape[0] elements
  uint64_t row_bytes = 0;
  uint64_t n_rows_kept = 0;  ///< only the first so many rows are kept
  uint64_t n_rows_arrived = 0;
  bool halves_suffice = false;  ///< F32 is packed as F16, except with kExact
  Linear* linear = nullptr;     // exactly one of these four is set
  LinearStack* stack = nullptr;
  Vector* vector = nullptr;
  std::vector<int32_t>* integers = nullptr;
  uint32_t integer_limit = 0;  ///< upper limit (exclusive) for each integer
};

/// The type that a matrix is packed from: the file's, or F16.
[[nodiscard]] uint32_t packed_type(const TensorRequest& request, Precision precision);
/// Bytes of a request's tensor after packing. Errors: kOverflow; those of packed_bytes.
[[nodiscard]] Result<uint64_t> loaded_size(const TensorRequest& request, Precision precision);
/// Stores whole rows of a request's tensor, in the file's layout, from first_row on. Memory is allocated when the first
/// of them arrive. Rows beyond n_rows_kept are ignored. Errors: kInvalidArgument if the bytes are not whole rows;
/// kOutOfMemory.
[[nodiscard]] Result<void> pack_rows(Pool& pool, TensorRequest& request, Precision precision, uint64_t first_row,
                                     ByteView rows);
/// Error: kTruncated if rows are missing; the message names the tensor.
[[nodiscard]] Result<void> all_arrived(std::span<const TensorRequest> plan);
/// Bytes of the weights that are loaded so far.
[[nodiscard]] uint64_t loaded_bytes(std::span<const TensorRequest> plan);

enum class Need : uint8_t { kRequired, kOptional };

/// Builds the plan. Each call finds a tensor, checks its shape, and records its destination. The first error is kept,
/// and later calls do nothing.
class Planner {
 public:
  explicit Planner(std::vector<TensorEntry> tensors);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] const TensorEntry* find(std::string_view name) const;
  /// The rows of name.weight; 0 without such a tensor.
  [[nodiscard]] uint64_t rows_of(const std::string& name) const;

  /// Plans name.weight [n_in, n_out], with name.bias and name.scale if the file has them. Returns whether the tensor
  /// exists.
  bool linear(Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out, Need need = Need::kRequired);
  /// The same without bias and scale, even if the file has them.
  bool matrix(Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out, Need need = Need::kRequired);
  /// Plans name.weight [n_kernel, n_in, n_out] of a one-dimensional convolution, with name.bias, as a matrix whose rows
  /// are [n_in, n_kernel] with the kernel fastest.
  bool convolution(Linear& to, const std::string& name, uint64_t n_kernel, uint64_t n_in, uint64_t n_out,
                   Need bias = Need::kRequired);
  /// Plans the tensor with exactly this name as a matrix [n_in, n_out], however the file splits its dimensions; without
  /// a bias.
  bool flattened(Linear& to, const std::string& tensor, uint64_t n_in, uint64_t n_out, Need need = Need::kRequired);
  /// Plans name.weight [n_in, n_out, n].
  bool stack(LinearStack& to, const std::string& name, uint64_t n_in, uint64_t n_out, uint64_t n,
             Need need = Need::kRequired);
  /// Plans the tensor with exactly this name, [n_in, n_out, n].
  bool bare_stack(LinearStack& to, const std::string& name, uint64_t n_in, uint64_t n_out, uint64_t n,
                  Need need = Need::kRequired);
  /// The same, or [n_in, n_out * n]: the matrices one below the other.
  bool split_stack(LinearStack& to, const std::string& name, uint64_t n_in, uint64_t n_out, uint64_t n);
  /// Plans the tensor with exactly this name, of type I32 or I64 [n, n_rows], with values from 0 to limit - 1.
  bool integers(std::vector<int32_t>& to, const std::string& name, uint64_t n, uint64_t n_rows, uint32_t limit);
  /// Plans the tensor with exactly this name, which must have n elements.
  bool vector(Vector& to, const std::string& name, uint64_t n, Need need = Need::kRequired);
  /// Plans only the first row, of n elements.
  bool first_row(Vector& to, const std::string& name, uint64_t n, Need need);
  /// Plans name.weight [n] (or `name`, because some converters leave out the suffix) and name.bias.
  bool affine(Affine& to, const std::string& name, uint64_t n, Need need = Need::kRequired,
              Need bias = Need::kOptional);

  /// Ignores tensors whose names begin with prefix.
  void ignore(std::string_view prefix);
  /// Ignores tensors for which leaves_out(name) is true. Later calls do not find them.
  template <class LeavesOut>
  void leave_out(const LeavesOut& leaves_out) {
    std::erase_if(tensors_, [&](const TensorEntry& entry) { return leaves_out(std::string_view(entry.name)); });
    used_.assign(tensors_.size(), false);
  }

  void refuse(ErrorCode code, std::string message);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const Error& error() const { return error_; }

  /// Returns the plan, sorted by file and offset. Errors: the first one passed to refuse; kInvalidArgument for a tensor
  /// that occurs twice; kUnsupported for a tensor that no call requested, because the computation would be incomplete.
  [[nodiscard]] Result<std::vector<TensorRequest>> take_plan();

 private:
  bool place_stack(LinearStack& to, TensorRequest&& request, uint64_t n_in, uint64_t n_out, uint64_t n);
  bool weights_of(Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out, Need need);
  bool request(const std::string& name, std::span<const uint64_t> shape, Need need, TensorRequest& out);

  std::vector<TensorEntry> tensors_;  // sorted by name
  std::vector<bool> used_;
  std::vector<TensorRequest> plan_;
  bool failed_ = false;
  Error error_{};
};

/// y [n_tokens, n_out] = x [n_tokens, n_in] W^T * scale + bias.
void apply(Pool& pool, const Linear& linear, const float* x, size_t n_tokens, float* y);
/// Several projections of the same x at once, so that activations are quantized once. Absent ones are skipped.
struct Projection {
  const Linear* linear;
  float* y;  ///< [n_tokens, n_out]
};
void apply(Pool& pool, std::initializer_list<Projection> projections, const float* x, size_t n_tokens);
/// The same for matrix i of a stack.
void apply(Pool& pool, const LinearStack& stack, size_t i, const float* x, size_t n_tokens, float* y);
/// Looks up rows of a table as floats: out [ids.size(), n_in]. The table's adapters have A [n_rows, rank] and B [n_in,
/// rank].
void look_up(Pool& pool, const Linear& table, std::span<const int32_t> ids, float* out);

}  // namespace ggufscope
