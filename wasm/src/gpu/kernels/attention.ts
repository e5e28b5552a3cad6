// Attention over the cache: a few tokens in splits of the cells and what combines them; many tokens row by row.
import { kTokensAttended } from '../layout.js'
import {
  bindings,
  header,
  kHeadsParameters,
  kRowsOf,
  kSigmoid,
  kStepRecord,
  kVectorAt,
  laneParameters,
  setLane,
  total,
} from './common.js'
import type { Shader } from './common.js'
import { cache, cacheElements, kHeadFlags, prepareHead, storeCell } from './heads.js'

const kNoScore = '-3e38'

/** sees(t, cell): whether token t sees a cell; score(): what soft cap and ALiBi make of a product. */
const kScores = /* wgsl */ `
const kNoScore = ${kNoScore};
var<private> cell_position: i32;
fn sees(t: u32, cell: u32) -> bool {
  let first = token_word(t, by_layer(4u));
  let n = token_word(t, by_layer(6u));
  for (var r = 0u; r < n; r++) {
    let at = step[7] + 4u * (first + r);
    if (cell >= step[at] && cell < step[at + 1u]) {
      cell_position = bitcast<i32>(step[at + 2u]) + i32(cell - step[at]);
      return true;
    }
  }
  return false;
}
fn score(t: u32, head: u32, product: f32) -> f32 {
  var s = product * p.scale;
  if (has(kSoftCap)) { s = p.soft_cap * safe_tanh(s / p.soft_cap); }
  if (has(kAlibi)) {
    s -= vector_at(p.slopes_at + head) * f32(abs(bitcast<i32>(token_word(t, 1u)) - cell_position));
  }
  return s;
}
`

/** How 64 lanes share the vectors of a value: groups of lanes, each with a vector (or several) of a cell. */
function lanesOf(dV: number): { n: number; groups: number; each: number } {
  const n = dV / 4
  const groups = n > 32 ? 1 : 2 ** Math.floor(Math.log2(64 / n))
  return { n, groups, each: Math.ceil(n / 64) }
}

/** score_cells: the scores of 64 cells from `begin` on, eight lanes a cell, to cell_scores. */
function scoreCells(shader: Shader): string {
  const { dK } = shader.variant
  return /* wgsl */ `
var<workgroup> parts: array<f32, 64>;
var<workgroup> cell_scores: array<f32, 64>;
var<workgroup> gathered: array<vec4<f32>, 64>;

fn largest(v: f32, lane: u32) -> f32 {
  workgroupBarrier();
  parts[lane] = v;
  workgroupBarrier();
  var m = parts[0];
  for (var i = 1u; i < 64u; i++) { m = max(m, parts[i]); }
  return m;
}
// The scores of 64 cells from \`begin\` on, eight lanes a cell, to cell_scores.
fn score_cells(t: u32, head: u32, begin: u32, end: u32, lane: u32) {
  let key_head = head / heads_per_kv();
  for (var eight = 0u; eight < 64u; eight += 8u) {
    let cell = begin + eight + (lane >> 3u);
    var d = 0.0;
    if (cell < end) {
      let at = (key_head * p.n_cells + cell) * ${dK / 4}u;
      for (var i = lane & 7u; i < ${dK / 4}u; i += 8u) {
        let q = vec4<f32>(head_values[4u * i], head_values[4u * i + 1u], head_values[4u * i + 2u], head_values[4u * i + 3u]);
        d += dot(q, read_keys(at + i));
      }
    }
    workgroupBarrier();
    parts[lane] = d;
    workgroupBarrier();
    if (lane < 8u) {
      var sum = 0.0;
      for (var i = 0u; i < 8u; i++) { sum += parts[8u * lane + i]; }
      let own = begin + eight + lane;
      var s = kNoScore;
      if (own < end && sees(t, own)) { s = score(t, head, sum); }
      cell_scores[eight + lane] = s;
    }
  }
  workgroupBarrier();
}
`
}

/** Vectors from a value of the cache to the next: values may be the first elements of keys. */
const valueStride = (shader: Shader): number =>
  (shader.has('sharedValues') ? shader.variant.dK : shader.variant.dV) / 4

