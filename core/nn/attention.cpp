// Computes attention in tiles of cells, with a running softmax.
#include "nn/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "nn/norm.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
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
  const uint32_t exact =
      n_buckets / 2;  // short distances have a bucket each; long ones share buckets on a logarithmic scale
  if (away < exact) return bucket + away;
  const double ratio = std::log(static_cast<float>(away) / static_cast<float>(exact)) / std::log(kMaxDistance / exact);
  const double far = std::floor(exact + ratio * (n_buckets - exact));
  return bucket + std::min(static_cast<uint32_t>(far), n_buckets - 1);
}

namespace {

constexpr size_t kBlock = 64;  // cells in a block, so that their keys stay in L1
constexpr size_t kRows = 16;   // query rows that share a block, unless a group has more

// Number of tokens whose queries are scored together.
size_t tile_tokens(const AttentionShape& shape) {
  return std::max<size_t>(1, std::min<size_t>(8, kRows / (shape.n_head / shape.n_head_kv)));
}

// Loads kNumbers cache values as floats. Binary16 values come out 2^112 times too small; the caller's factor corrects
// it.
template <CacheType Type>
struct Cached;
template <>
struct Cached<CacheType::kF32> {
  static constexpr size_t kNumbers = 4;
  void load(const uint8_t* p, v128_t* out) const { out[0] = wasm_v128_load(p); }
};
template <>
struct Cached<CacheType::kF16> {
  static constexpr size_t kNumbers = 8;
  vec::HalfConstants constants;
  void load(const uint8_t* p, v128_t* out) const { vec::load_small_f16x8(p, constants, out); }
};

// scores[r][c] = scale * queries[r] . keys[c] for R rows, with keys [n_cells, stride]; F16 rows are whole vectors. The
// order of summation does not depend on the other rows, so results are reproducible.
template <CacheType Type, size_t R>
void score_rows(const float* const* queries, const uint8_t* keys, size_t stride, size_t n_cells, size_t d, float scale,
                float* const* scores) {
  using Numbers = Cached<Type>;
  constexpr size_t kBytes = cache_row_bytes(Type, 1), kVectors = Numbers::kNumbers / 4;
  constexpr size_t kCells = R > 2 ? 2 : 4;  // more would need too many registers
  constexpr size_t kTogether = 4 / kCells;  // rows whose accumulators fill a vector
  const Numbers numbers;
  for (size_t c = 0; c < n_cells; c += kCells) {
    const size_t n = std::min(kCells, n_cells - c);
    const uint8_t* k[kCells];
    for (size_t j = 0; j < kCells; ++j) k[j] = keys + (c + std::min(j, n - 1)) * stride * kBytes;
    v128_t sums[R][kCells];
    for (size_t r = 0; r < R; ++r)
      for (size_t j = 0; j < kCells; ++j) sums[r][j] = wasm_f32x4_splat(0);
    size_t i = 0;
    for (; i + Numbers::kNumbers <= d; i += Numbers::kNumbers) {
      // The smaller of the two sets stays in registers.
      if constexpr (R > 2) {
        v128_t key[kCells][kVectors];
        for (size_t j = 0; j < kCells; ++j) numbers.load(k[j] + i * kBytes, key[j]);
        for (size_t v = 0; v < kVectors; ++v)
          for (size_t r = 0; r < R; ++r) {
            const v128_t q = wasm_v128_load(queries[r] + i + 4 * v);
            for (size_t j = 0; j < kCells; ++j) sums[r][j] = relaxed_madd(q, key[j][v], sums[r][j]);
          }
      } else {
        v128_t q[kVectors][R];
        for (size_t v = 0; v < kVectors; ++v)
          for (size_t r = 0; r < R; ++r) q[v][r] = wasm_v128_load(queries[r] + i + 4 * v);
        for (size_t j = 0; j < kCells; ++j) {
          v128_t key[kVectors];
          numbers.load(k[j] + i * kBytes, key);
          for (size_t v = 0; v < kVectors; ++v)
            for (size_t r = 0; r < R; ++r) sums[r][j] = relaxed_madd(q[v][r], key[v], sums[r][j]);
        }
      }
    }
    for (size_t r = 0; r < R; r += kTogether) {
      const size_t last = std::min(r + kTogether, R) - 1;
      float four[4];
      wasm_v128_store(four, vec::sums4(sums[r][0], sums[r][1], sums[last][2 % kCells], sums[last][3 % kCells]));
      if constexpr (Type == CacheType::kF32)
        for (size_t j = 0; i < d && j < 4; ++j)
          for (size_t e = i; e < d; ++e)
            four[j] += queries[j < kCells ? r : last][e] * reinterpret_cast<const float*>(k[j % kCells])[e];
      const v128_t scaled = wasm_f32x4_mul(wasm_v128_load(four), wasm_f32x4_splat(scale));
      if (n < kCells) {
        wasm_v128_store(four, scaled);
        for (size_t j = 0; j < 4; ++j)
          if (j % kCells < n) scores[j < kCells ? r : last][c + j % kCells] = four[j];
      } else if constexpr (kCells == 4) {
        wasm_v128_store(scores[r] + c, scaled);
      } else {
        wasm_v128_store64_lane(scores[r] + c, scaled, 0);
        wasm_v128_store64_lane(scores[last] + c, scaled, 1);
      }
    }
  }
}

// out[r] += sum over c of weights[r][c] * values[c] for R rows, with values [n_cells, stride]; F16 rows are whole
// vectors.
template <CacheType Type, size_t R>
void mix_rows(const float* const* weights, const uint8_t* values, size_t stride, size_t n_cells, size_t d,
              float* const* out) {
  using Numbers = Cached<Type>;
  constexpr size_t kBytes = cache_row_bytes(Type, 1), kLoads = 8 / Numbers::kNumbers;
  const Numbers numbers;
  size_t i = 0;
  for (; i + 8 <= d; i += 8) {
    v128_t low[R], high[R];
    for (size_t r = 0; r < R; ++r) low[r] = wasm_v128_load(out[r] + i), high[r] = wasm_v128_load(out[r] + i + 4);
    for (size_t c = 0; c < n_cells; ++c) {
      const uint8_t* const row = values + (c * stride + i) * kBytes;
      v128_t eight[2];
      for (size_t k = 0; k < kLoads; ++k) numbers.load(row + k * Numbers::kNumbers * kBytes, eight + k);
      for (size_t r = 0; r < R; ++r) {
        const v128_t w = wasm_v128_load32_splat(weights[r] + c);
        low[r] = relaxed_madd(w, eight[0], low[r]);
        high[r] = relaxed_madd(w, eight[1], high[r]);
      }
    }
    for (size_t r = 0; r < R; ++r) wasm_v128_store(out[r] + i, low[r]), wasm_v128_store(out[r] + i + 4, high[r]);
  }
  if constexpr (Type == CacheType::kF32)
    for (; i < d; ++i)
      for (size_t r = 0; r < R; ++r)
        for (size_t c = 0; c < n_cells; ++c)
          out[r][i] += weights[r][c] * reinterpret_cast<const float*>(values)[c * stride + i];
}

// Calls the function for four (or at most three) rows at a time, then for two, then for one.
template <size_t Most, class Function>
void by_rows(size_t n_rows, const Function& function) {
  size_t r = 0;
  if constexpr (Most >= 4)
    for (; r + 4 <= n_rows; r += 4) function(std::integral_constant<size_t, 4>(), r);
  if constexpr (Most >= 3)
    if (r + 3 == n_rows) return function(std::integral_constant<size_t, 3>(), r);
  for (; r + 2 <= n_rows; r += 2) function(std::integral_constant<size_t, 2>(), r);
  if (r < n_rows) function(std::integral_constant<size_t, 1>(), r);
}

// Rows [begin, end) of a head's keys or values as floats: in place if they are floats, otherwise converted into tile.
const uint8_t* block_of(const uint8_t* base, CacheType type, size_t begin, size_t end, size_t stride, size_t n,
                        float* tile) {
  const size_t row_bytes = cache_row_bytes(type, stride);
  if (type == CacheType::kF32) return base + begin * row_bytes;
  load_cache_rows(type, base + begin * row_bytes, row_bytes, end - begin, n, tile);
  return reinterpret_cast<const uint8_t*>(tile);
}

// The work on one tile: some tokens and all query heads of one key head.
struct Tile {
  const AttentionShape& shape;
  const AttentionOptions& options;
  const CacheView& cache;
  const uint8_t* keys;  // of the key head
  const uint8_t* values;
  float* block;              // [kBlock, max(d_k, d_v)]
  const float* queries[64];  // rows: tokens times heads of the group
  float* scores[64];         // [n_seen of the token]
  float* results[64];        // [d_v]
  size_t group;

