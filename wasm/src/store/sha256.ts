// Incremental SHA-256, which the browser's own digest does not support.
// Per block of 64 bytes: 64 rounds over a schedule of 64 words, w[i] = w[i-16] + s0(w[i-15]) + w[i-7] + s1(w[i-2]).
import { BlockHash } from './block-hash.js'

/** The first 32 bits of the fractional parts of the roots of the first primes: cube roots of 64, square roots of 8. */
function constants(): { rounds: Uint32Array; start: Uint32Array } {
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  const fraction = (x: number) => ((x - Math.floor(x)) * 2 ** 32) >>> 0
  return {
    rounds: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
    start: Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
  }
}

export class Sha256 extends BlockHash {
  readonly #k: Uint32Array
  protected override readonly state: Uint32Array
  readonly #words = new Uint32Array(64)

  constructor() {
    super()
    const { rounds, start } = constants()
    this.#k = rounds
    this.state = start
  }

  protected override mix(view: DataView, at: number): void {
    const w = this.#words
    const k = this.#k
    const state = this.state
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i)
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!
      const y = w[i - 2]!
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [
      number, number, number, number, number, number, number, number,
    ] // prettier-ignore
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const one = (h + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + one) | 0
      d = c
      c = b
      b = a
      a = (one + two) | 0
    }
    const sums = [a, b, c, d, e, f, g, h]
    for (let i = 0; i < 8; i++) state[i] = state[i]! + sums[i]!
  }
}