/** attend: one head of one token over the cells of a split. */
function attendSplit(shader: Shader): string {
  const { dV } = shader.variant
  const { n, groups, each } = lanesOf(dV)
  const width = Math.min(n, 64)
  return /* wgsl */ `
fn attend(t: u32, head: u32, begin: u32, split_end: u32, to: u32, lane: u32) {
  let end = min(split_end, p.n_cells);
  let key_head = head / heads_per_kv();
  let column = lane % ${width}u;
  let group = lane / ${width}u;
  var acc: array<vec4<f32>, ${each}>;
  var top = kNoScore;
  var sum = 0.0;
  for (var block = begin; block < end; block += 64u) {
    score_cells(t, head, block, end, lane);
    let own = cell_scores[lane];
    let new_top = max(top, largest(own, lane));
    let e = select(0.0, exp(own - new_top), own > ${kNoScore} * 0.5);
    workgroupBarrier();
    cell_scores[lane] = e;
    workgroupBarrier();
    let factor = exp(top - new_top);
    top = new_top;
    sum *= factor;
    for (var i = 0u; i < 64u; i++) { sum += cell_scores[i]; }
    for (var j = 0u; j < ${each}u; j++) { acc[j] *= factor; }
    if (group < ${groups}u) {
      for (var i = group; i < 64u; i += ${groups}u) {
        let weight = cell_scores[i];
        if (weight != 0.0) {
          let at = (key_head * p.n_cells + block + i) * ${valueStride(shader)}u + column;
          for (var j = 0u; j < ${each}u; j++) {
            ${n % 64 === 0 || n < 64 ? '' : `if (column + 64u * j < ${n}u)`} { acc[j] += weight * read_values(at + 64u * j); }
          }
        }
      }
    }
    workgroupBarrier();
  }
  for (var j = 0u; j < ${each}u; j++) {
    workgroupBarrier();
    gathered[lane] = acc[j];
    workgroupBarrier();
    let i = column + 64u * j;
    if (lane < ${width}u && i < ${n}u) {
      var all = gathered[lane];
      for (var g = 1u; g < ${groups}u; g++) { all += gathered[lane + g * ${width}u]; }
      for (var k = 0u; k < 4u; k++) { partial[to + 4u * i + k] = all[k]; }
    }
  }
  if (lane == 0u) {
    partial[to + ${dV}u] = top;
    partial[to + ${dV + 1}u] = sum;
  }
}
`
}

export const attendSplits = (shader: Shader): string => /* wgsl */ `${header(shader)}${kHeadsParameters}
${bindings(shader, { qkv: 'f32', vectors: 'vec4<f32>', step: 'u32', ...cacheElements(shader), partial: 'f32', low: shader.has('latent') ? 'f32' : undefined })}
${kHeadFlags}${kVectorAt}${kStepRecord}${total(shader)}${kSigmoid}
${cache(shader, true)}${prepareHead(shader)}${storeCell(shader)}${kScores}
${scoreCells(shader)}${attendSplit(shader)}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id3: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let key_head = id3.x;
  let begin = id3.y * split_cells();
  let end = begin + split_cells();
  if (has(kStores)) {
    for (var t = 0u; t < n_tokens(); t++) {
      let cell = token_word(t, by_layer(2u));
      if (cell >= begin && cell < end) { store_cell(t, key_head, lane); }
    }
    storageBarrier();
    workgroupBarrier();
  }
  for (var t = 0u; t < n_tokens(); t++) {
    for (var h = 0u; h < heads_per_kv(); h++) {
      let head = key_head * heads_per_kv() + h;
      prepare_query(t, head, lane);
      attend(t, head, begin, end, ((t * p.n_head + head) * n_splits() + id3.y) * ${shader.variant.dV + 2}u, lane);
    }
  }
}
`

/** ended(t, head, i, value): the gate on element i of an attended head. */
const kGates = /* wgsl */ `
fn ended(t: u32, head: u32, i: u32, value: f32) -> f32 {
  if (!has(kHeadGate)) { return value; }
  let g = qkv[t * p.n_qkv + p.gate_at + head * p.gate_stride + select(i, 0u, has(kGateOfHead))];
  if (has(kSoftplusGate)) { return value * softplus(g); }
  return value * sigmoid(g);
}
// The factor of the values of a head: a sink is one more score.
fn end_factor(head: u32, top: f32, sum: f32) -> f32 {
  if (!has(kSinks)) { return 1.0 / sum; }
  let sink = vector_at(p.sinks_at + head);
  let all_top = max(top, sink);
  return exp(top - all_top) / (sum * exp(top - all_top) + exp(sink - all_top));
}
`

