// A model on a GPU in a page of Chromium, whose WebGPU is software here.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chromium } from '@playwright/test'
import type * as Engine from 'ggufscope/engine'
import { kAll, kLong } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { kBrowserWithGpu, kHasBrowser } from '../web/browser.ts'
import { kStories } from './engine.ts'
import { packedFile } from './packed.ts'
import { smallLlama } from './small-llama.ts'
import { kVectors } from './vectors.ts'

const kOptions: Engine.LoadOptions = { contextLength: 128, cacheType: 'f32', precision: 'exact' }

test(
  'a page answers on a GPU, and fetches the script for it only then',
  {
    skip: kHasBrowser ? false : 'no Chromium',
    timeout: 600_000,
  },
  async () => {
    const server = await startServer({ isolated: true, cors: false })
    server.mount('/package', packedFile('.'))
    server.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
    server.add('/model.gguf', kAll ? readFileSync(kStories) : Buffer.from(await smallLlama()))
    const browser = await chromium.launch(kBrowserWithGpu)
    try {
      const context = await browser.newContext()
      const page = await context.newPage()
      const requested: string[] = []
      page.on('request', (request) => requested.push(new URL(request.url()).pathname))
      await page.goto(`${server.url}/index.html`)
      const answer = (options: Engine.LoadOptions, tab = page) =>
        tab.evaluate(
          async ({ address, options }) => {
            const { load } = (await import(`${address}/package/wasm/dist/engine/index.js`)) as typeof Engine
            using model = await load(`${address}/model.gguf`, options as Engine.LoadOptions)
            let text = ''
            for await (const piece of model.generate('Once upon a time', { temperature: 0, maxTokens: 6 }))
              text += piece.text
            const { device, deviceReason, adapter } = model.info
            return { text, device, deviceReason, adapter }
          },
          { address: server.url, options: { ...kOptions, ...options } as Record<string, unknown> },
        )
      const fetched = () => requested.some((path) => path.endsWith('/engine-gpu-worker.js'))
      const cpu = await answer({})
      assert.equal(cpu.device, 'cpu')
      const software = await answer({ device: 'auto' })
      assert.equal(software.device, 'cpu')
      assert.match(software.deviceReason, /Only software|no WebGPU|No graphics card/)
      assert.equal(software.text, cpu.text)
      assert.ok(!fetched(), 'the script for cards')
      const onGpu: Engine.LoadOptions = { device: 'gpu', allowFallbackAdapter: true }
      // In a whole run two tabs at the same time.
      const answers = [answer(onGpu)]
      if (kAll) {
        const other = await context.newPage()
        await other.goto(`${server.url}/index.html`)
        answers.push(answer(onGpu, other))
      }
      for (const gpu of await Promise.all(answers)) {
        assert.deepEqual({ device: gpu.device, text: gpu.text }, { device: 'gpu', text: cpu.text })
        assert.equal(gpu.adapter?.fallback, true)
      }
      assert.ok(fetched())
    } finally {
      await browser.close()
      await server.close()
    }
  },
)

/** Of each kind that the kernels know. */
const kReferences = [
  'llama-kquant',
  'gemma2',
  'bitnet',
  'bloom',
  'gpt-oss',
  'qwen2moe',
  'deepseek2',
  'minicpm3',
  'lfm2',
  'mamba2',
  'rwkv7',
  'qwen3next',
  'falcon-h1',
  'phi2',
]
const kArchitectures = join(kVectors, 'arch')

test(
  'a page answers with reference models of many architectures, one after the other',
  {
    skip: !kHasBrowser ? 'no Chromium' : !existsSync(kArchitectures) ? 'no reference vectors' : kLong,
    timeout: 1_800_000,
  },
  async (t) => {
    const server = await startServer({ isolated: true, cors: false })
    server.mount('/package', packedFile('.'))
    server.mount('/models', kArchitectures)
    server.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
    const browser = await chromium.launch(kBrowserWithGpu)
    try {
      const page = await browser.newPage()
      await page.goto(`${server.url}/index.html`)
      for (const name of kReferences) {
        const began = performance.now()
        const [cpu, gpu] = await page.evaluate(
          async ({ model, options }) => {
            const address = new URL('/package/wasm/dist/engine/index.js', location.href).href
            const { load } = (await import(address)) as typeof Engine
            const answers: { text: string; tokens: number; device: string }[] = []
            for (const device of ['cpu', 'gpu'] as const) {
              using loaded = await load(new URL(model, location.href), {
                ...(options as Engine.LoadOptions),
                device,
                allowFallbackAdapter: true,
              })
              let [text, tokens] = ['', 0]
              const asked = { temperature: 0, maxTokens: 6, ignoreEnd: true }
              for await (const piece of loaded.generate('Once upon a time, there was a', asked)) {
                text += piece.text
                if (piece.token >= 0) tokens++
              }
              answers.push({ text, tokens, device: loaded.info.device })
            }
            return answers
          },
          { model: `/models/${name}/model.gguf`, options: kOptions as Record<string, unknown> },
        )
        assert.deepEqual(gpu, { ...cpu, device: 'gpu' }, name)
        assert.equal(gpu!.tokens, 6, name)
        t.diagnostic(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
      }
    } finally {
      await browser.close()
      await server.close()
    }
  },
)
