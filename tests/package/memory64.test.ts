// The engine's variant with 64-bit memory computes what the others do. It is chosen for models that need more than 4
// GiB, and where it is missing, the error says so.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { chromium } from '@playwright/test'
import type * as Engine from 'ggufscope/engine'
import { kSlowShape, syntheticFile } from '../fixtures/synthetic.ts'
import { startServer } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { engine, kStories, stories, textOf } from './engine.ts'
import { kLacks64, kNodes, kRoot, loadPackage, packedFile } from './packed.ts'

const { load } = engine
// A context for which this model needs 6.4 GB, and one for which it needs more than 16 GiB.
const kOver4 = { contextLength: 2 ** 22 }
const kOver16 = { contextLength: 2 ** 24 }
const kRefused = { name: 'GgufError', code: 'out-of-memory' }

for (const threads of [1, 2])
  for (const precision of ['fast', 'exact'] as const)
    test(
      `logits, answers and states are those of 32-bit memory: ${precision}, ${threads} thread(s)`,
      { skip: kLacks64 },
      async () => {
        const options = { threads, precision }
        using narrow = await load(stories, { ...options, variant: 'relaxed' })
        using wide = await load(stories, { ...options, variant: 'memory64' })
        assert.deepEqual(
          [wide.info.variant, wide.info.threads, wide.info.memory],
          ['memory64', threads, narrow.info.memory],
        )
        const tokens = narrow.tokenizer.encode('Once upon a time, there was a bee', { bos: true })
        assert.deepEqual(await wide.evaluate(tokens), await narrow.evaluate(tokens))
        const sampled = { seed: 3, maxTokens: 40, topK: 20, lookup: 2 }
        const answer = await textOf(narrow.generate('Once upon a time', sampled))
        assert.ok(answer.length > 20)
        assert.equal(await textOf(wide.generate('Once upon a time', sampled)), answer)
        const saved = await wide.saveState()
        assert.deepEqual(saved, await narrow.saveState())
        await narrow.loadState(saved)
        await wide.loadState(saved)
        using fork = await wide.fork()
        const more = { temperature: 0, maxTokens: 8 }
        assert.equal(await textOf(fork.generate('A cat', more)), await textOf(narrow.generate('A cat', more)))
        assert.deepEqual(await wide.embed('bees'), await narrow.embed('bees'))
      },
    )

test('a package without the 64-bit engine says so', { skip: !kLacks64 && 'the package has it' }, async () => {
  for (const options of [kOver4, { variant: 'memory64' }] as const)
    await assert.rejects(load(stories, options), {
      code: 'out-of-memory',
      message: /has no engine with 64-bit memory/,
    })
})

test('a model that needs more than 4 GiB is planned with 64-bit memory', { skip: kLacks64 }, async () => {
  await assert.rejects(load(stories, kOver16), (error: Error) => {
    assert.deepEqual({ name: error.name, code: (error as Engine.GgufError).code }, kRefused)
    assert.match(error.message, /needs 2\d\.\d\d GB .*, and 17\.11 GB can be had/)
    return true
  })
  // Not beyond the caller's limit, and not if the caller chose a variant.
  for (const options of [{ memoryLimit: 2 ** 32 - (64 << 20) }, { variant: 'relaxed' }] as const)
    await assert.rejects(load(stories, { ...kOver4, ...options }), {
      ...kRefused,
      message: /and 4\.23 GB can be had/,
    })
})

test('errors say if 64-bit memory is missing', async () => {
  const { validate } = WebAssembly
  WebAssembly.validate = (bytes) => (bytes as Uint8Array)[8] !== 5 && validate(bytes)
  try {
    await assert.rejects(load(stories, kOver4), {
      ...kRefused,
      message: /needs 6\.\d\d GB .* WebAssembly has no 64-bit memory \(memory64\) here\.$/,
    })
  } finally {
    WebAssembly.validate = validate
  }
})

test('Whisper models stay in 32-bit memory', { skip: kLacks64 }, async () => {
  using file = await (await loadPackage()).open(stories)
  const renamed = await (await file.edit()).set('general.architecture', 'whisper').build()
  await assert.rejects(load(await renamed.bytes(), { variant: 'memory64' }), {
    code: 'unsupported',
    message: /Whisper/,
  })
})

// Node 20 has no 64-bit memory.
const old = kNodes.find(
  (path) => Number(/^v(\d+)/.exec(execFileSync(path, ['--version']).toString())?.[1]) < 24,
)
test('errors on an older Node say what it lacks', { skip: old ? false : 'no other Node' }, () => {
  const script = `import { readFileSync } from 'node:fs'
import { load } from ${JSON.stringify(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)}
const bytes = new Uint8Array(readFileSync(${JSON.stringify(kStories)}))
for (const options of [{ contextLength: 2 ** 22 }, { variant: 'memory64' }])
  await load(bytes, options).catch(({ name, code, message }) => console.log(name, code, message))
for await (const { text } of (await load(bytes)).generate('Once', { maxTokens: 3 })) console.log(text)`
  const lines = execFileSync(old!, ['--input-type=module', '--eval', script]).toString().split('\n')
  assert.match(lines[0]!, /^GgufError out-of-memory .* no 64-bit memory \(memory64\) here\.$/)
  assert.match(lines[1]!, /^GgufError unsupported .*memory64/)
  assert.ok(lines.length > 4)
})

test('pages with and without isolation', { skip: kLacks64 || (!kHasBrowser && 'no Chromium') }, async () => {
  const models = join(kRoot, 'build/bench-models')
  await syntheticFile(models, kSlowShape, 'Q8_0')
  const browser = await chromium.launch(kBrowser)
  try {
    for (const isolated of [true, false]) {
      await using server = await startServer({ isolated, cors: false })
      server.mount('/package', packedFile('.'))
      server.mount('/models', models)
      server.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
      const page = await browser.newPage()
      await page.goto(`${server.url}/index.html`)
      const seen = await page.evaluate(async () => {
        const address = new URL('/package/wasm/dist/engine/index.js', location.href).href
        const { load } = (await import(address)) as typeof Engine
        const out: { variant: string; threads: number; tokens: number[]; logits: number[] }[] = []
        for (const variant of ['relaxed', 'memory64'] as const) {
          const model = await load(new URL('/models/slow-Q8_0.gguf', location.href), { variant, threads: 2 })
          const logits = [...(await model.evaluate([300, 400, 500]))]
          const tokens: number[] = []
          for await (const { token } of model.generate([300, 400], { temperature: 0, maxTokens: 8 }))
            tokens.push(token)
          out.push({ variant: model.info.variant, threads: model.info.threads, tokens, logits })
          model.close()
        }
        return out
      })
      const [narrow, wide] = seen
      assert.deepEqual(wide, { ...narrow, variant: 'memory64' })
      assert.equal(wide!.threads, isolated ? 2 : 1)
      assert.ok(wide!.tokens.length > 0)
      await page.close()
    }
  } finally {
    await browser.close()
  }
})
