// Models on a GPU, in Node. gpu.test.ts runs this file in a process in which WebGPU finds SwiftShader.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type * as Engine from 'ggufscope/engine'
import { kAll, kLong } from '../fixtures/short.ts'
import { engine, stories as wholeStories, textOf } from './engine.ts'
import {
  askWorker,
  checkPasses,
  countsOf,
  kOptions,
  kSoftware,
  withoutTimes,
  withWorker,
} from './gpu-loading.ts'
import { kContext as kBertContext, smallBert } from './small-bert.ts'
import { smallLlama } from './small-llama.ts'
import { difference, kVectors } from './vectors.ts'

const { createRerank, load, GgufError } = engine
/** of the key pooling_type */
const kRank = 4

const kPrompt = 'Once upon a time, there was a'
// Software takes half a second for a token of the sample model's first layer.
const stories = kAll ? wholeStories : await smallLlama()
const kTokens = kAll ? 8 : 4
const kGreedy: Engine.GenerateOptions = { temperature: 0, maxTokens: kTokens }

const cpu = await load(stories, { ...kOptions, device: 'cpu' })
after(() => cpu.close())
assert.deepEqual([cpu.info.device, cpu.info.deviceReason, cpu.info.adapter], ['cpu', 'Requested.', undefined])

/** What a model answers on the CPU. */
const onCpu = (options: Engine.GenerateOptions): Promise<string> => textOf(cpu.generate(kPrompt, options))

