// Products of matrices with few rows at once: mat_vec, and the experts' products of one row each.
import { kMatVecRows } from '../layout.js'
import {
  activations,
  bindings,
  header,
  kRowsOf,
  kRowsParameters,
  kVectorAt,
  laneParameters,
  runtimeFlags,
  setLane,
  total,
} from './common.js'
import type { Shader } from './common.js'
import { prologue } from './prologue.js'
import { readWeights } from './types.js'

/**
 * A workgroup has teams of 64 lanes, each with four rows: so a row of x, which all of them normalize and read, comes from the
 * cache once for 16 rows of weights.
 */
const kTeams = kMatVecRows / 4

/** Flags that products test when they run. */
export const kProductFlags = runtimeFlags(
  'outputRows',
  'fromTokens',
  'toTokens',
  'biasFirst',
  'softCap',
  'clamp',
  'clampFirst',
  'divide',
  'weighInput',
  'sharedExpert',
  'scaleSum',
)

/** scaled(m, r, e, d): scale and bias of row r of matrix m (of expert e) applied to the product d. */
export const kScaled = /* wgsl */ `
fn scaled(m: u32, r: u32, e: u32, d: f32) -> f32 {
  var scale = 1.0;
  var bias = 0.0;
  if (p.matrices[m].scale_at != kAbsent) { scale = vector_at(p.matrices[m].scale_at + e); }
  if (p.matrices[m].bias_at != kAbsent) { bias = vector_at(p.matrices[m].bias_at + e * p.matrices[m].expert_rows + r); }
  if (has(kBiasFirst)) { return (d + bias) * scale; }
  return d * scale + bias;
}
`

/**
 * ended(m, r, row, d): what the epilogue makes of a product before it is stored, added or gated. limit: a statement for y
 * with bias and scale.
 */
export const ended = (shader: Shader, limit = ''): string => /* wgsl */ `
fn ended(m: u32, r: u32, row: u32, d: f32) -> f32 {
  var y = scaled(m, r, 0u, d);
  ${limit}
  y *= p.out_factor;
  if (has(kSoftCap)) { y = p.soft_cap * safe_tanh(y / p.soft_cap); }
  ${shader.when('rowFactor', 'y *= part[row * p.factor_stride + p.factor_at + p.factor_step * (p.matrices[m].out_at + r)];')}
  ${shader.epilogue === 'gate' ? '' : 'if (has(kClamp)) { y = clamp(y, -p.limit, p.limit); }'}
  return y;
}
`

/** place(): puts the value d of output r of matrix m (with a gate, `up` beside it) in row `row` of y. */
export function store(shader: Shader): string {
  const values = {
    store: `y[at] = ended(m, r, row, d);`,
    add: `y[at] += ended(m, r, row, d);`,
    gate: `y[at] = gated(ended(0u, r, row, d), ended(1u, r, row, up));`,
    activate: `y[at] = activated(ended(m, r, row, d));
  if (has(kDivide)) { y[at] /= vector_at(p.divide_at + p.matrices[m].out_at + r); }`,
  }
  return /* wgsl */ `
fn place(m: u32, r: u32, row: u32, d: f32, up: f32) {
  let at = select(row, token(row), has(kToTokens)) * p.n_out + p.matrices[m].out_at + r;
  ${values[shader.epilogue]}
}
`
}

/** The matrix to which a workgroup belongs. */
const kMatrixOf = /* wgsl */ `
fn matrix_of(group: u32) -> u32 {
  var m = 0u;
  for (var i = 1u; i < p.n_matrices; i++) {
    if (group >= p.matrices[i].first_group) { m = i; }
  }
  return m;
}
`

/** Four rows of weights: of matrix m, or with a gate two of matrices m and m + 1 each. Components of sums are these rows. */
const fourRows = (gates: boolean): string =>
  gates
    ? /* wgsl */ `
fn matrix_at(m: u32, k: u32) -> u32 { return m + (k >> 1u); }
fn row_of(m: u32, first: u32, k: u32) -> u32 { return min(first + (k & 1u), p.matrices[m].n_rows - 1u); }
`
    : /* wgsl */ `
fn matrix_at(m: u32, k: u32) -> u32 { return m; }
fn row_of(m: u32, first: u32, k: u32) -> u32 { return min(first + k, p.matrices[m].n_rows - 1u); }
`

