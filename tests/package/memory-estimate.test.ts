// file.memory(): llama.cpp's figures for weights, KV caches and states; devices, fits and errors.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { GgufError, GgufFile, MemoryEstimate } from 'ggufscope'
import { kMemorySettings, type MemoryFigures } from '../fixtures/memory-cases.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { kMemoryShapes } from '../fixtures/memory-shapes.ts'
import { f32, text, u32 } from '../fixtures/models.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const figures = JSON.parse(
  readFileSync(new URL('../fixtures/memory.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, MemoryFigures>>
const models = join(kShared, '../vectors/arch')
const newModels = join(kShared, '../vectors/new/arch')
const noModels = skipWithout(models) || skipWithout(newModels)
const pathOf = (model: string): string =>
  [models, newModels].map((root) => join(root, model, 'model.gguf')).find(existsSync)!
const stories = join(import.meta.dirname, '../fixtures/stories.gguf')
const kMiB = 2 ** 20

/** Whether a figure differs by at most 2 % and half of the log's last digit. */
const near = (bytes: number, mib: number, digits = 1) =>
  Math.abs(bytes / kMiB - mib) <= 0.02 * mib + 0.005 * digits

/** Intermediate results: within 10 %. */
const within = (found: number, figure: number) => Math.abs(found - figure) <= 0.1 * figure

for (const [name, { options, sequences = 1 }] of Object.entries(kMemorySettings)) {
  test(
    `weights, caches, states and intermediate results are those that llama.cpp logs: ${name}`,
    { skip: noModels },
    async () => {
      const wrong: string[] = []
      for (const [model, [weights, cache, state, compute]] of Object.entries(figures[name]!)) {
        using file = await open(pathOf(model))
        const found = await file.memory(options)
        // The log has a rounded line for each cache. Each sequence has its own state.
        const right =
          near(found.weights, weights) &&
          (sequences > 1 || near(found.cache, cache, 5)) &&
          (sequences > 1 ? near(found.state * sequences, state) : near(found.state, state)) &&
          (compute === undefined || within(found.compute / kMiB, compute))
        const shown = [found.weights, found.cache, found.state * sequences, found.compute].map(
          (n) => n / kMiB,
        )
        const wanted = [weights, cache, state, compute]
        if (!right) wrong.push(`${model}: ${shown.join(', ')} and not ${wanted.join(', ')}`)
      }
      assert.deepEqual(wrong, [])
      assert.ok(Object.keys(figures[name]!).length >= 2)
    },
  )
}

const kShapes = JSON.parse(
  readFileSync(new URL('../fixtures/memory-shapes.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, readonly [cache: number, compute: number]>>
test('models of real sizes take what llama.cpp reserves for them', async () => {
  assert.deepEqual(kMemoryShapes.map(({ name }) => name).toSorted(), Object.keys(kShapes).toSorted())
  for (const { name, header } of kMemoryShapes) {
    using file = await open(header)
    for (const [context, [cache, compute]] of Object.entries(kShapes[name]!)) {
      const found = await file.memory({ context: Number(context) })
      const what = `${name} with ${context} tokens`
      assert.ok(
        Math.abs(found.cache + found.state - cache) <= 0.02 * cache,
        `${what}: a cache of ${found.cache}, not ${cache}`,
      )
      assert.ok(within(found.compute, compute), `${what}: ${found.compute} bytes, not ${compute}`)
    }
  }
})

// What llama.cpp 0.7.0 logs as n_swa and as the size of its caches, with 65,536 tokens of context.
const kWindows: readonly (readonly [model: string, length: number, cells: readonly number[]])[] = [
  ['lfm2', 100, [768]],
  ['lfm2moe', 100, [65_536]],
  ['olmo2', 100, [768, 768]],
  ['phi3', 100, [65_536, 65_536]],
  ['mistral3', 100, [65_536, 65_536]],
  ['gpt-oss', 100, [768, 65_536]],
  // regardless of the file
  ['llama4', 100, [8704, 8704, 8704, 65_536]],
  ['smallthinker', 100, [65_536, 4608, 4608, 4608, 65_536]],
  // only models of 64 layers have windows
  ['exaone4', 100, [65_536, 65_536]],
]
test('windows follow the rows of the registry', { skip: noModels }, async () => {
  for (const [model, length, cells] of kWindows) {
    using file = await open(join(models, model, 'model.gguf'))
    const builder = await file.edit()
    builder.set(`${model}.attention.sliding_window`, length, 'u32')
    using edited = await open(await (await builder.build()).bytes())
    const { layers } = await edited.memory({ context: 65_536 })
    assert.deepEqual(
      layers.flatMap((layer) => (layer.cells > 0 ? [layer.cells] : [])),
      cells,
      model,
    )
  }
})

const sum = (found: MemoryEstimate) => found.devices.reduce((all, { total }) => all + total, 0)
const kGiB = 2 ** 30

test('the sample: tensors as they are, sums of parts, the trained context by default', async () => {
  using file = await open(stories)
  const found = await file.memory()
  const { contextLength, layers } = file.summary()
  assert.equal(found.context, contextLength)
  assert.equal(found.layerCount, layers! + 1)
  assert.equal(
    found.weights,
    file.tensors.reduce((all, { byteLength }) => all + Math.ceil(byteLength / 32) * 32, 0),
  )
  assert.equal(found.total, found.weights + found.cache + found.state + found.compute)
  assert.equal(found.total, sum(found))
  assert.equal(
    found.cache,
    found.layers.reduce((all, { cache }) => all + cache, 0),
  )
  assert.deepEqual(
    [found.fits, found.largestContext, found.tokensPerSecond],
    [undefined, undefined, undefined],
  )
  const half = await file.memory({ kvType: 'q8_0' })
  assert.equal(half.cache / found.cache, 34 / 64)
})

test('layers go to the devices, the last ones first, as many as fit', async () => {
  using file = await open(stories)
  const n = file.summary().layers!
  const card = { name: 'Card', memory: 8 * kGiB, bandwidth: 1e12 }
  const all = await file.memory({ devices: [card], host: { memory: 16 * kGiB, bandwidth: 5e10 } })
  assert.equal(all.gpuLayers, n + 1)
  assert.deepEqual(new Set(all.layers.map(({ device }) => device)), new Set([1]))
  assert.equal(all.fits, true)
  assert.equal(all.largestContext, all.trainedContext)
  assert.ok(all.tokensPerSecond! > 0)
  const none = await file.memory({
    devices: [card],
    gpuLayers: 0,
    host: { memory: 16 * kGiB, bandwidth: 5e10 },
  })
  assert.equal(none.devices[1]!.total, 0)
  assert.ok(none.tokensPerSecond! < all.tokensPerSecond!)
  const one = await file.memory({ devices: [card], gpuLayers: 2 })
  assert.deepEqual(
    one.layers.map(({ device }) => device),
    [...Array<number>(n - 1).fill(0), 1],
  )
  // Room for some of the layers.
  const room = one.devices[1]!.total + 1000
  const some = await file.memory({ devices: [{ memory: room }] })
  assert.equal(some.gpuLayers, 2)
  assert.ok(some.devices[1]!.total <= room)
  assert.equal(some.fits, false, 'nobody said what the CPU has')
  const two = await file.memory({ devices: [card, card] })
  assert.deepEqual(two.layers.map(({ device }) => device).at(-1), 2)
  assert.equal(two.layers[0]!.device, 1)
})

test('the longest context that fits does, and a longer one does not', async () => {
  using file = await open(stories)
  const { total } = await file.memory({ context: 256 })
  const host = { memory: total + 1000 }
  const { largestContext } = await file.memory({ host })
  assert.equal(largestContext, 256)
  assert.equal((await file.memory({ host, context: 256 })).fits, true)
  assert.equal((await file.memory({ host, context: 257 })).fits, false)
  assert.equal((await file.memory({ host: { memory: 1000 } })).largestContext, 0)
})

const whisper = join(kShared, '../vectors/media/whisper')
const noWhisper = skipWithout(whisper)
// whisper.cpp 1.9.5 logs them in MB: 10^6 bytes.
test('weights and caches of Whisper are those that whisper.cpp logs', { skip: noWhisper }, async () => {
  for (const [name, weights, self, cross] of [
    ['multi-f16', 3.75, 0.2, 0.59],
    ['multi-f32', 3.54, 0.1, 0.29],
    ['v3-128mel-q8_0', 2.11, 0.13, 0.39],
  ] as const) {
    using file = await open(join(whisper, name, 'model.bin'))
    const found = await file.memory()
    assert.equal(found.context, 448)
    assert.ok(Math.abs(found.weights / 1e6 - weights) < 0.02, `${name}: weights of ${found.weights} bytes`)
    assert.ok(Math.abs(found.cache / 1e6 - self - cross) < 0.011, `${name}: a cache of ${found.cache} bytes`)
  }
})

const adapterOf = (width: number): Uint8Array =>
  writeGguf({
    metadata: [
      ['general.type', text('adapter')],
      ['general.architecture', text('llama')],
      ['adapter.type', text('lora')],
      ['adapter.lora.alpha', f32(1)],
    ],
    tensors: [
      { name: 'blk.0.attn_q.weight.lora_a', shape: [width, 4], type: 'F32' },
      { name: 'blk.0.attn_q.weight.lora_b', shape: [4, 256], type: 'F32' },
    ],
  })

test('a draft model, a projector and adapters count', async () => {
  using file = await open(stories)
  const alone = await file.memory()
  using adapter = await open(adapterOf(256))
  const adapterBytes = adapter.tensors.reduce((all, { byteLength }) => all + byteLength, 0)
  const more = await file.memory({ draft: file, lora: [adapter, adapter] })
  assert.equal(more.extras.lora, 2 * adapterBytes)
  assert.equal(more.extras.draft, alone.weights)
  assert.equal(more.weights, 2 * alone.weights + 2 * adapterBytes)
  assert.ok(more.cache > alone.cache)
  const made = madeProjector('qwen3a')
  using model = await open(made.model)
  using projector = await open(made.projector)
  const { extras, weights } = await model.memory({ mmproj: projector })
  assert.ok(extras.mmproj > 0)
  assert.equal(weights, (await model.memory()).weights + extras.mmproj)
})

test('what no loader takes is refused with what is wrong', async () => {
  using file = await open(stories)
  using otherAdapter = await open(adapterOf(128))
  using projector = await open(madeProjector('qwen3a').projector)
  const refused = async (promise: Promise<unknown>, words: RegExp): Promise<void> => {
    await assert.rejects(promise, ({ code, message, problems }: GgufError) => {
      assert.match(message, words)
      if (/no loader takes/.test(message)) assert.ok(problems!.length > 0 && message.includes(problems![0]!))
      return code === 'unsupported'
    })
  }
  await refused(file.memory({ mmproj: file }), /mmproj is of the kind model/)
  await refused(file.memory({ lora: file }), /lora is of the kind model/)
  await refused(file.memory({ lora: projector }), /lora is of the kind projector/)
  await refused(file.memory({ draft: projector }), /holds no model/)
  await refused(file.memory({ lora: otherAdapter }), /the adapter with this model: .*128/)
  await refused(file.memory({ mmproj: projector }), /gives rows of 256, the model's width/)
  await refused(projector.memory(), /holds no model/)
  for (const [key, words] of [
    ['llama.block_count', /llama.block_count/],
    ['llama.embedding_length', /llama.embedding_length/],
    ['llama.attention.head_count', /llama.attention.head_count/],
  ] as const) {
    const builder = await file.edit()
    builder.remove(key)
    using cut = await open(await (await builder.build()).bytes())
    await refused(cut.memory(), words)
  }
  const builder = await file.edit()
  builder.set('general.architecture', 'superpoint')
  using unknown = await open(await (await builder.build()).bytes())
  await refused(unknown.memory(), /architecture "superpoint" of the file stores is not known/)
  // An encoder that calls itself llama.
  using encoder = await open(
    writeGguf({
      metadata: [['general.architecture', text('llama')]],
      tensors: [{ name: 'encoder.layer.0.attention.weight', shape: [64, 64], type: 'F32' }],
    }),
  )
  await refused(
    encoder.memory({ devices: [{ memory: 8e9 }] }),
    /llama.block_count is missing .*llama.embedding_length/,
  )
})

const kWrong: readonly [options: Parameters<GgufFile['memory']>[0], words: RegExp][] = [
  [{ context: 0 }, /context of memory\(\) must be a whole number/],
  [{ kvType: 'q2_K' as 'f16' }, /kvType/],
  [{ kvType: { k: 'x' as 'f16' } }, /option k of kvType/],
  [{ devices: [{} as { memory: number }] }, /devices\[0\] needs its memory/],
  [{ host: { memory: -1 } }, /memory of host/],
  [{ gpuLayers: 'all' as 'fit' }, /gpuLayers/],
  [{ layers: 3 } as object, /no option "layers"/],
]
test('unknown options and files without a model are refused', async () => {
  using file = await open(stories)
  for (const [options, words] of kWrong)
    await assert.rejects(file.memory(options), { code: 'invalid-argument', message: words })
  using vocabulary = await open(
    writeGguf({
      metadata: [
        ['general.architecture', text('llama')],
        ['llama.block_count', u32(4e9)],
      ],
    }),
  )
  await assert.rejects(vocabulary.memory(), { code: 'unsupported' })
})
