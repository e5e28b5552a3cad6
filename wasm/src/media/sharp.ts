// Images in Node, decoded by the package sharp if the user has installed it. It works in threads of its own.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import type { RawImage } from './image-input.js'
import { kMaxPixels } from './rgb.js'

/** What is used of it. */
interface Pipeline {
  rotate(): Pipeline
  toColourspace(space: 'srgb'): Pipeline
  raw(options: { depth: 'uchar' }): Pipeline
  toBuffer(options: { resolveWithObject: true }): Promise<{
    data: Bytes
    info: { width: number; height: number; channels: number }
  }>
}
interface SharpModule {
  default: (bytes: Uint8Array, options: { limitInputPixels: number; ignoreIcc: boolean }) => Pipeline
}

/**
 * Decodes an image file, as browsers do: a photograph is turned as its file says, and color profiles are not applied.
 * Errors: 'unsupported' without the package, 'out-of-range' for a bad size, 'invalid-argument' for a file that it
 * cannot decode.
 */
export async function decodedBySharp(bytes: Uint8Array): Promise<RawImage> {
  const { optionalPackage } = await import('../runtime/optional-package.js')
  const sharp = (await optionalPackage<SharpModule>('sharp'))?.default
  if (!sharp)
    throw new GgufError(
      'unsupported',
      'Only PNG and BMP images can be read here: install the package sharp, or decode others to { width, height, data } first.',
    )
  try {
    const { data, info } = await sharp(bytes, { limitInputPixels: kMaxPixels, ignoreIcc: true })
      .rotate()
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, data }
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
