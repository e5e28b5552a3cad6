// Converts tensor data between a source and the written file, a few megabytes at a time.
import { GgufError } from '../api/errors.js'
import { Heap } from '../runtime/heap.js'
import type { QuantModule } from '../quant.js'
import type { TensorType } from '../api/tensors.js'
import { blockText, flawText } from '../tensors/flaws.js'
import { floatChunks, type BlockRange } from '../tensors/values.js'
import type { Importance } from './entries.js'
import { nextTask } from '../runtime/next-task.js'

const kReadBytes = 1 << 22
const kFloats = 1 << 18
// Interval in milliseconds after which quantization yields to the page.
const kYieldMs = 50

/** The blocks of a range, some megabytes at a time: as they were read, and in the heap. */
async function* blockChunks(
  module: QuantModule,
  { type, source, offset, byteLength }: BlockRange,
  signal: AbortSignal | undefined,
) {
  const step = Math.max(1, Math.floor(kReadBytes / type.blockBytes)) * type.blockBytes
  const heap = new Heap(module)
  try {
    const place = heap.reserve(Math.min(step, byteLength))
    for (let at = 0; at < byteLength; at += step) {
      const bytes = await source.read(offset + at, Math.min(step, byteLength - at), { signal })
      heap.put(place, bytes)
      yield { heap, place, bytes, count: bytes.length / type.blockBytes, first: at / type.blockBytes }
    }
  } finally {
    heap.free()
  }
}

/** Converts blocks to the other byte order. */
export async function* turned(
  module: QuantModule,
  range: BlockRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const { heap, place, bytes, count } of blockChunks(module, range, signal)) {
    module.swapBytes(range.type.id, place, count, range.small)
    yield heap.bytes(place, bytes.length).slice()
  }
}

interface Named {
  readonly name: string
  readonly shape: readonly number[]
}

/**
 * Throws if blocks in the heap contain NaN or infinities. `first`: index in the tensor of the first of these blocks.
 */
function checkBlocks(
  module: QuantModule,
  { type, offset, small }: BlockRange,
  { name, shape }: Named,
  [place, count, first]: readonly [place: number, count: number, first: number],
  bigEndian: boolean,
): void {
  const [flaws, at, flaw] = module.invalidBlocks(type.id, place, count, bigEndian, small)
  if (flaws === 0) return
  const block = first + at
  throw new GgufError(
    'bad-values',
    `Tensor ${name} of ${type.name} cannot be quantized: ${flawText(type, shape[0] ?? 1, block, flaw)}.`,
    { offset: offset + block * type.blockBytes },
  )
}

/** Copies blocks after checking them for NaN and infinities. */
export async function* checked(
  module: QuantModule,
  range: BlockRange,
  named: Named,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const { place, bytes, count, first } of blockChunks(module, range, signal)) {
    checkBlocks(module, range, named, [place, count, first], range.bigEndian)
    yield new Uint8Array(bytes)
  }
}

/** Converts old block layouts to the current one without changing the quantized values. */
export async function* modernized(
  module: QuantModule,
  range: BlockRange,
  today: TensorType,
  bigEndian: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let to: number | undefined
  for await (const { heap, place, count } of blockChunks(module, range, signal)) {
    to ??= heap.reserve(count * today.blockBytes) // the first chunk is the largest
    module.modernize(range.type.id, place, to, count)
    if (bigEndian) module.swapBytes(today.id, to, count, false)
    yield heap.bytes(to, count * today.blockBytes).slice()
  }
}

interface Conversion extends Named {
  readonly type: TensorType
  readonly bigEndian: boolean
  readonly importance: Importance | undefined
}

/** Yields to the page at intervals, and throws after an abort. */
function yielder(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < kYieldMs) return undefined
    return nextTask().then(() => {
      signal?.throwIfAborted()
      last = performance.now()
    })
  }
}

/** The largest F16 scale times the largest quant of any type: blocks with F16 scales cannot exceed it. */
const kMaxInBlock = 65_504 * 127 * 32

