// An image in the engine's form: width, height, and RGB bytes.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'

export interface Pixels {
  readonly width: number
  readonly height: number
  /** [height, width, 3] */
  readonly rgb: Bytes
}

/** The engine's limit (core/media/image.hpp). */
export const kMaxPixels = 2 ** 26

export function checkPixels(width: number, height: number): void {
  const whole = Number.isInteger(width) && Number.isInteger(height) && width >= 0 && height >= 0
  if (!whole || width * height === 0 || width * height > kMaxPixels)
    throw new GgufError(
      'out-of-range',
      `An image of ${width} x ${height} pixels cannot be taken: it must have from 1 to ${kMaxPixels}.`,
    )
}
