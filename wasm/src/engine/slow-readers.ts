// Lets a generation rest while its reader is behind.
import type { Pause } from './protocol.js'

/** In the worker: the generations that rest because their readers are behind. */
export class SlowReaders {
  readonly #behind = new Set<number>()
  #wake = (): void => {}

  set({ pause, of }: Pause): void {
    if (pause) this.#behind.add(of)
    else this.#behind.delete(of)
  }

  delete(id: number): void {
    this.#behind.delete(id)
  }

  /** After every message: a resting generation may have to go on. */
  wake(): void {
    this.#wake()
  }

  /** Waits while the reader of a generation is behind and `mayRest` holds. Returns the milliseconds. */
  async waitForReader(id: number, mayRest: () => boolean): Promise<number> {
    const began = performance.now()
    while (this.#behind.has(id) && mayRest()) await new Promise<void>((resolve) => (this.#wake = resolve))
    return performance.now() - began
  }
}
