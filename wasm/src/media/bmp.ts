// Decodes BMP files to RGB bytes: "BM", u32 size, 4 bytes, u32 offset of the pixels; then a header that begins with its
// size: 12 bytes (OS/2), or 40 and more: i32 width, i32 height (negative: from the top row down), u16 planes, u16 bits,
// u32 compression, 12 bytes, u32 colors, 4 bytes, masks of red, green, blue and alpha. Then the palette: blue, green, red
// and, except in OS/2, a fourth byte. Rows are padded to 4 bytes. All numbers are little-endian.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { checkPixels, paintOnWhite, type Pixels } from './rgb.js'

const kRgb = 0
const kRle8 = 1
const kRle4 = 2
const kMasks = 3
const kMasksWithAlpha = 6
const kDepths = [1, 2, 4, 8, 16, 24, 32]

const broken = (why: string): GgufError =>
  new GgufError('invalid-argument', `This BMP cannot be read: ${why}.`)

export function isBmp(bytes: Uint8Array): boolean {
  return bytes.length >= 26 && bytes[0] === 0x42 && bytes[1] === 0x4d
}

interface BmpHeader {
  readonly width: number
  readonly height: number
  readonly fromTop: boolean
  readonly depth: number
  readonly compression: number
  /** red, green, blue, alpha */
  readonly masks: readonly number[]
  /** [256, 4]: RGBA */
  readonly palette: Uint8Array
  /** where the pixels begin */
  readonly pixels: number
}

/** Masks of 16-bit and 32-bit pixels. Without compression, the fourth byte is not alpha. */
function masksOf(view: DataView, size: number, depth: number, compression: number): readonly number[] {
  if (compression !== kMasks && compression !== kMasksWithAlpha)
    return depth === 16 ? [0x7c00, 0x3e0, 0x1f, 0] : [0xff0000, 0xff00, 0xff, 0]
  const hasAlpha = size >= 56 || compression === kMasksWithAlpha
  if (view.byteLength < 70) throw broken('it is cut short')
  return [54, 58, 62, ...(hasAlpha ? [66] : [])]
    .map((at) => view.getUint32(at, true))
    .concat(hasAlpha ? [] : [0])
}

function readBmpHeader(bytes: Uint8Array): BmpHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = view.getUint32(14, true)
  const isOs2 = size === 12
  if ((!isOs2 && size < 40) || size > bytes.length - 14)
    throw broken(`its header has ${counted(size, 'byte')}`)
  const width = isOs2 ? view.getUint16(18, true) : view.getInt32(18, true)
  const signed = isOs2 ? view.getUint16(20, true) : view.getInt32(22, true)
  const height = Math.abs(signed)
  checkPixels(width, height)
  const depth = view.getUint16(isOs2 ? 24 : 28, true)
  const compression = isOs2 ? kRgb : view.getUint32(30, true)
  const isKnown =
    kDepths.includes(depth) &&
    (compression === kRgb ||
      (compression === kRle8 && depth === 8) ||
      (compression === kRle4 && depth === 4) ||
      ((compression === kMasks || compression === kMasksWithAlpha) && (depth === 16 || depth === 32)))
  if (!isKnown)
    throw new GgufError(
      'unsupported',
      `BMP files of ${depth} bits with compression ${compression} are not read.`,
    )
  const behindMasks = size === 40 && compression >= kMasks ? (compression === kMasks ? 12 : 16) : 0
  const at = 14 + size + behindMasks
  const each = isOs2 ? 3 : 4
  const colors = depth > 8 ? 0 : Math.min((!isOs2 && view.getUint32(46, true)) || 2 ** depth, 2 ** depth)
  if (at + colors * each > bytes.length) throw broken('it is cut short')
  const palette = new Uint8Array(4 * 256).fill(255)
  for (let i = 0; i < 256; i++)
    for (let c = 0; c < 3; c++) palette[4 * i + c] = i < colors ? bytes[at + i * each + 2 - c]! : 0
  return {
    width,
    height,
    fromTop: signed < 0,
    depth,
    compression,
    masks: masksOf(view, size, depth, compression),
    palette,
    pixels: view.getUint32(10, true),
  }
}

