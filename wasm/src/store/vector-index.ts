// A small index of vectors: every search compares all of them. It is kept in the store under a name.
import {
  checkArgument,
  checkOptions,
  bytes as isBytes,
  integer,
  listOf,
  oneOf,
  text,
  type Check,
} from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { explained, folderName, privateFolder, writeWhole } from './folder.js'
import { kVectorTypes, unit, VectorRows, type VectorType } from './vector-rows.js'

export type { VectorType } from './vector-rows.js'

export interface VectorIndexOptions {
  /** How vectors are compared first. int8 takes a quarter of the memory of float32, binary a 32nd. Default: 'float32'. */
  type?: VectorType | undefined
  /** The best of the first comparison are compared again with these, which are kept as well. Default: none. */
  rescore?: 'float32' | 'int8' | undefined
}

export interface VectorSearchOptions {
  /** Default: 10. */
  topN?: number | undefined
  /** How many of the first comparison are compared again. Default: ten times topN, at least 100. */
  candidates?: number | undefined
}

export interface VectorMatch {
  /** as given to add() */
  readonly item: string
  /** position in the order of adding */
  readonly index: number
  /** the cosine of both vectors, or an estimate of it from what is kept of them */
  readonly score: number
}

const kMagic = 'GGVI'
const isVector: Check = (value) => (value instanceof Float32Array ? undefined : 'a Float32Array')
const place = () => privateFolder('ggufscope-indexes')
const fileOf = async (name: string): Promise<string> => `${await folderName(name)}.index`

/** The positions of the n largest scores, best first. */
function best(scores: Float32Array, n: number): number[] {
  const found: number[] = []
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!
    if (found.length === n && score <= scores[found[n - 1]!]!) continue
    let at = found.length
    while (at > 0 && scores[found[at - 1]!]! < score) at--
    found.splice(at, 0, i)
    if (found.length > n) found.pop()
  }
  return found
}

interface Head {
  readonly length: number
  readonly types: readonly [VectorType, VectorIndexOptions['rescore']?]
  readonly items: readonly string[]
}

function headOf(json: string): Head {
  try {
    const head = JSON.parse(json) as Head
    const isRight =
      Number.isSafeInteger(head.length) &&
      head.types.every((type) => kVectorTypes.includes(type!)) &&
      head.items.every((item) => typeof item === 'string')
    if (isRight) return head
  } catch {
    // The error below says what it means.
  }
  throw new GgufError('bad-length', 'The head of the index is damaged.', { offset: 4 })
}

/** FNV-1a over words of 32 bits: a change of one word always changes it. */
function checksumOf(bytes: Uint8Array): number {
  let sum = 0x811c9dc5
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at + 4 <= bytes.length; at += 4)
    sum = Math.imul(sum ^ view.getUint32(at, true), 0x01000193)
  return sum >>> 0
}

export class VectorIndex {
  /** values of a vector */
  readonly length: number
  readonly #items: string[] = []
  readonly #first: VectorRows
  readonly #second: VectorRows | undefined

  /** length: values of a vector, such as model.info.pooledLength. Error: 'invalid-argument' for other values. */
  constructor(length: number, options: VectorIndexOptions = {}) {
    checkArgument('VectorIndex', 'length', length, integer(1, 65536))
    checkOptions('VectorIndex', options, { type: oneOf(...kVectorTypes), rescore: oneOf('float32', 'int8') })
    const { type = 'float32', rescore } = options
    this.length = length
    this.#first = new VectorRows(type, length)
    this.#second = rescore && new VectorRows(rescore, length)
  }

  /** number of vectors */
  get size(): number {
    return this.#items.length
  }

  /**
   * Adds vectors of any scale. items: what a match returns, such as the text or its name. Error: 'invalid-argument' for
   * vectors of another length or without numbers; then none is added.
   */
  add(items: readonly string[], vectors: readonly Float32Array[]): void {
    checkArgument('add()', 'items', items, listOf(text, 'an array of texts'))
    checkArgument('add()', 'vectors', vectors, listOf(isVector, 'an array of Float32Arrays'))
    if (items.length !== vectors.length)
      throw new GgufError(
        'invalid-argument',
        `There must be as many vectors as items: ${items.length}, not ${vectors.length}.`,
      )
    vectors.forEach((vector) => this.#check(vector))
    items.forEach((item, i) => {
      const vector = unit(vectors[i]!)
      this.#first.set(this.size, vector)
      this.#second?.set(this.size, vector)
      this.#items.push(item)
    })
  }

  /** The items with the largest cosines, best first. Error: 'invalid-argument' for a vector of another length. */
  search(query: Float32Array, options: VectorSearchOptions = {}): VectorMatch[] {
    checkArgument('search()', 'query', query, isVector)
    checkOptions('search()', options, { topN: integer(1), candidates: integer(1) })
    this.#check(query)
    const { topN = 10, candidates = Math.max(100, 10 * topN) } = options
    const vector = unit(query)
    let rows = this.#items.map((_, i) => i)
    let scores = this.#first.scores(vector, rows)
    if (this.#second) {
      rows = best(scores, Math.max(topN, candidates))
      scores = this.#second.scores(vector, rows)
    }
    return best(scores, topN).map((i) => ({
      item: this.#items[rows[i]!]!,
      index: rows[i]!,
      score: scores[i]!,
    }))
  }

  #check(vector: Float32Array): void {
    if (vector.length !== this.length)
      throw new GgufError(
        'invalid-argument',
        `The length of the vectors of this index is ${this.length}, not ${vector.length}.`,
      )
    if (!vector.every(Number.isFinite))
      throw new GgufError('invalid-argument', 'A value of the vector is not a number.')
  }

