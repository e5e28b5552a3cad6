// Computes convolutions, scans and linear attention, token by token.
#include "nn/recurrent.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// ggml's softplus: linear where the exponential would overflow.

}  // namespace

void causal_convolution(Pool& pool, const float* x, size_t stride, size_t n_channels, const float* weight,
                        size_t n_kernel, const float* bias, States states, float* y) {
  const Timed timed(pool.profile(), Operation::kRecurrence);
  pool.parallel_for(n_channels, 64, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t) {
      float* state = states[t];
      for (size_t c = first; c < last; ++c) {
        const float* w = weight + c * n_kernel;
        const float now = x[t * stride + c];
        float sum = 0;
        for (size_t k = 0; k + 1 < n_kernel; ++k) sum += w[k] * state[k * n_channels + c];
        sum += w[n_kernel - 1] * now;
        for (size_t k = 0; k + 2 < n_kernel; ++k) state[k * n_channels + c] = state[(k + 1) * n_channels + c];
        if (n_kernel > 1) state[(n_kernel - 2) * n_channels + c] = now;
        y[t * n_channels + c] = bias != nullptr ? sum + bias[c] : sum;
      }
    }
  });
}

void selective_scan(Pool& pool, const ScanShape& shape, const ScanInputs& in, const float* a, const float* d,
                    States states, float* y) {
  const size_t n = shape.d_state, heads_per_group = shape.n_heads / shape.n_groups;
  const Timed timed(pool.profile(), Operation::kRecurrence);
  pool.parallel_for(shape.n_heads, 16, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t) {
      for (size_t h = first; h < last; ++h) {
        const float dt = softplus(in.dt[t * in.dt_stride + h]);
        const float* b = in.b + t * in.bc_stride + h / heads_per_group * n;
        const float* c = in.c + t * in.bc_stride + h / heads_per_group * n;
        for (size_t i = 0; i < shape.d_head; ++i) {
          const size_t channel = h * shape.d_head + i;
          float* state = states[t] + channel * n;
          const float x = in.x[t * in.x_stride + channel];
          const float x_dt = x * dt;
          const v128_t vx = wasm_f32x4_splat(x_dt), vdt = wasm_f32x4_splat(dt);
          const float decay = shape.scalar_a ? vec::exp1(dt * a[h]) : 0.0f;
          const v128_t vdecay = wasm_f32x4_splat(decay);
          v128_t sums = wasm_f32x4_splat(0);
          size_t s = 0;
          for (; s + 4 <= n; s += 4) {
            const v128_t e = shape.scalar_a ? vdecay : vec::exp4(wasm_f32x4_mul(vdt, wasm_v128_load(a + h * n + s)));
            const v128_t next =
                wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(state + s), e), wasm_f32x4_mul(wasm_v128_load(b + s), vx));
            wasm_v128_store(state + s, next);
            sums = wasm_f32x4_add(sums, wasm_f32x4_mul(next, wasm_v128_load(c + s)));
          }
          float sum = vec::sum4(sums);
          for (; s < n; ++s) {
            state[s] = state[s] * (shape.scalar_a ? decay : vec::exp1(dt * a[h * n + s])) + b[s] * x_dt;
            sum += state[s] * c[s];
          }
          y[t * shape.n_heads * shape.d_head + channel] = sum + d[h] * x;
        }
      }
    }
  });
}

void wkv4(Pool& pool, size_t n, const float* first_bonus, const float* decay, const float* k, const float* v,
          const float* r, States states, float* y) {
  const Timed timed(pool.profile(), Operation::kRecurrence);
  pool.parallel_for(n, 64, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t) {
      float* aa = states[t];
      float* bb = aa + n;
      float* pp = bb + n;
      for (size_t c = first; c < last; ++c) {
        const float key = k[t * n + c], value = v[t * n + c];
        const float bonus = first_bonus[c] + key;
        const float top = std::fmax(pp[c], bonus);
        const float e1 = std::exp(pp[c] - top), e2 = std::exp(bonus - top);
        y[t * n + c] = r[t * n + c] * (e1 * aa[c] + e2 * value) / (e1 * bb[c] + e2);
        const float decayed = pp[c] + decay[c];
        const float next = std::fmax(decayed, key);
        const float d1 = std::exp(decayed - next), d2 = std::exp(key - next);
        aa[c] = d1 * aa[c] + d2 * value;
        bb[c] = d1 * bb[c] + d2;
        pp[c] = next;
      }
    }
  });
}

void wkv6(Pool& pool, size_t n_heads, size_t size, const float* bonus, const float* decay, size_t decay_stride,
          float scale, const float* k, const float* v, const float* r, States states, float* y) {
  const Timed timed(pool.profile(), Operation::kRecurrence);
  pool.parallel_for(n_heads, 1, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t) {
      for (size_t h = first; h < last; ++h) {
        const size_t at = (t * n_heads + h) * size;
        float* out = y + at;
        std::memset(out, 0, size * sizeof(float));
        for (size_t i = 0; i < size; ++i) {
          float* row = states[t] + (h * size + i) * size;
          const float key = k[at + i], read = r[at + i] * scale, keep = decay[t * decay_stride + h * size + i];
          const float extra = bonus != nullptr ? bonus[h * size + i] : 0.0f;
          for (size_t j = 0; j < size; ++j) {
            const float kv = key * v[at + j];
            const float next = keep * row[j] + kv;
            out[j] += read * (bonus != nullptr ? extra * kv + row[j] : next);
            row[j] = next;
          }
        }
      }
    }
  });
}

void wkv7(Pool& pool, size_t n_heads, size_t size, const float* r, const float* w, const float* k, const float* v,
          const float* a, const float* b, States states, float* y) {
  const Timed timed(pool.profile(), Operation::kRecurrence);
  pool.parallel_for(n_heads, 1, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t) {
      for (size_t h = first; h < last; ++h) {
        const size_t at = (t * n_heads + h) * size;
        for (size_t i = 0; i < size; ++i) {
          float* row = states[t] + (h * size + i) * size;
          const float removed = vec::dot(a + at, row, size);
          const float value = v[at + i];
          for (size_t j = 0; j < size; ++j) row[j] = row[j] * w[at + j] + value * k[at + j] + removed * b[at + j];
          y[at + i] = vec::dot(row, r + at, size);
        }
      }
    }
  });
}

void gated_delta_rule(Pool& pool, size_t n_heads, size_t d_key, size_t d_value, const float* q, const float* k,
                      const float* v, const float* g, const float* beta, States states, float* y) {
  const Timed timed(pool.profile(), Operation::kRecurrence);
  pool.parallel_for(n_heads, 1, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t) {
      for (size_t h = first; h < last; ++h) {
        const size_t head = t * n_heads + h;
        const float keep = vec::exp1(g[head]);
        const float* key = k + head * d_key;
        for (size_t i = 0; i < d_value; ++i) {
          float* row = states[t] + (h * d_value + i) * d_key;
          vec::scale(row, keep, d_key);
          const float delta = beta[head] * (v[head * d_value + i] - vec::dot(row, key, d_key));
          vec::add_scaled(row, delta, key, d_key);
          y[head * d_value + i] = vec::dot(row, q + head * d_key, d_key);
        }
      }
    }
  });
}

}  // namespace ggufscope
