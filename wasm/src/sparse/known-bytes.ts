// The parts of a header that a sparse preview has read.
interface Run {
  readonly offset: number
  /** the beginning of a buffer that may be longer */
  bytes: Uint8Array
  /** bytes of that buffer; 0 if it belongs to the source */
  readonly capacity: number
}

/** The bytes of a file that were read. They are stored as runs, sorted by offset, that neither touch nor overlap. */
export class KnownBytes {
  readonly #runs: Run[] = []
  /** number of fetched bytes, including repeated ones */
  fetched = 0

  add(offset: number, bytes: Uint8Array): void {
    this.fetched += bytes.length
    const end = offset + bytes.length
    const first = this.#runs.findIndex((run) => run.offset + run.bytes.length >= offset)
    const near = this.#runs.filter((run) => run.offset + run.bytes.length >= offset && run.offset <= end)
    if (near.length === 0) {
      this.#runs.splice(first < 0 ? this.#runs.length : first, 0, { offset, bytes, capacity: 0 })
      return
    }
    const last = near.at(-1)!
    const start = Math.min(offset, near[0]!.offset)
    const length = Math.max(end, last.offset + last.bytes.length) - start
    const [run] = near
    if (near.length === 1 && run!.offset + run!.bytes.length === offset && length <= run!.capacity) {
      run!.bytes = new Uint8Array(run!.bytes.buffer, 0, length)
      run!.bytes.set(bytes, offset - start)
      return
    }
    // A stream appends to its run chunk by chunk.
    const capacity = 2 * length
    const whole = new Uint8Array(new ArrayBuffer(capacity), 0, length)
    for (const one of [...near, { offset, bytes }]) whole.set(one.bytes, one.offset - start)
    this.#runs.splice(first, near.length, { offset: start, bytes: whole, capacity })
  }

  /** The known bytes from an offset to the next gap. */
  from(offset: number): Uint8Array {
    const run = this.#runs.find((one) => one.offset <= offset && offset < one.offset + one.bytes.length)
    return run ? run.bytes.subarray(offset - run.offset) : new Uint8Array()
  }

  /** The known first bytes of the file, to the first gap. */
  beginning(length: number): KnownBytes {
    const known = new KnownBytes()
    known.add(0, this.from(0).subarray(0, length))
    return known
  }

  has(offset: number, length: number): boolean {
    return length === 0 || this.from(offset).length >= length
  }

  /** The parts of [offset, end) that are not known. */
  missing(offset: number, end: number): { offset: number; end: number }[] {
    const gaps: { offset: number; end: number }[] = []
    for (const run of this.#runs) {
      if (run.offset >= end) break
      if (run.offset > offset) gaps.push({ offset, end: run.offset })
      offset = Math.max(offset, run.offset + run.bytes.length)
    }
    if (offset < end) gaps.push({ offset, end })
    return gaps
  }

  /** Copies the known bytes of [0, target.length) to target. */
  copyTo(target: Uint8Array): void {
    for (const { offset, bytes } of this.#runs) {
      if (offset < target.length) target.set(bytes.subarray(0, target.length - offset), offset)
    }
  }
}
