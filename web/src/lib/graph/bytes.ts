// Groups tensors and adds up their bytes.
import type { TensorInfo } from 'ggufscope'
import { blockOf } from '../contents/tensors'
import { t } from '../language/text'
import { roleOf } from './model'

export const groupings = { block: 'block', role: 'role', type: 'type' } as const
export type Grouping = keyof typeof groupings

export interface Group {
  name: string
  bytes: number
  /** the type that has the most bytes in it */
  type: string
  tensors: TensorInfo[]
}

const keyOf: Record<Grouping, (tensor: TensorInfo) => string> = {
  block: ({ name }) => blockOf(name) || t('outside the blocks'),
  role: ({ name }) => roleOf(name),
  type: ({ type }) => type,
}

/** The groups, largest first. Those beyond the first `most` are combined to one. */
export function groupsOf(tensors: readonly TensorInfo[], by: Grouping | 'tensor', most: number): Group[] {
  const groups = new Map<string, TensorInfo[]>()
  for (const tensor of tensors) {
    if (tensor.byteLength === 0) continue
    const key = by === 'tensor' ? tensor.name : keyOf[by](tensor)
    const list = groups.get(key)
    if (list) list.push(tensor)
    else groups.set(key, [tensor])
  }
  const sum = (list: readonly TensorInfo[]) => list.reduce((bytes, { byteLength }) => bytes + byteLength, 0)
  const all = [...groups]
    .map(([name, list]): Group => ({ name, bytes: sum(list), type: largestType(list), tensors: list }))
    .sort((a, b) => b.bytes - a.bytes)
  if (all.length <= most) return all
  const rest = all.slice(most - 1).flatMap((group) => group.tensors)
  const others = {
    name: t('{n} others', { n: all.length - most + 1 }),
    bytes: sum(rest),
    type: largestType(rest),
    tensors: rest,
  }
  return [...all.slice(0, most - 1), others].sort((a, b) => b.bytes - a.bytes)
}

function largestType(tensors: readonly TensorInfo[]): string {
  const bytes = new Map<string, number>()
  for (const { type, byteLength } of tensors) bytes.set(type, (bytes.get(type) ?? 0) + byteLength)
  return [...bytes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? ''
}