  // Decode reads the cells from DRAM. Reads overlap only if there is no computation between them, so one byte of each
  // cache line is read first. For long runs only as much as fits L2; hardware prefetchers fetch the rest.
  void touch(std::span<const CellRun> runs) const {
    constexpr size_t kMaxBytes = 64 << 10, kLine = 64;
    const size_t key_bytes = cache_row_bytes(cache.types.keys, shape.d_k),
                 value_bytes = cache_row_bytes(cache.types.values, cache.value_stride);
    for (const CellRun& run : runs) {
      const size_t n = std::min<size_t>(run.end - run.begin, kMaxBytes / std::max(key_bytes, value_bytes));
      const volatile uint8_t* const k = keys + run.begin * key_bytes;
      const volatile uint8_t* const v = values + run.begin * value_bytes;
      const size_t n_keys = n * key_bytes, n_values = n * value_bytes;
      for (size_t at = 0; at < std::max(n_keys, n_values); at += kLine) {
        if (at < n_keys) (void)k[at];
        if (at < n_values) (void)v[at];
      }
    }
  }
  // With few rows, binary16 values are read in place, if the head size is a multiple of a vector. With many rows, a
  // block is converted to floats once for all of them.
  static bool reads_halves(CacheType type, size_t n_rows, size_t n) {
    return type == CacheType::kF16 && n_rows <= 4 && n % 8 == 0;
  }
  // Multiplies n_rows of n numbers by the scale correction for binary16, into the memory of the block.
  void lift(const float* const* rows, size_t n_rows, size_t n, float factor, const float** lifted) const {
    float* to = block;
    for (size_t r = 0; r < n_rows; ++r, to += n) {
      lifted[r] = to;
      std::memcpy(to, rows[r], n * sizeof(float));
      vec::scale(to, factor, n);
    }
  }
  // Scores cells [begin, end), which are number `at` and following of rows [first_row, last_row); at[] is relative to
  // each row.
  void score(size_t begin, size_t end, const size_t* at, size_t first_row, size_t last_row) const {
    const size_t d = shape.d_k, n_rows = last_row - first_row;
    const bool halves = reads_halves(cache.types.keys, n_rows, d);
    // The factor 2^112 is split: as one factor, queries above 2^16 would become infinite.
    const float* lifted[4];
    if (halves) lift(queries + first_row, n_rows, d, 0x1p96f, lifted);
    for (size_t c = begin; c < end; c += kBlock) {
      const size_t n = std::min(kBlock, end - c);
      float* to[64];
      for (size_t r = first_row; r < last_row; ++r) to[r] = scores[r] + at[r / group] + (c - begin);
      if (halves) {
        by_rows<4>(n_rows, [&](auto count, size_t r) {
          score_rows<CacheType::kF16, decltype(count)::value>(lifted + r, keys + c * d * 2, d, n, d,
                                                              options.scale * 0x1p16f, to + first_row + r);
        });
        continue;
      }
      const uint8_t* rows = block_of(keys, cache.types.keys, c, c + n, d, d, block);
      by_rows<2>(n_rows, [&](auto count, size_t r) {
        score_rows<CacheType::kF32, decltype(count)::value>(queries + first_row + r, rows, d, n, d, options.scale,
                                                            to + first_row + r);
      });
    }
  }
  void mix(size_t begin, size_t end, const size_t* at, size_t first_row, size_t last_row) const {
    const size_t stride = cache.value_stride, d = shape.d_v, n_rows = last_row - first_row;
    for (size_t c = begin; c < end; c += kBlock) {
      const size_t n = std::min(kBlock, end - c);
      const float* from[64];
      for (size_t r = first_row; r < last_row; ++r) from[r] = scores[r] + at[r / group] + (c - begin);
      if (reads_halves(cache.types.values, n_rows, d) && stride % 8 == 0) {
        const float* lifted[4];
        lift(from + first_row, n_rows, n, 0x1p112f, lifted);
        by_rows<4>(n_rows, [&](auto count, size_t r) {
          mix_rows<CacheType::kF16, decltype(count)::value>(lifted + r, values + c * stride * 2, stride, n, d,
                                                            results + first_row + r);
        });
        continue;
      }
      const uint8_t* rows = block_of(values, cache.types.values, c, c + n, stride, d, block);
      by_rows<4>(n_rows, [&](auto count, size_t r) {
        mix_rows<CacheType::kF32, decltype(count)::value>(from + first_row + r, rows,
                                                          cache.types.values == CacheType::kF32 ? stride : d, n, d,
                                                          results + first_row + r);
      });
    }
  }
  // Visits the cells of a tile's tokens: runs that all tokens see are visited once, the others token by token. Each
  // token's cells come in the order of its runs, so that its sums do not depend on the tile.
  template <class Visit>
  void visit(std::span<const std::span<const CellRun>> runs, const Visit& visit_cells) const {
    const size_t n = runs.size();
    size_t at[kRows] = {};
    size_t begin = 0, end = SIZE_MAX;
    bool single = n > 1;
    for (const auto& own : runs) {
      single = single && own.size() == 1;
      if (!single) break;
      begin = std::max<size_t>(begin, own[0].begin);
      end = std::min<size_t>(end, own[0].end);
    }
    if (single && begin < end) {
      for (size_t t = 0; t < n; ++t) visit_cells(runs[t][0].begin, begin, at, t * group, (t + 1) * group);
      for (size_t t = 0; t < n; ++t) at[t] = begin - runs[t][0].begin;
      visit_cells(begin, end, at, size_t{0}, n * group);
      for (size_t t = 0; t < n; ++t) {
        at[t] = end - runs[t][0].begin;
        visit_cells(end, runs[t][0].end, at, t * group, (t + 1) * group);
      }
      return;
    }
    for (size_t t = 0; t < n; ++t) {
      at[t] = 0;
      for (const CellRun& run : runs[t]) {
        visit_cells(run.begin, run.end, at, t * group, (t + 1) * group);
        at[t] += run.end - run.begin;
      }
    }
  }
};

// Applies soft cap, position biases and softmax to the n_seen scores of one head and token.
void weigh(const AttentionShape& shape, const AttentionOptions& options, size_t head, std::span<const CellRun> runs,
           int32_t position, const int32_t* cell_positions, float* scores, size_t n_seen) {
  if (options.soft_cap != 0)
    for (size_t i = 0; i < n_seen; ++i) scores[i] = options.soft_cap * std::tanh(scores[i] / options.soft_cap);
  if (options.slopes != nullptr || options.buckets != nullptr) {
    size_t i = 0;
    for (const CellRun& run : runs)
      for (size_t cell = run.begin; cell < run.end; ++cell, ++i) {
        const int32_t distance = cell_positions[cell] - position;
        scores[i] +=
            options.slopes != nullptr
                ? -options.slopes[head] * std::fabs(static_cast<float>(distance))
                : options
                      .buckets[relative_bucket(distance, options.n_buckets, options.buckets_both_ways) * shape.n_head +
                               head];
      }
  }
  softmax(scores, n_seen, options.sinks != nullptr ? options.sinks + head : nullptr);
}

// Records the weights of one head and token.
void record_weights(const AttentionRecord& record, size_t head, std::span<const CellRun> runs, int32_t position,
                    const int32_t* cell_positions, const float* weights) {
  const auto inside = [&](int32_t p) { return p >= 0 && static_cast<size_t>(p) < record.n; };
  for (const AttentionRecord::Head& to : record.heads) {
    if (to.head != head || !inside(position)) continue;
    float* const row = to.weights + static_cast<size_t>(position) * record.n;
    size_t i = 0;
    for (const CellRun& run : runs)
      for (size_t cell = run.begin; cell < run.end; ++cell, ++i)
        if (inside(cell_positions[cell])) row[cell_positions[cell]] = weights[i];
  }
}

size_t n_seen_in(std::span<const CellRun> runs) {
  size_t n = 0;
  for (const CellRun& run : runs) n += run.end - run.begin;
  return n;
}

// The profile's row: all products, and the bytes that the token with most cells reads.
Profile::Row profile_row(const AttentionShape& shape, CacheTypes types,
                         std::span<const std::span<const CellRun>> runs_of_tokens) {
  Profile::Row row{.key = {.operation = Operation::kAttention}};
  const size_t of_cell =
      shape.n_head_kv * (cache_row_bytes(types.keys, shape.d_k) + cache_row_bytes(types.values, shape.d_v));
  for (const std::span<const CellRun> runs : runs_of_tokens) {
    const size_t n_seen = n_seen_in(runs);
    row.products += static_cast<double>(n_seen * shape.n_head * (shape.d_k + shape.d_v));
    row.bytes = std::max(row.bytes, static_cast<double>(n_seen * of_cell));
  }
  return row;
}

}  // namespace

