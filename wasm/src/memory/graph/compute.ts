// The buffer of intermediate results: the graph that llama.cpp reserves for one batch, on its CPU backend, with logits
// for every token of the batch.
import { cellsOf, padded, type Plan } from '../plan.js'
import type { CacheShape, LayerShape, ModelShape } from '../shape.js'
import { codecBytes, isCodec } from './codec.js'
import { feedForward } from './feed-forward.js'
import { Graph, type Value } from './graph.js'
import { addNgrams, lowRankStreams, poolInputs, weigh, weighedPart } from './low-rank.js'
import {
  carry,
  floats,
  kHalf,
  project,
  rows,
  type LayerContext,
  type Parts,
  type PoolInputs,
} from './layer.js'
import { mix } from './mixers.js'

/** Architectures for which llama.cpp turns flash attention off. */
const kWithoutFlashAttention: ReadonlySet<string> = new Set(['grok'])

interface FirstInputs {
  readonly ids: Value
  /** tokens, embeddings, and where the tokens' rows go */
  readonly mixture?: readonly [Value, Value, Value]
}

/** The inputs that all layers share. */
interface Inputs {
  readonly first: FirstInputs
  /** small ones that every layer reads: positions, and where keys and values go */
  readonly everywhere: readonly Value[]
  readonly full: Value | undefined
  readonly windowed: Value | undefined
  readonly indexer: Value | undefined
  /** by the number of tokens that a cell represents */
  readonly compressed: ReadonlyMap<number, Value>
  readonly buckets: Value | undefined
  readonly pools: PoolInputs | undefined
  /** the rows whose logits are wanted */
  readonly chosen: Value
}

interface Model {
  readonly graph: Graph
  readonly shape: ModelShape
  readonly plan: Plan
  readonly tokens: number
  readonly parts: readonly Parts[]
  readonly ends: Parts
  readonly inputs: Inputs
  readonly plainAttention: boolean
}

function partsOf({ tensors }: Pick<LayerShape, 'tensors'>): Parts {
  const parts = new Map<string, readonly number[]>()
  for (const { name, shape } of tensors) {
    const part = name.replace(/^(\w+\.)?blk\.\d+\./, '').replace(/\.weight$/, '')
    if (!parts.has(part)) parts.set(part, shape)
  }
  return parts
}

const mainCache = ({ caches }: LayerShape): CacheShape | undefined => caches[0]

/** What the graph reads first: tokens, or embeddings that a caller gives instead, or a mixture of both. */
function firstInputs(graph: Graph, shape: ModelShape, tokens: number): FirstInputs {
  const ids = graph.input(floats(tokens))
  if (shape.takes === 'tokens') return { ids }
  const row = floats(shape.embedding * tokens)
  graph.keep(graph.input(row))
  if (shape.takes === 'one kind') return { ids }
  const mixture = [floats(tokens), row, 2 * floats(tokens)].map((bytes) => graph.input(bytes))
  return { ids, mixture: mixture as [Value, Value, Value] }
}

function inputsOf(
  graph: Graph,
  shape: ModelShape,
  plan: Plan,
  tokens: number,
  parts: readonly Parts[],
): Inputs {
  const first = firstInputs(graph, shape, tokens)
  const plain = kWithoutFlashAttention.has(shape.architecture)
  const mask = (cells: number) => graph.input(cells * tokens * (plain ? 4 : kHalf))
  const caches = shape.layers.flatMap(({ caches: all }) => all)
  const has = (windowed: boolean) =>
    shape.layers
      .map(mainCache)
      .find((cache) => cache !== undefined && (cache.window !== undefined) === windowed)
  const full = has(false)
  const windowed = has(true)
  const selfOnly = shape.cacheless && parts.some((one) => one.has('attn_output') || one.has('attn_o'))
  const bias = parts.some((one) => one.has('attn_rel_b'))
  const cells = shape.cacheless ? tokens : padded(plan.context)
  const ratios = new Set(caches.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio])))
  const indexed = parts.some((one) => one.has('indexer.attn_q_b'))
  const positions = graph.input(floats(tokens))
  const stored = [full, windowed].flatMap((one) =>
    one ? [graph.input(2 * floats(tokens)), graph.input(2 * floats(tokens))] : [],
  )
  return {
    first,
    everywhere: [positions, ...stored],
    full: selfOnly ? mask(tokens) : full && mask(cellsOf(full, plan)),
    windowed: windowed
      ? mask(cellsOf(windowed, plan))
      : selfOnly && shape.windowed
        ? mask(tokens)
        : undefined,
    indexer: indexed
      ? mask(ratios.size > 0 ? padded(cells / Math.min(...ratios)) : Math.ceil(cells / shape.keysInPool))
      : undefined,
    compressed: new Map([...ratios].map((ratio) => [ratio, mask(padded(cells / ratio))])),
    pools:
      shape.poolSize > 0 && !shape.cacheless
        ? poolInputs(graph, tokens, cells, shape.poolSize, shape.selected)
        : undefined,
    buckets: bias ? graph.input(floats(cells * tokens)) : undefined,
    chosen: graph.input(floats(tokens)),
  }
}

