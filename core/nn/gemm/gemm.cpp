// Packs weights, and multiplies by them: divides the work and chooses the kernels.
#include "nn/gemm/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/simd.hpp"
#include "nn/gemm/dispatch.hpp"
#include "nn/gemm/format.hpp"
#include "nn/vec.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

constexpr size_t kRowsAtOnce = 4;        // rows dequantized together
constexpr size_t kPackBytes = 32 << 10;  // minimum bytes of the file in a work chunk of packing

struct RowLayout {
  const TypeGeometry* geometry;
  const QuantKernels* kernels;
  uint64_t row_bytes;
};

Result<RowLayout> row_layout(uint32_t type, uint64_t n_in, uint64_t n_out) {
  const TypeGeometry* geometry = find_type(type);
  const QuantKernels* kernels = find_kernels(type);
  if (geometry == nullptr || kernels == nullptr || geometry->block_size == 0)
    return fail(ErrorCode::kUnsupported, "cannot compute with tensors of type " + std::to_string(type));
  if (n_in == 0 || n_out == 0 || n_in % geometry->block_size != 0)
    return fail(ErrorCode::kBadShape, "a weight of shape [" + std::to_string(n_in) + ", " + std::to_string(n_out) +
                                          "] cannot be of type " + std::string(geometry->name));
  constexpr uint64_t kMaxElements = uint64_t{1} << 40;
  if (n_in > kMaxElements / n_out)
    return fail(ErrorCode::kOutOfMemory, "a weight of more elements than any machine can hold");
  return RowLayout{geometry, kernels, n_in / geometry->block_size * geometry->block_bytes};
}

// a * b + c. Fast: fused if the CPU can. Exact: always rounded twice.
template <bool Fused>
v128_t multiply_add(v128_t a, v128_t b, v128_t c) {
  if constexpr (Fused) return relaxed_madd(a, b, c);
  return wasm_f32x4_add(c, wasm_f32x4_mul(a, b));
}

// y[r] = dot(rows + r * n, x). Each dot product has one accumulator of four lanes, so results do not depend on the
// number of rows or tokens.
template <bool Fused, size_t Tokens>
void dot_rows(const float* rows, size_t n_rows, size_t n, const float* x, float* y, size_t y_stride) {
  v128_t acc[kRowsAtOnce][Tokens];
  for (size_t r = 0; r < kRowsAtOnce; ++r)
    for (size_t t = 0; t < Tokens; ++t) acc[r][t] = wasm_f32x4_splat(0);
  const float* row[kRowsAtOnce];
  for (size_t r = 0; r < kRowsAtOnce; ++r) row[r] = rows + std::min(r, n_rows - 1) * n;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    v128_t xs[Tokens];
    for (size_t t = 0; t < Tokens; ++t) xs[t] = wasm_v128_load(x + t * n + i);
    for (size_t r = 0; r < kRowsAtOnce; ++r) {
      const v128_t w = wasm_v128_load(row[r] + i);
      for (size_t t = 0; t < Tokens; ++t) acc[r][t] = multiply_add<Fused>(w, xs[t], acc[r][t]);
    }
  }
  for (size_t r = 0; r < n_rows; ++r) {
    for (size_t t = 0; t < Tokens; ++t) {
      float sum = vec::sum4(acc[r][t]);
      for (size_t k = i; k < n; ++k) sum += row[r][k] * x[t * n + k];
      y[t * y_stride + r] = sum;
    }
  }
}

