// Groups the files of a repository into models: joins shards, determines quantizations and kinds, and gives each a name
// of its own.
import { checkArgument, listOf, object, text, type Check } from '../api/checks.js'
import { fileOf, kindOf, kindsTogether, kQuantization, placeInSet, stemOf } from './kinds.js'
import type { HubFile, HubVariant, VariantKind } from './types.js'

/** The order of lists. A repository without a model is of the first kind that it has. */
export const kOrder: readonly VariantKind[] = [
  'model',
  'projector',
  'draft',
  'component',
  'adapter',
  'imatrix',
]

const kFloats = /^(BF|FP?)\d/i

/**
 * "Q4_K_M" for "folder/model-q4_k_m.gguf"; undefined if the name has none. The last one counts: in "model-f16.Q4_0",
 * "f16" is the source's. In "model-Q4_K_M-output-f16" it is that of one tensor.
 */
export function quantizationOf(path: string): string | undefined {
  checkArgument('quantizationOf()', 'path', path, text)
  const stem = stemOf(path)
  const inName = [...fileOf(stem).matchAll(kQuantization)]
  const all = (inName.length > 0 ? inName : [...stem.matchAll(kQuantization)]).map(([name]) => name)
  return (all.findLast((name) => !kFloats.test(name)) ?? all.at(-1))
    ?.toUpperCase()
    .replace('UD_', 'UD-')
    .replace('FP16', 'F16')
    .replace('FP32', 'F32')
}

const isFile: Check = (value) =>
  typeof value === 'object' && value !== null && 'path' in value ? text(value.path) : 'a file'
/** A check: what variantsOf() returns. */
export const variantList = listOf(object, 'an array of what variantsOf() returns')

export function variantsOf(files: readonly HubFile[]): HubVariant[] {
  checkArgument('variantsOf()', 'list', files, listOf(isFile, 'an array of { path, size }'))
  const groups = new Map<string, { files: HubFile[]; count: number }>()
  for (const file of files) {
    const { set, count } = placeInSet(file.path) ?? { set: file.path, count: 1 }
    const group = groups.get(set) ?? { files: [], count: count ?? 0 }
    group.files.push(file)
    groups.set(set, group)
  }
  const variants = kindsTogether([...groups.values()].map(variantOf))
  return named(variants).sort(
    (a, b) =>
      kOrder.indexOf(a.kind) - kOrder.indexOf(b.kind) || a.bytes - b.bytes || (a.name < b.name ? -1 : 1),
  )
}

function variantOf({ files, count }: { files: HubFile[]; count: number }): HubVariant {
  const numberOf = ({ path }: HubFile) => placeInSet(path)?.number ?? 0
  const sorted = files.sort((a, b) => numberOf(a) - numberOf(b) || (a.path < b.path ? -1 : 1))
  const path = sorted[0]!.path
  const quantization = quantizationOf(path)
  return {
    name: quantization ?? stemOf(path),
    kind: kindOf(path),
    quantization,
    files: sorted,
    bytes: sorted.reduce((sum, { size }) => sum + size, 0),
    missing: Math.max(0, count - sorted.length),
  }
}

/**
 * Names that differ in all of a repository. A model is named after its quantization. Where several models have the
 * same, and for companions, it is the path of the file; for shards of several sets the path of the first.
 */
function named(variants: readonly HubVariant[]): HubVariant[] {
  const names: ((one: HubVariant) => string)[] = [
    ({ kind, quantization, files }) =>
      kind === 'model' && quantization !== undefined ? quantization : stemOf(files[0]!.path),
    ({ files }) => stemOf(files[0]!.path),
    ({ files }) => files[0]!.path.replace(/\.gguf$/i, ''),
  ]
  let found = variants.map((one) => ({ ...one, name: names[0]!(one) }))
  for (const name of names.slice(1)) {
    const times = new Map<string, number>()
    for (const one of found) times.set(one.name, (times.get(one.name) ?? 0) + 1)
    found = found.map((one) =>
      times.get(one.name)! > 1 && (name === names[1] || placeInSet(one.files[0]!.path) !== undefined)
        ? { ...one, name: name(one) }
        : one,
    )
  }
  return found
}
