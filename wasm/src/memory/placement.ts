// Which device stores what, by llama.cpp's rule: layers from the last one on, split in proportion to the devices'
// memory.
import type { MemoryDevice } from '../api/memory.js'
import { computeBytes } from './graph/compute.js'
import { bytesOf, cacheBytes, cellsOf, kAlignment, padded, type Plan } from './plan.js'
import type { LayerShape, ModelShape } from './shape.js'

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

interface PlacedLayer {
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
    cache: layer.caches.reduce((sum, cache) => sum + cacheBytes(cache, plan), layer.pending),
    state: layer.state * 4,
    cells: layer.caches[0] ? cellsOf(layer.caches[0], plan) : 0,
  }
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
  const compute = shape.sound ?? computeBytes(shape, plan)
  placed.compute = used.map((one) => (one ? compute : 0))
  return { ...placed, layers, outputDevice }
}
