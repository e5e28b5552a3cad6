// The graphs of attention: plain heads, latent attention, and attention to selected positions.
import { selectPools } from './low-rank.js'
import { carry, floats, kHalf, project, rows, widthOf, type LayerContext } from './layer.js'
import type { Value } from './graph.js'

interface Heads {
  readonly query: Value
  readonly key: Value
  readonly value: Value
  /** bytes of the values: those of the keys if undefined */
  readonly valueBytes?: number
  /** width of the result */
  readonly width: number
  /** a projection for query and gate together */
  readonly gated?: Value
}

function fusedHeads(layer: LayerContext, normed: Value): Heads {
  const { graph } = layer
  const width = outputWidth(layer)
  const fused = project(layer, 'attn_qkv', normed)
  const key = Math.max(0, (widthOf(layer, 'attn_qkv') - width) / 2)
  return {
    query: graph.add(rows(layer, width), fused),
    key: graph.add(rows(layer, key), fused),
    value: fused,
    valueBytes: rows(layer, key),
    width,
  }
}

/** Rows that attention gives to its output matrix. */
const outputWidth = ({ parts, embedding }: LayerContext) =>
  (parts.get('attn_output') ?? parts.get('attn_o'))?.[0] ?? embedding

function plainHeads(layer: LayerContext, normed: Value): Heads {
  const { graph, parts } = layer
  if (parts.has('attn_qkv')) return fusedHeads(layer, normed)
  const width = outputWidth(layer)
  const projected = project(layer, 'attn_q', normed)
  const gated = widthOf(layer, 'attn_q') >= 2 * width
  const query = gated ? graph.add(rows(layer, width), projected) : graph.over(projected)
  const keys = () => graph.over(project(layer, 'attn_k', normed))
  // Without a matrix for values, the keys are the values, too.
  const values = () => project(layer, parts.has('attn_v') ? 'attn_v' : 'attn_k', normed)
  // The order in which llama.cpp adds them to its graph.
  const [key, value] = layer.cells > 0 ? ([values(), keys()].reverse() as [Value, Value]) : [keys(), values()]
  return { query, key, value, width, ...(gated && { gated: projected }) }
}

/** Keys and values for attention to the same batch only: padded, as float16. */
function halved({ graph, plainAttention }: LayerContext, of: Value, bytes: number, isValue: boolean): Value {
  const padded = graph.add(bytes, of)
  if (plainAttention) return isValue ? graph.add(padded.bytes, padded) : padded
  return graph.add(padded.bytes / 2, padded)
}

/** Scores of every pair of positions, in memory. */
function scored(layer: LayerContext, query: Value, width: number, further: readonly Value[], bias?: Value) {
  const { graph, tokens, heads, mask } = layer
  const cells = layer.cells || tokens
  const size = floats(cells * tokens * heads)
  // Values are stored by row, as flash attention wants them.
  const values = bias && layer.cells > 0 ? [graph.add(cells * widthOf(layer, 'attn_v') * kHalf)] : []
  let scores = graph.add(size, query, ...further)
  if (bias) {
    const found = graph.add(size, bias)
    const turned = graph.add(size, found)
    scores = graph.over(scores, layer.cells > 0 ? turned : graph.add(size, turned))
  }
  scores = graph.over(scores, ...(mask ? [mask] : []))
  const mixed = graph.add(rows(layer, width), scores, ...values)
  return graph.add(rows(layer, width), mixed)
}

function attend(layer: LayerContext, heads: Heads, bias?: Value): Value {
  const { query, key, value, width, valueBytes = value.bytes } = heads
  const { graph, mask } = layer
  const masks = mask ? [mask] : []
  if (layer.cells > 0) {
    graph.use(key)
    graph.use(value)
    if (layer.plainAttention) return scored(layer, query, width, [], bias)
    return graph.add(rows(layer, width), query, ...masks)
  }
  if (layer.plainAttention) {
    const values = halved(layer, value, valueBytes, true)
    return scored(layer, query, width, [halved(layer, key, key.bytes, false), values], bias)
  }
  const keys = halved(layer, key, key.bytes, false)
  const values = halved(layer, value, valueBytes, false)
  return graph.add(rows(layer, width), query, keys, values, ...masks)
}

