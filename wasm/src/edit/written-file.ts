// A planned file whose bytes are computed when they are read.
import { callBack } from '../api/callbacks.js'
import { kWriteChecks } from './checks.js'
import { checkOptions } from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { BlobSource } from '../sources/bytes.js'
import type { FilePart, WriteOptions } from '../api/edit.js'

const kPiece = 1 << 23
const zeros = new Uint8Array(1 << 16)

/**
 * A file that can be written: its header, and the sources of the tensor data. Only the header is in memory. Tensor data
 * are read piece by piece when they are requested.
 */
export class WrittenFile {
  /** for a shard of a split model: the name that the other shards expect */
  readonly name: string | undefined
  readonly size: number
  /** the parts in order: the header, and ranges to copy or compute */
  readonly parts: readonly FilePart[]

  constructor(parts: readonly FilePart[], name?: string) {
    this.name = name
    this.parts = parts
    this.size = parts.reduce((sum, { length }) => sum + length, 0)
  }

  /** Everything before the tensor data. */
  get header(): Bytes {
    const [first] = this.parts
    return first?.kind === 'bytes' ? first.bytes : new Uint8Array()
  }

  /** The bytes in order, in pieces of at most 8 MB. */
  async *pieces(options: WriteOptions = {}): AsyncGenerator<Bytes> {
    checkOptions('pieces()', options, kWriteChecks)
    const { signal, onProgress } = options
    let written = 0
    for (const part of this.parts) {
      const tensor = part.kind === 'computed' ? part.tensor : undefined
      let made = 0
      for await (const piece of piecesOf(part, signal)) {
        signal?.throwIfAborted()
        made += piece.length
        written += piece.length
        yield piece
        await callBack(onProgress, { written, size: this.size, tensor })
      }
      if (made !== part.length) {
        throw new GgufError('truncated', `${made} of ${counted(part.length, 'byte')} were there.`, {
          offset: part.to + made,
        })
      }
    }
  }

  stream(options: WriteOptions = {}): ReadableStream<Bytes> {
    checkOptions('stream()', options, kWriteChecks)
    const pieces = this.pieces(options)
    return new ReadableStream(
      {
        async pull(controller) {
          const next = await pieces.next()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        },
        async cancel() {
          await pieces.return(undefined)
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Returns the file as a Blob. Bytes of a Blob or File are sliced without reading them; everything else is read. */
  async blob(options: WriteOptions = {}): Promise<Blob> {
    checkOptions('blob()', options, kWriteChecks)
    const { signal, onProgress } = options
    const blobs: Blob[] = []
    let written = 0
    for (const part of this.parts) {
      if (part.kind === 'copy' && part.source instanceof BlobSource) {
        signal?.throwIfAborted()
        blobs.push(part.source.slice(part.from, part.length))
        written += part.length
        continue
      }
      // Each piece becomes a separate Blob, which the browser may keep on disk.
      for await (const piece of new WrittenFile([part]).pieces({ signal })) {
        blobs.push(new Blob([piece]))
        written += piece.length
        const tensor = part.kind === 'computed' ? part.tensor : undefined
        await callBack(onProgress, { written, size: this.size, tensor })
      }
    }
    return new Blob(blobs, { type: 'application/octet-stream' })
  }

  /** Returns the whole file in memory. Error: 'out-of-memory'. */
  async bytes(options: WriteOptions = {}): Promise<Bytes> {
    checkOptions('bytes()', options, kWriteChecks)
    let bytes: Bytes
    try {
      bytes = new Uint8Array(this.size)
    } catch (cause) {
      throw new GgufError(
        'out-of-memory',
        `There is no memory for ${counted(this.size, 'byte')}: take stream() or blob().`,
        {
          cause,
        },
      )
    }
    let at = 0
    for await (const piece of this.pieces(options)) {
      bytes.set(piece, at)
      at += piece.length
    }
    return bytes
  }
}

async function* piecesOf(part: FilePart, signal: AbortSignal | undefined): AsyncGenerator<Bytes> {
  switch (part.kind) {
    case 'bytes':
      yield part.bytes
      return
    case 'zeros':
      for (let at = 0; at < part.length; at += zeros.length) yield zeros.slice(0, part.length - at)
      return
    case 'computed':
      yield* part.pieces(signal)
      return
    case 'copy': {
      // Reads one piece ahead of the consumer.
      const { source, from, length } = part
      const read = (at: number): Promise<Uint8Array> | undefined => {
        if (at >= length) return undefined
        const piece = source.read(from + at, Math.min(kPiece, length - at), { signal })
        piece.catch(() => {})
        return piece
      }
      let next = read(0)
      for (let at = kPiece; next; at += kPiece) {
        const bytes: Uint8Array = await next
        next = read(at)
        // A copy, because the caller may change the bytes, and the source may keep its own.
        yield new Uint8Array(bytes)
      }
    }
  }
}