  /** The index as bytes, for fromBytes(). */
  toBytes(): Bytes {
    const all = [this.#first, ...(this.#second ? [this.#second] : [])]
    const head = { length: this.length, types: all.map(({ type }) => type), items: this.#items }
    const json = new TextEncoder().encode(JSON.stringify(head))
    // Rows begin at a multiple of 4, as their views need.
    const start = 8 + 4 * Math.ceil(json.length / 4)
    const sizes = all.map(({ rowBytes }) => rowBytes * this.size)
    // Rows have a multiple of 4 bytes. The checksum of all follows them.
    const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, start) + 4)
    bytes.set(new TextEncoder().encode(kMagic))
    new DataView(bytes.buffer).setUint32(4, json.length, true)
    bytes.set(json, 8)
    all.reduce((at, rows, i) => (bytes.set(rows.bytes.subarray(0, sizes[i]), at), at + sizes[i]!), start)
    const end = bytes.length - 4
    new DataView(bytes.buffer).setUint32(end, checksumOf(bytes.subarray(0, end)), true)
    return bytes
  }

  /** Errors: 'bad-magic' for other bytes, 'truncated' or 'bad-length' for those of a damaged index. */
  static fromBytes(bytes: Uint8Array): VectorIndex {
    checkArgument('fromBytes()', 'bytes', bytes, isBytes)
    const textOf = (from: number, to: number): string => new TextDecoder().decode(bytes.slice(from, to))
    if (textOf(0, 4) !== kMagic)
      throw new GgufError('bad-magic', 'These bytes are not an index of vectors.', { offset: 0 })
    const cut = (): GgufError =>
      new GgufError('truncated', `The index ends at byte ${bytes.length}, too early.`, {
        offset: bytes.length,
      })
    if (bytes.length < 8) throw cut()
    const end = 8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true)
    if (end > bytes.length) throw cut()
    const { length, types, items } = headOf(textOf(8, end))
    const index = new VectorIndex(length, { type: types[0], rescore: types[1] })
    let at = 4 * Math.ceil(end / 4)
    for (const rows of [index.#first, ...(index.#second ? [index.#second] : [])]) {
      rows.bytes = bytes.slice(at, (at += rows.rowBytes * items.length))
      if (at > bytes.length) throw cut()
    }
    if (at + 4 > bytes.length) throw cut()
    const sum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true)
    if (at + 4 !== bytes.length || sum !== checksumOf(bytes.subarray(0, at)))
      throw new GgufError('bad-length', 'The index is damaged: its checksum is another one.', { offset: at })
    for (const item of items) index.#items.push(item)
    return index
  }

  /** Keeps the index in this browser, or in Node's cache folder. Errors: 'quota', 'unsupported' without a store. */
  async save(name: string): Promise<void> {
    checkArgument('save()', 'name', name, text)
    const folder = await place()
    try {
      await writeWhole(folder, await fileOf(name), this.toBytes())
    } catch (error) {
      throw explained(error, name)
    }
  }

  /** The index that save() kept under this name; undefined: there is none. Errors: those of fromBytes(). */
  static async open(name: string): Promise<VectorIndex | undefined> {
    checkArgument('open()', 'name', name, text)
    const handle = await (await place()).getFileHandle(await fileOf(name)).catch(() => undefined)
    const file = await handle?.getFile().catch(() => undefined)
    return file && VectorIndex.fromBytes(new Uint8Array(await file.arrayBuffer()))
  }

  /** Removes what save() kept under this name. */
  static async remove(name: string): Promise<void> {
    checkArgument('remove()', 'name', name, text)
    await (await place()).removeEntry(await fileOf(name), { recursive: true }).catch(() => {})
  }
}
