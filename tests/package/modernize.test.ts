// Converts containers older than GGUF to GGUF files that current programs read.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gguf } from '@huggingface/gguf'
import type { GgufFile, LazyArray } from 'ggufscope'
import { floatBytes } from '../fixtures/models.ts'
import { readPlain } from '../fixtures/reader.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { load } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof import('ggufscope/engine')
const skip = skipWithout(kShared)
const folder = mkdtempSync(join(tmpdir(), 'modernize-'))
after(() => rmSync(folder, { recursive: true }))

const converted = async (file: GgufFile) => await (await (await file.edit()).build()).bytes()
const words = (...values: number[]) => new Uint8Array(Uint32Array.from(values).buffer)
const letters = (value: string) => new TextEncoder().encode(value)

interface OldTensor {
  name: string
  shape: number[]
  type: number
  data: Uint8Array
}

/** Makes a GGJT file. sizes: width, n_mult, heads, layers, rotated dimensions, file type. */
function ggjt(
  version: number,
  tensors: readonly OldTensor[],
  vocabulary: readonly string[] = ['<unk>', '<s>', '</s>', ' a'],
  sizes: readonly number[] = [64, 16, 4, 1, 16, 2],
): Uint8Array {
  const parts: Uint8Array[] = [words(0x67676a74, version, vocabulary.length, ...sizes)]
  for (const [i, word] of vocabulary.entries()) {
    const bytes = letters(word)
    parts.push(words(bytes.length), bytes, new Uint8Array(Float32Array.of(-i).buffer))
  }
  for (const { name, shape, type, data } of tensors) {
    parts.push(words(shape.length, name.length, type, ...shape), letters(name))
    const size = parts.reduce((sum, { length }) => sum + length, 0)
    parts.push(new Uint8Array((32 - (size % 32)) % 32), data)
  }
  return new Uint8Array(Buffer.concat(parts))
}

const kNames: readonly (readonly [old: string, today: string])[] = [
  ['tok_embeddings.weight', 'token_embd.weight'],
  ['norm.weight', 'output_norm.weight'],
  ['output.weight', 'output.weight'],
  ['layers.0.attention.wq.weight', 'blk.0.attn_q.weight'],
  ['layers.0.attention.wk.weight', 'blk.0.attn_k.weight'],
  ['layers.0.attention.wv.weight', 'blk.0.attn_v.weight'],
  ['layers.0.attention.wo.weight', 'blk.0.attn_output.weight'],
  ['layers.0.attention_norm.weight', 'blk.0.attn_norm.weight'],
  ['layers.0.ffn_norm.weight', 'blk.0.ffn_norm.weight'],
  ['layers.0.feed_forward.w1.weight', 'blk.0.ffn_gate.weight'],
  ['layers.0.feed_forward.w2.weight', 'blk.0.ffn_down.weight'],
  ['layers.0.feed_forward.w3.weight', 'blk.0.ffn_up.weight'],
]

test('a llama of GGJT: names, keys, vocabulary; its tensors are copied', async () => {
  const shapeOf = (name: string): number[] => {
    if (name.includes('norm')) return [64]
    if (name.includes('w2')) return [96, 64]
    return [64, /w[13]\./.test(name) ? 96 : /tok|output/.test(name) ? 4 : 64]
  }
  const tensors = kNames.map(([name], i): OldTensor => {
    const shape = shapeOf(name)
    const count = shape.reduce((a, b) => a * b)
    return { name, shape, type: 0, data: floatBytes(count, i) }
  })
  using old = await open(ggjt(3, tensors))
  const built = await (await old.edit()).build()
  assert.ok(built.parts.every(({ kind }) => kind !== 'computed'))
  const bytes = await built.bytes()
  assert.equal(readPlain(bytes).version, 3)
  const path = join(folder, 'llama.gguf')
  writeFileSync(path, bytes)
  const { tensorInfos } = await gguf(path, { allowLocalFile: true })
  assert.deepEqual(
    tensorInfos.map(({ name }) => name),
    kNames.map(([, today]) => today),
  )
  using file = await open(path)
  assert.equal(file.container, 'gguf')
  for (const [i, [, today]] of kNames.entries()) assert.deepEqual(await file.read(today), tensors[i]!.data)
  const value = (key: string) => file.metadata.get(key)
  assert.deepEqual(
    ['block_count', 'context_length', 'feed_forward_length', 'attention.head_count_kv'].map((key) =>
      value(`llama.${key}`),
    ),
    [1, 2048, 96, 4],
  )
  assert.deepEqual([...(value('tokenizer.ggml.tokens') as LazyArray)], ['<unk>', '<s>', '</s>', '\u2581a'])
  assert.equal([...file.metadata.keys()].filter((key) => key.startsWith('legacy.')).length, 0)
  assert.deepEqual(
    file.lint().filter(({ level }) => level === 'error'),
    [],
  )
  // The command is the same.
  writeFileSync(join(folder, 'llama.bin'), ggjt(3, tensors))
  execFileSync(
    process.execPath,
    [packedFile('wasm/dist/cli.js'), 'convert', 'llama.bin', '-o', 'command.gguf'],
    {
      cwd: folder,
    },
  )
  assert.deepEqual(new Uint8Array(readFileSync(join(folder, 'command.gguf'))), bytes)
})

