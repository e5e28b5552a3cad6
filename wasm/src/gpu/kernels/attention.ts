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
  largest,
  setLane,
  total,
} from './common.js'
import type { Shader } from './common.js'
import { cache, cacheElements, cachePart, kHeadFlags, prepareHead, storeCell } from './heads.js'

const kNoScore = '-3e38'

const kRelativeBias = /* wgsl */ `let most = i32(p.max_distance);
  let away = clamp(cell_position - bitcast<i32>(token_word(t, 1u)), -most, most);
  s += vector_at(p.biases_at + u32(vector_at(p.buckets_at + u32(away + most))) * p.n_head + head);`

/** sees(t, cell): whether token t sees a cell; score(): what soft cap, ALiBi and a bias of the distance make of a product. */
const scores = (shader: Shader): string => /* wgsl */ `
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
  ${shader.when('relative', kRelativeBias)}
  return s;
}
`

/** How 64 lanes share the vectors of a value: groups of lanes, each with a vector (or several) of a cell. */
function lanesOf(dV: number): { n: number; groups: number; each: number } {
  const n = dV / 4
  const groups = n > 32 ? 1 : 2 ** Math.floor(Math.log2(64 / n))
  return { n, groups, each: Math.ceil(n / 64) }
}

/** score_cells: the scores of 64 cells for the workgroup's heads, of which an element of a vector is one. */
function scoreCells(shader: Shader): string {
  const { dK, heads } = shader.variant
  const n = dK / 4
  const dots = Array.from({ length: 4 }, (_, h) =>
    h < heads ? `dot(k, head_queries[${h * n}u + i])` : '0.0',
  )
  return /* wgsl */ `
// The queries of the heads, one after the other.
var<workgroup> head_queries: array<vec4<f32>, ${heads * n}>;
var<workgroup> parts: array<vec4<f32>, 128>;
var<workgroup> cell_scores: array<vec4<f32>, 64>;

// Eight lanes share a cell. Its parts alternate between two places, so that one barrier is enough for eight cells.
fn score_cells(t: u32, first_head: u32, begin: u32, end: u32, lane: u32) {
  let key_head = first_head / heads_per_kv();
  cell_scores[lane] = vec4<f32>(kNoScore);
  for (var eight = 0u; eight < min(64u, end - begin); eight += 8u) {
    let cell = begin + eight + (lane >> 3u);
    let place = (eight & 8u) << 3u;
    var d = vec4<f32>(0.0);
    if (cell < end) {
      let at = (key_head * p.n_cells + cell) * ${n}u;
      for (var i = lane & 7u; i < ${n}u; i += 8u) {
        let k = read_keys(at + i);
        d += vec4<f32>(${dots.join(', ')});
      }
    }
    parts[place + lane] = d;
    workgroupBarrier();
    let own = begin + eight + lane;
    if (lane < 8u && own < end && sees(t, own)) {
      var sum = parts[place + 8u * lane];
      for (var i = 1u; i < 8u; i++) { sum += parts[place + 8u * lane + i]; }
      ${Array.from({ length: heads }, (_, h) => `sum[${h}] = score(t, first_head + ${h}u, sum[${h}]);`).join(' ')}
      cell_scores[eight + lane] = sum;
    }
  }
  workgroupBarrier();
}
`
}

/** Vectors from a value of the cache to the next: values may be the first elements of keys. */
const valueStride = (shader: Shader): number =>
  (shader.has('sharedValues') ? shader.variant.dK : shader.variant.dV) / 4

/** Statements that write a head's vectors j of all lanes to the partial results: \`value\` of each lane. */
function writePart(shader: Shader, h: number, j: number, value: string): string {
  const { dV } = shader.variant
  const { n, groups } = lanesOf(dV)
  const width = Math.min(n, 64)
  const write = (all: string): string =>
    `for (var k = 0u; k < 4u; k++) { partial[to + ${h}u * p_stride + 4u * (column + ${64 * j}u) + k] = ${all}[k]; }`
  if (groups === 1)
    return `if (lane < ${width}u && column + ${64 * j}u < ${n}u) { let all = ${value}; ${write('all')} }`
  const place = 64 * (h % 2)
  return /* wgsl */ `parts[${place}u + lane] = ${value};
  workgroupBarrier();
  if (lane < ${width}u) {
    var all = parts[${place}u + lane];
    for (var g = 1u; g < ${groups}u; g++) { all += parts[${place}u + lane + g * ${width}u]; }
    ${write('all')}
  }`
}

