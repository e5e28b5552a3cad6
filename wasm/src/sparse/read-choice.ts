// Chooses the bytes to read when only a probability distribution of an array's end is known: one window if the end
// probably lies in it, otherwise samples at the quantiles. Time is measured in bytes that the link transfers meanwhile.
import type { EndEstimate } from './end-estimate.js'
import {
  kByteWeight,
  kMaxWindowRoundTrips,
  kMinWindowProbability,
  kNarrowFraction,
  kQuantileSteps,
  kSureWindowProbability,
  kWholeIntervalRoundTrips,
  kWrongEstimateProbability,
} from './tuning.js'

export interface BoundedEnd extends EndEstimate {
  /** the end lies in (low, high] */
  readonly low: number
  readonly high: number
  /** bytes of the interval that must be read anyway; undefined: no sample proves that the end lies before `high` */
  readonly needed?: number | undefined
  /** the probability that the estimate is wrong, if it is not the usual one */
  readonly doubt?: number | undefined
}

export interface ReadChoice {
  /** bytes to read in one request: [from, to] */
  readonly window: readonly [number, number] | undefined
  /** probability that the end lies in the window */
  readonly probability: number
  /** offsets of samples */
  readonly samples: readonly number[]
}

/**
 * Chooses a window or samples for one end. perRound: bytes that the link transfers in one round trip. cost: cost factor
 * of each byte of a window. slots: number of requests left.
 */
export function chooseReads(target: BoundedEnd, perRound: number, cost: number, slots: number): ReadChoice {
  const { low, high, mean } = target
  const width = high - low
  const rest = width - (target.needed ?? 0)
  const isWhole = rest * cost <= kWholeIntervalRoundTrips * perRound
  // If the bounds exclude the estimated mean, a larger scale gives them more weight.
  const scale = Math.max(target.scale, (low - mean) / 2, (mean - high) / 2, 1)
  const below = (at: number): number => 1 / (1 + Math.exp((mean - at) / scale))
  const lowest = below(low)
  const mass = below(high) - lowest
  const doubt = target.doubt ?? (target.needed === undefined ? 0 : kWrongEstimateProbability)
  const cumulative = (at: number): number =>
    ((1 - doubt) * (below(at) - lowest)) / mass + (doubt * (at - low)) / width
  const quantile = (probability: number): number => {
    let [from, to] = [low, high]
    for (let i = 0; i < kQuantileSteps; i++) {
      const middle = (from + to) / 2
      if (cumulative(middle) < probability) from = middle
      else to = middle
    }
    return from
  }
  // The window ends where the expected gain of one more byte is below its cost; README.md has the formula.
  const minDensity = (kByteWeight * cost * scale * mass) / perRound
  if (minDensity < 0.25) {
    const half = scale * 2 * Math.acosh(Math.sqrt(0.25 / minDensity))
    let from = Math.max(low, mean - half)
    let to = Math.min(high, mean + half)
    const excess = to - from - (kMaxWindowRoundTrips * perRound) / cost
    if (excess > 0) {
      from = mean <= low ? low : from + excess / 2
      to = mean >= high ? high : to - excess / 2
      if (mean <= low) to = from + (kMaxWindowRoundTrips * perRound) / cost
      if (mean >= high) from = to - (kMaxWindowRoundTrips * perRound) / cost
    }
    const before = cumulative(from)
    const after = 1 - cumulative(to)
    const probability = 1 - before - after
    const isSmall = !isWhole || to - from < kNarrowFraction * rest
    if (isSmall && probability >= (isWhole ? kSureWindowProbability : kMinWindowProbability)) {
      // If the window misses the end, these samples show how far away it is.
      const guards: number[] = []
      const slotsBefore = Math.round(((slots - 1) * before) / Math.max(1e-9, before + after))
      for (let i = 1; i <= slotsBefore; i++) guards.push(quantile((before * i) / (slotsBefore + 1)))
      for (let i = 1; i < slots - slotsBefore; i++)
        guards.push(quantile(1 - (after * i) / (slots - slotsBefore)))
      return { window: [from, to], probability, samples: guards }
    }
  }
  if (isWhole) return { window: [low, high], probability: 1, samples: [] }
  const probes = Array.from({ length: slots }, (_, i) => quantile((i + 1) / (slots + 1)))
  return { window: undefined, probability: 0, samples: probes }
}
