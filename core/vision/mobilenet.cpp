// Plans and runs MobileNetV5.
#include "vision/mobilenet.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "model/arena.hpp"
#include "model/rows.hpp"
#include "nn/vec.hpp"
#include "vision/projector_input.hpp"

namespace ggufscope {
namespace {

constexpr float kMobileEps = 1e-6f;
constexpr size_t kPlacesAtOnce = 256;  // places of a convolution that are computed at once
constexpr uint32_t kTokensASide = 16;  // larger results are averaged to this size
constexpr uint32_t kMobileStages = 4;
constexpr uint32_t kHalfType = 1;  // ggml's type id of F16
constexpr uint32_t kWidestKernel = 64;

uint32_t strided(uint32_t side, uint32_t stride) { return (side + stride - 1) / stride; }

// Rows of zeros before the map. With a stride, the padding is divided evenly between both sides.
uint32_t zeros_before(uint32_t side, uint32_t stride, uint32_t n_kernel) {
  if (stride == 1) return n_kernel / 2;
  const uint32_t needed = (strided(side, stride) - 1) * stride + n_kernel;
  return needed > side ? (needed - side) / 2 : 0;
}

AttentionShape heads_of(const MobileBlock& w) {
  return {w.q.matrix.n_out / w.k.matrix.n_out, 1, w.k.matrix.n_out, w.k.matrix.n_out};
}

/// Plans tensors, and follows the map's side and channels through the network.
class MobilePlan {
 public:
  explicit MobilePlan(VisionPlan& plan) : plan_(plan), planner_(plan.planner), w_(plan.w.mobile) {}

  void run() {
    side_ = plan_.p.image.image_size;
    channels_ = 3;
    count_map();
    side_ = strided(side_, 2);
    convolution(w_.stem, "v.conv_stem.conv.weight");
    planner_.vector(w_.stem_bias, "v.conv_stem.conv.bias", channels_, Need::kOptional);
    norm(w_.stem_norm, "v.conv_stem.bn");
    plan_blocks();
    if (!planner_.failed()) plan_fusion();
  }

 private:
  void norm(Affine& to, const std::string& name) { planner_.affine(to, name, channels_, Need::kOptional); }
  void count_map() { w_.map_floats = std::max(w_.map_floats, uint64_t{side_} * side_ * channels_); }
  uint32_t kernel_of(const std::string& tensor) const {
    return static_cast<uint32_t>(std::clamp<uint64_t>(plan_.rows_of(tensor, 0), 1, kWidestKernel));
  }
  void convolution(Convolution& to, const std::string& tensor, Need need = Need::kRequired) {
    const TensorEntry* entry = planner_.find(tensor);
    if (entry == nullptr && need == Need::kOptional) return;
    to.n_kernel = kernel_of(tensor);
    to.halves = entry != nullptr && entry->type == kHalfType;
    const uint64_t n_in = channels_ * to.n_kernel * to.n_kernel;
    channels_ = plan_.rows_of(tensor, 3);
    planner_.flattened(to.matrix, tensor, n_in, channels_);
    w_.chunk_floats = std::max(w_.chunk_floats, kPlacesAtOnce * (n_in + channels_));
    count_map();
  }
  void depthwise(DepthwiseConvolution& to, const std::string& tensor) {
    if (!planner_.has(tensor)) return;
    to.n_kernel = kernel_of(tensor);
    planner_.vector(to.weights, tensor, channels_ * to.n_kernel * to.n_kernel);
  }

