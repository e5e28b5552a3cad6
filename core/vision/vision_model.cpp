// Opens an image encoder: reads its parameters, plans its tensors, and loads them.
#include "vision/vision_model.hpp"

#include <algorithm>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "model/load_plan.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kFloat32 = 0;  // ggml's type id of F32

void plan_layer(VisionPlan& plan, uint32_t il) {
  Planner& planner = plan.planner;
  const VisionParameters& p = plan.p;
  VisionLayer& layer = plan.w.layers[il];
  const std::string prefix = "v.blk." + std::to_string(il) + ".";
  const uint64_t n = p.n_embd, n_q = uint64_t{p.n_head} * p.d_head, n_kv = uint64_t{p.n_head_kv} * p.d_head;
  if (!planner.linear(layer.qkv, prefix + "attn_qkv", n, n_q + 2 * n_kv, Need::kOptional)) {
    planner.linear(layer.q, prefix + "attn_q", n, n_q);
    planner.linear(layer.k, prefix + "attn_k", n, n_kv);
    planner.linear(layer.v, prefix + "attn_v", n, n_kv);
  }
  planner.linear(layer.out, prefix + "attn_out", n_q, n);
  const auto norm = [&](Affine& to, const char* part, uint64_t n_weights) {
    planner.affine(to, prefix + part, n_weights, Need::kOptional);
  };
  // Queries and keys are normalized for each head or for all heads together, depending on the norm's length.
  const auto heads = [&](const char* part, uint64_t n_all) {
    return plan.rows_of(prefix + part, 0) == p.d_head ? p.d_head : n_all;
  };
  norm(layer.q_norm, "attn_q_norm", heads("attn_q_norm.weight", n_q));
  norm(layer.k_norm, "attn_k_norm", heads("attn_k_norm.weight", n_kv));
  norm(plan.row.norms_follow ? layer.norm_after_mixing : layer.norm_1, "ln1", n);
  norm(plan.row.norms_follow ? layer.norm_after_ffn : layer.norm_2, "ln2", n);
  if (!plan.row.norms_follow) {
    norm(layer.norm_after_mixing, "attn_post_norm", n);
    norm(layer.norm_after_ffn, "ffn_post_norm", n);
  }
  planner.vector(layer.sinks, prefix + "attn_sinks", p.n_head, Need::kOptional);
  planner.vector(layer.scale_1, prefix + "ls1.weight", n, Need::kOptional);
  planner.vector(layer.scale_2, prefix + "ls2.weight", n, Need::kOptional);
  planner.vector(layer.scale_out, prefix + "out_scale.weight", n, Need::kOptional);
  // Old converters swapped the names of these two.
  std::string up = prefix + "ffn_up", down = prefix + "ffn_down";
  if (plan.row.may_swap_ffn && plan.rows_of(down + ".weight", 0) == n) std::swap(up, down);
  const uint64_t n_ff = plan.rows_of(up + ".weight");
  planner.linear(layer.up, up, n, n_ff);
  planner.linear(layer.gate, prefix + "ffn_gate", n, n_ff, Need::kOptional);
  planner.linear(layer.down, down, n_ff, n);
}

// With a band, heads have the size that the fused matrix has room for.
void derive_head_size(VisionPlan& plan) {
  const uint64_t rows = plan.rows_of("v.blk.0.attn_qkv.weight"), n = uint64_t{plan.p.n_head} + 2 * plan.p.n_head_kv;
  const uint64_t d = rows / n;
  if (d == 0 || d > 4096 || d % 4 != 0)
    return plan.planner.refuse(ErrorCode::kBadShape, "tensor v.blk.0.attn_qkv.weight has " + counted(rows, "row") +
                                                         " for " + counted(n, "head"));
  plan.p.d_head = static_cast<uint32_t>(d);
}

