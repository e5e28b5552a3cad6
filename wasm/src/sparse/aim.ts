// Chooses the bytes to read when only a probability distribution of an array's end is known: one window if the end
// probably lies in it, otherwise samples at the quantiles. Time is measured in bytes that the link transfers meanwhile.
import type { Estimate } from './estimate.js'

export interface Target extends Estimate {
  /** the end lies in (low, high] */
  readonly low: number
  readonly high: number
  /** bytes of the interval that must be read anyway; undefined: no piece proves that the end lies before `high` */
  readonly needed?: number | undefined
  /** the probability that the estimate is wrong, if it is not the usual one */
  readonly doubt?: number | undefined
}

export interface Aim {
  /** bytes to read in one request: [from, to] */
  readonly window: readonly [number, number] | undefined
  /** probability that the end lies in the window */
  readonly probability: number
  /** offsets of samples */
  readonly probes: readonly number[]
}

// A byte counts this many times its transfer time, so that previews stay small.
const kThrift = 1.4
// An interval that costs less than kWhole round trips is read completely, unless a window of less than kNarrow of it
// contains the end with at least the probability kSureProbability. No window costs more than kMaxWindow round trips.
const kWhole = 0.55
const kNarrow = 0.5
const kSureProbability = 0.75
const kMaxWindow = 0.7
// The probability that the estimate is wrong. The end is then uniformly distributed between its bounds.
const kDoubt = 0.15
// Bisection steps for finding a quantile.
const kHalvings = 40
// A window is read only if it contains the end with at least this probability.
const kMinProbability = 0.3

/**
 * Chooses a window or samples for one end. perRound: bytes that the link transfers in one round trip. cost: cost factor
 * of each byte of a window. slots: number of requests left.
 */
export function aim(target: Target, perRound: number, cost: number, slots: number): Aim {
  const { low, high, mean } = target
  const width = high - low
  const rest = width - (target.needed ?? 0)
  const isWhole = rest * cost <= kWhole * perRound
  // If the bounds exclude the estimated mean, a larger scale gives them more weight.
  const scale = Math.max(target.scale, (low - mean) / 2, (mean - high) / 2, 1)
  const below = (at: number): number => 1 / (1 + Math.exp((mean - at) / scale))
  const lowest = below(low)
  const share = below(high) - lowest
  const doubt = target.doubt ?? (target.needed === undefined ? 0 : kDoubt)
  const sum = (at: number): number =>
    ((1 - doubt) * (below(at) - lowest)) / share + (doubt * (at - low)) / width
  const place = (probability: number): number => {
    let [from, to] = [low, high]
    for (let i = 0; i < kHalvings; i++) {
      const middle = (from + to) / 2
      if (sum(middle) < probability) from = middle
      else to = middle
    }
    return from
  }
  // The window ends where the expected gain of one more byte is below its cost.
  const least = (kThrift * cost * scale * share) / perRound
  if (least < 0.25) {
    const half = scale * 2 * Math.acosh(Math.sqrt(0.25 / least))
    let from = Math.max(low, mean - half)
    let to = Math.min(high, mean + half)
    const excess = to - from - (kMaxWindow * perRound) / cost
    if (excess > 0) {
      from = mean <= low ? low : from + excess / 2
      to = mean >= high ? high : to - excess / 2
      if (mean <= low) to = from + (kMaxWindow * perRound) / cost
      if (mean >= high) from = to - (kMaxWindow * perRound) / cost
    }
    const before = sum(from)
    const behind = 1 - sum(to)
    const probability = 1 - before - behind
    const isSmall = !isWhole || to - from < kNarrow * rest
    if (isSmall && probability >= (isWhole ? kSureProbability : kMinProbability)) {
      // If the window misses the end, these samples show how far away it is.
      const guards: number[] = []
      const left = Math.round(((slots - 1) * before) / Math.max(1e-9, before + behind))
      for (let i = 1; i <= left; i++) guards.push(place((before * i) / (left + 1)))
      for (let i = 1; i < slots - left; i++) guards.push(place(1 - (behind * i) / (slots - left)))
      return { window: [from, to], probability, probes: guards }
    }
  }
  if (isWhole) return { window: [low, high], probability: 1, probes: [] }
  const probes = Array.from({ length: slots }, (_, i) => place((i + 1) / (slots + 1)))
  return { window: undefined, probability: 0, probes }
}
