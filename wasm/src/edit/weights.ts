// Which tensors a mixture quantizes, and the kind of each.
import type { TensorKind } from './mixtures.js'

// These tensors are small, or unusually sensitive, so they are not quantized.
const kKept = [
  '_norm.weight',
  'ffn_gate_inp.weight',
  'ffn_gate_tid2eid.weight',
  'altup',
  'laurel',
  'per_layer_model_proj',
  'ssm_conv1d',
  'shortconv.conv.weight',
  'indexer.k_proj.weight',
  'indexer.q_proj.weight',
  'time_mix_first.weight',
  'time_mix_w0.weight',
  'time_mix_w1.weight',
  'time_mix_w2.weight',
  'time_mix_v0.weight',
  'time_mix_v1.weight',
  'time_mix_v2.weight',
  'time_mix_a0.weight',
  'time_mix_a1.weight',
  'time_mix_a2.weight',
  'time_mix_g1.weight',
  'time_mix_g2.weight',
  'time_mix_decay_w1.weight',
  'time_mix_decay_w2.weight',
  'time_mix_lerp_fused.weight',
  'attn_rel_b.weight',
  '.position_embd',
  'sam.pos_embd',
  'sam.neck.',
  'sam.net_',
  '.rel_pos',
  '.patch_embd',
  '.patch_merger',
  'a.rvq.codebook',
  'mm.a.code_embd',
]
const kKeptWhole = new Set(['position_embd.weight', 'token_types.weight'])

/** Whether a mixture quantizes the tensor: weight matrices, except the sensitive ones above. */
export function isWeights(name: string, shape: readonly number[], adapter: boolean): boolean {
  const dimensions = shape.findLastIndex((n) => n !== 1) + 1
  if (dimensions < 2) return false
  if (adapter) return /\.lora_[ab]$/.test(name)
  return name.endsWith('weight') && !kKeptWhole.has(name) && !kKept.some((part) => name.includes(part))
}

const kKinds: readonly (readonly [part: string, kind: TensorKind])[] = [
  // A fused matrix of queries, keys and values counts as values.
  ['attn_qkv.weight', 'attn_v'],
  ['attn_kv_b.weight', 'attn_v'],
  ['attn_v.weight', 'attn_v'],
  ['attn_k.weight', 'attn_k'],
  ['attn_q.weight', 'attn_q'],
  ['attn_output.weight', 'attn_output'],
  ['ffn_up', 'ffn_up'],
  ['ffn_gate', 'ffn_gate'],
  ['ffn_down', 'ffn_down'],
]
const kEmbeddings = new Set(['token_embd.weight', 'per_layer_token_embd.weight'])

/** Whether a tensor is the embeddings or the output, for which importance matrices usually have no entry. */
export const isOuter = (name: string): boolean => name === 'output.weight' || kEmbeddings.has(name)

/** tied: there is no output.weight, so the embeddings are also the output matrix. */
export function kindOf(name: string, tied: boolean): TensorKind | undefined {
  if (name === 'output.weight') return 'output'
  if (kEmbeddings.has(name)) return tied ? 'output' : 'embedding'
  return kKinds.find(([part]) => name.includes(part))?.[1]
}

/** The block number at the beginning of a name. */
export const blockOf = (name: string): number => Number(/^blk\.(\d+)/.exec(name)?.[1] ?? -1)

/** Compares tensors in the order of llama.cpp's loader: by block, then by name. */
export function inLoadersOrder(a: string, b: string): number {
  return blockOf(a) - blockOf(b) || (a < b ? -1 : a > b ? 1 : 0)
}
