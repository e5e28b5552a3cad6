// Rates of matrix products with packed weights on one thread: decode of one token with a matrix that fits in the L2
// cache ("l2") and with one of 256 MB that does not ("dram"), and prefill of 128 tokens. Also measures the machine's
// limits in the same module: dot products from registers, and reads. Prints one JSON line for each type of the
// registry.
//   bench_kernels [TYPE...]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "nn/gemm/dispatch.hpp"
#include "nn/gemm/format.hpp"
#include "nn/gemm/gemm.hpp"
#include "nn/gemm/int8_dot.hpp"
#include "nn/peaks.hpp"
#include "quant/registry.hpp"
#include "timing.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

// Takes the fastest of many slices, because other work on the machine can only slow it down.
template <class F>
double best_ms(F f) {
  constexpr double kWarmMs = 100, kSliceMs = 5, kAllMs = 400;
  constexpr int kSlices = 40;
  bench::warm_up(kWarmMs, f);
  const size_t runs = bench::runs_in(kSliceMs, f);
  double best = 1e30;
  const double begin = bench::now_ms();
  for (int slice = 0; slice < kSlices && (slice < 3 || bench::now_ms() - begin < kAllMs); ++slice)
    best = std::min(best, bench::time_runs(runs, f) / static_cast<double>(runs));
  return best;
}

/// Bytes with values as in model files. With random bytes, some scales would be infinite or NaN, and some numbers would
/// be subnormal, for which processors take a hundred times as long.
std::vector<uint8_t> ordinary_rows(const TypeGeometry& type, size_t n_blocks) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(n_blocks * type.block_bytes);
  const bool halves = type.block_bytes == 2, floats = type.block_bytes == 4;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(random() >> 24);
    if ((halves && i % 2 == 1) || (floats && i % 4 == 3))
      bytes[i] = (byte & 0x87) | 0x28;
    else if (type.name == "MXFP4" && i % type.block_bytes == 0)
      bytes[i] = static_cast<uint8_t>(120 + byte % 8);
    else
      bytes[i] = byte & 0x37;
  }
  return bytes;
}

constexpr size_t kIn = 1024, kRowsAtOnce = 64;
constexpr uint64_t kDramBytes = 256 << 20;

/// The number of rows that take kDramBytes.
size_t dram_rows(const TypeGeometry& type) {
  const Result<uint64_t> bytes = packed_bytes(type.id, kIn, kRowsAtOnce, Precision::kFast);
  return bytes ? static_cast<size_t>(kDramBytes / *bytes) * kRowsAtOnce : 0;
}

void measure(const TypeGeometry& type, size_t n_out, size_t n_tokens, const char* what, const Peaks& peaks,
             double bandwidth) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(1);
  Result<PackedMatrix> matrix = PackedMatrix::create(**pool, type.id, kIn, n_out, Precision::kFast);
  if (!matrix) return;
  const std::vector<uint8_t> rows = ordinary_rows(type, kRowsAtOnce * kIn / type.block_size);
  for (size_t row = 0; row < n_out; row += kRowsAtOnce) (void)matrix->pack_rows(**pool, row, rows);
  std::vector<float> x(kIn * n_tokens), y(n_out * n_tokens);
  std::mt19937 random(2);
  for (float& value : x) value = static_cast<float>(random() % 2000) / 1000.0f - 1.0f;
  const double ms = best_ms([&] { matmul(**pool, *matrix, x.data(), n_tokens, y.data()); });

  const double weights = static_cast<double>(kIn * n_out), bytes = static_cast<double>(matrix->packed_bytes());
  const double products = matrix->format() == nullptr ? peaks.float32
                          : activation_quant(*matrix->format(), n_tokens).layout == ActivationLayout::kInt8
                              ? peaks.int8
                              : peaks.int16;
  const double limit = (n_tokens == 1 ? std::min(products, bandwidth * weights / bytes) : products) / 1e9;
  const double rate = weights * static_cast<double>(n_tokens) / ms / 1e6;
  std::printf("{\"type\":\"%.*s\",\"what\":\"%s\",\"gmacs\":%.2f,\"gbytes\":%.2f,\"bits\":%.2f,\"share\":%.3f}\n",
              static_cast<int>(type.name.size()), type.name.data(), what, rate, bytes / ms / 1e6, 8 * bytes / weights,
              rate / limit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--saturated") {
    override_int8_dot(Int8Dot::kSaturating);
    --argc;
    ++argv;
  }
  const Result<std::unique_ptr<Pool>> pool = Pool::create(1);
  const Result<Peaks> measured = measure_peaks(**pool, kDramBytes);
  if (!measured) return 1;
  const Peaks& peaks = *measured;
  std::printf("{\"peaks\":{\"int8\":%.1f,\"int16\":%.1f,\"float32\":%.1f,\"l2\":%.1f,\"dram\":%.1f}}\n",
              peaks.int8 / 1e9, peaks.int16 / 1e9, peaks.float32 / 1e9, peaks.l2 / 1e9, peaks.dram / 1e9);
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    if (argc > 1 && std::none_of(argv + 1, argv + argc, [&](const char* name) { return type.name == name; })) continue;
    measure(type, 1024, 1, "l2", peaks, peaks.l2);
    measure(type, dram_rows(type), 1, "dram", peaks, peaks.dram);
    measure(type, 1024, 128, "prefill", peaks, peaks.l2);
  }
}
