// Reads the values of a tensor chunk by chunk.
import type { Floats } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import type { OpenedFile } from '../file/opened.js'
import { Heap } from '../runtime/heap.js'
import { quantModule } from '../runtime/module.js'
import type { QuantModule } from '../quant.js'
import type { ByteSource } from '../api/source.js'
import type { ReadRowsOptions, TensorInfo, TensorType } from '../api/tensors.js'

const kReadBytes = 1 << 24
const kFloats = 1 << 18

/** A chunk of a tensor's floats. blocks and floats are addresses in the module's heap. */
export interface Chunk {
  readonly blocks: number
  readonly blockCount: number
  readonly floats: number
  readonly count: number
  /** bytes of the tensor up to the end of this chunk */
  readonly loaded: number
}

export interface Walk {
  readonly module: QuantModule
  readonly tensor: TensorInfo
  readonly rowLength: number
  readonly byteLength: number
  /** super-blocks of 64 elements */
  readonly small: boolean
  /** number of elements in the requested rows */
  readonly count: number
  chunks(heap: Heap): AsyncIterable<Chunk>
}

/** Whole blocks of a tensor in a source. */
export interface BlockRange {
  readonly type: TensorType
  readonly source: ByteSource
  readonly offset: number
  readonly byteLength: number
  /** super-blocks of 64 elements */
  readonly small: boolean
  readonly bigEndian: boolean
}

/** Error: 'unsupported' if blocks of this type cannot be dequantized. */
export function mustBeFloats(
  module: QuantModule,
  { id, name }: Pick<TensorType, 'id' | 'name'>,
  tensor: string,
): void {
  if (!module.canDequantize(id))
    throw new GgufError('unsupported', `Tensor ${tensor}: type ${name} cannot be dequantized.`)
}

/** Reads blocks in ranges of at most 16 MB, and dequantizes them in smaller chunks. */
export async function* floatChunks(
  module: QuantModule,
  { type, source, offset, byteLength, small, bigEndian }: BlockRange,
  heap: Heap,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk> {
  const blocksPerChunk = Math.max(1, Math.floor(kFloats / type.blockSize))
  const readBytes = Math.max(1, Math.floor(kReadBytes / type.blockBytes)) * type.blockBytes
  const blocks = heap.reserve(blocksPerChunk * type.blockBytes)
  const floats = heap.reserve(blocksPerChunk * type.blockSize * 4)
  for (let at = 0; at < byteLength; at += readBytes) {
    const bytes = await source.read(offset + at, Math.min(readBytes, byteLength - at), { signal })
    for (let done = 0; done < bytes.length;) {
      signal?.throwIfAborted()
      const blockCount = Math.min(blocksPerChunk, (bytes.length - done) / type.blockBytes)
      const end = done + blockCount * type.blockBytes
      heap.put(blocks, bytes.subarray(done, end))
      if (small) module.dequantizeSmall(type.id, blocks, floats, blockCount, bigEndian)
      else module.dequantize(type.id, blocks, floats, blockCount, bigEndian)
      done = end
      yield { blocks, blockCount, floats, count: blockCount * type.blockSize, loaded: at + done }
    }
  }
}

/** Whole rows of a tensor of an open file. */
export async function walk(file: OpenedFile, name: string, options: ReadRowsOptions): Promise<Walk> {
  const range = { ...file.rowRange(name, options), bigEndian: file.endianness === 'big' }
  const { tensor, type, byteLength, rowLength } = range
  const { signal } = options
  const module = await quantModule(file.hosting)
  signal?.throwIfAborted()
  mustBeFloats(module, type, name)
  const count = (byteLength / type.blockBytes) * type.blockSize
  const chunks = (heap: Heap): AsyncIterable<Chunk> => floatChunks(module, range, heap, signal)
  return { module, tensor, rowLength, byteLength, small: range.small, count, chunks }
}

/** All floats of a range of a file's tensor. */
export async function dequantizeRange(
  { hosting }: OpenedFile,
  range: BlockRange & { readonly tensor: TensorInfo },
  signal: AbortSignal | undefined,
): Promise<Floats> {
  const { tensor, type, byteLength } = range
  const module = await quantModule(hosting)
  signal?.throwIfAborted()
  mustBeFloats(module, type, tensor.name)
  const count = (byteLength / type.blockBytes) * type.blockSize
  let out: Floats
  try {
    out = new Float32Array(count)
  } catch (cause) {
    throw new GgufError(
      'out-of-memory',
      `There is no memory for ${count} floats: dequantize fewer rows at a time.`,
      { cause },
    )
  }
  const heap = new Heap(module)
  try {
    let at = 0
    for await (const chunk of floatChunks(module, range, heap, signal)) {
      out.set(heap.floats(chunk.floats, chunk.count), at)
      at += chunk.count
    }
    return out
  } finally {
    heap.free()
  }
}

export async function dequantizeRows(
  file: OpenedFile,
  name: string,
  options: ReadRowsOptions,
): Promise<Floats> {
  const range = { ...file.rowRange(name, options), bigEndian: file.endianness === 'big' }
  return await dequantizeRange(file, range, options.signal)
}
