// A narrow llama of one layer, or of more that are equal, with random weights, made by the packed package, for tests whose time grows with the size of
// a model.
import { pathToFileURL } from 'node:url'
import type * as Edit from 'ggufscope/edit'
import { gaussian } from '../fixtures/synthetic.ts'
import { packedFile } from './packed.ts'

const { GgufBuilder } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof Edit

const kWidth = 64
const kHidden = 96
const kHeads = 4
const kKeyHeads = 2
const kTokens = ['<unk>', '<s>', '</s>', ...'\u2581abcdefghijklmnopqrstuvwxyzO,.']

/** Two query heads for each key head; matrices of two types in one product. */
export async function smallLlama(layers = 1): Promise<Uint8Array> {
  const builder = new GgufBuilder()
  builder.set('general.architecture', 'llama')
  for (const [key, value] of Object.entries({
    context_length: 512,
    embedding_length: kWidth,
    block_count: layers,
    feed_forward_length: kHidden,
    'attention.head_count': kHeads,
    'attention.head_count_kv': kKeyHeads,
    'rope.dimension_count': kWidth / kHeads,
  }))
    builder.set(`llama.${key}`, value, 'u32')
  builder.set('llama.attention.layer_norm_rms_epsilon', 1e-5, 'f32')
  builder.set('tokenizer.ggml.model', 'llama')
  builder.set('tokenizer.ggml.tokens', kTokens)
  builder.set('tokenizer.ggml.scores', new Float32Array(kTokens.length))
  builder.set(
    'tokenizer.ggml.token_type',
    Int32Array.from(kTokens, (_, i) => [2, 3, 3][i] ?? 1),
  )
  for (const [id, role] of ['unknown', 'bos', 'eos'].entries())
    builder.set(`tokenizer.ggml.${role}_token_id`, id, 'u32')
  builder.set('tokenizer.ggml.add_space_prefix', false)
  let seed = 1
  const matrix = (names: readonly string[], from: number, to: number, type = 'Q8_0'): void => {
    const values = gaussian(from * to, 1.5 / Math.sqrt(from), seed++)
    for (const name of names) builder.addTensor(`${name}.weight`, [from, to], type, values)
  }
  const norm = (names: readonly string[]): void => {
    for (const name of names)
      builder.addTensor(`${name}.weight`, [kWidth], 'F32', new Float32Array(kWidth).fill(1))
  }
  const keys = (kWidth / kHeads) * kKeyHeads
  matrix(['token_embd'], kWidth, kTokens.length)
  norm(['output_norm'])
  matrix(['output'], kWidth, kTokens.length)
  const inLayers = (name: string): string[] => Array.from({ length: layers }, (_, il) => `blk.${il}.${name}`)
  norm(inLayers('attn_norm'))
  matrix(inLayers('attn_q'), kWidth, kWidth)
  matrix(inLayers('attn_k'), kWidth, keys)
  matrix(inLayers('attn_v'), kWidth, keys, 'Q5_0')
  matrix(inLayers('attn_output'), kWidth, kWidth)
  norm(inLayers('ffn_norm'))
  matrix(inLayers('ffn_gate'), kWidth, kHidden)
  matrix(inLayers('ffn_up'), kWidth, kHidden)
  matrix(inLayers('ffn_down'), kHidden, kWidth)
  return await (await builder.build()).bytes()
}
