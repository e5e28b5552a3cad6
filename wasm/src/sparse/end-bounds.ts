// Estimates the end of an array from samples after it. Scores show their rank, and tensor infos show how far away the
// first info is.
import type { EndEstimate, HeaderSample } from './end-estimate.js'
import type { KnownBytes } from './known-bytes.js'
import type { ByteRange } from './header-samples.js'
import type { Walk } from './walk.js'
import {
  kMaxUnscored,
  kMaxWordBytes,
  kRankError,
  kSampledInfoGrowth,
  kSpareInfoBytes,
  kUsualKeysBytes,
} from './tuning.js'

/** Bounds for the begin of an array whose elements decrease by one; undefined if no later sample shows such elements. */
export function boundsOfRankedScores(
  samples: readonly HeaderSample[],
  from: number,
  known: KnownBytes,
): { low: number; high: number } | undefined {
  for (const { offset, numbers } of samples) {
    const rank = offset >= from ? numbers?.rank : undefined
    if (!rank || rank.value > 0) continue
    const high = offset + rank.at + 4 * rank.value
    const low = high - 4 * kMaxUnscored
    // If these bytes are known already, the walk would have found the array there. The sample is something else.
    if (low > from - 4 * kMaxUnscored && !known.has(low, high - low)) return { low, high }
  }
  return undefined
}

/**
 * Bounds for the end of an array of strings, from samples of the arrays of fixed size after it. names: those arrays in
 * order. shifts: the distance from the end of the strings to the end of each.
 */
export function boundsFromLaterArrays(
  samples: readonly HeaderSample[],
  from: number,
  names: readonly string[],
  shifts: readonly number[],
): { low: number; high: number } {
  let low = 0
  let high = Infinity
  const behind = samples.filter(({ offset }) => offset >= from)
  for (const { offset, numbers } of behind) {
    const i = numbers ? names.indexOf(numbers.types ? 'token_type' : 'scores') : -1
    if (i < 0) continue
    low = Math.max(low, offset - shifts[i]!)
    high = Math.min(high, offset - (shifts[i - 1] ?? 0))
  }
  const other = behind.find(({ numbers }) => !numbers)
  if (low > 0 && other) high = Math.min(high, other.offset + kMaxWordBytes - shifts.at(-1)!)
  return { low, high }
}

/** Estimates the end of the last array before the tensor infos, if a sample contains some of them. */
export function endFromTensorInfos(
  samples: readonly HeaderSample[],
  from: number,
  walk: Walk,
  size: number,
): EndEstimate | undefined {
  const shown = rankTensorInfos(samples, from, walk, size)[0]
  return (
    shown && {
      mean: shown.at - shown.rank * shown.mean - kUsualKeysBytes,
      scale: (shown.error + kUsualKeysBytes) / 2,
    }
  )
}

/** The range from the first tensor infos that a sample contains to the end of the table. */
export function tensorInfosRange(
  samples: readonly HeaderSample[],
  from: number,
  walk: Walk,
  size: number,
): ByteRange | undefined {
  const shown = rankTensorInfos(samples, from, walk, size)
  const last = shown.at(-1)
  if (!last) return undefined
  const left = kSampledInfoGrowth * (walk.tensorCount - last.rank)
  return { offset: shown[0]!.at, end: last.at + left * last.mean + last.error + kSpareInfoBytes }
}

/** Samples of tensor infos: the offset of the first one, its estimated index in the table, and the error in bytes. */
function rankTensorInfos(
  samples: readonly HeaderSample[],
  from: number,
  { tensorCount }: Walk,
  size: number,
) {
  return samples.flatMap(({ offset, tensorInfos: infos }) => {
    if (offset < from || !infos) return []
    const rank = (tensorCount * infos.offset) / Math.max(1, size - offset)
    const { at, mean } = infos
    return [{ at: offset + at, rank, mean, error: kRankError * Math.min(rank, tensorCount - rank) * mean }]
  })
}
