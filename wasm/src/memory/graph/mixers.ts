// The graphs of recurrent layers: Mamba, RWKV, delta nets and short convolutions.
import { attention } from './attention.js'
import { carry, floats, project, rows, widthOf, type LayerContext } from './layer.js'
import type { Value } from './graph.js'

/** A convolution over the last inputs and the batch's. */
function convolve(layer: LayerContext, input: Value, width: number): Value {
  const { graph } = layer
  const taps = [...layer.parts].find(([name]) => /conv1d|shortconv\.conv/.test(name))?.[1][0] ?? 1
  const joined = graph.add(rows(layer, width) + floats(width * (taps - 1)), input)
  return graph.over(graph.add(rows(layer, width), joined))
}

function mamba(layer: LayerContext, normed: Value): Value {
  const { graph, parts } = layer
  const width = parts.get('ssm_out')?.[0] ?? 0
  const both = project(layer, 'ssm_in', normed)
  const size = widthOf(layer, 'ssm_conv1d')
  const convolved = convolve(layer, both, size)
  const low = graph.add(
    rows(layer, parts.get('ssm_dt')?.[0] ?? 0),
    parts.has('ssm_x') ? project(layer, 'ssm_x', convolved) : both,
  )
  const steps = parts.has('ssm_x') ? graph.over(project(layer, 'ssm_dt', low)) : graph.over(low)
  const scanned = graph.add(rows(layer, width) + floats(layer.state), convolved, steps)
  graph.use(scanned)
  const gate = graph.add(rows(layer, width), both)
  const skipped = size === width ? graph.over(convolved) : graph.add(rows(layer, width), convolved)
  const sum = graph.add(rows(layer, width), scanned, skipped)
  return graph.add(rows(layer, layer.embedding), graph.over(graph.add(rows(layer, width), gate, sum)))
}

function gatedDelta(layer: LayerContext, normed: Value): Value {
  const { graph, parts } = layer
  const width = parts.get('ssm_out')?.[0] ?? 0
  const size = widthOf(layer, 'ssm_conv1d')
  const fused = parts.has('attn_qkv') ? 'attn_qkv' : 'ssm_in'
  const convolved = convolve(layer, project(layer, fused, normed), size)
  const half = rows(layer, Math.max(0, (size - width) / 2))
  const query = graph.over(graph.add(half, convolved))
  const key = graph.over(graph.add(half, convolved))
  const mixed = graph.over(graph.add(rows(layer, width) + floats(layer.state), query, key, convolved))
  const gate = graph.over(graph.add(rows(layer, width), normed))
  const gated = graph.add(rows(layer, width), mixed, gate)
  return graph.add(rows(layer, layer.embedding), gated)
}

/** Kimi's delta nets: queries, keys and values have separate convolutions. */
function kimiDelta(layer: LayerContext, normed: Value): Value {
  const { graph } = layer
  const width = widthOf(layer, 'attn_q')
  const joined = ['attn_q', 'attn_k', 'attn_v'].map((name) => {
    const input = project(layer, name, normed)
    return graph.add(input.bytes + floats(3 * width), input)
  })
  const convolved = joined.map((input) => graph.over(graph.add(rows(layer, width), input)))
  const decay = graph.over(graph.add(rows(layer, width), project(layer, 'ssm_f_a', normed)))
  const scanned = graph.add(rows(layer, width) + floats(layer.state), ...convolved, decay)
  const mixed = graph.over(graph.add(rows(layer, width), scanned))
  const gate = graph.over(graph.add(rows(layer, width), normed))
  const whole = graph.add(rows(layer, width), graph.over(mixed, gate))
  return graph.add(rows(layer, layer.embedding), whole)
}

function shortConvolution(layer: LayerContext, normed: Value): Value {
  const { graph, embedding } = layer
  const all = project(layer, 'shortconv.in_proj', normed)
  const input = graph.add(rows(layer, embedding), all)
  const mixed = graph.over(convolve(layer, input, embedding), all)
  return graph.add(rows(layer, embedding), mixed)
}

/** The states' difference to the row before, for the mixtures of both. */
function shifted(layer: LayerContext, normed: Value): Value {
  const { graph } = layer
  return graph.over(graph.add(normed.bytes, normed), normed)
}