// Decode (GEMV) with F32 weights, rows [first, last), read in place; n is a multiple of 8. The order of accumulation is
// that of dot_rows, so that a token's result does not depend on the batch. Not inlined, so that V8 compiles it
// separately.
template <size_t Streams>
[[gnu::noinline]] void dot_f32_rows(const PackedMatrix& w, size_t first, size_t last, const float* x, float* y) {
  const size_t n = w.n_in();
  // Each memory stream has consecutive rows, and so its own pages, which suits the CPU's prefetchers.
  const size_t step = (last - first) / Streams, together = first + step * Streams;
  for (size_t row = first; row < last;) {
    const bool interleaved = row < first + step;
    const size_t n_rows = interleaved ? Streams : std::min(Streams, last - row);
    size_t rows[Streams];
    const uint8_t* from[Streams];
    v128_t acc[Streams];
    for (size_t r = 0; r < Streams; ++r) {
      rows[r] = row + (interleaved ? r * step : std::min(r, n_rows - 1));
      from[r] = w.data() + rows[r] * n * sizeof(float);
      acc[r] = wasm_f32x4_splat(0);
    }
    for (size_t i = 0; i < n; i += 8) {
      const v128_t x0 = wasm_v128_load(x + i), x1 = wasm_v128_load(x + i + 4);
      for (size_t r = 0; r < Streams; ++r) {
        const uint8_t* eight = from[r] + sizeof(float) * i;
        acc[r] = relaxed_madd(wasm_v128_load(eight + 16), x1, relaxed_madd(wasm_v128_load(eight), x0, acc[r]));
      }
    }
    for (size_t r = 0; r < n_rows; ++r) y[rows[r]] = vec::sum4(acc[r]);
    row = !interleaved ? row + n_rows : row + 1 < first + step ? row + 1 : together;
  }
}

// Number of interleaved rows, for each of kMemoryStreams. Each row has one accumulator, so with fewer than five the
// latency of additions is the limit. Eight are slow if eighths of a matrix are a power of two apart.
constexpr decltype(&dot_f32_rows<1>) kDotF32Rows[] = {dot_f32_rows<5>, dot_f32_rows<8>};
static_assert(std::size(kDotF32Rows) == std::size(kMemoryStreams));

// Rows [first, last) of the product for all tokens. Dequantizes a few rows at a time.
template <bool Fused>
[[gnu::noinline]] void multiply_rows(const PackedMatrix& w, size_t first, size_t last, const float* x, size_t n_tokens,
                                     float* y, float* scratch) {
  const size_t n = w.n_in(), row_bytes = w.file_row_bytes();
  const bool is_f32 = w.type() == static_cast<uint32_t>(TypeId::kF32);
  const DequantizeFn dequantize = find_kernels(w.type())->dequantize;
  const size_t n_blocks = n / find_type(w.type())->block_size;
  for (size_t row = first; row < last; row += kRowsAtOnce) {
    const size_t n_rows = std::min(kRowsAtOnce, last - row);
    const float* rows = reinterpret_cast<const float*>(w.data() + row * row_bytes);
    if (!is_f32) {
      dequantize(w.data() + row * row_bytes, scratch, n_rows * n_blocks);
      rows = scratch;
    }
    size_t t = 0;
    for (; t + 3 <= n_tokens; t += 3)
      dot_rows<Fused, 3>(rows, n_rows, n, x + t * n, y + t * w.n_out() + row, w.n_out());
    for (; t < n_tokens; ++t) dot_rows<Fused, 1>(rows, n_rows, n, x + t * n, y + t * w.n_out() + row, w.n_out());
  }
}

// The product with a matrix that has no packed format.
void multiply_as_floats(const PackedMatrix& w, size_t first, size_t last, const float* x, size_t n_tokens, float* y,
                        float* scratch) {
  if (w.precision() == Precision::kExact) return multiply_rows<false>(w, first, last, x, n_tokens, y, scratch);
  if (n_tokens == 1 && w.n_in() % 8 == 0 && w.type() == static_cast<uint32_t>(TypeId::kF32))
    return kDotF32Rows[memory_streams_in_use()](w, first, last, x, y);
  multiply_rows<true>(w, first, last, x, n_tokens, y, scratch);
}

// The packed format, or nullptr if rows stay as in the file: exact precision, no format, or compact precision and more
// than twice the file's size.
const PackedFormat* fast_format(uint32_t type, uint64_t n_in, Precision precision) {
  const PackedFormat* format = precision == Precision::kExact ? nullptr : find_packed_format(type);
  if (format == nullptr || n_in % format->block() != 0) return nullptr;
  if (precision == Precision::kFast) return format;
  const TypeGeometry& file = *find_type(type);
  const size_t packed = file.block_size * format->block_bytes(), whole = format->block() * kGroupRows;
  return packed <= 2 * file.block_bytes * whole ? format : nullptr;
}

