// Plans quantize() before anything is computed: the type of each tensor, and whether its quality is acceptable.
import type { AssetOptions } from '../api/assets.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { tensorTypes } from '../header/header.js'
import { inspectModule, quantModule } from '../runtime/module.js'
import type { QuantModule } from '../quant.js'
import type { TensorType } from '../api/tensors.js'
import { readImportance, type ImportanceEntries } from './imatrix.js'
import type { TensorEntry } from './entries.js'
import { sourceType } from './layout.js'
import { patternsOf } from './patterns.js'
import {
  is70B,
  kFallbacks,
  kMixtures,
  mixtureOf,
  needsImportance,
  typeIn,
  type Mixture,
  type Place,
} from './mixtures.js'
import type { QuantizedTensor, QuantizeReport, TensorPlan } from '../api/edit.js'
import type { RequantizeOptions } from '../api/file.js'
import { blockOf, inLoadersOrder, isOuter, isWeights, kindOf } from './weights.js'

/** The metadata that the rules use. */
export interface ModelFacts {
  readonly architecture: string | undefined
  /** general.type is "adapter": pairs of small matrices, for which mixtures have no rules */
  readonly adapter: boolean
  number(key: string): number | undefined
}

export interface Decision {
  readonly report: QuantizeReport
  readonly importance: ImportanceEntries | undefined
  /** sets the types of the tensors */
  apply(): void
}

const invalid = (message: string): GgufError => new GgufError('invalid-argument', message)
const isPlain = (type: string): boolean => /^(F|BF)\d/.test(type)
const few = (names: readonly string[]): string =>
  names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '')

/** The properties of a type that the choice needs. */
interface Kinds {
  readonly quant: QuantModule
  readonly rows: ReadonlyMap<string, TensorType>
}

/** The place of each tensor, in the order in which llama.cpp counts them. */
function placesOf(
  tensors: readonly TensorEntry[],
  facts: ModelFacts,
  hasImportance: boolean,
  counts: (entry: TensorEntry) => boolean,
): ReadonlyMap<TensorEntry, Place> {
  const { architecture } = facts
  const number = (key: string): number | undefined => facts.number(`${architecture}.${key}`)
  const heads = number('attention.head_count') ?? 0
  const kvHeads = number('attention.head_count_kv') ?? heads
  // Blocks of projectors have other names, so llama.cpp counts none.
  const layers =
    architecture === 'clip'
      ? 0
      : (number('block_count') ?? 1 + Math.max(0, ...tensors.map(({ name }) => blockOf(name))))
  const model = {
    groupedHeads: kvHeads > 0 ? heads / kvHeads : 0,
    experts: number('expert_count') ?? 0,
    architecture,
    is70B: is70B(architecture, layers, heads !== kvHeads),
    hasImportance,
  }
  const values = tensors.filter(({ name }) => kindOf(name, false) === 'attn_v').length
  const seen = new Map<string, number>()
  const places = new Map<TensorEntry, Place>()
  for (const entry of [...tensors].sort((a, b) => inLoadersOrder(a.name, b.name))) {
    const kind = kindOf(entry.name, false) ?? ''
    const order = seen.get(kind) ?? 0
    if (counts(entry)) seen.set(kind, order + 1)
    const isValue = kind === 'attn_v'
    const block = blockOf(entry.name)
    const byName = !isValue && model.experts > 1 && block >= 0
    places.set(entry, {
      ...model,
      order,
      layer: byName ? block : order,
      layers: isValue ? values : layers,
    })
  }
  return places
}

/** Returns the given type if the tensor's rows are whole blocks of it, otherwise its fallback. */
function fitting(
  { name, shape }: TensorEntry,
  type: string,
  { rows }: Kinds,
  { fallback = true }: RequantizeOptions,
  adapter: boolean,
): string {
  const rowLength = shape[0] ?? 1
  const size = (one: string): number => rows.get(one)?.blockSize || Infinity
  if (rowLength % size(type) === 0) return type
  // The smallest blocks have 32 elements.
  const wide = kFallbacks[type] ?? (adapter || size(type) === 32 ? 'F16' : undefined)
  const narrow = wide === undefined || rowLength % size(wide) === 0 ? wide : 'F16'
  if (narrow !== undefined && fallback) return narrow
  const why = narrow === undefined ? 'and there is no type to fall back to' : 'and no fallback is allowed'
  throw new GgufError(
    'bad-shape',
    `Tensor ${name} cannot be ${type}: its rows of ${counted(rowLength, 'element')} are no whole blocks of ${size(type)}, ${why}. Give it another type ("${name}=F16"), or take another mixture.`,
  )
}

