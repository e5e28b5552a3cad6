// A small BERT with a classification head, made by the packed package.
import { pathToFileURL } from 'node:url'
import type * as Edit from 'ggufscope/edit'
import { packedFile } from './packed.ts'

const { GgufBuilder } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof Edit

export const kWidth = 32
export const kContext = 200
export const kHead = Float32Array.from({ length: 2 * kWidth }, (_, i) => Math.sin(i * 1.7))
export const kBias = [0.25, -0.5]

/** Reproducible pseudorandom numbers. */
function noise(count: number, seed: number, scale: number): Float32Array {
  let state = seed * 2654435761 + 12345
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state / 2 ** 31 - 1) * scale
  })
}

/** A BERT with random weights and two classes. pooling: the value of the key pooling_type. */
export async function smallBert(pooling: number): Promise<Uint8Array> {
  const words = ['what', 'do', 'bees', 'make', 'honey', 'owls', 'sleep', 'by', 'day']
  const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', ...words.map((word) => `\u2581${word}`)]
  const builder = new GgufBuilder()
  builder.set('general.architecture', 'bert')
  for (const [key, value] of Object.entries({
    context_length: kContext,
    embedding_length: kWidth,
    block_count: 1,
    feed_forward_length: 48,
    'attention.head_count': 4,
    pooling_type: pooling,
  }))
    builder.set(`bert.${key}`, value, 'u32')
  builder.set('bert.attention.layer_norm_epsilon', 1e-5, 'f32')
  builder.set('bert.attention.causal', false)
  builder.set('bert.classifier.output_labels', ['yes', 'no'])
  builder.set('tokenizer.ggml.model', 'bert')
  builder.set('tokenizer.ggml.tokens', tokens)
  builder.set(
    'tokenizer.ggml.token_type',
    tokens.map((_, i) => (i < 5 ? 3 : 1)),
  )
  for (const [role, id] of [
    ['padding', 0],
    ['unknown', 1],
    ['bos', 2],
    ['seperator', 3],
    ['mask', 4],
  ] as const)
    builder.set(`tokenizer.ggml.${role}_token_id`, id, 'u32')
  let seed = 1
  const add = (name: string, ...shape: number[]): void => {
    const count = shape.reduce((a, b) => a * b)
    const values = name.includes('norm.weight') ? new Float32Array(count).fill(1) : noise(count, seed++, 0.3)
    builder.addTensor(name, shape, 'F32', values)
  }
  add('token_embd.weight', kWidth, tokens.length)
  add('position_embd.weight', kWidth, kContext)
  const pair = (name: string, columns: number, rows: number): void => {
    add(`${name}.weight`, columns, rows)
    add(`${name}.bias`, rows)
  }
  for (const name of ['token_embd_norm', 'blk.0.attn_output_norm', 'blk.0.layer_output_norm']) {
    add(`${name}.weight`, kWidth)
    add(`${name}.bias`, kWidth)
  }
  for (const name of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) pair(`blk.0.${name}`, kWidth, kWidth)
  pair('blk.0.ffn_up', kWidth, 48)
  pair('blk.0.ffn_down', 48, kWidth)
  builder.addTensor('cls.output.weight', [kWidth, 2], 'F32', kHead)
  builder.addTensor('cls.output.bias', [2], 'F32', Float32Array.from(kBias))
  return await (await builder.build()).bytes()
}