constexpr size_t kChunkTokens = 128;   // tokens whose activations are quantized together, so that they stay in L2
constexpr size_t kMinPartTokens = 32;  // minimum tokens of a part in a chunk (Parts)
constexpr size_t kQuants = 7;

size_t quant_index(ActivationQuant quant) {
  if (quant.layout == ActivationLayout::kBfp16) return 6;
  return (quant.block == 16 ? 4u : quant.block == 32 ? 2u : 0u) + (quant.layout == ActivationLayout::kInt8 ? 0u : 1u);
}

// Scratch bytes for a chunk in one quantization: the largest tile for each token, times the tokens.
size_t quant_stride(size_t n_in) { return (n_in * 5 / 2 + 64) * kChunkTokens; }

// Reserves scratch memory for the activations of a matrix. Formats with the same quantizations, for few tokens and for
// many, share it.
Result<void> reserve_activations(Pool& pool, const PackedFormat& format, size_t n_in) {
  const size_t few = quant_index(activation_quant(format, 2)),
               many = quant_index(activation_quant(format, kChunkTokens));
  return pool.reserve_scratch_of_kind(static_cast<uint32_t>(few * kQuants + many), quant_stride(n_in));
}

// Splits a batch's tokens into parts, each for one or several threads. A thread gets the same tokens in every loop
// (Pool), so that their activations stay in its core's cache. A chunk has some tokens of each part.
struct Parts {
  struct Tokens {
    size_t first, n;
  };
  size_t n_tokens;
  size_t n;       // parts
  size_t tokens;  // in each part: whole tiles
  size_t step;    // in each part of one chunk: whole tiles

  Parts(size_t n_tokens, size_t n_threads) : n_tokens(n_tokens) {
    n = std::clamp<size_t>(n_tokens / kMinPartTokens, 1, std::min(n_threads, kChunkTokens / kMinPartTokens));
    tokens = (n_tokens + n * kTileTokens - 1) / (n * kTileTokens) * kTileTokens;
    step = std::min(tokens, kChunkTokens / n / kTileTokens * kTileTokens);
  }
  [[nodiscard]] size_t n_tiles() const { return step / kTileTokens; }  // in each part of a chunk
  [[nodiscard]] Tokens of(size_t part, size_t chunk) const {
    const size_t first = std::min(part * tokens + chunk, n_tokens);
    return {first, std::min(part * tokens + std::min(chunk + step, tokens), n_tokens) - first};
  }
};

// Quantizes a chunk to tiles of kTileTokens tokens. A tile with fewer tokens takes the same space.
void quantize_chunk(Pool& pool, ActivationQuant quant, const float* x, const Parts& parts, size_t chunk, size_t n_in,
                    uint8_t* tiles) {
  const size_t tile_bytes = activation_tile_bytes(quant, n_in), n_tiles = parts.n * parts.n_tiles();
  pool.parallel_for(n_tiles, n_tiles * kTileTokens * n_in < 16384 ? SIZE_MAX : 1,
                    [&](size_t first, size_t last, size_t) {
                      for (size_t tile = first; tile < last; ++tile) {
                        const Parts::Tokens t = parts.of(tile / parts.n_tiles(), chunk);
                        const size_t at = tile % parts.n_tiles() * kTileTokens;
                        if (at < t.n)
                          quantize_tile(quant, x + (t.first + at) * n_in, n_in, std::min(kTileTokens, t.n - at), n_in,
                                        tiles + tile * tile_bytes);
                      }
                    });
}

// The number of row groups in a work chunk: `wanted`, but at least enough for some microseconds of work. For decode it
// is a multiple of the memory streams.
size_t chunk_groups(size_t wanted, size_t n_in, size_t n_tokens) {
  const size_t group = n_in * kGroupRows * n_tokens;  // multiplications
  const size_t min = std::max<size_t>(1, 32768 / group), max = std::max<size_t>(min, 524288 / group);
  const size_t groups = std::clamp(wanted, min, max);
  return n_tokens == 1 ? (groups + 3) / 4 * 4 : groups;
}

}  // namespace