export function attendCombine(shader: Shader): string {
  const { dV } = shader.variant
  return /* wgsl */ `${kHeadsParameters}
${bindings(shader, { qkv: 'f32', vectors: 'vec4<f32>', step: 'u32', partial: 'f32', y: 'f32' })}
${kHeadFlags}${kVectorAt}${kSigmoid}${kGates}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id3: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let head = id3.x;
  let t = id3.y;
  let n = n_splits();
  let first = (t * p.n_head + head) * n * ${dV + 2}u;
  var top = ${kNoScore};
  for (var s = 0u; s < n; s++) { top = max(top, partial[first + s * ${dV + 2}u + ${dV}u]); }
  var sum = 0.0;
  for (var s = 0u; s < n; s++) {
    let at = first + s * ${dV + 2}u + ${dV}u;
    sum += exp(partial[at] - top) * partial[at + 1u];
  }
  let factor = end_factor(head, top, sum);
  for (var i = lane; i < ${dV}u; i += 64u) {
    var value = 0.0;
    for (var s = 0u; s < n; s++) {
      let at = first + s * ${dV + 2}u;
      value += exp(partial[at + ${dV}u] - top) * partial[at + i];
    }
    y[(t * p.n_head + head) * ${dV}u + i] = ended(t, head, i, value * factor);
  }
}
`
}

/** score_cells of attend_rows: a lane a cell, for all tokens of the workgroup. */
function rowScores(shader: Shader): string {
  const { dK } = shader.variant
  return /* wgsl */ `
const kTokens = ${kTokensAttended}u;
// Of each token: scores of 64 cells, their largest, and the sum and the factor that go with it.
var<workgroup> cell_scores: array<f32, ${kTokensAttended * 64}>;
var<workgroup> eighths: array<f32, 64>;
var<workgroup> tops: array<f32, ${kTokensAttended}>;
var<workgroup> sums: array<f32, ${kTokensAttended}>;
var<workgroup> factors: array<f32, ${kTokensAttended}>;
fn token_of(first: u32, i: u32) -> u32 { return token(min(first + i, n_rows() - 1u)); }

fn score_cells(first: u32, head: u32, cell: u32, end: u32, lane: u32) {
  var d: array<f32, kTokens>;
  if (cell < end) {
    let at = ((head / heads_per_kv()) * p.n_cells + cell) * ${dK / 4}u;
    for (var i = 0u; i < ${dK / 4}u; i++) {
      let k = read_keys(at + i);
      for (var j = 0u; j < kTokens; j++) {
        d[j] += dot(k, queries[(token_of(first, j) * p.n_head + head) * ${dK / 4}u + i]);
      }
    }
  }
  for (var j = 0u; j < kTokens; j++) {
    let t = token_of(first, j);
    var s = kNoScore;
    if (cell < end && sees(t, cell)) { s = score(t, head, d[j]); }
    cell_scores[64u * j + lane] = s;
  }
  workgroupBarrier();
}
${kSoften}`
}

const kSoften = /* wgsl */ `
// Replaces the scores by e^(score - top). Lane 8 t + i has eight cells of token t.
fn soften(lane: u32) {
  let at = 8u * lane;
  var m = kNoScore;
  for (var i = 0u; i < 8u; i++) { m = max(m, cell_scores[at + i]); }
  eighths[lane] = m;
  workgroupBarrier();
  let t = lane >> 3u;
  var top = tops[t];
  for (var i = 0u; i < 8u; i++) { top = max(top, eighths[8u * t + i]); }
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < 8u; i++) {
    let s = cell_scores[at + i];
    let e = select(0.0, exp(s - top), s > ${kNoScore} * 0.5);
    cell_scores[at + i] = e;
    sum += e;
  }
  eighths[lane] = sum;
  workgroupBarrier();
  if ((lane & 7u) == 0u) {
    let factor = exp(tops[t] - top);
    var all = sums[t] * factor;
    for (var i = 0u; i < 8u; i++) { all += eighths[lane + i]; }
    factors[t] = factor;
    sums[t] = all;
    tops[t] = top;
  }
  workgroupBarrier();
}
`

