// Converts the accepted forms of images to pixels.
import { GgufError } from '../api/errors.js'
import { fileOfAddress } from './data-address.js'
import { checkPixels, type Pixels } from './rgb.js'

/**
 * Pixels from the top row down, with three or four bytes each: red, green, blue, and alpha, which is ignored. An
 * ImageData has this form.
 */
export interface RawImage {
  readonly width: number
  readonly height: number
  readonly data: ArrayLike<number>
}

/**
 * Pixels, or a file as bytes, a Blob or a data: address. PNG is decoded in every environment; other formats by the
 * browser, or in Node by the package sharp if it is installed.
 */
export type ImageInput = RawImage | Blob | Uint8Array | ArrayBuffer | string

function fromRaw({ width, height, data }: RawImage): Pixels {
  checkPixels(width, height)
  const channels = data.length / (width * height)
  if (channels !== 3 && channels !== 4)
    throw new GgufError(
      'invalid-argument',
      `An image of ${width} x ${height} pixels has 3 or 4 bytes for each, not ${data.length} in all.`,
    )
  const rgb = new Uint8Array(width * height * 3)
  for (let from = 0, to = 0; to < rgb.length; from += channels, to += 3)
    for (let c = 0; c < 3; c++) {
      const value = data[from + c]!
      if (!(value >= 0 && value <= 255))
        throw new GgufError('out-of-range', `An image's pixels are bytes from 0 to 255, not ${value}.`)
      rgb[to + c] = value
    }
  return { width, height, rgb }
}

/** Decodes an image with the browser's decoder, or in Node with an optional package. */
async function decoded(bytes: Uint8Array<ArrayBuffer>): Promise<Pixels> {
  if (typeof createImageBitmap !== 'function' || typeof OffscreenCanvas !== 'function') {
    const { decodedBySharp } = await import('./sharp.js')
    const pixels = await decodedBySharp(bytes)
    if (pixels) return pixels
    throw new GgufError(
      'unsupported',
      'Only PNG images can be read here: install the package sharp, or decode others to { width, height, data } first.',
    )
  }
  let bitmap: ImageBitmap
  try {
    bitmap = await createImageBitmap(new Blob([bytes]), {
      colorSpaceConversion: 'none',
      premultiplyAlpha: 'none',
    })
  } catch {
    throw new GgufError('invalid-argument', 'This image cannot be decoded.')
  }
  try {
    checkPixels(bitmap.width, bitmap.height)
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!
    context.drawImage(bitmap, 0, 0)
    return fromRaw(context.getImageData(0, 0, bitmap.width, bitmap.height))
  } finally {
    bitmap.close()
  }
}

/**
 * Errors: 'out-of-range' for a bad size, 'invalid-argument' for a value that is not an image, 'unsupported' for a
 * format.
 */
export async function pixelsOf(image: ImageInput): Promise<Pixels> {
  let bytes: Uint8Array<ArrayBuffer>
  if (typeof image === 'string') bytes = fileOfAddress(image, 'An image')
  else if (image instanceof Blob) bytes = new Uint8Array(await image.arrayBuffer())
  else if (image instanceof ArrayBuffer) bytes = new Uint8Array(image)
  else if (image instanceof Uint8Array) bytes = new Uint8Array(image)
  else if (typeof image === 'object' && image !== null && 'data' in image) return fromRaw(image)
  else
    throw new GgufError(
      'invalid-argument',
      'An image is { width, height, data }, a Blob, bytes or a data: address.',
    )
  const { isPng, decodePng } = await import('./png.js')
  return isPng(bytes) ? await decodePng(bytes) : await decoded(bytes)
}
