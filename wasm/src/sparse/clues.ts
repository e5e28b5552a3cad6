// Pieces after an array give estimates of its end: scores give their rank, tensor infos the distance of the first info.
import type { Estimate, Point } from './estimate.js'
import type { Known } from './known.js'
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

/** Where the last array before the tensor infos ends, if a piece shows some of them. */
export function endBeforeInfos(
  points: readonly Point[],
  from: number,
  walk: Walk,
  size: number,
): Estimate | undefined {
  const point = points.find(({ offset, infos }) => offset >= from && infos)
  if (!point?.infos) return undefined
  const { at, offset, mean } = point.infos
  const rank = (walk.tensorCount * offset) / Math.max(1, size - point.offset)
  const error = kRankError * Math.min(rank, walk.tensorCount - rank) * mean
  return { mean: point.offset + at - rank * mean - kKeys, scale: (error + kKeys) / 2 }
}
