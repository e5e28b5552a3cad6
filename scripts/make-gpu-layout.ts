// node scripts/make-gpu-layout.ts: writes wasm/src/gpu/layout.ts, the kernels, flags, parameters and types of core/gpu as
// the executor and the WGSL kernels need them. The build runs it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { rowsOf, writeSource } from './core-tables.ts'

const kTable = 'core/gpu/kernels.inc'
const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8')

/** The arguments of each row of a macro, with its comments left out. */
const rows = (macro: string): string[][] =>
  [...read(kTable).matchAll(new RegExp(`^GGUFSCOPE_${macro}\\((\\w.*?)\\)`, 'gm'))].map(([, list]) =>
    list!.split(', '),
  )
const camel = (name: string): string => name.charAt(1).toLowerCase() + name.slice(2)
/** The values of a C++ enumeration, in order. */
function enumOf(path: string, name: string): string {
  const body = new RegExp(`enum class ${name} : uint8_t \\{([^}]+)\\}`).exec(read(path))![1]!
  const values = [...body.replaceAll(/\/\/.*$/gm, '').matchAll(/\bk\w+/g)].map(([value]) => camel(value))
  return `[${values.map((value) => `'${value}'`).join(', ')}] as const`
}
const fields = (macro: string): string =>
  rows(macro)
    .map(([type, name]) => `  ['${name}', '${type === 'float' ? 'f32' : 'u32'}'],`)
    .join('\n')

const kernels = rows('KERNEL').map(([kernel, name]) => {
  const bindings = rows('BINDING').filter(([of]) => of === kernel)
  const list = bindings.map(([, index, binding, access]) => `[${index}, '${binding}', '${access}']`)
  return `  ${name}: [${list.join(', ')}],`
})
const streamed = new Set(
  [...read('core/gpu/streams.inc').matchAll(/^GGUFSCOPE_STREAM\(k(\w+),/gm)].map(([, name]) => name),
)
const types = rowsOf(
  'core/types/types.inc',
  /^GGUFSCOPE_TYPE\((\d+), "(\w+)", (\d+), (\d+), (?:true|false)\)/gm,
)
  .filter(([, name]) => streamed.has(name))
  .map(([id, name, elements]) => `  [${id}, { name: '${name}', elements: ${elements} }],`)
const constants = [
  ...read('core/gpu/kernels.hpp').matchAll(/^inline constexpr (?:uint32_t|size_t) (k\w+) = (\d+);/gm),
].map(([, name, value]) => `export const ${name} = ${value}`)

writeSource(
  import.meta.filename,
  'wasm/src/gpu/layout.ts',
  'core/gpu/kernels.inc and kernels.hpp',
  `
type Binding = readonly [index: number, name: string, access: 'read' | 'read_write']

/** The kernels, in the core's order, with the storage bindings of each. Binding 0 is the parameters' uniform buffer. */
export const kKernels = {
${kernels.join('\n')}
} as const satisfies Readonly<Record<string, readonly Binding[]>>

export type KernelName = keyof typeof kKernels
export const kKernelNames = Object.keys(kKernels) as readonly KernelName[]

/** Bits of a variant's flags. */
export const kFlags = {
${rows('FLAG')
  .map(([name, bit]) => `  ${camel(name!)}: ${2 ** Number(bit)},`)
  .join('\n')}
} as const

export type Flag = keyof typeof kFlags

export const kEpilogues = ${enumOf('core/gpu/kernels.hpp', 'Epilogue')}
export const kActivations = ${enumOf('core/nn/activation.hpp', 'Activation')}
export const kGatings = ${enumOf('core/model/hparams.hpp', 'Gating')}
export const kRopeKinds = ${enumOf('core/nn/rope.hpp', 'RopeKind')}
export const kCacheTypes = ${enumOf('core/nn/kv_cache.hpp', 'CacheType')}

/** The types of weights that a kernel can read, by ggml's numbers. */
export const kWeightTypes: ReadonlyMap<number, { readonly name: string; readonly elements: number }> = new Map([
${types.join('\n')}
])

/** Parameters, one word each. */
export const kRowsFields = [
${fields('ROWS')}
] as const
export const kMatrixFields = [
${fields('MATRIX')}
] as const
export const kChoiceFields = [
${fields('CHOICE')}
] as const
export const kMixFields = [
${fields('MIX')}
] as const
export const kHeadsFields = [
${fields('HEADS')}
] as const

${constants.join('\n')}
`,
)
