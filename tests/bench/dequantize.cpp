// Floats written per second by every dequantizer: the fast kernel; its scalar reference, compiled as scalar code; the
// reference as the package compiles it, which -O3 partly vectorizes; a memcpy of the same output bytes; and "traffic",
// a loop that only loads the type's bytes and stores as many floats, which is the limit of memory. They alternate
// within each round, so that a busy machine slows all of them equally. Prints one JSON line for each type and size:
// GB/s, and the fast kernel's rate relative to the others.
//   bench_dequantize [TYPE...] [KIB...]   of floats a call; 256 and 16384 where none is named
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "base/simd.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"
#include "timing.hpp"
#include "types/types.hpp"

using namespace ggufscope;

// The references are in a separate library that is compiled without vectorization (bench.cmake).
namespace ggufscope_scalar {
DequantizeFn find_reference(uint32_t type);
}

namespace {

constexpr int kRounds = 25;
constexpr double kSliceMs = 1;  // short, so that few slices of a busy machine are cut in two
constexpr double kWarmMs = 100;

// Each iteration stores 64 floats and loads the bytes that they are made from. It is not inlined, because an engine
// optimizes functions that are called repeatedly, and main is called once.
[[gnu::noinline]] void traffic(std::span<const uint8_t> in, std::span<float> out) {
  const size_t n_turns = out.size() / 64, bytes = in.size() / n_turns;
  v128_t all = wasm_i32x4_splat(0);
  for (size_t turn = 0; turn < n_turns; ++turn) {
    const uint8_t* from = in.data() + turn * bytes;
    for (size_t k = 0; k + 16 <= bytes; k += 16) all = wasm_v128_xor(all, wasm_v128_load(from + k));
    for (size_t k = 0; k < 64; k += 4) wasm_v128_store(out.data() + 64 * turn + k, all);
  }
}

/// Values as in model files. Random ones would sometimes be infinite, NaN or subnormal.
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

struct Turn {
  const char* name;
  std::function<void()> run;
  size_t runs = 0;              // a slice
  std::vector<double> ms = {};  // a run, each round
};

struct Job {
  const TypeGeometry& type;
  DequantizeFn simd, scalar, reference;
};

std::vector<uint8_t> make_blocks(const TypeGeometry& type, size_t n_floats) {
  std::mt19937 random(1);
  std::vector<uint8_t> blocks(n_floats / type.block_size * type.block_bytes);
  for (uint8_t& byte : blocks) byte = static_cast<uint8_t>(random());
  make_ordinary(type, blocks);
  return blocks;
}

// Warms up all types before any is timed: an engine's optimizing compiler runs in parallel to the program, and on a
// busy machine it may finish late.
void warm_up(const Job& job) {
  std::vector<float> out(1 << 12);
  const std::vector<uint8_t> blocks = make_blocks(job.type, out.size());
  for (const DequantizeFn run : {job.simd, job.scalar, job.reference})
    bench::warm_up(kWarmMs, [&] { run(blocks.data(), out.data(), out.size() / job.type.block_size); });
}

void measure(const Job& job, std::span<float> out, std::span<const float> other) {
  const std::vector<uint8_t> blocks = make_blocks(job.type, out.size());
  const auto with = [&](DequantizeFn run) {
    return [&, run] { run(blocks.data(), out.data(), out.size() / job.type.block_size); };
  };
  enum { kMemcpy, kSimd, kScalar, kReference, kTraffic };
  Turn turns[] = {
      {"memcpy", [&] { std::memcpy(out.data(), other.data(), out.size_bytes()); }},
      {"simd", with(job.simd)},
      {"scalar", with(job.scalar)},
      {"reference", with(job.reference)},
      {"traffic", [&] { traffic(blocks, out); }},
  };
  for (Turn& turn : turns) turn.runs = bench::runs_in(kSliceMs, turn.run);
  for (int round = 0; round < kRounds; ++round)
    for (Turn& turn : turns) turn.ms.push_back(bench::time_runs(turn.runs, turn.run) / static_cast<double>(turn.runs));

  std::printf("{\"type\":\"%.*s\",\"bytes\":%zu", static_cast<int>(job.type.name.size()), job.type.name.data(),
              out.size_bytes());
  for (const Turn& turn : turns)
    std::printf(",\"%s\":%.3f", turn.name, static_cast<double>(out.size_bytes()) / 1e6 / bench::median(turn.ms));
  // Ratios are taken within a round, so that temporary load of the machine affects both.
  for (const int other_turn : {kMemcpy, kScalar, kTraffic}) {
    std::vector<double> ratios;
    for (size_t round = 0; round < kRounds; ++round)
      ratios.push_back(turns[other_turn].ms[round] / turns[kSimd].ms[round]);
    std::printf(",\"of_%s\":%.3f", turns[other_turn].name, bench::median(ratios));
  }
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> wanted;
  std::vector<size_t> sizes;  // floats
  for (const std::string_view arg : std::span(argv + 1, static_cast<size_t>(argc - 1))) {
    size_t kib = 0;
    if (std::from_chars(arg.data(), arg.data() + arg.size(), kib).ec == std::errc())
      sizes.push_back(kib * 1024 / sizeof(float));
    else
      wanted.push_back(arg);
  }
  if (sizes.empty()) sizes = {size_t{1} << 16, size_t{1} << 22};
  std::vector<Job> jobs;
  for (const QuantKernels& kernels : all_kernels()) {
    const TypeGeometry& type = *find_type(kernels.type);
    if (!wanted.empty() && std::ranges::find(wanted, type.name) == wanted.end()) continue;
    jobs.push_back({type, kernels.dequantize, ggufscope_scalar::find_reference(type.id), find_reference(type.id)});
  }
  for (const Job& job : jobs) warm_up(job);
  for (const size_t n_floats : sizes) {
    std::vector<float> out(n_floats), other(n_floats, 1.0f);
    for (const Job& job : jobs) measure(job, out, other);
  }
}
