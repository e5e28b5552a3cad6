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
#include "model/arena.hpp"
#include "model/rows.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kLastEps = 1e-6f;  // of the last norm, if its kind differs from that of the layers

struct ScratchSizes {
  uint64_t cache_floats = 0, thread_floats = 0;
};

AttentionShape attention_shape(const VisionParameters& p) { return {p.n_head, p.n_head_kv, p.d_head, p.d_head}; }

ScratchSizes scratch_sizes(const VisionModel& model, uint64_t n_patches) {
  const VisionParameters& p = model.parameters();
  const uint64_t n = n_patches + model.n_registers(), n_kv = uint64_t{p.n_head_kv} * p.d_head;
  ScratchSizes sizes;
  if (!model.leaves_layers() || p.halve_after >= 0) {  // merging windows attends, too
    sizes.cache_floats = 2 * n * n_kv;
    sizes.thread_floats = attention_scratch(attention_shape(p), static_cast<size_t>(n));
  }
  if (model.weights().resampler) {
    const AttentionShape shape = resampler_shape(model.n_out());
    sizes.cache_floats = std::max(sizes.cache_floats, 2 * n * model.n_out());
    sizes.thread_floats = std::max<uint64_t>(sizes.thread_floats, attention_scratch(shape, static_cast<size_t>(n)));
  }
  return sizes;
}

}  // namespace

uint64_t ImageEncoder::scratch_bytes(const VisionModel& model, ImageSize part, size_t n_threads) {
  if (model.row().mobilenet) return MobileNetRun::count_bytes(model.weights(), n_threads);
  const uint32_t patch = model.parameters().image.patch;
  const uint64_t n_patches = uint64_t{part.width / patch} * (part.height / patch);
  const ScratchSizes sizes = scratch_sizes(model, n_patches);
  const uint64_t pixels = n_patches * patch * patch * 3;
  return (count_scratch(model, part) + sizes.cache_floats + sizes.thread_floats * n_threads + pixels) * sizeof(float);
}

// Floats of the arena.
uint64_t ImageEncoder::count_scratch(const VisionModel& model, ImageSize part) {
  Pool pool(Pool::Counting{});
  ImageEncoder encoder(model, pool);
  encoder.arena_.count();
  encoder.begin(part);
  do {
    const LayerRun device = model.leaves_layers() ? encoder.begin_layers() : LayerRun{};
    if (device) encoder.end_layers(device.end);
  } while (encoder.step());
  return encoder.arena_.peak();
}

void ImageEncoder::begin(ImageSize part) {
  columns_ = part.width / model_.parameters().image.patch;
  rows_ = part.height / model_.parameters().image.patch;
  grid_ = model_.tokens_of(part);
  by_columns_ = halved_ = false;
  at_ = 0;
  order_places();
  make_angles();
}

uint64_t ImageEncoder::run_bytes(const VisionModel& model, ImageSize part, size_t n_threads) {
  const VisionParameters& p = model.parameters();
  const uint64_t n_patches = part.n_pixels() / (uint64_t{p.image.patch} * p.image.patch);
  const uint64_t n_tokens = model.tokens_of(part).n_tokens;
  // Places, windows and angles of each patch; the output, with and without the features of layers.
  constexpr uint64_t kPlaceBytes = 64;
  return scratch_bytes(model, part, n_threads) + n_patches * (kPlaceBytes + p.d_head * sizeof(float)) +
         3 * n_tokens * model.n_out() * sizeof(float);
}

Result<void> ImageEncoder::check(const VisionModel& model, ImageSize part) {
  if (model.row().mobilenet) return {};
  const VisionParameters& p = model.parameters();
  const uint32_t columns = part.width / p.image.patch, rows = part.height / p.image.patch;
  const uint64_t n = uint64_t{columns} * rows;
  if (n == 0 || n > kMaxPatches)
    return fail(ErrorCode::kOutOfRange, "an image of " + counted(n, "patch", "patches") + " cannot be encoded");
  if (n_positions(model, columns, rows) > model.weights().positions.n / p.n_embd)
    return fail(ErrorCode::kOutOfRange,
                "the projector has no position embeddings for " + counted(n, "patch", "patches"));
  return {};
}

