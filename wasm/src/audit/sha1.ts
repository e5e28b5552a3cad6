// Incremental SHA-1, which a UUID of version 5 is made of.
// Per block of 64 bytes: 80 rounds over w[i] = rotl(w[i-3] ^ w[i-8] ^ w[i-14] ^ w[i-16], 1).
import { BlockHash } from '../store/block-hash.js'

/** The constants of each 20 rounds. */
const kRounds = Int32Array.of(0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6)

export class Sha1 extends BlockHash {
  protected override readonly state = Int32Array.of(
    0x67452301,
    0xefcdab89,
    0x98badcfe,
    0x10325476,
    0xc3d2e1f0,
  )
  readonly #words = new Int32Array(80)

  protected override mix(view: DataView, at: number): void {
    const w = this.#words
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i)
    for (let i = 16; i < 80; i++) {
      const x = w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!
      w[i] = (x << 1) | (x >>> 31)
    }
    const state = this.state
    let a = state[0]!
    let b = state[1]!
    let c = state[2]!
    let d = state[3]!
    let e = state[4]!
    for (let i = 0; i < 80; i++) {
      const chosen = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d
      const sum = (((a << 5) | (a >>> 27)) + chosen + e + kRounds[(i / 20) | 0]! + w[i]!) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = sum
    }
    state[0] = state[0]! + a
    state[1] = state[1]! + b
    state[2] = state[2]! + c
    state[3] = state[3]! + d
    state[4] = state[4]! + e
  }
}
