// Derives a file's graph from the names and shapes of its tensors: the steps before the blocks, the blocks (equal ones
// folded), and the steps after them.
import type { GgufFile, TensorInfo } from 'ggufscope'
import { blockOf } from '../contents/tensors'
import { oneLine } from '../language/format'
import { known, t } from '../language/text'
import { blockFlow, isOfAttention, rowOf, titleOf, type Edge } from './flow'
import type { Plain, Text } from '../../texts/text'

export interface GraphNode {
  id: string
  title: string
  /** the common part of the tensors' names; empty for an operation */
  role: string
  /** tensors of the section's first block */
  tensors: readonly TensorInfo[]
  /** number of output values for each token; 0: unknown */
  width: number
}

export interface Section {
  id: string
  title: string
  /** names of the blocks, such as "blk.3" */
  blocks: readonly string[]
  nodes: readonly GraphNode[]
  edges: readonly Edge[]
  /** number of tensors of further roles, which are not drawn */
  more: number
}

// A hostile file may have very many steps or sections. More than these are not drawn.
const maxSteps = 96
export const maxSections = 40

/** "blk.3.attn_q.weight" in "blk.3" -> "attn_q". */
export function roleOf(name: string, block = blockOf(name)): string {
  const rest = block === '' ? name : name.slice(block.length + 1)
  return rest.replace(/\.(weight|bias|scale|lora_a|lora_b|input_scale)$/, '') || rest
}

/** "blk.3" -> "blk". */
const familyOf = (block: string) => block.slice(0, block.lastIndexOf('.'))

function byRole(tensors: readonly TensorInfo[]): Map<string, TensorInfo[]> {
  const roles = new Map<string, TensorInfo[]>()
  for (const tensor of tensors) {
    const role = roleOf(tensor.name)
    const list = roles.get(role)
    if (list) list.push(tensor)
    else roles.set(role, [tensor])
  }
  return roles
}

/** The output width of a matrix of shape [inputs, outputs], or a vector's length. */
function widthOf(tensors: readonly TensorInfo[] | undefined): number {
  const weight = tensors?.find(({ shape }) => shape.length > 1) ?? tensors?.[0]
  return weight ? (weight.shape[1] ?? weight.shape[0] ?? 0) : 0
}

/**
 * Sets the output widths. An operation has the input width of the matrix after it, and a sum has the model's width. A
 * vector, such as that of a norm, keeps the width of its input.
 */
function widths(nodes: GraphNode[], edges: readonly Edge[], embedding: number) {
  const all = new Map(nodes.map((node) => [node.id, node]))
  const isVector = (node: GraphNode) =>
    node.role !== '' && node.tensors.every(({ shape }) => shape.length < 2)
  for (const node of nodes) {
    if (node.role !== '') continue
    const after = edges.filter(([from]) => from === node.id).map(([, to]) => all.get(to))
    const matrix = after.flatMap((next) => next?.tensors ?? []).find(({ shape }) => shape.length > 1)
    node.width = /^\*(in|out|add|mix)/.test(node.id) ? embedding : (matrix?.shape[0] ?? 0)
  }
  // Each pass moves the width one vector further. Chains of vectors are short.
  for (let pass = 0; pass < 3; pass++)
    for (const node of nodes.filter(isVector)) {
      const before = edges.filter(([, to]) => to === node.id).map(([from]) => all.get(from)?.width ?? 0)
      if (before.length === 1 && before[0]! > 0) node.width = before[0]!
    }
}

/** The first maxSteps roles, and the number of tensors of the others. */
function firstRoles(tensors: readonly TensorInfo[]): { roles: Map<string, TensorInfo[]>; more: number } {
  const all = [...byRole(tensors)]
  const more = all.slice(maxSteps).reduce((sum, [, own]) => sum + own.length, 0)
  return { roles: new Map(all.slice(0, maxSteps)), more }
}

function sectionOf(blocks: readonly string[], tensors: readonly TensorInfo[], file: Facts): Section {
  const { roles, more } = firstRoles(tensors)
  const { names, edges } = blockFlow([...roles.keys()], file.parallel)
  const nodes = names.map((id): GraphNode => {
    const own = roles.get(id) ?? []
    const title = id === '*in' ? t('Input') : id === '*out' ? t('Output') : nameOf(id)
    return { id, title, role: own.length > 0 ? id : '', tensors: own, width: widthOf(own) }
  })
  widths(nodes, edges, file.embedding)
  return { id: blocks[0] ?? '', title: blockTitle(blocks), blocks, nodes, edges, more }
}

