// Pieces after an array give estimates of its end: scores give their rank, tensor infos the distance of the first info.
import { kLongestWord } from './classify.js'
import type { Estimate, Point } from './estimate.js'
import type { Known } from './known.js'
import type { Range } from './pieces.js'
import type { Walk } from './walk.js'

// The scores of a SentencePiece vocabulary count down from its first piece, which follows bytes and control tokens.
const kMostUnscored = 1024
// Error of a rank in the table that the place of a tensor in the data suggests, as a share of the table.
const kRankError = 0.06
// Usual size of the keys between the last array and the tensor infos.
const kKeys = 3000

/** Where an array of elements of four bytes begins whose elements count down; undefined: no piece behind shows it. */
export function countdownBegin(
  points: readonly Point[],
  from: number,
  known: Known,
): { low: number; high: number } | undefined {
  for (const { offset, numbers } of points) {
    const rank = offset >= from ? numbers?.rank : undefined
    if (!rank || rank.value > 0) continue
    const high = offset + rank.at + 4 * rank.value
    const low = high - 4 * kMostUnscored
    // If it was read already, it is not what it seems.
    if (low > from - 4 * kMostUnscored && !known.has(low, high - low)) return { low, high }
  }
  return undefined
}

/**
 * Bounds for the end of an array of strings, from pieces of the arrays of fixed size behind it. names: those arrays in their
 * order. shifts: where each ends, from the end of the strings.
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

/** Where the last array before the tensor infos ends, if a piece shows some of them. */
export function endBeforeInfos(
  points: readonly Point[],
  from: number,
  walk: Walk,
  size: number,
): Estimate | undefined {
  const shown = ranked(points, from, walk, size)[0]
  return shown && { mean: shown.at - shown.rank * shown.mean - kKeys, scale: (shown.error + kKeys) / 2 }
}

/** Tensor infos that pieces show, and those between and behind them. */
export function infosBehind(
  points: readonly Point[],
  from: number,
  walk: Walk,
  size: number,
): Range | undefined {
  const shown = ranked(points, from, walk, size)
  const last = shown.at(-1)
  if (!last) return undefined
  const left = walk.tensorCount - last.rank
  return { offset: shown[0]!.at, end: last.at + left * last.mean + last.error }
}

/** Pieces of tensor infos: where the first one lies, its rank in the table, and the error of that in bytes. */
function ranked(points: readonly Point[], from: number, { tensorCount }: Walk, size: number) {
  return points.flatMap(({ offset, infos }) => {
    if (offset < from || !infos) return []
    const rank = (tensorCount * infos.offset) / Math.max(1, size - offset)
    const { at, mean } = infos
    return [{ at: offset + at, rank, mean, error: kRankError * Math.min(rank, tensorCount - rank) * mean }]
  })
}
