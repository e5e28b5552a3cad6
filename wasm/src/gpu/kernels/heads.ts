// Queries and keys before attention: norm, factors, RoPE; and the cache of keys and values.
import { kRopeKinds } from '../layout.js'
import {
  bindings,
  header,
  kHeadsParameters,
  kStepRecord,
  kVectorAt,
  laneParameters,
  runtimeFlags,
  setLane,
  total,
} from './common.js'
import type { Shader } from './common.js'

/** Flags that the kernels of attention test when they run. */
export const kHeadFlags = /* wgsl */ `${runtimeFlags(
  'outputRows',
  'layerNorm',
  'windowed',
  'queryNorm',
  'keyNorm',
  'wholeNorm',
  'normByHead',
  'normAfterRope',
  'normValues',
  'queryScale',
  'temperature',
  'softCap',
  'alibi',
  'sinks',
  'stores',
  'headGate',
  'softplusGate',
  'gateOfHead',
)}
// Words of the step record, for full layers or windowed ones.
fn by_layer(at: u32) -> u32 { return at + select(0u, 1u, has(kWindowed)); }
fn n_splits() -> u32 { return step[by_layer(2u)]; }
fn split_cells() -> u32 { return step[by_layer(4u)]; }
fn heads_per_kv() -> u32 { return p.n_head / p.n_head_kv; }
`

/**
 * Reads and writes of the cache, which is bound as vectors: of floats, or of pairs of binary16. read_keys(i) is vector i of
 * four elements.
 */
export function cache(shader: Shader, writes: boolean): string {
  const values = shader.has('sharedValues')
    ? 'fn read_values(i: u32) -> vec4<f32> { return read_keys(i); }\n'
    : cachePart('values', shader.cacheValues === 'f16', writes)
  return cachePart('keys', shader.cacheKeys === 'f16', writes) + values
}

/** The same of keys or of values alone. */
export const cachePart = (name: 'keys' | 'values', f16: boolean, writes: boolean): string => /* wgsl */ `
fn read_${name}(i: u32) -> vec4<f32> {
  ${f16 ? `let v = ${name}[i]; return vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y));` : `return ${name}[i];`}
}
${
  writes
    ? /* wgsl */ `
fn write_${name}(i: u32, value: vec4<f32>) {
  ${
    f16
      ? `let v = clamp(value, vec4<f32>(-65504.0), vec4<f32>(65504.0));
  ${name}[i] = vec2<u32>(pack2x16float(v.xy), pack2x16float(v.zw));`
      : `${name}[i] = value;`
  }
}`
    : ''
}
`

/** The element types of the bindings `keys` and `values`. */
export const cacheElements = (shader: Shader): { keys: string; values: string | undefined } => ({
  keys: shader.cacheKeys === 'f16' ? 'vec2<u32>' : 'vec4<f32>',
  values: shader.has('sharedValues') ? undefined : shader.cacheValues === 'f16' ? 'vec2<u32>' : 'vec4<f32>',
})

/**
 * prepare_query(t, head, lane) and prepare_key(t, head, lane): leave a head in the workgroup's memory `head_values`, ready
 * for the product. Call them in uniform control flow; a barrier follows the last write.
 */
export const prepareHead = (shader: Shader): string => /* wgsl */ `
const kD = ${shader.variant.dK}u;
const kV = ${shader.variant.dV}u;
var<workgroup> head_values: array<f32, ${shader.variant.dK}>;
${kRotate}${headNorm(shader)}
fn multiply_head(factor: f32, lane: u32) {
  for (var i = lane; i < kD; i += 64u) { head_values[i] *= factor; }
  workgroupBarrier();
}
fn load_head(at: u32, lane: u32) {
  workgroupBarrier();
  for (var i = lane; i < kD; i += 64u) { head_values[i] = qkv[at + i]; }
  workgroupBarrier();
}
fn prepare_query(t: u32, head: u32, lane: u32) {
  load_head(t * p.n_qkv + p.query_at + head * p.query_stride, lane);
  if (has(kNormAfterRope)) { rotate(t, lane); }
  if (has(kQueryNorm)) {
    norm_head(t, head, p.n_head, p.query_at, p.query_stride, p.query_weight, p.query_bias, lane);
  }
  if (has(kQueryScale)) { multiply_head(vector_at(p.query_scale_at + head), lane); }
  if (!has(kNormAfterRope)) { rotate(t, lane); }
  if (has(kTemperature)) { multiply_head(bitcast<f32>(token_word(t, 8u)), lane); }
}
fn prepare_key(t: u32, head: u32, lane: u32) {
  ${shader.when('sharedValues', '', 'load_head(t * p.n_qkv + p.key_at + head * p.key_stride, lane);')}
  ${shader.when('latent', loadLow(shader))}
  if (has(kNormAfterRope)) { rotate(t, lane); }
  if (has(kKeyNorm)) { norm_head(t, head, p.n_head_kv, p.key_at, p.key_stride, p.key_weight, p.key_bias, lane); }
  if (!has(kNormAfterRope)) { rotate(t, lane); }
}
`

