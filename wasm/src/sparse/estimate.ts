// Estimates from samples where an array of strings ends.
import type { Words } from './classify.js'
import type { OpenArray } from './walk.js'

/** A piece of the file and what it is. */
export interface Point {
  readonly offset: number
  readonly length: number
  readonly words: Words | undefined
}

export interface Estimate {
  /** where the array ends, and the possible error */
  readonly end: number
  readonly error: number
}

const kSteps = 64

/** Extrapolates over the remaining strings, with lengths interpolated between the samples. */
export function estimateEnd(array: OpenArray, points: readonly Point[]): Estimate {
  const samples = points.flatMap(({ offset, words }) =>
    words ? [{ at: offset + words.end / 2, ...words }] : [],
  )
  if (samples.length === 0) return { end: array.at + 12 * array.remaining, error: Infinity }
  const meanAt = (at: number): number => {
    const next = samples.findIndex((sample) => sample.at >= at)
    if (next < 0) return samples.at(-1)!.mean
    const before = samples[next - 1]
    const after = samples[next]!
    if (!before) return after.mean
    return before.mean + ((at - before.at) / (after.at - before.at)) * (after.mean - before.mean)
  }
  let end = array.at
  for (let i = 0; i < kSteps; i++) end += (array.remaining / kSteps) * meanAt(end)

  const means = samples.map(({ mean }) => mean)
  const deviation = Math.max(...samples.map((sample) => sample.deviation))
  const least = Math.min(...samples.map(({ count }) => count))
  const counted = samples.reduce((sum, { count }) => sum + Math.min(count, 4 * least), 0)
  const spread = Math.max(...means) - Math.min(...means)
  // One sample at the beginning is a poor estimate: vocabularies begin with short words.
  const bend = samples.length === 1 ? 0.2 * means[0]! : 0.06 * spread
  return { end, error: 1024 + array.remaining * ((1.6 * deviation) / Math.sqrt(counted) + bend) }
}
