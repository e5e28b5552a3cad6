// Groups the tensors of a file by block of the network and by position in the file.
import type { GgufFile, TensorInfo } from 'ggufscope'

/** "blk.12.attn_q.weight" -> "blk.12"; "v.blk.3.ln1.bias" -> "v.blk.3"; "" for a tensor outside the blocks. */
export function blockOf(name: string): string {
  return /^[^\d]{1,80}?\.\d{1,9}(?=\.|$)/.exec(name)?.[0] ?? ''
}

/** A segment of a strip. from and to are in 0..1; kind is a type's name or "header". */
export interface Segment {
  from: number
  to: number
  kind: string
}

/** The part of a file that its tensors need and that is not there. */
export interface Missing {
  /** places in the strip, 0..1 */
  spans: { from: number; to: number }[]
  bytes: number
  tensors: number
  /** tensors whose offset is wrong: so far beyond the end of the file as all tensors together do not reach */
  misplaced: number
}

/**
 * Divides the file into at most `bins` segments, to scale. Each has the type with the most bytes in it. The files of a
 * split model follow each other.
 */
export function fileStrip(
  file: GgufFile,
  bins: number,
): { segments: Segment[]; total: number; missing: Missing } {
  // A file ends with its last tensor, if its size is unknown or if it is cut.
  const { shards, tensors } = file
  const ends = shards.map((shard) => shard.size ?? shard.dataOffset)
  const missing: Missing = { spans: [], bytes: 0, tensors: 0, misplaced: 0 }
  // No tensor of a file that was cut begins later.
  const latest = shards.map(({ size }) => size ?? Infinity)
  for (const { shard, byteLength } of tensors) latest[shard]! += byteLength + file.alignment
  for (const { shard, offset, byteLength } of tensors) {
    const end = offset + byteLength
    if (!Number.isSafeInteger(end)) continue
    const size = shards[shard]?.size ?? Infinity
    if (offset > latest[shard]!) {
      missing.misplaced++
      continue
    }
    ends[shard] = Math.max(ends[shard] ?? 0, end)
    if (end > size) missing.tensors++
  }
  const starts: number[] = []
  let total = 0
  for (const end of ends) {
    starts.push(total)
    total += end
  }
  if (total === 0) return { segments: [], total, missing }
  for (const [i, { size }] of shards.entries()) {
    if (size === undefined || size >= ends[i]!) continue
    missing.bytes += ends[i]! - size
    missing.spans.push({ from: (starts[i]! + size) / total, to: (starts[i]! + ends[i]!) / total })
  }

  const weights = Array.from({ length: bins }, () => new Map<string, number>())
  // Tensors of a valid file do not overlap, so they touch each bin about once. For a hostile file the loop
  // ends early.
  let work = 200 * bins + 4 * tensors.length
  const add = (offset: number, length: number, kind: string) => {
    const from = Math.max(0, (offset / total) * bins)
    const to = Math.min(bins, ((offset + length) / total) * bins)
    for (let bin = Math.floor(from); bin < to && work > 0; bin++, work--) {
      const part = Math.min(to, bin + 1) - Math.max(from, bin)
      const weight = weights[bin]
      weight?.set(kind, (weight.get(kind) ?? 0) + part)
    }
  }
  for (const [index, shard] of shards.entries()) add(starts[index] ?? 0, shard.dataOffset, 'header')
  for (const tensor of tensors)
    add((starts[tensor.shard] ?? 0) + tensor.offset, tensor.byteLength, tensor.type)

  const segments: Segment[] = []
  for (const [bin, weight] of weights.entries()) {
    let kind = ''
    for (const [name, amount] of weight) if (kind === '' || amount > (weight.get(kind) ?? 0)) kind = name
    const last = segments.at(-1)
    if (last?.kind === kind) last.to = (bin + 1) / bins
    else segments.push({ from: bin / bins, to: (bin + 1) / bins, kind })
  }
  return { segments: segments.filter((segment) => segment.kind !== ''), total, missing }
}

/** Whether bytes of the tensor are missing at the end of its file. */
export const isCutOff = (file: GgufFile, { shard, offset, byteLength }: TensorInfo): boolean =>
  offset + byteLength > (file.shards[shard]?.size ?? Infinity)

/** Whether bytes of tensors are missing at the end of the file. */
export const isCut = (file: GgufFile): boolean => file.tensors.some((tensor) => isCutOff(file, tensor))

/** The outline of rectangles as one path, which is cheaper than an element for each. */
export function outline(rectangles: readonly Rectangle[]): string {
  const short = (value: number) => String(Number(value.toFixed(2)))
  return rectangles
    .map(
      ({ x, y, width, height }) =>
        `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`,
    )
    .join('')
}

interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

interface BlockBytes {
  name: string
  bytes: number
  types: Map<string, number>
}

/** The bytes of each numbered block by type, in the file's order. */
export function blockProfile(tensors: readonly TensorInfo[]): BlockBytes[] {
  const blocks = new Map<string, BlockBytes>()
  for (const tensor of tensors) {
    const name = blockOf(tensor.name)
    if (name === '') continue
    let block = blocks.get(name)
    if (!block) blocks.set(name, (block = { name, bytes: 0, types: new Map() }))
    block.bytes += tensor.byteLength
    block.types.set(tensor.type, (block.types.get(tensor.type) ?? 0) + tensor.byteLength)
  }
  return [...blocks.values()]
}
