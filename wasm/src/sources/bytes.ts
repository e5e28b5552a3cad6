// Bytes in memory as a source, and what all sources share.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { ByteSource, ReadOptions } from '../api/source.js'

const kChunk = 1 << 20

/** Throws unless [offset, offset + length) is inside a source of that size. */
export function checkRange(offset: number, length: number, size: number | undefined): void {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
    throw new GgufError('invalid-argument', `There is no range of ${counted(length, 'byte')} at ${offset}.`)
  }
  if (size !== undefined && length > size - offset) {
    throw new GgufError(
      'truncated',
      `The file has ${counted(size, 'byte')}: the ${counted(length, 'byte')} at ${offset} are not all there. It may have been cut.`,
      { offset },
    )
  }
}

/** Reads a source without a stream in chunks: first one mebibyte, then increasingly more. */
export async function* streamByReads(
  source: ByteSource & { readonly size: number },
  offset: number,
  options: ReadOptions,
): AsyncGenerator<Uint8Array> {
  let length = kChunk
  for (
    let at = offset;
    at < source.size;
    at += length, length = Math.max(kChunk, Math.floor((at - offset) / 2))
  ) {
    length = Math.min(length, source.size - at)
    yield await source.read(at, length, options)
  }
}

/** Bytes in memory, which are not copied. */
export class BytesSource implements ByteSource {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get size(): number {
    return this.#bytes.length
  }

  async read(offset: number, length: number, { signal }: ReadOptions): Promise<Uint8Array> {
    signal?.throwIfAborted()
    checkRange(offset, length, this.size)
    return this.#bytes.subarray(offset, offset + length)
  }

  async *stream(offset: number, { signal }: ReadOptions): AsyncGenerator<Uint8Array> {
    for (let at = offset; at < this.size; at += kChunk) {
      signal?.throwIfAborted()
      yield this.#bytes.subarray(at, at + kChunk)
    }
  }
}

/** A Blob or File of any size, read in slices. */
export class BlobSource implements ByteSource {
  readonly #blob: Blob
  readonly name: string | undefined

  constructor(blob: Blob) {
    this.#blob = blob
    this.name = 'name' in blob ? String(blob.name) : undefined
  }

  get size(): number {
    return this.#blob.size
  }

  /** Returns a slice without reading it. */
  slice(offset: number, length: number): Blob {
    checkRange(offset, length, this.size)
    return this.#blob.slice(offset, offset + length)
  }

  async read(offset: number, length: number, { signal }: ReadOptions): Promise<Uint8Array> {
    signal?.throwIfAborted()
    checkRange(offset, length, this.size)
    let bytes: Uint8Array
    try {
      bytes = new Uint8Array(await this.#blob.slice(offset, offset + length).arrayBuffer())
    } catch (cause) {
      throw new GgufError(
        'file-changed',
        `${this.name ?? 'The file'} cannot be read any more: it was changed, moved or deleted. Choose it again.`,
        { cause },
      )
    }
    signal?.throwIfAborted()
    if (bytes.length !== length) checkRange(offset, length, offset + bytes.length)
    return bytes
  }

  stream(offset: number, options: ReadOptions): AsyncIterable<Uint8Array> {
    return streamByReads(this, offset, options)
  }
}
