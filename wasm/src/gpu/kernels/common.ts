// What all kernels share: a variant by its names, its bindings and parameters, reductions over a workgroup.
import {
  kActivations,
  kCacheTypes,
  kChoiceFields,
  kEpilogues,
  kFlags,
  kGatings,
  kHeadsFields,
  kKernelNames,
  kKernels,
  kMatrixFields,
  kMatrixWord,
  kMatrixWords,
  kMaxMatrices,
  kMixFields,
  kRopeKinds,
  kRowsFields,
} from '../layout.js'
import type { Flag, KernelName } from '../layout.js'

/** What is compiled, as the core's plan has it: numbers of enumerations, ggml's types, bits. */
export interface Variant {
  readonly kernel: number
  readonly epilogue: number
  readonly activation: number
  readonly gating: number
  readonly rope: number
  readonly cacheKeys: number
  readonly cacheValues: number
  /** ggml's types of the matrices that there are */
  readonly types: readonly number[]
  readonly dK: number
  readonly dV: number
  /** attend_splits: query heads that a workgroup computes together */
  readonly heads: number
  readonly flags: number
}

/** How a variant is compiled. */
export interface ShaderOptions {
  /** mat_vec: rows at once, 1, 2, 4 or 8 */
  readonly columns: number
  /** the device has WebGPU's feature "subgroups", and none of them has more than 64 lanes */
  readonly subgroups: boolean
  /** products multiply activations of 8 bits by the weights' integers, where the types have them */
  readonly integers: boolean
  /** other tiled products multiply binary16, which the device has (WebGPU's feature "shader-f16") */
  readonly halves: boolean
}

/** A variant with names instead of numbers, for templates. */
export interface Shader {
  readonly variant: Variant
  readonly options: ShaderOptions
  readonly kernel: KernelName
  readonly epilogue: (typeof kEpilogues)[number]
  readonly activation: (typeof kActivations)[number]
  readonly gating: (typeof kGatings)[number]
  readonly rope: (typeof kRopeKinds)[number]
  readonly cacheKeys: (typeof kCacheTypes)[number]
  readonly cacheValues: (typeof kCacheTypes)[number]
  has(flag: Flag): boolean
  /** the text if the variant has the flag, else nothing */
  when(flag: Flag, text: string, otherwise?: string): string
}

export function shaderOf(variant: Variant, options: ShaderOptions): Shader {
  const has = (flag: Flag): boolean => Math.floor(variant.flags / kFlags[flag]) % 2 === 1
  return {
    variant,
    options,
    kernel: kKernelNames[variant.kernel]!,
    epilogue: kEpilogues[variant.epilogue]!,
    activation: kActivations[variant.activation]!,
    gating: kGatings[variant.gating]!,
    rope: kRopeKinds[variant.rope]!,
    cacheKeys: kCacheTypes[variant.cacheKeys]!,
    cacheValues: kCacheTypes[variant.cacheValues]!,
    has,
    when: (flag, text, otherwise = '') => (has(flag) ? text : otherwise),
  }
}

type Fields = readonly (readonly [name: string, type: string])[]
const members = (fields: Fields): string => fields.map(([name, type]) => `${name}: ${type},`).join(' ')
/** Words that fill a struct up, as members. */
const padding = (n: number): string => Array.from({ length: n }, (_, i) => `unused_${i}: u32,`).join(' ')

/** Parameters of kernels with matrices. */
export const kRowsParameters = /* wgsl */ `
struct Matrix { ${members(kMatrixFields)} ${padding(kMatrixWords - kMatrixFields.length)} }
struct Parameters { ${members(kRowsFields)} ${padding(kMatrixWord - kRowsFields.length)} matrices: array<Matrix, ${kMaxMatrices}>, }
@group(0) @binding(0) var<uniform> p: Parameters;
`
export const kHeadsParameters = /* wgsl */ `
struct Parameters { ${members(kHeadsFields)} }
@group(0) @binding(0) var<uniform> p: Parameters;
`
export const kMixParameters = /* wgsl */ `
struct Parameters { ${members(kMixFields)} }
@group(0) @binding(0) var<uniform> p: Parameters;
`
export const kChoiceParameters = /* wgsl */ `
struct Parameters { ${members(kChoiceFields)} }
@group(0) @binding(0) var<uniform> p: Parameters;
`

