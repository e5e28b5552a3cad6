// Kernels of recurrent layers: a convolution along time, the scan of Mamba, the gated delta rule, RWKV's attention.
import { kScanStates } from '../layout.js'
import {
  bindings,
  header,
  kMixParameters,
  kSigmoid,
  kStepRecord,
  kVectorAt,
  laneParameters,
  runtimeFlags,
  setLane,
  total,
} from './common.js'
import type { Shader } from './common.js'

/** The slots of the step record. A state that is not there is one of zeros. */
const kSlots = /* wgsl */ `${kStepRecord}
fn silu(x: f32) -> f32 { return x * sigmoid(x); }
fn is_new() -> bool { return step[12] == kAbsent; }
fn from_at() -> u32 { return step[12] * p.slot_floats + p.state_at; }
fn to_at() -> u32 { return step[13] * p.slot_floats + p.state_at; }
`

export const convolve = (shader: Shader): string => /* wgsl */ `${kMixParameters}
${bindings(shader, { x: 'f32', vectors: 'vec4<f32>', step: 'u32', states: 'f32', y: 'f32' })}
${runtimeFlags('gatedInput', 'interleaved')}${kVectorAt}${kSigmoid}${kSlots}
// Where a channel is in a row of q, k, v and z of each key head.
fn interleaved(c: u32) -> u32 {
  let n_keys = p.n_groups * p.n_state;
  let group = 2u * (p.n_state + p.d_head);
  if (c >= 2u * n_keys) {
    let v = c - 2u * n_keys;
    return (v / p.d_head) * group + 2u * p.n_state + v % p.d_head;
  }
  return ((c % n_keys) / p.n_state) * group + (c / n_keys) * p.n_state + c % p.n_state;
}
// Input i of the channel, of those in the state and then of the pass.
fn input(i: u32, c: u32) -> f32 {
  if (i + 1u < p.length) {
    if (is_new()) { return 0.0; }
    return states[from_at() + i * p.n + c];
  }
  let row = (i + 1u - p.length) * p.x_stride;
  if (has(kGatedInput)) { return x[row + p.x_at + c] * x[row + p.b_at + c]; }
  if (has(kInterleaved)) { return x[row + interleaved(c)]; }
  return x[row + p.x_at + c];
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let c = id.x;
  let t = id.y;
  if (c >= p.n) { return; }
  var sum = 0.0;
  if (p.bias_at != kAbsent) { sum = vector_at(p.bias_at + c); }
  for (var k = 0u; k < p.length; k++) { sum += vector_at(p.weight_at + c * p.length + k) * input(t + k, c); }
  if (has(kGatedInput)) { y[t * p.n + c] = sum * x[t * p.x_stride + p.gate_at + c]; } else { y[t * p.n + c] = silu(sum); }
  if (t + 1u == n_tokens()) {
    for (var k = 0u; k + 1u < p.length; k++) { states[to_at() + k * p.n + c] = input(t + 1u + k, c); }
  }
}
`

export const scan = (shader: Shader): string => /* wgsl */ `${kMixParameters}
${bindings(shader, { x: 'f32', bc: 'f32', gates: 'f32', vectors: 'vec4<f32>', step: 'u32', states: 'f32', y: 'f32' })}
${runtimeFlags('scalarDecay', 'normStates')}${kVectorAt}${kSigmoid}${kSlots}
// The factor of B's or C's norm.
fn norm_factor(at: u32) -> f32 {
  if (!has(kNormStates)) { return 1.0; }
  var squares = 0.0;
  for (var i = 0u; i < p.n_state; i++) { squares += bc[at + i] * bc[at + i]; }
  return inverseSqrt(squares / f32(p.n_state) + p.eps);
}
fn normed(at: u32, i: u32, factor: f32, weight: u32) -> f32 {
  if (!has(kNormStates) || weight == kAbsent) { return bc[at + i] * factor; }
  return bc[at + i] * factor * vector_at(weight + i);
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let c = id.x;
  if (c >= p.n) { return; }
  let head = c / p.d_head;
  let own = (head / (p.n / p.d_head / p.n_groups)) * p.n_state;
  // A part of the state passes over all tokens before the next part does.
  for (var first = 0u; first < p.n_state; first += ${kScanStates}u) {
    let n = min(${kScanStates}u, p.n_state - first);
    var s: array<f32, ${kScanStates}>;
    if (!is_new()) { for (var i = 0u; i < n; i++) { s[i] = states[from_at() + (first + i) * p.n + c]; } }
    for (var t = 0u; t < n_tokens(); t++) {
      var raw = gates[t * p.gate_stride + p.dt_at + head];
      if (p.bias_at != kAbsent) { raw += vector_at(p.bias_at + head); }
      let dt = softplus(raw);
      let value = x[t * p.x_stride + p.x_at + c];
      let b = t * p.bc_stride + p.b_at + own;
      let q = t * p.bc_stride + p.c_at + own;
      let b_factor = norm_factor(b) * dt * value;
      let c_factor = norm_factor(q);
      var sum = 0.0;
      for (var i = 0u; i < n; i++) {
        var a = p.a_at + head;
        if (!has(kScalarDecay)) { a = p.a_at + c * p.n_state + first + i; }
        s[i] = s[i] * exp(dt * vector_at(a)) + normed(b, first + i, b_factor, p.b_norm);
        sum += s[i] * normed(q, first + i, c_factor, p.c_norm);
      }
      let to = t * p.n + c;
      if (first > 0u) { sum += y[to]; }
      if (first + n == p.n_state) { sum = (sum + vector_at(p.d_at + head) * value) * silu(gates[t * p.gate_stride + p.gate_at + c]); }
      y[to] = sum;
    }
    for (var i = 0u; i < n; i++) { states[to_at() + (first + i) * p.n + c] = s[i]; }
  }
}
`

