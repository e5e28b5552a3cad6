// A model on a GPU in a page of Chromium, whose WebGPU is software here.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { chromium } from '@playwright/test'
import type * as Engine from 'ggufscope/engine'
import { kAll } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { kBrowserWithGpu, kHasBrowser } from '../web/browser.ts'
import { kStories } from './engine.ts'
import { packedFile } from './packed.ts'
import { smallLlama } from './small-llama.ts'

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