/** The gate of attention's output, by a matrix of its own or a part of the query's. */
function gate(layer: LayerContext, normed: Value, mixed: Value, gated: Value | undefined): Value {
  const { graph, parts } = layer
  if (gated) return graph.over(mixed, graph.add(mixed.bytes, gated))
  if (!parts.has('attn_gate')) return mixed
  return graph.over(mixed, graph.over(project(layer, 'attn_gate', normed)))
}

const output = (layer: LayerContext, mixed: Value) => layer.graph.add(rows(layer, layer.embedding), mixed)

export function attention(layer: LayerContext, normed: Value, bias?: Value): Value {
  if (layer.parts.has('attn_kv_a_mqa')) return latentAttention(layer, normed)
  if (layer.parts.has('attn_kv')) return compressedAttention(layer, normed)
  const selected = layer.pools && selectPools(layer, normed, layer.pools)
  const heads = plainHeads(layer, normed)
  const mixed =
    layer.blockSize > 0 && layer.parts.has('indexer.k_proj')
      ? blockAttention(layer, normed, heads)
      : attend(selected ? { ...layer, mask: selected } : layer, heads, bias)
  return output(layer, gate(layer, normed, mixed, heads.gated))
}

/** The query of latent attention, through a matrix of low rank if there is one. */
function latentQuery(layer: LayerContext, normed: Value): { query: Value; low: Value } {
  if (!layer.parts.has('attn_q_a')) {
    const query = project(layer, 'attn_q', normed)
    return { query, low: normed }
  }
  const low = layer.graph.over(project(layer, 'attn_q_a', normed))
  return { query: project(layer, 'attn_q_b', low), low }
}

function latentAttention(layer: LayerContext, normed: Value): Value {
  const { graph, parts, heads } = layer
  const indexed = parts.has('indexer.attn_q_b')
  if (indexed) graph.use(indexKey(layer, normed))
  const { query, low } = latentQuery(layer, normed)
  const rank = parts.get('attn_kv_a_norm')?.[0] ?? 0
  const cached = widthOf(layer, 'attn_kv_a_mqa')
  const rotated = cached - rank
  if (!parts.has('attn_k_b')) {
    const compressed = project(layer, 'attn_kv_a_mqa', normed)
    const latent = graph.add(rows(layer, rank), compressed)
    const both = project(layer, 'attn_kv_b', latent)
    const width = outputWidth(layer)
    const value = graph.add(rows(layer, width), both)
    const repeated = graph.add(rows(layer, rotated * heads), graph.add(rows(layer, rotated), compressed))
    const key = graph.add(query.bytes, both, repeated)
    const mixed = attend(layer, { query: graph.over(query), key, value, width })
    return output(layer, gate(layer, normed, mixed, undefined))
  }
  const absorbed = graph.add(rows(layer, rank * heads), query)
  const turned = graph.add(rows(layer, rotated * heads), query)
  const whole = graph.add(rows(layer, cached * heads), absorbed, turned)
  const compressed = project(layer, 'attn_kv_a_mqa', normed)
  const latent = graph.add(rows(layer, rank), compressed)
  const key = graph.add(rows(layer, cached), latent, graph.add(rows(layer, rotated), compressed))
  graph.use(key)
  const mask = layer.indexer ? selection(layer, normed, indexed ? low : undefined) : layer.mask
  const mixed = graph.add(rows(layer, rank * heads), whole, ...(mask ? [mask] : []))
  const width = outputWidth(layer)
  const values = graph.add(rows(layer, width), graph.add(rows(layer, width), mixed))
  return output(layer, gate(layer, normed, values, undefined))
}

function indexKey(layer: LayerContext, normed: Value): Value {
  const { graph } = layer
  const key = graph.add(
    rows(layer, widthOf(layer, 'indexer.attn_k')),
    project(layer, 'indexer.attn_k', normed),
  )
  return layer.indexer?.rotation ? graph.add(key.bytes, key) : graph.over(key)
}

