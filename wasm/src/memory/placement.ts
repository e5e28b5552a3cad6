// Which device stores what, by llama.cpp's rule: layers from the last one on, split in proportion to the devices'
// memory.
import type { TensorInfo } from '../api/tensors.js'
import type { KvType, MemoryDevice } from '../api/memory.js'
import type { CacheShape, LayerShape, ModelShape } from './shape.js'

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
const kAlignment = 32
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

const cacheBytes = (shape: CacheShape, plan: Plan) =>
  cellsOf(shape, plan) * (rowBytes(shape.k, plan.kvType.k) + rowBytes(shape.v, plan.kvType.v))

/** The device of each of n layers and of the output after them; 0 is the CPU. */
function deviceOfLayers(n: number, gpuLayers: number, devices: readonly MemoryDevice[]): number[] {
  const start = Math.max(0, n + 1 - gpuLayers)
  const active = Math.min(gpuLayers, n + 1)
  const all = devices.reduce((sum, { memory }) => sum + memory, 0)
  let before = 0
  const ends = devices.map(({ memory }) => (before += all > 0 ? memory / all : 1 / devices.length))
  return Array.from({ length: n + 1 }, (_, i) => {
    if (i < start || devices.length === 0) return 0
    const found = ends.findIndex((end) => (i - start) / active < end)
    return 1 + (found < 0 ? devices.length - 1 : found)
  })
}

export interface PlacedLayer {
  readonly device: number
  readonly weights: number
  readonly cache: number
  readonly state: number
  readonly cells: number
}

export interface Placed {
  readonly layers: readonly PlacedLayer[]
  readonly outputDevice: number
  /** by device; the CPU is first */
  readonly weights: number[]
  readonly cache: number[]
  readonly state: number[]
  readonly compute: number[]
}

const kExperts = /_(exps|chexps)\.(weight|bias)$/

function placeLayer(
  layer: LayerShape,
  index: number,
  device: number,
  plan: Plan,
): PlacedLayer & { cpu: number } {
  const cpu = index < plan.cpuExperts ? bytesOf(layer.tensors.filter(({ name }) => kExperts.test(name))) : 0
  return {
    device,
    weights: bytesOf(layer.tensors),
    cpu: device === 0 ? 0 : cpu,
    cache: layer.caches.reduce((sum, cache) => sum + cacheBytes(cache, plan), 0),
    state: layer.state * 4,
    cells: layer.caches[0] ? cellsOf(layer.caches[0], plan) : 0,
  }
}

/**
 * Approximate size of intermediate results: the logits or the widest layer of one batch, and the attention mask. The
 * real size depends on the backend's kernels.
 */
function computeBytes(shape: ModelShape, { context, batch }: Plan): number {
  const tokens = Math.min(batch, padded(context))
  const logits = tokens * (shape.vocabulary + shape.embedding) * 4
  const layer = tokens * (2 * shape.feedForward + 4 * shape.embedding) * 4
  const attends = shape.layers.some(({ caches }) => caches.length > 0)
  return Math.max(logits, layer) + (attends ? padded(context) * tokens * 2 : 0)
}

export function place(shape: ModelShape, gpuLayers: number, plan: Plan): Placed {
  const devices = deviceOfLayers(shape.layers.length, gpuLayers, plan.devices)
  const zeros = () => Array<number>(plan.devices.length + 1).fill(0)
  const placed = { weights: zeros(), cache: zeros(), state: zeros(), compute: zeros() }
  const layers = shape.layers.map((layer, i) => placeLayer(layer, i, devices[i]!, plan))
  for (const { device, weights, cache, state, cpu } of layers) {
    placed.weights[device]! += weights - cpu
    placed.weights[0]! += cpu
    placed.cache[device]! += cache
    placed.state[device]! += state
  }
  const outputDevice = devices[shape.layers.length]!
  placed.weights[0]! += bytesOf(shape.input)
  placed.weights[outputDevice]! += bytesOf(shape.output)
  // The CPU reads the embedding's own rows. A device needs a copy of them in addition to its layers.
  if (outputDevice > 0 && shape.tied)
    placed.weights[outputDevice]! += padded(shape.tied.byteLength, kAlignment)
  const used = placed.weights.map((bytes, i) => bytes > 0 && (i > 0 || outputDevice === 0))
  const compute = computeBytes(shape, plan)
  placed.compute = used.map((one) => (one ? compute : 0))
  return { ...placed, layers, outputDevice }
}
