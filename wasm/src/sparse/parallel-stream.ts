// A stream that runs in parallel to the requests for samples. Unlike the search, it is certain to complete the header.
import type { KnownBytes } from './known-bytes.js'
import type { ByteRange } from './header-samples.js'

/** Streams bytes from an offset on until the signal aborts. */
export type Stream = (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>

/** Adds the bytes of a stream to the known bytes. */
export class ParallelStream {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #known: KnownBytes
  readonly #onRead: (bytes: number) => void
  readonly #onStop: () => void
  readonly #batch: number
  #hasStarted: boolean
  #isStopped = false
  /** when the first bytes arrived, or the object was created for a stream that had started */
  #startedAt: number
  /** the number of known bytes then */
  #bytesAtStart: number
  /** start of the bytes that next() has not returned */
  #from: number
  #at: number
  #next: Promise<ByteRange | undefined> | undefined

  /**
   * batch: number of bytes that are processed together. hasStarted: whether bytes have arrived. onStop: ends the request,
   * for which a generator that waits for its next chunk is not reached by return().
   */
  constructor(
    chunks: AsyncIterable<Uint8Array>,
    offset: number,
    {
      known,
      batch,
      onRead,
      onStop,
      hasStarted,
    }: {
      known: KnownBytes
      batch: number
      onRead: (bytes: number) => void
      onStop: () => void
      hasStarted: boolean
    },
  ) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#from = this.#at = offset
    this.#hasStarted = hasStarted
    this.#known = known
    this.#batch = batch
    this.#onRead = onRead
    this.#onStop = onStop
    this.#startedAt = performance.now()
    this.#bytesAtStart = known.fetched
  }

  /** Milliseconds since the first bytes, and the bytes of all requests in that time. Only while bytes arrive. */
  get measured(): { ms: number; bytes: number } {
    const ms = this.#hasStarted ? performance.now() - this.#startedAt : 0
    return { ms, bytes: this.#known.fetched - this.#bytesAtStart }
  }

  /** All bytes from the stream's start to this offset have arrived. */
  get at(): number {
    return this.#at
  }

  /** Whether bytes have arrived. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** The bytes that have arrived and that next() has not returned. */
  get undelivered(): ByteRange {
    return { offset: this.#from, end: this.#at }
  }

  stop(): void {
    this.#isStopped = true
    this.#next?.catch(() => {})
    this.#chunks.return?.().catch(() => {})
    this.#onStop()
  }

  /**
   * The bytes that arrived since the last call; undefined: the stream has ended. Returns the same promise until it
   * settles.
   */
  next(): Promise<ByteRange | undefined> {
    this.#next ??= this.#take().finally(() => (this.#next = undefined))
    return this.#next
  }

  async #take(): Promise<ByteRange | undefined> {
    const offset = this.#at
    while (this.#at - offset < this.#batch) {
      const chunk = await this.#chunks.next()
      if (chunk.done || this.#isStopped) break
      this.#known.add(this.#at, chunk.value)
      this.#at += chunk.value.length
      if (!this.#hasStarted) {
        this.#hasStarted = true
        this.#startedAt = performance.now()
        this.#bytesAtStart = this.#known.fetched
      }
      this.#onRead(chunk.value.length)
    }
    if (this.#isStopped || this.#at === offset) return undefined
    this.#from = this.#at
    return { offset, end: this.#at }
  }
}
