// An image in the engine's form: width, height, and RGB bytes. What is transparent shows white.
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

/** Error: 'out-of-range' for a value that is no byte. */
export function checkedBytes(values: ArrayLike<number>): Bytes {
  const bytes = new Uint8Array(values.length)
  for (let i = 0; i < bytes.length; i++) {
    const value = values[i]!
    if (!(value >= 0 && value <= 255))
      throw new GgufError('out-of-range', `An image's pixels are bytes from 0 to 255, not ${value}.`)
    bytes[i] = value
  }
  return bytes
}

/** Lays RGBA pixels on white. They become the pixels first, first + step, ... of rgb. */
export function paintOnWhite(rgba: ArrayLike<number>, rgb: Uint8Array, first = 0, step = 1): void {
  for (let from = 0, to = 3 * first; from < rgba.length; from += 4, to += 3 * step) {
    const alpha = rgba[from + 3]!
    if (alpha === 255) {
      rgb[to] = rgba[from]!
      rgb[to + 1] = rgba[from + 1]!
      rgb[to + 2] = rgba[from + 2]!
      continue
    }
    const white = 255 * (255 - alpha) + 127 // and half of the divisor, so that the quotient is rounded
    rgb[to] = (rgba[from]! * alpha + white) / 255
    rgb[to + 1] = (rgba[from + 1]! * alpha + white) / 255
    rgb[to + 2] = (rgba[from + 2]! * alpha + white) / 255
  }
}

/** Pixels of three or four bytes each. Error: 'invalid-argument' for another number of bytes. */
export function pixelsOfBytes(width: number, height: number, data: Bytes): Pixels {
  const channels = data.length / (width * height)
  if (channels === 3) return { width, height, rgb: data }
  if (channels !== 4)
    throw new GgufError(
      'invalid-argument',
      `An image of ${width} x ${height} pixels has 3 or 4 bytes for each, not ${data.length} in all.`,
    )
  const rgb = new Uint8Array(width * height * 3)
  paintOnWhite(data, rgb)
  return { width, height, rgb }
}

/** For each orientation of EXIF: whether rows become columns, and whether columns and rows then run backwards. */
const kTurns: readonly (readonly [boolean, boolean, boolean])[] = [
  [false, false, false],
  [false, true, false],
  [false, true, true],
  [false, false, true],
  [true, false, false],
  [true, false, true],
  [true, true, true],
  [true, true, false],
]

/** Turns and mirrors an image as an orientation of EXIF says, from 1 to 8. Others change nothing. */
export function oriented(pixels: Pixels, orientation: number): Pixels {
  const [swaps, backX, backY] = kTurns[orientation - 1] ?? kTurns[0]!
  const { width: w, height: h, rgb: from } = pixels
  if (!swaps && !backX && !backY) return pixels
  const [width, height] = swaps ? [h, w] : [w, h]
  const rgb = new Uint8Array(from.length)
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0; x < width; x++, to += 3) {
      const [column, row] = swaps ? [y, x] : [x, y]
      const at = ((backY ? h - 1 - row : row) * w + (backX ? w - 1 - column : column)) * 3
      rgb[to] = from[at]!
      rgb[to + 1] = from[at + 1]!
      rgb[to + 2] = from[at + 2]!
    }
  return { width, height, rgb }
}
