// A dispatch as the interpreter's kernels see it.
#pragma once

#include <cmath>

#include "interpret.hpp"

namespace ggufscope::test {

// One dispatch: its variant, parameters, bindings and step record.
struct PlanInterpreter::Call {
  const gpu::PlanDispatch& d;
  const gpu::Variant& v;
  const uint32_t* words;  // the parameters
  gpu::StepHeader step{};
  const uint32_t* record = nullptr;
  PlanInterpreter& self;

  [[nodiscard]] bool has(uint32_t flag) const { return (v.flags & flag) != 0; }
  [[nodiscard]] size_t which() const { return has(gpu::kWindowed) ? 1 : 0; }
  [[nodiscard]] uint32_t n_rows() const { return has(gpu::kOutputRows) ? step.n_outputs : step.n_tokens; }
  [[nodiscard]] uint32_t token(uint32_t row) const {
    return has(gpu::kOutputRows) ? record[step.outputs_at + row] : row;
  }
  [[nodiscard]] gpu::StepToken token_at(uint32_t t) const {
    gpu::StepToken token;
    std::memcpy(static_cast<void*>(&token), record + gpu::kStepHeaderWords + t * gpu::kStepTokenWords, sizeof(token));
    return token;
  }
  [[nodiscard]] gpu::StepRun run_at(uint32_t i) const {
    gpu::StepRun run;
    std::memcpy(static_cast<void*>(&run), record + step.runs_at + i * gpu::kStepRunWords, sizeof(run));
    return run;
  }
  [[nodiscard]] uint32_t* word(size_t binding) const {
    const gpu::PlanBinding& b = d.bindings[binding];
    return self.buffers_[b.buffer].data() + b.offset / 4;
  }
  [[nodiscard]] float* real(size_t binding) const { return reinterpret_cast<float*>(word(binding)); }
  template <class T>
  [[nodiscard]] T parameters(size_t at = 0) const {
    T p;
    std::memcpy(static_cast<void*>(&p), words + at, sizeof(p));
    return p;
  }
  [[nodiscard]] gpu::MatrixParameters matrix(size_t i) const {
    return parameters<gpu::MatrixParameters>(gpu::kMatrixWord + i * gpu::kMatrixWords);
  }
};

inline void normalize_row(bool layer, std::vector<float>& v, const float* vectors, uint32_t weight, uint32_t bias,
                          float eps) {
  const double n = static_cast<double>(v.size());
  double mean = 0, square = 0;
  for (const float x : v) mean += layer ? static_cast<double>(x) / n : 0;
  for (const float x : v) square += (x - mean) * (x - mean) / n;
  const double factor = 1 / std::sqrt(square + static_cast<double>(eps));
  for (size_t i = 0; i < v.size(); ++i) {
    double y = (v[i] - mean) * factor;
    if (weight != gpu::kAbsent) y *= static_cast<double>(vectors[weight + i]);
    if (bias != gpu::kAbsent) y += static_cast<double>(vectors[bias + i]);
    v[i] = static_cast<float>(y);
  }
}

}  // namespace ggufscope::test
