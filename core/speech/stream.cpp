// Convolutions of a stream as matrix products.
#include "speech/stream.hpp"

#include <cstring>

#include "base/sentence.hpp"
#include "nn/halves.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr size_t kPart = 256;  // rows whose widest activations stay in L2
constexpr uint64_t kMaxKernel = 1024, kMaxConvChannels = 1 << 16;
constexpr uint32_t kF32Type = 0, kF16Type = 1;  // ggml's type ids

// Puts rows that were carried over before those of x, which replace them for the next run. Returns [n_before + n,
// n_in].
float* join_carried(Stream& s, size_t n_before, bool repeats_first, const float* x, size_t n, size_t n_in) {
  float* carried = s.carry(n_before, n_in);
  float* joined = s.arena.take(n_before + n, n_in);
  if (s.counting()) return nullptr;
  if (repeats_first && s.position == 0)
    for (size_t i = 0; i < n_before; ++i) std::memcpy(carried + i * n_in, x, n_in * sizeof(float));
  if (n_before != 0) std::memcpy(joined, carried, n_before * n_in * sizeof(float));
  std::memcpy(joined + n_before * n_in, x, n * n_in * sizeof(float));
  if (n_before != 0) std::memcpy(carried, joined + n * n_in, n_before * n_in * sizeof(float));
  return joined;
}

void round_rows(Stream& s, float* x, size_t n, size_t width) {
  each_token(s.pool, Operation::kCache, n, [&](size_t t) { round_to_halves(x + t * width, width); });
}

// Adds rows that were carried over to the first ones of sum [n + n_over, n_out], of which the last n_over are carried
// on; then adds a bias, and copies n rows to y.
void overlap(Stream& s, size_t n_over, const float* bias, float* sum, size_t n, size_t n_out, float* y) {
  float* carried = s.carry(n_over, n_out);
  if (s.counting()) return;
  vec::add(sum, carried, n_over * n_out);
  std::memcpy(carried, sum + n * n_out, n_over * n_out * sizeof(float));
  std::memcpy(y, sum, n * n_out * sizeof(float));
  if (bias != nullptr) each_token(s.pool, Operation::kAdd, n, [&](size_t t) { vec::add(y + t * n_out, bias, n_out); });
}

}  // namespace

Result<void> Stream::allocate_counted() {
  if (const Result<void> done = carried_.reserve(n_carried_ * sizeof(float)); !done) return done;
  if (const Result<void> done = arena.allocate_counted(); !done) return done;
  reset();
  return {};
}

void Stream::reset() {
  if (carried_.size() != 0) std::memset(carried_.data(), 0, carried_.size());
  position = 0;
}

void convolve(Stream& s, const CausalConvolution& by, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_row = by.n_kernel * by.n_in, n_out = n / by.stride, part = std::min(n_out, kPart);
  float* joined = join_carried(s, by.n_before(), by.repeats_first, x, n, by.n_in);
  float* gathered = by.n_kernel == 1 ? nullptr : s.arena.take(part, n_row);
  if (s.counting()) return;
  round_rows(s, joined, by.n_before() + n, by.n_in);
  if (by.n_kernel == 1) return apply(s.pool, by.by, joined, n, y);
  for (size_t first = 0; first < n_out; first += part) {
    const size_t rows = std::min(part, n_out - first);
    each_token(s.pool, Operation::kCache, rows, [&](size_t t) {
      const float* from = joined + (first + t) * by.stride * by.n_in;
      float* to = gathered + t * n_row;
      if (by.dilation == 1) {
        std::memcpy(to, from, n_row * sizeof(float));
      } else {
        for (size_t k = 0; k < by.n_kernel; ++k)
          std::memcpy(to + k * by.n_in, from + k * by.dilation * by.n_in, by.n_in * sizeof(float));
      }
    });
    apply(s.pool, by.by, gathered, rows, y + first * by.by.n_out);
  }
}