// A table for a fixed grid needs one row for each patch. Other tables are square and are resampled.
void plan_positions(VisionPlan& plan) {
  const std::string name = "v.position_embd.weight";
  if (plan.row.positions == PatchPositions::kInterpolatedCubic && plan.rows_of(name, 2) > 1) {
    const uint64_t width = plan.rows_of(name), height = plan.rows_of(name, 2);
    if (width > kMaxPatches || height > kMaxPatches)
      return plan.planner.refuse(ErrorCode::kBadShape, "tensor " + name + " has too many rows");
    plan.planner.vector(plan.w.positions, name, plan.p.n_embd * width * height);
    plan.w.table = {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
    return;
  }
  const bool axes = plan.row.positions == PatchPositions::kAxes;
  const uint64_t n = plan.rows_of(name) * (axes ? 2 : 1);
  plan.planner.vector(plan.w.positions, name, plan.p.n_embd * n);
  if (plan.planner.failed() || axes || plan.row.positions == PatchPositions::kBuckets) return;
  if (plan.row.positions != PatchPositions::kRows) {
    uint64_t side = 0;
    while (side * side < n) ++side;
    if (n == 0 || n > kMaxPatches || side * side != n)
      plan.planner.refuse(ErrorCode::kBadShape,
                          "tensor " + name + " has " + counted(n, "row") + ", which is no square");
    plan.w.table = {static_cast<uint32_t>(side), static_cast<uint32_t>(side)};
    return;
  }
  const uint64_t side = plan.p.image.image_size / plan.p.image.patch;
  if (n < side * side + (plan.w.class_token ? 1 : 0))
    plan.planner.refuse(ErrorCode::kBadShape, "tensor " + name + " has " + counted(n, "row") + " for " +
                                                  counted(side * side, "patch", "patches"));
}

}  // namespace

void plan_vision(VisionPlan& plan) {
  Planner& planner = plan.planner;
  if (plan.row.mobilenet) {
    plan.row.plan(plan);
    return planner.ignore("");
  }
  const uint64_t n = plan.p.n_embd, n_pixels = uint64_t{3} * plan.p.image.patch * plan.p.image.patch;
  planner.flattened(plan.w.patches, "v.patch_embd.weight", n_pixels, n);
  if (plan.row.two_kernels) planner.flattened(plan.w.patches_2, "v.patch_embd.weight.1", n_pixels, n);
  planner.vector(plan.w.patch_bias, "v.patch_embd.bias", n, plan.row.no_layers ? Need::kRequired : Need::kOptional);
  const uint64_t n_registers = plan.row.registers ? std::max<uint64_t>(plan.rows_of("v.class_embd"), 1) : 1;
  if (plan.row.class_token || plan.row.penultimate)
    planner.vector(plan.w.class_token, "v.class_embd", n * n_registers,
                   plan.row.class_token ? Need::kRequired : Need::kOptional);
  const bool bare = plan.row.may_lack_positions && !planner.has("v.position_embd.weight");
  if (plan.row.positions != PatchPositions::kNone && !bare) plan_positions(plan);
  if (!plan.row.no_layers) {
    planner.affine(plan.w.norm_before, "v.pre_ln", n, Need::kOptional);
    planner.affine(plan.w.norm_after, "v.post_ln", n, Need::kOptional);
  }
  if (plan.p.band != 0) derive_head_size(plan);
  plan.w.layers.resize(plan.p.n_layer);
  for (uint32_t il = 0; il < plan.p.n_run && !planner.failed(); ++il) plan_layer(plan, il);
  if (!planner.failed()) plan.row.plan(plan);
  planner.ignore("");
}

