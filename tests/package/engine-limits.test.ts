// Limits of the engine: KV caches, full contexts, memory, threads; and its profile.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kAll } from '../fixtures/short.ts'
import { engine, kStories as kFile, stories as bytes, textOf as text } from './engine.ts'
import { packedFile } from './packed.ts'

const { load } = engine
const kPrompt = 'Once upon a time'

// Bytes of 32 cached numbers, and the tolerance of logits without rounded activations. There are as many keys as values.
const kCaches = [
  [{ cacheType: 'f32' }, 128, 0.02],
  [{ cacheType: 'q8_0' }, 34, 0.5],
  [{ cacheType: 'q4_0' }, 18, 3],
  [{ cacheTypeK: 'q8_0' }, (34 + 64) / 2, 0.5],
  [{ cacheType: 'q4_0', cacheTypeV: 'f32' }, (18 + 128) / 2, 3],
] as const

test('cache types set the memory and change the logits only by their rounding', async () => {
  using half = await load(bytes, { precision: 'exact' })
  const tokens = half.tokenizer.encode('Bees make honey.', { bos: true })
  const plain = await half.evaluate(tokens)
  for (const [types, size, noise] of kCaches) {
    using model = await load(bytes, { ...types, precision: 'exact' })
    const ratio = model.info.memory.cache / half.info.memory.cache
    assert.ok(Math.abs(ratio - size / 64) < 0.01, `${JSON.stringify(types)}: ${ratio}`)
    const logits = await model.evaluate(tokens)
    const worst = plain.reduce((most, value, i) => Math.max(most, Math.abs(value - logits[i]!)), 0)
    assert.ok(worst > 0 && worst < noise, `${JSON.stringify(types)} differs by ${worst}`)
  }
})

test('a model that does not say its context computes the same', async () => {
  const silent = Buffer.from(bytes)
  const key = 'llama.context_length'
  silent.writeUInt32LE(0, silent.indexOf(key) + key.length + 4)
  using model = await load(new Uint8Array(silent), { threads: 1 })
  assert.equal(model.info.contextLength, 4096)
  using named = await load(bytes)
  const options = { maxTokens: 8, seed: 1 }
  assert.equal(await text(model.generate(kPrompt, options)), await text(named.generate(kPrompt, options)))
})

test('a full context ends, or shifts', async () => {
  using model = await load(bytes, { contextLength: 32 })
  let finish: string | undefined
  const options = {
    temperature: 0,
    ignoreEnd: true,
    onDone: (done: Engine.GenerateResult) => (finish = done.finishReason),
  }
  const ended = await text(model.generate(kPrompt, options))
  assert.equal(finish, 'context')
  const shifted = await text(model.generate(kPrompt, { ...options, contextShift: true, maxTokens: 100 }))
  assert.equal(finish, 'length')
  assert.ok(shifted.startsWith(ended) && shifted.length > 2 * ended.length)
})

test('a prompt that is too long is refused, or truncated if the options allow it', async () => {
  using model = await load(bytes, { contextLength: 64 })
  let result: Engine.GenerateResult | undefined
  const options = { temperature: 0, maxTokens: 8, onDone: (done: Engine.GenerateResult) => (result = done) }
  const tokens = model.tokenizer.encode('Once upon a time there was a small owl. '.repeat(20), { bos: true })
  await assert.rejects(text(model.generate(tokens, options)), { code: 'out-of-range' })
  const cut = [...tokens.slice(0, 6), ...tokens.slice(tokens.length - 50)]
  const expected = await text(model.generate(cut, options))
  const cutting = { ...options, onOverflow: 'cut-middle', keep: 6 } as const
  assert.equal(await text(model.generate(tokens, cutting)), expected)
  assert.equal(result?.promptTokens, 56)

  const turn = (i: number) => [
    { role: 'user', content: `Tell me ${i}.` },
    { role: 'assistant', content: `It is ${i}.` },
  ]
  const system = { role: 'system', content: 'Be brief.' }
  const question = { role: 'user', content: 'Tell me a story.' }
  const chat = (from: number) => [system, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].slice(from).flatMap(turn), question]
  await assert.rejects(text(model.chat(chat(0), options)), { code: 'out-of-range' })
  const story = await text(model.chat(chat(0), { ...options, onOverflow: 'drop-turns', keep: 'system' }))
  const { promptTokens } = result!
  assert.ok(promptTokens <= 56)
  let least = 0 // the smallest number of removed turns with which the prompt fits
  while ((await model.encodeChat(chat(least))).length > 56) least++
  assert.equal(promptTokens, (await model.encodeChat(chat(least))).length)
  assert.equal(await text(model.chat(chat(least), options)), story)
  const long = [system, { role: 'user', content: 'owl '.repeat(90) }]
  await assert.rejects(text(model.chat(long, { onOverflow: 'drop-turns' })), { code: 'out-of-range' })
  await assert.rejects(text(model.generate('a', { keep: 'system' })), { code: 'invalid-argument' })
  await assert.rejects(text(model.generate('a', { onOverflow: 'drop-turns' })), { code: 'invalid-argument' })
})

