// The kernels of recurrent layers of the interpreter.
#include <cmath>

#include "interpret_call.hpp"

namespace ggufscope::test {

using namespace gpu;

namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }
double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double wide(float x) { return static_cast<double>(x); }

// Where channel c of a convolution is in a row of q, k, v and z of each key head.
uint32_t interleaved(const MixParameters& p, uint32_t c) {
  const uint32_t n_keys = p.n_groups * p.n_state, group = 2 * p.n_state + 2 * p.d_head;
  if (c >= 2 * n_keys) return (c - 2 * n_keys) / p.d_head * group + 2 * p.n_state + (c - 2 * n_keys) % p.d_head;
  return c % n_keys / p.n_state * group + c / n_keys * p.n_state + c % p.n_state;
}

}  // namespace

void PlanInterpreter::convolve(Call& c) {
  const MixParameters p = c.parameters<MixParameters>();
  const float* vectors = c.real(2);
  float* states = c.real(4);
  const uint32_t before = p.length - 1;
  const auto input = [&](int64_t t, uint32_t channel) -> float {
    if (t < 0) {
      if (c.step.state_from == kAbsent) return 0;
      return states[size_t{c.step.state_from} * p.slot_floats + static_cast<size_t>(before + t) * p.n + channel];
    }
    const float* row = c.real(1) + static_cast<size_t>(t) * p.x_stride;
    if (c.has(kGatedInput)) return row[p.x_at + channel] * row[p.b_at + channel];
    return row[c.has(kInterleaved) ? interleaved(p, channel) : p.x_at + channel];
  };
  for (uint32_t channel = 0; channel < p.n; ++channel) {
    for (uint32_t t = 0; t < c.step.n_tokens; ++t) {
      double sum = p.bias_at != kAbsent ? wide(vectors[p.bias_at + channel]) : 0;
      for (uint32_t k = 0; k < p.length; ++k)
        sum += wide(vectors[p.weight_at + channel * p.length + k]) * wide(input(int64_t{t} - before + k, channel));
      c.real(5)[size_t{t} * p.n + channel] = static_cast<float>(
          c.has(kGatedInput) ? sum * wide(c.real(1)[size_t{t} * p.x_stride + p.gate_at + channel]) : silu(sum));
    }
    for (uint32_t k = 0; k < before; ++k)
      states[size_t{c.step.state_to} * p.slot_floats + size_t{k} * p.n + channel] =
          input(int64_t{c.step.n_tokens} - before + k, channel);
  }
}

void PlanInterpreter::scan(Call& c) {
  const MixParameters p = c.parameters<MixParameters>();
  const float* vectors = c.real(4);
  float* states = c.real(6);
  const uint32_t heads_per_group = p.n / p.d_head / p.n_groups;
  const auto state_of = [&](uint32_t slot, uint32_t channel, uint32_t i) {
    return size_t{slot} * p.slot_floats + p.state_at + size_t{i} * p.n + channel;
  };
  for (uint32_t channel = 0; channel < p.n; ++channel) {
    const uint32_t head = channel / p.d_head, group = head / heads_per_group;
    std::vector<float> s(p.n_state);
    for (uint32_t i = 0; i < p.n_state && c.step.state_from != kAbsent; ++i)
      s[i] = states[state_of(c.step.state_from, channel, i)];
    for (uint32_t t = 0; t < c.step.n_tokens; ++t) {
      const float* gates = c.real(3) + size_t{t} * p.gate_stride;
      const float* bc = c.real(2) + size_t{t} * p.bc_stride;
      std::vector<float> in(bc + p.b_at + group * p.n_state, bc + p.b_at + (group + 1) * p.n_state);
      std::vector<float> out(bc + p.c_at + group * p.n_state, bc + p.c_at + (group + 1) * p.n_state);
      if (c.has(kNormStates)) {
        normalize_row(false, in, vectors, p.b_norm, kAbsent, p.eps);
        normalize_row(false, out, vectors, p.c_norm, kAbsent, p.eps);
      }
      const double bias = p.bias_at != kAbsent ? wide(vectors[p.bias_at + head]) : 0;
      const double dt = softplus(wide(gates[p.dt_at + head]) + bias);
      const double x = wide(c.real(1)[size_t{t} * p.x_stride + p.x_at + channel]);
      double y = wide(vectors[p.d_at + head]) * x;
      for (uint32_t i = 0; i < p.n_state; ++i) {
        const float a = vectors[p.a_at + (c.has(kScalarDecay) ? head : channel * p.n_state + i)];
        s[i] = static_cast<float>(wide(s[i]) * std::exp(dt * wide(a)) + wide(in[i]) * dt * x);
        y += wide(s[i]) * wide(out[i]);
      }
      c.real(7)[size_t{t} * p.n + channel] = static_cast<float>(y * silu(wide(gates[p.gate_at + channel])));
    }
    for (uint32_t i = 0; i < p.n_state; ++i) states[state_of(c.step.state_to, channel, i)] = s[i];
  }
}