  // The plan points into the list of blocks, so their number must be known first.
  void plan_blocks() {
    std::vector<size_t> counts;
    size_t n = 0;
    for (uint32_t stage = 0; stage < kMobileStages; ++stage) {
      uint32_t count = 0;
      while (exists(stage, count)) ++count;
      if (count == 0) continue;
      n += count;
      counts.push_back(n);
    }
    if (n == 0) return planner_.refuse(ErrorCode::kNotFound, "tensor v.blk.0.0.conv_exp.weight is missing");
    w_.blocks.resize(n);
    size_t at = 0;
    for (uint32_t stage = 0; stage < kMobileStages; ++stage)
      for (uint32_t index = 0; exists(stage, index) && !planner_.failed(); ++index)
        plan_block(w_.blocks[at++], stage, index);
    w_.blocks.back().fused = true;
    if (counts.size() == kMobileStages) w_.blocks[counts[kMobileStages - 2] - 1].fused = true;
  }
  bool exists(uint32_t stage, uint32_t index) const {
    const std::string name = prefix(stage, index);
    return planner_.has(name + "conv_exp.weight") || planner_.has(name + "dw_start.conv.weight") ||
           planner_.has(name + "pw_exp.conv.weight") || planner_.has(name + "attn.query.proj.weight");
  }
  static std::string prefix(uint32_t stage, uint32_t index) {
    return "v.blk." + std::to_string(stage) + "." + std::to_string(index) + ".";
  }
  void plan_block(MobileBlock& to, uint32_t stage, uint32_t index) {
    const std::string name = prefix(stage, index);
    to.edge = planner_.has(name + "conv_exp.weight");
    to.attends = !to.edge && planner_.has(name + "attn.query.proj.weight");
    to.stride = index == 0 ? 2 : 1;
    if (to.edge) {
      plan_edge(to, name);
    } else if (to.attends) {
      plan_attention(to, name);
    } else {
      plan_inverted(to, name);
    }
    if (!to.edge) planner_.vector(to.scale, name + "layer_scale.gamma", channels_, Need::kOptional);
    to.side = side_;
    to.n_channels = static_cast<size_t>(channels_);
  }
  void plan_edge(MobileBlock& to, const std::string& name) {
    side_ = strided(side_, to.stride);
    const uint64_t largest = w_.map_floats;
    convolution(to.first, name + "conv_exp.weight");
    w_.map_floats = largest;  // this map is computed in chunks
    norm(to.first_norm, name + "bn1");
    convolution(to.last, name + "conv_pwl.weight");
    norm(to.last_norm, name + "bn2");
  }
  void plan_inverted(MobileBlock& to, const std::string& name) {
    depthwise(to.start, name + "dw_start.conv.weight");
    norm(to.start_norm, name + "dw_start.bn");
    convolution(to.first, name + "pw_exp.conv.weight", Need::kOptional);
    norm(to.first_norm, name + "pw_exp.bn");
    depthwise(to.mid, name + "dw_mid.conv.weight");
    norm(to.mid_norm, name + "dw_mid.bn");
    if (to.mid) side_ = strided(side_, to.stride);
    convolution(to.last, name + "pw_proj.conv.weight", Need::kOptional);
    norm(to.last_norm, name + "pw_proj.bn");
  }
  void plan_attention(MobileBlock& to, const std::string& name) {
    const std::string attn = name + "attn.";
    const uint64_t n = channels_;
    norm(to.norm, name + "norm");
    depthwise(to.k_down, attn + "key.down_conv.weight");
    norm(to.k_norm, attn + "key.norm");
    depthwise(to.v_down, attn + "value.down_conv.weight");
    norm(to.v_norm, attn + "value.norm");
    convolution(to.k, attn + "key.proj.weight");
    channels_ = n;
    convolution(to.v, attn + "value.proj.weight");
    channels_ = n;
    convolution(to.q, attn + "query.proj.weight");
    convolution(to.last, attn + "output.proj.weight");
    if (planner_.failed()) return;
    const size_t d = to.k.matrix.n_out;
    if (d == 0 || to.v.matrix.n_out != d || to.q.matrix.n_out % d != 0 || channels_ != n ||
        static_cast<bool>(to.k_down) != static_cast<bool>(to.v_down))
      return planner_.refuse(ErrorCode::kBadShape, "the attention of " + name + " has parts that do not fit together");
    const size_t n_places = size_t{side_} * side_;
    w_.thread_floats = std::max<uint64_t>(w_.thread_floats, attention_scratch(heads_of(to), n_places));
  }

  void plan_fusion() {
    channels_ = side_ = 0;
    for (const MobileBlock& block : w_.blocks) {
      if (!block.fused) continue;
      if (side_ == 0) side_ = block.side;
      if (block.side > side_ || side_ % block.side != 0)
        return planner_.refuse(ErrorCode::kBadShape, "the maps of the last two stages do not fit together");
      channels_ += block.n_channels;
    }
    w_.fused_floats = uint64_t{side_} * side_ * channels_;
    convolution(w_.wide, "v.msfa.ffn.pw_exp.conv.weight", Need::kOptional);
    norm(w_.wide_norm, "v.msfa.ffn.pw_exp.bn");
    convolution(w_.narrow, "v.msfa.ffn.pw_proj.conv.weight", Need::kOptional);
    norm(w_.narrow_norm, "v.msfa.ffn.pw_proj.bn");
    norm(w_.norm_after, "v.msfa.norm");
    const uint32_t tokens = std::min(side_, kTokensASide);
    if (planner_.failed()) return;
    if (side_ % tokens != 0 || tokens * tokens != plan_.p.n_queries || channels_ != plan_.p.n_embd)
      return planner_.refuse(ErrorCode::kBadShape, "the network gives " + std::to_string(tokens * tokens) +
                                                       " tokens of " + std::to_string(channels_) +
                                                       " elements instead of " + std::to_string(plan_.p.n_queries) +
                                                       " of " + std::to_string(plan_.p.n_embd));
    planner_.affine(plan_.w.adapter.norm, "mm.soft_emb_norm", channels_);
    plan_.n_out = plan_.rows_of("mm.input_projection.weight");
    planner_.matrix(plan_.w.merger, "mm.input_projection", channels_, plan_.n_out);
  }

