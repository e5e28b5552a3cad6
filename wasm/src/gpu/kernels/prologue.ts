// What norm_rows and mat_vec do with the residual stream before they use it: the sum that is due, and norms.
import type { Shader } from './common.js'

/**
 * The functions `prologue(lane)`, to call once in uniform control flow, and `v4(c, i)`: vector i of column c, after sum
 * and norms. row_at(c) is the first vector of a column in x, part and sum. The norms call total(). weights: a term that
 * is added to the index of weights.
 */
export function prologue(shader: Shader, columns: number, weights = ''): string {
  const layer = shader.has('layerNorm')
  const norms = [
    ...(shader.has('partNorm') ? [norm('post', layer, columns, 'part[row_at(c) + i]')] : []),
    ...(shader.has('sumNorm') ? [norm('post', layer, columns, 'added(c, i)')] : []),
    ...(shader.has('norm') ? [norm('norm', layer, columns, 'summed(c, i)', weights)] : []),
  ]
  const calls = [
    ...(shader.has('partNorm') || shader.has('sumNorm') ? ['post_statistics(lane);'] : []),
    ...(shader.has('norm') ? ['norm_statistics(lane);'] : []),
  ]
  const part = shader.has('partNorm') ? 'post(c, i, part[row_at(c) + i])' : 'part[row_at(c) + i]'
  const sum = shader.when('sum', `(x[row_at(c) + i] + p.factor * ${part}) * sum_scale()`, 'x[row_at(c) + i]')
  const texts = {
    added: /* wgsl */ `
fn added(c: u32, i: u32) -> vec4<f32> { return ${sum}${shader.when('factorInput', ' * input_factor(c, i)')}; }`,
    summed: /* wgsl */ `
fn summed(c: u32, i: u32) -> vec4<f32> { return ${shader.when('sumNorm', 'post(c, i, added(c, i))', 'added(c, i)')}; }`,
    v4: /* wgsl */ `
fn v4(c: u32, i: u32) -> vec4<f32> { return ${shader.when('norm', 'norm(c, i, summed(c, i))', 'summed(c, i)')}; }`,
  }
  return /* wgsl */ `${shader.when('sum', kSumScale)}${norms.join('')}${texts.added}${texts.summed}${texts.v4}
fn prologue(lane: u32) {
  ${calls.join('\n  ')}
}
`
}

/** Tested when the kernel runs. */
const kSumScale = /* wgsl */ `
fn sum_scale() -> f32 { return select(1.0, vector_at(p.sinks_at), has(kScaleSum)); }
`

/** name(c, i, value) normalizes vector i of a row whose statistics name_statistics computed from `value`. */
function norm(name: 'norm' | 'post', layer: boolean, columns: number, value: string, weights = ''): string {
  const eps = name === 'norm' ? 'p.eps' : 'p.post_eps'
  // Four columns are reduced at once.
  const groups = Math.ceil(columns / 4)
  const sum = (element: string): string => /* wgsl */ `
  for (var g = 0u; g < ${groups}u; g++) {
    var s = vec4<f32>(0.0);
    for (var k = 0u; k < ${Math.min(columns, 4)}u; k++) {
      let c = 4u * g + k;
      var one = 0.0;
      for (var i = lane; i < n; i += kLanes) {
        let value = ${value};
        ${element}
      }
      s[k] = one;
    }
    let all = total(s, lane) / f32(p.n_in);`
  return /* wgsl */ `
var<private> ${name}_mean: array<f32, ${4 * groups}>;
var<private> ${name}_factor: array<f32, ${4 * groups}>;
fn ${name}_statistics(lane: u32) {
  let n = p.n_in >> 2u;
${
  layer
    ? `${sum('one += dot(value, vec4<f32>(1.0));')}
    for (var k = 0u; k < 4u; k++) { ${name}_mean[4u * g + k] = all[k]; }
  }`
    : ''
}
${sum(`let d = value${layer ? ` - ${name}_mean[c]` : ''}; one += dot(d, d);`)}
    for (var k = 0u; k < 4u; k++) { ${name}_factor[4u * g + k] = inverseSqrt(all[k] + ${eps}); }
  }
}
fn ${name}(c: u32, i: u32, value: vec4<f32>) -> vec4<f32> {
  var y = ${layer ? `(value - ${name}_mean[c])` : 'value'} * ${name}_factor[c];
  if (p.${name}_weight != kAbsent) { y *= vectors[(p.${name}_weight >> 2u)${weights} + i]; }
  if (p.${name}_bias != kAbsent) { y += vectors[(p.${name}_bias >> 2u) + i]; }
  return y;
}
`
}
