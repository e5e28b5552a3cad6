// Incremental SHA-1, which a UUID of version 5 is made of.
// Per block of 64 bytes: 80 rounds over w[i] = rotl(w[i-3] ^ w[i-8] ^ w[i-14] ^ w[i-16], 1).

/** The constants of each 20 rounds. */
const kRounds = Int32Array.of(0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6)

export class Sha1 {
  readonly #state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0)
  readonly #words = new Int32Array(80)
  readonly #block = new Uint8Array(64)
  #filled = 0
  #length = 0

  update(bytes: Uint8Array): void {
    this.#length += bytes.length
    let at = 0
    if (this.#filled > 0) {
      at = Math.min(bytes.length, 64 - this.#filled)
      this.#block.set(bytes.subarray(0, at), this.#filled)
      this.#filled += at
      if (this.#filled < 64) return
      this.#mix(new DataView(this.#block.buffer), 0)
      this.#filled = 0
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (; at + 64 <= bytes.length; at += 64) this.#mix(view, at)
    this.#block.set(bytes.subarray(at))
    this.#filled = bytes.length - at
  }

  /** Returns the hash in lower-case hexadecimal. No bytes can be added afterwards. */
  hex(): string {
    const bits = this.#length * 8
    const tail = new Uint8Array(this.#filled < 56 ? 64 - this.#filled : 128 - this.#filled)
    tail[0] = 0x80
    const view = new DataView(tail.buffer)
    view.setUint32(tail.length - 8, Math.floor(bits / 2 ** 32))
    view.setUint32(tail.length - 4, bits >>> 0)
    this.update(tail)
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }

  #mix(view: DataView, at: number): void {
    const w = this.#words
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i)
    for (let i = 16; i < 80; i++) {
      const x = w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!
      w[i] = (x << 1) | (x >>> 31)
    }
    const state = this.#state
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