  VisionPlan& plan_;
  Planner& planner_;
  MobileNetWeights& w_;
  uint32_t side_ = 0;
  uint64_t channels_ = 0;
};

}  // namespace

void plan_mobilenet(VisionPlan& plan) { MobilePlan(plan).run(); }

uint64_t MobileNetRun::count_bytes(const VisionWeights& w, size_t n_threads) {
  Pool pool(Pool::Counting{n_threads});
  MobileNetRun run(w, pool);
  run.arena_.count();
  run.take_maps();
  return run.arena_.peak() * sizeof(float);
}

void MobileNetRun::take_maps() {
  for (float*& map : maps_) map = arena_.take(w_.mobile.map_floats);
  fused_ = {0, 0, arena_.take(w_.mobile.fused_floats)};
  chunk_ = arena_.take(w_.mobile.chunk_floats);
  threads_ = arena_.take(pool_.n_threads(), Arena::round_up(w_.mobile.thread_floats));
}

void filter_channels(Pool& pool, const DepthwiseConvolution& by, float* x, uint32_t side, size_t n, uint32_t stride,
                     uint32_t before, float* to) {
  const uint32_t k = by.n_kernel;
  const size_t side_after = strided(side, stride);
  std::vector<float> kernels(size_t{k} * k * n);  // [n_kernel, n_kernel, n]
  for (size_t c = 0; c < n; ++c)
    for (size_t i = 0; i < size_t{k} * k; ++i) kernels[i * n + c] = by.weights.data()[c * k * k + i];
  each_token(pool, Operation::kCache, size_t{side} * side, [&](size_t t) { round_to_halves(x + t * n, n); });
  each_token(pool, Operation::kProducts, side_after * side_after, [&](size_t t) {
    const size_t top = t / side_after * stride, left = t % side_after * stride;
    float* sum = to + t * n;
    std::fill_n(sum, n, 0.0f);
    for (size_t i = 0; i < size_t{k} * k; ++i) {
      const size_t row = top + i / k - before, column = left + i % k - before;  // they wrap around before the map
      if (row >= side || column >= side) continue;
      const float *at = x + (row * side + column) * n, *kernel = kernels.data() + i * n;
      for (size_t c = 0; c < n; ++c) sum[c] += at[c] * kernel[c];
    }
  });
}

Result<float*> MobileNetRun::start(uint32_t side) {
  const uint64_t bytes = count_bytes(w_, pool_.n_threads());
  if (const Result<void> done = arena_.allocate(bytes / sizeof(float)); !done) return std::unexpected(done.error());
  take_maps();
  n_fused_ = 0;
  for (const MobileBlock& block : w_.mobile.blocks) {
    if (!block.fused) continue;
    fused_.side = std::max(fused_.side, block.side);
    fused_.n_channels += block.n_channels;
  }
  map_ = {side, 3, maps_[0]};
  return maps_[0];
}

// im2col: to [n_rows, n_in, n_kernel, n_kernel], the inputs of the outputs from `begin` on.
void MobileNetRun::gather(const Convolution& by, const Map& from, uint32_t stride, size_t begin, size_t n_rows,
                          float* to) {
  const uint32_t k = by.n_kernel, pad = zeros_before(from.side, stride, k), side = strided(from.side, stride);
  const size_t n = from.n_channels, n_in = by.matrix.n_in;
  each_token(pool_, Operation::kCache, n_rows, [&](size_t t) {
    const size_t place = begin + t, top = place / side * stride, left = place % side * stride;
    float* row = to + t * n_in;
    for (size_t i = 0; i < size_t{k} * k; ++i) {
      const size_t y = top + i / k - pad, x = left + i % k - pad;  // unsigned: before the map they are huge
      const float* at = y < from.side && x < from.side ? from.x + (y * from.side + x) * n : nullptr;
      for (size_t c = 0; c < n; ++c) row[c * k * k + i] = at == nullptr ? 0 : at[c];
    }
    if (by.halves) round_to_halves(row, n_in);
  });
}

MobileNetRun::Map MobileNetRun::convolve(const Convolution& by, const Map& from, uint32_t stride, float* to) {
  const Map out{strided(from.side, stride), by.matrix.n_out, to};
  for (size_t begin = 0; begin < out.n_places(); begin += kPlacesAtOnce) {
    const size_t n_rows = std::min(kPlacesAtOnce, out.n_places() - begin);
    gather(by, from, stride, begin, n_rows, chunk_);
    apply(pool_, by.matrix, chunk_, n_rows, to + begin * out.n_channels);
  }
  return out;
}

MobileNetRun::Map MobileNetRun::filter(const DepthwiseConvolution& by, const Map& from, uint32_t stride, float* to) {
  filter_channels(pool_, by, from.x, from.side, from.n_channels, stride, zeros_before(from.side, stride, by.n_kernel),
                  to);
  return {strided(from.side, stride), from.n_channels, to};
}

void MobileNetRun::normalize(const Affine& by, const Map& map) {
  if (by) normalize_rows(pool_, kMobileEps, NormKind::kRms, by, map.x, map.n_places(), map.n_channels, map.x);
}

void MobileNetRun::activate(const Map& map) {
  each_token(pool_, Operation::kGate, map.n_places(),
             [&](size_t t) { activate_rounded(Activation::kGelu, map.x + t * map.n_channels, map.n_channels); });
}

MobileNetRun::Map MobileNetRun::run_edge(const MobileBlock& w) {
  Map out{strided(map_.side, w.stride), w.last.matrix.n_out, maps_[1]};
  const size_t n_wide = w.first.matrix.n_out;
  for (size_t begin = 0; begin < out.n_places(); begin += kPlacesAtOnce) {
    const size_t n_rows = std::min(kPlacesAtOnce, out.n_places() - begin);
    float* wide = chunk_ + n_rows * w.first.matrix.n_in;
    gather(w.first, map_, w.stride, begin, n_rows, chunk_);
    apply(pool_, w.first.matrix, chunk_, n_rows, wide);
    if (w.first_norm) normalize_rows(pool_, kMobileEps, NormKind::kRms, w.first_norm, wide, n_rows, n_wide, wide);
    each_token(pool_, Operation::kGate, n_rows, [&](size_t t) {
      activate_rounded(Activation::kGelu, wide + t * n_wide, n_wide);
      if (w.last.halves) round_to_halves(wide + t * n_wide, n_wide);
    });
    apply(pool_, w.last.matrix, wide, n_rows, out.x + begin * out.n_channels);
  }
  normalize(w.last_norm, out);
  return out;
}

MobileNetRun::Map MobileNetRun::run_inverted(const MobileBlock& w) {
  Map now = map_;
  const auto free = [&] { return now.x == maps_[1] ? maps_[2] : maps_[1]; };
  if (w.start) {
    std::memcpy(maps_[2], map_.x, map_.n_places() * map_.n_channels * sizeof(float));
    now = filter(w.start, {map_.side, map_.n_channels, maps_[2]}, 1, maps_[1]);
    normalize(w.start_norm, now);
  }
  if (w.first) {
    now = convolve(w.first, now, 1, free());
    normalize(w.first_norm, now);
    activate(now);
  }
  if (w.mid) {
    if (now.x == map_.x) {
      std::memcpy(maps_[2], map_.x, map_.n_places() * map_.n_channels * sizeof(float));
      now.x = maps_[2];
    }
    now = filter(w.mid, now, w.stride, free());
    normalize(w.mid_norm, now);
    activate(now);
  }
  if (w.last) {
    now = convolve(w.last, now, 1, free());
    normalize(w.last_norm, now);
  }
  return now;
}

MobileNetRun::Map MobileNetRun::run_attention(const MobileBlock& w) {
  const AttentionShape shape = heads_of(w);
  Map normed{map_.side, map_.n_channels, maps_[1]};
  std::memcpy(normed.x, map_.x, map_.n_places() * map_.n_channels * sizeof(float));
  normalize(w.norm, normed);
  // Queries, keys and values: one after the other in the third map, which is as large as the largest of them.
  std::vector<float> keys, values;
  const auto head = [&](const DepthwiseConvolution& down, const Affine& norm, const Convolution& by,
                        std::vector<float>& to) {
    Map from = normed;
    std::vector<float> copy;
    if (down) {
      copy.assign(normed.x, normed.x + normed.n_places() * normed.n_channels);
      from = filter(down, {normed.side, normed.n_channels, copy.data()}, 2, maps_[2]);
      normalize(norm, from);
    }
    to.resize(from.n_places() * by.matrix.n_out);
    convolve(by, from, 1, to.data());
  };
  head(w.k_down, w.k_norm, w.k, keys);
  head(w.v_down, w.v_norm, w.v, values);
  const Map queries = convolve(w.q, normed, 1, maps_[2]);

  const size_t n_cells = keys.size() / shape.d_k, n_places = map_.n_places();
  const CacheView cache{CacheTypes{}, reinterpret_cast<uint8_t*>(keys.data()),
                        reinterpret_cast<uint8_t*>(values.data()), shape.d_v, n_cells};
  AttentionOptions options;
  options.scale = 1.0f / std::sqrt(static_cast<float>(shape.d_k));
  const CellRun all{0, static_cast<uint32_t>(n_cells)};
  const std::vector<std::span<const CellRun>> sees(n_places, {&all, 1});
  const std::vector<int32_t> no_positions(std::max(n_places, n_cells));
  const Map mixed{map_.side, queries.n_channels, maps_[1]};
  attention(pool_, shape, options, cache, queries.x, n_places, sees, no_positions.data(), no_positions.data(), threads_,
            static_cast<size_t>(Arena::round_up(w_.mobile.thread_floats)), mixed.x);
  return convolve(w.last, mixed, 1, maps_[2]);
}

void MobileNetRun::run_block(const MobileBlock& w) {
  const Map out = w.edge ? run_edge(w) : w.attends ? run_attention(w) : run_inverted(w);
  const bool same = out.side == map_.side && out.n_channels == map_.n_channels;
  const bool adds = same && out.x != map_.x && (!w.edge || w.stride == 1);
  each_token(pool_, Operation::kAdd, out.n_places(), [&](size_t t) {
    float* x = out.x + t * out.n_channels;
    if (w.scale) vec::multiply(x, w.scale.data(), out.n_channels);
    if (adds) vec::add(x, map_.x + t * out.n_channels, out.n_channels);
  });
  for (float*& map : maps_)
    if (map == out.x) std::swap(map, maps_[0]);
  map_ = out;
  if (w.fused) fuse();
}

// Copies the map to its channels of the fused one, whose side is a multiple.
void MobileNetRun::fuse() {
  const size_t factor = fused_.side / map_.side;
  for (size_t t = 0; t < fused_.n_places(); ++t) {
    const size_t y = t / fused_.side / factor, x = t % fused_.side / factor;
    std::memcpy(fused_.x + t * fused_.n_channels + n_fused_, map_.x + (y * map_.side + x) * map_.n_channels,
                map_.n_channels * sizeof(float));
  }
  n_fused_ += map_.n_channels;
}

void MobileNetRun::project(float* out) {
  const MobileNetWeights& w = w_.mobile;
  Map now = fused_;
  if (w.wide) {
    now = convolve(w.wide, now, 1, maps_[0]);
    normalize(w.wide_norm, now);
    activate(now);
  }
  if (w.narrow) {
    now = convolve(w.narrow, now, 1, maps_[1]);
    normalize(w.narrow_norm, now);
  }
  Map tokens{std::min(now.side, kTokensASide), now.n_channels, maps_[2]};
  const size_t factor = now.side / tokens.side, n = now.n_channels;
  std::fill_n(tokens.x, tokens.n_places() * n, 0.0f);
  for (size_t t = 0; t < now.n_places(); ++t) {
    const size_t y = t / now.side / factor, x = t % now.side / factor;
    vec::add(tokens.x + (y * tokens.side + x) * n, now.x + t * n, n);
  }
  vec::scale(tokens.x, 1.0f / static_cast<float>(factor * factor), tokens.n_places() * n);
  normalize(w.norm_after, tokens);
  vec::scale(tokens.x, std::sqrt(static_cast<float>(n)), tokens.n_places() * n);
  normalize(w_.adapter.norm, tokens);
  apply(pool_, w_.merger, tokens.x, tokens.n_places(), out);
  const Affine unweighted{.weight = {}, .bias = {}, .present = true};
  normalize(unweighted, {tokens.side, w_.merger.n_out, out});
}

void MobileNetRun::step(size_t at, float* out) {
  const MobileNetWeights& w = w_.mobile;
  if (at == 0) {
    const Map stem = convolve(w.stem, map_, 2, maps_[1]);
    for (size_t t = 0; t < stem.n_places() && w.stem_bias; ++t)
      vec::add(stem.x + t * stem.n_channels, w.stem_bias.data(), stem.n_channels);
    normalize(w.stem_norm, stem);
    activate(stem);
    std::swap(maps_[0], maps_[1]);
    map_ = stem;
  } else if (at <= w.blocks.size()) {
    run_block(w.blocks[at - 1]);
  } else {
    project(out);
  }
}

}  // namespace ggufscope
