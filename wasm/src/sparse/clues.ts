// Estimates the end of an array from pieces after it. Scores show their rank, and tensor infos show how far away the
// first info is.
import { kLongestWord } from './classify.js'
import type { Estimate, Point } from './estimate.js'
import type { Known } from './known.js'
import type { Range } from './pieces.js'
import type { Walk } from './walk.js'

// The scores of a SentencePiece vocabulary decrease by one from its first normal token on. At most this many control
// and byte tokens precede it.
const kMaxUnscored = 1024
// The error of a tensor's index in the table when it is estimated from its offset in the data, as a fraction of the
// table.
const kRankError = 0.06
// Later infos are longer by this factor, because their block numbers have more digits. kSpare: bytes to read in addition,
// because one more request would cost more.
const kLonger = 1.025
const kSpare = 2048
// Usual size of the keys between the last array and the tensor infos.
const kKeys = 3000

/** Bounds for the begin of an array whose elements decrease by one; undefined if no later piece shows such elements. */
export function countdownBegin(
  points: readonly Point[],
  from: number,
  known: Known,
): { low: number; high: number } | undefined {
  for (const { offset, numbers } of points) {
    const rank = offset >= from ? numbers?.rank : undefined
    if (!rank || rank.value > 0) continue
    const high = offset + rank.at + 4 * rank.value
    const low = high - 4 * kMaxUnscored
    // If these bytes are known already, the walk would have found the array there. The piece is something else.
    if (low > from - 4 * kMaxUnscored && !known.has(low, high - low)) return { low, high }
  }
  return undefined
}

/**
 * Bounds for the end of an array of strings, from pieces of the arrays of fixed size after it. names: those arrays in
 * order. shifts: the distance from the end of the strings to the end of each.
 */
export function endFromBehind(
  points: readonly Point[],
  from: number,
  names: readonly string[],
  shifts: readonly number[],
): { low: number; high: number } {
  let low = 0
  let high = Infinity
  const behind = points.filter(({ offset }) => offset >= from)
  for (const { offset, numbers } of behind) {
    const i = numbers ? names.indexOf(numbers.types ? 'token_type' : 'scores') : -1
    if (i < 0) continue
    low = Math.max(low, offset - shifts[i]!)
    high = Math.min(high, offset - (shifts[i - 1] ?? 0))
  }
  const other = behind.find(({ numbers }) => !numbers)
  if (low > 0 && other) high = Math.min(high, other.offset + kLongestWord - shifts.at(-1)!)
  return { low, high }
}

/** Estimates the end of the last array before the tensor infos, if a piece contains some of them. */
export function endBeforeInfos(
  points: readonly Point[],
  from: number,
  walk: Walk,
  size: number,
): Estimate | undefined {
  const shown = ranked(points, from, walk, size)[0]
  return shown && { mean: shown.at - shown.rank * shown.mean - kKeys, scale: (shown.error + kKeys) / 2 }
}

/** The range from the first tensor infos that a piece contains to the end of the table. */
export function infosBehind(
  points: readonly Point[],
  from: number,
  walk: Walk,
  size: number,
): Range | undefined {
  const shown = ranked(points, from, walk, size)
  const last = shown.at(-1)
  if (!last) return undefined
  const left = kLonger * (walk.tensorCount - last.rank)
  return { offset: shown[0]!.at, end: last.at + left * last.mean + last.error + kSpare }
}

/** Pieces of tensor infos: the offset of the first one, its estimated index in the table, and the error in bytes. */
function ranked(points: readonly Point[], from: number, { tensorCount }: Walk, size: number) {
  return points.flatMap(({ offset, infos }) => {
    if (offset < from || !infos) return []
    const rank = (tensorCount * infos.offset) / Math.max(1, size - offset)
    const { at, mean } = infos
    return [{ at: offset + at, rank, mean, error: kRankError * Math.min(rank, tensorCount - rank) * mean }]
  })
}
