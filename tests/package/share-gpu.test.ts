// One engine for all tabs on a GPU, in Chromium, whose WebGPU is software here: both tabs answer as the CPU does, and an
// answer goes on on the GPU after the tab that runs the engine has closed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chromium, type Page } from '@playwright/test'
import { kLong } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { kBrowserWithGpu, kHasBrowser } from '../web/browser.ts'
import { kStories } from './engine.ts'
import { kRoot, packedFile } from './packed.ts'

const kCall = { prompt: 'Once upon a time', options: { temperature: 0, maxTokens: 12, ignoreEnd: true } }
const kOptions = { contextLength: 128, cacheType: 'f32', precision: 'exact' }

/** Calls a function of the page. */
const ask = <Result = unknown>(page: Page, name: string, ...values: readonly unknown[]): Promise<Result> =>
  page.evaluate(
    async ({ name, values }) => {
      const { share } = globalThis as unknown as { share: Record<string, (...all: unknown[]) => unknown> }
      return (await share[name]!(...values)) as never
    },
    { name, values },
  )

test(
  'two tabs share a model on a GPU, and the second one goes on after the first has closed',
  { skip: kHasBrowser ? kLong : 'no Chromium', timeout: 600_000 },
  async () => {
    const server = await startServer({ isolated: true, cors: false })
    server.mount('/package', packedFile('.'))
    server.add('/stories.gguf', readFileSync(kStories))
    server.add('/share-page.js', readFileSync(join(kRoot, 'tests/fixtures/share-page.js')))
    server.add(
      '/index.html',
      '<!doctype html><title>test</title><link rel="icon" href="data:,"><script type="module" src="share-page.js"></script>',
    )
    const browser = await chromium.launch(kBrowserWithGpu)
    try {
      const context = await browser.newContext()
      const open = async (load: object, share = true): Promise<Page> => {
        const page = await context.newPage()
        await page.goto(`${server.url}/index.html`)
        await ask(page, 'load', { share, load: { ...kOptions, ...load } })
        return page
      }
      const alone = await open({}, false)
      const expected = await ask<{ tokens: number[] }>(alone, 'answer', kCall)
      assert.equal(expected.tokens.length, kCall.options.maxTokens)
      const onGpu = { device: 'gpu', allowFallbackAdapter: true }
      const leader = await open(onGpu)
      const other = await open(onGpu)
      const deviceOf = async (page: Page) => (await ask<{ device: string }>(page, 'info')).device
      assert.deepEqual([await deviceOf(leader), await deviceOf(other)], ['gpu', 'gpu'])
      assert.deepEqual([await ask(leader, 'workers'), await ask(other, 'workers')], [1, 0])
      const both = await Promise.all([ask(leader, 'answer', kCall), ask(other, 'answer', kCall)])
      assert.deepEqual(both, [expected, expected])
      const number = await ask<number>(other, 'start', kCall, [5])
      await ask(other, 'stopped', number, 1)
      await leader.close()
      await ask(other, 'proceed', number)
      assert.deepEqual(await ask(other, 'result', number), expected)
      assert.deepEqual([await deviceOf(other), await ask(other, 'workers')], ['gpu', 1])
    } finally {
      await browser.close()
      await server.close()
    }
  },
)