/** attend: the workgroup's heads of one token over the cells of a split. Cells are read once for all heads. */
function attendSplit(shader: Shader): string {
  const { dV, heads } = shader.variant
  const { n, groups, each } = lanesOf(dV)
  const width = Math.min(n, 64)
  const inRange = n % 64 === 0 || n < 64 ? '' : `if (column + 64u * j < ${n}u) `
  const all = (text: (h: number) => string): string =>
    Array.from({ length: heads }, (_, h) => text(h)).join('\n')
  return /* wgsl */ `
fn attend(t: u32, first_head: u32, begin: u32, split_end: u32, to: u32, lane: u32) {
  let p_stride = n_splits() * ${dV + 2}u;
  let key_head = first_head / heads_per_kv();
  let column = lane % ${width}u;
  let group = lane / ${width}u;
  // Behind the last cell that the token sees is nothing.
  var end = begin;
  let n_runs = token_word(t, by_layer(6u));
  if (n_runs != 0u) { end = min(min(split_end, p.n_cells), step[step[7] + 4u * (token_word(t, by_layer(4u)) + n_runs) - 3u]); }
  ${all((h) => `var acc_${h}: array<vec4<f32>, ${each}>;`)}
  var top = vec4<f32>(kNoScore);
  var sum = vec4<f32>(0.0);
  for (var block = begin; block < end; block += 64u) {
    score_cells(t, first_head, block, end, lane);
    let own = cell_scores[lane];
    let new_top = max(top, largest(own, lane));
    let e = select(vec4<f32>(0.0), exp(own - new_top), own > vec4<f32>(${kNoScore} * 0.5));
    let factor = exp(top - new_top);
    top = new_top;
    cell_scores[lane] = e;
    sum = sum * factor + total(e, lane);
    for (var j = 0u; j < ${each}u; j++) {
      ${all((h) => `acc_${h}[j] *= factor[${h}];`)}
    }
    if (group < ${groups}u) {
      for (var i = group; i < min(64u, end - block); i += ${groups}u) {
        let weight = cell_scores[i];
        if (any(weight != vec4<f32>(0.0))) {
          let at = (key_head * p.n_cells + block + i) * ${valueStride(shader)}u + column;
          for (var j = 0u; j < ${each}u; j++) {
            ${inRange}{
              let v = read_values(at + 64u * j);
              ${all((h) => `acc_${h}[j] += weight[${h}] * v;`)}
            }
          }
        }
      }
    }
    workgroupBarrier();
  }
  ${Array.from({ length: each }, (_, j) => all((h) => writePart(shader, h, j, `acc_${h}[${j}]`))).join('\n  workgroupBarrier();\n')}
  if (lane == 0u) {
    for (var h = 0u; h < ${heads}u; h++) {
      partial[to + h * p_stride + ${dV}u] = top[h];
      partial[to + h * p_stride + ${dV + 1}u] = sum[h];
    }
  }
}
`
}

export const attendSplits = (shader: Shader): string => /* wgsl */ `${header(shader)}${kHeadsParameters}
${bindings(shader, { qkv: 'f32', vectors: 'vec4<f32>', step: 'u32', ...cacheElements(shader), partial: 'f32', low: shader.has('latent') ? 'f32' : undefined })}
${kHeadFlags}${kVectorAt}${kStepRecord}${total(shader)}${largest(shader)}${kSigmoid}
${cache(shader, true)}${prepareHead(shader)}${storeCell(shader)}${scores(shader)}
${scoreCells(shader)}${attendSplit(shader)}
const kHeads = ${shader.variant.heads}u;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id3: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let first_head = id3.x * kHeads;
  let begin = id3.y * split_cells();
  let end = begin + split_cells();
  if (has(kStores)) {
    // Each workgroup of a key head reads what it wrote. The others write the same.
    for (var t = 0u; t < n_tokens(); t++) {
      let cell = token_word(t, by_layer(2u));
      if (cell >= begin && cell < end) { store_cell(t, first_head / heads_per_kv(), lane); }
    }
    storageBarrier();
    workgroupBarrier();
  }
  for (var t = 0u; t < n_tokens(); t++) {
    for (var h = 0u; h < kHeads; h++) {
      prepare_query(t, first_head + h, lane);
      for (var i = lane; i < ${shader.variant.dK / 4}u; i += 64u) {
        head_queries[h * ${shader.variant.dK / 4}u + i] = vec4<f32>(head_values[4u * i], head_values[4u * i + 1u], head_values[4u * i + 2u], head_values[4u * i + 3u]);
      }
    }
    workgroupBarrier();
    attend(t, first_head, begin, end, ((t * p.n_head + first_head) * n_splits() + id3.y) * ${shader.variant.dV + 2}u, lane);
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

/** Vectors of a row in a tile: eight, and one more, so that neighbouring lanes read other banks of the workgroup's memory. */
const kTileStride = 9

/** What the lanes of attend_rows share. */
const kRowMemory = /* wgsl */ `
const kTokens = ${kTokensAttended}u;
// Of each token: scores of 64 cells, their largest, and the sum and the factor that go with it.
var<workgroup> cell_scores: array<f32, ${kTokensAttended * 64}>;
var<workgroup> eighths: array<f32, 64>;
var<workgroup> tops: array<f32, ${kTokensAttended}>;
var<workgroup> sums: array<f32, ${kTokensAttended}>;
var<workgroup> factors: array<f32, ${kTokensAttended}>;
var<workgroup> key_tile: array<vec4<f32>, ${64 * kTileStride}>;
var<workgroup> query_tile: array<vec4<f32>, ${kTokensAttended * 8}>;
fn token_of(first: u32, i: u32) -> u32 { return token(min(first + i, n_rows() - 1u)); }
`

/**
 * score_cells of attend_rows: 64 cells for the eight tokens of the workgroup. Keys and queries pass through tiles of 32
 * elements, so that neighbouring lanes read neighbouring vectors. Lane l has cells l % 32 and l % 32 + 32 for four tokens.
 */
function rowScores(shader: Shader): string {
  const n = shader.variant.dK / 4
  const inRow = n % 8 === 0 ? 'true' : `at < ${n}u`
  const q = [0, 1, 2, 3].map((j) => `query_tile[tokens_at + ${8 * j}u + e]`)
  const dots = (k: string): string => `vec4<f32>(${[0, 1, 2, 3].map((j) => `dot(${k}, q${j})`).join(', ')})`
  return /* wgsl */ `
