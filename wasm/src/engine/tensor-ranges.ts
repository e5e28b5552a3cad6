// Which ranges of a model's files are fetched, and which rows each contains. Pure functions of the plan.
import type { RemoteSource } from '../sources/coalesced.js'
import { canPause, unpausedBytes } from '../sources/http-body.js'
import type { ByteSource } from '../api/source.js'

import type { ArrivedRows, PlannedTensor } from './protocol.js'

/** Bytes in one read from a source that cannot stream. */
const kReadBytes = 4 << 20
const kFlowBytes = 2 << 20
/** Bytes that are packed at once from a source that can stream. */
export const streamedBytes = (): number => Math.min(kFlowBytes, unpausedBytes())
// A gap of up to this size between two tensors is also fetched.
const kGap = 64 << 10

/** A range of a file, and the whole tensor rows in it. */
export interface TensorRange {
  readonly file: number
  readonly offset: number
  bytes: number
  readonly parts: ArrivedRows[]
}

/** A source that can stream a range; see coalesced.ts. */
export type RangeStream = NonNullable<RemoteSource['flow']>

export function rangeStreamOf(source: ByteSource): RangeStream | undefined {
  return 'flow' in source ? (source.flow as RangeStream | undefined) : undefined
}

interface RangeSizes {
  /** approximate number of bytes in a range of that file */
  readonly maxBytes: (file: number) => number
  /** Ranges end at multiples of this many rows. */
  readonly rowGroup: number
}

/** Adjacent tensors are combined to one range; large ones are split into several. */
function* tensorRangesOf(
  plan: readonly PlannedTensor[],
  { maxBytes, rowGroup }: RangeSizes,
): Generator<TensorRange, void, void> {
  let range: TensorRange | undefined
  for (const [tensor, { file, offset, rows, rowBytes }] of plan.entries()) {
    for (let row = 0; row < rows;) {
      const start = offset + row * rowBytes
      if (range && (range.file !== file || start > range.offset + range.bytes + kGap)) {
        yield range
        range = undefined
      }
      const room = Math.floor((maxBytes(file) - (start - (range?.offset ?? start))) / Math.max(1, rowBytes))
      let count = Math.min(rows - row, room)
      if (count < rows - row) count -= count % rowGroup
      if (count < 1 && range) {
        yield range
        range = undefined
        continue
      }
      count = Math.max(1, count)
      range ??= { file, offset: start, bytes: 0, parts: [] }
      const at = start - range.offset
      range.parts.push({ tensor, firstRow: row, at, bytes: count * rowBytes })
      range.bytes = Math.max(range.bytes, at + count * rowBytes)
      row += count
    }
  }
  if (range) yield range
}

/**
 * Groups ranges into requests: the ranges of one request are adjacent or separated by small gaps. A source that
 * cannot stream gets one range in each request.
 */
export function groupRanges(
  plan: readonly PlannedTensor[],
  sources: readonly ByteSource[],
  rowGroup: number,
): TensorRange[][] {
  const groups: TensorRange[][] = []
  const maxBytes = (file: number) => (rangeStreamOf(sources[file]!) ? streamedBytes() : kReadBytes)
  for (const range of tensorRangesOf(plan, { maxBytes, rowGroup })) {
    const source = sources[range.file]!
    const before = groups.at(-1)?.at(-1)
    const gap = before?.file === range.file ? range.offset - (before.offset + before.bytes) : NaN
    const start = groups.at(-1)?.[0]?.offset ?? 0
    const fits = gap <= kGap && (canPause() || range.offset + range.bytes - start <= unpausedBytes())
    // Without ranges, a second request would start at the file's first byte.
    if (rangeStreamOf(source) && gap >= 0 && (fits || source.ranges === false)) groups.at(-1)!.push(range)
    else groups.push([range])
  }
  return groups
}

/** Removes the end of a group for other requests. Each of them gets about as many bytes as the group keeps. */
export function splitGroup(group: TensorRange[], done: number, others: number): TensorRange[][] {
  const rest = group.splice(done)
  const total = rest.reduce((sum, { bytes }) => sum + bytes, 0)
  const shares: TensorRange[][] = Array.from({ length: others + 1 }, () => [])
  let before = 0
  for (const range of rest) {
    shares[Math.floor(((others + 1) * (before + range.bytes / 2)) / total)]!.push(range)
    before += range.bytes
  }
  group.push(...shares.shift()!)
  return shares.filter(({ length }) => length > 0)
}
