// Kernels with a workgroup for each row: embed, norm_rows, argmax.
import {
  bindings,
  header,
  kRowsOf,
  kRowsParameters,
  kStepRecord,
  kVectorAt,
  laneParameters,
  runtimeFlags,
  setLane,
  total,
} from './common.js'
import type { Shader } from './common.js'
import { prologue } from './prologue.js'
import { readWeights } from './types.js'

export function embed(shader: Shader): string {
  const layer = shader.has('layerNorm')
  // Elements behind the end of a row are not counted: a mean is subtracted from those that exist.
  const sum = (element: string): string => /* wgsl */ `
  one = 0.0;
  for (var u = lane; u < n_units; u += 64u) {
    let value = embedded(t, row, u);
    for (var k = 0u; k < 4u && 4u * u + k < n; k++) { ${element} }
  }
  `
  return /* wgsl */ `${header(shader)}${kRowsParameters}
${bindings(shader, { weights: 'vec4<u32>', vectors: 'vec4<f32>', step: 'u32', chosen: 'u32', x: 'vec4<f32>' })}
${kVectorAt}${kStepRecord}${readWeights(shader)}${shader.has('norm') ? total(shader) : ''}
fn embedded(t: u32, row: u32, u: u32) -> Sixteen {
  var v = scaled4(p.out_factor, read16(0u, row + p.matrices[0].first_row, u), 0.0);
  ${shader.when('tokenType', 'for (var k = 0u; k < 4u && 16u * u + 4u * k < p.n_in; k++) { v[k] += vectors[(p.token_type_at >> 2u) + 4u * u + k]; }')}
  ${shader.when('positions', 'let o = read16(1u, token_word(t, 1u) + p.matrices[1].first_row, u); for (var k = 0u; k < 4u; k++) { v[k] += o[k]; }')}
  return v;
}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, ${laneParameters(shader)}) {
  ${shader.has('norm') ? setLane(shader) : ''}
  let t = group.x;
  let n = p.n_in >> 2u;
  let n_units = (p.n_in + 15u) >> 4u;
  var id = token_word(t, 0u);
  if ((id & 0x80000000u) != 0u) { id = chosen[id & 0xffffu]; }
  let row = id - p.first_id;
  // Unsigned: also true for an id before the first.
  if (row >= p.matrices[0].n_rows) { return; }
  ${shader.when(
    'norm',
    /* wgsl */ `var one = 0.0;
  var mean = 0.0;
  ${layer ? `${sum('one += dot(value[k], vec4<f32>(1.0));')} mean = total(vec4<f32>(one), lane).x / f32(p.n_in);` : ''}
  ${sum(`let d = value[k] - mean; one += dot(d, d);`)}
  let factor = inverseSqrt(total(vec4<f32>(one), lane).x / f32(p.n_in) + p.eps);`,
  )}
  for (var u = lane; u < n_units; u += 64u) {
    let value = embedded(t, row, u);
    for (var k = 0u; k < 4u && 4u * u + k < n; k++) {
      var v = value[k];
      ${shader.when(
        'norm',
        /* wgsl */ `v = (v - mean) * factor;
      if (p.norm_weight != kAbsent) { v *= vectors[(p.norm_weight >> 2u) + 4u * u + k]; }
      if (p.norm_bias != kAbsent) { v += vectors[(p.norm_bias >> 2u) + 4u * u + k]; }`,
      )}
      x[t * n + 4u * u + k] = v;
    }
  }
}
`
}

export function normRows(shader: Shader): string {
  const sums = shader.has('sum')
  return /* wgsl */ `${header(shader)}${kRowsParameters}
${bindings(shader, {
  x: 'vec4<f32>',
  part: sums ? 'vec4<f32>' : undefined,
  vectors: 'vec4<f32>',
  step: 'u32',
  y: 'vec4<f32>',
  sum: sums ? 'vec4<f32>' : undefined,
})}
${runtimeFlags('outputRows', 'fromTokens', 'scaleSum')}${kVectorAt}${kRowsOf}
var<private> row: u32;
fn row_at(c: u32) -> u32 { return select(row, token(row), has(kFromTokens)) * (p.x_stride >> 2u) + (p.x_at >> 2u); }
${total(shader)}${prologue(shader, 1, ' + (row % p.n_matrices) * (p.n_in >> 2u)')}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  row = group.x;
  let n = p.n_in >> 2u;
  prologue(lane);
  for (var i = lane; i < n; i += 64u) {
    ${sums ? 'sum[row_at(0u) + i] = summed(0u, i);' : ''}
    y[row * n + i] = v4(0u, i);
  }
}
`
}

export const argmax = (shader: Shader): string => /* wgsl */ `${kRowsParameters}
${bindings(shader, { logits: 'f32', chosen: 'u32' })}
var<workgroup> values: array<f32, 256>;
var<workgroup> indices: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = group.x * p.n_out;
  var best = -3.4e38;
  var index = 0xffffffffu;
  for (var i = lane; i < p.n_out; i += 256u) {
    let v = logits[first + i];
    if (v > best) { best = v; index = i; }
  }
  values[lane] = best;
  indices[lane] = index;
  workgroupBarrier();
  for (var n = 128u; n > 0u; n >>= 1u) {
    if (lane < n) {
      let v = values[lane + n];
      let i = indices[lane + n];
      // The first index of equal values.
      if (v > values[lane] || (v == values[lane] && i < indices[lane])) { values[lane] = v; indices[lane] = i; }
    }
    workgroupBarrier();
  }
  if (lane == 0u) { chosen[group.x] = indices[0]; }
}
`
