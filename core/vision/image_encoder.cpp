// The encoder that all projectors share. Each layer computes
//
//   x += scale(post_norm(attention(norm(x))));  x += scale(post_norm(ffn(norm(x))))
//
// The post norms and scales are used only if the file has them.
#include "vision/image_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "model/mixer.hpp"
#include "nn/vec.hpp"
#include "vision/projector_input.hpp"

namespace ggufscope {
namespace {

struct ScratchSizes {
  uint64_t arena_floats = 0, cache_floats = 0, thread_floats = 0;
};

AttentionShape attention_shape(const VisionParameters& p) { return {p.n_head, p.n_head_kv, p.d_head, p.d_head}; }

ScratchSizes scratch_sizes(const VisionModel& model, uint64_t n_patches, uint64_t n_tokens) {
  const VisionParameters& p = model.parameters();
  const uint64_t n = n_patches + 1, row = n * p.n_embd, n_q = uint64_t{p.n_head} * p.d_head;
  const uint64_t n_kv = uint64_t{p.n_head_kv} * p.d_head;
  uint64_t n_ff = 0;
  for (const VisionLayer& layer : model.weights().layers) n_ff = std::max<uint64_t>(n_ff, layer.up.n_out);
  const uint64_t attention = arena_floats(n * n_q, n * n_kv, n * n_kv, n * (n_q + 2 * n_kv), n * n_q);
  const uint64_t features = row * std::max<size_t>(p.features.size(), 1);
  ScratchSizes sizes;
  sizes.arena_floats = arena_floats(row, row, row, features) +
                       std::max({attention, arena_floats(n * n_ff, n * n_ff),
                                 2 * projection_floats(p, model.weights(), n_patches, n_tokens, model.n_out())});
  sizes.cache_floats = 2 * n * n_kv;
  sizes.thread_floats = attention_scratch(attention_shape(p), static_cast<size_t>(n));
  return sizes;
}

Result<void> grow(Buffer& buffer, uint64_t n_floats) {
  if (buffer.size() >= n_floats * sizeof(float)) return {};
  buffer = Buffer();
  Result<Buffer> made = Buffer::allocate(n_floats * sizeof(float));
  if (!made) return std::unexpected(made.error());
  buffer = std::move(*made);
  return {};
}

}  // namespace

uint64_t ImageEncoder::scratch_bytes(const VisionModel& model, ImageSize part, size_t n_threads) {
  const uint32_t patch = model.parameters().image.patch;
  const uint64_t n_patches = uint64_t{part.width / patch} * (part.height / patch);
  const ScratchSizes sizes = scratch_sizes(model, n_patches, model.tokens_of(part).n_tokens);
  const uint64_t pixels = n_patches * patch * patch * 3;
  return (sizes.arena_floats + sizes.cache_floats + sizes.thread_floats * n_threads + pixels) * sizeof(float);
}

Result<void> ImageEncoder::begin(const Image& part) {
  const VisionParameters& p = model_.parameters();
  const VisionWeights& w = model_.weights();
  const uint32_t patch = p.image.patch;
  columns_ = part.size.width / patch;
  rows_ = part.size.height / patch;
  const uint64_t n = uint64_t{columns_} * rows_;
  if (n == 0 || n > kMaxPatches)
    return fail(ErrorCode::kOutOfRange, "an image of " + counted(n, "patch", "patches") + " cannot be encoded");
  if (model_.row().positions == PatchPositions::kRows && n + (w.class_token ? 1 : 0) > w.positions.n / p.n_embd)
    return fail(ErrorCode::kOutOfRange,
                "the projector has no position embeddings for " + counted(n, "patch", "patches"));
  grid_ = model_.tokens_of(part.size);
  const ScratchSizes sizes = scratch_sizes(model_, n, grid_.n_tokens);
  thread_floats_ = static_cast<size_t>(Arena::round_up(sizes.thread_floats));
  if (const auto r = grow(scratch_, sizes.arena_floats); !r) return r;
  if (const auto r = grow(cache_, sizes.cache_floats); !r) return r;
  if (const auto r = grow(thread_scratch_, uint64_t{thread_floats_} * pool_.n_threads()); !r) return r;
  arena_.reset(scratch_.as<float>(), static_cast<size_t>(sizes.arena_floats));
  order_places();
  pixels_.resize(static_cast<size_t>(n) * 3 * patch * patch);
  float* to = pixels_.data();
  for (const Place& place : places_)
    for (size_t c = 0; c < 3; ++c)
      for (size_t y = 0; y < patch; ++y) {
        const uint8_t* from =
            part.rgb.data() + ((place.row * patch + y) * part.size.width + size_t{place.column} * patch) * 3 + c;
        for (size_t x = 0; x < patch; ++x)
          *to++ = (static_cast<float>(from[3 * x]) / 255.0f - p.mean[c]) / p.deviation[c];
      }
  round_to_halves(pixels_.data(), pixels_.size());
  make_angles();
  at_ = 0;
  return {};
}

// Orders the patches row by row. If the model uses windows: window by window, with the patches of a token together.
void ImageEncoder::order_places() {
  const VisionParameters& p = model_.parameters();
  const uint32_t side = p.window != 0 ? p.window : std::max(rows_, columns_);
  const uint32_t merge = p.window != 0 ? p.merge : 1;
  places_.clear();
  windows_.clear();
  std::vector<uint32_t> ends;
  for (uint32_t top = 0; top < rows_; top += side)
    for (uint32_t left = 0; left < columns_; left += side) {
      const uint32_t bottom = std::min(top + side, rows_), right = std::min(left + side, columns_);
      for (uint32_t y = top; y < bottom; y += merge)
        for (uint32_t x = left; x < right; x += merge)
          for (uint32_t dy = 0; dy < merge && y + dy < bottom; ++dy)
            for (uint32_t dx = 0; dx < merge && x + dx < right; ++dx) places_.push_back({y + dy, x + dx});
      ends.push_back(static_cast<uint32_t>(places_.size()));
    }
  place_of_.resize(places_.size());
  for (uint32_t i = 0; i < places_.size(); ++i) place_of_[places_[i].row * columns_ + places_[i].column] = i;
  all_.assign(1, {0, static_cast<uint32_t>(n_rows())});
  sees_all_.assign(n_rows(), all_);
  no_positions_.assign(n_rows(), 0);
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    windows_.push_back({begin, end});
    begin = end;
  }
  sees_window_.clear();
  for (const CellRun& window : windows_)
    sees_window_.insert(sees_window_.end(), window.end - window.begin, {&window, 1});
}

