// Groups tensors into nested boxes: a block, its parts, their tensors.
import type { TensorInfo } from 'ggufscope'
import { blockOf } from '../contents/tensors'
import { t } from '../language/text'
import { roleOf } from './model'

export const groupings = { block: 'block', role: 'role', type: 'type' } as const
export type Grouping = keyof typeof groupings

export const orders = ['block', 'file', 'size'] as const
/** of boxes beside each other: by the number of the block, by the place in the file, or the largest first */
export type Order = (typeof orders)[number]

export interface Box {
  name: string
  bytes: number
  /** the type that has the most bytes in it */
  type: string
  tensors: readonly TensorInfo[]
  /** none: it is a tensor */
  children: readonly Box[]
}

/** The part of a block that a role belongs to. Norms belong to what follows them. */
function partOf(role: string): string {
  if (/^(attn|cross_attn|indexer|rope|post_attention)/.test(role)) return t('attention')
  if (/^(ffn|exp_probs|post_ffw|channel_mix|layer_out)/.test(role)) return t('feed-forward network')
  if (/^(ssm|time_mix|shortconv)/.test(role)) return t('recurrence')
  return role
}

const outside = () => t('outside the blocks')

/** What each level below the whole is named after, from the outside to the inside. */
const levelsOf: Record<Grouping, readonly ((tensor: TensorInfo) => string)[]> = {
  block: [
    ({ name }) => blockOf(name) || outside(),
    ({ name }) => (blockOf(name) ? partOf(roleOf(name)) : name),
  ],
  role: [({ name }) => roleOf(name)],
  type: [({ type }) => type, ({ name }) => blockOf(name) || outside()],
}

/** Boxes beside each other beyond this number are combined to one. */
const maxBoxes = 220

const natural = new Intl.Collator('en', { numeric: true })

/** Shards follow each other. */
const placeOf = ({ tensors }: Box) =>
  Math.min(
    ...tensors.slice(0, 1000).map(({ shard, offset }) => shard * 2 ** 43 + Math.min(offset, 2 ** 43 - 1)),
  )

const compare: Record<Order, (a: Box, b: Box) => number> = {
  size: (a, b) => b.bytes - a.bytes,
  file: (a, b) => placeOf(a) - placeOf(b),
  block: (a, b) => natural.compare(a.name, b.name),
}

const sum = (tensors: readonly TensorInfo[]) =>
  tensors.reduce((bytes, { byteLength }) => bytes + byteLength, 0)

function boxOf(name: string, tensors: readonly TensorInfo[], children: readonly Box[]): Box {
  return { name, bytes: sum(tensors), type: largestType(tensors), tensors, children }
}

function childrenOf(
  tensors: readonly TensorInfo[],
  levels: readonly ((tensor: TensorInfo) => string)[],
  order: Order,
): Box[] {
  const [level, ...inner] = levels
  const groups = level
    ? Map.groupBy(tensors, level)
    : new Map(tensors.map((tensor): [string, TensorInfo[]] => [tensor.name, [tensor]]))
  const boxes = [...groups].map(([name, own]) => {
    const children = own.length === 1 ? [] : childrenOf(own, inner, order)
    // A box around a single box says nothing more.
    const [only, ...others] = children
    return boxOf(
      name,
      own,
      only && others.length === 0 && only.children.length > 0 ? only.children : children,
    )
  })
  return bounded(boxes).sort(compare[order])
}

/** Combines the smallest boxes to one, so that a hostile file does not have too many. */
function bounded(boxes: Box[]): Box[] {
  if (boxes.length <= maxBoxes) return boxes
  const sorted = boxes.toSorted(compare.size)
  const rest = sorted.slice(maxBoxes - 1)
  const tensors = rest.flatMap((box) => box.tensors)
  return [...sorted.slice(0, maxBoxes - 1), boxOf(t('{n} others', { n: rest.length }), tensors, [])]
}

/** All tensors as nested boxes. */
export function boxesOf(tensors: readonly TensorInfo[], by: Grouping, order: Order): Box {
  const some = tensors.filter(({ byteLength }) => byteLength > 0)
  return boxOf('', some, childrenOf(some, levelsOf[by], order))
}

/** The bytes of each type, the most first. */
export function typesOf(tensors: readonly TensorInfo[]): [type: string, bytes: number][] {
  const bytes = new Map<string, number>()
  for (const { type, byteLength } of tensors) bytes.set(type, (bytes.get(type) ?? 0) + byteLength)
  return [...bytes].sort((a, b) => b[1] - a[1])
}

const largestType = (tensors: readonly TensorInfo[]): string => typesOf(tensors)[0]?.[0] ?? ''
