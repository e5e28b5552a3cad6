// Keeps bytes that were read recently.
const kMaxBytes = 16 << 20
// Longer ranges are rarely read twice, and would displace all others.
const kLongest = 2 << 20

/** A cache of recently read bytes. */
export class RecentBytes {
  // the most recently used one is last
  readonly #runs: { offset: number; bytes: Uint8Array }[] = []
  #total = 0

  /** A copy of [offset, end), if it is in the cache. */
  find(offset: number, end: number): Uint8Array | undefined {
    const at = this.#runs.findLastIndex((run) => run.offset <= offset && end <= run.offset + run.bytes.length)
    if (at < 0) return undefined
    const [run] = this.#runs.splice(at, 1)
    this.#runs.push(run!)
    return run!.bytes.slice(offset - run!.offset, end - run!.offset)
  }

  keeps(bytes: Uint8Array): boolean {
    return bytes.length <= kLongest
  }

  add(offset: number, bytes: Uint8Array): void {
    if (!this.keeps(bytes)) return
    this.#runs.push({ offset, bytes })
    this.#total += bytes.length
    while (this.#total > kMaxBytes) this.#total -= this.#runs.shift()!.bytes.length
  }

  clear(): void {
    this.#runs.length = 0
    this.#total = 0
  }
}