/** The mask of the positions that the indexer selects, by the layer's own scores or those of an earlier layer. */
function selection(layer: LayerContext, normed: Value, low: Value | undefined): Value {
  const { graph, indexer, tokens, cells } = layer
  const masks = layer.mask ? [layer.mask] : []
  const pooled = indexer !== undefined && indexer.keysInPool > 1
  const before = layer.carried.get('choice')
  if (pooled && !low && before) return before
  if (low) {
    const query = project(layer, 'indexer.attn_q_b', low)
    const turned = indexer?.rotation ? graph.add(query.bytes, query) : graph.over(query)
    const weights = project(layer, 'indexer.proj', normed)
    const scored = Math.ceil(cells / (indexer?.keysInPool ?? 1))
    const scores = graph.add(floats(scored * tokens), turned, weights, ...(indexer ? [indexer.mask] : []))
    graph.use(graph.add(rows(layer, 1), scores))
  }
  const filled = graph.add(cells * tokens * kHalf, ...masks)
  if (!pooled) return graph.add(filled.bytes, filled, ...masks)
  // The choice of the layer before stays until this one is there; layers without an indexer read it again.
  const chosen = graph.over(filled, ...masks)
  if (before) graph.use(before)
  layer.carried.set('choice', chosen)
  return chosen
}

/** Cells that the reserved graph scores for its choice of blocks. */
const kScored = 256

/** MiniMax: each group of heads attends to the blocks that its indexer selects. */
function blockAttention(layer: LayerContext, normed: Value, { query, key, value, width }: Heads): Value {
  const { graph, tokens, cells, keyHeads, blockSize } = layer
  const masks = layer.mask ? [layer.mask] : []
  const indexKeys = project(layer, 'indexer.k_proj', normed)
  graph.use(graph.add(indexKeys.bytes, indexKeys))
  graph.use(key)
  graph.use(value)
  const blocks = Math.ceil(kScored / Math.max(1, blockSize))
  const groups = tokens * keyHeads
  const queries = graph.over(project(layer, 'indexer.q_proj', normed))
  const sampled = graph.add(floats(kScored * widthOf(layer, 'indexer.k_proj')))
  const scores = graph.add(floats(kScored * groups), queries, sampled)
  const pooled = graph.add(floats(blocks * groups), scores)
  const marked = graph.add(blocks * groups * kHalf, pooled)
  const spread = graph.add(floats(cells * groups), marked)
  const turned = graph.add(floats(cells * groups), spread)
  const precise = carry(layer, 'mask', () => graph.add(floats(cells * tokens), ...masks))
  const limited = graph.over(turned, precise)
  const mask = graph.add(cells * groups * kHalf, limited)
  const mixed = graph.add(rows(layer, width), query, mask)
  return graph.add(rows(layer, width), mixed)
}

/** DeepSeek-V4: a window, and cells that represent several positions. */
function compressedAttention(layer: LayerContext, normed: Value): Value {
  const { graph, parts, tokens, compressed } = layer
  const low = graph.over(project(layer, 'attn_q_a', normed))
  const query = graph.over(project(layer, 'attn_q_b', low))
  graph.use(graph.over(project(layer, 'attn_kv', normed)))
  const masks = layer.mask ? [layer.mask] : []
  const width = widthOf(layer, 'attn_q_b')
  let mixed: Value
  if (!compressed) mixed = graph.add(rows(layer, width), query, ...masks)
  else {
    const all = layer.cells + compressed.cells
    const keys = graph.add(all * widthOf(layer, 'attn_kv') * kHalf)
    let visible = compressed.mask
    if (parts.has('indexer.attn_q_b') && layer.indexer) {
      const index = graph.add(
        rows(layer, widthOf(layer, 'indexer.attn_q_b')),
        project(layer, 'indexer.attn_q_b', low),
      )
      const weights = project(layer, 'indexer.proj', normed)
      const size = compressed.cells * tokens
      const scores = graph.add(floats(size), index, weights, layer.indexer.mask)
      graph.use(graph.add(rows(layer, 1), scores))
      visible = graph.add(size * kHalf, graph.add(size * kHalf, compressed.mask), compressed.mask)
    }
    const mask = graph.add(all * tokens * kHalf, visible, ...masks)
    mixed = graph.add(rows(layer, width), query, keys, mask)
  }
  const grouped = project(layer, 'attn_output_a', graph.over(mixed))
  return graph.add(rows(layer, layer.embedding), graph.add(grouped.bytes, grouped))
}