/** A step's name: known, or made of what the file's tensors are called. */
const nameOf = (role: string) => known(oneLine(titleOf(role), 160))

/** "Blocks 0 to 31 (× 32)". */
function blockTitle(blocks: readonly string[]): string {
  const [first = '', last = first] = [blocks[0], blocks.at(-1)]
  const numberOf = (block: string) => block.slice(block.lastIndexOf('.') + 1)
  const family = familyOf(first)
  const [one, several] = rowOf(blockTitles, family) ?? [
    'Block {family} {from}',
    'Blocks {family} {from} to {to} (× {n})',
  ]
  return t(blocks.length === 1 ? one : several, {
    family: oneLine(family, 80),
    from: numberOf(first),
    to: numberOf(last),
    n: blocks.length,
  })
}

type BlockText = Extract<Text, `${string}lock${string}{from}${string}`>
const blockTitles: Readonly<Record<string, readonly [one: BlockText, several: BlockText]>> = {
  blk: ['Block {from}', 'Blocks {from} to {to} (× {n})'],
  'enc.blk': ['Encoder block {from}', 'Encoder blocks {from} to {to} (× {n})'],
  'dec.blk': ['Decoder block {from}', 'Decoder blocks {from} to {to} (× {n})'],
  'v.blk': ['Vision block {from}', 'Vision blocks {from} to {to} (× {n})'],
  'a.blk': ['Audio block {from}', 'Audio blocks {from} to {to} (× {n})'],
}

/** A section for the steps outside the blocks: a simple chain. */
function chainOf(id: string, title: string, tensors: readonly TensorInfo[]): Section | undefined {
  if (tensors.length === 0) return undefined
  const { roles, more } = firstRoles(tensors)
  const nodes = [...roles].map(([role, own]): GraphNode => ({
    id: role,
    title: endTitle(role),
    role,
    tensors: own,
    width: endWidth(role, own),
  }))
  const edges = nodes.slice(1).map((node, i): Edge => [nodes[i]!.id, node.id])
  return { id, title, blocks: [], nodes, edges, more }
}

const endTitles: Record<string, Plain> = {
  token_embd: 'Token embedding',
  token_embd_norm: 'Norm',
  token_types: 'Token types',
  position_embd: 'Position embedding',
  output_norm: 'Norm',
  output: 'Output (logits)',
  cls: 'Classifier',
  'enc.output_norm': 'Norm',
  'dec.output_norm': 'Norm',
}
const endTitle = (role: string) => (rowOf(endTitles, role) ? known(rowOf(endTitles, role)!) : nameOf(role))
/** The output of an embedding is one of its rows. */
const endWidth = (role: string, tensors: readonly TensorInfo[]) =>
  /embd$|token_types$/.test(role) ? (tensors[0]?.shape[0] ?? 0) : widthOf(tensors)

const isBefore = (name: string) =>
  /embd|embed|token_types|patch|class|conv|pre_|rope/.test(name) && !/norm_post|post/.test(name)

interface Facts {
  parallel: boolean
  embedding: number
  /** whether it makes vectors or scores, not tokens */
  pools: boolean
}

/** Groups blocks into runs: equal consecutive blocks, or a repeating pattern of up to 16 blocks. */
export function fold(kinds: readonly string[]): { from: number; period: number; times: number }[] {
  const runs: { from: number; period: number; times: number }[] = []
  for (let from = 0; from < kinds.length;) {
    let best = { from, period: 1, times: 1 }
    for (let period = 1; period <= 16 && from + 2 * period <= kinds.length; period++) {
      let times = 1
      const repeats = (at: number) =>
        Array.from({ length: period }).every((_, i) => kinds[at + i] === kinds[from + i])
      while (from + (times + 1) * period <= kinds.length && repeats(from + times * period)) times++
      if (times > 1 && times * period > best.times * best.period) best = { from, period, times }
    }
    runs.push(best)
    from += best.period * best.times
  }
  return runs
}

