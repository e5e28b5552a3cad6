// Limits the work of a conversion. It runs in the caller's thread, which does nothing else meanwhile and cannot hear an
// abort, so a schema that takes much longer than a real one is refused.
import { GgufError } from '../api/errors.js'
import { PatternError } from './errors.js'

/** Some tenths of a second. */
const kMaxSteps = 5_000_000
let left: number | undefined
let limit = kMaxSteps

/**
 * Runs a conversion, which is synchronous. Conversions inside it share its limit. Errors: 'unsupported' above it, or if
 * the conversion needs too many calls inside each other.
 */
export function withinLimit<T>(convert: () => T, maxSteps = kMaxSteps): T {
  if (left !== undefined) return convert()
  left = limit = maxSteps
  try {
    return convert()
  } catch (cause) {
    if (cause instanceof PatternError) throw new GgufError('unsupported', `The schema ${cause.message}.`)
    if (!(cause instanceof RangeError)) throw cause
    const message = 'The schema nests too deep, or has too many properties in one object.'
    throw new GgufError('unsupported', message, { cause })
  } finally {
    left = undefined
  }
}

/** A limit that several conversions share. */
export class StepBudget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** Error: that of withinLimit. */
  run<T>(convert: () => T): T {
    return withinLimit(() => {
      try {
        return convert()
      } finally {
        this.#left = Math.max(0, left ?? 0)
      }
    }, this.#left)
  }
}

/** Counts steps of the conversion that runs, if one does. Error: PatternError, to which the converter adds the place. */
export function countSteps(n: number): void {
  if (left === undefined) return
  left -= n
  if (left < 0)
    throw new PatternError(
      `takes more than ${limit} steps to convert: use fewer combinations, or simpler patterns`,
    )
}
