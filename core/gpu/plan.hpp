// The plan of a model on a GPU: an opened model as rows of buffers, uploads and dispatches, which an executor outside
// of the core runs. Nothing here calls a GPU. What a kernel computes: kernels.inc; what changes from pass to pass:
// step.hpp.
//
// An executor
//   1. creates the buffers, and writes `parameters` (one uniform buffer) and `constants`;
//   2. for each upload reads the rows of its request of Model::plan(), repacks them (repack.hpp) and writes the
//   streams;
//      requests in host_requests also go to Model::set_rows, because the core reads them (RoPE factors, pooling);
//   3. for each pass writes the step record (Session::prepare) to `step`, and encodes, in one compute pass,
//        decode  + decode_logits  + choose                 for at most kMaxColumns tokens, if decode is not empty
//        prefill + prefill_logits + choose                 for more
//      an encoder's passes have the layers of `embeddings` (encoder.hpp);
//      with n_outputs == 0 only the first list; to return embeddings, `embeddings` instead of the logits' list, and
//      where `encodes` is set `embeddings` alone.
// Of a dispatch whose grid has a zero, nothing is encoded. Lists run in order; each dispatch reads what those before it
// wrote. Buffers other than kWeights and kParameters start as zeros.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/kernels.hpp"
#include "model/model.hpp"
#include "nn/kv_cache.hpp"
#include "nn/profile.hpp"

namespace ggufscope::gpu {

/// What a device allows. The defaults are those of every WebGPU device.
struct DeviceLimits {
  uint64_t max_buffer_bytes = uint64_t{256} << 20;
  uint64_t max_binding_bytes = uint64_t{128} << 20;
};

/// kRecurrent: the states of a recurrent layer, one for each slot (step.hpp).
enum class Store : uint8_t { kWeights, kCache, kRecurrent, kActivation, kStep, kParameters, kOutput };

/// One GPUBuffer.
struct PlanBuffer {
  Store store;
  uint64_t bytes;  ///< a multiple of 16
};

struct PlanBinding {
  uint32_t buffer = kAbsent;  ///< kAbsent: the variant does not have this binding
  uint64_t offset = 0;        ///< a multiple of 256
  uint64_t bytes = 0;
};

/// Workgroups in one dimension: ceil((fixed + per_row * n_rows + per_split * n_splits) / divisor), where n_rows is
/// n_outputs of the step record for variants with kOutputRows, else n_tokens; n_splits that of the windowed layers for
/// variants with kWindowed.
struct GridSize {
  uint32_t fixed = 1, per_row = 0, per_split = 0, divisor = 1;
  bool operator==(const GridSize&) const = default;
};

/// What is compiled: no size of a model but those of its heads, so that few pipelines serve all models.
struct Variant {
  Kernel kernel{};
  Epilogue epilogue = Epilogue::kStore;
  Activation activation = Activation::kSilu;  ///< with kGate and kActivate
  Gating gating = Gating::kNone;              ///< choose_experts
  RopeKind rope = RopeKind::kNone;
  CacheType cache_keys = CacheType::kF32, cache_values = CacheType::kF32;       ///< f32 or f16
  std::array<uint8_t, kMaxMatrices> types{kNoType, kNoType, kNoType, kNoType};  ///< ggml types of the matrices
  uint16_t d_k = 0, d_v = 0;                                                    ///< attention
  uint16_t heads = 0;  ///< attend_splits: query heads of a workgroup
  uint32_t flags = 0;
  static constexpr uint8_t kNoType = 255;
  bool operator==(const Variant&) const = default;
};

struct PlanDispatch {
  uint16_t variant = 0;                              ///< index into Plan::variants
  uint32_t parameters = 0;                           ///< byte offset of its kParameterWords in Plan::parameters
  std::array<PlanBinding, kMaxBindings> bindings{};  ///< [0] is not used: the parameters
  std::array<GridSize, 2> grid{};
  uint32_t layer = kAbsent;   ///< for profiles: of the model; kAbsent: before or after the layers
  uint64_t weight_bytes = 0;  ///< of the matrices that it reads
};

/// Rows of request `request` of Model::plan(), as streams in a buffer. With type F32 and n_streams 0: a vector, whose
/// elements are converted to floats at `quants`.
struct Upload {
  uint32_t request = 0;
  uint32_t buffer = 0;
  bool is_vector = false;
  bool adapted = false;                          ///< the rows are floats in the buffer, with the active adapters
  uint64_t first_row = 0, n_rows = 0;            ///< of the request
  uint64_t quants = 0, middles = 0, scales = 0;  ///< byte offsets in the buffer
};

struct PlanConstant {
  uint32_t buffer;
  uint64_t offset;  ///< in bytes
  std::vector<float> values;
};

struct Plan {
  std::vector<Variant> variants;
  std::vector<PlanBuffer> buffers;
  std::vector<uint32_t> parameters;  ///< kParameterWords for each dispatch
  std::vector<Upload> uploads;
  std::vector<uint32_t> host_requests;
  std::vector<PlanConstant> constants;
  std::vector<PlanDispatch> decode, decode_logits, prefill, prefill_logits, embeddings, choose;
  // Buffers that the executor writes or reads: the step record; floats [n_batch, n_vocab] and [n_batch, n_embd]; words
  // [n_batch]: the tokens that the GPU chose.
  uint32_t step = kAbsent, parameter_buffer = kAbsent, logits = kAbsent, embedded = kAbsent, chosen = kAbsent;
  uint32_t weights = kAbsent;  ///< of attention: see lower_encoder_decoder
  // A pass of rows instead of tokens, for example of an image: the rows [n_tokens, n_embd] are written to the buffer
  // `stream`, and the first n_embed dispatches of `prefill`, which look tokens up, are left out. kAbsent: there is no
  // such pass.
  uint32_t stream = kAbsent, n_embed = 0;
  // An encoder with a decoder: a pass of `embeddings` encodes a text, which passes of tokens then attend to.
  bool encodes = false;
  // Buffers [n_batch, n_embd] that are added to the residual stream after the first layers (Qwen3-VL). A pass of rows
  // has a further part [n_tokens, n_embd] for each of them; for other passes they are zeros.
  std::vector<uint32_t> deep;
  uint32_t n_batch = 0;        ///< tokens of a pass, at most
  uint32_t n_output_rows = 0;  ///< rows of logits, at most
  uint32_t n_slots = 0;        ///< states of each recurrent layer
  uint64_t weight_bytes = 0;   ///< of all uploads
};

/// Lowers an opened model; its weights need not be loaded. Error: kUnsupported, with the reason, for everything that
/// the kernels do not compute; kOverflow.
[[nodiscard]] Result<Plan> lower(const Model& model, const StateOptions& options, const DeviceLimits& limits);

}  // namespace ggufscope::gpu