void PlanInterpreter::delta_rule(Call& c) {
  const MixParameters p = c.parameters<MixParameters>();
  const uint32_t d_k = c.v.d_k, d_v = c.v.d_v, repeat = p.n / p.n_groups;
  const float* vectors = c.real(3);
  float* states = c.real(5);
  for (uint32_t head = 0; head < p.n; ++head) {
    const bool neighbours = c.has(kNeighbours);
    const uint32_t key_head = neighbours ? head / repeat : head % p.n_groups;
    const uint32_t own = neighbours ? head / repeat * 2 * repeat + head % repeat : head;
    const uint32_t z = c.has(kInterleaved)
                           ? head / repeat * 2 * (p.n_state + p.d_head) + 2 * p.n_state + p.d_head + head % repeat * d_v
                           : p.gate_at + head * d_v;
    const auto state_of = [&](uint32_t slot) {
      return states + size_t{slot} * p.slot_floats + p.state_at + size_t{head} * d_k * d_v;
    };
    std::vector<float> s(size_t{d_k} * d_v);
    if (c.step.state_from != kAbsent) s.assign(state_of(c.step.state_from), state_of(c.step.state_from) + s.size());
    for (uint32_t t = 0; t < c.step.n_tokens; ++t) {
      const float* x = c.real(1) + size_t{t} * p.x_stride;
      const float* gates = c.real(2) + size_t{t} * p.gate_stride;
      const float *q = x + key_head * d_k, *k = x + (p.n_groups + key_head) * d_k;
      const float* v = x + 2 * p.n_groups * d_k + head * d_v;
      double q_squares = wide(p.eps), k_squares = wide(p.eps);
      for (uint32_t i = 0; i < d_k; ++i) q_squares += wide(q[i]) * wide(q[i]), k_squares += wide(k[i]) * wide(k[i]);
      const double q_factor = 1 / std::sqrt(q_squares * d_k), k_factor = 1 / std::sqrt(k_squares);
      const double step = softplus(wide(gates[p.dt_at + own]) + wide(vectors[p.bias_at + head]));
      const double decay = std::exp(step * wide(vectors[p.a_at + head]));
      const double beta = 1 / (1 + std::exp(-wide(gates[p.b_at + own])));
      std::vector<float> o(d_v);
      for (uint32_t j = 0; j < d_v; ++j) {
        double seen = 0, sum = 0;
        for (uint32_t i = 0; i < d_k; ++i) seen += wide(s[i * d_v + j]) * decay * wide(k[i]) * k_factor;
        const double change = beta * (wide(v[j]) - seen);
        for (uint32_t i = 0; i < d_k; ++i) {
          float& one = s[i * d_v + j];
          one = static_cast<float>(wide(one) * decay + wide(k[i]) * k_factor * change);
          sum += wide(one) * wide(q[i]) * q_factor;
        }
        o[j] = static_cast<float>(sum);
      }
      normalize_row(false, o, vectors, p.weight_at, kAbsent, p.eps);
      for (uint32_t j = 0; j < d_v; ++j)
        c.real(6)[(size_t{t} * p.n + head) * d_v + j] = static_cast<float>(wide(o[j]) * silu(wide(gates[z + j])));
    }
    std::ranges::copy(s, state_of(c.step.state_to));
  }
}

void PlanInterpreter::shift(Call& c) {
  const MixParameters p = c.parameters<MixParameters>();
  const float *x = c.real(1), *vectors = c.real(3);
  float* states = c.real(5);
  for (uint32_t t = 0; t < c.step.n_tokens; ++t)
    for (uint32_t i = 0; i < p.n_groups * p.n; ++i) {
      const uint32_t channel = i % p.n;
      const float own = x[size_t{t} * p.n + channel];
      float before = 0;
      if (t > 0) {
        before = x[size_t{t - 1} * p.n + channel];
      } else if (c.step.state_from != kAbsent) {
        before = states[size_t{c.step.state_from} * p.slot_floats + p.state_at + channel];
      }
      const size_t to = size_t{t} * p.n_groups * p.n + i;
      float share = vectors[p.weight_at + i] + (c.has(kMoreShare) ? c.real(2)[to] : 0);
      if (c.has(kOwnShare)) share = 1 - share;
      c.real(6)[to] = own + (before - own) * share;
    }
  const size_t last = size_t{c.step.n_tokens - 1} * p.n;
  std::copy_n(x + last, p.n, states + size_t{c.step.state_to} * p.slot_floats + p.state_at);
}

