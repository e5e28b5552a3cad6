// What an estimate is for, and the sizes of caches and tensors.
import type { KvType, MemoryDevice } from '../api/memory.js'
import type { TensorInfo } from '../api/tensors.js'
import type { CacheShape } from './shape.js'

export interface KvTypes {
  readonly k: KvType
  readonly v: KvType
}

export interface Plan {
  readonly context: number
  readonly kvType: KvTypes
  readonly batch: number
  readonly cpuExperts: number
  readonly devices: readonly MemoryDevice[]
}

/** elements and bytes of a block */
const kKvTypes: Readonly<Record<KvType, readonly [elements: number, bytes: number]>> = {
  f32: [1, 4],
  f16: [1, 2],
  bf16: [1, 2],
  q8_0: [32, 34],
  q5_1: [32, 24],
  q5_0: [32, 22],
  q4_1: [32, 20],
  q4_0: [32, 18],
  iq4_nl: [32, 18],
}
export const kKvTypeNames = Object.keys(kKvTypes)

const kCellStep = 256
export const padded = (n: number, step = kCellStep) => Math.ceil(n / step) * step

/** Alignment of tensors in their buffers. */
export const kAlignment = 32
export const bytesOf = (tensors: readonly TensorInfo[]) =>
  tensors.reduce((sum, { byteLength }) => sum + padded(byteLength, kAlignment), 0)

function rowBytes(elements: number, type: KvType): number {
  const [block, bytes] = kKvTypes[type]
  return Math.ceil(elements / block) * bytes
}

export function cellsOf({ cells, window, ratio = 1 }: CacheShape, { context, batch }: Plan): number {
  if (cells !== undefined) return padded(cells)
  const all = padded(context)
  if (ratio > 1) return padded(all / ratio)
  return window === undefined ? all : padded(Math.min(all, window + batch))
}

export const cacheBytes = (shape: CacheShape, plan: Plan) =>
  cellsOf(shape, plan) * (rowBytes(shape.k, plan.kvType.k) + rowBytes(shape.v, plan.kvType.v))