test('a draft model changes no token', async () => {
  using alone = await load(bytes)
  using model = await load(bytes, { draft: bytes, cacheType: 'f16', maxForks: 1 })
  assert.equal(model.info.memory.weights, 2 * alone.info.memory.weights)
  let accepted = 0
  const onDone = (done: Engine.GenerateResult) => (accepted = done.acceptedDraftTokens)
  for (const sampling of [{ temperature: 0 }, { seed: 5 }]) {
    const plain = await text(alone.generate(kPrompt, { ...sampling, maxTokens: 40 }))
    assert.equal(await text(model.generate(kPrompt, { ...sampling, maxTokens: 40, onDone })), plain)
    // The model is its own draft, which is too slow to propose more than now and then.
    if (sampling.temperature === 0) assert.ok(accepted > 0, `${accepted} accepted`)
    assert.equal(await text(model.generate(kPrompt, { ...sampling, maxTokens: 40, draft: 0, onDone })), plain)
    assert.equal(accepted, 0)
  }
  using fork = await model.fork()
  assert.equal(
    await text(fork.generate(kPrompt, { seed: 6 })),
    await text(alone.generate(kPrompt, { seed: 6 })),
  )
  await assert.rejects(load(bytes, { draft: bytes.slice(0, 100) }), { code: 'truncated' })
})

test('loads and closes leave nothing behind', async () => {
  const round = async () => {
    const model = await load(bytes)
    await text(model.generate(kPrompt, { maxTokens: 2 }))
    model.close()
    await assert.rejects(model.evaluate([1]), { code: 'closed' })
  }
  for (let i = 0; i < 3; i++) await round()
  const before = process.memoryUsage().rss
  for (let i = 0; i < (kAll ? 10 : 5); i++) await round()
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 60 << 20, `grew by ${grown} bytes`)
})

test('a small device limits the memory, unless the caller does', async () => {
  Object.defineProperty(navigator, 'deviceMemory', { value: 2 ** -10, configurable: true })
  try {
    const expected = { code: 'out-of-memory', message: /1\.0 MB can be had\..*the device.*memoryLimit/ }
    await assert.rejects(load(bytes), expected)
    using model = await load(bytes, { memoryLimit: 1e9 })
    assert.ok(model.info.memory.total > 2 ** 20)
    assert.equal(model.info.variant === 'memory64', false)
  } finally {
    delete (navigator as { deviceMemory?: number }).deviceMemory
  }
})

