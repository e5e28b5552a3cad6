// Derives a file's graph from the names and shapes of its tensors: the steps before the blocks, the blocks (equal ones
// folded), and the steps after them. What no wiring knows is left for a list.
import type { GgufFile, TensorInfo } from 'ggufscope'
import { blockOf } from '../contents/tensors'
import { oneLine } from '../language/format'
import { known, t } from '../language/text'
import { blockFlow, isOfAttention, rolesOf, rowOf, takes, titleOf, wired, type Edge, type Flow } from './flow'
import { wirings, type Wiring } from './wirings'
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
}

interface ModelGraph {
  /** from the input to the output */
  sections: Section[]
  /** tensors whose connections the page does not know */
  others: TensorInfo[]
}

// A hostile file may have very many sections. More than these are not drawn.
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

/** Whether a tensor is a vector: it multiplies or is added, and the width stays. */
const isVector = ({ shape }: TensorInfo) => (shape[1] ?? 1) === 1

/** The places of a matrix's inputs and outputs in its shape. Those of a convolution's kernel come before them. */
const placesOf = (role: string, { shape }: TensorInfo): [input: number, output: number] =>
  /conv|patch_embd/.test(role) && shape.length > 2 ? [shape.length - 2, shape.length - 1] : [0, 1]

/** The output width of a matrix of shape [inputs, outputs], a vector's length, or the length of an embedding's rows. */
function widthOf(role: string, tensors: readonly TensorInfo[]): number {
  const weight = tensors.find((one) => !isVector(one)) ?? tensors[0]
  // A parameter of each head has no width that passes.
  if (!weight || (weight.shape[0] === 1 && weight.shape.length > 1 && !isVector(weight))) return 0
  const isTable = /emb(d$|edding$|$)|token_types$/.test(role) && !/patch/.test(role)
  return weight.shape[isVector(weight) || isTable ? 0 : placesOf(role, weight)[1]] ?? 0
}

/**
 * Sets the output widths. An operation has the input width of the matrix after it, and a sum has the model's width (`embedding`) or that
 * of its inputs. A vector, such as that of a norm, keeps the width of its input.
 */
function widths(nodes: GraphNode[], edges: readonly Edge[], embedding?: number) {
  const all = new Map(nodes.map((node) => [node.id, node]))
  const before = (node: GraphNode) => edges.filter(([, to]) => to === node.id).map(([from]) => all.get(from))
  const takesWidth = (node: GraphNode) =>
    node.role === '' ? node.width === 0 && embedding === undefined : node.tensors.every(isVector)
  for (const node of nodes) {
    if (node.role !== '') continue
    const after = edges.filter(([from]) => from === node.id).map(([, to]) => all.get(to))
    const reader = after.find((next) => next?.tensors.some((one) => !isVector(one)))
    const matrix = reader?.tensors.find((one) => !isVector(one))
    const vector =
      embedding === undefined && /^\*(in$|add)/.test(node.id)
        ? after.find((next) => next?.role)?.tensors[0]
        : undefined
    const read = matrix ? matrix.shape[placesOf(reader!.role, matrix)[0]] : vector?.shape[0]
    node.width = embedding !== undefined && /^\*(in|out|add|mix)/.test(node.id) ? embedding : (read ?? 0)
  }
  // Each pass moves the width one vector further. Chains of vectors are short.
  for (let pass = 0; pass < 3; pass++)
    for (const node of nodes.filter(takesWidth)) {
      const inputs = before(node).map((one) => one?.width ?? 0)
      if (inputs.length > 0 && inputs[0]! > 0 && (inputs.length === 1 || node.role === ''))
        node.width = inputs[0]!
    }
}

/**
 * Encoders that were converted by old versions of llama.cpp have their network's matrices under each other's names, as
 * their shapes show.
 */
function withoutSwap(roles: Map<string, TensorInfo[]>): Map<string, TensorInfo[]> {
  const [norm, up, down] = ['ln2', 'ffn_up', 'ffn_down'].map((role) => roles.get(role)?.find(({ shape }) => role === 'ln2' || shape.length === 2)) // prettier-ignore
  if (!norm || !up || !down) return roles
  const width = norm.shape[0]
  if (down.shape[0] !== width || up.shape[0] === width) return roles
  return new Map(roles).set('ffn_up', roles.get('ffn_down')!).set('ffn_down', roles.get('ffn_up')!)
}

