// Converts files of ggml's example programs, and of rwkv.cpp with RWKV 6, to equivalent GGUF files. The old files are
// made from today's reference models.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufFile, LazyArray } from 'ggufscope'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { load } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof import('ggufscope/engine')
const kArchitectures = join(kRoot, '../shared/vectors/arch')
const skip = skipWithout(kArchitectures)

interface OldTensor {
  name: string
  shape: readonly number[]
  data: Uint8Array
}

const words = (...values: number[]) => new Uint8Array(Uint32Array.from(values).buffer)

/** Makes a file. sizes: the integers at its begin; vocabulary: absent in rwkv.cpp's files. All tensors are F32. */
function container(
  magic: number,
  sizes: readonly number[],
  vocabulary: readonly Uint8Array[] | undefined,
  tensors: readonly OldTensor[],
): Uint8Array {
  const parts: Uint8Array[] = [words(magic, ...sizes)]
  if (vocabulary) parts.push(words(vocabulary.length))
  for (const token of vocabulary ?? []) parts.push(words(token.length), token)
  for (const { name, shape, data } of tensors) {
    const letters = Buffer.from(name)
    parts.push(words(shape.length, letters.length, 0, ...shape), letters, data)
  }
  return new Uint8Array(Buffer.concat(parts))
}

/** The tensors under their old names. A tensor with the name null is left out. */
async function oldTensors(
  file: GgufFile,
  rename: (name: string) => string | null,
  reshape: (name: string, shape: readonly number[]) => readonly number[] = (_, shape) => shape,
): Promise<OldTensor[]> {
  const tensors: OldTensor[] = []
  for (const { name, shape } of file.tensors) {
    const old = rename(name)
    if (old !== null) tensors.push({ name: old, shape: reshape(name, shape), data: await file.read(name) })
  }
  return tensors
}

async function saysTheSame(converted: Uint8Array, reference: Uint8Array): Promise<void> {
  const [a, b] = await Promise.all([load(reference), load(converted)])
  const tokens = [1, 7, 3, 12, 5, 9]
  const [want, got] = await Promise.all([a.evaluate(tokens), b.evaluate(tokens)])
  a.close()
  b.close()
  assert.ok(want.every(Number.isFinite) && want.some((value) => value !== want[0]))
  assert.deepEqual(got, want)
}

const number = (file: GgufFile, key: string) => Number(file.metadata.get(key))
/** The bytes of tokens that are written in GPT-2's alphabet. */
const bare = (file: GgufFile): Uint8Array[] => {
  const { tokens } = file.tokenizer()
  return Array.from({ length: file.tokenizer().size }, (_, id) => tokens.at(id)!.bytes)
}

const kGpt2Parts: readonly (readonly [old: string, today: string])[] = [
  ['ln_1/g', 'attn_norm.weight'],
  ['ln_1/b', 'attn_norm.bias'],
  ['ln_2/g', 'ffn_norm.weight'],
  ['ln_2/b', 'ffn_norm.bias'],
  ['attn/c_attn/w', 'attn_qkv.weight'],
  ['attn/c_attn/b', 'attn_qkv.bias'],
  ['attn/c_proj/w', 'attn_output.weight'],
  ['attn/c_proj/b', 'attn_output.bias'],
  ['mlp/c_fc/w', 'ffn_up.weight'],
  ['mlp/c_fc/b', 'ffn_up.bias'],
  ['mlp/c_proj/w', 'ffn_down.weight'],
  ['mlp/c_proj/b', 'ffn_down.bias'],
]

test('a GPT-2 of ggml', { skip }, async () => {
  const path = join(kArchitectures, 'gpt2/model.gguf')
  using today = await open(path)
  const outer: Record<string, string> = {
    'token_embd.weight': 'model/wte',
    'position_embd.weight': 'model/wpe',
    'output_norm.weight': 'model/ln_f/g',
    'output_norm.bias': 'model/ln_f/b',
  }
  const tensors = await oldTensors(today, (name) => {
    const [, layer, part] = /^blk\.(\d+)\.(.*)$/.exec(name) ?? []
    if (layer === undefined) return outer[name]!
    return `model/h${layer}/${kGpt2Parts.find(([, other]) => other === part)![0]}`
  })
  const of = (key: string) => number(today, `gpt2.${key}`)
  const tokens = bare(today)
  const sizes = [
    tokens.length,
    of('context_length'),
    of('embedding_length'),
    of('attention.head_count'),
    of('block_count'),
    0,
  ]
  using old = await open(container(0x67676d6c, sizes, tokens, tensors))
  assert.equal(old.metadata.get('general.architecture'), 'gpt2')
  const bytes = await (await (await old.edit()).build()).bytes()
  using file = await open(bytes)
  assert.deepEqual(
    file.tensors.map(({ name, shape }) => ({ name, shape })),
    today.tensors.map(({ name, shape }) => ({ name, shape })),
  )
  assert.deepEqual(
    file.lint().filter(({ level }) => level === 'error'),
    [],
  )
  for (const key of ['feed_forward_length', 'block_count', 'attention.layer_norm_epsilon'])
    assert.equal(number(file, `gpt2.${key}`), of(key), key)
  await saysTheSame(bytes, readFileSync(path))
})

