// What SHA-1 and SHA-256 share (FIPS 180-4, section 5): blocks of 64 bytes, the padding, and the words of the result.

export abstract class BlockHash {
  protected abstract readonly state: Int32Array | Uint32Array
  readonly #block = new Uint8Array(64)
  #filled = 0
  #length = 0

  /** Mixes the block of 64 bytes at that offset into the state. */
  protected abstract mix(view: DataView, at: number): void

  update(bytes: Uint8Array): void {
    this.#length += bytes.length
    let at = 0
    if (this.#filled > 0) {
      at = Math.min(bytes.length, 64 - this.#filled)
      this.#block.set(bytes.subarray(0, at), this.#filled)
      this.#filled += at
      if (this.#filled < 64) return
      this.mix(new DataView(this.#block.buffer), 0)
      this.#filled = 0
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (; at + 64 <= bytes.length; at += 64) this.mix(view, at)
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
    return Array.from(this.state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }
}
