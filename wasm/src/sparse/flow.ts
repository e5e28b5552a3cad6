// A stream beside the samples: it ends where a search may not.
import type { Known } from './known.js'
import type { Range } from './pieces.js'

/** Bytes from an offset on, until the signal says so. */
export type Stream = (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>

/** Adds what a stream brings to the known bytes. */
export class Flow {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #known: Known
  readonly #onRead: (bytes: number) => void
  readonly #batch: number
  #at: number
  #next: Promise<Range | undefined> | undefined

  /** batch: bytes that are looked at together. */
  constructor(
    pieces: AsyncIterable<Uint8Array>,
    offset: number,
    { known, batch, onRead }: { known: Known; batch: number; onRead: (bytes: number) => void },
  ) {
    this.#pieces = pieces[Symbol.asyncIterator]()
    this.#at = offset
    this.#known = known
    this.#batch = batch
    this.#onRead = onRead
  }

  /** Everything before, from where it began, has come. */
  get at(): number {
    return this.#at
  }

  stop(): void {
    this.#next?.catch(() => {})
    this.#pieces.return?.().catch(() => {})
  }

  /** What came since the last time; undefined: the stream has ended. The same promise until it is settled. */
  next(): Promise<Range | undefined> {
    this.#next ??= this.#take().finally(() => (this.#next = undefined))
    return this.#next
  }

  async #take(): Promise<Range | undefined> {
    const offset = this.#at
    while (this.#at - offset < this.#batch) {
      const piece = await this.#pieces.next()
      if (piece.done) break
      this.#known.add(this.#at, piece.value)
      this.#at += piece.value.length
      this.#onRead(piece.value.length)
    }
    return this.#at > offset ? { offset, end: this.#at } : undefined
  }
}
