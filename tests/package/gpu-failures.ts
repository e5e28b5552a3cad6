// Loads on a GPU that fail or are aborted, in Node. gpu.test.ts runs this file in a process in which WebGPU finds
// SwiftShader.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { engine, textOf } from './engine.ts'
import { askWorker, kOptions, kSoftware, withWorker } from './gpu-loading.ts'
import type { DeviceEvent } from './gpu-worker.ts'
import { smallLlama } from './small-llama.ts'
import { difference, kVectors } from './vectors.ts'

const { load, GgufError } = engine
const kPrompt = 'Once upon a time, there was a'
const kGreedy: Engine.GenerateOptions = { temperature: 0, maxTokens: 4 }
const small = await smallLlama()
const cpu = await load(small, { ...kOptions, device: 'cpu' })
after(() => cpu.close())
const want = await textOf(cpu.generate(kPrompt, kGreedy))

test('a device that refuses is an error if it was requested; otherwise the CPU runs the model', async () => {
  for (const [query, code, message] of [
    ['&refuse=adapter', 'no-device', /WebGPU does not work here: blocked/],
    ['&refuse=limits', 'no-device', /limits are denied/],
    ['&refuse=buffers', 'out-of-memory', /no room/],
  ] as const) {
    await assert.rejects(load(small, withWorker(query)), { code, message })
    using model = await load(small, { ...withWorker(query), device: 'auto' })
    assert.equal(model.info.device, 'cpu')
    assert.match(model.info.deviceReason, message)
    assert.equal(await textOf(model.generate(kPrompt, kGreedy)), want)
  }
})

test('a card without room for what is read back is named', async () => {
  using model = await load(small, withWorker())
  const { bufferBytes } = (await askWorker()).now
  const message = /^The graphics card has no room for [\d.]+ MB: /
  await assert.rejects(load(small, withWorker(`&room=${bufferBytes - 1}`)), {
    code: 'out-of-memory',
    message,
  })
  // Logits of several tokens are read by a buffer of their own, which is made when they are asked for.
  await askWorker({ room: bufferBytes })
  assert.ok(difference(await model.evaluate([1, 2]), await cpu.evaluate([1, 2])) < 2e-4)
  assert.equal(model.info.device, 'cpu')
  assert.match(model.info.deviceReason, message)
})

test('an abort ends what is computed of a text between two passes', async () => {
  using model = await load(small, { ...withWorker(), contextLength: 384 })
  const tokens = Array.from({ length: 380 }, (_, i) => i % 30)
  const passes = async (): Promise<number> => (await askWorker()).reads.length
  const before = await passes()
  const want = await model.evaluate(tokens)
  const all = (await passes()) - before
  assert.ok(all > 4, `${all} passes`)
  const aborted = new AbortController()
  await askWorker({ hold: 1 })
  const ended = assert.rejects(model.evaluate(tokens, { signal: aborted.signal }), { name: 'AbortError' })
  while ((await passes()) < before + all + 2);
  aborted.abort()
  await askWorker({ hold: 0 })
  await ended
  assert.ok((await passes()) < before + 2 * all, 'passes after the abort')
  assert.equal(difference(await model.evaluate(tokens), want), 0)
  assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await textOf(cpu.generate(kPrompt, kGreedy)))
  assert.equal(model.info.device, 'gpu')
})

test('a load that is aborted while its device is opened closes it', async () => {
  const devices = new BroadcastChannel('devices')
  try {
    const aborted = new AbortController()
    let own: number | undefined
    const closed = new Promise<void>((resolve) => {
      devices.onmessage = ({ data: { opens, closes } }: MessageEvent<DeviceEvent>) => {
        if (opens !== undefined) {
          own = opens
          aborted.abort()
        } else if (closes === own) resolve()
      }
    })
    await assert.rejects(load(small, { ...withWorker(), signal: aborted.signal }), { name: 'AbortError' })
    await closed
  } finally {
    devices.close()
  }
})

test('software in place of a card is used only if that is allowed', async () => {
  const options = { ...kOptions, allowFallbackAdapter: false }
  await assert.rejects(load(small, { ...options, device: 'gpu' }), {
    code: 'no-device',
    message: /Only software/,
  })
  using model = await load(small, { ...options, device: 'auto' })
  assert.equal(model.info.device, 'cpu')
  assert.match(model.info.deviceReason, /Only software/)
})

test('a model without a plan runs on the CPU, with the reason', async (t) => {
  const streams = join(kVectors, 'arch/deepseek4/model.gguf')
  const models: [Uint8Array, RegExp][] = []
  if (existsSync(streams)) models.push([new Uint8Array(readFileSync(streams)), /several residual streams/])
  else t.diagnostic('no reference vectors')
  for (const [bytes, message] of models) {
    await assert.rejects(load(bytes, kSoftware), (error) => {
      assert.ok(error instanceof GgufError)
      assert.equal(error.code, 'unsupported')
      assert.match(error.message, message)
      return true
    })
    using model = await load<Engine.LoadedModel>(bytes, { ...kSoftware, device: 'auto' })
    assert.equal(model.info.device, 'cpu')
    assert.match(model.info.deviceReason, message)
  }
  await assert.rejects(load(small, { ...kSoftware, draft: small }), {
    code: 'unsupported',
    message: /draft/,
  })
  await assert.rejects(load(small, { ...kSoftware, adapters: [{ source: small }] }), {
    code: 'invalid-argument',
    message: /not an adapter/,
  })
})