function contextOf(model: Model, index: number, carried: Map<string, Value>): LayerContext {
  const { graph, shape, plan, tokens, inputs } = model
  const { caches, heads, keyHeads } = shape.layers[index]!
  const second = caches[1]
  // Layers that share a cache read an earlier one.
  const main = caches[0] ?? shape.layers.slice(0, index).findLast((one) => one.caches.length > 0)?.caches[0]
  const ratio = second?.ratio
  const compressed = ratio === undefined ? undefined : inputs.compressed.get(ratio)
  return {
    graph,
    tokens,
    heads,
    keyHeads,
    parts: model.parts[index]!,
    embedding: shape.embedding,
    cells: main && !shape.cacheless ? cellsOf(main, plan) : 0,
    mask: main?.window === undefined || shape.cacheless ? inputs.full : inputs.windowed,
    expertsUsed: shape.expertsUsed,
    plainAttention: model.plainAttention,
    compressed: compressed && { cells: padded(padded(plan.context) / ratio!), mask: compressed },
    indexer:
      inputs.indexer && (ratio !== undefined || main?.window === undefined)
        ? { mask: inputs.indexer, rotation: true, keysInPool: shape.keysInPool }
        : undefined,
    state: shape.layers[index]!.state,
    blockSize: shape.blockSize,
    pools: caches[1] && inputs.pools,
    carried,
  }
}

/** One layer. `last`: only rows whose logits are wanted go on. */
function addLayer(
  model: Model,
  index: number,
  stream: Value,
  last: boolean,
  carried: Map<string, Value>,
): Value {
  const { graph } = model
  const layer = contextOf(model, index, carried)
  const { parts } = layer
  const row = rows(layer, layer.embedding)
  const hasNorm = parts.has('attn_norm') || parts.has('attn_norm_2') || isUnweighted(parts)
  const normed = hasNorm ? graph.over(graph.add(row, stream)) : stream
  const chosen = (value: Value) => (last ? graph.add(row, value, model.inputs.chosen) : value)
  const bias = layer.parts.has('attn_rel_b') || model.plainAttention ? model.inputs.buckets : undefined
  const mixed = mix(layer, normed, bias)
  graph.use(...model.inputs.everywhere)
  if (mixed && isParallel(parts)) {
    const further = feedForward(layer, chosen(normed))
    const both = further ? graph.over(further, chosen(mixed)) : chosen(mixed)
    return graph.over(both, chosen(stream))
  }
  const sum = mixed ? graph.over(chosen(mixed), chosen(stream)) : stream
  const hasFeedForward = ['ffn_down', 'ffn_down_exps', 'channel_mix_key'].some((name) => parts.has(name))
  if (!hasFeedForward) return sum
  // Encoders that normalize after the sum go on with the result.
  const isPostNormOnly = parts.has('post_ffw_norm') && !parts.has('ffn_norm')
  const input = isPostNormOnly ? sum : graph.over(graph.add(row, sum))
  // The next text needs the last row of both.
  if (parts.has('time_mix_key')) graph.use(normed, input)
  const isPostNorm = parts.has('layer_output_norm') && parts.has('attn_output_norm') && !hasNorm
  const further = feedForward(layer, input)
  if (!further) return sum
  const result = graph.over(further, isPostNorm ? input : sum)
  if (isPostNorm) return graph.add(row, result)
  return parts.has('inp_gate') ? addLayerInput(model, layer, result) : result
}

/** Gemma's input of each layer. The first layer computes those of all layers. */
function addLayerInput({ graph, ends }: Model, layer: LayerContext, stream: Value): Value {
  const width = ends.get('per_layer_model_proj')?.[1] ?? 0
  const gate = graph.over(project(layer, 'inp_gate', stream))
  const all = carry(layer, 'layer inputs', () => {
    const projected = graph.over(graph.add(rows(layer, width), stream))
    const found = layer.carried.get('layer embeddings')
    return graph.add(rows(layer, width), graph.over(projected, ...(found ? [found] : [])))
  })
  return graph.over(stream, graph.add(stream.bytes, graph.over(gate, all)))
}

/** The norms have no tensors (OLMo). */
const isUnweighted = (parts: Parts) => ![...parts.keys()].some((name) => name.endsWith('_norm'))

/** Attention and the feed-forward network read the same rows. */
const isParallel = (parts: Parts) =>
  parts.has('attn_norm') &&
  !['ffn_norm', 'post_attention_norm', 'attn_post_norm', 'attn_output_norm'].some((name) => parts.has(name))

/** DeepSeek-V4: several streams, of which each part of a layer reads a mixture. */
function addHyperLayer(
  model: Model,
  index: number,
  streams: Value,
  last: boolean,
  carried: Map<string, Value>,
): Value {
  const { graph } = model
  const layer = contextOf(model, index, carried)
  const row = rows(layer, layer.embedding)
  const half = (from: Value, part: (input: Value) => Value | undefined) => {
    graph.use(graph.add(floats(layer.tokens), graph.add(from.bytes, from)))
    const result = part(graph.over(graph.add(row, from)))
    return graph.add(from.bytes, from, ...(result ? [result] : []))
  }
  const middle = half(streams, (input) => mix(layer, input))
  const end = half(middle, (input) => feedForward(layer, input))
  return last ? graph.keep(end) : end
}