/** RoPE of pairs (2 i, 2 i + 1), (i, i + n_rot / 2), or by quarters: RopeKind of core/nn/rope.hpp. */
const kRotate = /* wgsl */ `
fn rotate(t: u32, lane: u32) {
  if (p.rope == ${kRopeKinds.indexOf('none')}u) { return; }
  let angles = step[by_layer(8u)] + t * 2u * step[by_layer(10u)];
  let n = p.n_rot >> 1u;
  for (var i = lane; i < n; i += 64u) {
    let c = bitcast<f32>(step[angles + 2u * i]);
    let s = bitcast<f32>(step[angles + 2u * i + 1u]);
    var first = p.rot_at + i;
    var second = first + n;
    if (p.rope == ${kRopeKinds.indexOf('adjacent')}u) {
      first += i;
      second = first + 1u;
    } else if (p.rope == ${kRopeKinds.indexOf('quarters')}u) {
      first += select(0u, n >> 1u, i >= (n >> 1u));
      second = first + (n >> 1u);
    }
    let a = head_values[first];
    let b = head_values[second];
    head_values[first] = a * c - b * s;
    head_values[second] = a * s + b * c;
  }
  workgroupBarrier();
}
`

/** Elements of a key that `low` has, for all heads: those that RoPE rotates, or all. */
const loadLow = (shader: Shader): string => /* wgsl */ `workgroupBarrier();
  for (var i = ${shader.when('sharedValues', '', 'p.rot_at + ')}lane; i < kD; i += 64u) { head_values[i] = low[t * p.low_stride + p.low_at + i]; }
  workgroupBarrier();`

/** The norm of a head: over the head (of latent keys: without what is rotated), or over all heads of the row as the product left them. */
const headNorm = (shader: Shader): string => /* wgsl */ `
fn norm_head(t: u32, head: u32, n_heads: u32, begin: u32, stride: u32, weight: u32, bias: u32, lane: u32) {
  let whole = has(kWholeNorm);
  let n_own = ${shader.when('latent', 'p.rot_at', 'kD')};
  let n = select(n_own, n_heads * kD, whole);
  let row = t * p.n_qkv + begin;
  var mean = 0.0;
  if (has(kLayerNorm)) {
    var sum = 0.0;
    for (var i = lane; i < n; i += 64u) {
      if (whole) { sum += qkv[row + (i / kD) * stride + i % kD]; } else { sum += head_values[i]; }
    }
    mean = total(vec4<f32>(sum), lane).x / f32(n);
  }
  var squares = 0.0;
  for (var i = lane; i < n; i += 64u) {
    var v = -mean;
    if (whole) { v += qkv[row + (i / kD) * stride + i % kD]; } else { v += head_values[i]; }
    squares += v * v;
  }
  let factor = inverseSqrt(total(vec4<f32>(squares), lane).x / f32(n) + p.head_eps);
  let own = select(0u, head * kD, whole || has(kNormByHead));
  for (var i = lane; i < n_own; i += 64u) {
    var y = (head_values[i] - mean) * factor;
    if (weight != kAbsent) { y *= vector_at(weight + own + i); }
    if (bias != kAbsent) { y += vector_at(bias + own + i); }
    head_values[i] = y;
  }
  workgroupBarrier();
}
`

/** store_cell(t, head, lane): prepares and stores key and value of a token; uniform control flow. */
export const storeCell = (shader: Shader): string => /* wgsl */ `
fn store_cell(t: u32, head: u32, lane: u32) {
  prepare_key(t, head, lane);
  let cell = head * p.n_cells + token_word(t, by_layer(2u));
  let n_key = kD >> 2u;
  for (var i = lane; i < n_key; i += 64u) {
    write_keys(cell * n_key + i, vec4<f32>(head_values[4u * i], head_values[4u * i + 1u], head_values[4u * i + 2u], head_values[4u * i + 3u]));
  }
  ${shader.when('sharedValues', '', kStoreValue)}
}
`

const kStoreValue = /* wgsl */ `let n_value = kV >> 2u;
  let first = t * p.n_qkv + p.value_at + head * p.value_stride;
  var factor = 1.0;
  if (has(kNormValues)) {
    var one = 0.0;
    for (var i = lane; i < kV; i += 64u) { one += qkv[first + i] * qkv[first + i]; }
    factor = inverseSqrt(total(vec4<f32>(one), lane).x / f32(kV) + p.eps);
  }
  for (var i = lane; i < n_value; i += 64u) {
    let at = first + 4u * i;
    write_values(cell * n_value + i, factor * vec4<f32>(qkv[at], qkv[at + 1u], qkv[at + 2u], qkv[at + 3u]));
  }`

export const prepareHeads = (shader: Shader): string => /* wgsl */ `${header(shader)}${kHeadsParameters}
${bindings(shader, { qkv: 'f32', vectors: 'vec4<f32>', step: 'u32', ...cacheElements(shader), queries: 'f32', low: shader.has('latent') ? 'f32' : undefined })}
${kHeadFlags}${kVectorAt}${kStepRecord}${total(shader)}${cache(shader, true)}${prepareHead(shader)}${storeCell(shader)}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let head = group.x;
  let t = group.y;
  if (head < p.n_head) {
    prepare_query(t, head, lane);
    let to = (t * p.n_head + head) * kD;
    for (var i = lane; i < kD; i += 64u) { queries[to + i] = head_values[i]; }
  } else if (has(kStores)) {
    store_cell(t, head - p.n_head, lane);
  }
}
`