${kRowMemory}
fn score_cells(first: u32, head: u32, block: u32, end: u32, lane: u32) {
  let keys_at = (head / heads_per_kv()) * p.n_cells + block;
  let own_query = (token_of(first, lane >> 3u) * p.n_head + head) * ${n}u;
  let tokens_at = (lane >> 5u) * 32u;
  let cell = lane & 31u;
  let two = block + 32u < end;
  var a = vec4<f32>(0.0);
  var b = vec4<f32>(0.0);
  for (var first_vector = 0u; first_vector < ${n}u; first_vector += 8u) {
    let at = first_vector + (lane & 7u);
    for (var row = lane >> 3u; row < min(64u, end - block); row += 8u) {
      var k = vec4<f32>(0.0);
      if (${inRow}) { k = read_keys((keys_at + row) * ${n}u + at); }
      key_tile[row * ${kTileStride}u + (lane & 7u)] = k;
    }
    var own = vec4<f32>(0.0);
    if (${inRow}) { own = queries[own_query + at]; }
    query_tile[lane] = own;
    workgroupBarrier();
    if (block + cell < end) {
      for (var e = 0u; e < ${n % 8 === 0 ? '8u' : `min(8u, ${n}u - first_vector)`}; e++) {
        ${q.map((text, j) => `let q${j} = ${text};`).join(' ')}
        let k0 = key_tile[cell * ${kTileStride}u + e];
        a += ${dots('k0')};
        if (two) {
          let k1 = key_tile[(cell + 32u) * ${kTileStride}u + e];
          b += ${dots('k1')};
        }
      }
    }
    workgroupBarrier();
  }
  for (var j = 0u; j < 4u; j++) {
    let own_token = (lane >> 5u) * 4u + j;
    let t = token_of(first, own_token);
    var s = vec2<f32>(kNoScore);
    if (block + cell < end && sees(t, block + cell)) { s.x = score(t, head, a[j]); }
    if (block + cell + 32u < end && sees(t, block + cell + 32u)) { s.y = score(t, head, b[j]); }
    cell_scores[64u * own_token + cell] = s.x;
    cell_scores[64u * own_token + cell + 32u] = s.y;
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
  const { n, each, groups: maxGroups } = lanesOf(dV)
  const groups = Math.min(maxGroups, kTokensAttended)
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
${kHeadFlags}${kVectorAt}${kRowsOf}${kSigmoid}${cache(shader, false)}${scores(shader)}${kGates}
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
    score_cells(first, head, block, end, lane);
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

export function weighCells(shader: Shader): string {
  const n = shader.variant.dK / 4
  return /* wgsl */ `${header(shader)}${kHeadsParameters}
${bindings(shader, { queries: 'vec4<f32>', step: 'u32', keys: cacheElements(shader).keys, y: 'f32' })}
${kHeadFlags}${kStepRecord}${total(shader)}${largest(shader)}${cachePart('keys', shader.cacheKeys === 'f16', false)}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, ${laneParameters(shader)}) {
  ${setLane(shader)}
  let t = output_token(group.x);
  let run = step[7] + 4u * token_word(t, by_layer(4u));
  let end = step[run + 1u];
  let query = (t * p.n_head + p.first_head) * ${n}u;
  let to = (p.y_at + group.x) * p.n_cells;
  // Each lane has its own cells: it alone reads what it wrote.
  var top = ${kNoScore};
  for (var i = step[run] + lane; i < end; i += 64u) {
    var product = 0.0;
    for (var e = 0u; e < ${n}u; e++) { product += dot(read_keys((p.first_head * p.n_cells + i) * ${n}u + e), queries[query + e]); }
    y[to + i] = product * p.scale;
    top = max(top, product * p.scale);
  }
  let all_top = largest(vec4<f32>(top), lane).x;
  var sum = 0.0;
  for (var i = step[run] + lane; i < end; i += 64u) {
    let e = exp(y[to + i] - all_top);
    y[to + i] = e;
    sum += e;
  }
  let all = total(vec4<f32>(sum), lane).x;
  for (var i = step[run] + lane; i < end; i += 64u) { y[to + i] /= all; }
}
`
}