/** Declares bindings of the kernel by name, as arrays of the given elements. */
export function bindings(shader: Shader, elements: Readonly<Record<string, string | undefined>>): string {
  return kKernels[shader.kernel]
    .flatMap(([index, name, access]) =>
      elements[name] === undefined
        ? []
        : [`@group(0) @binding(${index}) var<storage, ${access}> ${name}: array<${elements[name]}>;`],
    )
    .join('\n')
}

/** What functions of kernels call: single elements of the vectors, and facts of the step record. */
export const kVectorAt = /* wgsl */ `
const kAbsent = 0xffffffffu;
fn vector_at(at: u32) -> f32 { return vectors[at >> 2u][at & 3u]; }
`

/** has(kFlag): a flag of the variant, tested when the kernel runs, so that fewer variants are compiled. Uniform. */
export const runtimeFlags = (...flags: readonly Flag[]): string => /* wgsl */ `
${flags.map((flag) => `const k${flag.charAt(0).toUpperCase()}${flag.slice(1)} = ${kFlags[flag]}u;`).join('\n')}
fn has(flag: u32) -> bool { return (p.flags & flag) != 0u; }
`

/** The step record: see core/gpu/step.hpp. */
export const kStepRecord = /* wgsl */ `
fn n_tokens() -> u32 { return step[0]; }
fn n_outputs() -> u32 { return step[1]; }
fn output_token(row: u32) -> u32 { return step[step[6] + row]; }
fn token_word(t: u32, i: u32) -> u32 { return step[16u + t * 12u + i]; }
`

/** n_rows() of a dispatch and token(row). It needs the flag outputRows. */
export const kRowsOf = /* wgsl */ `${kStepRecord}
fn n_rows() -> u32 { return select(n_tokens(), n_outputs(), has(kOutputRows)); }
fn token(row: u32) -> u32 {
  if (has(kOutputRows)) { return output_token(row); }
  return row;
}
`

/** Declarations before everything else. */
export const header = (shader: Shader): string => (shader.options.subgroups ? 'enable subgroups;\n' : '')

/** The parameters of main that reductions need. */
export const laneParameters = (shader: Shader): string =>
  shader.options.subgroups
    ? '@builtin(local_invocation_index) lane: u32, @builtin(subgroup_size) subgroup_lanes: u32, @builtin(subgroup_invocation_id) subgroup_lane: u32'
    : '@builtin(local_invocation_index) lane: u32'

/** Sets the variables that the reductions read; the first statement of main. */
export const setLane = (shader: Shader): string =>
  shader.options.subgroups ? 'sub_size = subgroup_lanes; sub_id = subgroup_lane;' : ''

type Reduction = 'Add' | 'Max'
const kCombine: Readonly<Record<Reduction, (a: string, b: string) => string>> = {
  Add: (a, b) => `${a} + ${b}`,
  Max: (a, b) => `max(${a}, ${b})`,
}

/** A function that combines the vectors of n lanes, of which `first` is the first one, in all of them. */
function reduction(shader: Shader, name: string, of: Reduction, first: string, n: number): string {
  const combine = kCombine[of]
  return shader.options.subgroups
    ? /* wgsl */ `
fn ${name}(v: vec4<f32>, lane: u32) -> vec4<f32> {
  workgroupBarrier();
  let s = subgroup${of}(v);
  if (sub_id == 0u) { sums[lane / sub_size] = s; }
  workgroupBarrier();
  let first = ${first} / sub_size;
  var all = sums[first];
  for (var i = 1u; i < ${n}u / sub_size; i++) { all = ${combine('all', 'sums[first + i]')}; }
  return all;
}
`
    : /* wgsl */ `
fn ${name}(v: vec4<f32>, lane: u32) -> vec4<f32> {
  workgroupBarrier();
  sums[lane] = v;
  workgroupBarrier();
  for (var half_size = ${n / 2}u; half_size > 0u; half_size >>= 1u) {
    if (lane % ${n}u < half_size) { sums[lane] = ${combine('sums[lane]', 'sums[lane + half_size]')}; }
    workgroupBarrier();
  }
  return sums[${first}];
}
`
}

