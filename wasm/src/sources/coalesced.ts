// Joins reads of neighbouring ranges to one request.
import type { ByteSource, ReadOptions, StreamOptions } from '../api/source.js'
import { checkRange } from './bytes.js'
import { RecentBytes } from './recent.js'
import { nextTask } from '../runtime/next-task.js'

// Ranges this close to each other become one request, because fetching the gap costs less than another round trip.
const kCoalesceBytes = 32 << 10
const kMaxGroupBytes = 16 << 20
const kMaxTransfers = 6

interface ReadRequest {
  readonly offset: number
  readonly end: number
  readonly signal: AbortSignal | undefined
  resolve(bytes: Uint8Array): void
  reject(reason: unknown): void
}

interface RangeGroup<T> {
  readonly offset: number
  readonly end: number
  readonly requests: readonly T[]
}

/** Ranges sorted by offset, with close ones merged. */
function groupRanges<T extends { offset: number; end: number }>(requests: readonly T[]): RangeGroup<T>[] {
  const groups: { offset: number; end: number; requests: T[] }[] = []
  for (const request of [...requests].sort((a, b) => a.offset - b.offset || a.end - b.end)) {
    const last = groups.at(-1)
    const end = Math.max(last?.end ?? 0, request.end)
    if (
      last &&
      request.offset - last.end <= kCoalesceBytes &&
      (end - last.offset <= kMaxGroupBytes || request.end <= last.end)
    ) {
      last.end = end
      last.requests.push(request)
    } else {
      groups.push({ offset: request.offset, end: request.end, requests: [request] })
    }
  }
  return groups
}

export interface RemoteSource extends ByteSource {
  /** useful number of parallel reads */
  readonly parallel?: number
  /**
   * The bytes [offset, end) with one request, or everything from the offset on, in chunks that are valid until the
   * next one is requested.
   */
  flow?(offset: number, end: number | undefined, options: ReadOptions): AsyncGenerator<Uint8Array>
}

/** A request in transfer. Later reads of its bytes wait for it. */
interface Transfer {
  readonly offset: number
  readonly end: number
  readonly requests: ReadRequest[]
  /** Called when the signal of a request aborts: aborts the transfer if no other request waits for it. */
  release(): void
}

/**
 * A source in which every request is a round trip. It merges simultaneous reads, limits the number of parallel
 * requests, and does not repeat requests for bytes that are in transfer or were read recently.
 */
export class CoalescedSource implements ByteSource {
  readonly #source: RemoteSource
  #requests: ReadRequest[] = []
  #groups: RangeGroup<ReadRequest>[] = []
  readonly #transfers = new Set<Transfer>()
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
      if (this.#requests.length === 0) void nextTask().then(() => this.#groupRequests())
      this.#requests.push({
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

  #groupRequests(): void {
    const requests = this.#requests.filter(
      (request) => !request.signal?.aborted && !this.#serveAtOnce(request),
    )
    this.#requests = []
    this.#groups.push(...groupRanges(requests))
    this.#startTransfers()
  }

  #startTransfers(): void {
    const max = this.#source.parallel ?? kMaxTransfers
    while (this.#transfers.size < max && this.#groups.length > 0) void this.#transfer(this.#groups.shift()!)
  }

  /** True if the bytes are cached or in transfer. */
  #serveAtOnce(request: ReadRequest): boolean {
    const bytes = this.#recent.find(request.offset, request.end)
    if (bytes) {
      request.resolve(bytes)
      return true
    }
    for (const { offset, end, requests, release } of this.#transfers) {
      if (request.offset < offset || request.end > end || requests.every(({ signal }) => signal?.aborted))
        continue
      requests.push(request)
      request.signal?.addEventListener('abort', release, { once: true })
      return true
    }
    return false
  }

  async #transfer(group: RangeGroup<ReadRequest>): Promise<void> {
    const { offset, end } = group
    const requests = [...group.requests]
    // Aborted when the last waiting reader leaves.
    const controller = new AbortController()
    const release = () => {
      if (requests.every(({ signal }) => signal?.aborted)) controller.abort(requests[0]!.signal!.reason)
    }
    const transfer: Transfer = { offset, end, requests, release }
    this.#transfers.add(transfer)
    for (const { signal } of requests) signal?.addEventListener('abort', release, { once: true })
    release()
    try {
      const bytes = await this.#source.read(offset, end - offset, { signal: controller.signal })
      this.#recent.add(offset, bytes)
      for (const request of requests) {
        const isAll = request.offset === offset && request.end === end && requests.length === 1
        request.resolve(
          isAll && !this.#recent.keeps(bytes)
            ? bytes
            : bytes.slice(request.offset - offset, request.end - offset),
        )
      }
    } catch (error) {
      for (const { reject } of requests) reject(error)
    } finally {
      for (const { signal } of requests) signal?.removeEventListener('abort', release)
      this.#transfers.delete(transfer)
      this.#startTransfers()
    }
  }
}