namespace {

// What a head of wkv reads of a token.
struct WkvInputs {
  std::vector<double> r, k, v, keep, q, rate;
  double bonus = 0;
};

template <class C>
WkvInputs wkv_inputs(C& c, const MixParameters& p, uint32_t t, uint32_t head) {
  const uint32_t d = c.v.d_k, width = p.n * d;
  const auto vector = [&](uint32_t at, uint32_t i) { return wide(c.real(2)[at + i]); };
  WkvInputs in;
  const float* x = c.real(1) + size_t{t} * p.x_stride;
  const float* keys = x + width + head / (p.n / p.n_groups) * d;
  double squares = 1e-12;
  for (uint32_t i = 0; i < d; ++i) {
    const uint32_t own = head * d + i;
    const auto part = [&](uint32_t which) { return wide(x[which * width + own]); };
    double r = part(0), k = wide(keys[i]), v = wide(keys[width + i]), keep = std::exp(-std::exp(part(3)));
    if (c.has(kScaledKeys)) k *= 1 - keep, r /= std::sqrt(d);
    if (c.has(kRemoves)) {
      keep = std::exp(-0.606531 * part(3));
      float& first = c.real(5)[size_t{t} * width + own];
      if (c.has(kFirstValues)) first = static_cast<float>(v);
      if (!c.has(kFirstValues)) v += (wide(first) - v) * part(6);
      in.q.push_back(k * vector(p.b_at, own));
      in.rate.push_back(part(5));
      squares += in.q[i] * in.q[i];
      k += (part(5) - 1) * k * vector(p.a_at, own);
    }
    in.r.push_back(r), in.k.push_back(k), in.v.push_back(v), in.keep.push_back(keep);
    if (p.d_at != kAbsent) in.bonus += r * k * vector(p.d_at, own);
  }
  for (double& q : in.q) q /= std::sqrt(squares);
  return in;
}

}  // namespace

void PlanInterpreter::wkv(Call& c) {
  const MixParameters p = c.parameters<MixParameters>();
  const uint32_t d = c.v.d_k, width = p.n * d;
  const float* vectors = c.real(2);
  float* states = c.real(4);
  for (uint32_t head = 0; head < p.n; ++head) {
    const auto state_of = [&](uint32_t slot) {
      return states + size_t{slot} * p.slot_floats + p.state_at + size_t{head} * d * d;
    };
    std::vector<double> s(size_t{d} * d);
    if (c.step.state_from != kAbsent) std::copy_n(state_of(c.step.state_from), s.size(), s.begin());
    for (uint32_t t = 0; t < c.step.n_tokens; ++t) {
      const WkvInputs in = wkv_inputs(c, p, t, head);
      std::vector<float> o(d);
      for (uint32_t j = 0; j < d; ++j) {
        double removed = 0, sum = 0;
        for (uint32_t i = 0; i < in.q.size(); ++i) removed += in.q[i] * s[i * d + j];
        for (uint32_t i = 0; i < d; ++i) {
          double& one = s[i * d + j];
          const double before = one;
          one = one * in.keep[i] + in.k[i] * in.v[j] - (c.has(kRemoves) ? in.q[i] * in.rate[i] * removed : 0);
          sum += in.r[i] * (c.has(kRemoves) || p.d_at == kAbsent ? one : before);
        }
        o[j] = static_cast<float>(c.has(kRemoves) ? sum : sum + in.bonus * in.v[j]);
      }
      if (p.weight_at != kAbsent)
        normalize_row(true, o, vectors, p.weight_at + head * d, p.bias_at != kAbsent ? p.bias_at + head * d : kAbsent,
                      p.eps);
      const float* gates = c.real(1) + size_t{t} * p.x_stride + 4 * size_t{width} + size_t{head} * d;
      for (uint32_t j = 0; j < d; ++j) {
        const double y = wide(o[j]) + (c.has(kRemoves) ? in.bonus * in.v[j] : 0);
        c.real(6)[size_t{t} * width + head * d + j] = static_cast<float>(c.has(kGated) ? y * wide(gates[j]) : y);
      }
    }
    std::ranges::transform(s, state_of(c.step.state_to), [](double x) { return static_cast<float>(x); });
  }
}

}  // namespace ggufscope::test
