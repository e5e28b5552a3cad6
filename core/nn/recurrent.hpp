// Recurrences that replace attention: short convolutions, state space models, linear attention with decay.
//
// Every function takes a batch of tokens in order. states[t] is the state of token t's sequence, which is read and
// updated.
#pragma once

#include <cstddef>
#include <span>

#include "nn/pool.hpp"

namespace ggufscope {

using States = std::span<float* const>;

/// Depthwise causal convolution: y[t, c] = bias[c] + sum over k of weight[c, k] * x[t - n_kernel + 1 + k, c].
/// x [n_tokens, stride], y [n_tokens, n_channels]; weight [n_channels, n_kernel]; bias [n_channels] or nullptr;
/// a state holds the last n_kernel - 1 inputs [n_kernel - 1, n_channels].
void causal_convolution(Pool& pool, const float* x, size_t stride, size_t n_channels, const float* weight,
                        size_t n_kernel, const float* bias, States states, float* y);

/// Selective scan of Mamba (Gu & Dao 2023) and Mamba-2 (Dao & Gu 2024):
///   s = exp(dt A) s + dt B x;  y = C s + D x, dt after softplus.
/// Inner channels are n_heads heads of d_head; B and C [n_groups, d_state] are shared by n_heads / n_groups heads.
/// A is [n_heads, d_state] (Mamba: a head is one channel) or, with scalar_a, [n_heads]; D [n_heads].
struct ScanShape {
  size_t n_heads = 0;
  size_t d_head = 0;
  size_t n_groups = 1;
  size_t d_state = 0;
  bool scalar_a = false;
};
/// Token t's inputs start at x + t * x_stride and so on; dt [n_heads] is before softplus. A state is [n_heads, d_head,
/// d_state].
struct ScanInputs {
  const float* x = nullptr;
  size_t x_stride = 0;
  const float* dt = nullptr;
  size_t dt_stride = 0;
  const float* b = nullptr;
  const float* c = nullptr;
  size_t bc_stride = 0;
};
void selective_scan(Pool& pool, const ScanShape& shape, const ScanInputs& in, const float* a, const float* d,
                    States states, float* y);

/// RWKV-4's attention: num/den with a running maximum; a state is three rows aa, bb, pp of n channels (pp starts at
/// -1e38). decay [n] is -exp(raw); k, v, r [n_tokens, n], r after the sigmoid; y = r * wkv.
void wkv4(Pool& pool, size_t n, const float* first, const float* decay, const float* k, const float* v, const float* r,
          States states, float* y);

/// RWKV-5 and 6: y_j = sum_i r_i (first_i k_i v_j + S_ij);  S_ij = decay_i S_ij + k_i v_j, for each head.
/// first [n_heads, size]; decay [n_tokens, n_heads, size], or [n_heads, size] for all tokens (decay_stride 0).
/// first = nullptr: the state is updated before it is read, and y is scaled (gated linear attention).
void wkv6(Pool& pool, size_t n_heads, size_t size, const float* first, const float* decay, size_t decay_stride,
          float scale, const float* k, const float* v, const float* r, States states, float* y);

/// RWKV-7 (generalized delta rule): S_ij = w_j S_ij + v_i k_j + (sum_l S_il a_l) b_j;  y_i = sum_j S_ij r_j.
/// All [n_tokens, n_heads, size].
void wkv7(Pool& pool, size_t n_heads, size_t size, const float* r, const float* w, const float* k, const float* v,
          const float* a, const float* b, States states, float* y);

/// Gated delta rule (Yang et al. 2024): S = e^g S;  d = beta (v - S k);  S += d k^T;  y = S q.
/// q, k [n_tokens, n_heads, d_key]; v, y [n_tokens, n_heads, d_value]; g, beta [n_tokens, n_heads]; a state is
/// [n_heads, d_value, d_key].
void gated_delta_rule(Pool& pool, size_t n_heads, size_t d_key, size_t d_value, const float* q, const float* k,
                      const float* v, const float* g, const float* beta, States states, float* y);

}  // namespace ggufscope
