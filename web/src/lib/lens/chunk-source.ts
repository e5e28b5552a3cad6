// The bytes of one tensor behind its header, chunk by chunk from the page; the chunks used last are kept.
import type { ByteSource, ReadOptions } from 'ggufscope'
import { chunkAt, chunksOf, startOf } from './chunks'
import { oneTensorHeader } from './one-tensor'
import type { Subject } from './protocol'

const mostKept = 160 << 20
const longestRun = 4 << 20
const parallel = 4

export type ReadChunks = (from: number, to: number) => Promise<Uint8Array>

export class ChunkSource implements ByteSource {
  readonly name = 'tensor.gguf'
  readonly size: number
  readonly chunks
  private readonly header: Uint8Array
  /** the one used last at the end */
  private readonly kept = new Map<number, Uint8Array>()
  private readonly waiting = new Map<number, Promise<void>>()
  private total = 0

  constructor(
    private readonly subject: Subject,
    private readonly readChunks: ReadChunks,
  ) {
    this.header = oneTensorHeader(subject)
    this.size = this.header.length + subject.byteLength
    this.chunks = chunksOf(subject)
  }

  has(index: number): boolean {
    return this.kept.has(index)
  }

  bytesOf(index: number): number {
    return startOf(this.subject, this.chunks, index + 1) - startOf(this.subject, this.chunks, index)
  }

  /** Fetches what is missing of these chunks, in runs. */
  async load(indices: Iterable<number>, onLoaded?: (bytes: number) => void): Promise<void> {
    const runs: [from: number, to: number][] = []
    for (const index of indices) {
      if (this.kept.has(index)) continue
      const last = runs.at(-1)
      const { segments, rows } = this.chunks
      const follows = last?.[1] === index && (rows > 0 || index % segments !== 0)
      if (last && follows && (index - last[0]) * this.bytesOf(index) < longestRun) last[1] = index + 1
      else runs.push([index, index + 1])
    }
    const next = async (): Promise<void> => {
      for (let run = runs.shift(); run; run = runs.shift()) {
        await this.fetch(...run)
        onLoaded?.(startOf(this.subject, this.chunks, run[1]) - startOf(this.subject, this.chunks, run[0]))
      }
    }
    await Promise.all(Array.from({ length: parallel }, next))
  }

  private async fetch(from: number, to: number): Promise<void> {
    const others = [...new Set(Array.from({ length: to - from }, (_, i) => this.waiting.get(from + i)))]
    if (others.every((one) => one !== undefined)) return void (await Promise.all(others))
    const reading = this.readChunks(from, to).then((bytes) => {
      const start = startOf(this.subject, this.chunks, from)
      for (let index = from, at = start; index < to; index++) {
        const end = startOf(this.subject, this.chunks, index + 1)
        this.keep(index, bytes.slice(at - start, end - start))
        at = end
      }
    })
    for (let index = from; index < to; index++) this.waiting.set(index, reading)
    try {
      await reading
    } finally {
      for (let index = from; index < to; index++)
        if (this.waiting.get(index) === reading) this.waiting.delete(index)
    }
  }

  private keep(index: number, bytes: Uint8Array) {
    if (!this.kept.has(index)) this.total += bytes.length
    this.kept.set(index, bytes)
    for (const [old, { length }] of this.kept) {
      if (this.total <= mostKept) break
      this.kept.delete(old)
      this.total -= length
    }
  }

  async read(offset: number, length: number, { signal }: ReadOptions): Promise<Uint8Array> {
    const out = new Uint8Array(length)
    const begin = this.header.length
    if (offset < begin) out.set(this.header.subarray(offset, offset + length))
    const from = Math.max(0, offset - begin)
    const to = offset + length - begin
    if (to <= from) return out
    const first = chunkAt(this.subject, this.chunks, from)
    const last = chunkAt(this.subject, this.chunks, to - 1)
    // Chunk by chunk: a long range may be more than what is kept.
    const group = Math.max(1, Math.floor((mostKept >> 1) / Math.max(1, this.bytesOf(first))))
    for (let at = first; at <= last; at += group) {
      signal?.throwIfAborted()
      const indices = Array.from({ length: Math.min(group, last + 1 - at) }, (_, i) => at + i)
      await this.load(indices)
      for (const index of indices) this.copy(index, from, to, out.subarray(from + begin - offset))
    }
    return out
  }

  private copy(index: number, from: number, to: number, out: Uint8Array) {
    const bytes = this.kept.get(index)
    if (!bytes) throw new Error(`chunk ${index} is not there`)
    this.kept.delete(index)
    this.kept.set(index, bytes)
    const start = startOf(this.subject, this.chunks, index)
    const part = bytes.subarray(Math.max(0, from - start), to - start)
    out.set(part, Math.max(0, start - from))
  }
}
