// What device 'auto' times: files with some of their layers, which the engine must be able to run.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { open } from 'ggufscope'
import { GgufBuilder } from 'ggufscope/edit'
import { cutHeader, cutOfText, cutOfWhisper } from '../../wasm/src/engine/cut-file.ts'
import { kLong } from '../fixtures/short.ts'
import { engine, stories } from './engine.ts'
import { kRoot } from './packed.ts'
import { kVectors } from './vectors.ts'

const bytesOf = (path: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(path))
const whisper = join(kRoot, 'tests/fixtures/commands.gguf')
/** whisper.cpp's container */
const legacy = join(kVectors, 'media/whisper/english-distil-q5_0/model.bin')

/** A model with so many layers of each kind, and with zeros as weights. */
async function cut(
  bytes: Uint8Array<ArrayBuffer>,
  cutOf: typeof cutOfText,
  layers: number,
): Promise<Uint8Array<ArrayBuffer>> {
  using file = await open(bytes)
  const by = cutOf(file)
  const { header, size } = await cutHeader(
    file,
    by,
    by.stacks.map(() => layers),
  )
  const cut = new Uint8Array(size)
  cut.set(header)
  return cut
}

test('a text model runs with some of its layers', async () => {
  for (const layers of [1, 3]) {
    using model = await engine.load(await cut(stories, cutOfText, layers), { device: 'cpu' })
    assert.equal(model.info.layers, layers)
    assert.ok((await model.evaluate([1])).every((logit) => logit === 0))
  }
})

const kModels = join(kVectors, 'arch')
test(
  'every reference model runs with one of its layers',
  { skip: kLong || !existsSync(kModels) },
  async () => {
    const refused: string[] = []
    for (const name of readdirSync(kModels)) {
      const path = join(kModels, name, 'model.gguf')
      if (!existsSync(path)) continue
      const bytes = await cut(bytesOf(path), cutOfText, 1)
      const loading = engine.load<Engine.LoadedModel>(bytes, { device: 'cpu', threads: 1, contextLength: 64 })
      await loading.then(
        (model) => model.close(),
        () => refused.push(name),
      )
    }
    assert.deepEqual(refused, [])
  },
)

test('inputs of layers are cut with these, and fewer layers share keys (Gemma 4)', async () => {
  const builder = new GgufBuilder()
  builder.set('general.architecture', 'gemma4')
  builder.set('gemma4.block_count', 6, 'u32')
  builder.set('gemma4.attention.shared_kv_layers', 2, 'u32')
  const add = (name: string, ...shape: number[]): void => {
    builder.addTensor(name, shape, 'F32', new Float32Array(shape.reduce((a, b) => a * b)))
  }
  for (let i = 0; i < 6; i++) add(`blk.${i}.attn_q.weight`, 4, 4)
  add('per_layer_token_embd.weight', 48, 5)
  add('per_layer_model_proj.weight', 4, 48)
  const bytes = await (await builder.build()).bytes()
  for (const [layers, sharing] of [
    [1, 0],
    [5, 1],
    [6, 2],
  ] as const) {
    using file = await open(await cut(bytes, cutOfText, layers))
    assert.equal(file.metadata.get('gemma4.attention.shared_kv_layers'), sharing)
    const shapeOf = (name: string) => file.tensors.find((tensor) => tensor.name === name)!.shape
    assert.deepEqual(shapeOf('per_layer_token_embd.weight'), [8 * layers, 5])
    assert.deepEqual(shapeOf('per_layer_model_proj.weight'), [4, 8 * layers])
  }
})

test('an encoder is cut with its decoder, whose layers a key of their own may count (T5)', async (t) => {
  const path = join(kModels, 't5/model.gguf')
  if (!existsSync(path)) return t.skip('no reference vectors')
  using file = await open(bytesOf(path))
  const counted = await (await (await file.edit()).set('t5.decoder_block_count', 2, 'u32').build()).bytes()
  for (const bytes of [bytesOf(path), counted]) {
    using model = await engine.load(await cut(bytes, cutOfText, 1), { device: 'cpu' })
    assert.equal(model.info.layers, 1)
    assert.equal(model.file.tensors.filter(({ name }) => name.includes('blk.1.')).length, 0)
    assert.ok((await model.embed('a', { pooling: 'mean' })).every((value) => value === 0))
  }
})

test('a Whisper model runs with some of its layers', async () => {
  for (const path of [whisper, legacy].filter((one) => existsSync(one))) {
    const bytes = await cut(bytesOf(path), cutOfWhisper, 1)
    using file = await open(bytes)
    assert.equal(file.tensors.filter(({ name }) => name.includes('.blocks.1.')).length, 0)
    using model = await engine.load<Engine.SpeechModel>(bytes, { device: 'cpu' })
    const logits = await model.evaluate([0], { audio: new Float32Array(16000) })
    assert.ok(logits.every((logit) => logit === 0))
  }
})

test('few layers are timed as a whole, of many as many as have 256 MB together', () => {
  const mb = 2 ** 20
  const fileOf = (keys: Record<string, number>, name: string, byteLength: number) => {
    const names = Array.from({ length: Math.max(...Object.values(keys)) }, (_, i) => `${name}.${i}.w`)
    const metadata = new Map<string, unknown>([['general.architecture', 'llama'], ...Object.entries(keys)])
    const tensors = names.map((name) => ({ name, byteLength }))
    return { metadata, tensors } as unknown as Parameters<typeof cutOfText>[0]
  }
  const depthsOf = (layers: number, byteLength: number, heads = 0) => {
    const keys = { 'llama.block_count': layers, 'llama.nextn_predict_layers': heads }
    return cutOfText(fileOf(keys, 'blk', byteLength)).stacks[0]!.depths
  }
  assert.deepEqual(depthsOf(12, mb), [1, 12])
  assert.deepEqual(depthsOf(12, mb, 1), [1, 11])
  assert.deepEqual(depthsOf(32, 50 * mb), [1, 5])
  assert.deepEqual(depthsOf(32, 500 * mb), [1, 3])
  assert.deepEqual(depthsOf(1, 500 * mb), [1, 1])
  const speech = fileOf(
    { 'whisper.encoder.block_count': 4, 'whisper.decoder.block_count': 4 },
    'decoder.blocks',
    mb,
  )
  assert.deepEqual(
    cutOfWhisper(speech).stacks.map(({ depths }) => depths),
    [
      [1, 2],
      [1, 4],
    ],
  )
})
