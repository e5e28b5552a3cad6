// Images in Node, decoded by the package sharp if the user has installed it.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { kMaxPixels, type Pixels } from './rgb.js'

/** What is used of it. */
interface Pipeline {
  rotate(): Pipeline
  removeAlpha(): Pipeline
  toColourspace(space: 'srgb'): Pipeline
  raw(options: { depth: 'uchar' }): Pipeline
  toBuffer(options: { resolveWithObject: true }): Promise<{
    data: Bytes
    info: { width: number; height: number; channels: number }
  }>
}
interface SharpModule {
  default: (bytes: Uint8Array, options: { limitInputPixels: number }) => Pipeline
}

/**
 * Decodes an image file. Like in a browser, a photograph is turned as its file says. Returns undefined without the
 * package. Errors: 'out-of-range' for a bad size, 'invalid-argument' for a file that it cannot decode.
 */
export async function decodedBySharp(bytes: Uint8Array): Promise<Pixels | undefined> {
  const { optionalPackage } = await import('../runtime/optional-package.js')
  const sharp = (await optionalPackage<SharpModule>('sharp'))?.default
  if (!sharp) return undefined
  try {
    const { data, info } = await sharp(bytes, { limitInputPixels: kMaxPixels })
      .rotate()
      .removeAlpha()
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, rgb: new Uint8Array(data) }
  } catch (error) {
    const { message } = error as Error
    if (/pixel limit/.test(message))
      throw new GgufError(
        'out-of-range',
        `This image cannot be taken: it has more than ${kMaxPixels} pixels.`,
      )
    throw new GgufError('invalid-argument', `This image cannot be decoded: ${message.split('\n')[0]}`)
  }
}