function nodesOf({ names, edges }: Flow, roles: ReadonlyMap<string, TensorInfo[]>, embedding?: number) {
  const nodes = names.map((id): GraphNode => {
    const own = roles.get(id) ?? []
    const title = id === '*in' ? t('Input') : id === '*out' ? t('Output') : endTitle(id)
    return { id, title, role: own.length > 0 ? id : '', tensors: own, width: widthOf(id, own) }
  })
  widths(nodes, edges, embedding)
  return nodes
}

function sectionOf(
  blocks: readonly string[],
  tensors: readonly TensorInfo[],
  wiring: Wiring,
  facts: Facts,
): Section {
  const roles = withoutSwap(byRole(tensors))
  const flow = wiring.flow
    ? wired(wiring.flow, [...roles.keys()])
    : blockFlow([...roles.keys()], facts.parallel)
  const nodes = nodesOf(flow, roles, wiring.flow ? undefined : facts.embedding)
  for (const node of nodes) node.role &&= roleOf(node.tensors[0]!.name)
  return { id: blocks[0] ?? '', title: blockTitle(blocks), blocks, nodes, edges: flow.edges }
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
  'encoder.blocks': ['Encoder block {from}', 'Encoder blocks {from} to {to} (× {n})'],
  'decoder.blocks': ['Decoder block {from}', 'Decoder blocks {from} to {to} (× {n})'],
  blocks: ['Block {from}', 'Blocks {from} to {to} (× {n})'],
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
  'v.patch_embd': 'Patch embedding',
  'v.class_embd': 'Class embedding',
  'v.position_embd': 'Position embedding',
  'v.pre_ln': 'Norm',
  'v.post_ln': 'Norm',
  'a.conv1d.1': 'Convolution',
  'a.conv1d.2': 'Convolution',
  'a.position_embd': 'Position embedding',
  'a.post_ln': 'Norm',
  'encoder.conv1': 'Convolution',
  'encoder.conv2': 'Convolution',
  'encoder.positional_embedding': 'Position embedding',
  'encoder.ln_post': 'Norm',
  'decoder.token_embedding': 'Token embedding',
  'decoder.positional_embedding': 'Position embedding',
  'decoder.ln': 'Norm',
  emb: 'Token embedding',
  ln_out: 'Norm',
  head: 'Output (logits)',
}
const endTitle = (role: string) => (rowOf(endTitles, role) ? known(rowOf(endTitles, role)!) : nameOf(role))
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

/** The place of a family's blocks in the order of the data. */
export const orderOf = (block: string): number =>
  wirings.findIndex(({ blocks }) => blocks === familyOf(block)) >>> 0

/** Sections for the blocks of one family. `shared`: tensors outside the blocks that their attention uses. */
function blockSections(
  blocks: ReadonlyMap<string, TensorInfo[]>,
  shared: readonly TensorInfo[],
  wiring: Wiring,
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
        return sectionOf(members, own.some(hasAttention) ? [...own, ...shared] : own, wiring, facts)
      }),
    )
    .filter(({ edges }) => edges.length > 0)
}

const hasAttention = ({ name }: TensorInfo) => /^attn_(q|qkv|q_a|q_b)$/.test(roleOf(name))

const natural = new Intl.Collator('en', { numeric: true })

/** The blocks by family, in their order. */
function familiesOf(tensors: readonly TensorInfo[]): Map<string, Map<string, TensorInfo[]>> {
  const families = new Map<string, Map<string, TensorInfo[]>>()
  for (const tensor of [...tensors].sort((a, b) => natural.compare(blockOf(a.name), blockOf(b.name)))) {
    const block = blockOf(tensor.name)
    if (block === '') continue
    const family = familyOf(block)
    const blocks = families.get(family) ?? new Map<string, TensorInfo[]>()
    families.set(family, blocks)
    const list = blocks.get(block)
    if (list) list.push(tensor)
    else blocks.set(block, [tensor])
  }
  return families
}

