// Decodes PNG files to RGB bytes. Color profiles and gamma values are not applied, as in llama.cpp. 16-bit samples are
// reduced to their upper 8 bits.
import type { Bytes } from '../api/arrays.js'
import { GgufError } from '../api/errors.js'
import { exifOrientation } from './exif.js'
import { checkPixels, oriented, paintOnWhite, type Pixels } from './rgb.js'

const kSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const kGray = 0
const kPalette = 3
/** Samples per pixel by color type: gray, -, RGB, palette, gray and alpha, -, RGB and alpha. */
const kChannels = [1, 0, 3, 1, 2, 0, 4]
const kDepths = [[1, 2, 4, 8, 16], [], [8, 16], [1, 2, 4, 8], [8, 16], [], [8, 16]]
/** Passes: first column and row, and the distances to the next ones. An interlaced image has seven (Adam7). */
type Pass = readonly [number, number, number, number]
const kWhole: readonly Pass[] = [[0, 0, 1, 1]]
const kInterlaced: readonly Pass[] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
]
/** Deflate makes at most so many bytes of one. */
const kMaxRatio = 1032

const broken = (why: string): GgufError =>
  new GgufError('invalid-argument', `This PNG cannot be read: ${why}.`)

export function isPng(bytes: Uint8Array): boolean {
  return kSignature.every((byte, i) => bytes[i] === byte)
}

interface Chunks {
  readonly header: DataView
  readonly palette: Uint8Array | undefined
  /** tRNS: a palette's alphas, or the color that is transparent */
  readonly transparent: Uint8Array | undefined
  readonly orientation: number
  readonly data: readonly Bytes[]
}

function chunksOf(bytes: Uint8Array): Chunks {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const others = new Map<string, Uint8Array>()
  const data: Bytes[] = []
  for (let at = kSignature.length; at + 12 <= bytes.length;) {
    const length = view.getUint32(at)
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    if (length > bytes.length - at - 12) throw broken('it is cut short')
    const content = bytes.subarray(at + 8, at + 8 + length)
    if (name === 'IEND') break
    if (name === 'IDAT') data.push(content as Bytes)
    else if (!others.has(name)) others.set(name, content)
    at += length + 12
  }
  const header = others.get('IHDR')
  if (header?.length !== 13 || data.length === 0) throw broken('it has no header or no pixels')
  return {
    header: new DataView(header.buffer, header.byteOffset, header.length),
    palette: others.get('PLTE'),
    transparent: others.get('tRNS'),
    orientation: exifOrientation(others.get('eXIf') ?? new Uint8Array(0)),
    data,
  }
}

/** Inflates at most `limit` bytes, the number that the image's header implies. */
async function inflate(parts: readonly Bytes[], limit: number): Promise<Uint8Array> {
  const compressed = parts.reduce((sum, { length }) => sum + length, 0)
  if (limit > compressed * kMaxRatio) throw broken('it is cut short')
  const stream = new Blob(parts as Bytes[]).stream().pipeThrough(new DecompressionStream('deflate'))
  const out = new Uint8Array(limit)
  let at = 0
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const part = value.subarray(0, limit - at)
      out.set(part, at)
      at += part.length
      if (at === limit) break
    }
  } catch {
    throw broken('its pixels are not compressed as they should be')
  } finally {
    void reader.cancel().catch(() => {})
  }
  if (at < limit) throw broken('it is cut short')
  return out
}

/** Reverses the filter of a line, in place. `above`: the line before it, or zeros. n: bytes of a pixel. */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array, n: number): void {
  const { length } = line
  switch (filter) {
    case 0:
      return
    case 1:
      for (let i = n; i < length; i++) line[i] = line[i]! + line[i - n]!
      return
    case 2:
      for (let i = 0; i < length; i++) line[i] = line[i]! + above[i]!
      return
    case 3:
      for (let i = 0; i < n && i < length; i++) line[i] = line[i]! + (above[i]! >> 1)
      for (let i = n; i < length; i++) line[i] = line[i]! + ((line[i - n]! + above[i]!) >> 1)
      return
    case 4:
      for (let i = 0; i < n && i < length; i++) line[i] = line[i]! + above[i]!
      for (let i = n; i < length; i++) {
        const a = line[i - n]!
        const b = above[i]!
        const c = above[i - n]!
        const offA = Math.abs(b - c)
        const offB = Math.abs(a - c)
        const offC = Math.abs(a + b - 2 * c)
        line[i] = line[i]! + (offA <= offB && offA <= offC ? a : offB <= offC ? b : c)
      }
      return
    default:
      throw broken(`a line has the filter ${filter}`)
  }
}

/** Converts a line's bytes to RGBA. */
type ReadLine = (line: Uint8Array, rgba: Uint8Array) => void