test('a GPT-J of ggml', async () => {
  const path = join(kRoot, 'tests/fixtures/gptj/model.gguf')
  using today = await open(path)
  const tensors = await oldTensors(today, (name) =>
    name
      .replace('token_embd', 'transformer.wte')
      .replace('output_norm', 'transformer.ln_f')
      .replace(/^output\./, 'lm_head.')
      .replace(/^blk\./, 'transformer.h.')
      .replace('attn_norm', 'ln_1')
      .replace(/attn_([qkv])\./, 'attn.$1_proj.')
      .replace('attn_output', 'attn.out_proj')
      .replace('ffn_up', 'mlp.fc_in')
      .replace('ffn_down', 'mlp.fc_out'),
  )
  const of = (key: string) => number(today, `gptj.${key}`)
  const letters = Array.from({ length: 20 }, (_, i) => Uint8Array.of(0x61 + i))
  const sizes = [
    letters.length,
    of('context_length'),
    of('embedding_length'),
    of('attention.head_count'),
    of('block_count'),
    of('rope.dimension_count'),
    0,
  ]
  using old = await open(container(0x67676d6c, sizes, letters, tensors))
  assert.equal(old.metadata.get('general.architecture'), 'gptj')
  const bytes = await (await (await old.edit()).build()).bytes()
  using file = await open(bytes)
  assert.deepEqual(
    file.tensors.map(({ name }) => name),
    today.tensors.map(({ name }) => name),
  )
  // The embeddings have more rows than the vocabulary has words.
  const tokens = file.metadata.get('tokenizer.ggml.tokens') as LazyArray<string>
  assert.equal(tokens.length, today.tensor('token_embd.weight')!.shape[1])
  assert.equal(tokens.at(-1), '[PAD25]')
  await saysTheSame(bytes, readFileSync(path))
})

test("GPT-2's merges come back from its bare words", { skip }, async () => {
  using today = await open(join(kShared, 'vocab/ggml-vocab-gpt-2.gguf'))
  const tokens = bare(today)
  using old = await open(container(0x67676d6c, [tokens.length, 1024, 768, 12, 12, 0], tokens, []))
  using file = await open(await (await (await old.edit()).build()).bytes())
  for (const key of ['tokens', 'merges', 'token_type']) {
    const array = (one: GgufFile) => (one.metadata.get(`tokenizer.ggml.${key}`) as LazyArray).slice()
    assert.deepEqual(array(file), array(today), key)
  }
  for (const key of ['model', 'pre', 'bos_token_id', 'eos_token_id'])
    assert.equal(file.metadata.get(`tokenizer.ggml.${key}`), today.metadata.get(`tokenizer.ggml.${key}`), key)
  const text = readFileSync(join(kShared, 'vocab/ggml-vocab-gpt-2.gguf.inp'), 'utf8')
  assert.deepEqual(file.tokenizer().encode(text), today.tokenizer().encode(text))
})

test("rwkv.cpp's version 6", { skip }, async () => {
  using today = await open(join(kArchitectures, 'rwkv6/model.gguf'))
  // rwkv.cpp does not rescale the layers.
  const plain = await today.edit()
  plain.set('rwkv6.rescale_every_n_layers', 0, 'u32')
  const reference = await (await plain.build()).bytes()
  const head = number(today, 'rwkv6.wkv.head_size')
  const tensors = await oldTensors(
    today,
    (name) => {
      if (name.includes('lerp_fused')) return null
      return name
        .replace('token_embd_norm', 'blocks.0.ln0')
        .replace('token_embd', 'emb')
        .replace('output_norm', 'ln_out')
        .replace(/^output\./, 'head.')
        .replace(/^blk/, 'blocks')
        .replace('attn_norm_2', 'ln2')
        .replace('attn_norm', 'ln1')
        .replace('time_mix_ln', 'att.ln_x')
        .replace(/time_mix_lerp_(\w)\.weight/, 'att.time_maa_$1')
        .replace(/time_mix_(w[12])\.weight/, 'att.time_maa_$1')
        .replace(/time_mix_(decay(_w[12])?)\.weight/, 'att.time_$1')
        .replace('time_mix_first.weight', 'att.time_faaaa')
        .replace(/channel_mix_lerp_(\w)\.weight/, 'ffn.time_maa_$1')
        .replace('time_mix_', 'att.')
        .replace('channel_mix_', 'ffn.')
    },
    (name, shape) => {
      if (name.includes('time_mix_first')) return [1, ...shape]
      return name.endsWith('time_mix_decay.weight') ? [1, head, shape[0]! / head] : shape
    },
  )
  for (let layer = 0; layer < number(today, 'rwkv6.block_count'); layer++) {
    const fused = await today.read(`blk.${layer}.time_mix_lerp_fused.weight`)
    const length = fused.length / 5
    for (const [i, which] of [...'wkvrg'].entries())
      tensors.push({
        name: `blocks.${layer}.att.time_maa_${which}`,
        shape: [length / 4],
        data: fused.slice(i * length, (i + 1) * length),
      })
  }
  const sizes = [
    101,
    today.tensor('token_embd.weight')!.shape[1]!,
    number(today, 'rwkv6.embedding_length'),
    number(today, 'rwkv6.block_count'),
    0,
  ]
  using old = await open(container(0x67676d66, sizes, undefined, tensors))
  assert.equal(old.metadata.get('general.architecture'), 'rwkv6')
  const bytes = await (await (await old.edit()).build()).bytes()
  using file = await open(bytes)
  for (const { name, shape } of today.tensors) assert.deepEqual(file.tensor(name)?.shape, shape, name)
  assert.equal(file.tensors.length, today.tensors.length)
  for (const key of ['time_mix_extra_dim', 'time_decay_extra_dim', 'feed_forward_length', 'wkv.head_size'])
    assert.equal(number(file, `rwkv6.${key}`), number(today, `rwkv6.${key}`), key)
  assert.deepEqual(
    file.lint().filter(({ level }) => level === 'error'),
    [],
  )
  await saysTheSame(bytes, reference)
})
