// Models on a GPU, in Node. gpu.test.ts runs this file in a process in which WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kAll, kLong } from '../fixtures/short.ts'
import { engine, kStories, stories, textOf } from './engine.ts'
import type { Counted } from './gpu-worker.ts'
import { kRoot, packedFile } from './packed.ts'
import { runCli } from './run-cli.ts'
import { kVectors } from './vectors.ts'

const { load, GgufError } = engine

const kPrompt = 'Once upon a time, there was a'
const kTokens = 8
const kOptions: Engine.LoadOptions = { contextLength: 128, cacheType: 'f32', precision: 'exact' }
const kSoftware: Engine.LoadOptions = { ...kOptions, device: 'gpu', allowFallbackAdapter: true }
const kGreedy: Engine.GenerateOptions = { temperature: 0, maxTokens: kTokens }

/** Options for a worker whose WebGPU is counted, and fails as the query says. */
function withWorker(query = ''): Engine.LoadOptions {
  const script = pathToFileURL(packedFile('wasm/dist/engine/engine-gpu-worker.js')).href
  // A worker gets a copy of the variables when it starts.
  process.env['GPU_WORKER'] = `script=${encodeURIComponent(script)}${query}`
  return { ...kSoftware, assets: { 'engine-gpu-worker.js': new URL('./gpu-worker.ts', import.meta.url) } }
}

const cpu = await load(stories, { ...kOptions, device: 'cpu' })
after(() => cpu.close())
assert.deepEqual([cpu.info.device, cpu.info.deviceReason, cpu.info.adapter], ['cpu', 'Requested.', undefined])

/** What a model answers on the CPU. */
const onCpu = (options: Engine.GenerateOptions): Promise<string> => textOf(cpu.generate(kPrompt, options))

async function countsOf(): Promise<Counted[]> {
  const channel = new BroadcastChannel('counts')
  try {
    return await new Promise((resolve) => {
      channel.onmessage = ({ data }: MessageEvent<Counted[]>) => resolve(data)
      channel.postMessage('ask')
    })
  } finally {
    channel.close()
  }
}

