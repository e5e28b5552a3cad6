// Estimates the end of an array of strings from samples of it.
import type { Infos, Numbers, Words } from './classify.js'

/** A piece of the file and its recognized contents. */
export interface Point {
  readonly offset: number
  readonly length: number
  readonly words: Words | undefined
  readonly numbers?: Numbers | undefined
  readonly infos?: Infos | undefined
}

/** A logistic distribution: it has heavier tails than the normal one, and its quantiles are a short formula. */
export interface Estimate {
  readonly mean: number
  readonly scale: number
}

/** An array of strings whose first elements are known. */
export interface Growing {
  readonly offset: number
  /** offset of the first unknown string, and number of strings from there on */
  readonly at: number
  readonly remaining: number
}

const kSteps = 96
// The prior variance of the logarithm of the mean string length over an array, and its weight, in arrays observed.
const kDrift = 0.15
const kDriftWeight = 0.6
// Vocabularies begin with their shortest words. At e times the distance, words are longer by this fraction.
const kGrowth = 0.04
// Samples can miss irregular parts of a vocabulary, so errors are this many times as large as the samples suggest.
const kDoubt = 1.5
// Converts a standard deviation to the scale of a logistic distribution.
const kScale = Math.sqrt(3) / Math.PI

interface Sample {
  readonly from: number
  readonly to: number
  readonly mean: number
  /** variance of the logarithm of the mean */
  readonly noise: number
}

function sampled({ offset, words }: Point): Sample[] {
  if (!words) return []
  const { mean, deviation, count, end } = words
  return [{ from: offset, to: offset + end, mean, noise: (deviation / mean) ** 2 / count }]
}

/** Adds up the estimated lengths of the remaining strings. Lengths are interpolated between the samples. */
export function estimateEnd(array: Growing, points: readonly Point[]): Estimate {
  const samples = points.flatMap(sampled)
  const first = samples[0]
  const last = samples.at(-1)
  if (!first || !last) return { mean: array.at + 12 * array.remaining, scale: 4 * array.remaining }
  const start = array.offset - 1
  // Mean lengths change with the logarithm of the distance from the array's begin.
  const meanAt = (at: number): number => {
    const next = samples.findIndex((sample) => sample.to >= at)
    if (next < 0) {
      const growth = samples.length === 1 ? kGrowth : 0
      return last.mean * (1 + growth * Math.log((at - start) / (last.to - start)))
    }
    const after = samples[next]!
    const before = samples[next - 1]
    if (at >= after.from || !before) return after.mean
    const log = (place: number): number => Math.log((place - start) / (before.to - start))
    return before.mean + (log(at) / log(after.from)) * (after.mean - before.mean)
  }
  let end = array.at
  for (let i = 0; i < kSteps; i++) end += (array.remaining / kSteps) * meanAt(end)
  const doubt = samples.length > 1 ? kDoubt : 1
  return { mean: end, scale: doubt * kScale * Math.sqrt(variance(samples, array.at, end)) }
}

/** The variance of the end. Lengths drift between samples like a random walk, and each sample's mean is uncertain. */
function variance(samples: readonly Sample[], from: number, end: number): number {
  const length = Math.max(1, end - from)
  let changes = kDrift * kDriftWeight
  let distance = kDriftWeight
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