test("blocks of 2023's layouts become today's, quant for quant", async () => {
  // [version of the container, type id, bytes per block, today's type, scales]. All blocks begin with their scales.
  const layouts: [version: number, id: number, bytes: number, type: string, scales: ('f32' | 'f16')[]][] = [
    [1, 2, 20, 'Q4_0', ['f32']],
    [1, 3, 24, 'Q4_1', ['f32', 'f32']],
    [1, 6, 22, 'Q5_0', ['f16']],
    [1, 7, 24, 'Q5_1', ['f16', 'f16']],
    [1, 8, 36, 'Q8_0', ['f32']],
    [2, 2, 20, 'Q4_0', ['f32']],
    [2, 3, 24, 'Q4_1', ['f32', 'f32']],
    [2, 6, 22, 'Q5_0', ['f16']],
    [3, 2, 18, 'Q4_0', ['f16']],
  ]
  for (const [version, id, bytes, type, scales] of layouts) {
    const data = Uint8Array.from({ length: bytes * 6 }, (_, i) => (i * 2654435761) >>> 13)
    const view = new DataView(data.buffer)
    for (let block = 0; block < 6; block++) {
      let at = block * bytes
      for (const scale of scales) {
        // The scale is about 0.25 and needs more than 16 bits.
        if (scale === 'f32') view.setFloat32(at, 0.25 + block / 3001, true)
        else view.setUint16(at, 0x3400 + block, true)
        at += scale === 'f32' ? 4 : 2
      }
    }
    using old = await open(ggjt(version, [{ name: 'output.weight', shape: [96, 2], type: id, data }]))
    for (const endianness of ['little', 'big'] as const) {
      using file = await open(await (await (await old.edit()).build({ endianness })).bytes())
      assert.equal(file.tensors[0]!.type, type, `version ${version}, type ${id}`)
      assert.equal(file.metadata.get('general.quantization_version'), 2)
      const before = await old.dequantize('output.weight')
      const after = await file.dequantize('output.weight')
      for (const [i, value] of before.entries()) {
        const most = scales.includes('f32') ? (Math.abs(value) + 0.5) / 2048 : 0
        assert.ok(
          Math.abs(after[i]! - value) <= most,
          `${type} of version ${version}: ${value} became ${after[i]}`,
        )
      }
    }
  }
})

test('blocks that have no successor lose little', async () => {
  const data = Uint8Array.from({ length: 10 * 12 }, (_, i) =>
    i % 10 === 0 ? 0 : i % 10 === 1 ? 0x34 : i * 37,
  )
  using old = await open(ggjt(1, [{ name: 'output.weight', shape: [96, 2], type: 4, data }]))
  using file = await open(await converted(old))
  assert.equal(file.tensors[0]!.type, 'Q8_0')
  const before = await old.dequantize('output.weight')
  const after = await file.dequantize('output.weight')
  for (const [i, value] of before.entries()) assert.ok(Math.abs(after[i]! - value) <= 2 / 127)
})

for (const precision of ['FP32', 'FP16', 'Q5_0']) {
  test(`rwkv.cpp's version 7, ${precision}, with llama.cpp's names`, { skip }, async () => {
    using old = await open(join(kShared, `rwkv/tiny-rwkv-7v0-834K-${precision}.bin`))
    using file = await open(await converted(old))
    const of = (key: string) => file.metadata.get(`rwkv7.${key}`)
    assert.deepEqual(
      [
        'block_count',
        'embedding_length',
        'feed_forward_length',
        'wkv.head_size',
        'attention.decay_lora_rank',
      ].map(of),
      [12, 64, 256, 64, 32],
    )
    const shape = (name: string) => file.tensor(name)?.shape
    assert.deepEqual(shape('blk.3.time_mix_lerp_fused.weight'), [64, 1, 1, 6])
    assert.deepEqual(shape('blk.3.time_mix_r_k.weight'), [64])
    assert.deepEqual(shape('blk.0.time_mix_v1.weight'), shape('blk.0.time_mix_a1.weight'))
    assert.equal(file.tensors.length, old.tensors.length + 3)
    assert.ok(file.tensors.every(({ name }) => !/^(blocks|emb|head|ln_out)\b/.test(name)))
    const floats = await Promise.all([
      old.dequantize('blocks.5.att.key.weight'),
      file.dequantize('blk.5.time_mix_key.weight'),
    ])
    assert.deepEqual(floats[1], floats[0])
    assert.deepEqual(
      file.lint().filter(({ level }) => level === 'error'),
      [],
    )
  })
}