test('a model answers on the GPU as on the CPU, with the fewest calls for each token', async () => {
  const reports: Engine.DeviceReport[] = []
  using model = await load(stories, { ...withWorker(), device: 'auto', onDevice: (one) => reports.push(one) })
  assert.equal(model.info.device, 'gpu')
  assert.equal(model.info.adapter?.fallback, true)
  assert.ok(model.info.memory.weights > 1e6)

  const before = (await countsOf()).length
  assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
  const reads = (await countsOf()).slice(before)
  // The first read-back is that of the prompt. Passes for one token follow.
  for (let i = 2; i < reads.length; i++) {
    const [last, next] = [reads[i - 1]!, reads[i]!]
    const more = (name: string): number => (next.calls[name] ?? 0) - (last.calls[name] ?? 0)
    for (const name of ['writeBuffer', 'submit', 'beginComputePass', 'mapAsync'])
      assert.equal(more(name), 1, name)
    for (const name of [
      'createBuffer',
      'createBindGroup',
      'createComputePipelineAsync',
      'createShaderModule',
    ])
      assert.equal(more(name), 0, name)
    assert.ok(next.readBytes - last.readBytes <= 64, 'bytes that are read back for a token')
    assert.ok(more('dispatchWorkgroups') <= 6 * model.info.layers + 3, 'dispatches of a token')
  }
  assert.ok(reads.length >= kTokens, `${reads.length} passes`)
  assert.ok((reads.at(-1)!.calls['createComputePipelineAsync'] ?? 0) <= 24, 'pipelines')

  // Logits are read back where the engine samples.
  for (const options of [
    { seed: 7, temperature: 0.8, repeatPenalty: 1.1, maxTokens: kTokens },
    { ...kGreedy, logprobs: 2 },
    { ...kGreedy, lookup: 4 },
    { ...kGreedy, stop: 'was' },
    { ...kGreedy, grammar: 'root ::= [a-z ]+ "."' },
  ])
    assert.equal(
      await textOf(model.generate(kPrompt, options)),
      await onCpu(options),
      JSON.stringify(options),
    )

  // Forks share the prompt. An answer that is left early leaves nothing behind.
  using fork = await model.fork()
  for await (const piece of fork.generate(kPrompt, kGreedy)) if (piece.token >= 0) break
  assert.equal(await textOf(fork.generate(kPrompt, kGreedy)), await onCpu(kGreedy))

  // What only the CPU computes moves the model there.
  assert.deepEqual(reports, [])
  assert.equal((await model.evaluate([1, 2])).length, 2 * model.info.vocabularySize)
  assert.equal(model.info.device, 'cpu')
  assert.match(model.info.deviceReason, /Logits/)
  assert.equal(reports.length, 1)
  assert.equal(await textOf(fork.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
})

const kMoments = kAll ? Array.from({ length: 20 }, (_, i) => 1 + ((i * 7) % (kTokens + 2))) : [5]
test('after the loss of the device, the same answer continues on the CPU', async () => {
  const want = await onCpu(kGreedy)
  for (const moment of kMoments) {
    const reports: Engine.DeviceReport[] = []
    using model = await load(stories, {
      ...withWorker(`&lose=${moment}`),
      onDevice: (report) => reports.push(report),
    })
    using fork = await model.fork()
    assert.equal(model.info.device, 'gpu')
    assert.equal(model.info.deviceReason, 'Requested.')
    // What only the CPU computes is refused, as the device was requested.
    for (const call of [model.evaluate([1]), model.embed('a'), model.saveState()])
      await assert.rejects(call, { code: 'unsupported', message: /only where the model runs on the CPU/ })
    const shifting = textOf(model.generate(kPrompt, { ...kGreedy, contextShift: true }))
    await assert.rejects(shifting, { code: 'unsupported' })
    let result: Engine.GenerateResult | undefined
    const text = await textOf(model.generate(kPrompt, { ...kGreedy, onDone: (done) => (result = done) }))
    assert.equal(text, want, `lost at read-back ${moment}`)
    assert.equal(result?.tokens, kTokens)
    assert.equal(model.info.device, 'cpu')
    assert.match(model.info.deviceReason, /lost/)
    assert.deepEqual(reports, [{ device: 'cpu', deviceReason: model.info.deviceReason, adapter: undefined }])
    assert.equal(await textOf(fork.generate(kPrompt, kGreedy)), want)
    assert.equal((await model.evaluate([1, 2])).length, 2 * model.info.vocabularySize)
  }
})

test('the call that finds its device lost rejects with the error of onDevice', async () => {
  const error = new Error('of onDevice')
  const onDevice = (() => Promise.reject(error)) as () => void
  using model = await load(stories, { ...withWorker('&lose=2'), onDevice })
  await assert.rejects(textOf(model.generate(kPrompt, kGreedy)), (reason) => reason === error)
  assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
})

test('a device that refuses is an error if it was requested; otherwise the CPU runs the model', async () => {
  for (const [query, code, message] of [
    ['&refuse=limits', 'no-device', /limits are denied/],
    ['&refuse=buffers', 'out-of-memory', /no room/],
  ] as const) {
    await assert.rejects(load(stories, withWorker(query)), { code, message })
    using model = await load(stories, { ...withWorker(query), device: 'auto' })
    assert.equal(model.info.device, 'cpu')
    assert.match(model.info.deviceReason, message)
    assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
  }
})

test('software in place of a card is used only if that is allowed', async () => {
  const options = { ...kOptions, allowFallbackAdapter: false }
  await assert.rejects(load(stories, { ...options, device: 'gpu' }), {
    code: 'no-device',
    message: /Only software/,
  })
  using model = await load(stories, { ...options, device: 'auto' })
  assert.equal(model.info.device, 'cpu')
  assert.match(model.info.deviceReason, /Only software/)
})

test('a model without a plan runs on the CPU, with the reason', async (t) => {
  const whisper = new Uint8Array(readFileSync(join(kRoot, 'tests/fixtures/commands.gguf')))
  const streams = join(kVectors, 'arch/deepseek4/model.gguf')
  const models: [Uint8Array, RegExp][] = [[whisper, /Whisper models run only on the CPU/]]
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
  for (const [options, message] of [
    [{ draft: stories }, /draft/],
    [{ adapters: [{ source: stories }] }, /adapters/],
  ] as const)
    await assert.rejects(load(stories, { ...kSoftware, ...options }), { code: 'unsupported', message })
})

/**
 * Reference models with recurrent layers, whose states follow the text, of forks too, whatever was on its way and
 * discarded; and with latent attention.
 */
const kFurther = ['lfm2moe', 'mamba', 'mamba2', 'jamba', 'falcon-h1', 'granitehybrid', 'qwen3next', 'qwen35']
const kMixers = ['lfm2', ...(kAll ? [...kFurther, 'deepseek2', 'minicpm3'] : [])]
test('models with other mixers than attention answer on the GPU as on the CPU', async (t) => {
  for (const name of kMixers) {
    const path = join(kVectors, `arch/${name}/model.gguf`)
    if (!existsSync(path)) return t.skip('no reference vectors')
    const bytes = new Uint8Array(readFileSync(path))
    using gpu = await load(bytes, kSoftware)
    using other = await load(bytes, { ...kOptions, device: 'cpu' })
    const answers = async (model: Engine.Model): Promise<string[]> => {
      const texts = [await textOf(model.generate(kPrompt, kGreedy))]
      // Left early: tokens that were on their way are discarded.
      let taken = 0
      for await (const _ of model.generate(kPrompt, kGreedy)) if (++taken === 3) break
      const longer = `${kPrompt}${texts[0]!} and`
      using fork = await model.fork()
      for (const one of [fork, model, fork]) texts.push(await textOf(one.generate(longer, kGreedy)))
      texts.push(await textOf(model.generate(longer, { ...kGreedy, temperature: 0.8, seed: 3 })))
      return texts
    }
    assert.deepEqual(await answers(gpu), await answers(other), name)
    assert.equal(gpu.info.device, 'gpu')
  }
})

test('two models answer at the same time, each on a device of its own', { skip: kLong }, async () => {
  const want = await onCpu(kGreedy)
  const other: Engine.GenerateOptions = { ...kGreedy, temperature: 0.8, seed: 3 }
  using first = await load(stories, kSoftware)
  using second = await load(stories, kSoftware)
  const texts = await Promise.all([
    textOf(first.generate(kPrompt, kGreedy)),
    textOf(second.generate(kPrompt, other)),
  ])
  assert.deepEqual(texts, [want, await onCpu(other)])
  first.close()
  assert.equal(await textOf(second.generate(kPrompt, kGreedy)), want)
  assert.equal(second.info.device, 'gpu')
})

test('the command line takes the device', async () => {
  const run = (...options: string[]) =>
    runCli([
      'run',
      kStories,
      kPrompt,
      '--temperature',
      '0',
      '--max-tokens',
      '3',
      '--context',
      '128',
      ...options,
    ])
  const refused = await run('--device', 'gpu')
  assert.equal(refused.status, 1)
  assert.match(refused.err, /Only software/)
  const exact = ['--precision', 'exact', '--cache-type', 'f32']
  const gpu = await run('--device', 'gpu', '--allow-fallback-adapter', ...exact)
  assert.equal(gpu.status, 0, gpu.err)
  assert.ok(gpu.out.includes(await onCpu({ temperature: 0, maxTokens: 3 })), gpu.out)
  assert.match(gpu.out, /GPU google swiftshader/)
  const auto = await run('--device', 'auto', ...exact)
  assert.equal(auto.status, 0, auto.err)
  assert.match(auto.err, /on the CPU: Only software/)
})