test('a model answers on the GPU as on the CPU, with the fewest calls for each token', async () => {
  const reports: Engine.DeviceReport[] = []
  using model = await load(stories, {
    ...withWorker(),
    maxForks: 2,
    onDevice: (one) => reports.push(one),
  })
  assert.equal(model.info.device, 'gpu')
  assert.equal(model.info.adapter?.fallback, true)
  assert.ok(model.info.memory.weights > stories.length / 2)

  const before = (await countsOf()).length
  assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
  const reads = (await countsOf()).slice(before)
  checkPasses(reads, 6 * model.info.layers, kTokens)
  assert.ok((reads.at(-1)!.calls['createComputePipelineAsync'] ?? 0) <= 24, 'pipelines')

  // Logits are read back where the engine samples. Looking up computes several tokens at once, by further kernels.
  const sampled: Engine.GenerateOptions[] = [
    { ...kGreedy, logprobs: 2 },
    { ...kGreedy, lookup: 4 },
    { ...kGreedy, stop: 'was' },
    { ...kGreedy, grammar: 'root ::= [a-z ]+ "."' },
  ]
  for (const options of [
    { seed: 7, temperature: 0.8, repeatPenalty: 1.1, maxTokens: kTokens },
    ...(kAll ? sampled : []),
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

  await checkTexts(model)
  // The same texts again need no more room.
  const { bufferBytes } = (await countsOf()).at(-1)!
  for (let turn = 0; turn < (kAll ? 5 : 1); turn++) await model.evaluate(longText(model))
  assert.equal((await countsOf()).at(-1)!.bufferBytes, bufferBytes)
  await checkProfile(model)
  assert.deepEqual(reports, [])
  await askWorker({ loseAfter: 5 })
  await checkLoss(model, reports)
})

test('auto times tokens on both devices, and remembers the times', () =>
  withoutTimes(async (kept) => {
    const reports: Engine.DeviceReport[] = []
    const auto: Engine.LoadOptions = { ...kSoftware, device: 'auto', onDevice: (one) => reports.push(one) }
    {
      using model = await load(stories, auto)
      assert.equal(model.info.device, 'cpu')
      assert.match(
        model.info.deviceReason,
        /^The CPU is faster here: a token takes [\d.]+ ms on the graphics card/,
      )
      assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
    }
    const times = kept.read()
    assert.ok(times.cpu > 0 && times.gpu > times.cpu, JSON.stringify(times))
    // A card that is faster, as far as is remembered. Then nothing is timed.
    kept.write({ cpu: 20 * times.gpu, gpu: times.gpu })
    using model = await load(stories, auto)
    assert.equal(model.info.device, 'gpu')
    assert.match(model.info.deviceReason, /^The graphics card is faster here/)
    // A file that cannot be read is no reason for the CPU.
    let reads = 0
    const failing = {
      size: stories.length,
      read: (offset: number, length: number) => {
        if (++reads === 2) throw new GgufError('file-changed', 'another file')
        return Promise.resolve(stories.slice(offset, offset + length))
      },
    }
    await assert.rejects(load(failing, auto), { code: 'file-changed' })
    // What only the CPU computes moves the model there.
    assert.deepEqual(reports, [])
    assert.ok((await model.saveState()).length > 0)
    assert.equal(model.info.device, 'cpu')
    assert.match(model.info.deviceReason, /state is saved/)
    assert.equal(reports.length, 1)
    assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
  }))

/** The device is lost at one of the next read-backs, or was. What only the CPU computes is refused until then. */
async function checkLoss(model: Engine.Model, reports: readonly Engine.DeviceReport[]): Promise<void> {
  const want = await onCpu(kGreedy)
  using fork = await model.fork()
  assert.equal(model.info.device, 'gpu')
  assert.equal(model.info.deviceReason, 'Requested.')
  await assert.rejects(model.saveState(), {
    code: 'unsupported',
    message: /only where the model runs on the CPU/,
  })
  const shifting = textOf(model.generate(kPrompt, { ...kGreedy, contextShift: true }))
  await assert.rejects(shifting, { code: 'unsupported' })
  let result: Engine.GenerateResult | undefined
  const text = await textOf(model.generate(kPrompt, { ...kGreedy, onDone: (done) => (result = done) }))
  assert.equal(text, want)
  assert.equal(result?.tokens, kTokens)
  assert.equal(model.info.device, 'cpu')
  assert.match(model.info.deviceReason, /lost/)
  assert.deepEqual(reports, [{ device: 'cpu', deviceReason: model.info.deviceReason, adapter: undefined }])
  assert.equal(await textOf(fork.generate(kPrompt, kGreedy)), want)
  assert.equal((await model.evaluate([1, 2])).length, 2 * model.info.vocabularySize)
}

const kMoments = Array.from({ length: 20 }, (_, i) => 1 + ((i * 7) % kTokens))
test('after the loss of the device, the same answer continues on the CPU', { skip: kLong }, async () => {
  for (const moment of kMoments) {
    const reports: Engine.DeviceReport[] = []
    using model = await load(stories, {
      ...withWorker(`&lose=${moment}`),
      onDevice: (report) => reports.push(report),
    })
    await checkLoss(model, reports)
  }
})

/** A prompt that the list for many tokens computes. */
const kLongPrompt = kPrompt.repeat(11)
test('a device may be lost at any call, of loading and reading, too', { skip: kLong }, async (t) => {
  const want = await textOf(cpu.generate(kLongPrompt, kGreedy))
  // The calls up to the end of loading, of the prompt, of the answer.
  const ends: number[] = [0]
  {
    using model = await load(stories, withWorker())
    ends.push((await askWorker()).now.all)
    assert.equal(await textOf(model.generate(kLongPrompt, kGreedy)), want)
    ends.push((await countsOf())[0]!.all, (await askWorker()).now.all)
  }
  const moments: number[] = []
  for (let i = 0, random = 1; i < 20; i++) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0
    const [from, to] = [ends[i % 3]!, ends[(i % 3) + 1]!]
    moments.push(from + 1 + (random % (to - from)))
  }
  const counts = { loading: 0, answering: 0, before: 0 }
  for (const moment of moments) {
    const first = await load(stories, withWorker(`&loseAt=${moment}`)).catch((error: unknown) => error)
    // While it loads, the loss is an error, as the device was requested.
    if (first instanceof GgufError) {
      assert.equal(first.code, 'device-lost', `call ${moment}: ${first.message}`)
      counts.loading++
      continue
    }
    using model = first as Engine.Model
    const pieces: Engine.Piece[] = []
    for await (const piece of model.generate(kLongPrompt, kGreedy)) pieces.push(piece)
    assert.equal(pieces.map(({ text }) => text).join(''), want, `lost at call ${moment}`)
    assert.equal(pieces.filter(({ token }) => token >= 0).length, kTokens)
    counts[model.info.device === 'cpu' ? 'answering' : 'before']++
    // The moved model goes on.
    assert.equal(await textOf(model.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
    assert.equal(model.info.device, 'cpu', `lost at call ${moment}`)
  }
  t.diagnostic(JSON.stringify({ ends, ...counts, moments }))
  assert.ok(counts.loading > 0 && counts.answering > 0)
})

test('loads and closes leave nothing behind', { skip: kLong }, async (t) => {
  const bytes = await smallBert(kRank)
  const destroyed = new BroadcastChannel('destroyed')
  const left: number[] = []
  let wake = (): void => {}
  destroyed.onmessage = ({ data }: MessageEvent<number>) => {
    left.push(data)
    wake()
  }
  const once = async (): Promise<void> => {
    using model = await load(bytes, { ...withWorker(), contextLength: kBertContext })
    assert.equal((await model.embed('honey')).length, 2)
    assert.equal(model.info.device, 'gpu')
  }
  try {
    // Memory of the process settles after some loads. A worker that stays has 30 MB.
    const [warm, loads] = [10, 40]
    for (let i = 0; i < warm; i++) await once()
    const before = process.memoryUsage().rss
    for (let i = 0; i < loads; i++) await once()
    const growth = (process.memoryUsage().rss - before) / loads
    t.diagnostic(`${growth} bytes for each load`)
    assert.ok(growth < 12e6, `${growth} bytes for each load`)
    // Each device was destroyed, with the same buffers.
    while (left.length < warm + loads) await new Promise<void>((resolve) => (wake = resolve))
    assert.equal(new Set(left).size, 1, left.join())
  } finally {
    destroyed.close()
  }
})

test('the call that finds its device lost rejects with the error of onDevice', { skip: kLong }, async () => {
  const error = new Error('of onDevice')
  const onDevice = (() => Promise.reject(error)) as () => void
  using model = await load(stories, { ...withWorker('&lose=2'), onDevice })
  const ids = longText(model)
  await assert.rejects(model.evaluate(ids), (reason) => reason === error)
  assert.equal(model.info.device, 'cpu')
  assert.ok(difference(await model.evaluate(ids), await cpu.evaluate(ids)) < 2e-4)
})

test('what a lost device measures is not reported, and a crash there is named', { skip: kLong }, async () => {
  {
    using model = await load(stories, withWorker())
    // In the midst of the measuring.
    await askWorker({ afterCalls: 8 })
    const peaks = await model.peaks()
    assert.equal(model.info.device, 'cpu')
    assert.match(model.info.deviceReason, /^The graphics card was lost/)
    assert.ok(peaks.int8 > peaks.float32)
  }
  using model = await load(stories, withWorker())
  const want = await onCpu(kGreedy)
  await askWorker({ afterCalls: 20, throws: true })
  assert.equal(await textOf(model.generate(kPrompt, kGreedy)), want)
  assert.equal(model.info.deviceReason, 'The engine on the graphics card crashed: a fault of the driver.')
})

/** More than the queries of a set, which WebGPU limits. */
const kManyLayers = 350
test('the profile has all dispatches of a pass, however many', { skip: kLong }, async () => {
  using model = await load(await smallLlama(kManyLayers), kSoftware)
  await model.profile()
  await textOf(model.generate(kPrompt, { ...kGreedy, maxTokens: 2 }))
  const rows = (await model.profile()).filter(({ tokens }) => tokens === 'one')
  const calls = (operation: string): number =>
    rows.filter((row) => row.operation === operation).reduce((sum, one) => sum + one.calls, 0)
  assert.equal(calls('other'), 1)
  assert.equal(calls('products'), 4 * kManyLayers + 1)
  assert.equal(calls('attention'), 2 * kManyLayers)
  assert.equal(calls('sampling'), 1)
})

/** Reference adapters for models of floats and of quantized weights, with experts, with latent attention. */
const kAdapted = ['llama', ...(kAll ? ['llama-kquant', 'llama-moe', 'deepseek2', 'gemma2'] : [])]
test('LoRA adapters are part of the weights on the GPU, and go to the CPU with the model', async (t) => {
  for (const name of kAdapted) {
    const folder = join(kVectors, 'lora', name)
    if (!existsSync(folder)) return t.skip('no reference vectors')
    const { base } = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')) as { base: string }
    const bytes = new Uint8Array(readFileSync(join(kVectors, base)))
    const [a, b] = ['a.gguf', 'b.gguf'].map((file) => new Uint8Array(readFileSync(join(folder, file))))
    const adapters = [
      { source: a!, scale: 0.75 },
      { source: b!, scale: -0.5 },
    ]
    using plain = await load(bytes, { ...kOptions, device: 'cpu' })
    using other = await load(bytes, { ...kOptions, device: 'cpu', adapters })
    using gpu = await load(bytes, { ...withWorker(), adapters, maxForks: 1 })
    assert.equal(gpu.info.device, 'gpu')
    assert.deepEqual(gpu.adapters, other.adapters)
    const ids = Array.from({ length: 9 }, (_, i) => i + 3)
    const want = await other.evaluate(ids)
    assert.ok(difference(await gpu.evaluate(ids), want) < 2e-4, name)
    assert.ok(difference(await plain.evaluate(ids), want) > 1e-2, name)
    using fork = await gpu.fork()
    const text = await textOf(other.generate(kPrompt, kGreedy))
    for (const one of [gpu, fork]) assert.equal(await textOf(one.generate(kPrompt, kGreedy)), text, name)
    // Others than those of load() are refused, and nothing changes.
    for (const choice of [[], [adapters[0]!], [{ source: a!, scale: 1 }, adapters[1]!]])
      await assert.rejects(gpu.setAdapters(choice), { code: 'unsupported', message: /than those of loading/ })
    assert.equal((await gpu.setAdapters(adapters)).length, 2)
    // On the CPU, they may change.
    await askWorker({ loseAfter: 2 })
    for (const one of [gpu, fork]) assert.equal(await textOf(one.generate(kPrompt, kGreedy)), text, name)
    assert.equal(gpu.info.device, 'cpu')
    await gpu.setAdapters([adapters[1]!])
    await other.setAdapters([adapters[1]!])
    assert.ok(difference(await gpu.evaluate(ids), await other.evaluate(ids)) < 1e-5, name)
    await gpu.setAdapters([])
    assert.ok(difference(await gpu.evaluate(ids), await plain.evaluate(ids)) < 1e-5, name)
    if (name !== 'llama') continue
    using auto = await load(bytes, { ...kSoftware, device: 'auto', adapters })
    assert.match(auto.info.deviceReason, /only if that is requested/)
  }
})

/** Dispatches of a layer, at most, of reference models of each kind: tests/core/gpu/plans.cpp has those of all. */
const kCounted: Readonly<Record<string, number>> = {
  lfm2: 6,
  ...(kAll && { gemma2: 6, qwen2moe: 8, deepseek2: 10 }),
}
/**
 * With recurrent layers, whose states follow the text, of forks too, whatever was on its way and discarded; and with latent
 * attention.
 */
const kFurther = [
  'rwkv7',
  'lfm2moe',
  'mamba',
  'mamba2',
  'jamba',
  'falcon-h1',
  'granitehybrid',
  'qwen3next',
  'qwen35',
  'rwkv6',
  'arwkv7',
  'minicpm3',
]
test('models of other kinds answer on the GPU as on the CPU, with the fewest calls for each token', async (t) => {
  for (const name of [...Object.keys(kCounted), ...(kAll ? kFurther : [])]) {
    const path = join(kVectors, `arch/${name}/model.gguf`)
    if (!existsSync(path)) return t.skip('no reference vectors')
    const bytes = new Uint8Array(readFileSync(path))
    using gpu = await load(bytes, withWorker())
    using other = await load(bytes, { ...kOptions, device: 'cpu' })
    const first = await textOf(gpu.generate(kPrompt, kGreedy))
    if (kCounted[name] !== undefined) checkPasses(await countsOf(), kCounted[name] * gpu.info.layers, kTokens)
    const answers = async (model: Engine.Model): Promise<string[]> => {
      const texts = [await textOf(model.generate(kPrompt, kGreedy))]
      // Left early: tokens that were on their way are discarded.
      let taken = 0
      for await (const _ of model.generate(kPrompt, kGreedy)) if (++taken === 3) break
      const longer = `${kPrompt}${texts[0]!} and`
      using fork = await model.fork()
      for (const one of kAll ? [fork, model, fork] : [fork, model])
        texts.push(await textOf(one.generate(longer, kGreedy)))
      if (kAll) texts.push(await textOf(model.generate(longer, { ...kGreedy, temperature: 0.8, seed: 3 })))
      return texts
    }
    const want = await answers(other)
    assert.equal(first, want[0], name)
    assert.deepEqual(await answers(gpu), want, name)
    assert.equal(gpu.info.device, 'gpu')
  }
})

test('an encoder-decoder encodes its prompt on the GPU', { skip: kLong }, async (t) => {
  const path = join(kVectors, 'arch/t5/model.gguf')
  if (!existsSync(path)) return t.skip('no reference vectors')
  const bytes = new Uint8Array(readFileSync(path))
  using gpu = await load(bytes, withWorker())
  using other = await load(bytes, { ...kOptions, device: 'cpu' })
  const want = await textOf(other.generate(kPrompt, kGreedy))
  for (const prompt of [kPrompt, 'there', kPrompt])
    assert.equal(await textOf(gpu.generate(prompt, kGreedy)), await textOf(other.generate(prompt, kGreedy)))
  checkPasses((await countsOf()).slice(0, kTokens), 10 * gpu.info.layers, kTokens)
  for (const pooling of ['mean', 'none'] as const) {
    const rows = await gpu.embed(kPrompt, { pooling })
    assert.ok(difference(rows, await other.embed(kPrompt, { pooling })) < 1e-4)
  }
  await assert.rejects(gpu.evaluate([1, 2]), { code: 'unsupported', message: /encoder-decoder/ })
  assert.equal(await textOf(gpu.generate(kPrompt, kGreedy)), want)
  assert.equal(gpu.info.device, 'gpu')
  await askWorker({ loseAfter: 2 })
  assert.equal(await textOf(gpu.generate(kPrompt, kGreedy)), want)
  assert.match(gpu.info.deviceReason, /lost/)
  await withoutTimes(async (kept) => {
    using auto = await load(bytes, { ...kSoftware, device: 'auto' })
    assert.match(auto.info.deviceReason, /faster here/)
    assert.ok(kept.read().gpu > 0)
  })
})

/** More tokens than a pass returns logits of. */
function longText({ tokenizer }: Engine.Model): number[] {
  const ids = [...tokenizer.encode(kPrompt.repeat(12))].slice(0, 70)
  assert.equal(ids.length, 70)
  return ids
}

/** What is computed of a whole text. */
async function checkTexts(gpu: Engine.Model): Promise<void> {
  const ids = longText(gpu)
  for (const tokens of kAll ? [ids, ids.slice(0, 3)] : [ids])
    assert.ok(difference(await gpu.evaluate(tokens), await cpu.evaluate(tokens)) < 2e-4)
  for (const pooling of ['none', 'mean'] as const)
    assert.ok(difference(await gpu.embed(kPrompt, { pooling }), await cpu.embed(kPrompt, { pooling })) < 2e-4)
  await assert.rejects(gpu.embed('a', { pooling: 'rank' }), { code: 'unsupported' })
  await assert.rejects(gpu.evaluate([1 << 30]), { code: 'out-of-range' })
  assert.equal(await textOf(gpu.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
  assert.equal(gpu.info.device, 'gpu')
}

/** The times of the operations by the device's clock, and what it could do. */
async function checkProfile(gpu: Engine.Model): Promise<void> {
  assert.deepEqual(await gpu.profile(), [])
  assert.equal(await textOf(gpu.generate(kPrompt, kGreedy)), await onCpu(kGreedy))
  const rows = await gpu.profile()
  const one = rows.filter(({ tokens }) => tokens === 'one')
  for (const operation of ['products', 'attention', 'sampling', 'other'] as const) {
    const own = one.filter((row) => row.operation === operation)
    assert.ok(own.length > 0, operation)
    assert.ok(own.every(({ calls, ms }) => calls > 0 && ms >= 0))
  }
  assert.ok(rows.some(({ ms }) => ms > 0))
  const products = one.filter(({ operation }) => operation === 'products')
  assert.ok(products.every(({ types, shape, bytes }) => types.length > 0 && shape.length === 2 && bytes > 0))
  if (!kAll) return
  const peaks = await gpu.peaks()
  for (const rate of ['dram', 'l2', 'float32'] as const)
    assert.ok(peaks[rate] > 1e6, `${rate} ${peaks[rate]}`)
}

test('embeddings and rankings of an encoder are those of the CPU', async () => {
  const documents = ['bees make honey', 'owls sleep by day', 'honey']
  const bytes = await smallBert(kRank)
  using gpu = await load(bytes, { ...kSoftware, contextLength: kBertContext })
  using other = await load(bytes, { ...kOptions, device: 'cpu', contextLength: kBertContext })
  for (const pooling of ['rank', 'mean', 'none'] as const)
    assert.ok(
      difference(await gpu.embed(documents[0]!, { pooling }), await other.embed(documents[0]!, { pooling })) <
        1e-5,
    )
  assert.ok(difference(await gpu.evaluate([2, 5, 6, 3]), await other.evaluate([2, 5, 6, 3])) < 1e-5)
  const query = 'what do bees make'
  const [got, want] = [await gpu.rerank(query, documents), await other.rerank(query, documents)]
  assert.deepEqual(
    got.map(({ index }) => index),
    want.map(({ index }) => index),
  )
  got.forEach(({ score }, i) => assert.ok(Math.abs(score - want[i]!.score) < 1e-5))
  const ranked = await Promise.all([gpu, other].map((model) => createRerank(model, { query, documents })))
  assert.deepEqual(ranked[0]!.usage, ranked[1]!.usage)
  assert.equal(gpu.info.device, 'gpu')
})

/** A matrix for the embeddings, a ranking by two logits, dense layers after the pooling, recurrent layers. */
const kPooled = ['qwen3-rank', 'gemma-embedding-dense', 'lfm2-dense', 'neo-bert-rank']
test('models that pool their embeddings give those of the CPU', { skip: kLong }, async (t) => {
  for (const name of kPooled) {
    const path = join(kVectors, `pooling/${name}/model.gguf`)
    if (!existsSync(path)) return t.skip('no reference vectors')
    const bytes = new Uint8Array(readFileSync(path))
    using gpu = await load(bytes, { ...kSoftware, contextLength: 64 })
    using other = await load(bytes, { ...kOptions, device: 'cpu', contextLength: 64 })
    const text = 'a small text'
    assert.ok(difference(await gpu.embed(text), await other.embed(text)) < 1e-4, name)
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
