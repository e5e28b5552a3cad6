// Walks over a partly known header, exactly from key to key. Values of known length are skipped. If an array of strings
// continues beyond the known bytes, its end must be set before the walk continues.
import { skipTensorInfo } from './classify.js'
import { Cursor, kArray, kString, kValueBytes, skipStrings } from './cursor.js'
import type { KnownBytes } from './known-bytes.js'
import { kMaxCount, kMaxKeptArrayBytes, kMaxKeyBytes, kMaxTextBytes, kStringBytes } from './tuning.js'

/** Arrays that can be left out. Offsets are relative to the first element of the first array. Sorted by offset. */
export type HeaderLayout = readonly (readonly [offset: number, length: number])[]

/** Elements of an array that were left out: bytes [offset, end). */
export interface OmittedArray {
  readonly offset: number
  readonly end: number
  /** number of strings; undefined if the elements have a fixed size */
  readonly strings: number | undefined
}

export interface OpenArray {
  readonly key: string
  readonly offset: number
  readonly count: number
  /** offset of the first unknown string, and number of strings from there on */
  readonly at: number
  readonly remaining: number
}

export type Stop =
  | { readonly kind: 'need'; readonly at: number; readonly bytes: number }
  | { readonly kind: 'strings'; readonly array: OpenArray }
  | { readonly kind: 'end'; readonly at: number }
  /** the header is invalid or cannot be walked in parts */
  | { readonly kind: 'wrong' }

const kWrong: Stop = { kind: 'wrong' }
const decoder = new TextDecoder()

export class Walk {
  readonly #known: KnownBytes
  readonly little: boolean
  readonly version: number
  readonly tensorCount: number
  readonly keyCount: number
  readonly omittedArrays: OmittedArray[] = []
  /** all arrays that can be left out, even if their bytes are known */
  readonly longArrays: OmittedArray[] = []
  /** the keys so far with the number of elements of arrays, and the values that are short texts */
  readonly names = new Map<string, number>()
  readonly texts = new Map<string, string>()
  keys = 0
  infos = 0
  #at = 24
  #infosFrom = 0
  #open: OpenArray | undefined

  /** known: must contain at least the first 24 bytes. */
  constructor(known: KnownBytes) {
    this.#known = known
    const head = known.from(0)
    this.little = ((head[4] ?? 0) | (head[5] ?? 0)) !== 0
    const cursor = new Cursor(head, this.little, 4)
    this.version = cursor.u32()
    this.tensorCount = cursor.u64()
    this.keyCount = cursor.u64()
  }

  /** Version 1 is not supported, because its counts have 32 bits. */
  get isKnownVersion(): boolean {
    return this.version === 2 || this.version === 3
  }

  /** Whether the walk has reached a key of the tokenizer. */
  has(name: string): boolean {
    return this.names.has(`tokenizer.ggml.${name}`)
  }

  /** The average bytes of the tensor infos so far; undefined if there are none. */
  get infoBytes(): number | undefined {
    return this.infos > 0 ? (this.#at - this.#infosFrom) / this.infos : undefined
  }

  /** Sets the end of the open array of strings. */
  close(end: number): void {
    const { offset, count } = this.#open!
    this.omittedArrays.push({ offset, end, strings: count })
    this.longArrays.push({ offset, end, strings: count })
    this.#at = end
    this.#open = undefined
  }

  /** Walks as far as the known bytes reach. */
  advance(): Stop {
    for (;;) {
      const stop = this.#open ? this.#strings() : this.keys < this.keyCount ? this.#key() : this.#info()
      if (stop) return stop
    }
  }

  #need(cursor: Cursor): Stop {
    return { kind: 'need', at: this.#at, bytes: cursor.at }
  }

  #key(): Stop | undefined {
    const bytes = this.#known.from(this.#at)
    const cursor = new Cursor(bytes, this.little)
    const length = cursor.u64()
    if (length > kMaxKeyBytes) return kWrong
    cursor.skip(length)
    const key = cursor.short > 0 ? '' : decoder.decode(bytes.subarray(8, 8 + length))
    const type = cursor.u32()
    if (cursor.short > 0) return this.#need(cursor)
    if (type >= kValueBytes.length) return kWrong
    if (type === kArray) return this.#array(key, cursor)
    const size = type === kString ? cursor.u64() : kValueBytes[type]!
    if (size > kMaxTextBytes) return kWrong
    const text = cursor.at
    if (!cursor.skip(size)) return this.#need(cursor)
    if (type === kString && size < 256) this.texts.set(key, decoder.decode(bytes.subarray(text, cursor.at)))
    this.#at += cursor.at
    this.names.set(key, 0)
    this.keys++
    return undefined
  }

  #array(key: string, cursor: Cursor): Stop | undefined {
    const element = cursor.u32()
    const count = cursor.u64()
    if (cursor.short > 0) return this.#need(cursor)
    if (element === kArray || element >= kValueBytes.length || count > kMaxCount) return kWrong
    const offset = this.#at + cursor.at
    if (element === kString) {
      this.#open = { key, offset, count, at: offset, remaining: count }
    } else {
      const end = offset + count * kValueBytes[element]!
      if (end - offset > kMaxKeptArrayBytes) this.longArrays.push({ offset, end, strings: undefined })
      if (!this.#known.has(offset, end - offset)) {
        if (end - offset <= kMaxKeptArrayBytes) return { kind: 'need', at: this.#at, bytes: end - this.#at }
        this.omittedArrays.push({ offset, end, strings: undefined })
      }
      this.#at = end
    }
    this.names.set(key, count)
    this.keys++
    return undefined
  }

  #strings(): Stop | undefined {
    const open = this.#open!
    const range = { at: 0, count: open.remaining, longest: kMaxTextBytes }
    const skipped = skipStrings(this.#known.from(open.at), this.little, range)
    if (!skipped) return kWrong
    this.#open = { ...open, at: open.at + skipped.at, remaining: skipped.left }
    // A short list such as general.tags is no vocabulary, and its end is not searched for.
    if (skipped.left > 0)
      return open.count * kStringBytes <= kMaxKeptArrayBytes
        ? { kind: 'need', at: this.#open.at, bytes: skipped.left * kStringBytes }
        : { kind: 'strings', array: this.#open }
    this.#at = this.#open.at
    const { offset, count } = this.#open
    if (this.#at - offset > kMaxKeptArrayBytes)
      this.longArrays.push({ offset, end: this.#at, strings: count })
    this.#open = undefined
    return undefined
  }

  #info(): Stop | undefined {
    if (this.infos === this.tensorCount) return { kind: 'end', at: this.#at }
    const cursor = new Cursor(this.#known.from(this.#at), this.little)
    if (!skipTensorInfo(cursor)) return cursor.short > 0 ? this.#need(cursor) : kWrong
    if (this.infos === 0) this.#infosFrom = this.#at
    this.#at += cursor.at
    this.infos++
    return undefined
  }
}
