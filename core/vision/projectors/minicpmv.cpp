// MiniCPM-V: 2.5 to 4.5 read the patches with learned queries, 4.6 merges them in two steps.
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "model/arena.hpp"
#include "vision/projectors/rows.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMaxSlices = 1024;

const ImageMarkers kMarkers2{.tile_begin = {"<image>"},
                             .tile_end = {"</image>"},
                             .row_end = {"\n"},
                             .tiles_begin = {"<slice>"},
                             .tiles_end = {"</slice>"},
                             .overview_begin = {"<image>"},
                             .overview_end = {"</image>"},
                             .overview_first = true};

void read_slices(VisionParameters& p, Keys& keys, ImageSplit split) {
  p.image.split = split;
  p.image.overview.padding = ImagePadding::kNone;
  if (uint32_t max = 0; keys.u32("max_slice_nums", max, kMaxSlices) && max != 0) p.image.max_slices = max;
}

}  // namespace

void read_resampler(VisionParameters& p, Keys& keys) {
  read_slices(p, keys, ImageSplit::kSlices);
  const int64_t version = get_i64(keys.gguf(), "clip.minicpmv_version").value_or(0);
  switch (version) {
    case 0:
    case 2:
      p.markers = &kMarkers2;
      p.n_queries = 96;
      break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 100045:  // MiniCPM-o 4.5
      p.n_queries = 64;
      break;
    default:
      return keys.refuse(ErrorCode::kUnsupported, "clip.minicpmv_version is " + std::to_string(version) +
                                                      ", and the known ones are 2 to 6 and 100045");
  }
  if (uint32_t n = 0; keys.u32(".clip.minicpmv_query_num", n, 1u << 16) && n != 0) p.n_queries = n;
}
void plan_resampler(VisionPlan& plan) {
  Planner& planner = plan.planner;
  ResamplerWeights& w = plan.w.resampler;
  const uint64_t n = plan.rows_of("resampler.proj.weight");
  plan.n_out = n;
  planner.matrix(w.last, "resampler.proj", n, n);
  if (n % 128 != 0)
    return planner.refuse(ErrorCode::kBadShape,
                          "tensor resampler.proj.weight has " + counted(n, "row") + ", which are no heads of 128");
  if (!planner.has("resampler.pos_embed_k"))
    return planner.refuse(ErrorCode::kNotFound, "tensor resampler.pos_embed_k is missing");
  planner.vector(w.queries, "resampler.query", plan.p.n_queries * n);
  planner.matrix(w.kv, "resampler.kv", plan.p.n_embd, n);
  planner.linear(w.q, "resampler.attn.q", n, n);
  planner.linear(w.k, "resampler.attn.k", n, n);
  planner.linear(w.v, "resampler.attn.v", n, n);
  planner.linear(w.out, "resampler.attn.out", n, n);
  planner.affine(w.norm_q, "resampler.ln_q", n, Need::kRequired, Need::kRequired);
  planner.affine(w.norm_kv, "resampler.ln_kv", n, Need::kRequired, Need::kRequired);
  planner.affine(w.norm_after, "resampler.ln_post", n, Need::kRequired, Need::kRequired);
}
// Adds sines and cosines of the column, then those of the row.
static void add_waves(const ProjectorInput& j, float* x) {
  const size_t quarter = j.n_out / 4;
  for (size_t i = 0; i < quarter; ++i) {
    const float frequency = 1.0f / std::pow(10000.0f, static_cast<float>(i) / static_cast<float>(quarter));
    for (size_t t = 0; t < size_t{j.columns} * j.rows; ++t) {
      const size_t row = t / j.columns, column = t % j.columns;
      const float across = static_cast<float>(column) * frequency;
      const float down = static_cast<float>(row) * frequency;
      float* to = x + t * j.n_out + i;
      to[0] += std::sin(across);
      to[quarter] += std::cos(across);
      to[2 * quarter] += std::sin(down);
      to[3 * quarter] += std::cos(down);
    }
  }
}
void project_resampler(ProjectorInput& j) {
  const ResamplerWeights& w = j.w.resampler;
  const size_t n = size_t{j.columns} * j.rows, n_queries = j.p.n_queries, n_out = j.n_out;
  float* keys = j.arena.take(n * n_out);
  float* values = j.arena.take(n * n_out);
  float* mixed = j.arena.take(std::max(n, n_queries) * n_out);
  float* queries = j.arena.take(n_queries * n_out);
  if (j.arena.counting()) return;
  apply(j.pool, w.kv, j.encoded, n, mixed);
  j.normalize(w.norm_kv, mixed, n, n_out, NormKind::kLayer, j.p.eps);
  apply(j.pool, w.v, mixed, n, values);
  add_waves(j, mixed);
  apply(j.pool, w.k, mixed, n, keys);
  std::memcpy(mixed, w.queries.data(), n_queries * n_out * sizeof(float));
  j.normalize(w.norm_q, mixed, n_queries, n_out, NormKind::kLayer, j.p.eps);
  apply(j.pool, w.q, mixed, n_queries, queries);

  const AttentionShape shape = resampler_shape(n_out);
  const CacheView cache{CacheTypes{}, j.cache, j.cache + n * n_out * sizeof(float), shape.d_v, n};
  each_token(j.pool, Operation::kPositions, n,
             [&](size_t t) { cache_store(cache, shape, t, keys + t * n_out, values + t * n_out); });
  AttentionOptions options;
  options.scale = 1.0f / std::sqrt(static_cast<float>(shape.d_k));
  const CellRun all{0, static_cast<uint32_t>(n)};
  const std::vector<std::span<const CellRun>> sees(n_queries, {&all, 1});
  const std::vector<int32_t> no_positions(std::max(n, n_queries));
  attention(j.pool, shape, options, cache, queries, n_queries, sees, no_positions.data(), no_positions.data(),
            j.thread_scratch, j.thread_floats, mixed);
  apply(j.pool, w.out, mixed, n_queries, queries);
  j.normalize(w.norm_after, queries, n_queries, n_out, NormKind::kLayer, j.p.eps);
  apply(j.pool, w.last, queries, n_queries, j.out);
}

