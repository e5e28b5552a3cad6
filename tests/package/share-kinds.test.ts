// One engine for all tabs, for what is more than text: images with a projector, Whisper models, adapters, draft models. Each
// is used by two tabs at once, and again after the tab that runs the engine has closed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  missing,
  kBrowserNames,
  startBrowser,
  type BrowserName,
  type Driven,
  type Page,
} from '../browsers/drive.ts'
import { madeProjector } from '../fixtures/made-projectors.ts'
import { kLong } from '../fixtures/short.ts'
import { withTemplate } from '../fixtures/templated.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { startServer } from '../server/server.ts'
import { kStories } from './engine.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'
import { kLora, kVectors, loraMetaOf } from './vectors.ts'

const { open } = await loadNodePackage()
const server = await startServer({ isolated: true, cors: false })
const fixture = (name: string) => readFileSync(join(kRoot, 'tests/fixtures', name))
server.mount('/package', packedFile('.'))
server.add('/stories.gguf', readFileSync(kStories))
server.add('/commands.gguf', fixture('commands.gguf'))
server.add('/commands.wav', fixture('commands.wav'))
const made = madeProjector('janus_pro')
server.add('/seeing.gguf', await withTemplate(open, made.model))
server.add('/mmproj.gguf', made.projector)
server.add('/share-page.js', fixture('share-page.js'))
server.add(
  '/index.html',
  '<!doctype html><title>test</title><link rel="icon" href="data:,"><script type="module" src="share-page.js"></script>',
)
const skipAdapters = skipWithout(kLora)
if (!skipAdapters) {
  server.add('/base.gguf', readFileSync(join(kVectors, loraMetaOf('llama').base)))
  for (const name of ['a.gguf', 'cvec.gguf']) server.add(`/${name}`, readFileSync(join(kLora, 'llama', name)))
}
after(() => server.close())

/** Calls a function of the page. */
async function ask<Result = unknown>(
  page: Page,
  name: string,
  ...values: readonly unknown[]
): Promise<Result> {
  return await page.evaluate(
    async ({ name, values }) => {
      await import(new URL('share-page.js', location.href).href) // WebKit may not have run it yet
      const { share } = globalThis as unknown as { share: Record<string, (...all: unknown[]) => unknown> }
      return (await share[name]!(...values)) as never
    },
    { name, values },
  )
}

interface Heard {
  readonly text?: string
  readonly error?: string
  readonly segments: readonly string[]
  readonly progress: readonly number[]
}