void convolve_transposed(Stream& s, const TransposedConvolution& by, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_row = by.n_kernel * by.n_out, n_over = by.n_kernel - by.stride, part = std::min(n, kPart);
  float* rounded = s.arena.take(part, by.n_in);
  float* added = s.arena.take(part, n_row);
  float* sum = s.arena.take(n * by.stride + n_over, by.n_out);
  if (!s.counting()) {
    std::memset(sum, 0, (n * by.stride + n_over) * by.n_out * sizeof(float));
    for (size_t first = 0; first < n; first += part) {
      const size_t rows = std::min(part, n - first);
      std::memcpy(rounded, x + first * by.n_in, rows * by.n_in * sizeof(float));
      if (by.half()) round_rows(s, rounded, rows, by.n_in);
      apply(s.pool, by.by, rounded, rows, added);
      for (size_t t = 0; t < rows; ++t) vec::add(sum + (first + t) * by.stride * by.n_out, added + t * n_row, n_row);
    }
  }
  overlap(s, n_over, by.bias.data(), sum, n * by.stride, by.n_out, y);
}

void convolve_transposed(Stream& s, const DepthwiseTransposed& by, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n_over = by.n_kernel - by.stride;
  float* rounded = s.arena.take(by.n);
  float* sum = s.arena.take(n * by.stride + n_over, by.n);
  if (!s.counting()) {
    std::memset(sum, 0, (n * by.stride + n_over) * by.n * sizeof(float));
    for (size_t t = 0; t < n; ++t) {
      std::memcpy(rounded, x + t * by.n, by.n * sizeof(float));
      round_to_halves(rounded, by.n);
      for (size_t k = 0; k < by.n_kernel; ++k) {
        float* to = sum + (t * by.stride + k) * by.n;
        for (size_t c = 0; c < by.n; ++c) to[c] += rounded[c] * by.weights.data()[c * by.n_kernel + k];
      }
    }
  }
  overlap(s, n_over, nullptr, sum, n * by.stride, by.n, y);
}

void convolve(Stream& s, const DepthwiseConvolution1& by, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  float* joined = join_carried(s, by.n_kernel - 1, false, x, n, by.n);
  if (s.counting()) return;
  round_rows(s, joined, by.n_kernel - 1 + n, by.n);
  each_token(s.pool, Operation::kProducts, n, [&](size_t t) {
    float* to = y + t * by.n;
    std::memcpy(to, by.bias.data(), by.n * sizeof(float));
    for (size_t k = 0; k < by.n_kernel; ++k) {
      const float* from = joined + (t + k) * by.n;
      for (size_t c = 0; c < by.n; ++c) to[c] += from[c] * by.weights.data()[c * by.n_kernel + k];
    }
  });
}

uint32_t TransposedConvolution::packed_type(Precision precision) const {
  return halves_suffice && precision != Precision::kExact ? kF16Type : type;
}

Result<void> TransposedConvolution::turn(Pool& pool, Precision precision) {
  const size_t n_rows = n_kernel * n_out;
  Result<PackedMatrix> matrix = PackedMatrix::create(pool, packed_type(precision), n_in, n_rows, precision);
  if (!matrix) return std::unexpected(matrix.error());
  Result<Buffer> turned = Buffer::allocate(uint64_t{n_rows} * n_in * sizeof(float));
  if (!turned) return std::unexpected(turned.error());
  float* to = turned->as<float>();
  const float* from = file.data();
  for (size_t i = 0; i < n_in; ++i)
    for (size_t o = 0; o < n_out; ++o)
      for (size_t k = 0; k < n_kernel; ++k) to[(k * n_out + o) * n_in + i] = *from++;
  size_t n_bytes = n_rows * n_in * sizeof(float);
  if (packed_type(precision) == kF16Type) {
    n_bytes /= 2;
    // In place: a half is written where its float, or an earlier one, was read.
    auto* halves = turned->as<uint16_t>();
    for (size_t i = 0; i < n_rows * n_in; i += 256) {
      const size_t count = std::min<size_t>(256, n_rows * n_in - i);
      float part[256];
      std::memcpy(part, to + i, count * sizeof(float));
      vec::store_finite_f16(part, halves + i, count);
    }
  }
  if (const Result<void> packed = matrix->pack_rows(pool, 0, {turned->data(), n_bytes}); !packed) return packed;
  by.matrix = std::move(*matrix);
  by.n_in = n_in;
  by.n_out = n_rows;
  file.buffer = Buffer();
  return {};
}

