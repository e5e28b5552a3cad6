// Measures the machine's peak rates.
#include "nn/peaks.hpp"

#include <algorithm>
#include <cstring>

#include "base/simd.hpp"
#include "nn/profile.hpp"

namespace ggufscope {
namespace {

// JavaScript engines compile quickly to slow code first, and optimize it later in the background.
constexpr double kWarmMs = 80, kMeasuredMs = 120;

// Calls per second of the fastest run.
template <class F>
double best_rate(const F& run) {
  double best = 1e30;
  const double begin = Timed::now_ms();
  for (double now = begin, last; now - begin < kWarmMs + kMeasuredMs;) {
    last = now;
    run();
    now = Timed::now_ms();
    if (last - begin >= kWarmMs || now - begin >= kWarmMs + kMeasuredMs) best = std::min(best, now - last);
  }
  return 1e3 / std::max(best, 1e-6);
}

constexpr size_t kIterations = 10000;
// Products of each of kLeft vectors with each of kRight. All are different, so that the compiler cannot merge them. The
// number of accumulators hides the latency of a product and leaves registers for the factors.
constexpr size_t kLeft = 5, kRight = 2, kAccumulators = kLeft * kRight;
constexpr size_t kRepeats = 32;

volatile int g_sink;
void use(v128_t value) { g_sink = wasm_i32x4_extract_lane(value, 0); }

// Factors are loaded from memory, so that the compiler cannot evaluate the products. Not inlined, because V8 optimizes
// functions that are called several times.
template <class Multiply>
[[gnu::noinline]] v128_t multiply_from_l2(const uint8_t* from, Multiply multiply) {
  v128_t sums[kAccumulators];
  for (v128_t& sum : sums) sum = wasm_i32x4_splat(0);
  v128_t right[kRight];
  for (size_t i = 0; i < kRight; ++i) right[i] = wasm_v128_load(from + 1024 * kLeft + 16 * i);
  for (size_t turn = 0; turn < kIterations; ++turn) {
    for (size_t i = 0; i < kLeft; ++i) {
      const v128_t left = wasm_v128_load(from + 1024 * i + turn % 64 * 16);
      for (size_t k = 0; k < kRight; ++k) sums[i * kRight + k] = multiply(left, right[k], sums[i * kRight + k]);
    }
  }
  v128_t all = sums[0];
  for (const v128_t& sum : sums) all = wasm_v128_xor(all, sum);
  return all;
}

// Four memory streams, as in decode.
[[gnu::noinline]] v128_t read(const uint8_t* from, size_t n) {
  v128_t all[4] = {wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0)};
  for (size_t i = 0; i < n / 4; i += 64)
    for (size_t stream = 0; stream < 4; ++stream)
      for (size_t k = 0; k < 4; ++k)
        all[k] = wasm_v128_xor(all[k], wasm_v128_load(from + stream * (n / 4) + i + 16 * k));
  return wasm_v128_xor(wasm_v128_xor(all[0], all[1]), wasm_v128_xor(all[2], all[3]));
}

}  // namespace

Result<Peaks> measure_peaks(Pool& pool, uint64_t dram_bytes) {
  constexpr size_t kL2Bytes = 1 << 20, kPart = 64 << 10;
  static_assert(Pool::kMaxThreads * kL2Bytes <= kMinDramBytes);
  Result<Buffer> buffer = Buffer::allocate(std::max(dram_bytes / kPart * kPart, kMinDramBytes));
  if (!buffer) buffer = Buffer::allocate(kMinDramBytes);
  if (!buffer) return std::unexpected(buffer.error());
  const size_t n_dram = buffer->size();
  std::memset(buffer->data(), 3, n_dram);
  const uint8_t* const from = buffer->data();
  const size_t n_items = pool.n_threads() * kRepeats;
  const auto products = [&](size_t lanes, auto multiply) {
    return static_cast<double>(lanes * kAccumulators * kIterations * n_items) * best_rate([&] {
             pool.parallel_for(n_items, 1, [&](size_t first, size_t last, size_t) {
               for (size_t i = first; i < last; ++i) use(multiply_from_l2(from, multiply));
             });
           });
  };
  Peaks peaks{};
  peaks.int8 =
      std::max(products(16, [](v128_t x, v128_t y, v128_t s) { return relaxed_dot_i32(x, y, s); }),
               products(16, [](v128_t x, v128_t y, v128_t s) { return wasm_i16x8_add(s, relaxed_dot_i16(x, y)); }));
  peaks.int16 = products(8, [](v128_t x, v128_t y, v128_t s) { return wasm_i32x4_add(s, wasm_i32x4_dot_i16x8(x, y)); });
  peaks.float32 = products(4, [](v128_t x, v128_t y, v128_t s) { return relaxed_madd(x, y, s); });
  peaks.l2 = static_cast<double>(n_items * kL2Bytes) * best_rate([&] {
               pool.parallel_for(n_items, 1, [&](size_t first, size_t last, size_t thread) {
                 for (size_t i = first; i < last; ++i) use(read(from + thread * kL2Bytes, kL2Bytes));
               });
             });
  peaks.dram = static_cast<double>(n_dram) * best_rate([&] {
                 pool.parallel_for_runs(n_dram / kPart, 1, [&](size_t first, size_t last, size_t) {
                   use(read(from + first * kPart, (last - first) * kPart));
                 });
               });
  return peaks;
}

}  // namespace ggufscope
