// Images in Node, decoded by the package sharp if the user has installed it. It works in threads of its own.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import type { RawImage } from './image-input.js'
import { kMaxPixels } from './rgb.js'

/** What is used of it. */
interface Pipeline {
  metadata(): Promise<{ space?: string | undefined }>
  rotate(): Pipeline
  pipelineColourspace(space: 'cmyk'): Pipeline
  toColourspace(space: 'srgb' | 'cmyk'): Pipeline
  raw(options: { depth: 'uchar' }): Pipeline
  toBuffer(options: { resolveWithObject: true }): Promise<{
    data: Bytes
    info: { width: number; height: number; channels: number }
  }>
}
interface SharpModule {
  default: (bytes: Uint8Array, options: { limitInputPixels: number; ignoreIcc: boolean }) => Pipeline
}

/** Inks as browsers show them without a color profile. sharp would apply one of its own. */
function rgbOfInks(inks: Uint8Array): Bytes {
  const rgb = new Uint8Array((inks.length / 4) * 3)
  for (let from = 0, to = 0; from < inks.length; from += 4, to += 3) {
    const light = 255 - inks[from + 3]!
    for (let ink = 0; ink < 3; ink++) rgb[to + ink] = Math.round(((255 - inks[from + ink]!) * light) / 255)
  }
  return rgb
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
    const image = sharp(bytes, { limitInputPixels: kMaxPixels, ignoreIcc: true })
    const isCmyk = (await image.metadata()).space === 'cmyk'
    const turned = image.rotate()
    const { data, info } = await (
      isCmyk ? turned.pipelineColourspace('cmyk').toColourspace('cmyk') : turned.toColourspace('srgb')
    )
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, data: isCmyk ? rgbOfInks(data) : data }
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
