// Floats written per second by every dequantizer: the fast kernel, its scalar reference, a memcpy of the same output
// bytes, and "traffic", a loop that only loads the type's bytes and stores as many floats: what memory allows. In turns
// within each round, so that a busy machine slows all alike. One JSON line a type and size.
//   bench_dequantize [TYPE...]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#else
#include <chrono>
#endif

#include "base/simd.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

using namespace ggufscope;

namespace {

double now_ms() {
#if defined(__EMSCRIPTEN__)
  return emscripten_get_now();
#else
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

constexpr int kRounds = 25;
constexpr double kSliceMs = 1;  // short, so that few slices of a busy machine are cut in two

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Runs of f that take about a slice; milliseconds a run.
template <class F>
double time_slice(size_t runs, F f) {
  const double start = now_ms();
  for (size_t i = 0; i < runs; ++i) f();
  return (now_ms() - start) / static_cast<double>(runs);
}

template <class F>
size_t runs_per_slice(F f) {
  f();
  size_t runs = 1;
  for (;;) {
    const double ms = time_slice(runs, f) * static_cast<double>(runs);
    if (ms >= kSliceMs / 2) return std::max<size_t>(1, static_cast<size_t>(static_cast<double>(runs) * kSliceMs / ms));
    runs *= 4;
  }
}

// 64 floats a turn, and the bytes that they are made of. Not inlined: an engine optimizes functions when they are
// called again, and main is called once.
[[gnu::noinline]] void traffic(std::span<const uint8_t> in, std::span<float> out) {
  const size_t n_turns = out.size() / 64, bytes = in.size() / n_turns;
  v128_t all = wasm_i32x4_splat(0);
  for (size_t turn = 0; turn < n_turns; ++turn) {
    const uint8_t* from = in.data() + turn * bytes;
    for (size_t k = 0; k + 16 <= bytes; k += 16) all = wasm_v128_xor(all, wasm_v128_load(from + k));
    for (size_t k = 0; k < 64; k += 4) wasm_v128_store(out.data() + 64 * turn + k, all);
  }
}

/// Values as model files have them: random ones would be infinite, NaN or too small for a normal float now and then.
void make_ordinary(const TypeGeometry& type, std::span<uint8_t> blocks) {
  for (uint8_t* block = blocks.data(); block != blocks.data() + blocks.size(); block += type.block_bytes)
    for (const BlockField& field : block_fields(type.id))
      if (field.width == 2 && type.block_size > 1)  // 0x2c..: a binary16 of about 1/16
        for (size_t k = 0; k < field.count; ++k) block[field.offset + 2 * k + 1] = 0x2c;
  if (type.name == "F16")
    for (size_t i = 1; i < blocks.size(); i += 2) blocks[i] = static_cast<uint8_t>((blocks[i] & 0x83) | 0x2c);
  if (type.name == "MXFP4")  // powers of two about 1/16
    for (size_t i = 0; i < blocks.size(); i += type.block_bytes)
      blocks[i] = static_cast<uint8_t>(0x78 | (blocks[i] & 7));
  if (type.name == "F64")
    for (size_t i = 7; i < blocks.size(); i += 8) blocks[i] = static_cast<uint8_t>((blocks[i] & 0x80) | 0x3f);
  if (type.name == "I64")  // indices
    for (size_t i = 0; i < blocks.size(); i += 8) std::memset(&blocks[i + 3], 0, 5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> wanted(argv + 1, static_cast<size_t>(argc - 1));
  std::mt19937 random(1);
  for (const size_t n_floats : {size_t{1} << 16, size_t{1} << 22}) {
    std::vector<float> out(n_floats), other(n_floats, 1.0f);
    for (const QuantKernels& kernels : all_kernels()) {
      const TypeGeometry& type = *find_type(kernels.type);
      if (!wanted.empty() && std::ranges::find(wanted, type.name) == wanted.end()) continue;
      const DequantizeFn reference = find_reference(type.id);
      const size_t n_blocks = n_floats / type.block_size;
      std::vector<uint8_t> blocks(n_blocks * type.block_bytes);
      for (uint8_t& byte : blocks) byte = static_cast<uint8_t>(random());
      make_ordinary(type, blocks);

      const auto fast = [&] { kernels.dequantize(blocks.data(), out.data(), n_blocks); };
      const auto scalar = [&] { reference(blocks.data(), out.data(), n_blocks); };
      const auto copy = [&] { std::memcpy(out.data(), other.data(), n_floats * sizeof(float)); };
      const auto bytes_alone = [&] { traffic(blocks, out); };
      const size_t runs[] = {runs_per_slice(fast), runs_per_slice(scalar), runs_per_slice(copy),
                             runs_per_slice(bytes_alone)};
      std::vector<double> fast_ms, scalar_ms, copy_ms, traffic_ms;
      for (int round = 0; round < kRounds; ++round) {
        copy_ms.push_back(time_slice(runs[2], copy));
        fast_ms.push_back(time_slice(runs[0], fast));
        scalar_ms.push_back(time_slice(runs[1], scalar));
        traffic_ms.push_back(time_slice(runs[3], bytes_alone));
      }
      const double megabytes = static_cast<double>(n_floats * sizeof(float)) / 1e6;
      std::printf("{\"type\":\"%.*s\",\"bytes\":%zu,\"simd\":%.3f,\"scalar\":%.3f,\"memcpy\":%.3f,\"traffic\":%.3f}\n",
                  static_cast<int>(type.name.size()), type.name.data(), n_floats * sizeof(float),
                  megabytes / median(fast_ms), megabytes / median(scalar_ms), megabytes / median(copy_ms),
                  megabytes / median(traffic_ms));
      std::fflush(stdout);
    }
  }
}
