// An array of the header whose elements are decoded when they are read.
import { checkOptions, kReadChecks } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import { kScalars, type Header } from './header.js'
import type { LazyArray, MetadataValue, NumericArray, ValueType } from '../api/metadata.js'
import type { ReadOptions } from '../api/source.js'

// Number of elements that iteration decodes at a time.
const kPage = 4096

type Typed = { new (length: number): NumericArray }

const kTypedArrays: Readonly<Record<string, Typed>> = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  bool: Uint8Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
}

/** As in Array's methods, anything but a number counts as 0. */
const indexOf = (index: unknown): number => (typeof index === 'number' ? Math.trunc(index) || 0 : 0)

/** Converts an index like Array.prototype.slice: to an integer within 0 .. length. */
function clamp(index: number, length: number): number {
  const whole = indexOf(index)
  return whole < 0 ? Math.max(0, length + whole) : Math.min(whole, length)
}

export class HeaderArray implements LazyArray {
  readonly #header: Header
  readonly #array: number
  readonly #offset: number
  readonly type: ValueType
  readonly length: number

  constructor(header: Header, array: number) {
    const [type, length, offset] = header.document.arrayInfo(array)
    this.#header = header
    this.#array = array
    this.#offset = offset
    this.type = type
    this.length = length
  }

  get loaded(): boolean {
    return this.#header.gaps?.has(this.#offset) !== true
  }

  async load(options: ReadOptions = {}): Promise<void> {
    checkOptions('load()', options, kReadChecks)
    options.signal?.throwIfAborted()
    await this.#header.gaps?.load(this.#offset, options)
  }

  at(index: number): MetadataValue | undefined {
    const whole = indexOf(index)
    const i = whole < 0 ? this.length + whole : whole
    return i < 0 || i >= this.length ? undefined : this.slice(i, i + 1)[0]
  }

  slice(from = 0, to = this.length): MetadataValue[] {
    const start = clamp(from, this.length)
    const end = clamp(to, this.length)
    const elements: MetadataValue[] = []
    for (let at = start; at < end; at += kPage) {
      for (const element of this.#page(at, Math.min(end, at + kPage))) elements.push(element)
    }
    return elements
  }

  #page(from: number, to: number): MetadataValue[] {
    const header = this.#header
    header.mustHave(this.#offset)
    if (this.type === 'string') return header.strings(this.#array, from, to)
    if (this.type === 'array') {
      return Array.from(
        { length: to - from },
        (_, i) => new HeaderArray(header, header.document.arrayOfElement(this.#array, from + i)),
      )
    }
    const { bytes, get } = kScalars[this.type]!
    const little = !header.bigEndian
    const view = header.view(this.#offset + from * bytes, (to - from) * bytes)
    return Array.from({ length: to - from }, (_, i) => get(view, i * bytes, little))
  }

  bytesAt(index: number): Uint8Array | undefined {
    const given = indexOf(index)
    const i = given < 0 ? this.length + given : given
    if (this.type !== 'string' || !Number.isInteger(i) || i < 0 || i >= this.length) return undefined
    this.#header.mustHave(this.#offset)
    return this.#header.stringBytes(this.#array, i)
  }

  toTypedArray(): NumericArray {
    const Typed = kTypedArrays[this.type]
    if (!Typed)
      throw new GgufError('invalid-argument', `An array of elements of type ${this.type} has no typed array.`)
    this.#header.mustHave(this.#offset)
    const bytes = kScalars[this.type]!.bytes
    const values = new Typed(this.length)
    const target = new Uint8Array(values.buffer)
    const view = this.#header.view(this.#offset, values.byteLength)
    target.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
    if (bytes > 1 && this.#header.bigEndian) {
      for (let at = 0; at < target.length; at += bytes) target.subarray(at, at + bytes).reverse()
    }
    return values
  }

  toJSON(): unknown[] {
    return this.slice().map((element) => (typeof element === 'bigint' ? String(element) : element))
  }

  *[Symbol.iterator](): IterableIterator<MetadataValue> {
    for (let at = 0; at < this.length; at += kPage) yield* this.#page(at, Math.min(this.length, at + kPage))
  }
}
