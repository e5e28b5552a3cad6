// The tiled product of matrices with many rows: 64 outputs x 32 rows a workgroup, 32 elements of both at a time, or 64 in
// integers and in binary16.
import { kTileOutputs, kTileRows } from '../layout.js'
import { activations, bindings, kRowsOf, kRowsParameters, kVectorAt } from './common.js'
import type { Shader } from './common.js'
import { ended, kProductFlags, kScaled, partOfProduct, store } from './products.js'
import { isInteger, readWeights } from './types.js'

/** How a tile is read and multiplied. */
interface Tile {
  /** elements of a row */
  readonly length: number
  /** of a workgroup */
  readonly memory: string
  /** statements that fill the tile; load(i, row) is a statement that sets `v` to vector `at` of a row */
  readonly fill: (load: (i: string, row: string) => string) => string
  /** statements that add to acc */
  readonly multiply: string
  /** of squares: sums that a thread has, and that a row has; where a thread's go, and where the i-th of a row's is */
  readonly ownSums: number
  readonly rowSums: number
  readonly ownSum: (i: string) => string
  readonly sumOf: (row: string) => string
}

// Rows of a tile have a vector more than they need, so that neighbouring threads read other banks of the workgroup's memory.
const kStride = 9
const kFloatTile: Tile = {
  length: 32,
  memory: /* wgsl */ `
var<workgroup> weight_tile: array<vec4<f32>, ${kTileOutputs * kStride}>;
var<workgroup> x_tile: array<vec4<f32>, ${kTileRows * kStride}>;`,
  fill: (load) => /* wgsl */ `
    let unit = (k >> 4u) + (lane & 1u);
    var w: Sixteen;
    if (16u * unit < p.n_in) { w = read16(m, weight_row(m, first + (lane >> 1u)), unit); }
    for (var i = 0u; i < 4u; i++) { weight_tile[(lane >> 1u) * ${kStride}u + 4u * (lane & 1u) + i] = w[i]; }
    for (var i = lane; i < ${kTileRows * 8}u; i += 128u) {
      let at = (k >> 2u) + (i & 7u);
      ${load('i >> 7u', 'first_row + (i >> 3u)')}
      x_tile[(i >> 3u) * ${kStride}u + (i & 7u)] = v;
    }`,
  multiply: /* wgsl */ `
    for (var i = 0u; i < 8u; i++) {
      let a = x_tile[r * ${kStride}u + i];
      let b = x_tile[(r + 8u) * ${kStride}u + i];
      let c = x_tile[(r + 16u) * ${kStride}u + i];
      let d = x_tile[(r + 24u) * ${kStride}u + i];
      for (var j = 0u; j < 4u; j++) {
        let w = weight_tile[(o + 16u * j) * ${kStride}u + i];
        acc[j] += vec4<f32>(dot(w, a), dot(w, b), dot(w, c), dot(w, d));
      }
    }`,
  ownSums: 2,
  rowSums: 8,
  ownSum: (i) => `x_tile[(16u * ${i} + (lane >> 3u)) * ${kStride}u + (lane & 7u)].x`,
  sumOf: (row) => `x_tile[${row} * ${kStride}u + i].x`,
}

