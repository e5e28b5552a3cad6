// A link that all connections share. A piece of n bytes occupies it for n / bandwidth seconds.

export const kPieceBytes = 8192

/** Maximum milliseconds for which the link may catch up after a timer fired late. */
const kSlack = 25

export class Link {
  bytesPerSecond: number
  #free = 0 // performance.now() when the link becomes free

  constructor(bytesPerSecond: number) {
    this.bytesPerSecond = bytesPerSecond
  }

  /** Resolves when the last of these bytes has passed. Callers are served in order. */
  async pass(bytes: number, first: boolean): Promise<void> {
    if (this.bytesPerSecond === Infinity) return
    const now = performance.now()
    this.#free = Math.max(this.#free, first ? now : now - kSlack) + (bytes * 1000) / this.bytesPerSecond
    const wait = this.#free - now
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  }
}
