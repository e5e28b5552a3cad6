// Scaled dot-product attention of query heads over cached keys and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/kv_cache.hpp"
#include "nn/pool.hpp"

namespace ggufscope {

/// The keys [n_head_kv, n_cells, d_k] and values [n_head_kv, n_cells, value_stride] of one layer, as a view. Latent
/// attention has no separate values: they are the first d_v elements of the keys, with value_stride = d_k and the type
/// and width of the keys.
struct CacheView {
  CacheTypes types;
  uint8_t* keys = nullptr;
  uint8_t* values = nullptr;
  size_t value_stride = 0;
  size_t n_cells = 0;
  size_t key_width = 1, value_width = 1;  ///< block widths of the Hadamard transform, for quantized rows
};

/// Cells [begin, end) that a token attends to.
struct CellRun {
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct AttentionShape {
  size_t n_head = 0;     ///< query heads
  size_t n_head_kv = 0;  ///< divides n_head
  size_t d_k = 0;
  size_t d_v = 0;
};

/// Where attention() writes the weights of some heads: in row p and column c, what the query at position p gives to the
/// key at position c.
struct AttentionRecord {
  struct Head {
    size_t head = 0;
    float* weights = nullptr;  ///< [n, n]
  };
  std::span<const Head> heads;
  size_t n = 0;  ///< positions from n on are not recorded
};

/// score = cap(scale * q.k) + bias(query position, key position); then softmax and the weighted sum of values.
struct AttentionOptions {
  float scale = 1.0f;
  float soft_cap = 0.0f;           ///< not 0: cap(s) = soft_cap * tanh(s / soft_cap)
  const float* slopes = nullptr;   ///< [n_head] ALiBi (Press et al. 2021): bias = -slope * |distance|
  const float* sinks = nullptr;    ///< [n_head]: an extra logit for each head without a value (attention sink)
  const float* buckets = nullptr;  ///< [n_buckets, n_head] T5's relative position bias
  uint32_t n_buckets = 0;
  bool buckets_both_ways = false;  ///< for encoders: half of the buckets are for keys after the query
  const AttentionRecord* record = nullptr;
};

/// ALiBi slopes of n_head heads: a geometric sequence that starts at 2^(-max_bias / n), where n is the largest power of
/// two up to n_head. The other heads take every second slope of the sequence for 2 n heads.
[[nodiscard]] std::vector<float> alibi_slopes(size_t n_head, float max_bias);

/// T5's bucket for a distance (key position - query position), as in Raffel et al. 2020.
[[nodiscard]] uint32_t relative_bucket(int32_t distance, uint32_t n_buckets, bool both_ways);

/// Floats of scratch that each thread needs.
[[nodiscard]] size_t attention_scratch(const AttentionShape& shape, size_t n_cells);

/// Multi-head attention: q [n_tokens, n_head, d_k] to out [n_tokens, n_head, d_v]. runs[t]: the cells that token t
/// attends to, at least one. query_positions [n_tokens] and cell_positions [n_cells] are used only for biases and
/// records. scratch: n_threads times attention_scratch(shape, largest number of cells of a token). q is overwritten if
/// the keys are quantized.
void attention(Pool& pool, const AttentionShape& shape, const AttentionOptions& options, const CacheView& cache,
               float* q, size_t n_tokens, std::span<const std::span<const CellRun>> runs,
               const int32_t* query_positions, const int32_t* cell_positions, float* scratch, size_t scratch_floats,
               float* out);

/// Stores a token's keys [n_head_kv, d_k] and values [n_head_kv, d_v] in a cell. values is nullptr if they are part of
/// the keys.
void cache_store(const CacheView& cache, const AttentionShape& shape, size_t cell, const float* keys,
                 const float* values);

}  // namespace ggufscope
