// The graphs of Qwen 4: several residual streams that networks of low rank weigh, n-grams that one layer adds to them,
// and attention to pools of positions.
import type { Graph, Value } from './graph.js'
import {
  floats,
  kHalf,
  project,
  rows,
  widthOf,
  type LayerContext,
  type Parts,
  type PoolInputs,
} from './layer.js'

const kPoolPadding = 64

export function poolInputs(
  graph: Graph,
  tokens: number,
  cells: number,
  size: number,
  top: number,
): PoolInputs {
  const computed = Math.floor(cells / size)
  const pools = Math.max(kPoolPadding, Math.ceil((computed + 1) / kPoolPadding) * kPoolPadding)
  const stored = graph.input(2 * floats(tokens))
  const cellsOfPools = graph.input(floats(pools))
  const positions = graph.input(floats(size * pools))
  const mask = graph.input(pools * tokens * kHalf)
  const tail = graph.input(floats((size - 1) * tokens))
  const fresh = [floats(size * computed), 2 * floats(computed), floats(4 * computed)]
  return {
    pools,
    computed,
    mask,
    tail,
    selected: size * Math.min(pools, Math.floor(top / size)) + size - 1,
    further: [stored, cellsOfPools, positions, ...fresh.map((bytes) => graph.input(bytes))],
  }
}

/** The mask of the positions of the selected pools. */
export function selectPools(layer: LayerContext, normed: Value, inputs: PoolInputs): Value {
  const { graph, tokens, cells, mask } = layer
  const { pools, computed, selected } = inputs
  const width = widthOf(layer, 'indexer.k_proj')
  const size = Math.max(1, Math.floor(cells / Math.max(1, computed)))
  const raw = project(layer, 'indexer.k_proj', normed)
  graph.use(graph.add(2 * raw.bytes, raw, graph.add(raw.bytes)))
  const members = graph.add(floats(size * computed * width), ...inputs.further)
  const means = graph.over(graph.add(floats(computed * width), members))
  graph.use(graph.over(means, members), ...inputs.further)
  const query = graph.over(project(layer, 'indexer.q_proj', normed))
  const keys = graph.add(floats(pools * width), ...inputs.further)
  const scores = graph.add(floats(pools * tokens), query, keys, inputs.mask)
  const best = graph.add(floats(Math.floor(selected / size) * tokens), scores)
  const chosen = graph.add(floats(selected * tokens), best, inputs.tail, ...inputs.further)
  const zeros = graph.add(selected * tokens * kHalf)
  const live = graph.add(floats(selected * tokens), scores, best, inputs.tail)
  const moved = graph.over(live, chosen)
  const all = graph.add((cells + selected) * tokens * kHalf)
  const marked = graph.over(all, zeros, moved)
  return graph.add(cells * tokens * kHalf, marked, ...(mask ? [mask] : []))
}

/** The number of streams; 0: the architecture has a single one, or mixes them in another way. */
export const lowRankStreams = (parts: readonly Parts[]): number =>
  parts.find((one) => one.has('hc_attn_inject'))?.get('hc_attn_inject')?.[1] ?? 0

/** What a part of a layer reads, and the normalized streams. `name`: of the network's tensors. */
export function weigh(layer: LayerContext, streams: Value, name: string): { input: Value; normed: Value } {
  const { graph, embedding } = layer
  const normed = graph.over(graph.add(streams.bytes, streams))
  const gate = graph.add(streams.bytes, graph.over(project(layer, `${name}_down`, normed)))
  return { input: graph.add(rows(layer, embedding), normed, gate), normed }
}

/** Half of a layer. chosen: the rows whose logits are wanted, from which on only they are computed. */
export function weighedPart(
  layer: LayerContext,
  streams: Value,
  name: string,
  part: (input: Value) => Value | undefined,
  chosen?: Value,
): Value {
  const { graph } = layer
  const { input, normed } = weigh(layer, streams, name)
  const result = part(input) ?? input
  const kept = chosen
    ? [graph.add(result.bytes, result, chosen), graph.add(streams.bytes, streams, chosen)]
    : [result, streams]
  const inject = graph.over(project(layer, `${name}_inject`, normed))
  return graph.add(streams.bytes, ...kept, inject)
}

/** The streams after the layer's n-grams are added. embedded: the rows of the table. */
export function addNgrams(layer: LayerContext, streams: Value, embedded: Value): Value {
  const { graph, parts } = layer
  const value = graph.add(streams.bytes, project(layer, 'ple_value', embedded))
  const key = graph.over(project(layer, 'ple_key', embedded))
  const query = graph.over(graph.add(streams.bytes, streams))
  const gate = graph.add(floats(layer.tokens), graph.over([key, query]))
  const gated = graph.over(value, gate)
  const normed = graph.over(graph.add(streams.bytes, gated))
  const joined = graph.add(streams.bytes, normed)
  const taps = parts.get('ple_conv1d')?.[0] ?? 1
  let sum = graph.over(graph.add(streams.bytes, joined))
  for (let i = 1; i < taps; ++i) sum = graph.over([sum, graph.over(graph.add(streams.bytes, joined))])
  const result = graph.over([gated, graph.add(streams.bytes, sum)])
  return graph.over([streams, result])
}
