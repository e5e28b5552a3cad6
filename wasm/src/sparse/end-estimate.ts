// Estimates the end of an array of strings from samples of it.
import type { TensorInfoChain, NumberSample, StringChain } from './classify.js'
import {
  kErrorFactor,
  kIntegrationSteps,
  kLengthDrift,
  kLengthDriftWeight,
  kLengthGrowth,
  kLogisticScale,
} from './tuning.js'

/** A sample of the file and its recognized contents. */
export interface HeaderSample {
  readonly offset: number
  readonly length: number
  readonly chain: StringChain | undefined
  readonly numbers?: NumberSample | undefined
  readonly tensorInfos?: TensorInfoChain | undefined
}

/** A logistic distribution: it has heavier tails than the normal one, and its quantiles are a short formula. */
export interface EndEstimate {
  readonly mean: number
  readonly scale: number
}

/** An array of strings whose first elements are known. */
interface OpenStrings {
  readonly offset: number
  /** offset of the first unknown string, and number of strings from there on */
  readonly at: number
  readonly remaining: number
}

interface LengthSample {
  readonly from: number
  readonly to: number
  readonly mean: number
  /** variance of the logarithm of the mean */
  readonly noise: number
}

function lengthSample({ offset, chain: words }: HeaderSample): LengthSample[] {
  if (!words) return []
  const { mean, deviation, count, end } = words
  return [{ from: offset, to: offset + end, mean, noise: (deviation / mean) ** 2 / count }]
}

/** Adds up the estimated lengths of the remaining strings. Lengths are interpolated between the samples. */
export function estimateEnd(array: OpenStrings, points: readonly HeaderSample[]): EndEstimate {
  const samples = points.flatMap(lengthSample)
  const first = samples[0]
  const last = samples.at(-1)
  if (!first || !last) return { mean: array.at + 12 * array.remaining, scale: 4 * array.remaining }
  const start = array.offset - 1
  // Mean lengths change with the logarithm of the distance from the array's begin.
  const meanAt = (at: number): number => {
    const next = samples.findIndex((sample) => sample.to >= at)
    if (next < 0) {
      const growth = samples.length === 1 ? kLengthGrowth : 0
      return last.mean * (1 + growth * Math.log((at - start) / (last.to - start)))
    }
    const after = samples[next]!
    const before = samples[next - 1]
    if (at >= after.from || !before) return after.mean
    const log = (place: number): number => Math.log((place - start) / (before.to - start))
    return before.mean + (log(at) / log(after.from)) * (after.mean - before.mean)
  }
  let end = array.at
  for (let i = 0; i < kIntegrationSteps; i++) end += (array.remaining / kIntegrationSteps) * meanAt(end)
  const doubt = samples.length > 1 ? kErrorFactor : 1
  return { mean: end, scale: doubt * kLogisticScale * Math.sqrt(variance(samples, array.at, end)) }
}

/** The variance of the end. Lengths drift between samples like a random walk, and each sample's mean is uncertain. */
function variance(samples: readonly LengthSample[], from: number, end: number): number {
  const length = Math.max(1, end - from)
  let changes = kLengthDrift * kLengthDriftWeight
  let distance = kLengthDriftWeight
  let noise = 0
  let cubes = 0
  for (const [i, sample] of samples.entries()) {
    const next = samples[i + 1]
    const gap = Math.max(0, Math.min(end, next?.from ?? end) - sample.to)
    if (next) {
      changes += Math.max(0, Math.log(next.mean / sample.mean) ** 2 - sample.noise - next.noise)
      distance += Math.max(0, next.from - sample.to) / length
    }
    cubes += gap ** 3 / (next && next.from < end ? 12 : 3)
    const before = samples[i - 1]
    const weight = (gap + Math.max(0, sample.from - (before?.to ?? sample.from))) / 2
    noise += weight ** 2 * sample.noise
  }
  return (changes / distance / length) * cubes + noise
}
