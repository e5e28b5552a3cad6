// The data flow through a block: edges between steps, for the tensor roles of all architectures. If a model lacks a
// step, its inputs are connected to the steps after it.

/** The names of steps without tensors begin with a star. */
export interface Step {
  title: string
  /** An operation exists if one of the roles that lead to it exists. */
  isOperation?: boolean
}

const steps: Record<string, string> = {
  attn_norm: 'Norm',
  attn_norm_2: 'Second norm',
  attn_q: 'Query',
  attn_k: 'Key##attention',
  attn_v: 'Value##attention',
  attn_qkv: 'Query, key, value',
  attn_q_norm: 'Query norm',
  attn_k_norm: 'Key norm',
  attn_q_a: 'Query, down',
  attn_q_a_norm: 'Norm',
  attn_q_b: 'Query, up',
  attn_kv_a_mqa: 'Key and value, down',
  attn_kv_a_norm: 'Norm',
  attn_kv_b: 'Key and value, up',
  attn_k_b: 'Key, up',
  attn_v_b: 'Value, up',
  attn_sinks: 'Sinks',
  attn_rel_b: 'Relative positions',
  rope_freqs: 'Frequencies of RoPE',
  rope_factors_long: 'Factors of RoPE, long',
  rope_factors_short: 'Factors of RoPE, short',
  attn_gate: 'Gate',
  attn_sub_norm: 'Norm',
  attn_output: 'Output',
  attn_o: 'Output',
  attn_output_norm: 'Norm',
  attn_post_norm: 'Norm',
  post_attention_norm: 'Norm',
  cross_attn_norm: 'Norm',
  cross_attn_q: 'Query',
  cross_attn_k: 'Key, from the encoder',
  cross_attn_v: 'Value, from the encoder',
  cross_attn_o: 'Output',
  ln0: 'Norm',
  ln1: 'Norm',
  attn_ln: 'Norm',
  'attn.query': 'Query',
  'attn.key': 'Key##attention',
  'attn.value': 'Value##attention',
  'attn.out': 'Output',
  attn_out: 'Output',
  cross_attn_ln: 'Norm',
  'cross_attn.query': 'Query',
  'cross_attn.key': 'Key, from the encoder',
  'cross_attn.value': 'Value, from the encoder',
  'cross_attn.out': 'Output',
  'att.receptance': 'Receptance',
  'att.key': 'Key##attention',
  'att.value': 'Value##attention',
  'att.gate': 'Gate',
  'att.time_decay': 'Decay',
  'att.ln_x': 'Norm',
  'att.output': 'Output',
  ssm_in: 'Input',
  ssm_conv1d: 'Convolution',
  ssm_x: 'Step, B and C',
  ssm_dt: 'Step size',
  ssm_dt_norm: 'Norm',
  ssm_a: 'A',
  ssm_d: 'D',
  ssm_norm: 'Norm',
  ssm_out: 'Output',
  time_mix_receptance: 'Receptance',
  time_mix_key: 'Key##attention',
  time_mix_value: 'Value##attention',
  time_mix_gate: 'Gate',
  time_mix_decay: 'Decay',
  time_mix_ln: 'Norm',
  time_mix_output: 'Output',
  channel_mix_key: 'Key##attention',
  channel_mix_value: 'Value##attention',
  channel_mix_receptance: 'Receptance',
  'ffn.key': 'Key##attention',
  'ffn.value': 'Value##attention',
  'ffn.receptance': 'Receptance',
  ln2: 'Norm',
  mlp_ln: 'Norm',
  'mlp.0': 'Up##network',
  'mlp.2': 'Down',
  ffn_norm: 'Norm',
  ffn_norm_exps: 'Norm of the experts',
  ffn_gate: 'Gate',
  ffn_up: 'Up##network',
  ffn_sub_norm: 'Norm',
  ffn_down: 'Down',
  ffn_gate_inp: 'Router',
  exp_probs_b: 'Router bias',
  ffn_gate_exps: 'Gate of the experts',
  ffn_up_exps: 'Up of the experts',
  ffn_gate_up_exps: 'Gate and up of the experts',
  ffn_down_exps: 'Down of the experts',
  ffn_gate_inp_shexp: 'Gate of the shared expert',
  ffn_gate_shexp: 'Gate of the shared expert',
  ffn_up_shexp: 'Up of the shared expert',
  ffn_down_shexp: 'Down of the shared expert',
  post_ffw_norm: 'Norm',
  layer_output_norm: 'Norm',
}

