// What passes record of a model's attention, and the parts of its layers that they ablate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/attention.hpp"

namespace ggufscope {

/// A head of a layer's attention, or the whole layer.
struct LayerPart {
  static constexpr uint32_t kWhole = UINT32_MAX;
  uint32_t layer = 0;
  uint32_t head = kWhole;
  [[nodiscard]] bool operator==(const LayerPart&) const = default;
};

/// An ablated head's output is zero before the attention's output matrix (Michel et al. 2019). An ablated layer leaves
/// the residual stream as it is.
class Probe {
 public:
  explicit Probe(std::vector<LayerPart> ablated, std::vector<LayerPart> recorded = {})
      : ablated_(std::move(ablated)), recorded_(std::move(recorded)), reached_(ablated_.size() + recorded_.size()) {}

  /// weights [recorded.size(), n, n]: for the attention of the recorded heads at positions below n.
  void record_to(float* weights, size_t n) {
    weights_ = weights;
    n_ = n;
  }

  [[nodiscard]] bool ablates_layer(size_t il) const {
    for (const LayerPart& part : ablated_)
      if (part.layer == il && part.head == LayerPart::kWhole) return true;
    return false;
  }
  /// The heads of a layer to record.
  [[nodiscard]] std::vector<AttentionRecord::Head> heads_of(size_t il) {
    std::vector<AttentionRecord::Head> heads;
    for (size_t i = 0; i < recorded_.size(); ++i) {
      if (recorded_[i].layer != il) continue;
      heads.push_back({recorded_[i].head, weights_ + i * n_ * n_});
      reached_[ablated_.size() + i] = 1;
    }
    return heads;
  }
  [[nodiscard]] std::span<const LayerPart> recorded() const { return recorded_; }
  [[nodiscard]] size_t n_positions() const { return n_; }
  /// out [n_tokens, n_head, d]
  void ablate_heads(size_t il, size_t n_tokens, size_t n_head, size_t d, float* out) {
    for (size_t i = 0; i < ablated_.size(); ++i) {
      const LayerPart& part = ablated_[i];
      if (part.layer != il || part.head >= n_head) continue;
      for (size_t t = 0; t < n_tokens; ++t) {
        float* const row = out + (t * n_head + part.head) * d;
        for (size_t k = 0; k < d; ++k) row[k] = 0;
      }
      reached_[i] = 1;
    }
  }
  /// A head that no pass came by, because its layer does not compute attention head by head; nullptr: none.
  [[nodiscard]] const LayerPart* missed() const {
    for (size_t i = 0; i < reached_.size(); ++i) {
      const LayerPart& part = i < ablated_.size() ? ablated_[i] : recorded_[i - ablated_.size()];
      if (reached_[i] == 0 && part.head != LayerPart::kWhole) return &part;
    }
    return nullptr;
  }

 private:
  std::vector<LayerPart> ablated_, recorded_;
  std::vector<uint8_t> reached_;  // for each ablated part, then for each recorded one
  float* weights_ = nullptr;
  size_t n_ = 0;
};

}  // namespace ggufscope
