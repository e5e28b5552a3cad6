// The accepted forms of images, and what is passed to the worker of each.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { isBase64File, readAddress, type Base64File, type EncodedFile } from './data-address.js'
import { checkedBytes, checkPixels } from './rgb.js'

/**
 * Pixels from the top row down, with three or four bytes each: red, green, blue, and alpha. What is transparent shows
 * white. An ImageData has this form.
 */
export interface RawImage {
  readonly width: number
  readonly height: number
  readonly data: ArrayLike<number>
}

/**
 * Pixels, or a file as bytes, a Blob, base64 or a data: address. PNG and BMP are decoded in every environment; other
 * formats by the browser, or in Node by the package sharp if it is installed. In every format, what is transparent
 * shows white, EXIF turns the image, and color profiles are not applied, also not to CMYK. Browsers do not turn
 * WebP, and Chromium may be 2 of 255 off where AVIF is half transparent.
 */
export type ImageInput = RawImage | Blob | Uint8Array | ArrayBuffer | Base64File | string | URL

/** An image for the worker: a file, or pixels whose values are checked there. */
export type ImageRecord =
  | { readonly bytes: Bytes }
  | EncodedFile
  | { readonly width: number; readonly height: number; readonly data: ArrayBufferView & ArrayLike<number> }

/** What is passed to a worker, and the memory that moves there. */
export interface Passed<T> {
  readonly record: T
  readonly transfer: ArrayBuffer[]
}

function passed(bytes: Bytes): Passed<{ readonly bytes: Bytes }> {
  return { record: { bytes }, transfer: [bytes.buffer] }
}

/** A file, copied from the caller's memory; undefined if the value is none. what: 'An image'. */
export async function fileRecord(
  file: unknown,
  what: string,
): Promise<Passed<{ readonly bytes: Bytes } | EncodedFile> | undefined> {
  if (file instanceof Uint8Array) return passed(new Uint8Array(file))
  if (file instanceof ArrayBuffer) return passed(new Uint8Array(file.slice(0)))
  if (typeof Blob !== 'undefined' && file instanceof Blob)
    return passed(new Uint8Array(await file.arrayBuffer()))
  const address = file instanceof URL ? file.href : file
  if (typeof address === 'string') return { record: readAddress(address, what).file, transfer: [] }
  if (!isBase64File(file)) return undefined
  return { record: { base64: file.base64, name: file.name ?? what }, transfer: [] }
}

function rawRecord({ width, height, data }: RawImage): Passed<ImageRecord> {
  checkPixels(width, height)
  return passedPixels(width, height, copyOf(data))
}

/** A copy of an array's own type. slice() of a Buffer copies nothing. */
function copyOf(data: ArrayLike<number>): ArrayBufferView & ArrayLike<number> {
  if (data instanceof Uint8Array) return new Uint8Array(data)
  const isTyped = ArrayBuffer.isView(data) && !(data instanceof DataView)
  return isTyped ? (data as unknown as Float64Array).slice() : checkedBytes(data)
}

function passedPixels(
  width: number,
  height: number,
  copy: ArrayBufferView & ArrayLike<number>,
): Passed<ImageRecord> {
  return { record: { width, height, data: copy }, transfer: [copy.buffer as ArrayBuffer] }
}

/** Errors: 'out-of-range' for a bad size, 'invalid-argument' for a value that is not an image. */
export async function imageRecord(image: ImageInput): Promise<Passed<ImageRecord>> {
  const file = await fileRecord(image, 'An image')
  if (file) return file
  if (typeof image === 'object' && image !== null && 'data' in image) return rawRecord(image)
  throw new GgufError(
    'invalid-argument',
    'An image is { width, height, data }, a Blob, bytes, { base64 } or a data: address.',
  )
}