void ImageEncoder::make_angles() {
  const VisionParameters& p = model_.parameters();
  const PatchRope kind = model_.row().rope;
  if (kind == PatchRope::kNone) return;
  const size_t half = p.d_head / 2, quarter = p.d_head / 4;
  cosines_.resize(places_.size() * half);
  sines_.resize(places_.size() * half);
  for (size_t i = 0; i < half; ++i) {
    const bool by_column = i >= quarter;
    const double within = static_cast<double>(by_column ? i - quarter : i);
    double exponent = -2 * within / static_cast<double>(half);
    if (by_column && kind == PatchRope::kAdjacent) exponent -= 2.0 / p.d_head;
    const double frequency = std::pow(static_cast<double>(p.rope_base), exponent);
    for (size_t t = 0; t < places_.size(); ++t) {
      const double angle = (by_column ? places_[t].column : places_[t].row) * frequency;
      cosines_[t * half + i] = static_cast<float>(std::cos(angle));
      sines_[t * half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

bool ImageEncoder::step() {
  const uint32_t n_run = model_.parameters().n_run;
  if (at_ == 0) {
    embed();
  } else if (at_ <= n_run) {
    run_layer(static_cast<uint32_t>(at_ - 1));
  } else {
    project();
  }
  return ++at_ < n_steps();
}

void ImageEncoder::embed() {
  const VisionParameters& p = model_.parameters();
  const VisionWeights& w = model_.weights();
  const size_t n = places_.size(), n_embd = p.n_embd;
  arena_.release(0);
  x_ = arena_.take(n_rows() * n_embd);
  normed_ = arena_.take(n_rows() * n_embd);
  mixed_ = arena_.take(n_rows() * n_embd);
  n_features_ = n_embd * std::max<size_t>(p.features.size(), 1);
  features_ = p.features.empty() ? x_ : arena_.take(n_rows() * n_features_);
  deep_.clear();
  apply(pool_, w.patches, pixels_.data(), n, x_);
  if (w.patches_2) {
    apply(pool_, w.patches_2, pixels_.data(), n, mixed_);
    vec::add(x_, mixed_, n * n_embd);
  }
  for (size_t t = 0; t < n && w.patch_bias; ++t) vec::add(x_ + t * n_embd, w.patch_bias.data(), n_embd);
  if (w.class_token) std::memcpy(x_ + n * n_embd, w.class_token.data(), n_embd * sizeof(float));
  add_positions();
  if (w.norm_before) normalize_rows(pool_, p.eps, p.norm, w.norm_before, x_, n_rows(), n_embd, x_);
}

namespace {

/// Weights for linear resampling of one axis. Either the corners of both grids coincide, or pixel centers are mapped
/// and the triangle filter widens when the axis shrinks (ggml's antialiased interpolation).
struct AxisSample {
  size_t first = 0;
  std::vector<float> weights;
};

std::vector<AxisSample> axis_samples(size_t n_in, size_t n_out, bool corners) {
  std::vector<AxisSample> samples(n_out);
  if (corners) {
    for (size_t i = 0; i < n_out; ++i) {
      const float at =
          n_out > 1 ? static_cast<float>(i) * static_cast<float>(n_in - 1) / static_cast<float>(n_out - 1) : 0;
      const auto first = std::min(static_cast<size_t>(at), n_in - 1);
      const float part = at - static_cast<float>(first);
      samples[i].first = first;
      samples[i].weights.push_back(1 - part);
      if (first + 1 < n_in) samples[i].weights.push_back(part);
    }
    return samples;
  }
  const float scale = static_cast<float>(n_out) / static_cast<float>(n_in), support = std::max(1.0f, 1.0f / scale);
  for (size_t i = 0; i < n_out; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) / scale;
    const auto first = static_cast<size_t>(std::max(center - support + 0.5f, 0.0f));
    const size_t last = std::min(static_cast<size_t>(center + support + 0.5f), n_in);
    samples[i].first = first;
    float sum = 0;
    for (size_t k = first; k < last; ++k) {
      const float weight = std::max(1.0f - std::fabs((static_cast<float>(k) - center + 0.5f) / support), 0.0f);
      samples[i].weights.push_back(weight);
      sum += weight;
    }
    for (float& weight : samples[i].weights) weight /= sum;
  }
  return samples;
}

}  // namespace

void ImageEncoder::add_positions() {
  const VisionWeights& w = model_.weights();
  const size_t n_embd = model_.parameters().n_embd;
  if (model_.row().positions == PatchPositions::kNone) return;
  const float* table = w.positions.data();
  const size_t n_positions = w.positions.n / n_embd;
  const auto side = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(n_positions))));
  if (model_.row().positions == PatchPositions::kRows || (side == columns_ && side == rows_)) {
    for (size_t t = 0; t < places_.size(); ++t)
      vec::add(x_ + t * n_embd, table + (size_t{places_[t].row} * columns_ + places_[t].column) * n_embd, n_embd);
    if (w.class_token) vec::add(x_ + places_.size() * n_embd, table + places_.size() * n_embd, n_embd);
    return;
  }
  const bool corners = model_.row().positions == PatchPositions::kInterpolatedCorners;
  const std::vector<AxisSample> across = axis_samples(side, columns_, corners),
                                down = axis_samples(side, rows_, corners);
  for (size_t t = 0; t < places_.size(); ++t) {
    const AxisSample &y = down[places_[t].row], &x = across[places_[t].column];
    for (size_t dy = 0; dy < y.weights.size(); ++dy)
      for (size_t dx = 0; dx < x.weights.size(); ++dx)
        vec::add_scaled(x_ + t * n_embd, y.weights[dy] * x.weights[dx],
                        table + ((y.first + dy) * side + x.first + dx) * n_embd, n_embd);
  }
}