const kX16 = /* wgsl */ `
// Elements 16u .. 16u + 15 of a column; 0 behind its end.
fn x16(c: u32, u: u32) -> Unit {
  let n = p.n_in >> 2u;
  var v: Sixteen;
  for (var k = 0u; k < 4u; k++) {
    if (4u * u + k < n) { v[k] = v4(c, 4u * u + k); }
  }
  return unit_of(v);
}
`

/** The elements of the binding `part` that has factors of outputs or of inputs. */
export const partOfProduct = (shader: Shader): string | undefined =>
  shader.has('rowFactor') ? 'f32' : shader.has('factorInput') ? 'vec4<f32>' : undefined

const kInputFactor = /* wgsl */ `
fn input_factor(c: u32, i: u32) -> vec4<f32> {
  return part[((min(c, n_rows() - 1u) * p.factor_stride + p.factor_at) >> 2u) + i];
}
`

export function matVec(shader: Shader): string {
  const { columns } = shader.options
  const gates = shader.epilogue === 'gate'
  const sums = shader.has('sum')
  const rowsPerTeam = gates ? 2 : 4
  return /* wgsl */ `${header(shader)}${kRowsParameters}
${bindings(shader, {
  weights: 'vec4<u32>',
  x: 'vec4<f32>',
  part: sums ? 'vec4<f32>' : partOfProduct(shader),
  vectors: 'vec4<f32>',
  step: 'u32',
  y: 'f32',
  sum: sums ? 'vec4<f32>' : undefined,
})}
${kProductFlags}${kVectorAt}${kRowsOf}${readWeights(shader)}
fn row_at(c: u32) -> u32 {
  let row = min(c, n_rows() - 1u);
  return select(row, token(row), has(kFromTokens)) * (p.x_stride >> 2u) + (p.x_at >> 2u);
}
${shader.when('factorInput', kInputFactor)}${total(shader, kTeams)}${prologue(shader, columns)}
${activations(shader)}${kScaled}${ended(shader)}${store(shader)}${kMatrixOf}${fourRows(gates)}
${kX16}
@compute @workgroup_size(${64 * kTeams})
fn main(@builtin(workgroup_id) id3: vec3<u32>, @builtin(num_workgroups) n_groups: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let group = id3.y * n_groups.x + id3.x;
  if (group >= p.n_groups) { return; }
  prologue(lane);
  let n_columns = min(${columns}u, n_rows());
  ${sums ? kWriteSum : ''}
  let m = ${gates ? '0u' : 'matrix_of(group)'};
  let first = ((group - p.matrices[m].first_group) * ${kTeams}u + (lane >> 6u)) * ${rowsPerTeam}u;
  let own = lane & 63u;
  let n_units = (p.n_in + 15u) >> 4u;
  var acc: array<vec4<f32>, ${columns}>;
  for (var u = own; u < n_units; u += 64u) {
    var v: array<Unit, ${columns}>;
    for (var c = 0u; c < ${columns}u; c++) { v[c] = x16(c, u); }
    for (var k = 0u; k < 4u; k++) {
      let a = matrix_at(m, k);
      let w = read16(a, p.matrices[a].first_row + row_of(m, first, k), u);
      for (var c = 0u; c < ${columns}u; c++) { acc[c][k] += dot16(w, v[c]); }
    }
  }
  for (var c = 0u; c < n_columns; c++) {
    let d = team_total(acc[c], lane);
    if (own < ${rowsPerTeam}u && first + own < p.matrices[m].n_rows) {
      place(m, first + own, c, d[own], ${gates ? 'd[own + 2u]' : '0.0'});
    }
  }
}
`
}

/** The first workgroup writes the sum, which is the residual stream from then on. */
const kWriteSum = /* wgsl */ `if (group == 0u) {
    for (var c = 0u; c < n_columns; c++) {
      for (var i = lane; i < (p.n_in >> 2u); i += kLanes) { sum[row_at(c) + i] = summed(c, i); }
    }
  }`