function rwkv(layer: LayerContext, normed: Value): Value {
  const { graph, parts, embedding } = layer
  const row = rows(layer, embedding)
  const difference = shifted(layer, normed)
  const seventh = parts.has('time_mix_a1')
  const fused = parts.get('time_mix_lerp_fused') ?? []
  const kinds = fused.slice(1).reduce((product, n) => product * n, 1)
  let mixtures: Value
  if (seventh) mixtures = graph.over(graph.over(graph.add(row * kinds, difference)), normed)
  else {
    const first = graph.over(graph.add(row, difference), normed)
    const low = graph.add(rows(layer, widthOf(layer, 'time_mix_w1')), project(layer, 'time_mix_w1', first))
    mixtures = graph.over(graph.over(graph.add(row * kinds, low), difference), normed)
  }
  const one = () => graph.add(row, mixtures)
  return seventh ? rwkv7(layer, one, row) : rwkv6(layer, one, row)
}

function rwkv6(layer: LayerContext, one: () => Value, row: number): Value {
  const { graph, parts, state } = layer
  const copied = graph.add(floats(state))
  const [key, decay] = [one(), one()]
  // Models with Qwen's feed-forward networks scale the keys by the decay.
  const keys = parts.has('time_mix_first') ? key : graph.over(graph.add(row, key, decay), key)
  const [value, receptance] = [one(), one()]
  const scanned = graph.add(row + floats(state), keys, value, receptance, decay, copied)
  const mixed = graph.add(row, scanned)
  return graph.add(row, graph.over(mixed, one()))
}

function rwkv7(layer: LayerContext, one: () => Value, row: number): Value {
  const { graph, state } = layer
  const copied = graph.add(floats(state))
  const [receptance, decay, key, rate] = [one(), one(), one(), one()]
  const scaled = graph.add(row, key)
  const changed = graph.over(graph.add(row, rate, scaled), scaled)
  const keys = graph.over(changed, key)
  const own = one()
  // All layers read the first one's values.
  const first = carry(layer, 'value', () => own)
  const value = first === own ? own : graph.over(own, graph.over(graph.over(first, own), one()))
  const removal = graph.add(row, graph.over(key))
  const negative = graph.add(row, removal)
  const weighted = graph.over(removal, rate)
  const scanned = graph.add(row + floats(state), receptance, decay, keys, value, negative, weighted, copied)
  const mixed = graph.add(row, scanned)
  const bonus = graph.add(row, value, graph.add(floats(1), graph.over(keys, receptance)))
  return graph.add(row, graph.over(graph.over(bonus, mixed), one()))
}

/** RWKV's feed-forward network. */
export function channelMix(layer: LayerContext, normed: Value): Value {
  const { graph, parts } = layer
  const difference = shifted(layer, normed)
  const key = parts.has('channel_mix_receptance')
    ? graph.add(normed.bytes, difference)
    : graph.over(difference)
  const receptance = parts.has('channel_mix_receptance')
    ? [graph.over(graph.add(normed.bytes, difference, normed))]
    : []
  const inner = graph.over(project(layer, 'channel_mix_key', graph.over(key, normed)))
  return graph.over(graph.add(normed.bytes, inner), ...receptance)
}

/** What a layer does besides its feed-forward network; undefined: nothing. */
export function mix(layer: LayerContext, normed: Value, bias?: Value): Value | undefined {
  const { graph, parts } = layer
  const has = (name: string) => parts.has(name)
  if (has('time_mix_key')) return rwkv(layer, normed)
  if (has('shortconv.in_proj')) return shortConvolution(layer, normed)
  if (has('ssm_conv1d_q')) return kimiDelta(layer, normed)
  if (has('ssm_beta') || has('ssm_ba') || has('ssm_alpha') || has('ssm_beta_alpha'))
    return gatedDelta(layer, normed)
  const attends = has('attn_output') || has('attn_o') || has('attn_output_a')
  if (!has('ssm_in')) return attends ? attention(layer, normed, bias) : undefined
  const recurrent = mamba(layer, normed)
  return attends ? graph.over(attention(layer, normed), recurrent) : recurrent
}
