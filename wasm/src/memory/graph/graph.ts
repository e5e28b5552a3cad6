// The memory that a graph of operations takes: ggml's graph allocator, computed with sizes only.

/** A tensor of the graph. `left` counts the operations that still read it. */
export interface Value {
  readonly bytes: number
  left: number
  offset: number
  state: 'unplaced' | 'placed' | 'gone'
  kept: boolean
}

interface Operation {
  readonly result: Value | undefined
  /** the operation may write its result over the first of them that nothing else reads */
  readonly over: readonly Value[]
  readonly reads: readonly Value[]
}

interface Hole {
  offset: number
  bytes: number
}

const kAlignment = 32
const aligned = (bytes: number) => Math.ceil(bytes / kAlignment) * kAlignment

/** Hands out the smallest hole that is large enough, as ggml does. The last hole has no end. */
class Arena {
  readonly #holes: Hole[] = [{ offset: 0, bytes: Infinity }]
  size = 0

  take(bytes: number): number {
    const last = this.#holes.length - 1
    let best = last
    for (let i = 0; i < last; ++i) {
      const { bytes: free } = this.#holes[i]!
      if (free >= bytes && free <= this.#holes[best]!.bytes) best = i
    }
    const hole = this.#holes[best]!
    const { offset } = hole
    hole.offset += bytes
    hole.bytes -= bytes
    if (hole.bytes === 0) this.#holes.splice(best, 1)
    this.size = Math.max(this.size, offset + bytes)
    return offset
  }

  give(offset: number, bytes: number): void {
    const after = this.#holes.findIndex((hole) => hole.offset > offset)
    const next = this.#holes[after]!
    const before = this.#holes[after - 1]
    const joins = offset + bytes === next.offset
    if (before && before.offset + before.bytes === offset) {
      before.bytes += bytes + (joins ? next.bytes : 0)
      if (joins) this.#holes.splice(after, 1)
    } else if (joins) {
      next.offset = offset
      next.bytes += bytes
    } else {
      this.#holes.splice(after, 0, { offset, bytes })
    }
  }
}

export class Graph {
  readonly #inputs: Value[] = []
  readonly #operations: Operation[] = []

  /** An input: placed before everything else. */
  input(bytes: number): Value {
    const value = this.#value(bytes)
    this.#inputs.push(value)
    return value
  }

  /** An operation with a new tensor as its result. */
  add(bytes: number, ...reads: Value[]): Value {
    return this.#operation(this.#value(bytes), [], reads)
  }

  /** An elementwise operation, which may replace one of `over`: all of them have the size of its result. */
  over(over: Value | readonly Value[], ...reads: Value[]): Value {
    const targets = 'bytes' in over ? [over] : over
    return this.#operation(this.#value(targets[0]!.bytes), targets, reads)
  }

  /** An operation without memory of its own, such as one that stores into a cache. */
  use(...reads: Value[]): void {
    this.#operations.push({ result: undefined, over: [], reads })
  }

  /** An output: stays until the end. */
  keep(value: Value): Value {
    value.kept = true
    return value
  }

  /** Bytes of the buffer that all operations share. May be called once. */
  size(): number {
    const arena = new Arena()
    const place = (value: Value) => {
      if (value.bytes > 0) value.offset = arena.take(value.bytes)
      value.state = 'placed'
    }
    for (const { over, reads } of this.#operations) for (const value of [...over, ...reads]) ++value.left
    this.#inputs.forEach(place)
    for (const { result, over, reads } of this.#operations) {
      if (result) {
        const target = over.find(({ left, kept, state }) => left === 1 && !kept && state === 'placed')
        if (target) {
          result.offset = target.offset
          result.state = 'placed'
          target.state = 'gone'
        } else place(result)
      }
      for (const value of [...over, ...reads])
        if (--value.left === 0 && value.state === 'placed' && !value.kept) {
          if (value.bytes > 0) arena.give(value.offset, value.bytes)
          value.state = 'gone'
        }
    }
    return arena.size
  }

  #value(bytes: number): Value {
    return { bytes: aligned(bytes), left: 0, offset: 0, state: 'unplaced', kept: false }
  }

  #operation(result: Value, over: readonly Value[], reads: readonly Value[]): Value {
    this.#operations.push({ result, over, reads })
    return result
  }
}