const TensorEntry* SpeechPlan::kernel(const std::string& name) {
  const TensorEntry* entry = planner.find(name + ".weight");
  if (planner.failed()) return nullptr;
  if (entry == nullptr) {
    planner.refuse(ErrorCode::kNotFound, "tensor " + name + ".weight is missing");
    return nullptr;
  }
  if (entry->shape[0] > kMaxKernel || entry->shape[1] > kMaxConvChannels || entry->shape[2] > kMaxConvChannels) {
    planner.refuse(ErrorCode::kBadShape, "tensor " + entry->name + " is too large for a kernel of a convolution");
    return nullptr;
  }
  return entry;
}

void SpeechPlan::even(const TensorEntry& entry) {
  if (entry.shape[0] % 2 != 0)
    planner.refuse(ErrorCode::kBadShape, "tensor " + entry.name + " has a kernel of " + std::to_string(entry.shape[0]) +
                                             ", which is no even number");
}

uint64_t SpeechPlan::convolution(CausalConvolution& to, const std::string& name, uint64_t n_in, size_t stride,
                                 size_t dilation) {
  const TensorEntry* entry = kernel(name);
  if (entry == nullptr) return 0;
  if (stride == 0) even(*entry);
  to.n_in = static_cast<size_t>(n_in);
  to.n_kernel = static_cast<size_t>(entry->shape[0]);
  to.stride = stride == 0 ? to.n_kernel / 2 : stride;
  to.dilation = dilation;
  const uint64_t n_out = entry->shape[2];
  planner.convolution(to.by, name, to.n_kernel, n_in, n_out, Need::kOptional);
  convolutions.push_back(&to);
  return n_out;
}

uint64_t SpeechPlan::convolution(TransposedConvolution& to, const std::string& name, uint64_t n_in, size_t stride) {
  const TensorEntry* entry = kernel(name);
  if (entry == nullptr) return 0;
  if (stride == 0) even(*entry);
  to.n_in = static_cast<size_t>(n_in);
  to.n_out = static_cast<size_t>(entry->shape[1]);
  to.n_kernel = static_cast<size_t>(entry->shape[0]);
  to.stride = stride == 0 ? to.n_kernel / 2 : stride;
  const uint64_t n_out = entry->shape[1];
  if (to.n_kernel < to.stride || entry->shape[2] != n_in) {
    planner.refuse(ErrorCode::kBadShape,
                   "tensor " + entry->name + " has another shape than its transposed convolution");
    return 0;
  }
  to.type = entry->type == kF32Type ? kF32Type : kF16Type;
  planner.vector(to.file, name + ".weight", uint64_t{to.n_kernel} * n_out * n_in);
  planner.vector(to.bias, name + ".bias", n_out, Need::kOptional);
  transposed.push_back(&to);
  return n_out;
}

void SpeechPlan::depthwise(DepthwiseTransposed& to, const std::string& name, uint64_t n) {
  const TensorEntry* entry = kernel(name);
  if (entry == nullptr) return;
  even(*entry);
  to.n = static_cast<size_t>(n);
  to.n_kernel = static_cast<size_t>(entry->shape[0]);
  to.stride = to.n_kernel / 2;
  planner.vector(to.weights, name + ".weight", uint64_t{to.n_kernel} * n);
}

void SpeechPlan::depthwise(DepthwiseConvolution1& to, const std::string& name, uint64_t n) {
  const TensorEntry* entry = kernel(name);
  if (entry == nullptr) return;
  to.n = static_cast<size_t>(n);
  to.n_kernel = static_cast<size_t>(entry->shape[0]);
  planner.vector(to.weights, name + ".weight", uint64_t{to.n_kernel} * n);
  planner.vector(to.bias, name + ".bias", n);
}

}  // namespace ggufscope