Result<uint64_t> packed_bytes(uint32_t type, uint64_t n_in, uint64_t n_out, Precision precision) {
  const Result<RowLayout> layout = row_layout(type, n_in, n_out);
  if (!layout) return std::unexpected(layout.error());
  if (const PackedFormat* format = fast_format(type, n_in, precision); format != nullptr)
    return groups_of(n_out) * (n_in / format->block() * format->block_bytes());
  return layout->row_bytes * n_out;
}

Result<PackedMatrix> PackedMatrix::create(Pool& pool, uint32_t type, uint64_t n_in, uint64_t n_out,
                                          Precision precision) {
  const Result<RowLayout> layout = row_layout(type, n_in, n_out);
  if (!layout) return std::unexpected(layout.error());
  const Result<uint64_t> bytes = ggufscope::packed_bytes(type, n_in, n_out, precision);
  if (!bytes) return std::unexpected(bytes.error());
  Result<Buffer> data = Buffer::allocate(*bytes);
  if (!data) return std::unexpected(data.error());
  PackedMatrix matrix;
  matrix.format_ = fast_format(type, n_in, precision);
  const Result<void> scratch = matrix.format_ != nullptr
                                   ? reserve_activations(pool, *matrix.format_, static_cast<size_t>(n_in))
                                   : pool.reserve_scratch(0, n_in * kRowsAtOnce * sizeof(float));
  if (!scratch) return std::unexpected(scratch.error());
  // The last group is multiplied as a whole, including rows beyond n_out.
  if (matrix.format_ != nullptr && n_out % kGroupRows != 0) {
    const size_t last = static_cast<size_t>(groups_of(n_out)) - 1;
    for_each_panel(*matrix.format_, static_cast<size_t>(n_in), last + 1, [&](const Panel& panel) {
      const size_t group_bytes = packed_group_bytes(*matrix.format_, panel.n);
      std::memset(data->data() + panel.at + last * group_bytes, 0, group_bytes);
    });
  }
  matrix.precision_ = precision;
  matrix.type_ = type;
  matrix.n_in_ = static_cast<size_t>(n_in);
  matrix.n_out_ = static_cast<size_t>(n_out);
  matrix.file_row_bytes_ = static_cast<size_t>(layout->row_bytes);
  matrix.data_ = std::move(*data);
  return matrix;
}

// Converts the rows packed so far to the wide format, which is used from then on.
Result<void> PackedMatrix::widen(Pool& pool) {
  const PackedFormat& wide = wide_format(*format_);
  if (const Result<void> done = reserve_activations(pool, wide, n_in_); !done) return done;
  const size_t n_groups = groups_of(n_out_);
  Result<Buffer> data = Buffer::allocate(uint64_t{n_groups} * packed_group_bytes(wide, n_in_));
  if (!data) return std::unexpected(data.error());
  for_each_panel(*format_, n_in_, n_groups, [&](const Panel& panel) {
    const size_t from_bytes = packed_group_bytes(*format_, panel.n), to_bytes = packed_group_bytes(wide, panel.n);
    uint8_t* to = data->data() + n_groups * packed_group_bytes(wide, panel.first);
    for (size_t group = 0; group < n_groups; ++group)
      widen_group(*format_, data_.data() + panel.at + group * from_bytes, panel.n, to + group * to_bytes);
  });
  data_ = std::move(*data);
  format_ = &wide;
  return {};
}