export function expertIn(shader: Shader): string {
  const gates = shader.epilogue === 'gate'
  const rowsPerTeam = gates ? 2 : 4
  return /* wgsl */ `${header(shader)}${kRowsParameters}
${bindings(shader, { weights: 'vec4<u32>', x: 'vec4<f32>', vectors: 'vec4<f32>', step: 'u32', choices: 'u32', y: 'f32' })}
${kProductFlags}${kVectorAt}${kRowsOf}${readWeights(shader)}
var<private> row: u32;
fn row_at(c: u32) -> u32 { return select(row, token(row), has(kFromTokens)) * (p.x_stride >> 2u) + (p.x_at >> 2u); }
${total(shader, kTeams)}${prologue(shader, 1)}
${activations(shader)}${kScaled}${fourRows(gates)}${kX16}
@compute @workgroup_size(${64 * kTeams})
fn main(@builtin(workgroup_id) id3: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let n_used = p.n_used + select(0u, 1u, has(kSharedExpert));
  row = id3.y / n_used;
  let k_used = id3.y % n_used;
  let chosen = k_used < p.n_used;
  let m = select(${gates ? 2 : 1}u, 0u, chosen);
  if (id3.x * ${kTeams * rowsPerTeam}u >= p.matrices[m].n_rows) { return; }
  let choice = row * (2u * p.n_used + 1u) + k_used;
  let expert = select(0u, choices[choice], chosen);
  prologue(lane);
  let first = (id3.x * ${kTeams}u + (lane >> 6u)) * ${rowsPerTeam}u;
  let own = lane & 63u;
  let n_units = (p.n_in + 15u) >> 4u;
  var acc = vec4<f32>(0.0);
  for (var u = own; u < n_units; u += 64u) {
    let v = x16(0u, u);
    for (var k = 0u; k < 4u; k++) {
      let a = matrix_at(m, k);
      acc[k] += dot16(read16(a, expert * p.matrices[a].expert_rows + p.matrices[a].first_row + row_of(m, first, k), u), v);
    }
  }
  let d = team_total(acc, lane) * select(1.0, bitcast<f32>(choices[choice + p.n_used]), chosen && has(kWeighInput));
  if (own < ${rowsPerTeam}u && first + own < p.matrices[m].n_rows) {
    let r = first + own;
    let one = scaled(m, r, expert, d[own]);
    y[row * p.head_out + k_used * p.n_out + r] = ${gates ? 'gated(one, scaled(m + 1u, r, expert, d[own + 2u]))' : 'activated(one)'};
  }
}
`
}

export function expertOut(shader: Shader): string {
  return /* wgsl */ `${header(shader)}${kRowsParameters}
${bindings(shader, { weights: 'vec4<u32>', x: 'vec4<f32>', vectors: 'vec4<f32>', step: 'u32', choices: 'u32', y: 'f32' })}
${kProductFlags}${kVectorAt}${kRowsOf}
fn n_in_of(m: u32) -> u32 { return select(p.head_in, p.n_in, m == 0u); }
${readWeights(shader, 'n_in_of(m)')}${total(shader, kTeams)}${kScaled}${fourRows(false)}
@compute @workgroup_size(${64 * kTeams})
fn main(@builtin(workgroup_id) id3: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let row = id3.y;
  let choice = row * (2u * p.n_used + 1u);
  let first = (id3.x * ${kTeams}u + (lane >> 6u)) * 4u;
  let own = lane & 63u;
  var sum = 0.0;
  for (var k_used = 0u; k_used < p.n_used + select(0u, 1u, has(kSharedExpert)); k_used++) {
    let chosen = k_used < p.n_used;
    let m = select(1u, 0u, chosen);
    let n = n_in_of(m) >> 2u;
    let n_units = (n_in_of(m) + 15u) >> 4u;
    let begin = (row * p.x_stride + k_used * p.n_in) >> 2u;
    let expert = select(0u, choices[choice + k_used], chosen);
    var acc = vec4<f32>(0.0);
    for (var u = own; u < n_units; u += 64u) {
      var of_x: Sixteen;
      for (var k = 0u; k < 4u; k++) { if (4u * u + k < n) { of_x[k] = x[begin + 4u * u + k]; } }
      let v = unit_of(of_x);
      for (var k = 0u; k < 4u; k++) {
        acc[k] += dot16(read16(m, expert * p.matrices[m].expert_rows + p.matrices[m].first_row + row_of(m, first, k), u), v);
      }
    }
    let d = team_total(acc, lane);
    if (own < 4u && first + own < p.matrices[0].n_rows) {
      let weight = bitcast<f32>(choices[choice + p.n_used + k_used]);
      sum += scaled(m, first + own, expert, d[own]) * select(weight, 1.0, chosen && has(kWeighInput));
    }
  }
  if (own < 4u && first + own < p.matrices[0].n_rows) {
    let at = token(row) * p.n_out + first + own;
    y[at] = sum * p.out_factor${shader.epilogue === 'add' ? ' + y[at]' : ''};
  }
}
`
}

