// Standard input as the source of a file.
import { fstatSync } from 'node:fs'
import { GgufError } from '../api/errors.js'
import { UsageError } from './command.js'
import type { GgufFile } from '../api/file.js'
import type { ByteSource, StreamOptions } from '../api/source.js'
import { openFile } from '../edit/open-file.js'

/** Standard input, read once from its beginning. Its size is known if it is a file, or after it was read to its end. */
export class StandardInput implements ByteSource {
  readonly name = undefined
  #size: number | undefined
  #at = 0
  #chunks: AsyncIterator<Buffer> | undefined

  constructor() {
    if (process.stdin.isTTY)
      throw new UsageError('"-" is standard input, which is a terminal: pipe the file into it')
    const stat = fstatSync(0)
    if (stat.isFile()) this.#size = stat.size
  }

  get size(): number | undefined {
    return this.#size
  }

  async *stream(offset: number, { signal }: StreamOptions): AsyncGenerator<Uint8Array> {
    if (offset !== this.#at) this.#refuse(offset)
    // Ending the iteration early leaves the stream open for drain().
    this.#chunks ??= process.stdin.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
    for (;;) {
      signal?.throwIfAborted()
      const next = await this.#chunks.next()
      if (next.done) break
      this.#at += next.value.length
      yield next.value
    }
    this.#size ??= this.#at
  }

  async read(offset: number): Promise<Uint8Array> {
    return this.#refuse(offset)
  }

  /** Reads to the end, which determines the size. */
  async drain(signal: AbortSignal): Promise<void> {
    if (this.#size !== undefined) return
    for await (const _ of this.stream(this.#at, { signal }));
  }

  close(): void {
    process.stdin.destroy()
  }

  #refuse(offset: number): never {
    throw new GgufError(
      'no-ranges',
      `Standard input cannot be read at byte ${offset}, only from its beginning on: give the file by its path.`,
      { offset },
    )
  }
}

/** If the file is standard input, reads the rest of it, which determines its size. */
export async function drained(file: GgufFile, signal: AbortSignal): Promise<void> {
  for (const part of openFile(file).parts)
    if (part?.source instanceof StandardInput) await part.source.drain(signal)
}
