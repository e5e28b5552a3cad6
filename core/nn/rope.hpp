// Rotary position embeddings (Su et al. 2021), with the scalings of GGUF: linear, yarn (Peng et al. 2023), and
// frequency factors (llama 3.1, LongRoPE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ggufscope {

enum class RopeKind : uint8_t {
  kNone,
  kAdjacent,  ///< pairs (2i, 2i+1): llama's own order, "NORM" in ggml
  kHalves,    ///< pairs (i, i + n_rot/2): "NEOX" in ggml; the multi-axis kinds are this for text
};

struct RopeParameters {
  uint32_t n_rot = 0;  ///< rotated elements of a head, even
  float freq_base = 10000.0f;
  float freq_scale = 1.0f;   ///< 1 / scaling factor
  float ext_factor = 0.0f;   ///< 1: yarn
  float attn_factor = 1.0f;  ///< magnitude of the rotation
  float beta_fast = 32.0f;
  float beta_slow = 1.0f;
  uint32_t n_ctx_original = 0;
};

/// The frequencies that a model's heads share: the angle of pair i at position p is p * inverse_frequency[i].
struct RopeTable {
  std::vector<double> inverse_frequency;  // [n_rot / 2]
  std::vector<uint8_t> axis;              // [n_rot / 2] of multi-axis rotation: which of a token's positions counts
  float magnitude = 1.0f;
};

/// factors: [n_rot / 2] divisors of the frequencies, or empty.
[[nodiscard]] RopeTable make_rope_table(const RopeParameters& p, std::span<const float> factors);

/// cosines and sines [n_rot / 2] of one position, magnitude applied.
void rope_angles(const RopeTable& table, int32_t position, float* cosines, float* sines);

/// The same of a token with several positions, one for each number in table.axis.
void rope_angles(const RopeTable& table, const int32_t* positions, float* cosines, float* sines);

/// Rotates the first n_rot elements of each of n_heads heads that lie `stride` floats apart.
void rope(RopeKind kind, float* x, size_t n_heads, size_t stride, size_t n_rot, const float* cosines,
          const float* sines);

}  // namespace ggufscope
