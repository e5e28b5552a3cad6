// The tiled product of matrices with many rows: 64 outputs x 32 rows a workgroup, 32 elements of both at a time.
import { kTileOutputs, kTileRows } from '../layout.js'
import { activations, bindings, kRowsOf, kRowsParameters, kVectorAt } from './common.js'
import type { Shader } from './common.js'
import { ended, kProductFlags, kScaled, partOfProduct, store } from './products.js'
import { readWeights } from './types.js'

// Rows of a tile have 8 vectors and one more, so that neighbouring threads read other banks of the workgroup's memory.
const kStride = 9

// A row's RMS norm: its elements times their weights here, its products by 1 / RMS when all its squares have been seen.
const kWeigh = /* wgsl */ `if (at < n) { squares[i >> 7u] += dot(v, v); }
      if (p.norm_weight != kAbsent) { v *= vectors[(p.norm_weight >> 2u) + min(at, n - 1u)]; }`
const kNormalize = /* wgsl */ `workgroupBarrier();
  for (var i = 0u; i < 2u; i++) { x_tile[(16u * i + (lane >> 3u)) * ${kStride}u + (lane & 7u)].x = squares[i]; }
  workgroupBarrier();
  var factors: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { sum += x_tile[(r + 8u * k) * ${kStride}u + i].x; }
    factors[k] = inverseSqrt(sum / f32(p.n_in) + p.eps);
  }
  for (var j = 0u; j < 4u; j++) { acc[j] *= factors; }`

const tiledProduct = (shader: Shader): string => /* wgsl */ `
var<workgroup> weight_tile: array<vec4<f32>, ${kTileOutputs * kStride}>;
var<workgroup> x_tile: array<vec4<f32>, ${kTileRows * kStride}>;
// Thread (o, r) of 16 x 8 adds to outputs o + 16 j and rows r + 8 k of the tile.
fn product(m: u32, first: u32, first_row: u32, lane: u32) -> array<vec4<f32>, 4> {
  let n = p.n_in >> 2u;
  let o = lane & 15u;
  let r = lane >> 4u;
  ${shader.when('limits', 'let limits = limits_of(m);')}
  let loads = min(first + (lane >> 1u), p.matrices[m].n_rows - 1u) + p.matrices[m].first_row;
  var acc: array<vec4<f32>, 4>;
  ${shader.when('norm', 'var squares: array<f32, 2>;')}
  for (var k = 0u; k < p.n_in; k += 32u) {
    workgroupBarrier();
    let unit = (k >> 4u) + (lane & 1u);
    if (16u * unit < p.n_in) {
      let w = read16(m, loads, unit);
      for (var i = 0u; i < 4u; i++) { weight_tile[(lane >> 1u) * ${kStride}u + 4u * (lane & 1u) + i] = w[i]; }
    } else {
      for (var i = 0u; i < 4u; i++) { weight_tile[(lane >> 1u) * ${kStride}u + 4u * (lane & 1u) + i] = vec4<f32>(0.0); }
    }
    for (var i = lane; i < ${kTileRows * 8}u; i += 128u) {
      let at = (k >> 2u) + (i & 7u);
      var v = x[(first_row + (i >> 3u)) * (p.x_stride >> 2u) + (p.x_at >> 2u) + min(at, n - 1u)];
      ${shader.when('factorInput', 'v *= part[(((first_row + (i >> 3u)) * p.factor_stride + p.factor_at) >> 2u) + min(at, n - 1u)];')}
      ${shader.when('norm', kWeigh)}
      x_tile[(i >> 3u) * ${kStride}u + (i & 7u)] = select(vec4<f32>(0.0), ${shader.when('limits', 'clamp(v, vec4<f32>(limits.x), vec4<f32>(limits.y))', 'v')}, at < n);
    }
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) {
      let a = x_tile[r * ${kStride}u + i];
      let b = x_tile[(r + 8u) * ${kStride}u + i];
      let c = x_tile[(r + 16u) * ${kStride}u + i];
      let d = x_tile[(r + 24u) * ${kStride}u + i];
      for (var j = 0u; j < 4u; j++) {
        let w = weight_tile[(o + 16u * j) * ${kStride}u + i];
        acc[j] += vec4<f32>(dot(w, a), dot(w, b), dot(w, c), dot(w, d));
      }
    }
  }
  ${shader.when('norm', kNormalize)}
  return acc;
}
`

/** limits_of(m): of the inputs of a matrix and of its outputs. */
const kLimitsOf = /* wgsl */ `
fn limits_of(m: u32) -> vec4<f32> {
  let at = p.matrices[m].limits_at;
  if (at == kAbsent) { return vec4<f32>(-3.4028234e38, 3.4028234e38, -3.4028234e38, 3.4028234e38); }
  return vec4<f32>(vector_at(at), vector_at(at + 1u), vector_at(at + 2u), vector_at(at + 3u));
}
`
const kLimitOutput = 'let limits = limits_of(m); y = clamp(y, limits.z, limits.w);'

export function matMul(shader: Shader): string {
  const gates = shader.epilogue === 'gate'
  return /* wgsl */ `${kRowsParameters}
${bindings(shader, {
  weights: 'vec4<u32>',
  x: 'vec4<f32>',
  vectors: 'vec4<f32>',
  step: 'u32',
  y: 'f32',
  part: partOfProduct(shader),
})}
${kProductFlags}${kVectorAt}${kRowsOf}${readWeights(shader.variant.types)}
${activations(shader)}${kScaled}${shader.when('limits', kLimitsOf)}${ended(shader, shader.when('limits', kLimitOutput))}${store(shader)}
${tiledProduct(shader)}
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  var m = 0u;
  ${gates ? '' : 'for (var i = 1u; i < p.n_matrices; i++) { if (id.x >= p.matrices[i].first_group) { m = i; } }'}
  let first = (id.x - p.matrices[m].first_group) * ${kTileOutputs}u;
  let first_row = id.y * ${kTileRows}u;
  let d = product(m, first, first_row, lane);
  ${gates ? 'let up = product(1u, first, first_row, lane);' : ''}
  for (var j = 0u; j < 4u; j++) {
    let r = first + (lane & 15u) + 16u * j;
    if (r >= p.matrices[m].n_rows) { continue; }
    for (var k = 0u; k < 4u; k++) {
      let row = first_row + (lane >> 4u) + 8u * k;
      if (row < n_rows()) { place(m, r, row, d[j][k], ${gates ? 'up[j][k]' : '0.0'}); }
    }
  }
}
`
}