// With factor 4, the patches are merged once after a layer, and once at the end; with factor 2 only at the end.
void read_minicpmv46(VisionParameters& p, Keys& keys) {
  read_slices(p, keys, ImageSplit::kSlicesOf4);
  p.image.tiled.padding = ImagePadding::kNone;
  p.merge = 4;
  keys.u32("projector.scale_factor", p.merge);
  if (p.merge == 2) return;
  if (p.merge != 4) return keys.refuse(ErrorCode::kOutOfRange, "clip.vision.projector.scale_factor is neither 2 nor 4");
  p.window = 2;
  p.sees_all.assign(p.n_layer, true);
  p.halve_after = 0;
  const auto layers = get_integers(keys.gguf(), "clip.vision.wa_layer_indexes");
  if (!layers || layers->empty()) return;
  if ((*layers)[0] < 0 || (*layers)[0] >= static_cast<int64_t>(p.n_layer))
    return keys.refuse(ErrorCode::kOutOfRange, "clip.vision.wa_layer_indexes holds no layer");
  p.halve_after = static_cast<int32_t>((*layers)[0]);
}
void plan_minicpmv46(VisionPlan& plan) {
  Planner& planner = plan.planner;
  const uint64_t n = plan.p.n_embd;
  if (plan.p.merge == 4) {
    VisionLayer& w = plan.w.halving;
    planner.affine(w.norm_1, "v.vit_merger.ln1", n, Need::kRequired, Need::kRequired);
    planner.linear(w.q, "v.vit_merger.attn_q", n, n);
    planner.linear(w.k, "v.vit_merger.attn_k", n, n);
    planner.linear(w.v, "v.vit_merger.attn_v", n, n);
    planner.linear(w.out, "v.vit_merger.attn_out", n, n);
    planner.affine(w.deep.norm, "v.vit_merger.ds_ln", 4 * n, Need::kRequired, Need::kRequired);
    plan.adapter(w.deep, "v.vit_merger.ds_ffn_up", "v.vit_merger.ds_ffn_down", 4 * n);
    if (plan.n_out != n)
      return planner.refuse(ErrorCode::kBadShape, "tensor v.vit_merger.ds_ffn_down.weight does not lead back to " +
                                                      std::to_string(n) + " elements");
  }
  planner.affine(plan.w.adapter.norm, "mm.input_norm", 4 * n);
  plan.adapter(plan.w.adapter, "mm.up", "mm.down", 4 * n);
  plan.w.adapter.activation = Activation::kGeluErf;
  if (plan.row.canvas) planner.vector(plan.w.separators, "v.tok_embd_sep", 4 * plan.n_out);
}
void project_minicpmv46(ProjectorInput& j) {
  const size_t n = j.grid.n_tokens, n_in = j.w.adapter.first.n_in;
  float* merged = j.arena.take(n * n_in);
  j.merge_patches(merged, 2);
  j.normalize(j.w.adapter.norm, merged, n, n_in, NormKind::kLayer, j.p.eps);
  j.adapt(j.w.adapter, merged, n, j.out);
}

}  // namespace ggufscope