void ImageEncoder::normalize_heads(const Affine& norm, float* x, size_t n_heads) const {
  if (!norm) return;
  const VisionParameters& p = model_.parameters();
  const size_t n = norm.weight.n == p.d_head ? p.d_head : n_heads * p.d_head;
  normalize_rows(pool_, p.eps, p.norm, norm, x, n_rows() * n_heads * p.d_head / n, n, x);
}

void ImageEncoder::attend(uint32_t il, const float* x, float* y) {
  const VisionParameters& p = model_.parameters();
  const VisionLayer& w = model_.weights().layers[il];
  const size_t n = n_rows(), n_q = size_t{p.n_head} * p.d_head, n_kv = size_t{p.n_head_kv} * p.d_head;
  const size_t mark = arena_.mark();
  float* q = arena_.take(n * n_q);
  float* k = arena_.take(n * n_kv);
  float* v = arena_.take(n * n_kv);
  if (w.qkv) {
    float* fused = arena_.take(n * (n_q + 2 * n_kv));
    apply(pool_, w.qkv, x, n, fused);
    for (size_t t = 0; t < n; ++t) {
      const float* row = fused + t * (n_q + 2 * n_kv);
      std::memcpy(q + t * n_q, row, n_q * sizeof(float));
      std::memcpy(k + t * n_kv, row + n_q, n_kv * sizeof(float));
      std::memcpy(v + t * n_kv, row + n_q + n_kv, n_kv * sizeof(float));
    }
  } else {
    apply(pool_, {{&w.q, q}, {&w.k, k}, {&w.v, v}}, x, n);
  }
  normalize_heads(w.q_norm, q, p.n_head);
  normalize_heads(w.k_norm, k, p.n_head_kv);
  const AttentionShape shape = attention_shape(p);
  const size_t half = p.d_head / 2, n_cache = n * n_kv;
  const CacheView cache{CacheTypes{}, cache_.data(), cache_.data() + n_cache * sizeof(float), p.d_head, n};
  const PatchRope kind = model_.row().rope;
  each_token(pool_, Operation::kPositions, n, [&](size_t t) {
    if (kind != PatchRope::kNone && t < places_.size()) {
      const RopeKind pairs = kind == PatchRope::kAdjacent ? RopeKind::kAdjacent : RopeKind::kHalves;
      const float *cosines = cosines_.data() + t * half, *sines = sines_.data() + t * half;
      rope(pairs, q + t * n_q, p.n_head, p.d_head, p.d_head, cosines, sines);
      rope(pairs, k + t * n_kv, p.n_head_kv, p.d_head, p.d_head, cosines, sines);
    }
    cache_store(cache, shape, t, k + t * n_kv, v + t * n_kv);
  });
  AttentionOptions options;
  options.scale = 1.0f / std::sqrt(static_cast<float>(p.d_head));
  float* mixed = arena_.take(n * n_q);
  attention(pool_, shape, options, cache, q, n, p.window != 0 && !p.sees_all[il] ? sees_window_ : sees_all_,
            no_positions_.data(), no_positions_.data(), thread_scratch_.as<float>(), thread_floats_, mixed);
  apply(pool_, w.out, mixed, n, y);
  arena_.release(mark);
}

