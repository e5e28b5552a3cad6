// Divides a tensor's bytes into chunks of at most 128 kB, in the file's order. A chunk is several whole rows, or a
// segment of one row.
import type { TensorInfo } from 'ggufscope'

export interface Matrix {
  columns: number
  rows: number
  byteLength: number
}

export interface Chunks {
  count: number
  /** rows of a chunk; 0: a row has several chunks */
  rows: number
  /** chunks of a row; 1 if a chunk has whole rows */
  segments: number
  /** columns of a segment */
  columns: number
}

/** cells of a tile, from top to bottom */
export const tileRows = 32
const chunkBytes = 128 << 10
// Only the visible segments of longer rows are read.
const longRow = 64 << 10
const segmentBytes = 16 << 10
// The block size of every type divides this number of elements.
const unit = 256

export function chunksOf({ columns, rows, byteLength }: Matrix): Chunks {
  const rowBytes = byteLength / rows
  if (rowBytes <= longRow) {
    const each = Math.max(1, Math.floor(chunkBytes / rowBytes))
    return { count: Math.ceil(rows / each), rows: each, segments: 1, columns }
  }
  const unitBytes = (rowBytes / columns) * unit
  const wide = Math.max(1, Math.floor(segmentBytes / unitBytes)) * unit
  const segments = Math.ceil(columns / wide)
  return { count: rows * segments, rows: 0, segments, columns: wide }
}

/** The offset of a chunk in the tensor's bytes. The offset of chunk `count` is the tensor's end. */
export function startOf(matrix: Matrix, chunks: Chunks, index: number): number {
  const rowBytes = matrix.byteLength / matrix.rows
  if (chunks.rows > 0) return Math.min(matrix.byteLength, index * chunks.rows * rowBytes)
  const row = Math.floor(index / chunks.segments)
  const column = (index % chunks.segments) * chunks.columns
  return Math.round(row * rowBytes + (column * rowBytes) / matrix.columns)
}

export function chunkAt(matrix: Matrix, chunks: Chunks, offset: number): number {
  const rowBytes = matrix.byteLength / matrix.rows
  if (chunks.rows > 0) return Math.floor(offset / (chunks.rows * rowBytes))
  const row = Math.floor(offset / rowBytes)
  const segment = Math.floor(((offset - row * rowBytes) * matrix.columns) / rowBytes / chunks.columns)
  return row * chunks.segments + segment
}

export interface Window {
  rows: readonly [from: number, to: number]
  columns: readonly [from: number, to: number]
}

/** The chunks that contain a window, in order. */
export function* chunksIn(chunks: Chunks, { rows, columns }: Window): Generator<number> {
  if (rows[0] >= rows[1] || columns[0] >= columns[1]) return
  if (chunks.rows > 0) {
    const last = Math.floor((rows[1] - 1) / chunks.rows)
    for (let index = Math.floor(rows[0] / chunks.rows); index <= last; index++) yield index
    return
  }
  const first = Math.floor(columns[0] / chunks.columns)
  const last = Math.floor((columns[1] - 1) / chunks.columns)
  for (let row = rows[0]; row < rows[1]; row++)
    for (let segment = first; segment <= last; segment++) yield row * chunks.segments + segment
}

/** The window of a run of adjacent chunks, for file.read(). If a row has several chunks, a run stays within one row. */
export function windowOf(matrix: Matrix, chunks: Chunks, from: number, to: number): Window {
  if (chunks.rows > 0)
    return {
      rows: [from * chunks.rows, Math.min(matrix.rows, to * chunks.rows)],
      columns: [0, matrix.columns],
    }
  const row = Math.floor(from / chunks.segments)
  const first = (from % chunks.segments) * chunks.columns
  return {
    rows: [row, row + 1],
    columns: [first, Math.min(matrix.columns, first + (to - from) * chunks.columns)],
  }
}

/** Tensors up to this size are shown completely at first, even if they are on a server. */
export const smallBytes = 4_000_000
const firstRows = 128
const firstBytes = 2_000_000

export const matrixOf = ({ shape, elementCount, byteLength }: TensorInfo): Matrix => {
  const columns = shape[0] ?? 1
  return { columns, rows: elementCount / columns, byteLength }
}

/** The number of rows that are shown first if the tensor is larger and on a server. */
export function rowsShownFirst({ rows, byteLength }: Matrix): number {
  const max = Math.floor(firstBytes / (byteLength / rows) / tileRows) * tileRows
  return Math.max(1, Math.min(rows, firstRows, max))
}

/** The number of rows that are read for rowsShownFirst(): whole chunks. */
export function rowsReadFirst(matrix: Matrix): number {
  if (matrix.byteLength <= smallBytes) return matrix.rows
  const { rows } = chunksOf(matrix)
  return rows === 0 ? 1 : Math.min(matrix.rows, Math.ceil(rowsShownFirst(matrix) / rows) * rows)
}
