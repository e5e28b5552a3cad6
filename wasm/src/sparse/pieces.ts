// Locates arrays of strings by the pieces of a header that were read.
import { findInfos, findNumbers, findWords, infosAt, keysAt } from './classify.js'
import type { Point } from './estimate.js'
import type { Known } from './known.js'
import type { OpenArray, Walk } from './walk.js'

export interface Range {
  readonly offset: number
  readonly end: number
}

/** Classifies a piece. It is joined with adjacent pieces if a chain of strings continues across the border. */
export function addPoint(points: Point[], known: Known, { offset, end }: Range, little: boolean): void {
  const take = (touches: (point: Point) => boolean): Point | undefined => {
    const at = points.findIndex(touches)
    return at < 0 ? undefined : points.splice(at, 1)[0]
  }
  offset =
    take((point) => point.words !== undefined && point.offset + point.length === offset)?.offset ?? offset
  for (;;) {
    const bytes = known.from(offset).subarray(0, end - offset)
    const words = findWords(bytes, little)
    const next = words && !words.broken ? take((point) => point.offset === end) : undefined
    if (!next) {
      const numbers = words ? undefined : findNumbers(bytes, little)
      const infos = words || numbers ? undefined : findInfos(bytes, little)
      points.push({ offset, length: end - offset, words, numbers, infos })
      return
    }
    end += next.length
  }
}

/** Finds the end of an array in known bytes: where the chain of strings becomes a chain of keys or tensor infos. */
export function endOf(
  walk: Walk,
  array: OpenArray,
  points: readonly Point[],
  known: Known,
): number | undefined {
  for (const { offset, words } of piecesOf(walk, array, points, known).inside) {
    if (!words?.broken) continue
    // The name of the next key also parses as a string of the chain, so the array may end before the chain does.
    for (const start of [words.end, ...words.starts.toReversed()]) {
      const bytes = known.from(offset + start)
      const keysLeft = walk.keyCount - walk.keys
      if (
        keysLeft > 0
          ? keysAt(bytes, walk.little, 0, Math.min(keysLeft, 3))
          : infosAt(bytes, walk.little, 0, 3)
      )
        return offset + start
    }
  }
  return undefined
}

export interface Bracket {
  /** pieces of the array itself, sorted by offset */
  readonly inside: readonly Point[]
  readonly low: number
  readonly high: number
  /** whether the next piece contains numbers */
  readonly isNumbers?: boolean
}

const beginnings = new WeakMap<Known, Map<number, Point | undefined>>()

/** The known strings of an array before the first unknown one; undefined if there are too few. */
function beginningOf({ little }: Walk, { offset, at }: OpenArray, known: Known): Point | undefined {
  // Each plan needs it again, and most answers do not change it.
  let found = beginnings.get(known)
  if (!found) beginnings.set(known, (found = new Map<number, Point | undefined>()))
  if (!found.has(at)) {
    // Vocabularies begin with their shortest words, so the later half of the known strings predicts better.
    const bytes = known.from(offset).subarray(0, at - offset)
    const half = bytes.length >> 1
    const words = findWords(bytes.subarray(half), little) ?? findWords(bytes, little, 0)
    found.set(at, words && { offset: offset + half, length: half, words })
  }
  return found.get(at)
}

/** The pieces of an array: strings of its kind (words or pairs), up to the first piece of another kind. */
export function piecesOf(walk: Walk, array: OpenArray, points: readonly Point[], known: Known): Bracket {
  const begin = beginningOf(walk, array, known)
  const inside = begin ? [begin] : []
  const own = begin?.words ?? points.find(({ offset }) => offset >= array.offset)?.words
  let low = array.at
  for (const point of points) {
    if (point.offset + point.length <= array.at) continue
    if (!point.words || point.words.pairs !== own?.pairs) {
      if (point.offset >= low) return { inside, low, high: point.offset }
      continue
    }
    inside.push(point)
    low = Math.max(low, point.offset + point.words.end)
    if (point.words.broken) return { inside, low: point.offset, high: low }
  }
  return { inside, low, high: Infinity }
}

/** The next strings of the other kind after an offset: pairs after words, or words after pairs. low is 0 if none. */
export function piecesBehind(pairs: boolean, from: number, points: readonly Point[]): Bracket {
  const isOther = ({ words }: Point): boolean => words !== undefined && words.pairs !== pairs
  const behind = points.filter(({ offset }) => offset >= from)
  const first = behind.findIndex(isOther)
  if (first < 0) {
    const high = behind.find(({ numbers }) => !numbers)?.offset ?? Infinity
    return { inside: [], low: 0, high }
  }
  const length = behind.slice(first).findIndex((point) => !isOther(point))
  const inside = behind.slice(first, length < 0 ? undefined : first + length)
  const next = length < 0 ? undefined : behind[first + length]
  const last = inside.at(-1)!
  const low = last.offset + last.words!.end
  const isNumbers = next?.numbers !== undefined
  if (last.words!.broken) return { inside, low: last.offset, high: low, isNumbers }
  return { inside, low, high: next?.offset ?? Infinity, isNumbers }
}
