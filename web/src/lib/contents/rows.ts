// The rows of the tensor table: filtered, sorted, grouped by block.
import type { TensorInfo } from 'ggufscope'
import { blockOf } from './tensors'
import { t } from '../language/text'

export type Column = 'name' | 'type' | 'shape' | 'elements' | 'bytes' | 'offset'

export interface Order {
  /** column to sort by; undefined: the file's order */
  column: Column | undefined
  down: boolean
}

export type Row =
  | { kind: 'tensor'; tensor: TensorInfo }
  | { kind: 'block'; name: string; tensors: number; bytes: number; open: boolean }

// Sorts "blk.2" before "blk.10". The collator is created once, because that is slow.
const natural = new Intl.Collator('en', { numeric: true })

const compare: Record<Column, (a: TensorInfo, b: TensorInfo) => number> = {
  name: (a, b) => natural.compare(a.name, b.name),
  type: (a, b) => natural.compare(a.type, b.type),
  shape: (a, b) => {
    for (let i = Math.max(a.shape.length, b.shape.length) - 1; i >= 0; i--) {
      const difference = (a.shape[i] ?? 1) - (b.shape[i] ?? 1)
      if (difference !== 0) return difference
    }
    return 0
  },
  elements: (a, b) => a.elementCount - b.elementCount,
  bytes: (a, b) => a.byteLength - b.byteLength,
  offset: (a, b) => a.shard - b.shard || a.offset - b.offset,
}

export function arrange(
  tensors: readonly TensorInfo[],
  options: { query: string; type: string; order: Order; grouped: boolean; closed: ReadonlySet<string> },
): { rows: Row[]; matches: number } {
  const words = options.query.toLowerCase().split(/\s+/).filter(Boolean)
  let list = tensors.filter((tensor) => {
    if (options.type && tensor.type !== options.type) return false
    const name = tensor.name.toLowerCase()
    return words.every((word) => name.includes(word))
  })
  const matches = list.length
  if (options.order.column) {
    const by = compare[options.order.column]
    const sign = options.order.down ? -1 : 1
    list = list.toSorted((a, b) => sign * by(a, b))
  }
  if (!options.grouped) return { rows: list.map((tensor) => ({ kind: 'tensor', tensor })), matches }

  const blocks = new Map<string, TensorInfo[]>()
  for (const tensor of list) {
    const name = blockOf(tensor.name)
    const block = blocks.get(name)
    if (block) block.push(tensor)
    else blocks.set(name, [tensor])
  }
  const rows: Row[] = []
  for (const name of [...blocks.keys()].sort(natural.compare)) {
    const block = blocks.get(name) ?? []
    const open = !options.closed.has(name)
    const bytes = block.reduce((sum, tensor) => sum + tensor.byteLength, 0)
    rows.push({ kind: 'block', name, tensors: block.length, bytes, open })
    if (open) for (const tensor of block) rows.push({ kind: 'tensor', tensor })
  }
  return { rows, matches }
}

/** "4096 × 32000", in ggml's order: the fastest-changing dimension first. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? t('scalar') : shape.join(' × ')
}
