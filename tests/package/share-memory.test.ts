// The memory of one tab and of four tabs with a shared engine, in Firefox and WebKitGTK: all processes of the browser, by
// their proportional set sizes. Chromium's is in share-chromium.test.ts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { missing, startBrowser, type Driven, type Page } from '../browsers/drive.ts'
import { kLong } from '../fixtures/short.ts'
import { kSlowShape, syntheticFile } from '../fixtures/synthetic.ts'
import { startServer } from '../server/server.ts'
import { kRoot, packedFile } from './packed.ts'

const server = await startServer({ isolated: true, cors: false })
server.mount('/package', packedFile('.'))
server.add('/share-page.js', readFileSync(join(kRoot, 'tests/fixtures/share-page.js')))
server.add(
  '/index.html',
  '<!doctype html><title>test</title><link rel="icon" href="data:,"><script type="module" src="share-page.js"></script>',
)
after(() => server.close())

/** Of 0.15 GB: WebKit takes 4 to 7 MB for each further tab, whatever the model. */
const kShape = { ...kSlowShape, name: 'slow-48', blocks: 48 }

/** Loads the model in a tab, and answers. */
const use = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await import(new URL('share-page.js', location.href).href)
    const { share } = globalThis as unknown as {
      share: { load(options: object): Promise<number>; answer(call: object): Promise<unknown> }
    }
    await share.load({ model: '/models/slow-48-Q8_0.gguf', load: { contextLength: 256 } })
    await share.answer({ prompt: [300, 301, 302], options: { ignoreEnd: true, maxTokens: 3 } })
  })

/** Bytes of memory: the least of thirty readings, because the garbage of a page that has just loaded goes later. */
async function settled(browser: Driven): Promise<number> {
  let least = Infinity
  for (let i = 0; i < 30; i++) {
    least = Math.min(least, browser.memory!())
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return least
}

for (const name of ['firefox', 'webkit'] as const)
  test(
    `${name}: four tabs take at most 1.1 times the memory of one`,
    { skip: missing(name) || kLong },
    async (context) => {
      const models = join(kRoot, 'build/bench-models')
      await syntheticFile(models, kShape, 'Q8_0')
      server.mount('/models', models)
      const browser = await startBrowser(name)
      try {
        const pages: Page[] = []
        for (let i = 0; i < 4; i++) {
          const page = await browser.newPage()
          await page.goto(`${server.url}/index.html`)
          pages.push(page)
        }
        const empty = await settled(browser)
        await use(pages[0]!)
        const one = (await settled(browser)) - empty
        for (const page of pages.slice(1)) await use(page)
        const four = (await settled(browser)) - empty
        const megabytes = (bytes: number) => Math.round(bytes / 1e6)
        context.diagnostic(
          `empty ${megabytes(empty)} MB; one tab: +${megabytes(one)} MB, four tabs: +${megabytes(four)} MB`,
        )
        assert.ok(four <= 1.1 * one, `${four} bytes with four tabs, ${one} with one`)
      } finally {
        await browser.close()
      }
    },
  )
