// The part of quantize() that needs the quant module.
import {
  anything,
  checkOptions,
  either,
  object,
  signal as isSignal,
  text,
  type Check,
} from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { Heap } from '../runtime/heap.js'
import { quantModule } from '../runtime/module.js'
import type { QuantizeOptions } from '../api/tensors.js'
import { nextTask } from '../runtime/next-task.js'

const kFloats = 1 << 16

const kChecks: Readonly<Record<keyof QuantizeOptions, Check>> = {
  wasmUrl: anything, // starting the module reports what is wrong
  assets: either(text, object),
  importance: (value) => (value instanceof Float32Array ? undefined : 'a Float32Array'),
  signal: isSignal,
}

/** See quantize(). */
export async function quantizeRows(
  type: string,
  floats: Float32Array,
  options: QuantizeOptions,
): Promise<Bytes> {
  checkOptions('quantize()', options, kChecks)
  const { importance, signal, ...hosting } = options
  signal?.throwIfAborted()
  if (typeof type !== 'string' || !(floats instanceof Float32Array))
    throw new GgufError(
      'invalid-argument',
      `quantize() takes a type's name and a Float32Array, not ${String(type)} and ${Array.isArray(floats) ? 'an array' : typeof floats}.`,
    )
  const module = await quantModule(hosting)
  const { id, blockSize, blockBytes } = module.findType(type)
  if (id < 0 || !module.canQuantize(id))
    throw new GgufError('unsupported', `There is no quantizer of type ${type}.`)
  if (!importance && module.needsImportance(id))
    throw new GgufError('invalid-argument', `Type ${type} cannot be quantized without importance.`)
  const rowLength = importance?.length ?? blockSize
  if (rowLength === 0 || rowLength % blockSize !== 0 || floats.length % rowLength !== 0) {
    throw new GgufError(
      'bad-shape',
      `${floats.length} floats in rows of ${rowLength} are no whole blocks of ${blockSize}, which ${type} needs.`,
    )
  }
  const rowBlocks = rowLength / blockSize
  const blocksPerChunk = Math.max(1, Math.floor(kFloats / rowLength)) * rowBlocks
  const blockCount = floats.length / blockSize
  const out = new Uint8Array(blockCount * blockBytes)
  const heap = new Heap(module)
  try {
    const from = heap.reserve(blocksPerChunk * blockSize * 4)
    const to = heap.reserve(blocksPerChunk * blockBytes)
    const weights = importance ? heap.reserve(rowLength * 4) : 0
    if (importance) heap.putFloats(weights, importance)
    let lastYield = performance.now()
    for (let at = 0; at < blockCount; at += blocksPerChunk) {
      // The searches take seconds for large tensors, so this yields to the page and checks for an abort.
      if (performance.now() - lastYield > 50) {
        await nextTask()
        signal?.throwIfAborted()
        lastYield = performance.now()
      }
      const n = Math.min(blocksPerChunk, blockCount - at)
      heap.putFloats(from, floats.subarray(at * blockSize, (at + n) * blockSize))
      module.quantize(id, from, to, n, weights, rowBlocks)
      out.set(heap.bytes(to, n * blockBytes), at * blockBytes)
    }
    return out
  } finally {
    heap.free()
  }
}