function checkTypes({ name }: TensorEntry, type: string, { quant, rows }: Kinds): TensorType {
  const row = rows.get(type)
  if (row && quant.canQuantize(row.id)) return row
  throw new GgufError('unsupported', `Tensor ${name}: there is no quantizer of type ${type}.`)
}

/** The type of each tensor by the mixture or the caller. Row lengths are not checked. */
function wantedTypes(
  tensors: readonly TensorEntry[],
  mixture: Mixture,
  facts: ModelFacts,
  kinds: Kinds,
  options: RequantizeOptions,
): Map<TensorEntry, string> {
  const { pure = false, importance } = options
  const { quant, rows } = kinds
  const tied = !tensors.some(({ name }) => name === 'output.weight')
  const chosen = patternsOf(options.types, tensors, (type) => rows.has(type))
  const floats = tensors.filter((entry) => {
    const type = rows.get(sourceType(entry))
    return (
      type !== undefined && (isPlain(type.name) || (!/^I\d/.test(type.name) && quant.canDequantize(type.id)))
    )
  })
  const wanted = new Map<TensorEntry, string>()
  const ruled = new Set<TensorEntry>()
  for (const entry of floats) {
    const weights = isWeights(entry.name, entry.shape, facts.adapter)
    const plan = { name: entry.name, shape: entry.shape, type: entry.type } satisfies TensorPlan
    const type = chosen(plan, weights)
    if (type !== undefined) wanted.set(entry, type)
    else if (weights) ruled.add(entry)
  }
  const places = placesOf(tensors, facts, importance !== undefined, (entry) => ruled.has(entry))
  for (const entry of ruled) {
    const kind = facts.adapter ? undefined : kindOf(entry.name, tied)
    const rowsFit = (entry.shape[0] ?? 1) % (rows.get(mixture.type)?.blockSize || 1) === 0
    const type = typeIn(mixture, kind, places.get(entry)!, rowsFit)
    // MXFP4 is used for experts only.
    const experts = facts.architecture !== 'bailingmoe3' || /ffn_(up|gate|down)/.test(entry.name)
    const narrow = (entry.shape[2] ?? 1) > 1 && experts
    const mixed = mixture === kMixtures['MXFP4_MOE'] && !narrow ? 'Q8_0' : type
    wanted.set(entry, pure ? mixture.type : mixed)
  }
  return wanted
}

/** The importance of a tensor's columns, if the matrix has an entry for it. */
export function importanceFor(
  { name, shape }: TensorEntry,
  entries: ImportanceEntries | undefined,
): ReturnType<ImportanceEntries['get']> {
  const found = entries?.get(name)
  const columns = (shape[0] ?? 1) * (shape[2] ?? 1)
  if (!found || found.count === columns) return found
  // Entries for embeddings are never valid, because their columns are counted by tokens.
  if (isOuter(name) && name !== 'output.weight') return undefined
  throw new GgufError(
    'bad-shape',
    `The importance matrix has ${counted(found.count, 'value')} for ${name}, which has ${counted(columns, 'column')}: it is of another model.`,
  )
}

const bytesOf = (shape: readonly number[], type: TensorType | undefined): number =>
  type?.blockSize ? (shape.reduce((product, n) => product * n, 1) / type.blockSize) * type.blockBytes : 0

interface Change {
  /** The mixture's type, and the type that the tensor's rows allow. */
  readonly want: string
  readonly to: string
  readonly kinds: Kinds
  readonly mixture: Mixture
  readonly importance: ImportanceEntries | undefined
}

function tensorOf(
  entry: TensorEntry,
  { want, to, kinds, mixture, importance }: Change,
): { tensor: QuantizedTensor; found: ReturnType<typeof importanceFor> } {
  const { quant, rows } = kinds
  const from = sourceType(entry)
  const changes = to !== entry.type || entry.type !== from
  const row = to === entry.type ? rows.get(to) : checkTypes(entry, to, kinds)
  const found = changes && !isPlain(to) ? importanceFor(entry, importance) : undefined
  const lossless = row !== undefined && quant.modernType(rows.get(from)?.id ?? -1) === row.id
  const tensor: QuantizedTensor = {
    name: entry.name,
    shape: entry.shape,
    from,
    to,
    fromBytes: bytesOf(entry.shape, rows.get(from)),
    toBytes: bytesOf(entry.shape, row),
    wanted: want,
    importance: found !== undefined,
    requantized: to !== from && !isPlain(from) && !lossless,
    needsImportance:
      changes &&
      !found &&
      row !== undefined &&
      (quant.needsImportance(row.id) || (!isOuter(entry.name) && needsImportance(mixture, to))),
  }
  return { tensor, found }
}

