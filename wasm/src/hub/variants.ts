// Groups the files of a repository into models: joins shards, determines quantizations, separates other kinds of
// files.
import { checkArgument, listOf, object, text, type Check } from '../api/checks.js'
import type { HubFile, HubVariant, VariantKind } from './types.js'

const kShard = /^(.*?)-(\d{5})-of-(\d{5})\.gguf$/i

// The name of a quantization within a file name, between separators. The last one counts: in "model-f16.Q4_0", "f16"
// is the source's.
const kQuantization =
  /(?<=^|[-._/ ])(?:UD[-_])?(?:IQ[1-6]_(?:XXS|XS|S|M|NL|KT?S?|K)(?:_R[48])?|Q[1-8]_(?:K(?:_(?:XXL|XL|XXS|XS|L|M|S|P))?|[01](?:_[48]_[48])?)|TQ[12]_0|MXFP[46](?:_MOE)?|NVFP4|BF16|F(?:P)?16|F(?:P)?32)(?=$|[-._/ ])/gi

const kKinds: readonly [name: RegExp, kind: VariantKind][] = [
  [/mmproj|mm-proj|projector/i, 'projector'],
  [/(^|[-._/])imatrix([-._/]|$)/i, 'imatrix'],
  [/(^|[-._/])(lora|adapter)([-._/]|$)/i, 'adapter'],
]
const kOrder: readonly VariantKind[] = ['model', 'projector', 'adapter', 'imatrix']

/** "Q4_K_M" for "folder/model-q4_k_m.gguf"; undefined if the name has none. */
export function quantizationOf(path: string): string | undefined {
  checkArgument('quantizationOf()', 'path', path, text)
  const file = path.replace(kShard, '$1').replace(/\.gguf$/i, '')
  return [...file.matchAll(kQuantization)]
    .at(-1)?.[0]
    .toUpperCase()
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
    const [, stem, , count] = kShard.exec(file.path) ?? []
    const key = stem === undefined ? file.path : `${stem}|${count}`
    const group = groups.get(key) ?? { files: [], count: Number(count ?? 1) }
    group.files.push(file)
    groups.set(key, group)
  }
  const variants = [...groups.values()].map(variantOf)
  return named(variants).sort(
    (a, b) =>
      kOrder.indexOf(a.kind) - kOrder.indexOf(b.kind) || a.bytes - b.bytes || (a.name < b.name ? -1 : 1),
  )
}

function variantOf({ files, count }: { files: HubFile[]; count: number }): HubVariant {
  const sorted = files.sort((a, b) => (a.path < b.path ? -1 : 1))
  const path = sorted[0]!.path
  const quantization = quantizationOf(path)
  return {
    name: quantization ?? stemOf(path),
    kind: kKinds.find(([name]) => name.test(path.replace(/^.*\//, '')))?.[1] ?? 'model',
    quantization,
    files: sorted,
    bytes: sorted.reduce((sum, { size }) => sum + size, 0),
    missing: Math.max(0, count - sorted.length),
  }
}

const stemOf = (path: string) => path.replace(kShard, '$1').replace(/\.gguf$/i, '')

/** If two models have the same name and kind, they are named after their files. */
function named(variants: readonly HubVariant[]): HubVariant[] {
  const times = new Map<string, number>()
  const key = ({ kind, name }: HubVariant) => `${kind} ${name}`
  for (const one of variants) times.set(key(one), (times.get(key(one)) ?? 0) + 1)
  return variants.map((one) =>
    times.get(key(one))! > 1 ? { ...one, name: stemOf(one.files[0]!.path) } : one,
  )
}

/** The default quantizations. As in other tools, the first one that exists is chosen. */
const kUsual = ['Q4_K_M', 'Q4_0', 'Q4_K_S', 'Q5_K_M', 'Q8_0']

/** The model with that quantization (in any case) or name. Without one, the default choice, otherwise the smallest. */
export function pickVariant(variants: readonly HubVariant[], quantization?: string): HubVariant | undefined {
  checkArgument('pickVariant()', 'list', variants, variantList)
  if (quantization !== undefined) checkArgument('pickVariant()', 'quantization', quantization, text)
  const models = variants.filter(({ kind, missing }) => kind === 'model' && missing === 0)
  if (quantization !== undefined) {
    const wanted = quantization.toUpperCase()
    return (
      models.find((one) => one.quantization === wanted) ??
      models.find((one) => one.quantization === `UD-${wanted}` || one.name.toUpperCase() === wanted)
    )
  }
  for (const usual of kUsual) {
    const found = models.find((one) => one.quantization === usual)
    if (found) return found
  }
  return models[0]
}
