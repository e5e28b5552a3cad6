// Incremental XXH64 with seed 0. Per stripe of 32 bytes, each of four lanes takes 8 bytes:
// lane = rotl(lane + input * P2, 31) * P1, modulo 2^64. Numbers are two halves of 32 bits: BigInts are slower.

type Pair = readonly [low: number, high: number]
const pair = (value: bigint): Pair => [Number(value & 0xffffffffn) | 0, Number(value >> 32n) | 0]

const kPrimes = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
] as const
const [p1, p2, p3, p4, p5] = kPrimes.map(pair) as unknown as readonly [Pair, Pair, Pair, Pair, Pair]

/** A 64-bit number that is changed in place. */
class Word {
  low: number
  high: number

  constructor([low, high]: Pair) {
    this.low = low
    this.high = high
  }

  add(low: number, high: number): this {
    const sum = (this.low >>> 0) + (low >>> 0)
    this.low = sum | 0
    this.high = (this.high + high + (sum > 0xffffffff ? 1 : 0)) | 0
    return this
  }

  xor(low: number, high: number): this {
    this.low ^= low
    this.high ^= high
    return this
  }

  multiply([low, high]: Pair): this {
    const a0 = this.low & 0xffff
    const a1 = this.low >>> 16
    const b0 = low & 0xffff
    const b1 = low >>> 16
    const first = a1 * b0 + ((a0 * b0) >>> 16)
    const second = a0 * b1 + (first & 0xffff)
    const carried = (a1 * b1 + (first >>> 16) + (second >>> 16)) | 0
    this.high = (carried + Math.imul(this.low, high) + Math.imul(this.high, low)) | 0
    this.low = Math.imul(this.low, low)
    return this
  }

  /** bits: 1 to 31 */
  rotate(bits: number): this {
    const { low, high } = this
    this.low = (low << bits) | (high >>> (32 - bits))
    this.high = (high << bits) | (low >>> (32 - bits))
    return this
  }

  /** x ^= x >> bits */
  fold(bits: number): this {
    const { low, high } = this
    return bits < 32
      ? this.xor((low >>> bits) | (high << (32 - bits)), high >>> bits)
      : this.xor(high >>> (bits - 32), 0)
  }
}

/** rotl(word + input * P2, 31) * P1 */
function mix(word: Word, input: Word, low: number, high: number): void {
  input.low = low
  input.high = high
  input.multiply(p2)
  word.add(input.low, input.high).rotate(31).multiply(p1)
}

export class Xxh64 {
  readonly #lanes = [
    new Word(pair((kPrimes[0] + kPrimes[1]) & 0xffffffffffffffffn)),
    new Word(p2),
    new Word([0, 0]),
    new Word(pair(0x10000000000000000n - kPrimes[0])),
  ] as const
  readonly #input = new Word([0, 0])
  readonly #stripe = new Uint8Array(32)
  #filled = 0
  #length = 0

  update(bytes: Uint8Array): void {
    this.#length += bytes.length
    let at = 0
    if (this.#filled > 0) {
      at = Math.min(bytes.length, 32 - this.#filled)
      this.#stripe.set(bytes.subarray(0, at), this.#filled)
      this.#filled += at
      if (this.#filled < 32) return
      this.#mixStripes(this.#stripe, 0)
      this.#filled = 0
    }
    at = this.#mixStripes(bytes, at)
    this.#stripe.set(bytes.subarray(at))
    this.#filled = bytes.length - at
  }

  /** Mixes whole stripes from that byte on, and returns where they end. */
  #mixStripes(bytes: Uint8Array, from: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const [a, b, c, d] = this.#lanes
    const input = this.#input
    let at = from
    for (; at + 32 <= bytes.length; at += 32) {
      mix(a, input, view.getInt32(at, true), view.getInt32(at + 4, true))
      mix(b, input, view.getInt32(at + 8, true), view.getInt32(at + 12, true))
      mix(c, input, view.getInt32(at + 16, true), view.getInt32(at + 20, true))
      mix(d, input, view.getInt32(at + 24, true), view.getInt32(at + 28, true))
    }
    return at
  }

  /** The lanes as one number. */
  #joined(): Word {
    if (this.#length < 32) return new Word(p5)
    const bits = [1, 7, 12, 18]
    const hash = new Word([0, 0])
    for (const [i, { low, high }] of this.#lanes.entries()) {
      const turned = new Word([low, high]).rotate(bits[i]!)
      hash.add(turned.low, turned.high)
    }
    for (const { low, high } of this.#lanes) {
      const mixed = new Word([0, 0])
      mix(mixed, this.#input, low, high)
      hash
        .xor(mixed.low, mixed.high)
        .multiply(p1)
        .add(...p4)
    }
    return hash
  }

  /** Returns the hash in lower-case hexadecimal. */
  hex(): string {
    const hash = this.#joined().add(this.#length | 0, Math.floor(this.#length / 2 ** 32))
    const view = new DataView(this.#stripe.buffer)
    let at = 0
    for (; at + 8 <= this.#filled; at += 8) {
      const mixed = new Word([0, 0])
      mix(mixed, this.#input, view.getInt32(at, true), view.getInt32(at + 4, true))
      hash
        .xor(mixed.low, mixed.high)
        .rotate(27)
        .multiply(p1)
        .add(...p4)
    }
    if (at + 4 <= this.#filled) {
      const part = new Word([view.getInt32(at, true), 0]).multiply(p1)
      hash
        .xor(part.low, part.high)
        .rotate(23)
        .multiply(p2)
        .add(...p3)
      at += 4
    }
    for (; at < this.#filled; at++) {
      const part = new Word([this.#stripe[at]!, 0]).multiply(p5)
      hash.xor(part.low, part.high).rotate(11).multiply(p1)
    }
    hash.fold(33).multiply(p2).fold(29).multiply(p3).fold(32)
    return [hash.high, hash.low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }
}
