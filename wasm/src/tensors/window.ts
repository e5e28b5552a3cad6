// Some columns of a tensor's rows.
import { shown } from '../api/checks.js'
import type { Floats } from '../api/arrays.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { ReadWindowOptions } from '../api/tensors.js'
import type { OpenedFile, RowRange } from '../file/opened.js'
import { BytesSource } from '../sources/bytes.js'
import { dequantizeRange } from './values.js'

// Gaps up to this length are read too: that costs less than one more request.
const kNear = 32 << 10
const kChunkBytes = 1 << 24
const kParallel = 64

/** The blocks of each row that hold the columns. */
interface Window {
  readonly range: RowRange
  readonly rowCount: number
  readonly rowBytes: number
  /** columns */
  readonly from: number
  readonly to: number
  /** where the first block lies in its row */
  readonly skip: number
  readonly byteLength: number
}

function windowOf(file: OpenedFile, name: string, options: ReadWindowOptions): Window {
  const range = file.rowRange(name, options)
  const { rowLength, type, byteLength } = range
  const { blockSize, blockBytes } = type
  const { columns = [0, rowLength] } = options
  const [from = -1, to = -1]: readonly number[] = Array.isArray(columns) ? columns : []
  if (!(Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from <= to && to <= rowLength))
    throw new GgufError(
      'invalid-argument',
      `Rows of tensor ${name} have ${counted(rowLength, 'column')}: columns must be [from, to], not ${shown(columns)}.`,
    )
  const rowBytes = (rowLength / blockSize) * blockBytes
  const first = Math.floor(from / blockSize)
  const blocks = from === to ? 0 : Math.ceil(to / blockSize) - first
  return {
    range,
    rowCount: rowBytes === 0 ? 0 : byteLength / rowBytes,
    rowBytes,
    from,
    to,
    skip: first * blockBytes,
    byteLength: blocks * blockBytes,
  }
}

async function readBlocks(window: Window, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
  const { range, rowCount, rowBytes, skip, byteLength } = window
  const out = new Uint8Array(rowCount * byteLength)
  if (out.length === 0) return out
  const isNear = rowBytes - byteLength <= kNear
  const rowsOfChunk = isNear ? Math.max(1, Math.floor(kChunkBytes / rowBytes)) : 1
  const readChunk = async (row: number): Promise<void> => {
    const rows = Math.min(rowsOfChunk, rowCount - row)
    const offset = range.offset + row * rowBytes + skip
    const bytes = await range.source.read(offset, (rows - 1) * rowBytes + byteLength, { signal })
    for (let i = 0; i < rows; i++)
      out.set(bytes.subarray(i * rowBytes, i * rowBytes + byteLength), (row + i) * byteLength)
  }
  const atOnce = isNear ? 1 : kParallel
  for (let row = 0; row < rowCount; row += rowsOfChunk * atOnce) {
    signal?.throwIfAborted()
    const starts = Array.from({ length: atOnce }, (_, i) => row + i * rowsOfChunk)
    await Promise.all(starts.filter((start) => start < rowCount).map(readChunk))
  }
  return out
}

/** Bytes of whole blocks, row by row. */
export async function readWindow(
  file: OpenedFile,
  name: string,
  options: ReadWindowOptions,
): Promise<Uint8Array> {
  const window = windowOf(file, name, options)
  const { blockSize } = window.range.type
  if (window.from % blockSize !== 0 || window.to % blockSize !== 0)
    throw new GgufError(
      'invalid-argument',
      `Tensor ${name} has blocks of ${counted(blockSize, 'element')}: columns ${window.from} to ${window.to} are no whole blocks.`,
    )
  return await readBlocks(window, options.signal)
}

/** Floats of any columns, row-major. */
export async function dequantizeWindow(
  file: OpenedFile,
  name: string,
  options: ReadWindowOptions,
): Promise<Floats> {
  const window = windowOf(file, name, options)
  const { range, rowCount, from, to } = window
  const bytes = await readBlocks(window, options.signal)
  const source = new BytesSource(bytes)
  const bigEndian = file.endianness === 'big'
  const blocks = await dequantizeRange(
    file,
    { ...range, source, offset: 0, byteLength: bytes.length, bigEndian },
    options.signal,
  )
  const length = rowCount === 0 ? 0 : blocks.length / rowCount
  const width = to - from
  if (length === width) return blocks
  const first = from % range.type.blockSize
  const out = new Float32Array(rowCount * width)
  for (let row = 0; row < rowCount; row++)
    out.set(blocks.subarray(row * length + first, row * length + first + width), row * width)
  return out
}
