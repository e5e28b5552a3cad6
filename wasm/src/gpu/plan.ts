// A plan of the core (core/gpu/plan.hpp) as objects: what to allocate, to compile and to dispatch.
import type { EngineHeap } from '../engine/heap.js'
import type { Variant } from './kernels.js'
import { kMaxBindings, kMaxMatrices } from './layout.js'
import type { PlanFacts, WasmDevice, WasmSpeechDevice } from '../engine/classes.js'

/** In this order: decode + decodeLogits + choose for a few tokens, prefill + prefillLogits + choose for more. */
const kLists = ['decode', 'decodeLogits', 'prefill', 'prefillLogits', 'embeddings', 'choose'] as const
export type DispatchListName = (typeof kLists)[number]
export type DispatchLists<Row> = Readonly<Record<DispatchListName, readonly Row[]>>

export const eachList = <Row>(rowsOf: (name: DispatchListName) => readonly Row[]) =>
  Object.fromEntries(kLists.map((name) => [name, rowsOf(name)])) as DispatchLists<Row>

export const kAbsent = 0xffffffff

/** What a buffer is for, in the core's order. */
export const kStores = [
  'weights',
  'cache',
  'recurrent',
  'activation',
  'step',
  'parameters',
  'output',
] as const
export type Store = (typeof kStores)[number]

export interface PlanBuffer {
  readonly store: Store
  readonly bytes: number
}

interface PlanBinding {
  /** of the bind group */
  readonly index: number
  readonly buffer: number
  readonly offset: number
  readonly bytes: number
}

/** Workgroups in one dimension: ceil((fixed + perRow * rows + perSplit * splits) / divisor). */
export interface GridSize {
  readonly fixed: number
  readonly perRow: number
  readonly perSplit: number
  readonly divisor: number
}

export interface PlanDispatch {
  readonly variant: number
  /** byte offset in the buffer of parameters */
  readonly parameters: number
  /** of the model; undefined: before or after the layers */
  readonly layer: number | undefined
  /** of the matrices that it reads */
  readonly weightBytes: number
  readonly grid: readonly [GridSize, GridSize]
  /** without the parameters, which are binding 0 */
  readonly bindings: readonly PlanBinding[]
}

interface PlanConstant {
  readonly buffer: number
  readonly offset: number
  readonly values: Float32Array<ArrayBuffer>
}

export interface Plan extends PlanFacts {
  readonly variants: readonly Variant[]
  readonly buffers: readonly PlanBuffer[]
  readonly parameterWords: Int32Array<ArrayBuffer>
  readonly constants: readonly PlanConstant[]
  readonly lists: DispatchLists<PlanDispatch>
}

/** Takes numbers of a table one after the other. */
class Reader {
  #at = 0
  readonly #numbers: Float64Array

  constructor(numbers: Float64Array) {
    this.#numbers = numbers
  }

  next(): number {
    return this.#numbers[this.#at++]!
  }

  /** The rest of the table, as rows. */
  rows<Row>(read: () => Row): Row[] {
    const rows: Row[] = []
    while (this.#at < this.#numbers.length) rows.push(read())
    return rows
  }
}

function readVariant(table: Reader): Variant {
  const next = () => table.next()
  const names = {
    kernel: next(),
    epilogue: next(),
    activation: next(),
    gating: next(),
    rope: next(),
    cacheKeys: next(),
    cacheValues: next(),
  }
  const types = Array.from({ length: kMaxMatrices }, next).filter((type) => type !== 255)
  return { ...names, types, dK: next(), dV: next(), heads: next(), flags: next() }
}

const readGrid = (table: Reader): GridSize => ({
  fixed: table.next(),
  perRow: table.next(),
  perSplit: table.next(),
  divisor: table.next(),
})

function readDispatch(table: Reader): PlanDispatch {
  const variant = table.next()
  const parameters = table.next()
  const layer = table.next()
  const weightBytes = table.next()
  const grid = [readGrid(table), readGrid(table)] as const
  const bindings = Array.from({ length: kMaxBindings }, (_, index) => ({
    index,
    buffer: table.next(),
    offset: table.next(),
    bytes: table.next(),
  })).filter(({ index, buffer }) => index > 0 && buffer !== kAbsent)
  return { variant, parameters, layer: layer === kAbsent ? undefined : layer, weightBytes, grid, bindings }
}

/** The plan of a device whose plan() succeeded. */
export function readPlan(device: WasmDevice | WasmSpeechDevice, heap: EngineHeap): Plan {
  const tableOf = (name: string) => new Reader(heap.doubles(device.table(name)))
  const [variants, buffers, constants] = [tableOf('variants'), tableOf('buffers'), tableOf('constants')]
  let constant = 0
  return {
    ...device.facts(),
    variants: variants.rows(() => readVariant(variants)),
    buffers: buffers.rows(() => ({ store: kStores[buffers.next()]!, bytes: buffers.next() })),
    parameterWords: heap.integers(device.parameters()),
    constants: constants.rows(() => ({
      buffer: constants.next(),
      offset: constants.next(),
      values: heap.floats(device.constant(constant++)),
    })),
    lists: eachList((name) => {
      const table = tableOf(name)
      return table.rows(() => readDispatch(table))
    }),
  }
}
