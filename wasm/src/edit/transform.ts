// Tensor data that is changed on its way from a source to the file, a few megabytes at a time.
import { Heap } from '../runtime/heap.js'
import type { QuantModule } from '../quant.js'
import type { TensorType } from '../api/types.js'
import { floatPieces, type BlockRange } from '../tensors/values.js'
import type { Importance } from './layout.js'

const kReadBytes = 1 << 22
const kFloats = 1 << 18
// A page gets its turn this often, in milliseconds, while blocks are searched for.
const kBreath = 50

/** The same blocks in the other byte order. */
export async function* turned(
  module: QuantModule,
  { type, source, offset, byteLength, small }: BlockRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const step = Math.max(1, Math.floor(kReadBytes / type.blockBytes)) * type.blockBytes
  using heap = new Heap(module)
  const place = heap.reserve(Math.min(step, byteLength))
  for (let at = 0; at < byteLength; at += step) {
    const bytes = await source.read(offset + at, Math.min(step, byteLength - at), { signal })
    heap.put(place, bytes)
    module.swapBytes(type.id, place, bytes.length / type.blockBytes, small)
    yield heap.bytes(place, bytes.length).slice() as Uint8Array<ArrayBuffer>
  }
}

/** The same quants in today's layout of blocks. */
export async function* modernized(
  module: QuantModule,
  { type, source, offset, byteLength }: BlockRange,
  today: TensorType,
  bigEndian: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const step = Math.floor(kReadBytes / type.blockBytes) * type.blockBytes
  using heap = new Heap(module)
  const from = heap.reserve(Math.min(step, byteLength))
  const to = heap.reserve((Math.min(step, byteLength) / type.blockBytes) * today.blockBytes)
  for (let at = 0; at < byteLength; at += step) {
    const bytes = await source.read(offset + at, Math.min(step, byteLength - at), { signal })
    const count = bytes.length / type.blockBytes
    heap.put(from, bytes)
    module.modernize(type.id, from, to, count)
    if (bigEndian) module.swapBytes(today.id, to, count, false)
    yield heap.bytes(to, count * today.blockBytes).slice() as Uint8Array<ArrayBuffer>
  }
}

export interface Conversion {
  readonly type: TensorType
  readonly shape: readonly number[]
  readonly bigEndian: boolean
  readonly importance: Importance | undefined
}

/** Lets the page have its turn now and then, and sees an abort. */
function breather(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < kBreath) return undefined
    return new Promise<void>((resolve) => setTimeout(resolve)).then(() => {
      signal?.throwIfAborted()
      last = performance.now()
    })
  }
}

/** The floats of the blocks, quantized as another type; with importance whole rows at a time. */
export async function* converted(
  module: QuantModule,
  from: BlockRange,
  { type, shape, bigEndian, importance }: Conversion,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using heap = new Heap(module)
  const columns = shape[0] ?? 1
  const unit = importance ? columns : type.blockSize
  const room = Math.max(1, Math.floor(kFloats / unit)) * unit
  const floats = heap.reserve(room * 4)
  const blocks = heap.reserve((room / type.blockSize) * type.blockBytes)
  const values = await importance?.load(signal)
  const weights = values ? heap.reserve(columns * 4) : 0
  // Floats up to where the weights change: those of one matrix.
  const matrix = values && values.length > columns ? columns * (shape[1] ?? 1) : Infinity
  let left = 0
  let matrices = 0
  let filled = 0
  const breath = breather(signal)
  const made = (): Uint8Array<ArrayBuffer> => {
    const count = filled / type.blockSize
    module.quantize(type.id, floats, blocks, count, weights, unit / type.blockSize)
    if (bigEndian) module.swapBytes(type.id, blocks, count, false)
    filled = 0
    return heap.bytes(blocks, count * type.blockBytes).slice() as Uint8Array<ArrayBuffer>
  }
  for await (const piece of floatPieces(module, from, heap, signal)) {
    for (let taken = 0; taken < piece.count;) {
      if (left === 0) {
        left = matrix
        const at = matrices++ * columns
        if (values) heap.putFloats(weights, values.subarray(at, at + columns))
      }
      const n = Math.min(room - filled, piece.count - taken, left)
      const start = piece.floats + 4 * taken
      module.HEAPU8.copyWithin(floats + 4 * filled, start, start + 4 * n)
      filled += n
      taken += n
      left -= n
      if (filled < room && left > 0) continue
      await breath()
      yield made()
    }
  }
  if (filled > 0) yield made()
}

/** Floats as little-endian bytes. */
export async function* floated(
  module: QuantModule,
  from: BlockRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using heap = new Heap(module)
  const breath = breather(signal)
  for await (const { floats, count } of floatPieces(module, from, heap, signal)) {
    await breath()
    yield heap.bytes(floats, 4 * count).slice() as Uint8Array<ArrayBuffer>
  }
}