/** Samples of up to 8 bits that are numbers of colors: a palette's, or grays. */
function indexed(depth: number, colors: Uint8Array): ReadLine {
  const mask = 2 ** depth - 1
  return (line, rgba) => {
    for (let i = 0, to = 0; to < rgba.length; i++, to += 4) {
      const bit = i * depth
      const from = 4 * ((line[bit >> 3]! >> (8 - depth - (bit & 7))) & mask)
      for (let c = 0; c < 4; c++) rgba[to + c] = colors[from + c]!
    }
  }
}

/** Samples of 8 or 16 bits. `key`: the bytes of the color that is transparent. */
function direct(channels: number, sampleBytes: number, key: Uint8Array | undefined): ReadLine {
  const n = channels * sampleBytes
  const hasAlpha = channels % 2 === 0
  const [green, blue] = channels < 3 ? [0, 0] : [sampleBytes, 2 * sampleBytes]
  return (line, rgba) => {
    for (let from = 0, to = 0; to < rgba.length; from += n, to += 4) {
      rgba[to] = line[from]!
      rgba[to + 1] = line[from + green]!
      rgba[to + 2] = line[from + blue]!
      const hidden = key !== undefined && key.every((byte, i) => byte === line[from + i])
      rgba[to + 3] = hidden ? 0 : hasAlpha ? line[from + n - sampleBytes]! : 255
    }
  }
}

function lineReader(color: number, depth: number, { palette, transparent }: Chunks): ReadLine {
  const channels = kChannels[color]!
  if (color === kPalette) {
    if (!palette) throw broken('it has no palette')
    const colors = new Uint8Array(4 * 256).fill(0)
    for (let i = 0; i < 256; i++) {
      colors.set(palette.subarray(3 * i, 3 * i + 3), 4 * i)
      colors[4 * i + 3] = transparent?.[i] ?? 255
    }
    return indexed(depth, colors)
  }
  if (color === kGray && depth <= 8) {
    const colors = new Uint8Array(4 * 2 ** depth).fill(255)
    for (let i = 0; i < 2 ** depth; i++) colors.fill((i * 255) / (2 ** depth - 1), 4 * i, 4 * i + 3)
    const hidden = transparent && transparent.length >= 2 ? transparent[1]! & (2 ** depth - 1) : undefined
    if (hidden !== undefined) colors[4 * hidden + 3] = 0
    return indexed(depth, colors)
  }
  const hasKey = channels % 2 === 1 && transparent !== undefined && transparent.length >= 2 * channels
  // tRNS has two bytes for each sample.
  const key = hasKey
    ? transparent.subarray(0, 2 * channels).filter((_, i) => depth === 16 || i % 2 === 1)
    : undefined
  return direct(channels, depth >> 3, key)
}

/** Error: 'invalid-argument' for a broken file, 'out-of-range' for a bad size. */
export async function decodePng(bytes: Uint8Array): Promise<Pixels> {
  const chunks = chunksOf(bytes)
  const { header } = chunks
  const [width, height] = [header.getUint32(0), header.getUint32(4)]
  const [depth, color, interlace] = [header.getUint8(8), header.getUint8(9), header.getUint8(12)]
  checkPixels(width, height)
  if (!kDepths[color]?.includes(depth)) throw broken(`it has colors of kind ${color} in ${depth} bits`)
  if (interlace > 1) throw broken(`its interlace method is ${interlace}`)
  const read = lineReader(color, depth, chunks)
  const bits = kChannels[color]! * depth
  const passes = (interlace === 1 ? kInterlaced : kWhole).map(([x, y, dx, dy]) => {
    const columns = Math.max(0, Math.ceil((width - x) / dx))
    return {
      x,
      y,
      dx,
      dy,
      columns,
      rows: columns === 0 ? 0 : Math.max(0, Math.ceil((height - y) / dy)),
      lineBytes: Math.ceil((columns * bits) / 8),
    }
  })
  const total = passes.reduce((sum, { rows, lineBytes }) => sum + rows * (1 + lineBytes), 0)
  const lines = await inflate(chunks.data, total)
  const rgb = new Uint8Array(width * height * 3)
  let at = 0
  for (const { x, y, dx, dy, columns, rows, lineBytes } of passes) {
    const rgba = new Uint8Array(4 * columns)
    let above = new Uint8Array(lineBytes)
    for (let row = 0; row < rows; row++) {
      const line = lines.subarray(at + 1, at + 1 + lineBytes)
      unfilter(lines[at]!, line, above, Math.max(bits >> 3, 1))
      read(line, rgba)
      paintOnWhite(rgba, rgb, (y + row * dy) * width + x, dx)
      above = line as typeof above
      at += 1 + lineBytes
    }
  }
  return oriented({ width, height, rgb }, chunks.orientation)
}
