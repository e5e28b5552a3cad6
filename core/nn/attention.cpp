#include "nn/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/norm.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// A cached row as floats: where it lies, or converted into tile.
inline const float* row_of(const uint8_t* base, CacheType type, size_t row, size_t stride, size_t n, float* tile) {
  if (type == CacheType::kF32) return reinterpret_cast<const float*>(base) + row * stride;
  vec::load_f16(reinterpret_cast<const uint16_t*>(base) + row * stride, tile, n);
  return tile;
}

void store_row(uint8_t* base, CacheType type, size_t row, size_t n, const float* x) {
  if (type == CacheType::kF32) {
    std::memcpy(base + row * n * sizeof(float), x, n * sizeof(float));
    return;
  }
  uint16_t* out = reinterpret_cast<uint16_t*>(base) + row * n;
  for (size_t i = 0; i < n; ++i) out[i] = f32_to_f16(x[i]);
}

}  // namespace

std::vector<float> alibi_slopes(size_t n_head, float max_bias) {
  std::vector<float> slopes(n_head);
  size_t power = 1;
  while (power * 2 <= n_head) power *= 2;
  const double m0 = std::exp2(-static_cast<double>(max_bias) / static_cast<double>(power));
  const double m1 = std::exp2(-static_cast<double>(max_bias) / 2 / static_cast<double>(power));
  for (size_t h = 0; h < n_head; ++h)
    slopes[h] = static_cast<float>(h < power ? std::pow(m0, static_cast<double>(h + 1))
                                             : std::pow(m1, static_cast<double>(2 * (h - power) + 1)));
  return slopes;
}

uint32_t relative_bucket(int32_t distance, uint32_t n_buckets, bool both_ways) {
  constexpr double kMaxDistance = 128;
  uint32_t bucket = 0;
  if (both_ways) {
    n_buckets /= 2;
    if (distance > 0) bucket = n_buckets;
  } else {
    distance = std::min(distance, 0);
  }
  const uint32_t away = static_cast<uint32_t>(std::abs(static_cast<int64_t>(distance)));
  const uint32_t exact = n_buckets / 2;  // near distances have a bucket each, far ones share them logarithmically
  if (away < exact) return bucket + away;
  const double ratio = std::log(static_cast<float>(away) / static_cast<float>(exact)) / std::log(kMaxDistance / exact);
  const double far = std::floor(exact + ratio * (n_buckets - exact));
  return bucket + std::min(static_cast<uint32_t>(far), n_buckets - 1);
}

size_t attention_scratch(const AttentionShape& shape, size_t n_cells) {
  return (shape.n_head / shape.n_head_kv) * n_cells + std::max(shape.d_k, shape.d_v);
}

void attention(Pool& pool, const AttentionShape& shape, const AttentionOptions& options, const CacheView& cache,
               const float* q, size_t n_tokens, std::span<const std::span<const CellRun>> runs,
               const int32_t* query_positions, const int32_t* cell_positions, float* scratch, size_t scratch_floats,
               float* out) {
  const size_t group = shape.n_head / shape.n_head_kv;  // query heads that share a key head: each key is read once
  const size_t key_head_bytes = cache.n_cells * shape.d_k * cache_element_bytes(cache.type);
  const size_t value_head_bytes = cache.n_cells * cache.value_stride * cache_element_bytes(cache.type);

  pool.parallel_for(n_tokens * shape.n_head_kv, 1, [&](size_t first, size_t last, size_t thread) {
    float* tile = scratch + thread * scratch_floats;        // [max(d_k, d_v)]
    float* scores = tile + std::max(shape.d_k, shape.d_v);  // [group, n_seen]
    for (size_t item = first; item < last; ++item) {
      const size_t t = item / shape.n_head_kv, kv_head = item % shape.n_head_kv;
      const float* queries = q + (t * shape.n_head + kv_head * group) * shape.d_k;  // [group, d_k]
      float* result = out + (t * shape.n_head + kv_head * group) * shape.d_v;       // [group, d_v]
      const uint8_t* keys = cache.keys + kv_head * key_head_bytes;
      const uint8_t* values = cache.values + kv_head * value_head_bytes;
      size_t n_seen = 0;
      for (const CellRun& run : runs[t]) n_seen += run.end - run.begin;

      size_t i = 0;
      for (const CellRun& run : runs[t])
        for (size_t cell = run.begin; cell < run.end; ++cell, ++i) {
          const float* key = row_of(keys, cache.type, cell, shape.d_k, shape.d_k, tile);
          for (size_t g = 0; g < group; ++g)
            scores[g * n_seen + i] = vec::dot(queries + g * shape.d_k, key, shape.d_k) * options.scale;
        }

      if (options.soft_cap != 0)
        for (i = 0; i < group * n_seen; ++i) scores[i] = options.soft_cap * std::tanh(scores[i] / options.soft_cap);

      if (options.slopes != nullptr || options.buckets != nullptr) {
        i = 0;
        for (const CellRun& run : runs[t])
          for (size_t cell = run.begin; cell < run.end; ++cell, ++i) {
            const int32_t distance = cell_positions[cell] - query_positions[t];
            for (size_t g = 0; g < group; ++g) {
              const size_t head = kv_head * group + g;
              scores[g * n_seen + i] +=
                  options.slopes != nullptr
                      ? -options.slopes[head] * std::fabs(static_cast<float>(distance))
                      : options.buckets[relative_bucket(distance, options.n_buckets, options.buckets_both_ways) *
                                            shape.n_head +
                                        head];
            }
          }
      }

      for (size_t g = 0; g < group; ++g) {
        const float* sink = options.sinks != nullptr ? options.sinks + kv_head * group + g : nullptr;
        softmax(scores + g * n_seen, n_seen, sink);
      }
      std::memset(result, 0, group * shape.d_v * sizeof(float));
      i = 0;
      for (const CellRun& run : runs[t])
        for (size_t cell = run.begin; cell < run.end; ++cell, ++i) {
          const float* value = row_of(values, cache.type, cell, cache.value_stride, shape.d_v, tile);
          for (size_t g = 0; g < group; ++g)
            vec::add_scaled(result + g * shape.d_v, scores[g * n_seen + i], value, shape.d_v);
        }
    }
  });
}

void cache_store(const CacheView& cache, const AttentionShape& shape, size_t cell, const float* keys,
                 const float* values) {
  for (size_t head = 0; head < shape.n_head_kv; ++head) {
    store_row(cache.keys, cache.type, head * cache.n_cells + cell, shape.d_k, keys + head * shape.d_k);
    if (values != nullptr)
      store_row(cache.values, cache.type, head * cache.n_cells + cell, shape.d_v, values + head * shape.d_v);
  }
}

}  // namespace ggufscope
