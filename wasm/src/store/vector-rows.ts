// The vectors of an index, one row after another, in one type. All have length 1, so products are cosines.
//
//   float32   n floats
//   int8      a float, the scale, then n signed bytes: value = scale * byte
//   binary    the sign of each value, 32 in a word: 1 where it is above 0
import type { Bytes } from '../api/arrays.js'

export type VectorType = 'float32' | 'int8' | 'binary'
export const kVectorTypes: readonly VectorType[] = ['float32', 'int8', 'binary']

const kRowBytes: Readonly<Record<VectorType, (n: number) => number>> = {
  float32: (n) => 4 * n,
  int8: (n) => 4 + 4 * Math.ceil(n / 4),
  binary: (n) => 4 * Math.ceil(n / 32),
}

/** Bits of a word that are set. */
function bitCount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function signsOf(vector: Float32Array): Uint32Array {
  const signs = new Uint32Array(Math.ceil(vector.length / 32))
  vector.forEach((value, i) => {
    if (value > 0) signs[i >> 5]! |= 1 << (i & 31)
  })
  return signs
}

/** The vector scaled to length 1. One of zeros stays as it is. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length > 0 ? vector.map((value) => value / length) : vector.slice()
}

export class VectorRows {
  readonly rowBytes: number
  bytes: Bytes = new Uint8Array(0)
  readonly #n: number

  constructor(
    readonly type: VectorType,
    n: number,
  ) {
    this.#n = n
    this.rowBytes = kRowBytes[type](n)
  }

  set(row: number, vector: Float32Array): void {
    const at = row * this.rowBytes
    if (at + this.rowBytes > this.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.bytes.length, 64 * this.rowBytes))
      larger.set(this.bytes)
      this.bytes = larger
    }
    const { buffer } = this.bytes
    if (this.type === 'float32') new Float32Array(buffer, at, this.#n).set(vector)
    else if (this.type === 'binary') new Uint32Array(buffer, at, this.rowBytes / 4).set(signsOf(vector))
    else {
      const scale = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / 127
      new Float32Array(buffer, at, 1)[0] = scale
      const codes = new Int8Array(buffer, at + 4, this.#n)
      if (scale > 0) vector.forEach((value, i) => (codes[i] = Math.round(value / scale)))
    }
  }

  /** Cosines of a vector of length 1 with rows; of binary rows, those of the signs of both. */
  scores(query: Float32Array, rows: Iterable<number>): Float32Array {
    const { buffer } = this.bytes
    const n = this.#n
    const stride = this.rowBytes / 4
    const [floats, codes, masks] = [new Float32Array(buffer), new Int8Array(buffer), new Uint32Array(buffer)]
    const signs = signsOf(query)
    const score: Record<VectorType, (row: number) => number> = {
      float32: (row) => {
        let sum = 0
        for (let i = 0, at = row * n; i < n; i++) sum += query[i]! * floats[at++]!
        return sum
      },
      int8: (row) => {
        let sum = 0
        for (let i = 0, at = row * this.rowBytes + 4; i < n; i++) sum += query[i]! * codes[at++]!
        return sum * floats[row * stride]!
      },
      binary: (row) => {
        let different = 0
        for (let i = 0, at = row * stride; i < stride; i++) different += bitCount(signs[i]! ^ masks[at++]!)
        return 1 - (2 * different) / n
      },
    }
    return Float32Array.from(rows, score[this.type])
  }
}
