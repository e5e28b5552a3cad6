// Decodes images in the engine's worker.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { decodeBmp, isBmp } from './bmp.js'
import { decodePng, isPng } from './png.js'
import { checkPixels, pixelsOfBytes, type Pixels } from './rgb.js'

/** Decodes an image with the browser's decoder. Undefined if there is none. */
async function decodedByBrowser(bytes: Bytes): Promise<Pixels | undefined> {
  if (typeof createImageBitmap !== 'function' || typeof OffscreenCanvas !== 'function') return undefined
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
    const { width, height } = bitmap
    checkPixels(width, height)
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!
    context.fillStyle = 'white'
    context.fillRect(0, 0, width, height)
    context.drawImage(bitmap, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    return pixelsOfBytes(width, height, new Uint8Array(data.buffer))
  } finally {
    bitmap.close()
  }
}

/** Undefined for a format that cannot be decoded here. Errors: 'out-of-range' for a bad size, 'invalid-argument'. */
export async function decodeImage(bytes: Bytes): Promise<Pixels | undefined> {
  if (isPng(bytes)) return await decodePng(bytes)
  if (isBmp(bytes)) return decodeBmp(bytes)
  return await decodedByBrowser(bytes)
}
