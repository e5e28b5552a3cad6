// One engine for all tabs, in Chromium: what only its tools for developers can cause. Pages that
// crash, hang and are frozen; and the memory of one tab and of four.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium, type Browser, type BrowserContext, type Page } from '@playwright/test'
import { ofProcesses } from '../bench/common/browser-processes.ts'
import { kLong } from '../fixtures/short.ts'
import { kSlowShape, syntheticFile } from '../fixtures/synthetic.ts'
import { startServer } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { kStories } from './engine.ts'
import { kRoot, packedFile } from './packed.ts'

const skip = kHasBrowser ? false : 'no Chromium'
const server = await startServer({ isolated: true, cors: false })
server.mount('/package', packedFile('.'))
server.add('/stories.gguf', readFileSync(kStories))
server.add('/share-page.js', readFileSync(join(kRoot, 'tests/fixtures/share-page.js')))
server.add(
  '/index.html',
  '<!doctype html><title>test</title><link rel="icon" href="data:,"><script type="module" src="share-page.js"></script>',
)

let browser: Browser
before(async () => {
  if (!skip) browser = await chromium.launch(kBrowser)
})
after(async () => {
  await browser?.close()
  await server.close()
})

interface Share {
  load(options?: object): Promise<number>
  start(call: object, stops?: readonly number[]): number
  stopped(number: number, count: number): Promise<void>
  proceed(number: number): void
  result(number: number): Promise<{ text: string; error?: string }>
  answer(call: object): Promise<{ text: string; error?: string }>
  workers(): number
}
declare const share: Share

const kCall = { prompt: 'Once upon a time', options: { temperature: 0, ignoreEnd: true, maxTokens: 200 } }

async function openTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${server.url}/index.html`)
  return page
}

/** Two tabs: the first runs the engine, and the second one's answer waits at its fifth token while `change` runs. */
async function interrupted(
  change: (leader: Page, context: BrowserContext) => Promise<void>,
  then: (leader: Page, text: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const context = await browser.newContext()
  try {
    const [leader, other] = [await openTab(context), await openTab(context)]
    for (const page of [leader, other]) await page.evaluate(() => share.load())
    const { text } = await leader.evaluate((call) => share.answer(call), kCall)
    assert.deepEqual(
      [await leader.evaluate(() => share.workers()), await other.evaluate(() => share.workers())],
      [1, 0],
    )
    await other.evaluate(async (call) => {
      share.start(call, [5])
      await share.stopped(0, 1)
    }, kCall)
    await change(leader, context)
    const seen = await other.evaluate(async () => {
      share.proceed(0)
      return await share.result(0)
    })
    assert.deepEqual([seen.text, seen.error], [text, undefined])
    assert.equal(await other.evaluate(() => share.workers()), 1)
    await then(leader, text)
  } finally {
    await context.close()
  }
}

test('the page that runs the engine is frozen, and wakes up', { skip }, () =>
  interrupted(
    // Chromium freezes only hidden pages, and without windows all are visible.
    (leader) => leader.evaluate(() => void document.dispatchEvent(new Event('freeze'))),
    async (leader, text) => {
      const again = await leader.evaluate(async (call) => {
        document.dispatchEvent(new Event('resume'))
        return await share.answer(call)
      }, kCall)
      assert.deepEqual([again.text, again.error], [text, undefined])
      assert.equal(await leader.evaluate(() => share.workers()), 0)
    },
  ),
)

test('the page that runs the engine crashes', { skip }, () =>
  interrupted(async (leader) => {
    const crashed = new Promise((resolve) => leader.once('crash', resolve))
    leader.goto('chrome://crash').catch(() => {})
    await crashed
  }),
)

// Firefox and WebKitGTK run the tabs of an isolated site in one process, and these hang together.
test('the page that runs the engine hangs', { skip: skip || kLong }, () =>
  interrupted((leader) => {
    leader
      .evaluate(() =>
        setTimeout(() => {
          for (;;);
        }, 0),
      )
      .catch(() => {})
    return Promise.resolve()
  }),
)

/** Bytes of memory of the browser's processes; what several share is counted once. */
async function memory(): Promise<number> {
  return await ofProcesses(browser, (folder) => {
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`${folder}/smaps_rollup`, 'utf8'))!
    return Number(kilobytes) * 1024
  })
}

test('four tabs take at most 1.1 times the memory of one', { skip: skip || kLong }, async (context) => {
  const models = join(kRoot, 'build/bench-models')
  await syntheticFile(models, kSlowShape, 'Q8_0')
  server.mount('/models', models)
  const site = await browser.newContext()
  const pages: Page[] = []
  try {
    for (let i = 0; i < 4; i++) pages.push(await openTab(site))
    const load = (page: Page) =>
      page.evaluate(async () => {
        await share.load({ model: '/models/slow-Q8_0.gguf', load: { contextLength: 256 } })
        await share.answer({ prompt: [300, 301, 302], options: { ignoreEnd: true, maxTokens: 3 } })
        ;(globalThis as unknown as { gc(): void }).gc()
      })
    const empty = await memory()
    await load(pages[0]!)
    const one = (await memory()) - empty
    await Promise.all(pages.slice(1).map(load))
    const four = (await memory()) - empty
    context.diagnostic(`one tab: ${Math.round(one / 1e6)} MB, four tabs: ${Math.round(four / 1e6)} MB`)
    assert.ok(four <= 1.1 * one, `${four} bytes with four tabs, ${one} with one`)
  } finally {
    await site.close()
  }
})