function suite(browserName: BrowserName): void {
  let browser: Driven
  before(async () => {
    browser = await startBrowser(browserName)
  })
  after(() => browser?.close())

  /** Tabs that have loaded a model; the first one runs its engine. They close at the end. */
  async function withTabs(options: object, use: (pages: Page[]) => Promise<void>): Promise<void> {
    const pages: Page[] = []
    try {
      for (let i = 0; i < 3; i++) {
        const page = await browser.newPage()
        pages.push(page)
        await page.goto(`${server.url}/index.html`)
        await ask(page, 'load', i === 2 ? { ...options, share: false } : options)
      }
      const counts = await Promise.all(pages.map((page) => ask<number>(page, 'workers')))
      assert.deepEqual(counts, [1, 0, 1])
      await use(pages)
    } finally {
      await Promise.all(pages.map((page) => page.close().catch(() => {})))
    }
  }

  test('images in answers and in a chat, and after the leader has closed', () =>
    withTabs({ model: '/seeing.gguf', load: { projector: `${server.url}/mmproj.gguf` } }, async (pages) => {
      const [leader, other, alone] = pages as [Page, Page, Page]
      const options = { temperature: 0, ignoreEnd: true, maxTokens: 20 }
      const call = (picture: number) => ({ picture, prompt: [3, 4], options })
      const [first, second] = [await ask(alone, 'answer', call(3)), await ask(alone, 'answer', call(7))]
      assert.notDeepEqual(first, second)
      const both = await Promise.all([ask(leader, 'answer', call(3)), ask(other, 'answer', call(7))])
      assert.deepEqual(both, [first, second])
      const said = await ask<string>(alone, 'chat', 5, 'What is it?')
      assert.equal(await ask(other, 'chat', 5, 'What is it?'), said)
      assert.notEqual(said, '')
      // The picture of the interrupted answer is encoded again, behind that of another tab.
      const number = await ask<number>(other, 'start', call(7), [4])
      await ask(other, 'stopped', number, 1)
      await leader.close()
      const waiting = ask(other, 'answer', call(3))
      await ask(other, 'proceed', number)
      assert.deepEqual(await waiting, first)
      assert.deepEqual(await ask(other, 'result', number), second)
      assert.equal(await ask(other, 'chat', 5, 'What is it?'), said)
      assert.equal(await ask(other, 'workers'), 1)
    }))

  test('a Whisper model transcribes for two tabs, and after the leader has closed', () =>
    withTabs({ model: '/commands.gguf' }, async (pages) => {
      const [leader, other, alone] = pages as [Page, Page, Page]
      const expected = await ask<Heard>(alone, 'transcribe', '/commands.wav')
      assert.ok(expected.segments.length > 0 && expected.progress.length > 0)
      const both = await Promise.all([leader, other].map((page) => ask(page, 'transcribe', '/commands.wav')))
      assert.deepEqual(both, [expected, expected])
      assert.equal((await ask<Heard>(other, 'transcribe', '/commands.wav', 'abort')).error, 'enough')
      // evaluate() without audio continues the audio of its own tab only.
      const logits = await ask(other, 'evaluate', [1, 2], { audio: '/commands.wav' })
      assert.deepEqual(await ask(other, 'evaluate', [1, 2]), logits)
      assert.equal(await ask(leader, 'code', 'evaluate', [1, 2]), 'not-found')
      assert.equal(
        await ask(leader, 'loadCode', { model: '/commands.gguf', load: { adapters: [{ source: 'x' }] } }),
        'unsupported',
      )
      await leader.close()
      assert.equal(await ask(other, 'code', 'evaluate', [1, 2]), 'not-found')
      assert.deepEqual(await ask(other, 'transcribe', '/commands.wav'), expected)
      assert.equal(await ask(other, 'workers'), 1)
    }))

  test(
    'each tab has adapters of its own, and keeps them when the leader closes',
    { skip: skipAdapters },
    () =>
      withTabs({ model: '/base.gguf' }, async (pages) => {
        const [leader, other, alone] = pages as [Page, Page, Page]
        const { tokens } = loraMetaOf('llama')
        const lora = { source: `${server.url}/a.gguf` }
        const vector = { source: `${server.url}/cvec.gguf`, scale: 0.5 }
        const plain = await ask(alone, 'evaluate', tokens)
        const infos = await ask(alone, 'adapt', [lora])
        const adapted = await ask(alone, 'evaluate', tokens)
        await ask(alone, 'adapt', [lora, vector])
        const moved = await ask(alone, 'evaluate', tokens)
        assert.deepEqual(await ask(other, 'adapt', [lora]), infos)
        const both = (page: Page) => ask(page, 'evaluate', tokens)
        assert.deepEqual(await Promise.all([both(leader), both(other), both(leader)]), [
          plain,
          adapted,
          plain,
        ])
        assert.equal(
          (await ask(other, 'code', 'setAdapters', [{ source: `${server.url}/stories.gguf` }])) !== undefined,
          true,
        )
        assert.deepEqual(await both(other), adapted)
        await ask(leader, 'adapt', [lora, vector])
        assert.deepEqual([await both(leader), await both(other)], [moved, adapted])
        // More conversations than the engine has places: an adapter comes back with its place.
        for (let model = 1; model < 6; model++)
          await ask(other, 'load', { model: '/base.gguf', load: { adapters: [vector] } })
        for (let model = 1; model < 6; model++) await ask(other, 'evaluate', tokens, {}, model)
        assert.deepEqual([await both(leader), await both(other)], [moved, adapted])
        await leader.close()
        assert.deepEqual(await both(other), adapted)
        const fork = await ask<number>(other, 'fork')
        assert.deepEqual(await ask(other, 'evaluate', tokens, {}, fork), adapted)
        await ask(other, 'adapt', [])
        assert.deepEqual(
          [await both(other), await ask(other, 'evaluate', tokens, {}, fork)],
          [plain, adapted],
        )
      }),
  )

  test('a draft model drafts for two tabs', () =>
    withTabs({ load: { draft: `${server.url}/stories.gguf` } }, async (pages) => {
      const [leader, other, alone] = pages as [Page, Page, Page]
      const call = { prompt: 'Once upon a time', options: { temperature: 0, ignoreEnd: true, maxTokens: 60 } }
      const expected = await ask(alone, 'answer', call)
      const both = await Promise.all([ask(leader, 'answer', call), ask(other, 'answer', call)])
      assert.deepEqual(both, [expected, expected])
      const number = await ask<number>(other, 'start', call, [9])
      await ask(other, 'stopped', number, 1)
      await leader.close()
      await ask(other, 'proceed', number)
      assert.deepEqual(await ask(other, 'result', number), expected)
    }))
}

for (const name of kBrowserNames) {
  const skip = missing(name) || (kLong && name !== 'chromium' && 'one browser in npm test')
  describe(name, { skip, concurrency: false }, () => {
    if (!skip) suite(name)
  })
}