void ImageEncoder::run_layer(uint32_t il) {
  const VisionParameters& p = model_.parameters();
  const VisionLayer& w = model_.weights().layers[il];
  const size_t n = n_rows(), n_embd = p.n_embd;
  const auto norm = [&](const Affine& by, const float* from, float* to) {
    if (by) {
      normalize_rows(pool_, p.eps, p.norm, by, from, n, n_embd, to);
    } else {
      // A norm without a weight tensor still normalizes.
      for (size_t t = 0; t < n; ++t)
        normalize(p.norm, from + t * n_embd, nullptr, nullptr, n_embd, p.eps, to + t * n_embd);
    }
  };
  const auto scale = [&](const Vector& by, float* rows) {
    for (size_t t = 0; t < n && by; ++t) vec::multiply(rows + t * n_embd, by.data(), n_embd);
  };
  const auto feature = std::find(p.features.begin(), p.features.end(), il);
  if (feature != p.features.end())
    for (size_t t = 0; t < n; ++t)
      std::memcpy(features_ + t * n_features_ + static_cast<size_t>(feature - p.features.begin()) * n_embd,
                  x_ + t * n_embd, n_embd * sizeof(float));

  norm(w.norm_1, x_, normed_);
  attend(il, normed_, mixed_);
  scale(w.scale_1, mixed_);
  if (w.norm_after_mixing) norm(w.norm_after_mixing, mixed_, mixed_);
  add_rows(pool_, x_, mixed_, n, n_embd);

  norm(w.norm_2, x_, normed_);
  const size_t mark = arena_.mark(), n_ff = w.up.n_out;
  float* up = arena_.take(n * n_ff);
  if (w.gate) {
    float* gate = arena_.take(n * n_ff);
    apply(pool_, {{&w.up, up}, {&w.gate, gate}}, normed_, n);
    each_token(pool_, Operation::kGate, n, [&](size_t t) {
      activate_rounded(p.activation, gate + t * n_ff, n_ff);
      vec::multiply(up + t * n_ff, gate + t * n_ff, n_ff);
    });
  } else {
    apply(pool_, w.up, normed_, n, up);
    each_token(pool_, Operation::kGate, n, [&](size_t t) { activate_rounded(p.activation, up + t * n_ff, n_ff); });
  }
  apply(pool_, w.down, up, n, mixed_);
  arena_.release(mark);
  if (w.norm_after_ffn) norm(w.norm_after_ffn, mixed_, mixed_);
  scale(w.scale_2, mixed_);
  add_rows(pool_, x_, mixed_, n, n_embd);
  scale(w.scale_out, x_);
  if (w.deep.first) deep_features(il);
}

