// Joins reads of neighbouring ranges to one request.
import type { ByteSource, ReadOptions, StreamOptions } from '../api/source.js'
import { checkRange } from './bytes.js'
import { RecentBytes } from './recent.js'
import { nextTask } from '../runtime/next-task.js'

// Ranges this close to each other become one request, because fetching the gap costs less than another round trip.
const kNear = 32 << 10
const kLongestMerge = 16 << 20
const kParallel = 6

interface Wanted {
  readonly offset: number
  readonly end: number
  readonly signal: AbortSignal | undefined
  resolve(bytes: Uint8Array): void
  reject(reason: unknown): void
}

export interface PlannedRange<T> {
  readonly offset: number
  readonly end: number
  readonly parts: readonly T[]
}

/** Ranges sorted by offset, with close ones merged. */
export function planRanges<T extends { offset: number; end: number }>(
  wanted: readonly T[],
): PlannedRange<T>[] {
  const plans: { offset: number; end: number; parts: T[] }[] = []
  for (const part of [...wanted].sort((a, b) => a.offset - b.offset || a.end - b.end)) {
    const last = plans.at(-1)
    const end = Math.max(last?.end ?? 0, part.end)
    if (
      last &&
      part.offset - last.end <= kNear &&
      (end - last.offset <= kLongestMerge || part.end <= last.end)
    ) {
      last.end = end
      last.parts.push(part)
    } else {
      plans.push({ offset: part.offset, end: part.end, parts: [part] })
    }
  }
  return plans
}

export interface RemoteSource extends ByteSource {
  /** useful number of parallel reads */
  readonly parallel?: number
  /**
   * The bytes [offset, end) with one request, or everything from the offset on, in pieces that are valid until the
   * next one is requested.
   */
  flow?(offset: number, end: number | undefined, options: ReadOptions): AsyncGenerator<Uint8Array>
}

/** A request in transfer. Later reads of its bytes wait for it. */
interface Flight {
  readonly offset: number
  readonly end: number
  readonly parts: Wanted[]
  /** called when a reader that waits for it leaves */
  leave(): void
}

/**
 * A source in which every request is a round trip. It merges simultaneous reads, limits the number of parallel
 * requests, and does not repeat requests for bytes that are in transfer or were read recently.
 */
export class CoalescedSource implements ByteSource {
  readonly #source: RemoteSource
  #waiting: Wanted[] = []
  #queue: PlannedRange<Wanted>[] = []
  readonly #flights = new Set<Flight>()
  readonly #recent = new RecentBytes()

  constructor(source: RemoteSource) {
    this.#source = source
  }

  get size(): number | undefined {
    return this.#source.size
  }

  get name(): string | undefined {
    return this.#source.name
  }

  get ranges(): boolean | undefined {
    return this.#source.ranges
  }

  stream(offset: number, options: StreamOptions): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> {
    return this.#source.stream!(offset, options)
  }

  get flow(): RemoteSource['flow'] {
    return this.#source.flow?.bind(this.#source)
  }

  sibling(name: string): CoalescedSource {
    return new CoalescedSource(this.#source.sibling!(name))
  }

  close(): void {
    this.#recent.clear()
    this.#source.close?.()
  }

  read(offset: number, length: number, { signal }: ReadOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      checkRange(offset, length, this.size)
      const abort = () => reject(signal!.reason)
      const done = () => signal?.removeEventListener('abort', abort)
      signal?.addEventListener('abort', abort, { once: true })
      if (this.#waiting.length === 0) void nextTask().then(() => this.#plan())
      this.#waiting.push({
        offset,
        end: offset + length,
        signal,
        resolve: (bytes) => {
          done()
          resolve(bytes)
        },
        reject: (reason) => {
          done()
          reject(reason)
        },
      })
    })
  }

  #plan(): void {
    const wanted = this.#waiting.filter((part) => !part.signal?.aborted && !this.#isServed(part))
    this.#waiting = []
    this.#queue.push(...planRanges(wanted))
    this.#send()
  }

  #send(): void {
    const most = this.#source.parallel ?? kParallel
    while (this.#flights.size < most && this.#queue.length > 0) void this.#fetch(this.#queue.shift()!)
  }

  /** True if the bytes are cached or in transfer. */
  #isServed(part: Wanted): boolean {
    const bytes = this.#recent.find(part.offset, part.end)
    if (bytes) {
      part.resolve(bytes)
      return true
    }
    for (const { offset, end, parts, leave } of this.#flights) {
      if (part.offset < offset || part.end > end || parts.every(({ signal }) => signal?.aborted)) continue
      parts.push(part)
      part.signal?.addEventListener('abort', leave, { once: true })
      return true
    }
    return false
  }

  async #fetch(plan: PlannedRange<Wanted>): Promise<void> {
    const { offset, end } = plan
    const parts = [...plan.parts]
    // Aborted when the last waiting reader leaves.
    const controller = new AbortController()
    const leave = () => {
      if (parts.every(({ signal }) => signal?.aborted)) controller.abort(parts[0]!.signal!.reason)
    }
    const flight: Flight = { offset, end, parts, leave }
    this.#flights.add(flight)
    for (const { signal } of parts) signal?.addEventListener('abort', leave, { once: true })
    leave()
    try {
      const bytes = await this.#source.read(offset, end - offset, { signal: controller.signal })
      this.#recent.add(offset, bytes)
      for (const part of parts) {
        const isAll = part.offset === offset && part.end === end && parts.length === 1
        part.resolve(
          isAll && !this.#recent.keeps(bytes) ? bytes : bytes.slice(part.offset - offset, part.end - offset),
        )
      }
    } catch (error) {
      for (const { reject } of parts) reject(error)
    } finally {
      for (const { signal } of parts) signal?.removeEventListener('abort', leave)
      this.#flights.delete(flight)
      this.#send()
    }
  }
}