test('one-bit weights stay unpacked if memory is short', async () => {
  using plain = await load(bytes)
  const small = await (await (await plain.file.edit()).quantize('Q1_0', { allowRequantize: true })).build()
  const file = await small.bytes()
  using fast = await load(file)
  assert.equal(fast.info.precision, 'fast')
  const { total } = fast.info.memory
  using compact = await load(file, { memoryLimit: total - 1 })
  assert.equal(compact.info.precision, 'compact')
  assert.ok(compact.info.memory.weights < fast.info.memory.weights)
  using asked = await load(file, { precision: 'compact' })
  assert.deepEqual(asked.info.memory, compact.info.memory)
  await assert.rejects(load(file, { precision: 'fast', memoryLimit: total - 1 }), { code: 'out-of-memory' })
  await assert.rejects(load(file, { precision: 'slow' as 'fast' }), { code: 'invalid-argument' })
  const tokens = [5, 6, 7, 8]
  const [a, b] = [await fast.evaluate(tokens), await compact.evaluate(tokens)]
  const size = Math.sqrt(a.reduce((sum, x) => sum + x * x, 0))
  assert.ok(Math.sqrt(a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0)) < 0.03 * size)
})

test('a profile has the time of each operation', async () => {
  for (const threads of [1, 2]) {
    using model = await load(bytes, { threads })
    assert.deepEqual(await model.profile(), [])
    await text(model.generate(kPrompt, { temperature: 0, maxTokens: 9, ignoreEnd: true }))
    const operations = await model.profile()
    const products = operations.filter(({ operation }) => operation === 'products')
    const { file } = model
    const elements = file.tensors
      .filter(({ name, shape }) => shape.length > 1 && name.startsWith('blk.'))
      .reduce((sum, { elementCount }) => sum + elementCount, 0)
    const output = (file.tensor('output.weight') ?? file.tensor('token_embd.weight'))!
    const counted = products
      .filter(({ tokens }) => tokens === 'one')
      .reduce((sum, row) => sum + row.products, 0)
    assert.equal(counted, 8 * (elements + output.elementCount)) // the first token is drawn of what the prompt gave
    const types = new Set(products.flatMap((row) => row.types))
    for (const type of types) assert.ok(file.tensors.some((tensor) => tensor.type === type))
    assert.ok(types.has(output.type))
    const logits = products.find(({ shape: [, rows] }) => rows === model.info.vocabularySize)
    assert.deepEqual(logits?.shape, output.shape)
    const named = new Set(operations.map(({ operation }) => operation))
    const expected = [
      'activations',
      'add',
      'attention',
      'cache',
      'gate',
      'norm',
      'other',
      'positions',
      'products',
      'sampling',
    ]
    assert.deepEqual([...named].sort(), expected)
    assert.ok(operations.every(({ ms, calls }) => ms >= 0 && calls > 0))
    assert.deepEqual(await model.profile(), [])
    const peaks = await model.peaks()
    for (const name of ['int8', 'int16', 'float32', 'l2', 'dram'] as const) assert.ok(peaks[name] > 1e6, name)
  }
})

test('where there seem to be more cores than there are, tokens of fewer threads are the same', async () => {
  // Within these tokens, the engine chooses the memory streams and then the number of threads.
  const told = async (engine: string, file: string, options: object) => {
    const { load } = (await import(engine)) as typeof Engine
    const { readFileSync } = await import('node:fs')
    using model = await load(new Blob([readFileSync(file)]), options)
    const texts: string[] = []
    for (let i = 0; i < 36; i++) {
      let text = ''
      const asked = { maxTokens: 60, temperature: 0, ignoreEnd: true }
      for await (const piece of model.generate(`Story ${i % 12}:`, asked)) text += piece.text
      texts[i % 12] ??= text
      if (text !== texts[i % 12]) throw new Error(`${text}, where it was ${texts[i % 12]}`)
    }
    return { threads: model.info.threads, texts }
  }
  const engine = pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
  const many = `import os from 'node:os'
    import { syncBuiltinESMExports } from 'node:module'
    os.availableParallelism = () => 8
    syncBuiltinESMExports()`
  const program = `console.log(JSON.stringify(await (${told})(${JSON.stringify(engine)}, ${JSON.stringify(kFile)}, {})))`
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  writeFileSync(join(folder, 'program.mjs'), program)
  const args = ['--import', `data:text/javascript,${encodeURIComponent(many)}`, join(folder, 'program.mjs')]
  const made = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as object
  rmSync(folder, { recursive: true })
  assert.deepEqual(made, { threads: 7, texts: (await told(engine, kFile, { threads: 1 })).texts })
})
