// Recognizes what a piece from the middle of a header contains. Strings and tensor infos form chains: where
// one ends the next begins. A chain of small 64-bit lengths does not occur by chance.
import { Cursor, kArray, kString, kValueBytes } from './cursor.js'

// Longest word of a vocabulary; a chain may begin this far into a piece.
const kLongestWord = 2048
const kMinWords = 8
const kMaxDims = 8
const kMaxTypeId = 1000

export interface Words {
  /** where the last complete string begins, from the start of the piece, and where some before it begin */
  readonly starts: readonly number[]
  /** where the chain ends: before the end of the piece if the array ends in it */
  readonly end: number
  /** whether the chain ends before the piece does */
  readonly broken: boolean
  readonly count: number
  /** average bytes of a string, its length included, and their deviation */
  readonly mean: number
  readonly deviation: number
  /** each string is two words with a space between: merges of a byte-pair encoding */
  readonly pairs: boolean
}

const kKeptStarts = 8

/** The chain of strings in a piece; undefined: there is none. at: a known start of a string. */
export function findWords(bytes: Uint8Array, little: boolean, at?: number): Words | undefined {
  const last = at ?? Math.min(kLongestWord, bytes.length - 8)
  for (let start = at ?? 0; start <= last; start++) {
    // The high half of a length is zero: this test skips most places.
    const high = little ? start + 4 : start
    if ((bytes[high]! | bytes[high + 1]! | bytes[high + 2]! | bytes[high + 3]!) !== 0) continue
    const words = chain(bytes, little, start)
    if (words) return words
  }
  return undefined
}

function chain(bytes: Uint8Array, little: boolean, start: number): Words | undefined {
  const cursor = new Cursor(bytes, little, start)
  const starts: number[] = []
  let count = 0
  let empty = 0
  let pairs = 0
  let sum = 0
  let squares = 0
  let broken = false
  let end = start
  for (;;) {
    const from = cursor.at
    const length = cursor.u64()
    if (cursor.short > 0) break
    if (length > kLongestWord) {
      broken = true
      break
    }
    const text = cursor.at
    if (!cursor.skip(length)) break
    starts.push(from)
    if (starts.length > kKeptStarts) starts.shift()
    end = cursor.at
    count++
    if (length === 0) empty++
    if (isPair(bytes, text, end)) pairs++
    sum += length + 8
    squares += (length + 8) ** 2
  }
  if (count < kMinWords || 2 * empty > count) return undefined
  const mean = sum / count
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean))
  return { starts, end, broken, count, mean, deviation, pairs: pairs > 0.8 * count }
}

/** One space, neither first nor last. */
function isPair(bytes: Uint8Array, from: number, end: number): boolean {
  let spaces = 0
  for (let i = from + 1; i < end; i++) if (bytes[i] === 0x20) spaces++
  return spaces === 1 && bytes[end - 1] !== 0x20
}

/** Whether this many key-values, or as many as fit in the piece, lie here one behind the other. */
export function keysAt(bytes: Uint8Array, little: boolean, at: number, wanted: number): boolean {
  const cursor = new Cursor(bytes, little, at)
  for (let found = 0; found < wanted; found++) {
    const length = cursor.u64()
    if (cursor.short > 0) return found > 0
    if (length === 0 || length > 256) return false
    const from = cursor.at
    if (!cursor.skip(length)) return found > 0
    for (let i = from; i < cursor.at; i++) if (bytes[i]! < 0x21 || bytes[i]! > 0x7e) return false
    const type = cursor.u32()
    if (cursor.short > 0) return found > 0
    if (type >= kValueBytes.length) return false
    if (type === kArray) {
      const element = cursor.u32()
      const count = cursor.u64()
      return cursor.short > 0 || (element < kValueBytes.length && count < 2 ** 30)
    }
    cursor.skip(type === kString ? cursor.u64() : kValueBytes[type]!)
    if (cursor.short > 0) return true
  }
  return true
}

/**
 * One tensor info; undefined: it is not one, or it does not end in these bytes (then cursor.short is above
 * 0).
 */
export function readInfo(cursor: Cursor): boolean {
  const length = cursor.u64()
  if (length > 1024 || !cursor.skip(length)) return false
  const dims = cursor.u32()
  if (dims > kMaxDims || !cursor.skip(8 * dims)) return false
  const type = cursor.u32()
  cursor.u64()
  return type < kMaxTypeId && cursor.short === 0
}

/** Whether tensor infos lie here, as many as requested or as fit in the piece. */
export function infosAt(bytes: Uint8Array, little: boolean, at: number, wanted: number): boolean {
  const cursor = new Cursor(bytes, little, at)
  for (let found = 0; found < wanted; found++) if (!readInfo(cursor)) return cursor.short > 0 && found > 0
  return true
}