const operations: Record<string, string> = {
  '*attention': 'Attention',
  '*cross': 'Attention to the encoder',
  '*indexer': 'Choice of positions',
  '*scan': 'State space scan',
  '*wkv': 'WKV',
  '*conv': 'Short convolution',
  '*add': 'Add',
  '*addcross': 'Add',
  '*multiply': 'Multiply',
  '*act': 'Activation',
  '*actx': 'Activation',
  '*acts': 'Activation',
  '*router': 'Choice of experts',
  '*mix': 'Sum of the experts',
  '*encoder': 'Output of the encoder',
  '*class': 'Class in front',
  '*addvalue': 'Mix with the value of block 0',
}

// "a b > c": a and b lead to c.
const plain = `
  *in > attn_norm
  attn_norm > attn_q attn_k attn_v attn_qkv attn_q_a attn_kv_a_mqa attn_gate indexer.attn_k indexer.proj
  attn_q > attn_q_norm > *attention
  attn_k > attn_k_norm > *attention
  attn_v attn_qkv attn_sinks attn_rel_b > *attention
  rope_freqs rope_factors_long rope_factors_short > *attention
  attn_q_a > attn_q_a_norm > attn_q_b > *attention
  attn_kv_a_mqa > attn_kv_a_norm > attn_kv_b attn_k_b attn_v_b > *attention
  attn_q_a_norm > indexer.attn_q_b > *indexer
  indexer.attn_k > indexer.k_norm > *indexer
  indexer.proj > *indexer > *attention
  *attention > attn_sub_norm > attn_output attn_o
  attn_gate > attn_output
  attn_output attn_o > attn_post_norm > *add1
  *add1 > cross_attn_norm > cross_attn_q > *cross > cross_attn_o > *addcross
  *encoder > cross_attn_k cross_attn_v > *cross
  cross_attn_rel_b > *cross
  attn_norm > ssm_in > ssm_conv1d > ssm_x > ssm_dt_norm > ssm_dt > *scan
  ssm_x > ssm_b_norm ssm_c_norm > *scan
  attn_norm > ssm_alpha ssm_beta ssm_ba > *scan
  attn_norm > ssm_f_a > ssm_f_b > *scan
  attn_norm > ssm_g_a > ssm_g_b > attn_output
  ssm_conv1d ssm_a ssm_d > *scan > ssm_norm > ssm_out > *add1
  attn_norm > shortconv.in_proj > shortconv.conv > *conv > shortconv.out_proj > *add1
  *in > *add1 > *addcross > attn_output_norm > *add2
  ffn_gate ffn_up > *act > ffn_sub_norm > ffn_down
  ffn_gate_inp exp_probs_b > *router > *mix
  ffn_gate_exps ffn_up_exps ffn_gate_up_exps > *actx > ffn_down_exps > *mix
  ffn_gate_shexp ffn_up_shexp > *acts > ffn_down_shexp > *mix
  ffn_gate_inp_shexp > *mix
  ffn_norm_exps > ffn_gate_inp
  ffn_down *mix > post_ffw_norm > *add2
  *add2 > layer_output_norm > layer_output_scale > *out
`

/** Tensors outside the blocks that the attention of every block uses. */
export const isOfAttention = (role: string): boolean => /^rope_(freqs|factors_long|factors_short)$/.test(role)

/** Steps beside each other, from the left to the right. */
export const leftToRight = [
  ['attn_q', 'attn_q_norm', 'ssm_conv1d_q', 'attn.query', 'cross_attn.query'],
  ['attn_k', 'attn_k_norm', 'ssm_conv1d_k', 'attn.key', 'cross_attn.key'],
  ['attn_v', 'ssm_conv1d_v', 'attn.value', 'cross_attn.value'],
  ['attn_gate'],
  ['rope_freqs', 'rope_factors_long', 'rope_factors_short', 'attn_sinks', 'attn_rel_b'],
]

/** Steps that a model may do without: what is before them then leads to what is after them. */
const isBypassed = (name: string) => /norm|ln|ls\d$|layer_output_scale|lerp_x$/.test(name)

/** The roles that read the input of the feed-forward network. */
const readers =
  'ffn_norm_exps ffn_gate ffn_up ffn_gate_inp ffn_gate_exps ffn_up_exps ffn_gate_up_exps ffn_gate_shexp ffn_up_shexp ffn_gate_inp_shexp'

export type Edge = readonly [from: string, to: string]

