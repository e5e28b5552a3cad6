// A planned file whose bytes are computed when they are read.
import { callBack } from '../api/callbacks.js'
import { kWriteChecks } from './checks.js'
import { checkOptions } from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { BlobSource } from '../sources/bytes.js'
import type { FilePart, WriteOptions } from '../api/edit.js'

const kChunkBytes = 1 << 23
const zeros = new Uint8Array(1 << 16)

/** A part of a file that is computed while it is written. */
export function computedPart(
  part: Readonly<{
    tensor: string
    to: number
    length: number
    chunks: (signal: AbortSignal | undefined) => AsyncIterable<Bytes>
  }>,
): FilePart {
  return { kind: 'computed', ...part, pieces: part.chunks }
}

/**
 * A file that can be written: its header, and the sources of the tensor data. Only the header is in memory. Tensor data
 * are read chunk by chunk when they are requested.
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

  /** The bytes in order, in chunks of at most 8 MB. */
  async *chunks(options: WriteOptions = {}): AsyncGenerator<Bytes> {
    checkOptions('chunks()', options, kWriteChecks)
    const { signal, onProgress } = options
    let written = 0
    for (const part of this.parts) {
      const tensor = part.kind === 'computed' ? part.tensor : undefined
      let made = 0
      for await (const chunk of chunksOf(part, signal)) {
        signal?.throwIfAborted()
        made += chunk.length
        written += chunk.length
        yield chunk
        await callBack(onProgress, { written, size: this.size, tensor })
      }
      if (made !== part.length) {
        throw new GgufError('truncated', `${made} of ${counted(part.length, 'byte')} were there.`, {
          offset: part.to + made,
        })
      }
    }
  }

  /** The name of chunks() before 0.3. */
  pieces(options: WriteOptions = {}): AsyncGenerator<Bytes> {
    return this.chunks(options)
  }

  stream(options: WriteOptions = {}): ReadableStream<Bytes> {
    checkOptions('stream()', options, kWriteChecks)
    const chunks = this.chunks(options)
    return new ReadableStream(
      {
        async pull(controller) {
          const next = await chunks.next()
          if (next.done) controller.close()
          else controller.enqueue(next.value)
        },
        async cancel() {
          await chunks.return(undefined)
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
      // Each chunk becomes a separate Blob, which the browser may keep on disk.
      for await (const chunk of new WrittenFile([part]).chunks({ signal })) {
        blobs.push(new Blob([chunk]))
        written += chunk.length
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
    for await (const chunk of this.chunks(options)) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }
}

async function* chunksOf(part: FilePart, signal: AbortSignal | undefined): AsyncGenerator<Bytes> {
  switch (part.kind) {
    case 'bytes':
      yield part.bytes
      return
    case 'zeros':
      for (let at = 0; at < part.length; at += zeros.length) yield zeros.slice(0, part.length - at)
      return
    case 'computed':
      yield* part.chunks(signal)
      return
    case 'copy': {
      // Reads one chunk ahead of the consumer.
      const { source, from, length } = part
      const read = (at: number): Promise<Uint8Array> | undefined => {
        if (at >= length) return undefined
        const chunk = source.read(from + at, Math.min(kChunkBytes, length - at), { signal })
        chunk.catch(() => {})
        return chunk
      }
      let next = read(0)
      for (let at = kChunkBytes; next; at += kChunkBytes) {
        const bytes: Uint8Array = await next
        next = read(at)
        // A copy, because the caller may change the bytes, and the source may keep its own.
        yield new Uint8Array(bytes)
      }
    }
  }
}
