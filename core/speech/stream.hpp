// Causal layers along time that read a sound in parts of any length: what a part needs of the earlier ones is carried
// over, so that the parts' outputs, one after another, equal the output of the whole.
#pragma once

#include <string>
#include <vector>

#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

/// The memory of a chain of layers that runs again and again: scratch memory of one run, and what is carried over to
/// the next one. Both are counted by running the same code first.
class Stream {
 public:
  explicit Stream(Pool& to) : pool(to) {}
  /// Counts with run(), which runs the chain with as many rows as any later run has, and allocates. Error:
  /// kOutOfMemory.
  template <class Run>
  [[nodiscard]] Result<void> allocate(const Run& run) {
    arena.count();
    n_carried_ = 0;
    run();
    return allocate_counted();
  }
  /// Bytes that allocate() would take.
  template <class Run>
  [[nodiscard]] uint64_t count_bytes(const Run& run) {
    arena.count();
    n_carried_ = 0;
    run();
    return (arena.peak() + n_carried_) * sizeof(float);
  }
  [[nodiscard]] bool counting() const { return arena.counting(); }
  /// Begins a run: the layers ask for what they carried over in the same order as in every run.
  void begin_run() {
    n_carried_ = 0;
    arena.release(0);
  }
  /// Forgets what was carried over: the next run starts a sound.
  void reset();
  /// Floats that stay until the next run; zero at the start of a sound. nullptr while counting.
  template <class... Sizes>
  float* carry(Sizes... shape) {
    uint64_t n = 1;
    bool fits = true;
    for (const uint64_t size : {static_cast<uint64_t>(shape)...}) fits = fits && !__builtin_mul_overflow(n, size, &n);
    const uint64_t at = n_carried_;
    n_carried_ =
        std::min(at + Arena::round_up(fits ? std::min(n, Arena::kMaxFloats) : Arena::kMaxFloats), Arena::kMaxFloats);
    return counting() ? nullptr : carried_.as<float>() + at;
  }

  Pool& pool;
  Arena arena;
  uint64_t position = 0;  ///< frames of the sound before this run

 private:
  [[nodiscard]] Result<void> allocate_counted();

  Buffer carried_;
  uint64_t n_carried_ = 0;
};

/// A causal convolution: y[t] = sum over k of W[k] x[t * stride - (n_kernel - stride) + k]; with a dilation, the taps
/// are that many rows apart, and the stride is 1. Before the start is zero, or the first row (repeats_first).
struct CausalConvolution {
  Linear by;  ///< rows [n_kernel, n_in]: the file's [n_in, n_kernel] are turned when they are packed
  size_t n_in = 0, n_kernel = 1, stride = 1, dilation = 1;
  bool repeats_first = false;
  bool exact = false;  ///< weights of 32 bits are not rounded to halves
  /// Rows of the earlier parts that the first output reads.
  [[nodiscard]] size_t n_before() const { return (n_kernel - 1) * dilation + 1 - stride; }
};
/// y [n / stride, n_out]; x [n, n_in], n a multiple of the stride. Inputs are rounded to halves, as in ggml.
void convolve(Stream& stream, const CausalConvolution& by, const float* x, size_t n, float* y);

/// A transposed convolution: each row of x adds n_kernel rows to y, from row t * stride on. Rows that later parts add
/// to are carried over.
struct TransposedConvolution {
  Vector file;  ///< [n_in, n_out, n_kernel], until turn() packs it as `by`
  uint32_t type = 0;
  bool halves_suffice = false;  ///< F32 is packed as F16, except with kExact
  Linear by;                    ///< rows [n_kernel, n_out]
  Vector bias;
  size_t n_in = 0, n_out = 0, n_kernel = 1, stride = 1;
  [[nodiscard]] bool half() const { return type != 0; }
  [[nodiscard]] uint32_t packed_type(Precision precision) const;
  /// Packs the weights. Errors of PackedMatrix::create.
  [[nodiscard]] Result<void> turn(Pool& pool, Precision precision);
};
/// y [n * stride, n_out]; x [n, n_in].
void convolve_transposed(Stream& stream, const TransposedConvolution& by, const float* x, size_t n, float* y);

/// The same with one kernel [n_kernel] for each channel, and without a bias.
struct DepthwiseTransposed {
  Vector weights;  ///< [n, n_kernel]
  size_t n = 0, n_kernel = 1, stride = 1;
};
void convolve_transposed(Stream& stream, const DepthwiseTransposed& by, const float* x, size_t n, float* y);

/// A causal convolution with one kernel [n_kernel] for each channel.
struct DepthwiseConvolution1 {
  Vector weights, bias;  ///< [n, n_kernel], [n]
  size_t n = 0, n_kernel = 1;
};
void convolve(Stream& stream, const DepthwiseConvolution1& by, const float* x, size_t n, float* y);

/// Plans the tensors of a pipeline, and remembers the convolutions, whose weights need work when they are loaded.
struct SpeechPlan {
  Planner& planner;
  std::vector<CausalConvolution*> convolutions;
  std::vector<TransposedConvolution*> transposed;

  /// Plans name.weight [n_kernel, n_in, n_out] with the sizes in the file, n_in given. Returns n_out; 0 on an error.
  uint64_t convolution(CausalConvolution& to, const std::string& name, uint64_t n_in, size_t stride = 1,
                       size_t dilation = 1);
  /// The same for [n_kernel, n_out, n_in]. stride 0: half of the kernel.
  uint64_t convolution(TransposedConvolution& to, const std::string& name, uint64_t n_in, size_t stride = 0);
  /// Plans name.weight [n_kernel, 1, n]. The stride is half of the kernel.
  void depthwise(DepthwiseTransposed& to, const std::string& name, uint64_t n);
  /// Plans name.weight [n_kernel, 1, n] and name.bias.
  void depthwise(DepthwiseConvolution1& to, const std::string& name, uint64_t n);

 private:
  /// The sizes of a kernel's tensor; nullptr after an error.
  const TensorEntry* kernel(const std::string& name);
  void even(const TensorEntry& entry);
};

}  // namespace ggufscope
