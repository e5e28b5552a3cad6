// What device 'auto' times: files with some of their layers, which the engine must be able to run.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { open } from 'ggufscope'
import { cutHeader, stackOf } from '../../wasm/src/engine/cut-file.ts'
import { engine, stories } from './engine.ts'
import { kRoot } from './packed.ts'
import { kVectors } from './vectors.ts'

const kWhisper = [
  { key: 'whisper.encoder.block_count', names: /^encoder\.blocks\.(\d+)\./, maxLayers: 2 },
  { key: 'whisper.decoder.block_count', names: /^decoder\.blocks\.(\d+)\./ },
]
const kHeads = ['whisper.decoder.alignment_heads']
const whisper = join(kRoot, 'tests/fixtures/commands.gguf')
/** whisper.cpp's container */
const legacy = join(kVectors, 'media/whisper/english-distil-q5_0/model.bin')

/** A model without its other layers, with zeros as weights. */
async function cut(
  bytes: Uint8Array<ArrayBuffer>,
  keys: readonly Parameters<typeof stackOf>[1][],
  depths: readonly number[],
): Promise<Uint8Array<ArrayBuffer>> {
  using file = await open(bytes)
  const stacks = keys.map((key) => stackOf(file, key))
  const { header, size } = await cutHeader(file, { stacks, without: kHeads }, depths)
  const cut = new Uint8Array(size)
  cut.set(header)
  return cut
}

test('a text model runs with some of its layers', async () => {
  const key = { key: 'llama.block_count', names: /^blk\.(\d+)\./ }
  for (const layers of [1, 3]) {
    using model = await engine.load(await cut(stories, [key], [layers]), { device: 'cpu' })
    assert.equal(model.info.layers, layers)
    assert.ok((await model.evaluate([1])).every((logit) => logit === 0))
  }
})

test('a Whisper model runs with some of its layers', async () => {
  for (const path of [whisper, legacy].filter((one) => existsSync(one))) {
    const bytes = await cut(new Uint8Array(readFileSync(path)), kWhisper, [1, 1])
    using file = await open(bytes)
    assert.equal(file.tensors.filter(({ name }) => name.includes('.blocks.1.')).length, 0)
    using model = await engine.load<Engine.SpeechModel>(bytes, { device: 'cpu' })
    assert.ok((await model.evaluate([0], { audio: new Float32Array(16000) })).every((logit) => logit === 0))
  }
})

test('few layers are timed as a whole, of many as many as have 256 MB together', () => {
  const depthsOf = (layers: number, byteLength: number, maxLayers = Infinity) => {
    const tensors = Array.from({ length: layers }, (_, i) => ({ name: `blk.${i}.w`, byteLength }))
    const file = { metadata: new Map([['n', layers]]), tensors } as unknown as Parameters<typeof stackOf>[0]
    return stackOf(file, { key: 'n', names: /^blk\.(\d+)\./, maxLayers }).depths
  }
  const mb = 2 ** 20
  assert.deepEqual(depthsOf(12, mb), [1, 12])
  assert.deepEqual(depthsOf(12, mb, 2), [1, 2])
  assert.deepEqual(depthsOf(32, 50 * mb), [1, 5])
  assert.deepEqual(depthsOf(32, 500 * mb), [1, 3])
  assert.deepEqual(depthsOf(1, 500 * mb), [1, 1])
})