Result<std::unique_ptr<VisionModel>> VisionModel::open(const ModelFile& file, uint32_t file_index,
                                                       uint64_t n_embd_text) {
  const Gguf& gguf = *file.gguf;
  if (get_string(gguf, "general.architecture").value_or("") != "clip")
    return fail(ErrorCode::kUnsupported, "a projector's general.architecture is \"clip\"");
  if (!get_bool(gguf, "clip.has_vision_encoder").value_or(false))
    return fail(ErrorCode::kUnsupported, "this projector has no image encoder");
  std::string_view kind = get_string(gguf, "clip.projector_type").value_or("");
  if (kind.empty()) kind = get_string(gguf, "clip.vision.projector_type").value_or("");
  if (kind == "qwen2.5o") kind = "qwen2.5vl_merger";
  const Result<const ProjectorRow*> row = find_projector(kind);
  if (!row) return std::unexpected(row.error());
  Result<VisionParameters> parameters = read_vision_parameters(gguf, **row);
  if (!parameters) return std::unexpected(parameters.error());
  Result<std::vector<TensorEntry>> tensors = tensor_entries({&file, 1});
  if (!tensors) return std::unexpected(tensors.error());
  for (TensorEntry& entry : *tensors) entry.file = file_index;
  std::unique_ptr<VisionModel> model(new (std::nothrow) VisionModel);
  if (model == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate an image encoder");
  model->row_ = *row;
  model->parameters_ = std::move(*parameters);
  Planner planner(std::move(*tensors));
  VisionPlan plan{planner, **row, model->parameters_, model->weights_};
  plan_vision(plan);
  Result<std::vector<TensorRequest>> requests = planner.take_plan();
  if (!requests) return std::unexpected(requests.error());
  model->plan_ = std::move(*requests);
  model->n_out_ = static_cast<size_t>(plan.n_out);
  if (n_embd_text != 0 && plan.n_out != n_embd_text)
    return fail(ErrorCode::kOtherModel, "the projector's embeddings have " + std::to_string(plan.n_out) +
                                            " elements, but the model's have " + std::to_string(n_embd_text) +
                                            ": they do not belong together");
  return model;
}

TokenGrid VisionModel::tokens_of(ImageSize part) const {
  if (parameters_.n_queries != 0) return {parameters_.n_queries, 1, parameters_.n_queries};
  const uint32_t patch = parameters_.image.patch;
  return token_grid(*row_, parameters_, part.width / patch, part.height / patch);
}

bool VisionModel::reads_rows_between(uint32_t n) const {
  const VisionParameters& p = parameters_;
  return weights_.layers[n - 1].deep.first || p.halve_after == static_cast<int32_t>(n) - 1 ||
         std::ranges::find(p.features, n) != p.features.end() ||
         (!p.by_columns.empty() && p.by_columns[n] != p.by_columns[n - 1]);
}

void VisionModel::begin_load(Precision precision) {
  precision_ = precision;
  begin_plan(plan_);
}

Result<void> VisionModel::set_rows(Pool& pool, size_t i, uint64_t first_row, ByteView rows) {
  if (i >= plan_.size()) return fail(ErrorCode::kInvalidArgument, "no such tensor in the plan");
  const Linear* to = plan_[i].linear;
  const bool convolution =
      to != nullptr && !row_->exact_patches && (to == &weights_.patches || to == &weights_.patches_2);
  return convolution ? pack_convolution_rows(pool, plan_[i], precision_, first_row, rows)
                     : pack_rows(pool, plan_[i], precision_, first_row, rows);
}

Result<void> VisionModel::finish_load(Pool& pool) {
  if (const Result<void> all = all_arrived(plan_); !all) return all;
  if (!weights_.transposed) return {};
  const size_t n_in = parameters_.n_embd;
  Result<PackedMatrix> matrix = PackedMatrix::create(pool, kFloat32, n_in, n_out_, precision_);
  if (!matrix) return std::unexpected(matrix.error());
  std::vector<float> row(n_in);
  for (size_t o = 0; o < n_out_; ++o) {
    for (size_t i = 0; i < n_in; ++i) row[i] = weights_.transposed.data()[i * n_out_ + o];
    const ByteView bytes(reinterpret_cast<const uint8_t*>(row.data()), n_in * sizeof(float));
    if (const Result<void> packed = matrix->pack_rows(pool, o, bytes); !packed) return packed;
  }
  weights_.transposed_matrix = std::move(*matrix);
  weights_.transposed = {};
  return {};
}

}  // namespace ggufscope
