// Recognizes the contents of a sample from the middle of a header. Strings and tensor infos form chains: each begins
// where the one before ends. A chain of small 64-bit lengths is very unlikely in other data.
import { Cursor, kArray, kString, kValueBytes } from './cursor.js'
import {
  kKeptStarts,
  kMaxDims,
  kMaxInfoStart,
  kMaxSampledKeyBytes,
  kMaxTypeId,
  kMaxWordBytes,
  kMinChainInfos,
  kMinChainNumbers,
  kMinChainStrings,
  kTokenTypes,
  kUsualMagnitude,
} from './tuning.js'

export interface StringChain {
  /** offsets in the sample of the last complete strings */
  readonly starts: readonly number[]
  /** offset in the sample at which the chain ends; before the sample's end if the array ends in it */
  readonly end: number
  /** whether the chain ends before the sample does */
  readonly isEnded: boolean
  readonly count: number
  /** mean and standard deviation of the bytes of a string with its length field */
  readonly mean: number
  readonly deviation: number
  /** whether the strings are two words with a space between them: merges of byte-pair encoding */
  readonly arePairs: boolean
}

/** Finds the chain of strings in a sample; undefined if there is none. at: the known offset of a string. */
export function findStringChain(bytes: Uint8Array, little: boolean, at?: number): StringChain | undefined {
  const last = at ?? Math.min(kMaxWordBytes, bytes.length - 8)
  for (let start = at ?? 0; start <= last; start++) {
    // The upper 32 bits of a length are zero. This test excludes most offsets quickly.
    const high = little ? start + 4 : start
    if ((bytes[high]! | bytes[high + 1]! | bytes[high + 2]! | bytes[high + 3]!) !== 0) continue
    const words = readStringChain(bytes, little, start)
    if (words) return words
  }
  return undefined
}

// One loop without calls but for the search of a space, because it runs before the JavaScript engine has optimized
// anything.
function readStringChain(bytes: Uint8Array, little: boolean, start: number): StringChain | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [low, high] = little ? [0, 4] : [4, 0]
  const size = bytes.length
  const recent = new Uint32Array(kKeptStarts)
  let [count, empty, pairs, sum, squares] = [0, 0, 0, 0, 0]
  let broken = false
  let end = start
  // the next space, from the second byte of a text on
  let space = start
  while (end + 8 <= size) {
    const length = view.getUint32(end + low, little)
    if (length > kMaxWordBytes || view.getUint32(end + high, little) !== 0) {
      broken = true
      break
    }
    const text = end + 8
    if (text + length > size) break
    recent[count++ % kKeptStarts] = end
    end = text + length
    if (length === 0) empty++
    if (space <= text) space = nextSpace(bytes, text + 1)
    // A pair has exactly one space, neither first nor last.
    if (space < end) {
      const before = space
      space = nextSpace(bytes, space + 1)
      if (space >= end && before < end - 1) pairs++
    }
    sum += length + 8
    squares += (length + 8) ** 2
  }
  if (count < kMinChainStrings || 2 * empty > count) return undefined
  const kept = Math.min(count, kKeptStarts)
  const starts = Array.from({ length: kept }, (_, i) => recent[(count - kept + i) % kKeptStarts]!)
  const mean = sum / count
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean))
  return { starts, end, isEnded: broken, count, mean, deviation, arePairs: pairs > 0.8 * count }
}

function nextSpace(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(0x20, from)
  return at < 0 ? Infinity : at
}

export interface NumberSample {
  /** the first element and its offset in the sample, if each element is one less than the one before (scores by rank) */
  readonly rank: { readonly at: number; readonly value: number } | undefined
  /** whether all are token types */
  readonly types: boolean
}

/** Recognizes numbers of four bytes such as token types and scores: small integers or floats of usual magnitude. */
export function findNumbers(bytes: Uint8Array, little: boolean): NumberSample | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isNumber = (at: number): boolean => {
    if (view.getUint32(at, little) < 1 << 16) return true
    const size = Math.abs(view.getFloat32(at, little))
    return size > kUsualMagnitude.min && size < kUsualMagnitude.max
  }
  const value = (at: number): number => view.getFloat32(at, little)
  const isType = (at: number): boolean => (view.getUint32(at, little) - 1) >>> 0 < kTokenTypes
  let found: NumberSample | undefined
  for (let at = 0; at < 4; at++) {
    const places = Array.from({ length: kMinChainNumbers }, (_, i) => at + 4 * i)
    if (places.at(-1)! + 4 > bytes.length || !places.every(isNumber)) continue
    // Token types look like numbers at any alignment.
    if (places.every(isType)) return { rank: undefined, types: true }
    const falls = places.every((place, i) => value(place) === value(at) - i)
    found ??= { rank: falls ? { at, value: value(at) } : undefined, types: false }
  }
  return found
}

export interface TensorInfoChain {
  /** offset in the sample of the first complete info */
  readonly at: number
  /** offset of its tensor in the tensor data */
  readonly offset: number
  /** average bytes of an info */
  readonly mean: number
}

/** Finds the chain of tensor infos in a sample. */
export function findTensorInfos(bytes: Uint8Array, little: boolean): TensorInfoChain | undefined {
  for (let start = 0; start < Math.min(kMaxInfoStart, bytes.length - 8); start++) {
    if ((bytes[little ? start + 7 : start]! | bytes[little ? start + 4 : start + 3]!) !== 0) continue
    const cursor = new Cursor(bytes, little, start)
    let count = 0
    let first = 0
    let end = start
    while (skipTensorInfo(cursor, (offset) => (first = count === 0 ? offset : first))) {
      count++
      end = cursor.at
    }
    if (count >= kMinChainInfos) return { at: start, offset: first, mean: (end - start) / count }
  }
  return undefined
}

/** Whether a chain of key-value pairs begins here: as many as requested, or as many as fit in the sample. */
export function startsWithKeys(bytes: Uint8Array, little: boolean, at: number, wanted: number): boolean {
  const cursor = new Cursor(bytes, little, at)
  for (let found = 0; found < wanted; found++) {
    const length = cursor.u64()
    if (cursor.short > 0) return found > 0
    if (length === 0 || length > kMaxSampledKeyBytes) return false
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

/** Skips one tensor info. Returns false if it is invalid, or if the bytes end within it (then cursor.short > 0). */
export function skipTensorInfo(cursor: Cursor, onOffset?: (offset: number) => void): boolean {
  const length = cursor.u64()
  if (length === 0 || length > 1024 || !cursor.skip(length)) return false
  const dims = cursor.u32()
  if (dims > kMaxDims || !cursor.skip(8 * dims)) return false
  const type = cursor.u32()
  const offset = cursor.u64()
  if (type >= kMaxTypeId || cursor.short > 0) return false
  onOffset?.(offset)
  return true
}

/** Whether a chain of tensor infos begins here: as many as requested, or as many as fit in the sample. */
export function startsWithTensorInfos(
  bytes: Uint8Array,
  little: boolean,
  at: number,
  wanted: number,
): boolean {
  const cursor = new Cursor(bytes, little, at)
  for (let found = 0; found < wanted; found++)
    if (!skipTensorInfo(cursor)) return cursor.short > 0 && found > 0
  return true
}
