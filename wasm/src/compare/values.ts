// Computes the error of a tensor's values relative to the same tensor in another file.
import { GgufError } from '../api/errors.js'
import type { ValueError } from '../api/compare.js'
import type { GgufFile } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'

export interface Pair {
  readonly name: string
  readonly a: TensorInfo
  readonly b: TensorInfo
}

export interface Compared {
  readonly cut: boolean
  readonly equal: boolean | undefined
  readonly error: ValueError | undefined
}

type Rows = readonly [from: number, to: number]

/** Number of slabs that are spread over the tensor. The rows of a slab are read at once. */
const kSlabs = 4
/** bytes of each file that are in memory at a time */
const kChunkBytes = 1 << 22

const rowCountOf = ({ shape, elementCount }: TensorInfo) => (shape[0] ? elementCount / shape[0] : 0)

/** All rows in chunks, or a sample of slabs. */
function slabsOf({ a, b }: Pair, sampleBytes: number | undefined): Rows[] {
  const count = rowCountOf(a)
  const rowBytes = Math.max(1, Math.max(a.byteLength, b.byteLength) / Math.max(1, count))
  const whole = sampleBytes === undefined
  const rows = Math.max(1, Math.floor((whole ? kChunkBytes : sampleBytes / kSlabs) / rowBytes))
  if (whole || count <= rows * kSlabs) {
    const slabs: Rows[] = []
    for (let from = 0; from < count; from += rows) slabs.push([from, Math.min(count, from + rows)])
    return slabs
  }
  return Array.from({ length: kSlabs }, (_, i) => {
    const from = Math.round((i * (count - rows)) / (kSlabs - 1))
    return [from, from + rows]
  })
}

class Sums {
  #difference = 0
  #first = 0
  #second = 0
  #product = 0
  #maximum = 0
  #notFinite = 0
  #count = 0

  add(first: Float32Array, second: Float32Array): void {
    for (let i = 0; i < first.length; i++) {
      const x = first[i]!
      const y = second[i]!
      const d = y - x
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        this.#notFinite++
        continue
      }
      this.#difference += d * d
      this.#first += x * x
      this.#second += y * y
      this.#product += x * y
      this.#maximum = Math.max(this.#maximum, Math.abs(d))
    }
    this.#count += first.length
  }

  result(): ValueError {
    return {
      nmse: this.#difference === 0 ? 0 : this.#difference / this.#first,
      cosine: this.#product / Math.sqrt(this.#first * this.#second),
      maximum: this.#maximum,
      notFinite: this.#notFinite,
      count: this.#count,
    }
  }
}

const sameBytes = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, i) => byte === b[i])

/** sampleBytes: undefined for all. A tensor of which a file lacks bytes is cut. */
export async function compareValues(
  ...[a, b, pair, sampleBytes, signal]: Parameters<typeof readAndCompare>
): Promise<Compared> {
  try {
    return { cut: false, ...(await readAndCompare(a, b, pair, sampleBytes, signal)) }
  } catch (reason) {
    if (!(reason instanceof GgufError) || reason.code !== 'truncated') throw reason
    return { cut: true, equal: undefined, error: undefined }
  }
}

/** Values are decoded only for chunks whose bytes differ. */
async function readAndCompare(
  a: GgufFile,
  b: GgufFile,
  pair: Pair,
  sampleBytes: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Omit<Compared, 'cut'>> {
  const { name } = pair
  const sums = new Sums()
  const alike = pair.a.type === pair.b.type && a.endianness === b.endianness
  let equal: boolean | undefined = alike ? true : undefined
  let error = true
  for (const rows of slabsOf(pair, sampleBytes)) {
    signal?.throwIfAborted()
    const options = { rows: [rows[0], rows[1]] as [number, number], signal }
    const [first, second] = await Promise.all([a.read(name, options), b.read(name, options)])
    if (alike && !sameBytes(first, second)) equal = false
    if (!error) continue
    try {
      const [x, y] = await Promise.all([a.dequantize(name, options), b.dequantize(name, options)])
      sums.add(x, y)
    } catch (reason) {
      if (!(reason instanceof GgufError) || reason.code !== 'unsupported') throw reason
      error = false
    }
  }
  return { equal, error: error && equal !== true ? sums.result() : undefined }
}
