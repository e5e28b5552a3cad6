// Queries and keys before attention: norm, factors, RoPE; and the cache of keys and values.
import {
  header,
  kHeadsParameters,
  kStepRecord,
  kVectorAt,
  laneParameters,
  setLane,
  total,
  bindings,
} from './common.js'
import type { Shader } from './common.js'

/** 0: full layers, 1: windowed ones; words of the step record. */
export const which = (shader: Shader): number => (shader.has('windowed') ? 1 : 0)

/**
 * Reads and writes of the cache, which is bound as vectors: of floats, or of pairs of binary16. read_keys(i) is vector i of
 * four elements.
 */
export function cache(shader: Shader, writes: boolean): string {
  const one = (name: 'keys' | 'values', f16: boolean): string => /* wgsl */ `
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
  return one('keys', shader.cacheKeys === 'f16') + one('values', shader.cacheValues === 'f16')
}

/** The element types of the bindings `keys` and `values`. */
export const cacheElements = (shader: Shader): { keys: string; values: string } => ({
  keys: shader.cacheKeys === 'f16' ? 'vec2<u32>' : 'vec4<f32>',
  values: shader.cacheValues === 'f16' ? 'vec2<u32>' : 'vec4<f32>',
})

/**
 * prepare_query(t, head, lane) and prepare_key(t, head, lane): leave a head in the workgroup's memory `head_values`, ready
 * for the product. Call them in uniform control flow; a barrier follows the last write.
 */
export function prepareHead(shader: Shader): string {
  const text = (
    name: 'query' | 'key',
    place: string,
    nHeads: string,
    stride: string,
    begin: string,
  ): string => {
    const isKey = name === 'key'
    const normed = shader.has(isKey ? 'keyNorm' : 'queryNorm')
    const rotates = shader.rope !== 'none'
    const steps = {
      norm: normed ? norm(shader, name, nHeads, stride, begin) : '',
      scale:
        !isKey && shader.has('queryScale')
          ? `let factor = vector_at(p.query_scale_at + head);
  for (var i = lane; i < kD; i += 64u) { head_values[i] *= factor; }
  workgroupBarrier();`
          : '',
      rope: rotates ? 'rotate(t, lane);' : '',
      temperature:
        !isKey && shader.has('temperature')
          ? `let warmth = bitcast<f32>(token_word(t, 8u));
  for (var i = lane; i < kD; i += 64u) { head_values[i] *= warmth; }
  workgroupBarrier();`
          : '',
    }
    const order = shader.has('normAfterRope')
      ? [steps.rope, steps.norm, steps.scale, steps.temperature]
      : [steps.norm, steps.scale, steps.rope, steps.temperature]
    return /* wgsl */ `
fn prepare_${name}(t: u32, head: u32, lane: u32) {
  let at = t * p.n_qkv + ${place};
  workgroupBarrier();
  for (var i = lane; i < kD; i += 64u) { head_values[i] = qkv[at + i]; }
  workgroupBarrier();
  ${order.filter((step) => step !== '').join('\n  ')}
}
`
  }
  return /* wgsl */ `
const kD = ${shader.variant.dK}u;
var<workgroup> head_values: array<f32, ${shader.variant.dK}>;
${shader.rope !== 'none' ? rotation(shader) : ''}
${text('query', 'p.query_at + head * p.query_stride', 'p.n_head', 'p.query_stride', 'p.query_at')}
${shader.has('stores') ? text('key', 'p.key_at + head * kD', 'p.n_head_kv', 'kD', 'p.key_at') : ''}
`
}

function rotation(shader: Shader): string {
  const [a, b] = shader.rope === 'adjacent' ? ['2u * i', '2u * i + 1u'] : ['i', 'i + (p.n_rot >> 1u)']
  const index = which(shader)
  return /* wgsl */ `
fn rotate(t: u32, lane: u32) {
  let angles = step[${8 + index}] + t * 2u * step[${10 + index}];
  for (var i = lane; i < (p.n_rot >> 1u); i += 64u) {
    let c = bitcast<f32>(step[angles + 2u * i]);
    let s = bitcast<f32>(step[angles + 2u * i + 1u]);
    let a = head_values[${a}];
    let b = head_values[${b}];
    head_values[${a}] = a * c - b * s;
    head_values[${b}] = a * s + b * c;
  }
  workgroupBarrier();
}
`
}

/** The norm of a head: over the head, or over all heads of the row as the product left them. */
function norm(shader: Shader, name: 'query' | 'key', nHeads: string, stride: string, begin: string): string {
  const layer = shader.has('layerNorm')
  const whole = shader.has('wholeNorm')
  const loop = (text: string): string =>
    whole
      ? `for (var i = lane; i < ${nHeads} * kD; i += 64u) { let v = qkv[t * p.n_qkv + ${begin} + (i / kD) * ${stride} + i % kD]; ${text} }`
      : `for (var i = lane; i < kD; i += 64u) { let v = head_values[i]; ${text} }`
  const n = whole ? `f32(${nHeads} * kD)` : 'f32(kD)'
  const own = whole || shader.has('normByHead') ? 'head * kD + i' : 'i'
  return /* wgsl */ `{
    var one = 0.0;
    var mean = 0.0;
    ${layer ? `${loop('one += v;')} mean = total(vec4<f32>(one), lane).x / ${n}; one = 0.0;` : ''}
    ${loop('one += (v - mean) * (v - mean);')}
    let factor = inverseSqrt(total(vec4<f32>(one), lane).x / ${n} + p.head_eps);
    for (var i = lane; i < kD; i += 64u) {
      var y = (head_values[i] - mean) * factor;
      if (p.${name}_weight != kAbsent) { y *= vector_at(p.${name}_weight + ${own}); }
      if (p.${name}_bias != kAbsent) { y += vector_at(p.${name}_bias + ${own}); }
      head_values[i] = y;
    }
    workgroupBarrier();
  }`
}

/** store_cell(t, head, lane): prepares and stores key and value of a token; uniform control flow. */
export function storeCell(shader: Shader): string {
  const { dK, dV } = shader.variant
  const unit = 'inverseSqrt(total(vec4<f32>(one), lane).x / f32(kV) + p.eps)'
  return /* wgsl */ `
const kV = ${dV}u;
fn store_cell(t: u32, head: u32, lane: u32) {
  prepare_key(t, head, lane);
  let cell = token_word(t, ${2 + which(shader)}u);
  let key_at = (head * p.n_cells + cell) * ${dK / 4}u;
  let value_at = (head * p.n_cells + cell) * ${dV / 4}u;
  for (var i = lane; i < ${dK / 4}u; i += 64u) {
    write_keys(key_at + i, vec4<f32>(head_values[4u * i], head_values[4u * i + 1u], head_values[4u * i + 2u], head_values[4u * i + 3u]));
  }
  let first = t * p.n_qkv + p.value_at + head * kV;
  ${
    shader.has('normValues')
      ? `var one = 0.0;
  for (var i = lane; i < kV; i += 64u) { one += qkv[first + i] * qkv[first + i]; }
  let factor = ${unit};`
      : 'let factor = 1.0;'
  }
  for (var i = lane; i < ${dV / 4}u; i += 64u) {
    let at = first + 4u * i;
    write_values(value_at + i, factor * vec4<f32>(qkv[at], qkv[at + 1u], qkv[at + 2u], qkv[at + 3u]));
  }
}
`
}

/** Whether the heads' preparation reduces over the workgroup. */
export const reduces = (shader: Shader): boolean =>
  shader.has('queryNorm') || shader.has('keyNorm') || shader.has('normValues')

export function prepareHeads(shader: Shader): string {
  const stores = shader.has('stores')
  return /* wgsl */ `${reduces(shader) ? header(shader) : ''}${kHeadsParameters}
${bindings(shader, {
  qkv: 'f32',
  vectors: 'vec4<f32>',
  step: 'u32',
  ...(stores ? cacheElements(shader) : {}),
  queries: 'f32',
})}
${kVectorAt}${kStepRecord}${reduces(shader) ? total(shader) : ''}
${stores ? cache(shader, true) : ''}${prepareHead(shader)}${stores ? storeCell(shader) : ''}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, ${reduces(shader) ? laneParameters(shader) : '@builtin(local_invocation_index) lane: u32'}) {
  ${reduces(shader) ? setLane(shader) : ''}
  let head = group.x;
  let t = group.y;
  if (head < p.n_head) {
    prepare_query(t, head, lane);
    let to = (t * p.n_head + head) * kD;
    for (var i = lane; i < kD; i += 64u) { queries[to + i] = head_values[i]; }
  }
  ${stores ? 'if (head >= p.n_head) { store_cell(t, head - p.n_head, lane); }' : ''}
}
`
}