Result<void> ImageEncoder::begin_mobilenet(const Image& part) {
  const VisionParameters& p = model_.parameters();
  const Result<float*> pixels = mobilenet_.start(part.size.width);
  if (!pixels) return std::unexpected(pixels.error());
  for (size_t i = 0; i < part.rgb.size(); ++i)
    (*pixels)[i] = (static_cast<float>(part.rgb[i]) / 255.0f - p.mean[i % 3]) / p.deviation[i % 3];
  grid_ = model_.tokens_of(part.size);
  at_ = 0;
  return {};
}

Result<void> ImageEncoder::start(const Image& part) {
  if (model_.row().mobilenet) return begin_mobilenet(part);
  if (const Result<void> good = check(model_, part.size); !good) return good;
  const VisionParameters& p = model_.parameters();
  const uint32_t patch = p.image.patch;
  const uint64_t n = uint64_t{part.size.width / patch} * (part.size.height / patch);
  const ScratchSizes sizes = scratch_sizes(model_, n);
  thread_floats_ = static_cast<size_t>(Arena::round_up(sizes.thread_floats));
  if (const auto r = arena_.allocate(count_scratch(model_, part.size)); !r) return r;
  if (const auto r = cache_.reserve(sizes.cache_floats * sizeof(float)); !r) return r;
  if (const auto r = thread_scratch_.reserve(thread_floats_ * pool_.n_threads() * sizeof(float)); !r) return r;
  begin(part.size);
  pixels_.resize(static_cast<size_t>(n) * 3 * patch * patch);
  const size_t per_color = model_.row().colors_last ? 1 : size_t{patch} * patch, per_pixel = per_color == 1 ? 3 : 1;
  float* to = pixels_.data();
  const float stretch = model_.row().gemma4 ? 2 : 1, shift = model_.row().gemma4 ? -1 : 0;
  for (const Place& place : places_) {
    for (size_t c = 0; c < 3; ++c)
      for (size_t y = 0; y < patch; ++y) {
        const uint8_t* from =
            part.rgb.data() + ((place.row * patch + y) * part.size.width + size_t{place.column} * patch) * 3 + c;
        for (size_t x = 0; x < patch; ++x)
          to[c * per_color + (y * patch + x) * per_pixel] =
              (static_cast<float>(from[3 * x]) / 255.0f - p.mean[c]) / p.deviation[c] * stretch + shift;
      }
    to += size_t{3} * patch * patch;
  }
  if (!model_.row().exact_patches) round_to_halves(pixels_.data(), pixels_.size());
  return {};
}