/**
 * Unpacks runs: a count and an index; or 0 and 0: end of the line, 1: end of the image, 2: a move to the right and up, n:
 * n indices as they are, padded to two bytes. Pixels that are skipped have the first color.
 */
function unpackRuns(bytes: Uint8Array, { width, height, depth, pixels }: BmpHeader): Uint8Array {
  const out = new Uint8Array(width * height)
  const index = (byte: number, i: number): number =>
    depth === 8 ? byte : i % 2 === 0 ? byte >> 4 : byte & 15
  let [x, y] = [0, 0]
  const put = (value: number): void => {
    if (x < width && y < height) out[y * width + x] = value
    x++
  }
  for (let at = pixels; at + 1 < bytes.length && y < height;) {
    const [count, value] = [bytes[at]!, bytes[at + 1]!]
    at += 2
    if (count > 0) for (let i = 0; i < count; i++) put(index(value, i))
    else if (value === 0) [x, y] = [0, y + 1]
    else if (value === 1) return out
    else if (value === 2) {
      ;[x, y] = [x + (bytes[at] ?? 0), y + (bytes[at + 1] ?? 0)]
      at += 2
    } else {
      for (let i = 0; i < value; i++) put(index(bytes[depth === 8 ? at + i : at + (i >> 1)] ?? 0, i))
      const length = depth === 8 ? value : (value + 1) >> 1
      at += length + (length % 2)
    }
  }
  return out
}

/** Converts the bits under a mask to 8 bits. */
function channel(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0
  const shift = 31 - Math.clz32(mask & -mask)
  const largest = mask >>> shift
  return (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / largest)
}

/** Returns a function that converts row y of the file to RGBA. */
function rowReader(bytes: Uint8Array, header: BmpHeader): (y: number, rgba: Uint8Array) => void {
  const { width, height, depth, compression, palette, pixels, masks } = header
  const paint = (rgba: Uint8Array, index: (x: number) => number): void => {
    for (let x = 0; x < width; x++) for (let c = 0; c < 4; c++) rgba[4 * x + c] = palette[4 * index(x) + c]!
  }
  const runs = compression === kRle8 || compression === kRle4 ? unpackRuns(bytes, header) : undefined
  if (runs) return (y, rgba) => paint(rgba, (x) => runs[y * width + x]!)
  const rowBytes = Math.ceil((width * depth) / 32) * 4
  // The last row need not be padded.
  if (pixels + rowBytes * (height - 1) + Math.ceil((width * depth) / 8) > bytes.length)
    throw broken('it is cut short')
  if (depth <= 8)
    return (y, rgba) =>
      paint(rgba, (x) => {
        const bit = x * depth
        return (bytes[pixels + y * rowBytes + (bit >> 3)]! >> (8 - depth - (bit & 7))) & (2 ** depth - 1)
      })
  if (depth === 24)
    return (y, rgba) => {
      for (let x = 0, from = pixels + y * rowBytes; x < width; x++, from += 3) {
        rgba[4 * x] = bytes[from + 2]!
        rgba[4 * x + 1] = bytes[from + 1]!
        rgba[4 * x + 2] = bytes[from]!
        rgba[4 * x + 3] = 255
      }
    }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const channels = masks.map(channel)
  return (y, rgba) => {
    for (let x = 0; x < width; x++) {
      const at = pixels + y * rowBytes + (x * depth) / 8
      const pixel = depth === 16 ? view.getUint16(at, true) : view.getUint32(at, true)
      for (let c = 0; c < 3; c++) rgba[4 * x + c] = channels[c]!(pixel)
      rgba[4 * x + 3] = masks[3] === 0 ? 255 : channels[3]!(pixel)
    }
  }
}

/** Errors: 'invalid-argument' for a broken file, 'unsupported' for JPEG and PNG in it, 'out-of-range' for a bad size. */
export function decodeBmp(bytes: Uint8Array): Pixels {
  const header = readBmpHeader(bytes)
  const { width, height, fromTop } = header
  const read = rowReader(bytes, header)
  const rgb = new Uint8Array(width * height * 3)
  const rgba = new Uint8Array(4 * width)
  for (let y = 0; y < height; y++) {
    read(y, rgba)
    paintOnWhite(rgba, rgb, (fromTop ? y : height - 1 - y) * width)
  }
  return { width, height, rgb }
}
