// Rotary position embeddings (Su et al. 2021) with GGUF's scalings: linear, YaRN (Peng et al. 2023), and frequency
// factors (Llama 3.1, LongRoPE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ggufscope {

enum class RopeKind : uint8_t {
  kNone,
  kAdjacent,  ///< pairs (2i, 2i+1): llama's original order, "NORM" in ggml
  kHalves,    ///< pairs (i, i + n_rot/2): "NEOX" in ggml; multi-axis kinds equal this for text
  kQuarters,  ///< pairs (i, i + n_rot/4) within each half
};

struct RopeParameters {
  uint32_t n_rot = 0;  ///< rotated elements in a head, even
  float freq_base = 10000.0f;
  float freq_scale = 1.0f;   ///< 1 / scaling factor
  float ext_factor = 0.0f;   ///< 1: YaRN
  float attn_factor = 1.0f;  ///< factor for the rotated elements
  float beta_fast = 32.0f;
  float beta_slow = 1.0f;
  uint32_t n_ctx_original = 0;
};

/// The frequencies of a model's heads: the angle of pair i at position p is p * inverse_frequency[i].
struct RopeTable {
  std::vector<double> inverse_frequency;  // [n_rot / 2]
  std::vector<uint8_t> axis;              // [n_rot / 2], for multi-axis rotation: which of a token's positions to use
  float magnitude = 1.0f;
};

/// factors: [n_rot / 2] divisors of the frequencies, or empty.
[[nodiscard]] RopeTable make_rope_table(const RopeParameters& p, std::span<const float> factors);

/// Computes cosines and sines [n_rot / 2] for one position, multiplied by the magnitude.
void rope_angles(const RopeTable& table, int32_t position, float* cosines, float* sines);

/// The same for a token with several positions, indexed by table.axis.
void rope_angles(const RopeTable& table, const int32_t* positions, float* cosines, float* sines);

/// Rotates the first n_rot elements of each of n_heads heads, which are `stride` floats apart.
void rope(RopeKind kind, float* x, size_t n_heads, size_t stride, size_t n_rot, const float* cosines,
          const float* sines);

}  // namespace ggufscope
