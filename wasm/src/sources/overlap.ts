// The last bytes of an interrupted transfer. If nothing else identifies the version of a file, they are requested again,
// so that parts of two versions are not joined.

const kBytes = 1024

export class Overlap {
  #last = new Uint8Array()
  /** the bytes that the next transfer repeats, as far as they have not come yet */
  #rest = new Uint8Array()

  /** number of bytes by which the next transfer begins earlier */
  get length(): number {
    return this.#rest.length
  }

  /** Keeps a copy of the last bytes. */
  keep(chunk: Uint8Array): void {
    const both = new Uint8Array(Math.min(kBytes, this.#last.length + chunk.length))
    const count = Math.min(both.length, chunk.length)
    both.set(chunk.subarray(chunk.length - count), both.length - count)
    const older = both.length - count
    both.set(this.#last.subarray(this.#last.length - older), 0)
    this.#last = both
  }

  /** Lets the next transfer begin with the last bytes. */
  rewind(): void {
    this.#rest = this.#last
  }

  /** The bytes of a chunk that are not repeated; undefined if the repeated ones differ. */
  check(chunk: Uint8Array): Uint8Array | undefined {
    const count = Math.min(this.#rest.length, chunk.length)
    if (!this.#rest.subarray(0, count).every((byte, i) => byte === chunk[i])) return undefined
    this.#rest = this.#rest.subarray(count)
    return chunk.subarray(count)
  }
}
