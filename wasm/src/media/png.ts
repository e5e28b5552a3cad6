// Decodes PNG files to RGB bytes. Browsers apply colour profiles, so their results differ; this decoder applies none.
import { GgufError } from '../api/errors.js'
import { checkPixels, type Pixels } from './rgb.js'

const kSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
/** Samples per pixel by color type: gray, -, RGB, palette, gray and alpha, -, RGB and alpha. */
const kChannels = [1, 0, 3, 1, 2, 0, 4]
const kDepths = [[1, 2, 4, 8, 16], [], [8, 16], [1, 2, 4, 8], [8, 16], [], [8, 16]]

const broken = (why: string): GgufError =>
  new GgufError('invalid-argument', `This PNG cannot be read: ${why}.`)

export function isPng(bytes: Uint8Array): boolean {
  return kSignature.every((byte, i) => bytes[i] === byte)
}

interface Chunks {
  readonly header: DataView
  readonly palette: Uint8Array | undefined
  readonly data: readonly Uint8Array<ArrayBuffer>[]
}

function chunksOf(bytes: Uint8Array): Chunks {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let header: DataView | undefined
  let palette: Uint8Array | undefined
  const data: Uint8Array<ArrayBuffer>[] = []
  for (let at = kSignature.length; at + 12 <= bytes.length;) {
    const length = view.getUint32(at)
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    if (length > bytes.length - at - 12) throw broken('it is cut short')
    const content = bytes.subarray(at + 8, at + 8 + length)
    if (name === 'IHDR' && length === 13) header = new DataView(content.buffer, content.byteOffset, length)
    if (name === 'PLTE') palette = content
    if (name === 'IDAT') data.push(content as Uint8Array<ArrayBuffer>)
    if (name === 'IEND') break
    at += length + 12
  }
  if (!header || data.length === 0) throw broken('it has no header or no pixels')
  return { header, palette, data }
}

/** Inflates at most `most` bytes, the number that the image's header implies. */
async function inflate(parts: readonly Uint8Array<ArrayBuffer>[], most: number): Promise<Uint8Array> {
  const stream = new Blob(parts as Uint8Array<ArrayBuffer>[])
    .stream()
    .pipeThrough(new DecompressionStream('deflate'))
  const out = new Uint8Array(most)
  let at = 0
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const part = value.subarray(0, most - at)
      out.set(part, at)
      at += part.length
      if (at === most) break
    }
  } catch {
    throw broken('its pixels are not compressed as they should be')
  } finally {
    void reader.cancel().catch(() => {})
  }
  if (at < most) throw broken('it is cut short')
  return out
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? above : corner
}

/** Reverses the filter of each line, in place. */
function unfilter(lines: Uint8Array, height: number, lineBytes: number, pixelBytes: number): void {
  for (let y = 0; y < height; y++) {
    const at = y * (lineBytes + 1)
    const filter = lines[at]!
    if (filter > 4) throw broken(`a line has the filter ${filter}`)
    for (let i = 1; i <= lineBytes && filter !== 0; i++) {
      const left = i > pixelBytes ? lines[at + i - pixelBytes]! : 0
      const above = y > 0 ? lines[at + i - lineBytes - 1]! : 0
      const corner = y > 0 && i > pixelBytes ? lines[at + i - lineBytes - 1 - pixelBytes]! : 0
      const add = [0, left, above, (left + above) >> 1, filter === 4 ? paeth(left, above, corner) : 0][
        filter
      ]!
      lines[at + i] = (lines[at + i]! + add) & 255
    }
  }
}

/** Converts lines to RGB. Alpha is ignored, as in llama.cpp. 16-bit samples are reduced to their upper 8 bits. */
export async function decodePng(bytes: Uint8Array): Promise<Pixels> {
  const { header, palette, data } = chunksOf(bytes)
  const [width, height] = [header.getUint32(0), header.getUint32(4)]
  const [depth, color, interlace] = [header.getUint8(8), header.getUint8(9), header.getUint8(12)]
  checkPixels(width, height)
  if (!kDepths[color]?.includes(depth)) throw broken(`it has colors of kind ${color} in ${depth} bits`)
  if (interlace !== 0) throw new GgufError('unsupported', 'Interlaced PNG files are not read.')
  if (color === 3 && !palette) throw broken('it has no palette')
  const bits = kChannels[color]! * depth
  const lineBytes = Math.ceil((width * bits) / 8)
  const lines = await inflate(data, height * (lineBytes + 1))
  unfilter(lines, height, lineBytes, Math.max(bits >> 3, 1))
  const rgb = new Uint8Array(width * height * 3)
  const scale = color === 3 || depth >= 8 ? 1 : 255 / (2 ** depth - 1)
  for (let y = 0; y < height; y++) {
    const line = y * (lineBytes + 1) + 1
    const sample = (i: number): number => {
      if (depth >= 8) return lines[line + i * (depth >> 3)]!
      const bit = i * depth
      return ((lines[line + (bit >> 3)]! >> (8 - depth - (bit & 7))) & (2 ** depth - 1)) * scale
    }
    for (let x = 0; x < width; x++) {
      const first = x * kChannels[color]!
      const to = (y * width + x) * 3
      for (let c = 0; c < 3; c++) {
        const value = sample(color === 2 || color === 6 ? first + c : first)
        rgb[to + c] = color === 3 ? (palette![value * 3 + c] ?? 0) : value
      }
    }
  }
  return { width, height, rgb }
}
