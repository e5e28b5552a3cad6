// Gathers the inputs of convolutions along time.
#include "model/convolution.hpp"

#include "nn/halves.hpp"

namespace ggufscope {

void gather_frames(Pool& pool, const FrameKernel& kernel, const float* x, size_t n, size_t n_in, size_t first,
                   size_t n_rows, float* rows) {
  each_token(pool, Operation::kCache, n_rows, [&](size_t t) {
    float* row = rows + t * n_in * kernel.n;
    for (size_t k = 0; k < kernel.n; ++k) {
      const size_t at = (first + t) * kernel.stride + k - kernel.before;  // wraps around before the first frame
      const float* frame = at < n ? x + at * n_in : nullptr;
      for (size_t c = 0; c < n_in; ++c) row[c * kernel.n + k] = frame != nullptr ? frame[c] : 0;
    }
    if (kernel.half) round_to_halves(row, n_in * kernel.n);
  });
}

}  // namespace ggufscope
