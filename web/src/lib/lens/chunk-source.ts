// A file of one tensor: a header and the tensor's bytes, which are requested from the page in chunks. The most recently
// used chunks are cached.
import type { ByteSource, ReadOptions } from 'ggufscope'
import { chunkAt, chunksOf, startOf } from './chunks'
import { oneTensorHeader } from './one-tensor'
import type { Subject } from './protocol'

const maxKept = 160 << 20
const longestRun = 2 << 20
const parallel = 4

type ReadChunks = (from: number, to: number) => Promise<Uint8Array>

/** Chunks that are read together. */
interface Run {
  from: number
  to: number
  done: Promise<void>
  resolve: () => void
  reject: (reason: unknown) => void
}

export class ChunkSource implements ByteSource {
  readonly name = 'tensor.gguf'
  readonly size: number
  readonly chunks
  private readonly header: Uint8Array
  /** cached chunks by index, the most recently used one last */
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
    return this.startOf(index + 1) - this.startOf(index)
  }

  /** Fetches the missing chunks in runs of adjacent ones, and waits for those that other calls requested. */
  async load(indices: Iterable<number>, onLoaded?: (bytes: number) => void): Promise<void> {
    const runs: Run[] = []
    const asked = new Set<Promise<void>>()
    for (const index of indices) {
      if (this.kept.has(index)) continue
      const other = this.waiting.get(index)
      if (other) asked.add(other)
      else this.addTo(runs, index)
    }
    for (const run of runs) for (let i = run.from; i < run.to; i++) this.waiting.set(i, run.done)
    const next = async (): Promise<void> => {
      for (let run = runs.shift(); run; run = runs.shift()) {
        await this.fetch(run)
        onLoaded?.(this.startOf(run.to) - this.startOf(run.from))
      }
    }
    try {
      await Promise.all([...asked, ...Array.from({ length: parallel }, next)])
    } finally {
      // After an error, the remaining runs are not fetched.
      for (const run of runs) this.end(run, () => run.reject(new Error('Another part could not be read.')))
    }
  }

  /** Adds a chunk to the last run if it is the next one and the run is not too long; otherwise starts a new run. */
  private addTo(runs: Run[], index: number) {
    const last = runs.at(-1)
    const { segments, rows } = this.chunks
    const follows = last?.to === index && (rows > 0 || index % segments !== 0)
    if (last && follows && this.startOf(index) - this.startOf(last.from) < longestRun) {
      last.to = index + 1
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    promise.catch(() => undefined)
    runs.push({ from: index, to: index + 1, done: promise, resolve, reject })
  }

  private startOf(index: number): number {
    return startOf(this.subject, this.chunks, index)
  }

  private end({ from, to, done }: Run, settle: () => void) {
    for (let index = from; index < to; index++)
      if (this.waiting.get(index) === done) this.waiting.delete(index)
    settle()
  }

  private async fetch(run: Run): Promise<void> {
    const start = this.startOf(run.from)
    try {
      const bytes = await this.readChunks(run.from, run.to)
      for (let index = run.from, at = start; index < run.to; index++) {
        const end = this.startOf(index + 1)
        this.keep(index, bytes.slice(at - start, end - start))
        at = end
      }
      this.end(run, run.resolve)
    } catch (error) {
      this.end(run, () => run.reject(error))
      throw error
    }
  }

  private keep(index: number, bytes: Uint8Array) {
    if (!this.kept.has(index)) this.total += bytes.length
    this.kept.set(index, bytes)
    for (const [old, { length }] of this.kept) {
      if (this.total <= maxKept) break
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
    // Reads a few chunks at a time, because a long range may exceed the cache.
    const group = Math.max(1, Math.floor((maxKept >> 1) / Math.max(1, this.bytesOf(first))))
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
    const start = this.startOf(index)
    const part = bytes.subarray(Math.max(0, from - start), to - start)
    out.set(part, Math.max(0, start - from))
  }
}
