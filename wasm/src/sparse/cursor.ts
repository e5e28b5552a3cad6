/** Bytes of a value by its type id in the file; 0 for strings and arrays. */
export const kValueBytes: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]
export const kString = 8
export const kArray = 9

/** Reads values one after another. After the end it reads 0 and counts the missing bytes in `short`. */
export class Cursor {
  readonly #view: DataView
  readonly #little: boolean
  at = 0
  /** number of bytes that were requested after the end */
  short = 0

  constructor(bytes: Uint8Array, little: boolean, at = 0) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#little = little
    this.at = at
  }

  get length(): number {
    return this.#view.byteLength
  }

  skip(bytes: number): boolean {
    this.at += bytes
    if (this.at <= this.length) return true
    this.short = this.at - this.length
    return false
  }

  u32(): number {
    const { at } = this
    return this.skip(4) ? this.#view.getUint32(at, this.#little) : 0
  }

  /** Reads a u64. It is rounded above 2^53, which no length or offset of a real file reaches. */
  u64(): number {
    const { at } = this
    if (!this.skip(8)) return 0
    const first = this.#view.getUint32(at, this.#little)
    const second = this.#view.getUint32(at + 4, this.#little)
    return this.#little ? second * 2 ** 32 + first : first * 2 ** 32 + second
  }
}

/**
 * Skips up to `count` strings from an offset on, each a length of eight bytes and its text. Returns the offset after the
 * last complete one and the number of strings that are left; undefined if a string is longer than `longest`. One loop
 * without calls, because it runs before the JavaScript engine has optimized anything.
 */
export function skipStrings(
  bytes: Uint8Array,
  little: boolean,
  { at, count, longest }: { at: number; count: number; longest: number },
): { at: number; left: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [low, high] = little ? [0, 4] : [4, 0]
  const last = bytes.length - 8
  let left = count
  while (left > 0 && at <= last) {
    const length = view.getUint32(at + low, little)
    if (length > longest || view.getUint32(at + high, little) !== 0) return undefined
    const end = at + 8 + length
    if (end > last + 8) break
    at = end
    left--
  }
  return { at, left }
}
