import { GgufError } from '../api/errors.js'
import { tensorTypes } from '../header/header.js'
import { inspectModule, quantModule } from '../runtime/module.js'
import { importanceOf } from './imatrix.js'
import type { Importance, TensorEntry } from './layout.js'
import { isWeights, kindOf, kMixtures, kOtherNames, kSmallerBlocks, typeIn, type Place } from './mixtures.js'
import type { RequantizeOptions, TensorPlan } from './types.js'

/** What the rules ask of the model's metadata. */
export interface ModelFacts {
  readonly architecture: string | undefined
  number(key: string): number | undefined
}

/** Gives each tensor its type in the mixture. The entries are changed only when all is well. */
export async function chooseTypes(
  tensors: readonly TensorEntry[],
  name: string,
  facts: ModelFacts,
  { pure = false, types: chosen, importance, signal }: RequantizeOptions,
  wasmUrl: string | URL | undefined,
): Promise<number> {
  const mixture = Object.hasOwn(kMixtures, kOtherNames[name] ?? name)
    ? kMixtures[kOtherNames[name] ?? name]!
    : undefined
  if (!mixture) {
    const names = Object.keys(kMixtures).join(', ')
    throw new GgufError('invalid-argument', `There is no mixture ${name}: it is one of ${names}.`)
  }
  const [inspect, quant] = await Promise.all([inspectModule(wasmUrl), quantModule(wasmUrl)])
  signal?.throwIfAborted()
  const rows = new Map([...tensorTypes(inspect).values()].map((row) => [row.name, row]))

  const prefix = facts.architecture
  const heads = facts.number(`${prefix}.attention.head_count`) ?? 1
  const kvHeads = facts.number(`${prefix}.attention.head_count_kv`) ?? heads
  const layerOf = (tensor: string): number => Number(/(?:^|\.)blk\.(\d+)\./.exec(tensor)?.[1] ?? 0)
  const layers =
    facts.number(`${prefix}.block_count`) ??
    1 + tensors.reduce((most, one) => Math.max(most, layerOf(one.name)), 0)
  const tied = !tensors.some((one) => one.name === 'output.weight')
  const experts = facts.number(`${prefix}.expert_count`) ?? 0
  const groupedHeads = kvHeads > 0 ? heads / kvHeads : 1

  const floats = (type: string): boolean => {
    const row = rows.get(type)
    return row !== undefined && !/^[IF]\d+$/.test(type)
      ? quant.canDequantize(row.id)
      : /^F(16|32|64)$/.test(type)
  }
  const plan = tensors.map((entry): { type: string; importance: Importance | undefined } => {
    const kept = { type: entry.type, importance: undefined }
    if (!floats(entry.type)) return kept
    const at: Place = {
      layer: layerOf(entry.name),
      layers,
      groupedHeads,
      experts,
      falcon: prefix === 'falcon',
      large: layers === 80 && groupedHeads === 8,
      hasImportance: importance !== undefined,
    }
    const wanted = chosen?.({ name: entry.name, shape: entry.shape, type: entry.type } satisfies TensorPlan)
    if (wanted === undefined && !isWeights(entry.name, entry.shape)) return kept
    const kind = kindOf(entry.name, tied)
    // Of mixtures of experts MXFP4 is for the experts alone.
    const mixed =
      mixture.type === 'MXFP4' && !((entry.shape[2] ?? 1) > 1) ? 'Q8_0' : typeIn(mixture, kind, at)
    let type = wanted ?? (pure ? mixture.type : mixed)
    const fits = (one: string): boolean =>
      (entry.shape[0] ?? 1) % (rows.get(one)?.blockSize || Infinity) === 0
    if (wanted === undefined && !fits(type))
      type = kind === 'output' ? 'Q8_0' : (kSmallerBlocks[type] ?? 'F16')
    if (wanted === undefined && !fits(type)) type = 'F16'
    if (type === entry.type) return kept
    const row = rows.get(type)
    if (!row || !quant.canQuantize(row.id))
      throw new GgufError('unsupported', `Tensor ${entry.name}: there is no quantizer of type ${type}.`)
    const found = importance && importanceOf(importance, entry.name)
    if (!found && quant.needsImportance(row.id)) {
      throw new GgufError(
        'invalid-argument',
        `Tensor ${entry.name} cannot become ${type} without importance: give a file of llama.cpp's imatrix.`,
      )
    }
    // Types of plain numbers have no use for it.
    return { type, importance: /^(F|BF)\d/.test(type) ? undefined : found }
  })
  for (const [i, { type, importance: found }] of plan.entries()) {
    const entry = tensors[i]!
    entry.type = type
    entry.importance = found
  }
  return mixture.fileType
}