/** Plans the type of each tensor in the mixture and reports problems. Changes nothing yet. */
export async function decide(
  tensors: readonly TensorEntry[],
  name: string,
  facts: ModelFacts,
  options: RequantizeOptions,
  hosting: AssetOptions | undefined,
): Promise<Decision> {
  const { signal, dryRun = false, allowRequantize = false } = options
  const mixture = mixtureOf(name)
  if (!mixture) {
    const names = Object.keys(kMixtures).join(', ')
    throw invalid(`There is no mixture ${name}: it is one of ${names}.`)
  }
  const [inspect, quant] = await Promise.all([inspectModule(hosting), quantModule(hosting)])
  signal?.throwIfAborted()
  const rows = new Map([...tensorTypes(inspect).values()].map((row) => [row.name, row]))
  const kinds: Kinds = { quant, rows }
  const importance = options.importance && (await readImportance(options.importance, signal))
  const wanted = wantedTypes(tensors, mixture, facts, kinds, options)
  const decided = tensors.map((entry) => {
    const want = wanted.get(entry) ?? entry.type
    const to = want === entry.type ? want : fitting(entry, want, kinds, options, facts.adapter)
    return { entry, ...tensorOf(entry, { want, to, kinds, mixture, importance }) }
  })
  const report = reportOf(
    decided.map(({ tensor }) => tensor),
    mixture,
    importance,
  )
  if (!dryRun) refuse(report, allowRequantize)
  return {
    report,
    importance,
    apply() {
      for (const { entry, tensor, found } of decided) {
        entry.type = tensor.to
        entry.importance = found
      }
    },
  }
}

function reportOf(
  tensors: readonly QuantizedTensor[],
  mixture: Mixture,
  importance: ImportanceEntries | undefined,
): QuantizeReport {
  const names = (those: (tensor: QuantizedTensor) => boolean): string[] =>
    tensors.filter(those).map((tensor) => tensor.name)
  const known = new Set(tensors.map((tensor) => tensor.name))
  const unused = [...(importance?.keys() ?? [])].filter((name) => !known.has(name))
  if (importance && unused.length === importance.size) {
    throw invalid(
      `The importance matrix is of another model: none of its ${counted(importance.size, 'entry', 'entries')} (${few(unused)}) is a tensor of this one.`,
    )
  }
  return {
    mixture: Object.keys(kMixtures).find((name) => kMixtures[name] === mixture)!,
    fileType: mixture.fileType,
    tensors,
    quantized: names(({ from, to }) => from !== to).length,
    fellBack: names(({ wanted, to }) => wanted !== to),
    requantized: names(({ requantized }) => requantized),
    needsImportance: names((tensor) => tensor.needsImportance),
    importance: importance && {
      entries: importance.size,
      covered: names((tensor) => tensor.importance),
      lacking: names((tensor) => tensor.from !== tensor.to && !isPlain(tensor.to) && !tensor.importance),
      unused,
      datasets: importance.datasets,
      chunks: importance.chunks,
    },
  }
}

/** Throws for plans with large errors, which llama-quantize refuses too. */
function refuse(
  { tensors, requantized, needsImportance: bare, importance }: QuantizeReport,
  allow: boolean,
): void {
  const find = (name: string): QuantizedTensor => tensors.find((tensor) => tensor.name === name)!
  const [again] = requantized
  if (again !== undefined && !allow) {
    const { from, to } = find(again)
    throw invalid(
      `Tensor ${again} is quantized already (${from}): as ${to} it would have the errors of both (${counted(requantized.length, 'tensor')}). Take the original, or allow it (allowRequantize; --allow-requantize).`,
    )
  }
  const [name] = bare
  if (name === undefined) return
  const advice = importance
    ? 'the importance matrix has no entry for it: was it made of this model?'
    : "give a file of llama.cpp's imatrix (importance; --imatrix)."
  throw invalid(
    `Tensor ${name} cannot become ${find(name).to} without importance (${counted(bare.length, 'tensor')}): ${advice}`,
  )
}
