// Files for the benchmark of drafts: models with random layers whose logits are all 0, and drafts for them.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tensorBytes, writeHeader, type Model as File, type Tensor } from '../../fixtures/gguf.ts'
import { array, f32, u32 } from '../../fixtures/models.ts'
import { llamaModel, pool, type LlamaShape, type Mix } from '../../fixtures/synthetic.ts'

const kModels = join(import.meta.dirname, '../../../build/bench-models')

/** The same file as one of glm4moe with a head, whose layer is as the others. */
function withHead(model: File, shape: LlamaShape): File {
  const rename = (name: string) => name.replace('ffn_norm', 'post_attention_norm')
  const tensors = model.tensors!.map((tensor) => ({ ...tensor, name: rename(tensor.name) }))
  const last = tensors.filter(({ name }) => name.startsWith('blk.0.'))
  const head = `blk.${shape.blocks}.`
  const { type } = last.find(({ name }) => name.endsWith('attn_q.weight'))!
  const norms = ['enorm', 'hnorm', 'shared_head_norm'].map((name): Tensor => ({
    name: `${head}nextn.${name}.weight`,
    shape: [shape.width],
    type: 'F32',
  }))
  return {
    metadata: [
      ...model.metadata!.map(([key, value]): NonNullable<File['metadata']>[number] =>
        key === 'general.architecture'
          ? [key, { type: 'string', value: 'glm4moe' }]
          : key === 'llama.block_count'
            ? ['glm4moe.block_count', u32(shape.blocks + 1)]
            : [String(key).replace('llama.', 'glm4moe.'), value],
      ),
      ['glm4moe.nextn_predict_layers', u32(1)],
    ],
    tensors: [
      ...tensors,
      ...last.map((tensor) => ({ ...tensor, name: tensor.name.replace('blk.0.', head) })),
      { name: `${head}nextn.eh_proj.weight`, shape: [2 * shape.width, shape.width], type },
      ...norms,
    ],
  }
}

/** The metadata of a draft in the target's shape, with its vocabulary. */
function draftKeys(
  target: File,
  architecture: 'eagle3' | 'dflash',
  blocks: number,
  layers: readonly number[],
): NonNullable<File['metadata']>[number][] {
  const renamed = target.metadata!.map(([key, value]): NonNullable<File['metadata']>[number] =>
    key === 'general.architecture'
      ? [key, { type: 'string', value: architecture }]
      : key === 'llama.block_count'
        ? [`${architecture}.block_count`, u32(blocks)]
        : [String(key).replace('llama.', `${architecture}.`), value],
  )
  return [...renamed, [`${architecture}.target_layers`, array('i32', [...layers])]]
}

/** As published EAGLE-3 drafts: one layer, states of three layers, and the 32,000 likeliest tokens. */
function eagle3(shape: LlamaShape, mix: Mix): File {
  const { width, blocks } = shape
  const target = llamaModel({ ...shape, blocks: 1 }, mix)
  const known = Math.min(32_000, shape.vocabulary)
  const type = target.tensors!.find(({ name }) => name === 'blk.0.attn_q.weight')!.type
  const layer = target.tensors!.flatMap((tensor): Tensor[] => {
    if (tensor.name === 'token_embd.weight') return []
    const wide = /attn_[qkv]\.weight$/.test(tensor.name)
    return [wide ? { ...tensor, shape: [2 * width, tensor.shape[1]!] } : tensor]
  })
  return {
    metadata: [
      ...draftKeys(target, 'eagle3', 1, [2, blocks >> 1, blocks - 3]),
      ['eagle3.target_hidden_size', u32(width)],
    ],
    tensors: [
      ...layer,
      { name: 'blk.0.attn_norm_2.weight', shape: [width], type: 'F32' },
      { name: 'fc.weight', shape: [3 * width, width], type },
      { name: 'output.weight', shape: [width, known], type },
      { name: 'd2t', shape: [known], type: 'I64' },
    ],
  }
}

/** As published DFlash drafts: five layers, states of five layers, and blocks of 16 tokens. */
function dflash(shape: LlamaShape, mix: Mix): File {
  const { width, heads, blocks } = shape
  const kLayers = 5
  const target = llamaModel({ ...shape, blocks: kLayers }, mix)
  const { type } = target.tensors!.find(({ name }) => name === 'blk.0.attn_q.weight')!
  const layers = Array.from({ length: kLayers }, (_, i) => 1 + Math.round((i * (blocks - 4)) / (kLayers - 1)))
  const norms = Array.from({ length: kLayers }, (_, i) =>
    ['q', 'k'].map((name): Tensor => ({
      name: `blk.${i}.attn_${name}_norm.weight`,
      shape: [width / heads],
      type: 'F32',
    })),
  )
  return {
    metadata: [
      ...draftKeys(target, 'dflash', kLayers, layers),
      ['dflash.block_size', u32(16)],
      ['dflash.rope.freq_base', f32(10_000)],
      ['tokenizer.ggml.mask_token_id', u32(shape.vocabulary - 1)],
    ],
    tensors: [
      ...target.tensors!.filter(({ name }) => name !== 'token_embd.weight'),
      ...norms.flat(),
      { name: 'fc.weight', shape: [kLayers * width, width], type },
      { name: 'enc.output_norm.weight', shape: [width], type: 'F32' },
    ],
  }
}

const withOutput = (model: File, shape: LlamaShape): File => ({
  ...model,
  tensors: [
    ...model.tensors!,
    { name: 'output.weight', shape: [shape.width, shape.vocabulary], type: model.tensors![0]!.type },
  ],
})

const kMakers = {
  plain: (shape: LlamaShape, mix: Mix) => withOutput(llamaModel(shape, mix), shape),
  head: (shape: LlamaShape, mix: Mix) => withHead(withOutput(llamaModel(shape, mix), shape), shape),
  eagle3,
  dflash,
} as const

async function writeTensor(tensor: Tensor, part: Uint8Array<ArrayBuffer>): Promise<void> {
  const [length = 0] = tensor.shape
  if (tensor.name === 'output.weight') return
  if (tensor.name === 'd2t')
    part.set(new Uint8Array(BigInt64Array.from({ length }, (_, i) => BigInt(i)).buffer))
  else if (tensor.shape.length === 1) part.set(new Uint8Array(new Float32Array(length).fill(1).buffer))
  else {
    const rows = await pool(tensor.type as string, length, 0.64 / Math.sqrt(length))
    for (let at = 0; at < part.length; at += rows.length) part.set(rows.subarray(0, part.length - at), at)
  }
}

/** A file with random layers and an output of zeros, or a draft for such a model of that shape. */
export async function zeroFile(shape: LlamaShape, mix: Mix, kind: keyof typeof kMakers): Promise<string> {
  const path = join(kModels, `zero-${shape.name}-${mix}-${kind}.gguf`)
  if (existsSync(path)) return path
  const model = kMakers[kind](shape, mix)
  const { header, offsets, size } = writeHeader(model)
  const bytes = new Uint8Array(size)
  bytes.set(header)
  for (const [i, tensor] of model.tensors!.entries())
    await writeTensor(tensor, bytes.subarray(offsets[i], offsets[i]! + tensorBytes(tensor)))
  mkdirSync(kModels, { recursive: true })
  writeFileSync(path, bytes)
  return path
}
