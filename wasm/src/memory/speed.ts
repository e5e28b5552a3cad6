// The maximum speed of generation: the bytes that one token reads, divided by the bandwidth of the memory that holds
// them.
import type { GgufFile } from '../api/file.js'
import type { MemoryDevice } from '../api/memory.js'
import type { Placed } from './placement.js'
import { bytesOf } from './plan.js'
import type { LayerShape, ModelShape } from './shape.js'

const kExperts = /_exps\.(weight|bias)$/

/** Of a layer's experts, a token reads only those that are used. */
function readOf(layer: LayerShape, used: number): number {
  const experts = bytesOf(layer.tensors.filter(({ name }) => kExperts.test(name)))
  return bytesOf(layer.tensors) - experts * (1 - used)
}

/** undefined if a device in use has no bandwidth. Transfers between devices are not counted. */
export function tokensPerSecond(
  file: GgufFile,
  shape: ModelShape,
  placed: Placed,
  devices: readonly (MemoryDevice | undefined)[],
): number | undefined {
  const { experts, expertsUsed } = file.summary()
  const used = experts && expertsUsed ? Math.min(1, expertsUsed / experts) : 1
  const read = Array<number>(devices.length).fill(0)
  shape.layers.forEach((layer, i) => {
    const { device, cache, state } = placed.layers[i]!
    read[device]! += readOf(layer, used) + cache + state
  })
  read[placed.outputDevice]! += bytesOf(shape.output) + (shape.tied?.byteLength ?? 0)
  let seconds = 0
  for (const [i, bytes] of read.entries()) {
    if (bytes === 0) continue
    const bandwidth = devices[i]?.bandwidth
    if (bandwidth === undefined) return undefined
    seconds += bytes / bandwidth
  }
  return seconds === 0 ? undefined : 1 / seconds
}