function edgesOf(text: string): Edge[] {
  return text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const parts = line.trim().split(' > ').map((part) => part.split(' ')) // prettier-ignore
      return parts.slice(1).flatMap((to, i) => parts[i]!.flatMap((a) => to.map((b): Edge => [a, b])))
    })
}

/** In linear attention, query, key and value pass through convolutions before the scan. */
function recurrent(edges: Edge[], roles: ReadonlySet<string>): Edge[] {
  const convolutions = [
    ['attn_qkv', 'ssm_conv1d'],
    ['attn_q', 'ssm_conv1d_q'],
    ['attn_k', 'ssm_conv1d_k'],
    ['attn_v', 'ssm_conv1d_v'],
  ] as const
  for (const [from, to] of convolutions) {
    if (!roles.has(to) || roles.has('ssm_in')) continue
    edges = edges.filter(([one]) => one !== from)
    edges.push([roles.has(from) ? from : 'attn_norm', to], [to, '*scan'])
    if (roles.has('attn_gate')) edges.push(['attn_gate', 'ssm_out'])
  }
  return edges
}

/** Mamba's input matrix makes a gate of the scan's output, too, and Mamba 2's makes the step sizes, B and C. */
function gateScan(edges: Edge[], roles: ReadonlySet<string>) {
  if (!roles.has('ssm_in') || roles.has('ssm_ba') || roles.has('ssm_beta_alpha')) return
  if (!roles.has('ssm_x')) edges.push(['ssm_in', '*scan'])
  edges.splice(
    edges.findIndex((edge) => same(edge, ['*scan', 'ssm_norm'])),
    1,
  )
  edges.push(['*scan', '*multiply'], ['ssm_in', '*multiply'], ['*multiply', 'ssm_norm'])
}

/** The edges of a block with these roles. parallel: attention and feed-forward network both read the block's input. */
function flowOf(roles: ReadonlySet<string>, parallel: boolean): Edge[] {
  const edges = recurrent(edgesOf(plain), roles)
  const has = (...names: string[]) => names.some((name) => roles.has(name))
  // If there is no other norm before the feed-forward network, post_attention_norm is that norm.
  const normOfFfn = !has('ffn_norm') && has('post_attention_norm') && !has('post_ffw_norm')
  if (normOfFfn) edges.push(['*addcross', 'post_attention_norm'])
  else {
    const at = edges.findIndex(([from, to]) => from === 'attn_output' && to === 'attn_post_norm')
    edges.splice(at, 1, ['attn_output', 'post_attention_norm'], ['post_attention_norm', 'attn_post_norm'])
  }
  gateScan(edges, roles)
  if (has('ssm_norm') && !has('ssm_out')) edges.push(['ssm_norm', 'attn_output'])
  // attn_norm_2 is the norm of the attention (Falcon), or precedes the channel mix (RWKV) or feed-forward network.
  const isOfAttention = has('attn_norm_2') && has('attn_qkv') && !has('attn_output_norm')
  if (isOfAttention) {
    edges.splice(0, edges.length, ...edges.filter((edge) => !same(edge, ['attn_norm', 'attn_qkv'])))
    edges.push(['*in', 'attn_norm_2'], ['attn_norm_2', 'attn_qkv'])
  }
  const noNorm = !has(
    'ffn_norm',
    'post_attention_norm',
    'attn_post_norm',
    'attn_output_norm',
    'post_ffw_norm',
  )
  const second = has('attn_norm_2') && !isOfAttention
  const norm = normOfFfn ? 'post_attention_norm' : second ? 'attn_norm_2' : 'ffn_norm'
  const isShared = noNorm && norm === 'ffn_norm' && has('attn_norm')
  if (!normOfFfn && !isShared) edges.push([parallel ? '*in' : 'attn_output_norm', norm])
  for (const reader of readers.split(' ')) edges.push([isShared ? 'attn_norm' : norm, reader])
  return edges
}

/** Titles by role or operation. They are keys of the tables in web/src/texts. */
export const titles: Readonly<Record<string, string>> = { ...steps, ...operations }

/**
 * The place of a role in the order of the flow. One that is in no list stands after those whose name it continues, or else after
 * those that begin with the same word.
 */
export function placeOf(role: string): number {
  const known = Object.keys(steps)
  const at = known.indexOf(role)
  if (at >= 0) return at
  const continued = known.filter((name) => role.startsWith(name)).sort((a, b) => b.length - a.length)[0]
  if (continued !== undefined) return known.indexOf(continued) + 0.5
  const [word = ''] = role.split(/[_.]/)
  const alike = known.findLastIndex((name) => name.split('_')[0] === word)
  return alike < 0 ? known.length : alike + 0.5
}

