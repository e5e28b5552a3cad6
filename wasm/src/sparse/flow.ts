// A stream that runs in parallel to the requests for samples. Unlike the search, it is certain to complete the header.
import type { Known } from './known.js'
import type { Range } from './pieces.js'

/** Streams bytes from an offset on until the signal aborts. */
export type Stream = (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>

/** Adds the bytes of a stream to the known bytes. */
export class Flow {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #known: Known
  readonly #onRead: (bytes: number) => void
  readonly #onStop: () => void
  readonly #batch: number
  #isBegun: boolean
  #isStopped = false
  /** when the first bytes arrived, or the object was made for a stream that had begun */
  #begunAt: number
  /** the number of known bytes then */
  #begunBytes: number
  /** start of the bytes that next() has not returned */
  #from: number
  #at: number
  #next: Promise<Range | undefined> | undefined

  /**
   * batch: number of bytes that are processed together. isBegun: whether bytes have arrived. onStop: ends the request,
   * for which a generator that waits for its next piece is not reached by return().
   */
  constructor(
    pieces: AsyncIterable<Uint8Array>,
    offset: number,
    {
      known,
      batch,
      onRead,
      onStop,
      isBegun,
    }: { known: Known; batch: number; onRead: (bytes: number) => void; onStop: () => void; isBegun: boolean },
  ) {
    this.#pieces = pieces[Symbol.asyncIterator]()
    this.#from = this.#at = offset
    this.#isBegun = isBegun
    this.#known = known
    this.#batch = batch
    this.#onRead = onRead
    this.#onStop = onStop
    this.#begunAt = performance.now()
    this.#begunBytes = known.fetched
  }

  /** Milliseconds since the first bytes, and the bytes of all requests in that time. Only while bytes arrive. */
  get measured(): { ms: number; bytes: number } {
    const ms = this.#isBegun ? performance.now() - this.#begunAt : 0
    return { ms, bytes: this.#known.fetched - this.#begunBytes }
  }

  /** All bytes from the stream's start to this offset have arrived. */
  get at(): number {
    return this.#at
  }

  /** Whether bytes have arrived. */
  get isBegun(): boolean {
    return this.#isBegun
  }

  /** The bytes that have arrived and that next() has not returned. */
  get rest(): Range {
    return { offset: this.#from, end: this.#at }
  }

  stop(): void {
    this.#isStopped = true
    this.#next?.catch(() => {})
    this.#pieces.return?.().catch(() => {})
    this.#onStop()
  }

  /**
   * The bytes that arrived since the last call; undefined: the stream has ended. Returns the same promise until it
   * settles.
   */
  next(): Promise<Range | undefined> {
    this.#next ??= this.#take().finally(() => (this.#next = undefined))
    return this.#next
  }

  async #take(): Promise<Range | undefined> {
    const offset = this.#at
    while (this.#at - offset < this.#batch) {
      const piece = await this.#pieces.next()
      if (piece.done || this.#isStopped) break
      this.#known.add(this.#at, piece.value)
      this.#at += piece.value.length
      if (!this.#isBegun) {
        this.#isBegun = true
        this.#begunAt = performance.now()
        this.#begunBytes = this.#known.fetched
      }
      this.#onRead(piece.value.length)
    }
    if (this.#isStopped || this.#at === offset) return undefined
    this.#from = this.#at
    return { offset, end: this.#at }
  }
}