/** Throws if quantized blocks cannot represent their floats. `first`: index in the tensor of the first block. */
function checkMade(
  module: QuantModule,
  heap: Heap,
  { type, name, shape }: Conversion,
  made: { readonly floats: number; readonly blocks: number; readonly count: number; readonly first: number },
  from: BlockRange,
): void {
  const [flaws, at] = module.invalidBlocks(type.id, made.blocks, made.count, false, false)
  let bad = flaws > 0 ? at : -1
  const isPlain = type.blockSize === 1
  // Squares of larger values overflow float32, which makes blocks zero. Scales with 8-bit exponents can hold every
  // float.
  if (bad < 0 && !isPlain && type.name !== 'MXFP4') {
    const values = heap.floats(made.floats, made.count * type.blockSize)
    const i = values.findIndex((value) => value > kMaxInBlock || value < -kMaxInBlock)
    if (i >= 0) bad = Math.floor(i / type.blockSize)
  }
  if (bad < 0) return
  const values = heap.floats(made.floats + 4 * bad * type.blockSize, type.blockSize)
  const max = values.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a))
  const block = made.first + bad
  const where = isPlain
    ? blockText(type, shape[0] ?? 1, block)
    : `a value of ${blockText(type, shape[0] ?? 1, block)}`
  const reason =
    flaws > 0 && Math.abs(max) < 65_504
      ? 'and its scale would not be finite'
      : `which ${type.name} cannot hold`
  const offset =
    from.offset + Math.floor((block * type.blockSize) / from.type.blockSize) * from.type.blockBytes
  throw new GgufError('bad-values', `Tensor ${name} cannot be ${type.name}: ${where} is ${max}, ${reason}.`, {
    offset,
  })
}

/** Dequantizes blocks and quantizes them as another type; with importance, whole rows at a time. */
export async function* converted(
  module: QuantModule,
  from: BlockRange,
  conversion: Conversion,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { type, shape, bigEndian, importance } = conversion
  const heap = new Heap(module)
  try {
    const columns = shape[0] ?? 1
    const unit = importance ? columns : type.blockSize
    const room = Math.max(1, Math.floor(kFloats / unit)) * unit
    const floats = heap.reserve(room * 4)
    const blocks = heap.reserve((room / type.blockSize) * type.blockBytes)
    const values = await importance?.load(signal)
    const weights = values ? heap.reserve(columns * 4) : 0
    // The floats of one matrix, which share one row of importance.
    const matrix = values && values.length > columns ? columns * (shape[1] ?? 1) : Infinity
    let left = 0
    let matrices = 0
    let filled = 0
    let first = 0
    let read = 0
    const yieldToPage = yielder(signal)
    const made = (): Uint8Array<ArrayBuffer> => {
      const count = filled / type.blockSize
      module.quantize(type.id, floats, blocks, count, weights, unit / type.blockSize)
      checkMade(module, heap, conversion, { floats, blocks, count, first }, from)
      first += count
      if (bigEndian) module.swapBytes(type.id, blocks, count, false)
      filled = 0
      return heap.bytes(blocks, count * type.blockBytes).slice()
    }
    for await (const chunk of floatChunks(module, from, heap, signal)) {
      // Big-endian blocks were byte-swapped in place.
      checkBlocks(module, from, conversion, [chunk.blocks, chunk.blockCount, read], false)
      read += chunk.blockCount
      for (let taken = 0; taken < chunk.count;) {
        if (left === 0) {
          left = matrix
          const at = matrices++ * columns
          if (values) heap.putFloats(weights, values.subarray(at, at + columns))
        }
        const n = Math.min(room - filled, chunk.count - taken, left)
        const start = chunk.floats + 4 * taken
        module.HEAPU8.copyWithin(floats + 4 * filled, start, start + 4 * n)
        filled += n
        taken += n
        left -= n
        if (filled < room && left > 0) continue
        await yieldToPage()
        yield made()
      }
    }
    if (filled > 0) yield made()
  } finally {
    heap.free()
  }
}

/** Dequantizes blocks to float32, as little-endian bytes. */
export async function* floated(
  module: QuantModule,
  from: BlockRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const heap = new Heap(module)
  try {
    const yieldToPage = yielder(signal)
    for await (const { floats, count } of floatChunks(module, from, heap, signal)) {
      await yieldToPage()
      yield heap.bytes(floats, 4 * count).slice()
    }
  } finally {
    heap.free()
  }
}