/**
 * total(v, lane) is the sum of a vector over the workgroup, team_total(v, lane) over the 64 lanes of the caller's team, in
 * all of them. A workgroup has `teams` of them. Call both in uniform control flow. Subgroups may have 4 (SwiftShader) to 64
 * lanes.
 */
export function total(shader: Shader, teams = 1): string {
  const lanes = 64 * teams
  return /* wgsl */ `
const kLanes = ${lanes}u;
var<workgroup> sums: array<vec4<f32>, ${shader.options.subgroups ? lanes / 4 : lanes}>;
${shader.options.subgroups ? 'var<private> sub_size: u32;\nvar<private> sub_id: u32;' : ''}
${reduction(shader, 'total', 'Add', '0u', lanes)}${teams > 1 ? reduction(shader, 'team_total', 'Add', '(lane & ~63u)', 64) : ''}
`
}

/** largest(v, lane): as total(), which it needs, but the largest of each element. */
export const largest = (shader: Shader): string => reduction(shader, 'largest', 'Max', '0u', 64)

/** sigmoid, and the logarithm of 1 + e^x without overflow. */
export const kSigmoid = /* wgsl */ `
fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(-x)); }
fn softplus(x: f32) -> f32 {
  if (x > 20.0) { return x; }
  let e = exp(x);
  // The sum with 1 would lose a small e's digits.
  if (e < 0.02) { return e * (1.0 - e * (0.5 - e * (0.33333334 - 0.25 * e))); }
  return log(1.0 + e);
}
fn safe_tanh(x: f32) -> f32 { return tanh(clamp(x, -15.0, 15.0)); }
`

// Abramowitz and Stegun, formula 7.1.26, as in core/nn/gelu_erf.hpp.
const kGeluErf = /* wgsl */ `
fn gelu_erf(x: f32) -> f32 {
  let z = abs(x) * 0.70710678;
  let t = 1.0 / (1.0 + 0.3275911 * z);
  let sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  let half_tail = 0.5 * x * sum * exp(-z * z);
  return select(x - half_tail, half_tail, x < 0.0);
}
`

/** activated(x) and gated(gate, up) of products. */
export function activations(shader: Shader): string {
  const one: Readonly<Record<Shader['activation'], string>> = {
    silu: 'x * sigmoid(x)',
    gelu: 'x * sigmoid(1.5957691216057308 * x * (1.0 + 0.044715 * x * x))',
    geluQuick: 'x * sigmoid(1.702 * x)',
    geluErf: 'gelu_erf(x)',
    relu: 'max(x, 0.0)',
    reluSquared: 'select(0.0, x * x, x > 0.0)',
    sigmoid: 'sigmoid(x)',
    tanh: 'safe_tanh(x)',
    xielu: 'select((exp(min(x, p.gate_d)) - 1.0 - x) * p.gate_a, p.gate_b * x * x, x > 0.0) + p.gate_c * x',
    // Gated only, and the one of the CPU's table: the lowering does not ask for them here.
    geluHalf: 'x',
    swigluOai: 'x',
    situ: 'x',
  }
  const both: Partial<Record<Shader['activation'], string>> = {
    swigluOai: `let g = min(gate, 7.0); return g * sigmoid(1.702 * g) * (clamp(up, -7.0, 7.0) + 1.0);`,
    situ: `return p.gate_a * safe_tanh(gate / p.gate_a) * sigmoid(gate) * select(up, p.gate_b * safe_tanh(up / p.gate_b), p.gate_b > 0.0);`,
  }
  return /* wgsl */ `${kSigmoid}${shader.activation === 'geluErf' ? kGeluErf : ''}
fn activated(x: f32) -> f32 { return ${one[shader.activation]}; }
fn gated(gate: f32, up: f32) -> f32 {
  ${
    both[shader.activation] ??
    /* wgsl */ `if (!has(kClamp)) { return activated(gate) * up; }
  let g = select(gate, min(gate, p.limit), has(kClampFirst));
  return min(activated(g), p.limit) * clamp(up, -p.limit, p.limit);`
  }
}
`
}
