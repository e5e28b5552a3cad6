// Tensor data that is changed on its way from a source to the file, a few megabytes at a time.
import { Heap } from '../heap.js'
import type { QuantModule } from '../quant.js'
import type { TensorType } from '../types.js'
import { floatPieces, type BlockRange } from '../values.js'

const kReadBytes = 1 << 22
const kFloats = 1 << 18
// A page gets its turn this often, in milliseconds, while blocks are searched for.
const kBreath = 50

/** The same blocks in the other byte order. */
export async function* turned(
  module: QuantModule,
  { type, source, offset, byteLength }: BlockRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const step = Math.max(1, Math.floor(kReadBytes / type.blockBytes)) * type.blockBytes
  using heap = new Heap(module)
  const place = heap.reserve(Math.min(step, byteLength))
  for (let at = 0; at < byteLength; at += step) {
    const bytes = await source.read(offset + at, Math.min(step, byteLength - at), { signal })
    heap.put(place, bytes)
    module.swapBytes(type.id, place, bytes.length / type.blockBytes)
    yield heap.bytes(place, bytes.length).slice() as Uint8Array<ArrayBuffer>
  }
}

export interface Conversion {
  readonly type: TensorType
  readonly rowLength: number
  readonly bigEndian: boolean
  /** of each column */
  readonly importance: Float32Array | undefined
}

/** The floats of the blocks, quantized as another type; with importance whole rows at a time. */
export async function* converted(
  module: QuantModule,
  from: BlockRange,
  { type, rowLength, bigEndian, importance }: Conversion,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  using heap = new Heap(module)
  const unit = importance ? rowLength : type.blockSize
  const room = Math.max(1, Math.floor(kFloats / unit)) * unit
  const floats = heap.reserve(room * 4)
  const blocks = heap.reserve((room / type.blockSize) * type.blockBytes)
  const weights = importance ? heap.reserve(rowLength * 4) : 0
  if (importance) heap.putFloats(weights, importance)
  let breath = performance.now()
  let filled = 0
  const made = (): Uint8Array<ArrayBuffer> => {
    const count = filled / type.blockSize
    module.quantize(type.id, floats, blocks, count, weights, unit / type.blockSize)
    if (bigEndian) module.swapBytes(type.id, blocks, count)
    filled = 0
    return heap.bytes(blocks, count * type.blockBytes).slice() as Uint8Array<ArrayBuffer>
  }
  for await (const piece of floatPieces(module, from, heap, signal)) {
    for (let taken = 0; taken < piece.count;) {
      const n = Math.min(room - filled, piece.count - taken)
      const start = piece.floats + 4 * taken
      module.HEAPU8.copyWithin(floats + 4 * filled, start, start + 4 * n)
      filled += n
      taken += n
      if (filled < room) continue
      if (performance.now() - breath > kBreath) {
        await new Promise((resolve) => setTimeout(resolve))
        signal?.throwIfAborted()
        breath = performance.now()
      }
      yield made()
    }
  }
  if (filled > 0) yield made()
}