// A row has four units of sixteen bytes, and their scales.
const kUnits = 5
const kIntegerTile: Tile = {
  length: 64,
  memory: /* wgsl */ `
var<workgroup> weight_tile: array<vec4<u32>, ${kTileOutputs * kUnits}>;
var<workgroup> weight_scales: array<vec2<f32>, ${kTileOutputs * kUnits}>;
var<workgroup> x_tile: array<vec4<u32>, ${kTileRows * kUnits}>;
var<workgroup> x_scales: array<vec2<f32>, ${kTileRows * kUnits}>;`,
  fill: (load) => /* wgsl */ `
    let own = lane & 3u;
    for (var i = lane >> 2u; i < ${kTileOutputs}u; i += 32u) {
      var w: Unit;
      if (k + 16u * own < p.n_in) { w = read16(m, weight_row(m, first + i), (k >> 4u) + own); }
      weight_tile[i * ${kUnits}u + own] = w.q;
      weight_scales[i * ${kUnits}u + own] = vec2<f32>(w.d, w.c);
    }
    var all: Sixteen;
    for (var i = 0u; i < 4u; i++) {
      let at = (k >> 2u) + 4u * own + i;
      ${load('0u', 'first_row + (lane >> 2u)')}
      all[i] = v;
    }
    let unit = unit_of(all);
    x_tile[(lane >> 2u) * ${kUnits}u + own] = unit.q;
    x_scales[(lane >> 2u) * ${kUnits}u + own] = vec2<f32>(unit.d, unit.c);`,
  multiply: /* wgsl */ `
    for (var i = 0u; i < 4u; i++) {
      let at = r * ${kUnits}u + i;
      let a = x_tile[at];
      let b = x_tile[at + ${8 * kUnits}u];
      let c = x_tile[at + ${16 * kUnits}u];
      let d = x_tile[at + ${24 * kUnits}u];
      let both = transpose(mat4x2<f32>(x_scales[at], x_scales[at + ${8 * kUnits}u],
                                       x_scales[at + ${16 * kUnits}u], x_scales[at + ${24 * kUnits}u]));
      for (var j = 0u; j < 4u; j++) {
        let w = weight_tile[(o + 16u * j) * ${kUnits}u + i];
        let scale = weight_scales[(o + 16u * j) * ${kUnits}u + i];
        let sums = vec4<i32>(dot_bytes(w, a), dot_bytes(w, b), dot_bytes(w, c), dot_bytes(w, d));
        acc[j] += scale.x * both[0] * vec4<f32>(sums) + scale.y * both[1];
      }
    }`,
  ownSums: 1,
  rowSums: 4,
  ownSum: () => `x_scales[(lane >> 2u) * ${kUnits}u + (lane & 3u)].x`,
  sumOf: (row) => `x_scales[${row} * ${kUnits}u + i].x`,
}

// Sixteen vectors of a row, and one more, as above. They are not packed in words: Firefox 159 cannot bitcast binary16 to others.
const kHalfStride = 17
// Units of sixteen have a scale, a power of two: so none overflows, and what becomes too small for binary16 is small beside the
// largest one. A sum of sixteen is added to floats.
const kHalfTile: Tile = {
  length: 64,
  memory: /* wgsl */ `
alias Halves = array<vec4<f16>, 4>;
var<workgroup> weight_tile: array<vec4<f16>, ${kTileOutputs * kHalfStride}>;
var<workgroup> weight_scales: array<f32, ${kTileOutputs * kUnits}>;
var<workgroup> x_tile: array<vec4<f16>, ${kTileRows * kHalfStride}>;
var<workgroup> x_scales: array<f32, ${kTileRows * kUnits}>;
// The power of two that the largest element has at least.
fn scale_of(v: Sixteen) -> f32 {
  let all = max(max(abs(v[0]), abs(v[1])), max(abs(v[2]), abs(v[3])));
  let top = max(max(all.x, all.y), max(all.z, all.w));
  return bitcast<f32>(max(bitcast<u32>(top) & 0x7f800000u, 0x01000000u));
}
fn weight_unit(row: u32, i: u32) -> Halves {
  let at = row * ${kHalfStride}u + 4u * i;
  return Halves(weight_tile[at], weight_tile[at + 1u], weight_tile[at + 2u], weight_tile[at + 3u]);
}
fn x_unit(row: u32, i: u32) -> Halves {
  let at = row * ${kHalfStride}u + 4u * i;
  return Halves(x_tile[at], x_tile[at + 1u], x_tile[at + 2u], x_tile[at + 3u]);
}
fn dot_halves(a: Halves, b: Halves) -> f32 {
  let four = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  let two = vec2<f32>(four.xy + four.zw);
  return two.x + two.y;
}`,
  fill: (load) => /* wgsl */ `
    let own = lane & 3u;
    for (var i = lane >> 2u; i < ${kTileOutputs}u; i += 32u) {
      var w: Sixteen;
      if (k + 16u * own < p.n_in) { w = read16(m, weight_row(m, first + i), (k >> 4u) + own); }
      let d = scale_of(w);
      for (var j = 0u; j < 4u; j++) { weight_tile[i * ${kHalfStride}u + 4u * own + j] = vec4<f16>(w[j] / d); }
      weight_scales[i * ${kUnits}u + own] = d;
    }
    var all: Sixteen;
    for (var i = 0u; i < 4u; i++) {
      let at = (k >> 2u) + 4u * own + i;
      ${load('0u', 'first_row + (lane >> 2u)')}
      all[i] = v;
    }
    let d = scale_of(all);
    for (var j = 0u; j < 4u; j++) { x_tile[(lane >> 2u) * ${kHalfStride}u + 4u * own + j] = vec4<f16>(all[j] / d); }
    x_scales[(lane >> 2u) * ${kUnits}u + own] = d;`,
  multiply: /* wgsl */ `
    for (var i = 0u; i < 4u; i++) {
      let a = x_unit(r, i);
      let b = x_unit(r + 8u, i);
      let c = x_unit(r + 16u, i);
      let d = x_unit(r + 24u, i);
      let at = r * ${kUnits}u + i;
      let scales = vec4<f32>(x_scales[at], x_scales[at + ${8 * kUnits}u], x_scales[at + ${16 * kUnits}u], x_scales[at + ${24 * kUnits}u]);
      for (var j = 0u; j < 4u; j++) {
        let w = weight_unit(o + 16u * j, i);
        let sums = vec4<f32>(dot_halves(w, a), dot_halves(w, b), dot_halves(w, c), dot_halves(w, d));
        acc[j] += weight_scales[(o + 16u * j) * ${kUnits}u + i] * scales * sums;
      }
    }`,
  ownSums: 1,
  rowSums: 4,
  ownSum: () => `x_scales[(lane >> 2u) * ${kUnits}u + (lane & 3u)]`,
  sumOf: (row) => `x_scales[${row} * ${kUnits}u + i]`,
}