size_t attention_scratch(const AttentionShape& shape, size_t n_cells) {
  return tile_tokens(shape) * (shape.n_head / shape.n_head_kv) * n_cells + kBlock * std::max(shape.d_k, shape.d_v);
}

void attention(Pool& pool, const AttentionShape& shape, const AttentionOptions& options, const CacheView& cache,
               float* q, size_t n_tokens, std::span<const std::span<const CellRun>> runs,
               const int32_t* query_positions, const int32_t* cell_positions, float* scratch, size_t scratch_floats,
               float* out) {
  // Query heads that share a key head are computed together, so that each key is read once.
  const size_t group = shape.n_head / shape.n_head_kv;
  const size_t key_head_bytes = cache.n_cells * cache_row_bytes(cache.types.keys, shape.d_k);
  const size_t value_head_bytes = cache.n_cells * cache_row_bytes(cache.types.values, cache.value_stride);
  const size_t tile = tile_tokens(shape), n_tiles = (n_tokens + tile - 1) / tile;
  Profile::Row row{.key = {.operation = Operation::kAttention}};
  if (pool.profile() != nullptr) row = profile_row(shape, cache.types, runs.first(n_tokens));
  const Timed timed(pool.profile(), row);

  pool.parallel_for(n_tiles * shape.n_head_kv, 1, [&](size_t first, size_t last, size_t thread) {
    for (size_t item = first; item < last; ++item) {
      const size_t t0 = item / shape.n_head_kv * tile, t1 = std::min(t0 + tile, n_tokens);
      const size_t kv_head = item % shape.n_head_kv;
      const uint8_t* const keys = cache.keys + kv_head * key_head_bytes;
      const uint8_t* const values = cache.values + kv_head * value_head_bytes;
      Tile work{shape, options, cache, keys, values, scratch + thread * scratch_floats, {}, {}, {}, group};
      float* scores = work.block + kBlock * std::max(shape.d_k, shape.d_v);
      if (n_tokens == 1) work.touch(runs[0]);
      // Groups larger than the arrays are computed in parts.
      for (size_t g0 = 0; g0 < group; g0 += 64) {
        work.group = std::min<size_t>(group - g0, 64);
        float* next = scores;
        for (size_t t = t0; t < t1; ++t) {
          const size_t n_seen = n_seen_in(runs[t]);
          for (size_t g = 0; g < work.group; ++g) {
            const size_t row = (t - t0) * work.group + g, head = kv_head * group + g0 + g;
            float* const query = q + (t * shape.n_head + head) * shape.d_k;
            if (is_quantized(cache.types.keys)) hadamard(query, shape.d_k, cache.key_width);
            work.queries[row] = query;
            work.results[row] = out + (t * shape.n_head + head) * shape.d_v;
            work.scores[row] = next;
            next += n_seen;
            std::memset(work.results[row], 0, shape.d_v * sizeof(float));
          }
        }
        const auto seen = runs.subspan(t0, t1 - t0);
        work.visit(seen, [&](auto... a) { work.score(a...); });
        for (size_t row = 0; row < (t1 - t0) * work.group; ++row) {
          const size_t t = t0 + row / work.group;
          const size_t end = row + 1 < (t1 - t0) * work.group
                                 ? static_cast<size_t>(work.scores[row + 1] - work.scores[row])
                                 : static_cast<size_t>(next - work.scores[row]);
          const size_t head = kv_head * group + g0 + row % work.group;
          weigh(shape, options, head, runs[t], query_positions[t], cell_positions, work.scores[row], end);
          if (options.record != nullptr)
            record_weights(*options.record, head, runs[t], query_positions[t], cell_positions, work.scores[row]);
        }
        work.visit(seen, [&](auto... a) { work.mix(a...); });
        for (size_t row = 0; is_quantized(cache.types.values) && row < (t1 - t0) * work.group; ++row)
          hadamard(work.results[row], shape.d_v, cache.value_width);
      }
    }
  });
}

void cache_store(const CacheView& cache, const AttentionShape& shape, size_t cell, const float* keys,
                 const float* values) {
  const auto store = [&](uint8_t* base, CacheType type, size_t head, size_t n, size_t width, const float* rows) {
    uint8_t* const row = base + (head * cache.n_cells + cell) * cache_row_bytes(type, n);
    store_cache_row(type, rows + head * n, n, width, row);
  };
  for (size_t head = 0; head < shape.n_head_kv; ++head) {
    store(cache.keys, cache.types.keys, head, shape.d_k, cache.key_width, keys);
    if (values != nullptr) store(cache.values, cache.types.values, head, shape.d_v, cache.value_width, values);
  }
}

}  // namespace ggufscope