Result<void> PackedMatrix::pack_rows(Pool& pool, uint64_t first_row, ByteView rows) {
  if (file_row_bytes_ == 0 || rows.size() % file_row_bytes_ != 0)
    return fail(ErrorCode::kInvalidArgument, std::to_string(rows.size()) + " bytes are no whole rows");
  const uint64_t n_rows = rows.size() / file_row_bytes_;
  if (first_row > n_out_ || n_rows > n_out_ - first_row)
    return fail(ErrorCode::kInvalidArgument, "rows beyond the end of a weight");
  if (n_rows == 0) return {};
  const size_t begin = static_cast<size_t>(first_row), end = begin + static_cast<size_t>(n_rows);
  const size_t first_group = begin / kGroupRows, n_groups = groups_of(end) - first_group;
  const size_t grain = std::max<size_t>(1, kPackBytes / (file_row_bytes_ * kGroupRows));
  if (format_ != nullptr &&
      !scales_fit(*format_, rows.data(), static_cast<size_t>(n_rows) * (n_in_ / find_type(type_)->block_size)))
    if (const Result<void> done = widen(pool); !done) return done;
  pool.parallel_for(n_groups, grain, [&](size_t first, size_t last, size_t) {
    const size_t to = std::min((first_group + last) * kGroupRows, end);
    for (size_t row = std::max((first_group + first) * kGroupRows, begin), n = 0; row < to; row += n) {
      const uint8_t* src = rows.data() + (row - begin) * file_row_bytes_;
      n = std::min(kGroupRows - row % kGroupRows, to - row);
      if (format_ != nullptr) {
        const PackedFormat& f = *format_;
        for_each_panel(f, n_in_, groups_of(n_out_), [&](const Panel& panel) {
          const TypeGeometry& type = *find_type(type_);
          ggufscope::pack_rows(f, src + panel.first / type.block_size * type.block_bytes, file_row_bytes_, panel.n,
                               data_.data() + panel.at + row / kGroupRows * packed_group_bytes(f, panel.n),
                               row % kGroupRows, n);
        });
        continue;
      }
      std::memcpy(data_.data() + row * file_row_bytes_, src, n * file_row_bytes_);
    }
  });
  return {};
}

namespace {

// The profile's row for these products.
Profile::Row row_of(std::span<const Product> products, size_t n_in) {
  Profile::Row row{.key = {.operation = Operation::kProducts, .n_in = n_in}};
  for (const Product& product : products) {
    const PackedMatrix& w = *product.weights;
    row.key.n_out += w.n_out();
    row.bytes += static_cast<double>(w.packed_bytes());
    const auto known =
        std::ranges::find_if(row.key.types, [&](uint32_t type) { return type == w.type() || type == Profile::kNone; });
    if (known != row.key.types.end()) *known = w.type();
  }
  return row;
}

// The activations of a chunk, once in each quantization that the products need, in the pool's scratch memory.
class ActivationChunk {
 public:
  ActivationChunk(Pool& pool, std::span<const Product> products, const Parts& parts) : pool_(pool), parts_(parts) {
    uint8_t* at = pool.shared_scratch().data();
    for (const Product& product : products) {
      const PackedMatrix& w = *product.weights;
      if (w.format() == nullptr) continue;
      const ActivationQuant quant = activation_quant(*w.format(), parts.n_tokens);
      if (tiles(quant) != nullptr) continue;
      all_[n_++] = {quant, at};
      at += (activation_tile_bytes(quant, w.n_in()) * parts.n * parts.n_tiles() + 63) / 64 * 64;
    }
  }
  void quantize(const float* x, size_t chunk, size_t n_in) {
    for (const auto& [quant, tiles] : std::span(all_.data(), n_)) {
      const Timed timed(pool_.profile(), Operation::kActivations);
      quantize_chunk(pool_, quant, x, parts_, chunk, n_in, tiles);
    }
  }
  /// nullptr: no product needs this quantization.
  [[nodiscard]] const uint8_t* tiles(ActivationQuant quant) const {
    for (size_t i = 0; i < n_; ++i)
      if (quant_index(all_[i].quant) == quant_index(quant)) return all_[i].tiles;
    return nullptr;
  }

 private:
  struct Tiles {
    ActivationQuant quant;
    uint8_t* tiles;
  };
  Pool& pool_;
  const Parts& parts_;
  std::array<Tiles, kQuants> all_{};
  size_t n_ = 0;
};

}  // namespace