/** A section for the steps outside the blocks; none if there are others of its kind that it does not name. */
function endsOf(wiring: Wiring, ends: ReadonlyMap<string, TensorInfo[]>): Section | undefined {
  const flow = wiring.flow ?? ''
  const known = rolesOf(flow)
  if (wiring.scope && [...ends.keys()].some((role) => wiring.scope!.test(`${role}.`) && !known.has(role)))
    return undefined
  const own = new Map([...ends].filter(([role]) => known.has(role)))
  if (own.size === 0) return undefined
  const edges = wired(flow, [...own.keys()]).edges.filter(([, to]) => to !== '*out')
  const nodes = nodesOf({ names: [...new Set([...edges.flat(), ...own.keys()])], edges }, own)
  return { id: `${wiring.of} ${[...own.keys()][0]}`, title: t(wiring.title!), blocks: [], nodes, edges }
}

/** The file's graph. Only models and projectors have one: an adapter's tensors are changes of another file's. */
export function graphOf(file: GgufFile): ModelGraph {
  const summary = file.summary()
  const facts: Facts = {
    parallel: file.metadata.get(`${summary.architecture ?? ''}.use_parallel_residual`) === true,
    embedding: summary.embeddingLength ?? 0,
    pools: file.metadata.has(`${summary.architecture ?? ''}.pooling_type`),
  }
  const isDrawn =
    /^(model|projector)$/.test(summary.kind) && file.metadata.get('clip.projector_type') !== 'cogvlm'
  const sections = isDrawn ? sectionsOf(file.tensors, facts) : []
  const drawn = new Set<string>()
  for (const { blocks, nodes } of sections)
    for (const { id, role } of nodes)
      for (const block of ['', ...blocks]) if (role !== '') drawn.add(`${block} ${id}`)
  const isIn = ({ name }: TensorInfo) =>
    drawn.has(`${blockOf(name)} ${roleOf(name)}`) || drawn.has(` ${roleOf(name, '')}`)
  return { sections, others: file.tensors.filter((tensor) => !isIn(tensor)) }
}

function sectionsOf(tensors: readonly TensorInfo[], facts: Facts): Section[] {
  const families = familiesOf(tensors)
  // Names such as "mm.2" look like a block's, and are those of steps.
  const ends = Map.groupBy(tensors, ({ name }) => roleOf(name, ''))
  const shared = tensors.filter(({ name }) => isOfAttention(roleOf(name, '')))
  const parts = new Map<Wiring, Section[]>()
  const chosen = new Set<string>()
  for (const wiring of wirings) {
    const blocks = families.get(wiring.blocks ?? '')
    if (!wiring.blocks || !blocks || chosen.has(wiring.blocks)) continue
    const roles = [...blocks].flatMap(([block, own]) => own.map(({ name }) => roleOf(name, block)))
    if (!takes(wiring.flow, roles)) continue
    const sections = blockSections(blocks, shared, wiring, facts)
    if (sections.length > 0) chosen.add(wiring.blocks)
    parts.set(wiring, sections)
  }
  const placed = new Set<string>()
  for (const wiring of wirings) {
    const { of } = wiring
    if (!of || ![...chosen].some((family) => new RegExp(`^${of}$`).test(family))) continue
    const section = endsOf(wiring, ends)
    if (!section || placed.has(section.id)) continue
    placed.add(section.id)
    parts.set(wiring, [facts.pools ? section : withOutput(section, ends)])
  }
  return wirings.flatMap((wiring) => parts.get(wiring) ?? [])
}

/** Adds the output of a model that has no matrix of its own for it: the token embedding is used again. */
function withOutput(after: Section, ends: ReadonlyMap<string, TensorInfo[]>): Section {
  const norm = after.nodes.find(({ id }) => /^((dec\.)?output_norm|decoder\.ln)$/.test(id))
  const matrix = ends.get(norm?.id === 'decoder.ln' ? 'decoder.token_embedding' : 'token_embd')?.[0]
  if (!norm || !matrix || [...ends.keys()].some((role) => /^(output$|cls)/.test(role))) return after
  const output = {
    id: 'output',
    title: endTitle('output'),
    role: roleOf(matrix.name, ''),
    tensors: [matrix],
    width: matrix.shape[1] ?? 0,
  }
  return { ...after, nodes: [...after.nodes, output], edges: [...after.edges, [norm.id, output.id]] }
}