test('a converted model gives the logits of rwkv.cpp', { skip }, async () => {
  for (const [name, tolerance] of [
    ['4v0-660K-FP32', 2e-4],
    ['5v2-730K-FP32', 2e-4],
    ['7v0-834K-FP32', 2e-4],
    ['7v0-834K-Q5_0', 0.01],
  ] as const) {
    using old = await open(join(kShared, `rwkv/tiny-rwkv-${name}.bin`))
    const model = await load(await converted(old))
    const logits = await model.evaluate([...letters('"in')])
    model.close()
    const expected = readFileSync(join(kShared, `rwkv/expected-logits-${name.replace(/-\w+$/, '')}.bin`))
    const wanted = new Float32Array(new Uint8Array(expected).buffer)
    const last = logits.subarray(logits.length - wanted.length)
    const most = wanted.reduce((sum, value, i) => Math.max(sum, Math.abs(value - last[i]!)), 0)
    assert.ok(most <= tolerance, `${name}: ${most}`)
  }
})

test('a llama of GGJT says what its GGUF file says', { skip }, async () => {
  using today = await open(join(kShared, 'stories260K/stories260K.tied.gguf'))
  const number = (key: string) => Number(today.metadata.get(`llama.${key}`))
  const words = today.metadata.get('tokenizer.ggml.tokens') as LazyArray<string>
  const width = number('embedding_length')
  const sizes = [
    width,
    4,
    number('attention.head_count'),
    number('block_count'),
    number('rope.dimension_count'),
    0,
  ]
  const oldName = (name: string) => {
    const [, layer] = /^blk\.(\d+)/.exec(name) ?? []
    const row = kNames.find(([, other]) => other === name.replace(/^blk\.\d+/, 'blk.0'))!
    return row[0].replace('layers.0', `layers.${layer}`)
  }
  const tensors = await Promise.all(
    today.tensors.map(async ({ name, shape, typeId }): Promise<OldTensor> => {
      return { name: oldName(name), shape: [...shape], type: typeId, data: await today.read(name) }
    }),
  )
  // That file shares its embeddings with the output. GGJT stores both.
  if (!tensors.some(({ name }) => name === 'output.weight'))
    tensors.push({ ...tensors.find(({ name }) => name === 'tok_embeddings.weight')!, name: 'output.weight' })
  using old = await open(ggjt(3, tensors, [...words], sizes))
  const builder = await old.edit()
  for (const key of ['attention.layer_norm_rms_epsilon', 'context_length'])
    builder.copy(today, `llama.${key}`)
  const [a, b] = await Promise.all([
    load(readFileSync(join(kShared, 'stories260K/stories260K.tied.gguf'))),
    load(await (await builder.build()).bytes()),
  ])
  const tokens = [1, 403, 407, 261, 378]
  const [want, got] = await Promise.all([a.evaluate(tokens), b.evaluate(tokens)])
  assert.deepEqual(got, want)
  a.close()
  b.close()
})

test('older ones of rwkv.cpp are what the specification calls rwkv', { skip }, async () => {
  for (const [name, version] of [
    ['tiny-rwkv-4v0-660K-Q5_1', 4],
    ['tiny-rwkv-5v2-730K-FP32', 5],
  ] as const) {
    using old = await open(join(kShared, `rwkv/${name}.bin`))
    using file = await open(await converted(old))
    assert.equal(file.metadata.get('general.architecture'), 'rwkv')
    assert.equal(file.metadata.get('rwkv.architecture_version'), version)
    assert.equal(file.metadata.get('rwkv.block_count'), old.summary().layers)
    assert.deepEqual(
      file.tensors.map(({ name: one }) => one),
      old.tensors.map(({ name: one }) => one),
    )
  }
})

test('vocabularies and speech models', { skip }, async () => {
  using vocabulary = await open(join(kShared, 'history/20230330-38f63493-ggml-vocab.bin'))
  using today = await open(await converted(vocabulary))
  const text = ' The quick brown fox, 42!'
  assert.deepEqual(today.tokenizer().encode(text), vocabulary.tokenizer().encode(text))
  using whisper = await open(join(kShared, 'whisper/for-tests-ggml-parakeet-tdt-bad-nfft0.bin'))
  using file = await open(await converted(whisper))
  assert.equal(file.tensors.length, whisper.tensors.length)
  for (const { name } of file.tensors) assert.deepEqual(await file.read(name), await whisper.read(name), name)
})
