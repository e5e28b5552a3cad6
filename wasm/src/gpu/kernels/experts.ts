// choose_experts: from a router's logits to the numbers and weights of the experts that a row uses.
import { kMaxExperts } from '../layout.js'
import { bindings, kChoiceParameters, kSigmoid, kVectorAt, runtimeFlags } from './common.js'
import type { Shader } from './common.js'

const kSelection = /* wgsl */ `
const kNone = -3.4e38;
var<workgroup> values: array<f32, ${kMaxExperts}>;  // what weighs an expert
var<workgroup> scores: array<f32, ${kMaxExperts}>;  // what selects one
var<workgroup> group_scores: array<f32, ${kMaxExperts}>;
var<workgroup> best: array<f32, 64>;
var<workgroup> places: array<u32, 64>;

// The first of the largest scores, as its number in places[0] and its score in best[0].
fn find_largest(lane: u32) {
  var value = kNone;
  var place = 0xffffffffu;
  for (var e = lane; e < p.n_expert; e += 64u) {
    if (place == 0xffffffffu || scores[e] > value) { value = scores[e]; place = e; }
  }
  best[lane] = value;
  places[lane] = place;
  workgroupBarrier();
  for (var n = 32u; n > 0u; n >>= 1u) {
    if (lane < n) {
      let v = best[lane + n];
      let i = places[lane + n];
      if (v > best[lane] || (v == best[lane] && i < places[lane])) { best[lane] = v; places[lane] = i; }
    }
    workgroupBarrier();
  }
}
// The sum of the lanes' values, by one lane: experts are few.
fn sum_of(lane: u32, value: f32) -> f32 {
  workgroupBarrier();
  best[lane] = value;
  workgroupBarrier();
  var sum = 0.0;
  for (var i = 0u; i < 64u; i++) { sum += best[i]; }
  return sum;
}
// Leaves only the groups with the largest sums of their two largest scores. By one lane.
fn drop_groups() {
  let size = p.n_expert / p.n_groups;
  for (var g = 0u; g < p.n_groups; g++) {
    var first = kNone;
    var second = kNone;
    for (var i = 0u; i < size; i++) {
      let s = scores[g * size + i];
      if (s > first) { second = first; first = s; } else if (s > second) { second = s; }
    }
    group_scores[g] = first + select(0.0, second, size > 1u);
  }
  for (var g = 0u; g < p.n_groups; g++) {
    // The number of groups before this one.
    var rank = 0u;
    for (var o = 0u; o < p.n_groups; o++) {
      if (group_scores[o] > group_scores[g] || (group_scores[o] == group_scores[g] && o < g)) { rank++; }
    }
    for (var i = 0u; i < size && rank >= p.n_group_used; i++) { scores[g * size + i] = kNone; }
  }
}
`

/** Statements at the end: one lane weighs the chosen experts, whose values are in group_scores. */
const weigh = (shader: Shader): string => /* wgsl */ `  if (lane != 0u) { return; }
  ${
    shader.gating === 'softmaxOfChosen'
      ? /* wgsl */ `var top = group_scores[0];
  for (var i = 1u; i < p.n_used; i++) { top = max(top, group_scores[i]); }
  var all = 0.0;
  for (var i = 0u; i < p.n_used; i++) { group_scores[i] = exp(group_scores[i] - top); all += group_scores[i]; }
  for (var i = 0u; i < p.n_used; i++) { group_scores[i] /= all; }`
      : ''
  }
  var norm = 1.0;
  if (has(kNormalizeWeights)) {
    var added = 0.0;
    for (var i = 0u; i < p.n_used; i++) { added += group_scores[i]; }
    norm = 1.0 / max(added, 6.103515625e-5);
  }
  for (var i = 0u; i < p.n_used; i++) {
    choices[to + p.n_used + i] = bitcast<u32>(group_scores[i] * p.weights_scale * norm);
  }
  var shared_factor = 1.0;
  if (has(kSharedGate)) { shared_factor = sigmoid(logits[first + p.n_expert]); }
  choices[to + 2u * p.n_used] = bitcast<u32>(shared_factor);
`

export function chooseExperts(shader: Shader): string {
  const each = {
    none: 'logit',
    softmax: 'exp(logit - top) / sum',
    sigmoid: 'sigmoid(logit)',
    softmaxOfChosen: 'logit',
    sqrtSoftplus: 'sqrt(softplus(logit))',
  }
  const softmax = shader.gating === 'softmax'
  return /* wgsl */ `${kChoiceParameters}
${bindings(shader, {
  logits: 'f32',
  vectors: 'vec4<f32>',
  choices: 'u32',
})}
${runtimeFlags('selectionBias', 'selectByLogits', 'normalizeWeights', 'sharedGate')}${kVectorAt}${kSigmoid}
${kSelection}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = group.x * p.n_logits;
  for (var e = lane; e < p.n_expert; e += 64u) { scores[e] = logits[first + e]; }
  workgroupBarrier();
  ${
    softmax
      ? /* wgsl */ `find_largest(lane);
  let top = best[0];
  var part = 0.0;
  for (var e = lane; e < p.n_expert; e += 64u) { part += exp(scores[e] - top); }
  let sum = sum_of(lane, part);`
      : ''
  }
  for (var e = lane; e < p.n_expert; e += 64u) {
    let logit = scores[e];
    values[e] = ${each[shader.gating]};
    var score = select(values[e], logit, has(kSelectByLogits));
    if (has(kSelectionBias)) { score += vector_at(p.bias_at + e); }
    scores[e] = score;
  }
  workgroupBarrier();
  if (p.n_groups > 1u && lane == 0u) { drop_groups(); }
  workgroupBarrier();
  let to = group.x * (2u * p.n_used + 1u);
  for (var i = 0u; i < p.n_used; i++) {
    find_largest(lane);
    if (lane == 0u) {
      let e = places[0];
      choices[to + i] = e;
      group_scores[i] = values[e];
      scores[e] = kNone;
    }
    workgroupBarrier();
  }
${weigh(shader)}
}
`
}