/** Qwen 4: a network weighs the streams for each part of a layer. */
function addLowRankLayer(
  model: Model,
  index: number,
  streams: Value,
  last: boolean,
  carried: Map<string, Value>,
): Value {
  const layer = contextOf(model, index, carried)
  const ngrams = layer.parts.has('ple_key') ? carried.get('n-grams') : undefined
  const input = ngrams ? addNgrams(layer, streams, ngrams) : streams
  const chosen = last ? model.inputs.chosen : undefined
  const middle = weighedPart(layer, input, 'hc_attn', (row) => mix(layer, row), chosen)
  model.graph.use(...model.inputs.everywhere)
  return weighedPart(layer, middle, 'hc_ffn', (row) => feedForward(layer, row))
}

/** The embeddings. The mixture is computed, too, though nothing reads it; its memory stays taken. */
function embedded({ graph, shape, tokens, inputs }: Model): Value {
  const { ids, mixture } = inputs.first
  const row = floats(shape.embedding * tokens)
  const found = graph.add(row, ids)
  if (mixture) {
    const [itsIds, itsRows, places] = mixture
    const rowsOfIds = graph.add(row, itsIds)
    graph.keep(graph.add(row, itsRows))
    graph.use(rowsOfIds, places)
  }
  return found
}

function logits({ graph, shape, tokens }: Model, stream: Value): void {
  const normed = graph.keep(graph.over(stream))
  if (shape.encoder) return
  graph.keep(graph.add(floats(shape.vocabulary * tokens), normed))
}

/** Bytes of the buffer on each device that computes. */
export function computeBytes(shape: ModelShape, plan: Plan): number {
  const sizes = kSizes.get(shape) ?? new Map<string, number>()
  kSizes.set(shape, sizes)
  const key = `${padded(plan.context)} ${plan.batch}`
  const size =
    sizes.get(key) ?? (shape.architecture === 'whisper' ? speechBytes(shape, plan) : graphBytes(shape, plan))
  sizes.set(key, size)
  return size
}

/** The search for a context that fits asks for the same sizes again and again. */
const kSizes = new WeakMap<ModelShape, Map<string, number>>()

/** Whisper's decoder, roughly: logits or the widest layer. */
function speechBytes({ vocabulary, embedding }: ModelShape, { context, batch }: Plan): number {
  const tokens = Math.min(batch, padded(context))
  return floats(tokens * Math.max(vocabulary + embedding, 12 * embedding)) + padded(context) * tokens * kHalf
}

function graphBytes(shape: ModelShape, plan: Plan): number {
  const graph = new Graph()
  const tokens = Math.min(plan.batch, padded(plan.context))
  const parts = shape.layers.map(({ tensors, computes = tensors }) => partsOf({ tensors: computes }))
  const ends = partsOf({ tensors: [...shape.input, ...shape.output] })
  if (isCodec(ends)) return codecBytes(ends, tokens)
  const inputs = inputsOf(graph, shape, plan, tokens, parts)
  const plainAttention = kWithoutFlashAttention.has(shape.architecture) || inputs.buckets !== undefined
  const model: Model = { graph, shape, plan, tokens, parts, ends, inputs, plainAttention }
  const hyper = parts.some((one) => one.has('hc_attn_fn'))
  const streams = lowRankStreams(parts)
  const carried = new Map<string, Value>()
  const layerWidth = ends.get('per_layer_model_proj')?.[1]
  if (layerWidth !== undefined) carried.set('layer embeddings', graph.add(floats(layerWidth * tokens)))
  const ngrams = parts.find((one) => one.has('ple_value'))?.get('ple_value')?.[0]
  if (ngrams !== undefined)
    carried.set('n-grams', graph.add(floats(ngrams * tokens), graph.input(floats(tokens))))
  let stream = embedded(model)
  if (ends.has('token_embd_norm')) stream = graph.add(stream.bytes, stream)
  if (hyper) stream = graph.add(stream.bytes * (hyperCount(parts, shape) || 1), stream)
  if (streams > 0) stream = graph.add(stream.bytes * streams, stream)
  const count = shape.executed
  for (let i = 0; i < count; ++i) {
    const last = i === count - 1
    const add = streams > 0 ? addLowRankLayer : hyper ? addHyperLayer : addLayer
    stream = add(model, i, stream, last, carried)
  }
  if (hyper) stream = graph.add(floats(shape.embedding * tokens), stream)
  if (streams > 0) stream = weigh({ ...contextOf(model, 0, carried), parts: ends }, stream, 'output_hc').input
  logits(model, stream)
  return graph.size()
}

const hyperCount = (parts: readonly Parts[], { embedding }: ModelShape) =>
  Math.round(
    (parts.find((one) => one.has('hc_attn_fn'))?.get('hc_attn_fn')?.[0] ?? 0) / Math.max(1, embedding),
  )