void matmul(Pool& pool, std::span<const Product> products, const float* x, size_t n_tokens) {
  if (pool.counting()) return;
  const size_t n_in = products.empty() ? 0 : products[0].weights->n_in();
  size_t n_groups = 0;  // of all products
  for (const Product& product : products) n_groups += groups_of(product.weights->n_out());
  const bool all_packed =
      std::ranges::all_of(products, [](const Product& p) { return p.weights->format() != nullptr; });
  // Weights without a packed format are dequantized once for all tokens, so there is one part.
  const Parts parts(n_tokens, all_packed ? pool.n_threads() : 1);
  Profile::Row row;
  if (pool.profile() != nullptr) row = row_of(products, n_in);
  ActivationChunk activations(pool, products, parts);
  for (size_t chunk = 0; chunk < parts.tokens; chunk += parts.step) {
    activations.quantize(x, chunk, n_in);
    const auto multiply = [&](size_t first, size_t last, size_t thread) {
      size_t offset = 0;  // index of this product's first group; parts follow each other
      for (size_t part = 0; part < parts.n; ++part) {
        const auto [token, n] = parts.of(part, chunk);
        for (const Product& product : products) {
          const PackedMatrix& w = *product.weights;
          const size_t groups = groups_of(w.n_out());
          // A part may have no tokens in the last chunk.
          const size_t begin = std::max(first, offset), end = n > 0 ? std::min(last, offset + groups) : 0;
          float* y = product.y + token * w.n_out();
          if (begin < end && w.format() != nullptr) {
            const PackedFormat& f = *w.format();
            const ActivationQuant quant = activation_quant(f, n_tokens);
            const size_t tile_bytes = activation_tile_bytes(quant, n_in);
            const size_t group = begin - offset, row = group * kGroupRows;
            for_each_panel(f, n_in, groups, [&](const Panel& panel) {
              gemm_groups(f, w.data() + panel.at + group * packed_group_bytes(f, panel.n), end - begin, panel, quant,
                          activations.tiles(quant) + part * parts.n_tiles() * tile_bytes, tile_bytes, n, y + row,
                          w.n_out(), w.n_out() - row);
            });
          } else if (begin < end) {
            multiply_as_floats(w, (begin - offset) * kGroupRows, std::min((end - offset) * kGroupRows, w.n_out()),
                               x + token * n_in, n, y, reinterpret_cast<float*>(pool.thread_scratch(thread)));
          }
          offset += groups;
        }
      }
    };
    row.products = 0;
    for (size_t part = 0; part < parts.n; ++part)
      row.products += static_cast<double>(parts.of(part, chunk).n * n_in * row.key.n_out);
    const Timed timed(pool.profile(), row);
    const size_t n_items = parts.n * n_groups;
    if (n_tokens == 1)  // limited by memory: long runs
      pool.parallel_for_runs(n_items, chunk_groups(0, n_in, 1), multiply);
    else  // several work chunks for every thread
      pool.parallel_for(n_items, chunk_groups(n_items / (pool.n_threads() * 4), n_in, std::min(parts.step, n_tokens)),
                        multiply);
  }
}

void matmul(Pool& pool, const PackedMatrix& weights, const float* x, size_t n_tokens, float* y) {
  const Product product{&weights, y};
  matmul(pool, std::span(&product, 1), x, n_tokens);
}

void get_rows(const PackedMatrix& weights, std::span<const int32_t> ids, float* out) {
  const size_t n_in = weights.n_in();
  if (const PackedFormat* format = weights.format(); format != nullptr) {
    for_each_panel(*format, n_in, groups_of(weights.n_out()), [&](const Panel& panel) {
      const size_t group_bytes = packed_group_bytes(*format, panel.n);
      for (size_t i = 0; i < ids.size(); ++i) {
        const size_t row = static_cast<size_t>(ids[i]);
        dequantize_row(*format, weights.data() + panel.at + row / kGroupRows * group_bytes, panel.n, row % kGroupRows,
                       out + i * n_in + panel.first);
      }
    });
    return;
  }
  const DequantizeFn dequantize = find_kernels(weights.type())->dequantize;
  const size_t n_blocks = n_in / find_type(weights.type())->block_size;
  for (size_t i = 0; i < ids.size(); ++i)
    dequantize(weights.data() + static_cast<size_t>(ids[i]) * weights.file_row_bytes(), out + i * n_in, n_blocks);
}

}  // namespace ggufscope
