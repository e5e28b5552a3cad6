// The graphs of feed-forward networks: dense ones and experts.
import type { Value } from './graph.js'
import { floats, project, rows, widthOf, type LayerContext } from './layer.js'
import { channelMix } from './mixers.js'

/** Two matrices and an activation, or three with a gate. `end`: the end of the matrices' names. */
function dense(layer: LayerContext, input: Value, end: string): Value {
  const { graph, parts } = layer
  const width = parts.get(`ffn_down${end}`)?.[0] ?? widthOf(layer, `ffn_up${end}`)
  const up = project(layer, `ffn_up${end}`, input)
  let inner: Value
  if (parts.has(`ffn_gate${end}`))
    inner = graph.add(rows(layer, width), up, project(layer, `ffn_gate${end}`, input))
  // The gate may be a part of the same matrix.
  else inner = up.bytes > rows(layer, width) ? graph.add(rows(layer, width), up) : graph.over(up)
  return graph.add(rows(layer, layer.embedding), inner)
}

function experts(layer: LayerContext, input: Value, end = '_exps'): Value {
  const { graph, parts, tokens, embedding } = layer
  const used = layer.expertsUsed
  const logits = project(layer, 'ffn_gate_inp', input)
  const chances =
    parts.has('exp_probs_b') || parts.has('exp_probs_b.bias') ? [graph.add(logits.bytes, logits)] : []
  const chosen = graph.add(logits.bytes, logits, ...chances)
  const weights = graph.add(floats(used * tokens), logits, chosen)
  const width = parts.get(`ffn_down${end}`)?.[0] ?? 0
  const size = rows(layer, width * used)
  const fused = parts.has(`ffn_gate_up${end}`)
  const gate = fused
    ? graph.add(2 * size, input, chosen)
    : parts.has(`ffn_gate${end}`)
      ? graph.add(size, input, chosen)
      : undefined
  const up = fused ? [] : [graph.add(size, input, chosen)]
  const inner = gate ? graph.add(size, gate, ...up) : graph.over(up[0]!)
  const down = graph.over(graph.add(rows(layer, embedding * used), inner, chosen), weights)
  return graph.add(rows(layer, embedding), down)
}

/** undefined: the layer has none. */
export function feedForward(layer: LayerContext, normed: Value): Value | undefined {
  const { graph, parts } = layer
  if (parts.has('channel_mix_key')) return channelMix(layer, normed)
  const routed = parts.has('ffn_down_exps') ? experts(layer, normed) : undefined
  const shared = parts.has('ffn_down_shexp') ? dense(layer, normed, '_shexp') : undefined
  const own = parts.has('ffn_down') ? dense(layer, normed, '') : undefined
  const [first, ...others] = [routed, shared, own].filter((one) => one !== undefined)
  return others.reduce<Value | undefined>((sum, one) => sum && graph.over(sum, one), first)
}
