// file.memory(): llama.cpp's figures for weights, KV caches and states; devices, fits and errors.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { GgufFile, MemoryEstimate } from 'ggufscope'
import { kMemorySettings, type MemoryFigures } from '../fixtures/memory-cases.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { text, u32 } from '../fixtures/models.ts'
import { kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const figures = JSON.parse(
  readFileSync(new URL('../fixtures/memory.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, MemoryFigures>>
const models = join(kShared, '../vectors/arch')
const stories = join(import.meta.dirname, '../fixtures/stories.gguf')
const kMiB = 2 ** 20

/** Whether a figure differs by at most 2 % and half of the log's last digit. */
const near = (bytes: number, mib: number, digits = 1) =>
  Math.abs(bytes / kMiB - mib) <= 0.02 * mib + 0.005 * digits

for (const [name, { options, sequences = 1 }] of Object.entries(kMemorySettings)) {
  const skip = existsSync(models) ? false : 'no shared/vectors/arch'
  test(`weights, cache and states are those that llama.cpp logs: ${name}`, { skip }, async () => {
    const wrong: string[] = []
    for (const [model, [weights, cache, state]] of Object.entries(figures[name]!)) {
      using file = await open(join(models, model, 'model.gguf'))
      const found = await file.memory(options)
      // The log has a rounded line for each cache. Each sequence has its own state.
      const right =
        near(found.weights, weights) &&
        (sequences > 1 || near(found.cache, cache, 5)) &&
        (sequences > 1 ? near(found.state * sequences, state) : near(found.state, state))
      const shown = [found.weights, found.cache, found.state * sequences].map((bytes) => bytes / kMiB)
      if (!right) wrong.push(`${model}: ${shown.join(', ')} and not ${[weights, cache, state].join(', ')}`)
    }
    assert.deepEqual(wrong, [])
    assert.ok(Object.keys(figures[name]!).length >= 2)
  })
}

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
const noWhisper = existsSync(whisper) ? false : 'no shared/vectors/media/whisper'
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

test('a draft model, a projector and adapters count', async () => {
  using file = await open(stories)
  const alone = await file.memory()
  const more = await file.memory({ draft: file, mmproj: file, lora: [file, file] })
  assert.equal(more.extras.mmproj, alone.weights)
  assert.equal(more.extras.lora, 2 * alone.weights)
  assert.equal(more.extras.draft, alone.weights)
  assert.equal(more.weights, 5 * alone.weights)
  assert.ok(more.cache > alone.cache)
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
