// Locates arrays of strings by the samples of a header that were read.
import {
  findTensorInfos,
  findNumbers,
  findStringChain,
  startsWithTensorInfos,
  startsWithKeys,
} from './classify.js'
import type { HeaderSample } from './end-estimate.js'
import type { KnownBytes } from './known-bytes.js'
import type { OpenArray, Walk } from './walk.js'

export interface ByteRange {
  readonly offset: number
  readonly end: number
}

/** Classifies a sample. It is joined with adjacent samples if a chain of strings continues across the border. */
export function addSample(
  samples: HeaderSample[],
  known: KnownBytes,
  { offset, end }: ByteRange,
  little: boolean,
): void {
  const take = (touches: (sample: HeaderSample) => boolean): HeaderSample | undefined => {
    const at = samples.findIndex(touches)
    return at < 0 ? undefined : samples.splice(at, 1)[0]
  }
  offset =
    take((sample) => sample.chain !== undefined && sample.offset + sample.length === offset)?.offset ?? offset
  for (;;) {
    const bytes = known.from(offset).subarray(0, end - offset)
    const words = findStringChain(bytes, little)
    const next = words && !words.isEnded ? take((sample) => sample.offset === end) : undefined
    if (!next) {
      const numbers = words ? undefined : findNumbers(bytes, little)
      const infos = words || numbers ? undefined : findTensorInfos(bytes, little)
      samples.push({ offset, length: end - offset, chain: words, numbers, tensorInfos: infos })
      return
    }
    end += next.length
  }
}

/** Finds the end of an array in known bytes: where the chain of strings becomes a chain of keys or tensor infos. */
export function findEnd(
  walk: Walk,
  array: OpenArray,
  samples: readonly HeaderSample[],
  known: KnownBytes,
): number | undefined {
  for (const { offset, chain: words } of samplesInside(walk, array, samples, known).inside) {
    if (!words?.isEnded) continue
    // The name of the next key also parses as a string of the chain, so the array may end before the chain does.
    for (const start of [words.end, ...words.starts.toReversed()]) {
      const bytes = known.from(offset + start)
      const keysLeft = walk.keyCount - walk.keys
      if (
        keysLeft > 0
          ? startsWithKeys(bytes, walk.little, 0, Math.min(keysLeft, 3))
          : startsWithTensorInfos(bytes, walk.little, 0, 3)
      )
        return offset + start
    }
  }
  return undefined
}

export interface SampleBounds {
  /** samples of the array itself, sorted by offset */
  readonly inside: readonly HeaderSample[]
  readonly low: number
  readonly high: number
  /** whether the next sample contains numbers */
  readonly isNumbers?: boolean
}

const beginnings = new WeakMap<KnownBytes, Map<number, HeaderSample | undefined>>()

/** The known strings of an array before the first unknown one; undefined if there are too few. */
function firstStrings(
  { little }: Walk,
  { offset, at }: OpenArray,
  known: KnownBytes,
): HeaderSample | undefined {
  // Each plan needs it again, and most answers do not change it.
  let found = beginnings.get(known)
  if (!found) beginnings.set(known, (found = new Map<number, HeaderSample | undefined>()))
  if (!found.has(at)) {
    // Vocabularies begin with their shortest words, so the later half of the known strings predicts better.
    const bytes = known.from(offset).subarray(0, at - offset)
    const half = bytes.length >> 1
    const words = findStringChain(bytes.subarray(half), little) ?? findStringChain(bytes, little, 0)
    found.set(at, words && { offset: offset + half, length: half, chain: words })
  }
  return found.get(at)
}

/** The samples of an array: strings of its kind (words or pairs), up to the first sample of another kind. */
export function samplesInside(
  walk: Walk,
  array: OpenArray,
  samples: readonly HeaderSample[],
  known: KnownBytes,
): SampleBounds {
  const begin = firstStrings(walk, array, known)
  const inside = begin ? [begin] : []
  const own = begin?.chain ?? samples.find(({ offset }) => offset >= array.offset)?.chain
  let low = array.at
  for (const sample of samples) {
    if (sample.offset + sample.length <= array.at) continue
    if (!sample.chain || sample.chain.arePairs !== own?.arePairs) {
      if (sample.offset >= low) return { inside, low, high: sample.offset }
      continue
    }
    inside.push(sample)
    low = Math.max(low, sample.offset + sample.chain.end)
    if (sample.chain.isEnded) return { inside, low: sample.offset, high: low }
  }
  return { inside, low, high: Infinity }
}

/** The next strings of the other kind after an offset: pairs after words, or words after pairs. low is 0 if none. */
export function samplesAfter(pairs: boolean, from: number, samples: readonly HeaderSample[]): SampleBounds {
  const isOther = ({ chain: words }: HeaderSample): boolean => words !== undefined && words.arePairs !== pairs
  const behind = samples.filter(({ offset }) => offset >= from)
  const first = behind.findIndex(isOther)
  if (first < 0) {
    const high = behind.find(({ numbers }) => !numbers)?.offset ?? Infinity
    return { inside: [], low: 0, high }
  }
  const length = behind.slice(first).findIndex((sample) => !isOther(sample))
  const inside = behind.slice(first, length < 0 ? undefined : first + length)
  const next = length < 0 ? undefined : behind[first + length]
  const last = inside.at(-1)!
  const low = last.offset + last.chain!.end
  const isNumbers = next?.numbers !== undefined
  if (last.chain!.isEnded) return { inside, low: last.offset, high: low, isNumbers }
  return { inside, low, high: next?.offset ?? Infinity, isNumbers }
}