/** How the lanes of attend_rows share its tokens and values. */
function rowLanes(dV: number): { n: number; each: number; groups: number; width: number; perGroup: number } {
  const { n, each, groups: most } = lanesOf(dV)
  const groups = Math.min(most, kTokensAttended)
  return { n, each, groups, width: Math.min(n, 64), perGroup: kTokensAttended / groups }
}

/** Statements at the end of attend_rows: each lane writes its values. */
function endRows(shader: Shader): string {
  const { dV } = shader.variant
  const { n, each, groups, perGroup } = rowLanes(dV)
  return /* wgsl */ `  if (group >= ${groups}u) { return; }
  for (var j = 0u; j < ${perGroup}u; j++) {
    let slot = group * ${perGroup}u + j;
    let row = first + slot;
    if (row >= n_rows()) { break; }
    let t = token(row);
    let top = tops[slot];
    let sum = sums[slot];
    let factor = end_factor(head, top, sum);
    for (var k = 0u; k < ${each}u; k++) {
      let i = 4u * (column + 64u * k);
      ${n % 64 === 0 || n < 64 ? '' : `if (i >= ${dV}u) { break; }`}
      let v = acc[j * ${each}u + k] * factor;
      for (var e = 0u; e < 4u; e++) { y[(row * p.n_head + head) * ${dV}u + i + e] = ended(t, head, i + e, v[e]); }
    }
  }
`
}

export function attendRows(shader: Shader): string {
  const { dV } = shader.variant
  const { n, each, groups, width, perGroup } = rowLanes(dV)
  return /* wgsl */ `${kHeadsParameters}
${bindings(shader, {
  queries: 'vec4<f32>',
  qkv: 'f32',
  vectors: 'vec4<f32>',
  step: 'u32',
  ...cacheElements(shader),
  y: 'f32',
})}
${kHeadFlags}${kVectorAt}${kRowsOf}${kSigmoid}${cache(shader, false)}${kScores}${kGates}
${rowScores(shader)}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id3: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let head = id3.x;
  let first = id3.y * kTokens;
  if (lane < kTokens) { tops[lane] = kNoScore; sums[lane] = 0.0; }
  // The cells that some token of the workgroup sees.
  var begin = 0xffffffffu;
  var end = 0u;
  for (var j = 0u; j < kTokens; j++) {
    let t = token_of(first, j);
    let n_runs = token_word(t, by_layer(6u));
    if (n_runs != 0u) {
      let run = step[7] + 4u * token_word(t, by_layer(4u));
      begin = min(begin, step[run]);
      end = max(end, step[run + 4u * n_runs - 3u]);
    }
  }
  workgroupBarrier();
  let column = lane % ${width}u; let group = lane / ${width}u;
  var acc: array<vec4<f32>, ${perGroup * each}>;
  for (var block = begin; block < end; block += 64u) {
    score_cells(first, head, block + lane, end, lane);
    soften(lane);
    if (group < ${groups}u) {
      for (var j = 0u; j < ${perGroup}u; j++) {
        for (var k = 0u; k < ${each}u; k++) { acc[j * ${each}u + k] *= factors[group * ${perGroup}u + j]; }
      }
      for (var i = 0u; i < min(64u, end - block); i++) {
        let at = ((head / heads_per_kv()) * p.n_cells + block + i) * ${valueStride(shader)}u + column;
        for (var k = 0u; k < ${each}u; k++) {
          ${n % 64 === 0 || n < 64 ? '' : `if (column + 64u * k < ${n}u)`} {
            let v = read_values(at + 64u * k);
            for (var j = 0u; j < ${perGroup}u; j++) { acc[j * ${each}u + k] += cell_scores[64u * (group * ${perGroup}u + j) + i] * v; }
          }
        }
      }
    }
    workgroupBarrier();
  }
${endRows(shader)}
}
`
}
