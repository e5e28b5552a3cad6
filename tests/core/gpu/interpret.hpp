// Runs a plan without a GPU: every kernel of gpu/kernels.inc in scalar C++, on buffers like a GPU's. It is the kernels'
// definition in executable form, and marks which bytes of weights are read.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "gpu/plan.hpp"
#include "gpu/repack.hpp"
#include "gpu/step.hpp"

namespace ggufscope::test {

class PlanInterpreter {
 public:
  explicit PlanInterpreter(const gpu::Plan& plan);

  /// Whether GELU is that of ggml's table of binary16 numbers. The kernels' is not.
  bool rounds_gelu = false;

  /// Takes a plan with the same buffers of weights, and larger others.
  void grow(const gpu::Plan& plan);
  /// Writes what repack returned.
  void write(const gpu::BufferWrite& write);
  void set_step(std::span<const uint32_t> words);
  /// Writes to the begin of a buffer.
  void set_floats(uint32_t buffer, std::span<const float> values);
  void run(std::span<const gpu::PlanDispatch> list);

  [[nodiscard]] std::span<const float> floats(uint32_t buffer) const {
    return {reinterpret_cast<const float*>(buffers_[buffer].data()), buffers_[buffer].size()};
  }
  [[nodiscard]] std::span<const uint32_t> words(uint32_t buffer) const { return buffers_[buffer]; }

  /// Bytes of matrices read by products since clear_marks, each read counted, and the number of different bytes.
  [[nodiscard]] uint64_t bytes_read() const { return bytes_read_; }
  [[nodiscard]] uint64_t bytes_marked() const;
  void clear_marks();
  /// Why a dispatch was malformed; empty: none was.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  struct Call;
  struct Softmax {
    std::vector<double> values;  // sum of e^(score - max) * value
    float max;
    double sum;
  };
  Softmax attend(Call& c, uint32_t token, uint32_t head, const float* q, uint32_t begin, uint32_t end);
  static void add_sink(Softmax& s, float sink);
  static Softmax combined(const float* parts, uint32_t n_splits, uint32_t d);
  void end_head(Call& c, uint32_t token, uint32_t head, Softmax s, size_t qkv, size_t vectors, float* out);
  void check(const gpu::PlanDispatch& d, const gpu::Variant& v);
  void row_of(Call& c, size_t matrix, uint64_t row, std::vector<float>& out, bool counts, uint32_t expert = 0);
  void prologue(Call& c, uint32_t row, std::vector<float>& v, bool writes);
  void embed(Call& c);
  void norm_rows(Call& c);
  void product(Call& c);
  void prepare_head(Call& c, uint32_t token, uint32_t head, bool is_key, float* out);
  void store_cell(Call& c, uint32_t token, uint32_t head);
  float cached(const Call& c, bool keys, uint32_t head, uint32_t cell, uint32_t i);
  void store(Call& c, bool keys, uint32_t head, uint32_t cell, uint32_t i, float x);
  void attend_splits(Call& c);
  void attend_combine(Call& c);
  void prepare_heads(Call& c);
  void attend_rows(Call& c);
  void weigh_cells(Call& c);
  void head_product(Call& c);
  void convolve(Call& c);
  void scan(Call& c);
  void delta_rule(Call& c);
  void shift(Call& c);
  void wkv(Call& c);
  void argmax(Call& c);
  void choose_experts(Call& c);
  void expert_in(Call& c);
  void expert_out(Call& c);
  float scaled(Call& c, size_t matrix, uint32_t row, uint32_t expert, double product, size_t vectors);

  const gpu::Plan* plan_;
  std::vector<std::vector<uint32_t>> buffers_;
  std::vector<std::vector<uint8_t>> marks_;  // 1 for each byte of the weights that was read
  uint64_t bytes_read_ = 0;
  std::string fault_;
};

}  // namespace ggufscope::test
