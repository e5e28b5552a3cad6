// Which ranges of a model's files are fetched, and which rows each contains. Pure functions of the plan.
import type { RemoteSource } from '../sources/coalesced.js'
import { canPause, unpausedBytes } from '../sources/http-body.js'
import type { ByteSource } from '../api/source.js'

import type { ArrivedRows, PlannedTensor } from './protocol.js'

/** Bytes in one read from a source that cannot stream. */
const kReadBytes = 4 << 20
const kFlowBytes = 2 << 20
/** Bytes that are packed at once from a source that can stream. */
export const flowBytes = (): number => Math.min(kFlowBytes, unpausedBytes())
// A gap of up to this size between two tensors is also fetched.
const kGap = 64 << 10

/** A range of a file, and the whole tensor rows in it. */
export interface Piece {
  readonly file: number
  readonly offset: number
  bytes: number
  readonly parts: ArrivedRows[]
}

/** A source that can stream a range; see coalesced.ts. */
export type Flow = NonNullable<RemoteSource['flow']>

export function flowOf(source: ByteSource): Flow | undefined {
  return 'flow' in source ? (source.flow as Flow | undefined) : undefined
}

interface PieceSizes {
  /** approximate number of bytes in a piece of that file */
  readonly maxBytes: (file: number) => number
  /** Pieces end at multiples of this many rows. */
  readonly rowGroup: number
}

/** Adjacent tensors are combined to one piece; large ones are split into several. */
export function* piecesOf(
  plan: readonly PlannedTensor[],
  { maxBytes, rowGroup }: PieceSizes,
): Generator<Piece, void, void> {
  let piece: Piece | undefined
  for (const [tensor, { file, offset, rows, rowBytes }] of plan.entries()) {
    for (let row = 0; row < rows;) {
      const begin = offset + row * rowBytes
      if (piece && (piece.file !== file || begin > piece.offset + piece.bytes + kGap)) {
        yield piece
        piece = undefined
      }
      const room = Math.floor((maxBytes(file) - (begin - (piece?.offset ?? begin))) / Math.max(1, rowBytes))
      let count = Math.min(rows - row, room)
      if (count < rows - row) count -= count % rowGroup
      if (count < 1 && piece) {
        yield piece
        piece = undefined
        continue
      }
      count = Math.max(1, count)
      piece ??= { file, offset: begin, bytes: 0, parts: [] }
      const at = begin - piece.offset
      piece.parts.push({ tensor, firstRow: row, at, bytes: count * rowBytes })
      piece.bytes = Math.max(piece.bytes, at + count * rowBytes)
      row += count
    }
  }
  if (piece) yield piece
}

/**
 * Groups pieces into requests: the pieces of one request are adjacent or separated by small gaps. A source that
 * cannot stream gets one piece in each request.
 */
export function runsOf(
  plan: readonly PlannedTensor[],
  sources: readonly ByteSource[],
  rowGroup: number,
): Piece[][] {
  const runs: Piece[][] = []
  const maxBytes = (file: number) => (flowOf(sources[file]!) ? flowBytes() : kReadBytes)
  for (const piece of piecesOf(plan, { maxBytes, rowGroup })) {
    const source = sources[piece.file]!
    const before = runs.at(-1)?.at(-1)
    const gap = before?.file === piece.file ? piece.offset - (before.offset + before.bytes) : NaN
    const start = runs.at(-1)?.[0]?.offset ?? 0
    const fits = gap <= kGap && (canPause() || piece.offset + piece.bytes - start <= unpausedBytes())
    // Without ranges, a second request would start at the file's first byte.
    if (flowOf(source) && gap >= 0 && (fits || source.ranges === false)) runs.at(-1)!.push(piece)
    else runs.push([piece])
  }
  return runs
}

/** Removes the end of a run for other requests. Each of them gets about as many bytes as the run keeps. */
export function shareRun(run: Piece[], done: number, others: number): Piece[][] {
  const left = run.splice(done)
  const total = left.reduce((sum, { bytes }) => sum + bytes, 0)
  const shares: Piece[][] = Array.from({ length: others + 1 }, () => [])
  let before = 0
  for (const piece of left) {
    shares[Math.floor(((others + 1) * (before + piece.bytes / 2)) / total)]!.push(piece)
    before += piece.bytes
  }
  run.push(...shares.shift()!)
  return shares.filter(({ length }) => length > 0)
}
