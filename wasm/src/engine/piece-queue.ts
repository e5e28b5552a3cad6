// Holds the text of an answer until its reader takes it.
import type { Piece } from './types.js'

// With this many pieces that wait for their reader, the engine rests. That spares the battery, and work for nothing if
// the reader leaves.
const kAhead = 32

/** The pieces of a generation that wait for their reader. */
export class PieceQueue<T extends object = Piece> {
  readonly #pieces: T[] = []
  #ended = false
  #paused = false
  #wake = (): void => {}
  /** Makes the engine rest, or go on. */
  setPause: (pause: boolean) => void = () => {}

  push(more: readonly T[]): void {
    this.#pieces.push(...more)
    if (!this.#paused && this.#pieces.length >= kAhead) this.setPause((this.#paused = true))
    this.#wake()
  }

  /** No further pieces come. */
  end(): void {
    this.#ended = true
    this.#wake()
  }

  get ended(): boolean {
    return this.#ended
  }

  /** undefined: all were read */
  async next(signal: AbortSignal | undefined): Promise<T | undefined> {
    for (;;) {
      signal?.throwIfAborted()
      const piece = this.#pieces.shift()
      if (this.#paused && this.#pieces.length <= kAhead / 2) this.setPause((this.#paused = false))
      if (piece || this.#ended) return piece
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
