// The plan of an encoder, for example of images: its layers, which take rows and return rows. The CPU computes what
// comes before, between some of them, and after them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "gpu/plan.hpp"
#include "model/layer_run.hpp"

namespace ggufscope::gpu {

/// x += after_attention(scale_1 * attention(norm_1(x))); x += after_ffn(scale_2 * ffn(norm_2(x))). Norms before are
/// null where rows are not normalized, though they may be empty; other parts that are absent are null or empty.
struct EncoderLayer {
  const Affine *norm_1 = nullptr, *norm_2 = nullptr, *after_attention = nullptr, *after_ffn = nullptr;
  const Affine *q_norm = nullptr, *k_norm = nullptr;
  const Linear *qkv = nullptr, *q = nullptr, *k = nullptr, *v = nullptr, *out = nullptr;
  const Linear *up = nullptr, *gate = nullptr, *down = nullptr;
  const Vector *sinks = nullptr, *scale_1 = nullptr, *scale_2 = nullptr;
  bool windowed = false;  ///< rows attend to those of LayerRun::windows, else of ::all
};

/// Limits of the inputs of a matrix and of its outputs; each may be empty.
struct MatrixLimits {
  const Linear* linear = nullptr;
  std::array<const Vector*, 4> of{};  ///< smallest and largest input, smallest and largest output
};

struct EncoderView {
  std::span<const TensorRequest> requests;
  uint32_t n_embd = 0, n_head = 0, n_head_kv = 0, d_head = 0;
  NormKind norm = NormKind::kLayer;
  float eps = 0;
  Activation activation = Activation::kGelu;
  RopeKind rope = RopeKind::kNone;  ///< of whole heads, with the angles of a LayerRun
  float attention_scale = 0;        ///< 0: 1 / sqrt(d_head)
  bool normalizes_values = false;   ///< each head
  std::vector<EncoderLayer> layers;
  std::vector<MatrixLimits> limits;
  std::vector<uint32_t> ends;  ///< ascending: after these numbers of layers the rows are returned; the last is all
  const Affine* output_norm = nullptr;  ///< of the rows that the last layer leaves
};

/// Lowers the layers. Plan::embeddings has their dispatches, which a pass takes by PlanDispatch::layer: it begins with
/// the rows in Plan::stream, and what the layer before one of view.ends leaves is in Plan::embedded. The places of
/// weights do not depend on n_rows, the largest number of rows. Errors: those of lower.
[[nodiscard]] Result<Plan> lower_encoder(const EncoderView& view, uint32_t n_rows, const DeviceLimits& limits);

/// The step record of a pass.
[[nodiscard]] std::vector<uint32_t> encoder_record(const LayerRun& run);

}  // namespace ggufscope::gpu