/** A row of a table, by a name that a file chose: "constructor" is no row. */
export const rowOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** A step's title. Several operations of a flow may be alike: "*add1" and "*add2". */
export const titleOf = (name: string): string =>
  rowOf(titles, name) ??
  rowOf(titles, name.replace(/^(\*(add|multiply|act)).*/, '$1')) ??
  name.replaceAll(/[._]/g, ' ')

/** Removes a step and connects its inputs to the steps after it. */
function without(edges: readonly Edge[], name: string): Edge[] {
  const before = edges.filter(([, to]) => to === name).map(([from]) => from)
  const after = edges.filter(([from]) => from === name).map(([, to]) => to)
  return [
    ...edges.filter(([from, to]) => from !== name && to !== name),
    ...before.flatMap((from) => after.map((to): Edge => [from, to])),
  ]
}

const same = ([a, b]: Edge, [c, d]: Edge) => a === c && b === d

export interface Flow {
  names: string[]
  edges: Edge[]
}

/** The steps of a text model's block and the edges between them. Roles that no list has are left out. */
export function blockFlow(roles: readonly string[], parallel: boolean): Flow {
  const present = new Set(roles)
  const flow = settled(flowOf(present, parallel), present)
  // A step may lead to one that no list has.
  return roles.every((role) => flow.names.includes(role)) ? { ...flow, edges: anchored(flow.edges) } : flow
}

/** The roles that a wiring names. */
export const rolesOf = (wiring: string): Set<string> =>
  new Set(wiring.split(/[\s>]+/).filter((name) => name !== '' && !name.startsWith('*')))

/** The steps and edges of a wiring, as far as these roles exist. */
export const wired = (wiring: string, roles: readonly string[]): Flow =>
  settled(edgesOf(wiring), new Set(roles))

/** Whether a wiring is that of a block with these roles: it names all of them. Text models may have some that it does not. */
export function takes(wiring: string | undefined, roles: readonly string[]): boolean {
  const known = rolesOf(wiring ?? '')
  return roles.every((role) => (wiring === undefined ? !isOfAnotherFlow(role) : known.has(role)))
}

/** Architectures with such roles do not add a block's parts to its input, or mix tokens in a way that no list has. */
const isOfAnotherFlow = (role: string): boolean => /^(hc_|altup_|time_mix_)/.test(role)

/** An operation computes from several inputs or in place; these are inputs themselves. */
const isOperation = (name: string) => name.startsWith('*') && !/^\*(in|out|encoder)$/.test(name)

/** Removes the steps that a block does not have, and what then has no meaning. */
function settled(all: readonly Edge[], present: ReadonlySet<string>): Flow {
  let edges = [...all]
  const absent = [...new Set(edges.flat())].filter((name) => !name.startsWith('*') && !present.has(name))
  // Edges of an absent step belong to an alternative that this model does not use.
  edges = edges.filter((edge) => !edge.some((name) => absent.includes(name) && !isBypassed(name)))
  for (const name of absent) if (isBypassed(name)) edges = without(edges, name)
  // Removes operations that have no input besides the block's, and sums and products with fewer than two inputs.
  for (let before = -1; before !== edges.length;) {
    before = edges.length
    for (const name of new Set(edges.flat().filter(isOperation))) {
      const inputs = new Set(edges.filter(([, to]) => to === name).map(([from]) => from))
      if (inputs.size === 0) edges = edges.filter(([from]) => from !== name)
      else if (
        inputs.size < 2 &&
        (/^\*(add|multiply|class)/.test(name) || [...inputs].every((one) => one === '*in'))
      )
        edges = without(edges, name)
    }
    edges = edges.filter((edge, i) => edge[0] !== edge[1] && edges.findIndex((one) => same(one, edge)) === i)
  }
  return { names: [...new Set(edges.flat())], edges }
}

/** Connects steps without successors to the block's output. Steps without inputs are parameters and stay unchanged. */
function anchored(edges: readonly Edge[]): Edge[] {
  const from = new Set(edges.map(([one]) => one))
  const ends = new Set(edges.map(([, to]) => to).filter((to) => to !== '*out' && !from.has(to)))
  return [...edges, ...[...ends].map((end): Edge => [end, '*out'])]
}