/** Sections for the blocks of one family. `shared`: tensors outside the blocks that their attention uses. */
function blockSections(
  blocks: ReadonlyMap<string, TensorInfo[]>,
  shared: readonly TensorInfo[],
  facts: Facts,
): Section[] {
  const names = [...blocks.keys()]
  // Quantization types are ignored, because quantizers mix them.
  const kinds = names.map(
    (name) =>
    [...(blocks.get(name) ?? [])].map((tensor) => `${tensor.name.slice(name.length)}:${tensor.shape.join('x')}`).sort().join(), // prettier-ignore
  )
  return fold(kinds)
    .slice(0, maxSections)
    .flatMap(({ from, period, times }) =>
      Array.from({ length: period }, (_, i) => {
        const members = Array.from({ length: times }, (_, k) => names[from + i + k * period] ?? '')
        const own = blocks.get(members[0] ?? '') ?? []
        return sectionOf(members, own.some(hasAttention) ? [...own, ...shared] : own, facts)
      }),
    )
}

const hasAttention = ({ name }: TensorInfo) => /^attn_(q|qkv|q_a|q_b)$/.test(roleOf(name))

const natural = new Intl.Collator('en', { numeric: true })
const familyOrder = ['v.blk', 'a.blk', 'enc.blk', 'blk', 'dec.blk']

/** All sections, from the input to the output. */
export function graphOf(file: GgufFile): Section[] {
  const summary = file.summary()
  const facts: Facts = {
    parallel: file.metadata.get(`${summary.architecture ?? ''}.use_parallel_residual`) === true,
    embedding: summary.embeddingLength ?? 0,
    pools: file.metadata.has(`${summary.architecture ?? ''}.pooling_type`),
  }
  const families = new Map<string, Map<string, TensorInfo[]>>()
  const ends: TensorInfo[] = []
  for (const tensor of [...file.tensors].sort((a, b) => natural.compare(blockOf(a.name), blockOf(b.name)))) {
    const block = blockOf(tensor.name)
    if (block === '') {
      ends.push(tensor)
      continue
    }
    const family = familyOf(block)
    const blocks = families.get(family) ?? new Map<string, TensorInfo[]>()
    families.set(family, blocks)
    const list = blocks.get(block)
    if (list) list.push(tensor)
    else blocks.set(block, [tensor])
  }
  const order = (family: string) => (familyOrder.includes(family) ? familyOrder.indexOf(family) : 2)
  const sorted = [...families].sort(([a], [b]) => order(a) - order(b))
  return withEnds(sorted, ends, facts)
}

/** Adds the output of a model that has no matrix of its own for it: the token embedding is used again. */
function withOutput(after: Section, ends: readonly TensorInfo[]): Section {
  const norm = after.nodes.find(({ role }) => /^(dec\.)?output_norm$/.test(role))
  const matrix = ends.find(({ name }) => name === 'token_embd.weight')
  if (!norm || !matrix || ends.some(({ name }) => /^(output\.|cls)/.test(name))) return after
  const output = {
    id: 'output',
    title: endTitle('output'),
    role: 'token_embd',
    tensors: [matrix],
    width: matrix.shape[1] ?? 0,
  }
  return { ...after, nodes: [...after.nodes, output], edges: [...after.edges, [norm.id, output.id]] }
}

/** Puts the tensors outside the blocks before or after the blocks with the same prefix. */
function withEnds(
  families: [string, Map<string, TensorInfo[]>][],
  ends: readonly TensorInfo[],
  facts: Facts,
): Section[] {
  const prefixOf = (name: string) => /^(v|a|mm|enc|dec)\./.exec(name)?.[1] ?? ''
  const taken = new Set<TensorInfo>()
  const take = (prefix: string, before: boolean) => {
    const some = ends.filter(
      (one) => !taken.has(one) && prefixOf(one.name) === prefix && isBefore(one.name) === before,
    )
    for (const one of some) taken.add(one)
    return some
  }
  const sections: (Section | undefined)[] = []
  const shared = families.some(([, blocks]) => [...blocks.values()].flat().some(hasAttention))
    ? ends.filter(({ name }) => isOfAttention(roleOf(name)))
    : []
  for (const one of shared) taken.add(one)
  for (const [family, blocks] of families) {
    const prefix = prefixOf(`${family}.`)
    sections.push(chainOf(`${family} before`, t('Before the blocks'), take(prefix, true)))
    sections.push(...blockSections(blocks, prefix === '' || families.length === 1 ? shared : [], facts))
    const after = chainOf(`${family} after`, t('After the blocks'), take(prefix, false))
    sections.push(after && !facts.pools && prefix !== 'enc' ? withOutput(after, ends) : after)
  }
  sections.push(chainOf('rest', t(families.length > 0 ? 'The rest' : 'Tensors'), ends.filter((one) => !taken.has(one)))) // prettier-ignore
  return sections.filter((section) => section !== undefined)
}