export function deltaRule(shader: Shader): string {
  const { dK, dV } = shader.variant
  const teams = Math.ceil(dV / 64)
  // A lane has a column of the state: all keys of one value.
  return /* wgsl */ `${header(shader)}${kMixParameters}
${bindings(shader, { x: 'f32', gates: 'f32', vectors: 'vec4<f32>', step: 'u32', states: 'f32', y: 'f32' })}
${runtimeFlags('interleaved', 'neighbours')}${kVectorAt}${kSigmoid}${kSlots}${total(shader, teams)}
var<workgroup> q: array<f32, ${dK}>;
var<workgroup> k: array<f32, ${dK}>;
@compute @workgroup_size(${64 * teams})
fn main(@builtin(workgroup_id) group: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let head = group.x;
  let repeat = p.n / p.n_groups;
  let shared_head = head / repeat;
  let key_head = select(head % p.n_groups, shared_head, has(kNeighbours));
  let own = select(head, shared_head * 2u * repeat + head % repeat, has(kNeighbours));
  let z = select(p.gate_at + head * ${dV}u, (2u * shared_head + 1u) * (p.n_state + p.d_head) + p.n_state + (head % repeat) * ${dV}u, has(kInterleaved));
  let value = min(lane, ${dV - 1}u);
  let place = head * ${dK * dV}u + value;
  var s: array<f32, ${dK}>;
  if (!is_new()) { for (var i = 0u; i < ${dK}u; i++) { s[i] = states[from_at() + place + i * ${dV}u]; } }
  for (var t = 0u; t < n_tokens(); t++) {
    let row = t * p.x_stride;
    var squares = vec4<f32>(0.0);
    for (var i = lane; i < ${dK}u; i += kLanes) {
      q[i] = x[row + key_head * ${dK}u + i];
      k[i] = x[row + (p.n_groups + key_head) * ${dK}u + i];
      squares += vec4<f32>(q[i] * q[i], k[i] * k[i], 0.0, 0.0);
    }
    let factors = inverseSqrt(total(squares, lane) + p.eps);
    let gate = t * p.gate_stride;
    let decay = exp(softplus(gates[gate + p.dt_at + own] + vector_at(p.bias_at + head)) * vector_at(p.a_at + head));
    var seen = 0.0;
    for (var i = 0u; i < ${dK}u; i++) { seen += s[i] * k[i]; }
    let v = x[row + 2u * p.n_groups * ${dK}u + head * ${dV}u + value];
    let change = sigmoid(gates[gate + p.b_at + own]) * (v - seen * decay * factors.y) * factors.y;
    var o = 0.0;
    for (var i = 0u; i < ${dK}u; i++) {
      s[i] = s[i] * decay + k[i] * change;
      o += s[i] * q[i];
    }
    o *= factors.x * ${1 / Math.sqrt(dK)};
    let sum = total(vec4<f32>(select(0.0, o * o, lane < ${dV}u)), lane).x;
    if (lane < ${dV}u) {
      var normed = o * inverseSqrt(sum / ${dV}.0 + p.eps);
      if (p.weight_at != kAbsent) { normed *= vector_at(p.weight_at + lane); }
      y[(t * p.n + head) * ${dV}u + lane] = normed * silu(gates[gate + z + lane]);
    }
  }
  if (lane < ${dV}u) { for (var i = 0u; i < ${dK}u; i++) { states[to_at() + place + i * ${dV}u] = s[i]; } }
}
`
}

export const shift = (shader: Shader): string => /* wgsl */ `${kMixParameters}
${bindings(shader, {
  x: 'f32',
  more: shader.has('moreShare') ? 'f32' : undefined,
  vectors: 'vec4<f32>',
  step: 'u32',
  states: 'f32',
  y: 'f32',
})}
${runtimeFlags('ownShare')}${kVectorAt}${kSigmoid}${kSlots}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let c = id.x;
  let t = id.y;
  if (c >= p.n) { return; }
  let own = x[t * p.n + c];
  var before = 0.0;
  if (t > 0u) { before = x[(t - 1u) * p.n + c]; } else if (!is_new()) { before = states[from_at() + c]; }
  for (var i = 0u; i < p.n_groups; i++) {
    let to = (t * p.n_groups + i) * p.n + c;
    var share = vector_at(p.weight_at + i * p.n + c)${shader.when('moreShare', ' + more[to]')};
    if (has(kOwnShare)) { share = 1.0 - share; }
    y[to] = own + (before - own) * share;
  }
  if (t + 1u == n_tokens()) { states[to_at() + c] = own; }
}
`