/** Where a head's input comes from: what attend_splits left, put together, or a row of x. */
const kCombined = /* wgsl */ `let n_splits = step[2u + select(0u, 1u, has(kWindowed))];
  let first_split = (row * p.n_used + head) * n_splits * (p.n_in + 2u);
  var top = -3e38;
  for (var s = 0u; s < n_splits; s++) { top = max(top, x[first_split + s * (p.n_in + 2u) + p.n_in]); }
  var sink = -3e38;
  if (has(kSinks)) { sink = vector_at(p.sinks_at + head); top = max(top, sink); }
  var sum = exp(sink - top);
  for (var s = 0u; s < n_splits; s++) {
    let end = first_split + s * (p.n_in + 2u) + p.n_in;
    sum += exp(x[end] - top) * x[end + 1u];
  }
  for (var i = lane; i < n; i += kLanes) {
    var v = vec4<f32>(0.0);
    for (var s = 0u; s < n_splits; s++) {
      let at = first_split + s * (p.n_in + 2u);
      v += exp(x[at + p.n_in] - top) * vec4<f32>(x[at + 4u * i], x[at + 4u * i + 1u], x[at + 4u * i + 2u], x[at + 4u * i + 3u]);
    }
    input[i] = v / sum;
  }`
const kHeadOfRow = /* wgsl */ `let first_in = row * p.x_stride + p.x_at + head * p.head_in;
  for (var i = lane; i < n; i += kLanes) { input[i] = vec4<f32>(x[first_in + 4u * i], x[first_in + 4u * i + 1u], x[first_in + 4u * i + 2u], x[first_in + 4u * i + 3u]); }
  if (group == 0u) { for (var i = lane; i < p.n_copied; i += kLanes) { y[to + p.matrices[0].n_rows + i] = x[first_in + p.n_in + i]; } }`

export const headProduct = (shader: Shader): string => /* wgsl */ `${header(shader)}${kRowsParameters}
${bindings(shader, { weights: 'vec4<u32>', x: 'f32', vectors: 'vec4<f32>', step: 'u32', y: 'f32' })}
${runtimeFlags('biasFirst', 'windowed', 'sinks')}${kVectorAt}${readWeights(shader)}${total(shader, kTeams)}${kScaled}${fourRows(false)}
var<workgroup> input: array<vec4<f32>, 256>;
@compute @workgroup_size(${64 * kTeams})
fn main(@builtin(workgroup_id) id3: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let row = id3.y;
  let per_head = p.n_groups / p.n_used;
  let head = id3.x / per_head;
  let group = id3.x % per_head;
  let to = row * p.n_out + head * p.head_out;
  let n = p.n_in >> 2u;
  ${shader.when('combines', kCombined, kHeadOfRow)}
  workgroupBarrier();
  let first = (group * ${kTeams}u + (lane >> 6u)) * 4u;
  let own = lane & 63u;
  let n_units = (p.n_in + 15u) >> 4u;
  var acc = vec4<f32>(0.0);
  for (var u = own; u < n_units; u += 64u) {
    var of_input: Sixteen;
    for (var k = 0u; k < 4u; k++) { if (4u * u + k < n) { of_input[k] = input[4u * u + k]; } }
    let v = unit_of(of_input);
    for (var k = 0u; k < 4u; k++) { acc[k] += dot16(read16(0u, head * p.matrices[0].expert_rows + row_of(0u, first, k), u), v); }
  }
  let d = team_total(acc, lane);
  if (own < 4u && first + own < p.matrices[0].n_rows) { y[to + first + own] = scaled(0u, first + own, head, d[own]); }
}
`