// A row's RMS norm: its elements times their weights here, its products by 1 / RMS when all its squares have been seen.
const weigh = (i: string): string => /* wgsl */ `if (at < n) { squares[${i}] += dot(v, v); }
      if (p.norm_weight != kAbsent) { v *= vectors[(p.norm_weight >> 2u) + min(at, n - 1u)]; }`
const normalize = ({ ownSums, rowSums, ownSum, sumOf }: Tile): string => /* wgsl */ `workgroupBarrier();
  for (var i = 0u; i < ${ownSums}u; i++) { ${ownSum('i')} = squares[i]; }
  workgroupBarrier();
  var factors: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    var sum = 0.0;
    for (var i = 0u; i < ${rowSums}u; i++) { sum += ${sumOf('(r + 8u * k)')}; }
    factors[k] = inverseSqrt(sum / f32(p.n_in) + p.eps);
  }
  for (var j = 0u; j < 4u; j++) { acc[j] *= factors; }`

function tiledProduct(shader: Shader, tile: Tile): string {
  const load = (
    i: string,
    row: string,
  ): string => /* wgsl */ `var v = x[(${row}) * (p.x_stride >> 2u) + (p.x_at >> 2u) + min(at, n - 1u)];
      ${shader.when('factorInput', `v *= part[(((${row}) * p.factor_stride + p.factor_at) >> 2u) + min(at, n - 1u)];`)}
      ${shader.when('norm', weigh(i))}
      v = select(vec4<f32>(0.0), ${shader.when('limits', 'clamp(v, vec4<f32>(limits.x), vec4<f32>(limits.y))', 'v')}, at < n);`
  return /* wgsl */ `${tile.memory}
fn weight_row(m: u32, r: u32) -> u32 { return min(r, p.matrices[m].n_rows - 1u) + p.matrices[m].first_row; }
// Thread (o, r) of 16 x 8 adds to outputs o + 16 j and rows r + 8 k of the tile.
fn product(m: u32, first: u32, first_row: u32, lane: u32) -> array<vec4<f32>, 4> {
  let n = p.n_in >> 2u;
  let o = lane & 15u;
  let r = lane >> 4u;
  ${shader.when('limits', 'let limits = limits_of(m);')}
  var acc: array<vec4<f32>, 4>;
  ${shader.when('norm', `var squares: array<f32, ${tile.ownSums}>;`)}
  for (var k = 0u; k < p.n_in; k += ${tile.length}u) {
    workgroupBarrier();
    ${tile.fill(load)}
    workgroupBarrier();
    ${tile.multiply}
  }
  ${shader.when('norm', normalize(tile))}
  return acc;
}
`
}

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
  const tile = isInteger(shader) ? kIntegerTile : shader.options.halves ? kHalfTile : kFloatTile
  return /* wgsl */ `${tile === kHalfTile ? 'enable f16;\n' : ''}${kRowsParameters}
${bindings(shader, {
  weights: 'vec4<u32>',
  x: 'vec4<f32>',
  vectors: 'vec4<f32>',
  step: 'u32',
  y: 'f32',
  part: partOfProduct(shader),
})}
${kProductFlags}${kVectorAt}${kRowsOf}${readWeights(shader)}
${activations(shader)}${kScaled}${shader.when('limits', kLimitsOf)}${ended(shader, shader.when('limits', kLimitOutput))}${store(shader)}
${tiledProduct(shader, tile)}
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