// DeepStack features: the merged output of this layer, which is later added in a layer of the text model.
void ImageEncoder::deep_features(uint32_t il) {
  const VisionWeights& w = model_.weights();
  const ProjectorAdapter& deep = w.layers[il].deep;
  const size_t at = deep_.size(), n_merged = deep.first.n_in, mark = arena_.mark();
  deep_.resize(at + grid_.n_tokens * deep.second.n_out);
  const ProjectorInput j{model_.parameters(),        w, pool_,  arena_, columns_, rows_, grid_, x_, place_of_.data(),
                         model_.parameters().n_embd, 0, nullptr};
  float* merged = arena_.take(grid_.n_tokens * n_merged);
  j.merge_patches(merged);
  j.normalize(deep.norm, merged, grid_.n_tokens, n_merged, model_.parameters().norm, model_.parameters().eps);
  j.adapt(deep, merged, grid_.n_tokens, Activation::kGelu, deep_.data() + at);
  arena_.release(mark);
}

void ImageEncoder::project() {
  const VisionParameters& p = model_.parameters();
  const VisionWeights& w = model_.weights();
  if (w.norm_after) normalize_rows(pool_, p.eps, p.norm, w.norm_after, x_, n_rows(), p.n_embd, x_);
  if (!p.features.empty())
    for (size_t t = 0; t < n_rows(); ++t)
      std::memcpy(features_ + t * n_features_ + (p.features.size() - 1) * p.n_embd, x_ + t * p.n_embd,
                  p.n_embd * sizeof(float));
  const size_t n_main = w.adapter.second && !deep_.empty() ? w.adapter.second.n_out : model_.n_out();
  std::vector<float> main(grid_.n_tokens * n_main);
  ProjectorInput j{p,           w,      pool_,      arena_, columns_, rows_, grid_, features_, place_of_.data(),
                   n_features_, n_main, main.data()};
  model_.row().project(j);
  if (deep_.empty()) {
    output_ = std::move(main);
    return;
  }
  output_.resize(grid_.n_tokens * model_.n_out());
  const size_t n_parts = model_.n_out() / n_main - 1;
  for (size_t t = 0; t < grid_.n_tokens; ++t) {
    float* row = output_.data() + t * model_.n_out();
    std::memcpy(row, main.data() + t * n_main, n_main * sizeof(float));
    for (size_t i = 0; i < n_parts; ++i)
      std::memcpy(row + (i + 1) * n_main, deep_.data() + (i * grid_.n_tokens + t) * n_main, n_main * sizeof(float));
  }
}

}  // namespace ggufscope
