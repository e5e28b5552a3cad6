// Pieces of a header that were read, and what they say of the arrays of strings in it.
import { findInfos, findNumbers, findWords, infosAt, keysAt } from './classify.js'
import type { Point } from './estimate.js'
import type { Known } from './known.js'
import type { OpenArray, Walk } from './walk.js'

export interface Range {
  readonly offset: number
  readonly end: number
}

/** Classifies a piece, together with the strings that continue from before it or behind it. */
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

/** The end of an array in known bytes: there the chain of strings becomes a chain of keys or tensor infos. */
export function endOf(
  walk: Walk,
  array: OpenArray,
  points: readonly Point[],
  known: Known,
): number | undefined {
  for (const { offset, words } of piecesOf(walk, array, points, known).inside) {
    if (!words?.broken) continue
    // The first key, read as a string, is a link of the chain too.
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
  /** pieces of the array itself, by offset */
  readonly inside: readonly Point[]
  readonly low: number
  readonly high: number
  /** the piece at high shows numbers */
  readonly isNumbers?: boolean
}

/** The pieces that belong to an array: strings of its kind, up to the first piece of another kind. */
export function piecesOf(walk: Walk, array: OpenArray, points: readonly Point[], known: Known): Bracket {
  // Vocabularies begin with their shortest words: the later half of the walked strings predicts better.
  const begin = known.from(array.offset).subarray(0, array.at - array.offset)
  const half = begin.length >> 1
  const words = findWords(begin.subarray(half), walk.little) ?? findWords(begin, walk.little, 0)
  const inside: Point[] = words ? [{ offset: array.offset + half, length: half, words }] : []
  const own = words ?? points.find(({ offset }) => offset >= array.offset)?.words
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

/** Strings of the other kind between two places: words behind pairs, or pairs behind words. low: 0 if there are none. */
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
  if (last.words!.broken) return { inside, low: last.offset, high: low }
  return { inside, low, high: next?.offset ?? Infinity, isNumbers: next?.numbers !== undefined }
}