/** What version 7 does besides. */
const removalOf = (dK: number) => ({
  variables: `
var<workgroup> q: array<f32, ${dK}>;
var<workgroup> rates: array<f32, ${dK}>;`,
  inputs: /* wgsl */ `
    let rate = x[row + 5u * width + own];
    let raw = key * vector_at(p.b_at + own);
    key += (rate - 1.0) * key * vector_at(p.a_at + own);
    if (has(kFirstValues)) { if (inside) { first[t * width + own] = value; } }
    else { value += (first[t * width + own] - value) * x[row + 6u * width + own]; }
    let keep = exp(-0.606531 * x[row + 3u * width + own]);`,
  parts: 'raw * raw',
  store: /* wgsl */ `
      q[lane] = raw * inverseSqrt(sums_of.y + 1e-12);
      rates[lane] = rate;`,
  sum: /* wgsl */ `
    var removed = 0.0;
    for (var i = 0u; i < ${dK}u; i++) { removed += s[i] * q[i]; }`,
  term: ' - q[i] * rates[i] * removed',
})

/** What is kept of the state, before version 7. */
const keepOf = (dK: number): string => /* wgsl */ `let keep = exp(-exp(x[row + 3u * width + own]));
    if (has(kScaledKeys)) {
      key -= key * keep;
      read *= ${1 / Math.sqrt(dK)};
    }`

/** The norm of what a head read. */
const headNorm = (dK: number): string => /* wgsl */ `if (p.weight_at != kAbsent) {
      let mean = total(vec4<f32>(select(0.0, o, inside)), lane).x / ${dK}.0;
      let d = o - mean;
      let square = total(vec4<f32>(select(0.0, d * d, inside)), lane).x / ${dK}.0;
      o = d * inverseSqrt(square + p.eps) * vector_at(p.weight_at + own);
      if (p.bias_at != kAbsent) { o += vector_at(p.bias_at + own); }
    }`

export function wkv(shader: Shader): string {
  const { dK } = shader.variant
  const teams = Math.ceil(dK / 64)
  const removes = shader.has('removes')
  const removal = removalOf(dK)
  // A lane has a column of the state: all keys of one value.
  return /* wgsl */ `${header(shader)}${kMixParameters}
${bindings(shader, { x: 'f32', vectors: 'vec4<f32>', step: 'u32', states: 'f32', first: removes ? 'f32' : undefined, y: 'f32' })}
${runtimeFlags('scaledKeys', 'firstValues', 'gated')}${kVectorAt}${kSigmoid}${kSlots}${total(shader, teams)}
var<workgroup> r: array<f32, ${dK}>;
var<workgroup> k: array<f32, ${dK}>;
var<workgroup> keeps: array<f32, ${dK}>;${removes ? removal.variables : ''}
@compute @workgroup_size(${64 * teams})
fn main(@builtin(workgroup_id) group: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let width = p.n * ${dK}u;
  let inside = lane < ${dK}u;
  let c = min(lane, ${dK - 1}u);
  let own = group.x * ${dK}u + c;
  let key_at = width + group.x / (p.n / p.n_groups) * ${dK}u + c;
  let place = group.x * ${dK * dK}u + c;
  var s: array<f32, ${dK}>;
  if (!is_new()) { for (var i = 0u; i < ${dK}u; i++) { s[i] = states[from_at() + place + i * ${dK}u]; } }
  for (var t = 0u; t < n_tokens(); t++) {
    let row = t * p.x_stride;
    var read = x[row + own];
    var key = x[row + key_at];
    var value = x[row + key_at + width];
    ${removes ? removal.inputs : keepOf(dK)}
    var bonus = 0.0;
    if (p.d_at != kAbsent) { bonus = read * key * vector_at(p.d_at + own); }
    let sums_of = total(select(vec4<f32>(0.0), vec4<f32>(bonus, ${removes ? removal.parts : '0.0'}, 0.0, 0.0), inside), lane);
    if (inside) {
      r[lane] = read;
      k[lane] = key;
      keeps[lane] = keep;${removes ? removal.store : ''}
    }
    workgroupBarrier();${removes ? removal.sum : ''}
    var o = 0.0;
    for (var i = 0u; i < ${dK}u; i++) {
      let next = s[i] * keeps[i] + k[i] * value${removes ? removal.term : ''};
      o += r[i] * ${removes ? 'next' : 'select(next, s[i], p.d_at != kAbsent)'};
      s[i] = next;
    }
    ${removes ? '' : 'o += sums_of.x * value;'}
    ${headNorm(dK)}
    ${removes ? 'o += sums_of.x * value;' : ''}
    if (has(kGated)) { o *= x[row + 4u * width + own]; }
    if (inside) { y[t * width + own] = o; }
    // What this token left in the workgroup's memory was read by all lanes before the next one writes: total() waits.
  }
  if (inside) { for (var i = 0u; i < ${dK}u; i++) { states[to_at() + place + i * ${dK}u] = s[i]; } }
}
`
}