// Orders the patches row by row. If the model uses windows: window by window, with the patches of a token together. If
// it uses a band: token by token, along rows or columns.
void ImageEncoder::order_places() {
  if (arena_.counting()) return;
  const VisionParameters& p = model_.parameters();
  const bool windows = p.window != 0 && !halved_;
  const uint32_t side = windows ? p.window : std::max(rows_, columns_);
  const uint32_t merge = windows || p.band != 0 ? std::min(p.merge, side) : 1;
  places_.clear();
  windows_.clear();
  std::vector<uint32_t> ends;
  // The outer and the inner direction.
  const uint32_t n_outer = by_columns_ ? columns_ : rows_, n_inner = by_columns_ ? rows_ : columns_;
  for (uint32_t top = 0; top < n_outer; top += side)
    for (uint32_t left = 0; left < n_inner; left += side) {
      const uint32_t bottom = std::min(top + side, n_outer), right = std::min(left + side, n_inner);
      for (uint32_t outer = top; outer < bottom; outer += merge)
        for (uint32_t inner = left; inner < right; inner += merge)
          add_token(by_columns_ ? Place{inner, outer} : Place{outer, inner}, merge);
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
  if (p.band == 0) return;
  const auto n = static_cast<uint32_t>(places_.size());
  windows_.clear();
  for (uint32_t i = 0; i < n; ++i) windows_.push_back({i - std::min(i, p.band), std::min(i + p.band + 1, n)});
  for (uint32_t i = 0; i < n; ++i) sees_window_[i] = {&windows_[i], 1};
}

// Adds the patches of the token whose first patch is at this place.
void ImageEncoder::add_token(Place place, uint32_t merge) {
  for (uint32_t y = place.row; y < std::min(place.row + merge, rows_); ++y)
    for (uint32_t x = place.column; x < std::min(place.column + merge, columns_); ++x) places_.push_back({y, x});
}

// Reorders the patches by columns or by rows, unless they are in that order.
void ImageEncoder::turn(bool by_columns) {
  if (by_columns == by_columns_) return;
  by_columns_ = by_columns;
  if (arena_.counting()) return;
  const std::vector<uint32_t> place_of = place_of_;
  order_places();
  make_angles();
  const size_t n_embd = model_.parameters().n_embd;
  std::memcpy(normed_, x_, places_.size() * n_embd * sizeof(float));
  for (size_t i = 0; i < places_.size(); ++i)
    std::memcpy(x_ + i * n_embd, normed_ + place_of[places_[i].row * columns_ + places_[i].column] * n_embd,
                n_embd * sizeof(float));
}

bool ImageEncoder::step() {
  const uint32_t n_run = model_.parameters().n_run;
  if (model_.row().mobilenet) {
    if (at_ + 1 == n_steps()) output_.resize(grid_.n_tokens * model_.n_out());
    mobilenet_.step(at_, output_.data());
  } else if (at_ == 0) {
    embed();
  } else if (at_ <= n_run) {
    begin_layer(static_cast<uint32_t>(at_ - 1));
    run_layer(static_cast<uint32_t>(at_ - 1));
    end_layer(static_cast<uint32_t>(at_ - 1));
  } else {
    project();
  }
  return ++at_ < n_steps();
}

void ImageEncoder::embed() {
  const VisionParameters& p = model_.parameters();
  const VisionWeights& w = model_.weights();
  const size_t n = n_patches(), n_embd = p.n_embd;
  arena_.release(0);
  x_ = arena_.take(n_rows() * n_embd);
  normed_ = arena_.take(n_rows() * n_embd);
  mixed_ = arena_.take(n_rows() * n_embd);
  n_features_ = n_embd * std::max<size_t>(p.features.size(), 1);
  features_ = p.features.empty() ? x_ : arena_.take(n_rows() * n_features_);
  deep_.clear();
  if (arena_.counting()) return;
  const size_t n_pixels = w.patches.n_in;
  if (w.norm_pixels) normalize_rows(pool_, p.eps, p.norm, w.norm_pixels, pixels_.data(), n, n_pixels, pixels_.data());
  apply(pool_, w.patches, pixels_.data(), n, x_);
  if (w.patches_2) {
    apply(pool_, w.patches_2, pixels_.data(), n, mixed_);
    vec::add(x_, mixed_, n * n_embd);
  }
  for (size_t t = 0; t < n && w.patch_bias; ++t) vec::add(x_ + t * n_embd, w.patch_bias.data(), n_embd);
  if (w.class_token) std::memcpy(x_ + n * n_embd, w.class_token.data(), w.class_token.n * sizeof(float));
  if (w.norm_patches) normalize_rows(pool_, p.eps, p.norm, w.norm_patches, x_, n, n_embd, x_);
  add_positions();
  if (w.norm_before) normalize_rows(pool_, p.eps, p.norm, w.norm_before, x_, n_rows(), n_embd, x_);
}

void ImageEncoder::normalize_heads(const Affine& norm, float* x, size_t n_heads) const {
  if (!norm) return;
  const VisionParameters& p = model_.parameters();
  const size_t n = norm.weight.n == p.d_head ? p.d_head : n_heads * p.d_head;
  normalize_rows(pool_, p.eps, p.norm, norm, x, n_rows() * n_heads * p.d_head / n, n, x);
}

void ImageEncoder::attend(const VisionLayer& w, std::span<const std::span<const CellRun>> sees, const float* x,
                          float* y) {
  const VisionParameters& p = model_.parameters();
  const VisionWeights& all = model_.weights();
  const size_t n = n_rows(), n_q = size_t{p.n_head} * p.d_head, n_kv = size_t{p.n_head_kv} * p.d_head;
  const size_t mark = arena_.mark();
  float* q = arena_.take(n * n_q);
  float* k = arena_.take(n * n_kv);
  float* v = arena_.take(n * n_kv);
  if (w.qkv) {
    float* fused = arena_.take(n * (n_q + 2 * n_kv));
    apply_limited(pool_, arena_, all, {{&w.qkv, fused}}, x, n);
    for (size_t t = 0; t < n && !arena_.counting(); ++t) {
      const float* row = fused + t * (n_q + 2 * n_kv);
      std::memcpy(q + t * n_q, row, n_q * sizeof(float));
      std::memcpy(k + t * n_kv, row + n_q, n_kv * sizeof(float));
      std::memcpy(v + t * n_kv, row + n_q + n_kv, n_kv * sizeof(float));
    }
  } else {
    apply_limited(pool_, arena_, all, {{&w.q, q}, {&w.k, k}, {&w.v, v}}, x, n);
  }
  normalize_heads(w.q_norm, q, p.n_head);
  normalize_heads(w.k_norm, k, p.n_head_kv);
  const AttentionShape shape = attention_shape(p);
  const size_t half = p.d_head / 2, n_cache = n * n_kv;
  const CacheView cache{CacheTypes{}, cache_.data(), cache_.data() + n_cache * sizeof(float), p.d_head, n};
  const bool gemma4 = model_.row().gemma4;
  const RopeKind rotation = rope_of(model_.row().rope);
  each_token(pool_, Operation::kPositions, n, [&](size_t t) {
    if (rotation != RopeKind::kNone && t < places_.size()) {
      const float *cosines = cosines_.data() + t * half, *sines = sines_.data() + t * half;
      rope(rotation, q + t * n_q, p.n_head, p.d_head, p.d_head, cosines, sines);
      rope(rotation, k + t * n_kv, p.n_head_kv, p.d_head, p.d_head, cosines, sines);
    }
    float* values = v + t * n_kv;
    for (size_t i = 0; gemma4 && i < n_kv; i += p.d_head)
      normalize(NormKind::kRms, values + i, nullptr, nullptr, p.d_head, p.eps, values + i);
    cache_store(cache, shape, t, k + t * n_kv, values);
  });
  AttentionOptions options;
  if (!gemma4) options.scale = 1.0f / std::sqrt(static_cast<float>(p.d_head));
  float* mixed = arena_.take(n * n_q);
  if (sees.data() != sees_all_.data()) options.sinks = w.sinks.data();
  attention(pool_, shape, options, cache, q, n, sees, no_positions_.data(), no_positions_.data(),
            thread_scratch_.as<float>(), thread_floats_, mixed);
  apply_limited(pool_, arena_, all, {{&w.out, y}}, mixed, n);
  arena_.release(mark);
}

void ImageEncoder::run_layer(uint32_t il) {
  const VisionParameters& p = model_.parameters();
  const VisionLayer& w = model_.weights().layers[il];
  const size_t n = n_rows(), n_embd = p.n_embd;
  const auto norm = [&](const Affine& by, const float* from, float* to) {
    // A norm without a weight tensor still normalizes.
    if (!model_.row().norms_follow || from != x_) return normalize_rows(pool_, p.eps, p.norm, by, from, n, n_embd, to);
    if (!arena_.counting()) std::memcpy(to, from, n * n_embd * sizeof(float));
  };
  const auto scale = [&](const Vector& by, float* rows) {
    if (by)
      each_token(pool_, Operation::kGate, n, [&](size_t t) { vec::multiply(rows + t * n_embd, by.data(), n_embd); });
  };
  norm(w.norm_1, x_, normed_);
  const bool windowed = (p.window != 0 || p.band != 0) && !p.sees_all[il];
  attend(w, windowed ? sees_window_ : sees_all_, normed_, mixed_);
  scale(w.scale_1, mixed_);
  if (w.norm_after_mixing) norm(w.norm_after_mixing, mixed_, mixed_);
  add_rows(pool_, x_, mixed_, n, n_embd);

  norm(w.norm_2, x_, normed_);
  const size_t mark = arena_.mark(), n_ff = w.up.n_out;
  float* up = arena_.take(n * n_ff);
  if (w.gate) {
    float* gate = arena_.take(n * n_ff);
    apply_limited(pool_, arena_, model_.weights(), {{&w.up, up}, {&w.gate, gate}}, normed_, n);
    each_token(pool_, Operation::kGate, n, [&](size_t t) {
      activate_rounded(p.activation, gate + t * n_ff, n_ff);
      vec::multiply(up + t * n_ff, gate + t * n_ff, n_ff);
    });
  } else {
    apply_limited(pool_, arena_, model_.weights(), {{&w.up, up}}, normed_, n);
    each_token(pool_, Operation::kGate, n, [&](size_t t) { activate_rounded(p.activation, up + t * n_ff, n_ff); });
  }
  apply_limited(pool_, arena_, model_.weights(), {{&w.down, mixed_}}, up, n);
  arena_.release(mark);
  if (w.norm_after_ffn) norm(w.norm_after_ffn, mixed_, mixed_);
  scale(w.scale_2, mixed_);
  add_rows(pool_, x_, mixed_, n, n_embd);
  scale(w.scale_out, x_);
}

// What reads or moves the rows before a layer, and after it.
void ImageEncoder::begin_layer(uint32_t il) {
  const VisionParameters& p = model_.parameters();
  const size_t n = n_rows(), n_embd = p.n_embd;
  if (!p.by_columns.empty()) turn(p.by_columns[il]);
  const auto feature = std::find(p.features.begin(), p.features.end(), il);
  if (feature != p.features.end())
    for (size_t t = 0; t < n && !arena_.counting(); ++t)
      std::memcpy(features_ + t * n_features_ + static_cast<size_t>(feature - p.features.begin()) * n_embd,
                  x_ + t * n_embd, n_embd * sizeof(float));
}

void ImageEncoder::end_layer(uint32_t il) {
  if (model_.weights().layers[il].deep.first) deep_features(il);
  if (model_.parameters().halve_after == static_cast<int32_t>(il)) halve();
}

LayerRun ImageEncoder::begin_layers() {
  const VisionParameters& p = model_.parameters();
  if (model_.row().mobilenet || at_ == 0 || at_ > p.n_run) return {};
  LayerRun run;
  run.first = static_cast<uint32_t>(at_ - 1);
  run.end = run.first + 1;
  while (run.end < p.n_run && !model_.reads_rows_between(run.end)) ++run.end;
  begin_layer(run.first);
  run.n_rows = n_rows();
  run.rows = {x_, n_rows() * p.n_embd};
  run.all = sees_all_;
  run.windows = sees_window_;
  run.half = model_.row().rope == PatchRope::kNone ? 0 : p.d_head / 2;
  run.cosines = cosines_;
  run.sines = sines_;
  return run;
}

void ImageEncoder::end_layers(uint32_t end) {
  end_layer(end - 1);
  at_ = end + 1;
}

// The patches of each window of 2 x 2 attend to each other. Then they are merged: their mean, plus a network of all
// four.
void ImageEncoder::halve() {
  const VisionParameters& p = model_.parameters();
  const VisionLayer& w = model_.weights().halving;
  const size_t n_embd = p.n_embd, n = n_rows() / 4;
  normalize_rows(pool_, p.eps, p.norm, w.norm_1, x_, n_rows(), n_embd, normed_);
  attend(w, sees_window_, normed_, mixed_);
  add_rows(pool_, x_, mixed_, n_rows(), n_embd);
  normalize_rows(pool_, p.eps, p.norm, w.deep.norm, x_, n, 4 * n_embd, normed_);
  make_input(nullptr, 0).adapt(w.deep, normed_, n, mixed_);
  for (size_t t = 0; t < n && !arena_.counting(); ++t) {
    float* mean = normed_ + t * n_embd;
    std::memcpy(mean, x_ + 4 * t * n_embd, n_embd * sizeof(float));
    for (size_t i = 1; i < 4; ++i) vec::add(mean, x_ + (4 * t + i) * n_embd, n_embd);
    vec::scale(mean, 0.25f, n_embd);
    vec::add(mean, mixed_ + t * n_embd, n_embd);
  }
  if (!arena_.counting()) std::memcpy(x_, normed_, n * n_embd * sizeof(float));
  columns_ /= 2;
  rows_ /= 2;
  halved_ = true;
  order_places();
}

ProjectorInput ImageEncoder::make_input(float* out, size_t n_out) {
  return {.p = model_.parameters(),
          .w = model_.weights(),
          .pool = pool_,
          .arena = arena_,
          .columns = columns_,
          .rows = rows_,
          .grid = grid_,
          .encoded = features_,
          .place_of = place_of_.data(),
          .n_features = n_features_,
          .n_out = n_out,
          .out = out,
          .cache = cache_.data(),
          .thread_scratch = thread_scratch_.as<float>(),
          .thread_floats = thread_floats_};
}

// DeepStack features: the merged output of this layer, which is later added in a layer of the text model.
void ImageEncoder::deep_features(uint32_t il) {
  const VisionWeights& w = model_.weights();
  const ProjectorAdapter& deep = w.layers[il].deep;
  const size_t at = deep_.size(), n_merged = deep.first.n_in, mark = arena_.mark();
  if (!arena_.counting()) deep_.resize(at + grid_.n_tokens * deep.second.n_out);
  ProjectorInput j = make_input(nullptr, 0);
  j.encoded = x_;
  j.n_features = model_.parameters().n_embd;
  float* merged = arena_.take(grid_.n_tokens * n_merged);
  j.merge_patches(merged);
  j.normalize(deep.norm, merged, grid_.n_tokens, n_merged, model_.parameters().norm, model_.parameters().eps);
  j.adapt(deep, merged, grid_.n_tokens, deep_.data() + at);
  arena_.release(mark);
}

void ImageEncoder::project() {
  const VisionParameters& p = model_.parameters();
  const VisionWeights& w = model_.weights();
  turn(false);
  const bool other = model_.row().layer_norm_last;
  if (w.norm_after)
    normalize_rows(pool_, other ? kLastEps : p.eps, other ? NormKind::kLayer : p.norm, w.norm_after, x_, n_rows(),
                   p.n_embd, x_);
  if (!p.features.empty())
    for (size_t t = 0; t < n_rows() && !arena_.counting(); ++t)
      std::memcpy(features_ + t * n_features_ + (p.features.size() - 1) * p.n_embd, x_ + t * p.n_embd,
                  p.n_embd * sizeof(float));
  const size_t n_main = w.adapter.second && !deep_.empty() ? w.adapter.second.n_out : model_.n_out();
  std::vector<float> main(arena_.counting() ? 0 : grid_.n_tokens * n_main);
  ProjectorInput j = make_input(main.data(), n_main);
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
