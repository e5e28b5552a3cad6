// One engine for all tabs of a site, in Chromium, Firefox and WebKitGTK: answers, turns, and what happens when the tab that
// runs the engine ends, at given tokens of another tab's answer.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
import { kAll, kLong } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { engine, kStories } from './engine.ts'
import { kRoot, packedFile } from './packed.ts'

const server = await startServer({ isolated: true, cors: false })
server.mount('/package', packedFile('.'))
server.add('/stories.gguf', readFileSync(kStories))
const kScript = readFileSync(join(kRoot, 'tests/fixtures/share-page.js'))
const kPage =
  '<!doctype html><title>test</title><link rel="icon" href="data:,"><script type="module" src="share-page.js"></script>'
server.add('/share-page.js', kScript)
server.add('/index.html', kPage)

// A later version of the package, whose tabs speak another protocol.
const later = mkdtempSync(join(tmpdir(), 'ggufscope-later-'))
cpSync(packedFile('wasm/dist'), later, { recursive: true })
let changed = 0
for (const name of readdirSync(later, { recursive: true, encoding: 'utf8' }).filter((one) =>
  one.endsWith('.js'),
)) {
  const text = readFileSync(join(later, name), 'utf8')
  if (!text.includes('ggufscope-engine-2')) continue
  changed++
  writeFileSync(join(later, name), text.replace('ggufscope-engine-2', 'ggufscope-engine-3'))
}
assert.equal(changed, 1)
server.mount('/later/package/wasm/dist', later)
server.add('/later/share-page.js', kScript.toString().replaceAll('/package/', '/later/package/'))
server.add('/later/index.html', kPage)
after(async () => {
  rmSync(later, { recursive: true })
  await server.close()
})

interface Call {
  readonly prompt: string
  readonly options?: object
  readonly model?: number
}
interface Answered {
  readonly tokens: number[]
  readonly text: string
  readonly logprobs: number[]
  readonly result?: { finishReason: string; stopString?: string; tokens: number; promptTokens: number }
  readonly error?: string
}
interface Tools {
  load(options?: object): Promise<number>
  start(call: Call, stops?: readonly number[]): number
  stopped(number: number, count: number): Promise<void>
  proceed(number: number): void
  abort(number: number): void
  result(number: number): Promise<Answered>
  answer(call: Call): Promise<Answered>
  close(number?: number): void
  fork(number?: number): Promise<number>
  workers(): number
  breakWorkers(): void
  code(name: string, ...values: unknown[]): Promise<string | undefined>
  loadCode(options: object): Promise<string | undefined>
  download(url: string): Promise<{ bytes: number; last: number }>
  remove(url: string): Promise<void>
  gone(url: string): Promise<void>
}
type Name = keyof Tools

/** Calls a function of the page. */
async function ask<N extends Name>(
  page: Page,
  name: N,
  ...values: Parameters<Tools[N]>
): Promise<Awaited<ReturnType<Tools[N]>>> {
  return await page.evaluate(
    async ({ name, values }) => {
      await import(new URL('share-page.js', location.href).href) // WebKit may not have run it yet
      const { share } = globalThis as unknown as { share: Record<string, (...all: unknown[]) => unknown> }
      return (await share[name]!(...values)) as never
    },
    { name, values },
  )
}

const kPrompts = ['Once upon a time', 'There was a', 'The little dog', 'One day, a girl']
const kGreedy = { temperature: 0, ignoreEnd: true, maxTokens: 200 }

/** Answers that are interrupted: options, and the tokens at which the leader ends. */
const kInterrupted: readonly [what: string, options: object, at: readonly number[]][] = [
  ['greedy', kGreedy, [0, 1, 7, 40, 199]],
  ['sampled, with penalties', { ...kGreedy, temperature: 0.9, seed: 7, repeatPenalty: 1.2 }, [5, 90]],
  ['with probabilities', { ...kGreedy, logprobs: 2 }, [3]],
  ['with a stop string', { temperature: 0, ignoreEnd: true, maxTokens: 200, stop: ['zzzz', ' and'] }, [2]],
  ['with a grammar', { temperature: 0, maxTokens: 200, grammar: 'root ::= ([a-z ,]+ ".\\n")+' }, [4, 30]],
]

function suite(name: BrowserName): void {
  let browser: Driven
  const open: Page[] = []
  before(async () => {
    browser = await startBrowser(name)
  })
  after(() => browser?.close())

  async function tab(path = '/index.html'): Promise<Page> {
    const page = await browser.newPage()
    await page.goto(server.url + path)
    open.push(page)
    return page
  }
  async function tabs(count: number, options: object = {}): Promise<Page[]> {
    const pages: Page[] = []
    for (let i = 0; i < count; i++) {
      const page = await tab()
      await ask(page, 'load', options)
      pages.push(page)
    }
    return pages
  }
  async function end(page: Page): Promise<void> {
    open.splice(open.indexOf(page), 1)
    await page.close()
  }
  const engines = async (): Promise<number> => {
    const counts = await Promise.all(open.map((page) => ask(page, 'workers')))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  async function withTabs(use: () => Promise<void>): Promise<void> {
    try {
      await use()
    } finally {
      await Promise.all(open.splice(0).map((page) => page.close().catch(() => {})))
    }
  }
  // Of the other browsers, npm test takes what depends on them most.
  const whole = kAll || name === 'chromium'
  const more = (what: string, run: () => Promise<void>): void =>
    void test(what, { skip: !whole && kLong }, run)
  const alone = new Map<string, Answered>()
  /** What an engine of its own answers. */
  async function expectedOf(call: Call, load: object = {}): Promise<Answered> {
    const key = JSON.stringify([call, load])
    const known = alone.get(key)
    if (known) return known
    const page = await browser.newPage()
    await page.goto(`${server.url}/index.html`)
    await ask(page, 'load', { share: false, load })
    const answer = await ask(page, 'answer', call)
    await page.close()
    assert.equal(answer.error, undefined)
    alone.set(key, answer)
    return answer
  }

  test('four tabs answer at once with one engine', () =>
    withTabs(async () => {
      const pages = await Promise.all(kPrompts.map(() => tab()))
      await Promise.all(pages.map((page) => ask(page, 'load')))
      assert.equal(await engines(), 1)
      const calls = kPrompts.map((prompt) => ({ prompt, options: kGreedy }))
      const answers = await Promise.all(pages.map((page, i) => ask(page, 'answer', calls[i]!)))
      for (const [i, answer] of answers.entries()) assert.deepEqual(answer, await expectedOf(calls[i]!))
      assert.equal(await engines(), 1)
    }))

  for (const [what, options, positions] of whole ? kInterrupted : kInterrupted.slice(0, 1))
    for (const at of kAll ? positions : positions.slice(0, 1))
      test(`the leader's tab closes at token ${at} of an answer, ${what}`, () =>
        withTabs(async () => {
          const [leader, other] = await tabs(2)
          const call = { prompt: kPrompts[0]!, options }
          const number = await ask(other!, 'start', call, [at])
          await ask(other!, 'stopped', number, 1)
          assert.equal(await ask(leader!, 'workers'), 1)
          await end(leader!)
          await ask(other!, 'proceed', number)
          assert.deepEqual(await ask(other!, 'result', number), await expectedOf(call))
          assert.equal(await ask(other!, 'workers'), 1)
        }))

  test('the leader ends at 50 random moments, and no token is lost or doubled', { skip: kLong }, () =>
    withTabs(async () => {
      const call = { prompt: kPrompts[0]!, options: { ...kGreedy, temperature: 0.7, seed: 3 } }
      const expected = await expectedOf(call)
      let [leader] = await tabs(1)
      for (let i = 0, random = 1; i < 50; i++) {
        random = (random * 16807) % 2147483647
        const [other] = await tabs(1)
        const number = await ask(other!, 'start', call, [random % 200])
        await ask(other!, 'stopped', number, 1)
        await end(leader!)
        await ask(other!, 'proceed', number)
        assert.deepEqual(await ask(other!, 'result', number), expected, `at token ${random % 200}`)
        leader = other
      }
    }),
  )

  more('an answer that fills the context ends at the same token, wherever it is interrupted', () =>
    withTabs(async () => {
      const load = { contextLength: 64 }
      const call = { prompt: kPrompts[0]!, options: { temperature: 0, ignoreEnd: true } }
      const expected = await expectedOf(call, load)
      assert.equal(expected.result!.finishReason, 'context')
      const [, other] = await tabs(2, { load })
      // Its reader has all tokens but the last ones, and others go first while it waits.
      const number = await ask(other!, 'start', call, [expected.tokens.length - 30, expected.tokens.length])
      await ask(other!, 'stopped', number, 1)
      await ask(open[0]!, 'answer', call)
      await ask(other!, 'proceed', number)
      await ask(other!, 'stopped', number, 2)
      await end(open[0]!)
      await ask(other!, 'proceed', number)
      assert.deepEqual(await ask(other!, 'result', number), expected)
    }),
  )

  more('an answer whose context was shifted is interrupted', () =>
    withTabs(async () => {
      // So long that it cannot be computed whole before the leader ends.
      const call = { prompt: kPrompts[0]!, options: { ...kGreedy, maxTokens: 5000, contextShift: true } }
      const [leader, other] = await tabs(2, { load: { contextLength: 64 } })
      const number = await ask(other!, 'start', call, [100])
      await ask(other!, 'stopped', number, 1)
      await end(leader!)
      await ask(other!, 'proceed', number)
      const { error, tokens } = await ask(other!, 'result', number)
      assert.equal(error, 'interrupted')
      assert.ok(tokens.length >= 100)
    }),
  )

  more('four leaders end one after the other during an answer', () =>
    withTabs(async () => {
      const pages = await tabs(5)
      const call = { prompt: kPrompts[1]!, options: kGreedy }
      const stops = [2, 50, 51, 120]
      const last = pages.at(-1)!
      const number = await ask(last, 'start', call, stops)
      for (const [i] of stops.entries()) {
        await ask(last, 'stopped', number, i + 1)
        await end(pages[i]!)
        await ask(last, 'proceed', number)
      }
      assert.deepEqual(await ask(last, 'result', number), await expectedOf(call))
    }),
  )

  test('close() in a tab leaves the others alone, also in the tab that runs the engine', () =>
    withTabs(async () => {
      const [leader, second, third] = await tabs(3)
      await ask(second!, 'close')
      assert.equal(await ask(second!, 'code', 'saveState'), 'closed')
      await ask(leader!, 'close')
      const call = { prompt: kPrompts[2]!, options: kGreedy }
      assert.deepEqual(await ask(third!, 'answer', call), await expectedOf(call))
      assert.equal(await ask(leader!, 'workers'), 1)
      await ask(third!, 'close')
      while ((await engines()) > 0);
    }))

  more('an abort ends a running answer and a waiting one of another tab', () =>
    withTabs(async () => {
      const [leader, second, third] = await tabs(3)
      const call = { prompt: kPrompts[0]!, options: kGreedy }
      const running = await ask(second!, 'start', call, [3])
      await ask(second!, 'stopped', running, 1)
      // In one step, because an answer that waits for its reader lets this one go first.
      const waiting = await third!.evaluate((call) => {
        const { share } = globalThis as unknown as { share: Tools }
        const number = share.start(call)
        share.abort(number)
        return number
      }, call)
      assert.equal((await ask(third!, 'result', waiting)).error, 'enough')
      await ask(second!, 'abort', running)
      await ask(second!, 'proceed', running)
      const { tokens, error } = await ask(second!, 'result', running)
      assert.equal(error, 'enough')
      assert.deepEqual(tokens, (await expectedOf(call)).tokens.slice(0, tokens.length))
      assert.deepEqual(await ask(leader!, 'answer', call), await expectedOf(call))
    }),
  )

  more('a reader that stays behind does not hold others up', () =>
    withTabs(async () => {
      const [, second, third] = await tabs(3)
      const call = { prompt: kPrompts[0]!, options: kGreedy }
      const other = { prompt: kPrompts[1]!, options: kGreedy }
      const slow = await ask(second!, 'start', call, [3])
      await ask(second!, 'stopped', slow, 1)
      assert.deepEqual(await ask(third!, 'answer', other), await expectedOf(other))
      await ask(second!, 'proceed', slow)
      assert.deepEqual(await ask(second!, 'result', slow), await expectedOf(call))
    }),
  )

  more('a tab that ends with running and waiting calls leaves the others alone', () =>
    withTabs(async () => {
      const [, second, third, fourth] = await tabs(4)
      const call = { prompt: kPrompts[0]!, options: kGreedy }
      for (let i = 0; i < 3; i++) await ask(second!, 'start', call)
      const other = { prompt: kPrompts[3]!, options: kGreedy }
      const waiting = await ask(third!, 'start', other)
      await end(second!)
      assert.deepEqual(await ask(third!, 'result', waiting), await expectedOf(other))
      assert.deepEqual(await ask(fourth!, 'answer', other), await expectedOf(other))
    }),
  )

  more('the engine crashes: the answer goes on with another', () =>
    withTabs(async () => {
      const [leader, second] = await tabs(2)
      const call = { prompt: kPrompts[0]!, options: kGreedy }
      const number = await ask(second!, 'start', call, [5])
      await ask(second!, 'stopped', number, 1)
      await ask(leader!, 'breakWorkers')
      await ask(second!, 'proceed', number)
      assert.deepEqual(await ask(second!, 'result', number), await expectedOf(call))
      assert.deepEqual(await ask(leader!, 'answer', call), await expectedOf(call))
    }),
  )

  more('the page of the leader is loaded again', () =>
    withTabs(async () => {
      const [leader, second] = await tabs(2)
      const call = { prompt: kPrompts[0]!, options: kGreedy }
      const number = await ask(second!, 'start', call, [5])
      await ask(second!, 'stopped', number, 1)
      await leader!.goto(`${server.url}/index.html`)
      await ask(second!, 'proceed', number)
      assert.deepEqual(await ask(second!, 'result', number), await expectedOf(call))
      await ask(leader!, 'load')
      assert.deepEqual(await ask(leader!, 'answer', call), await expectedOf(call))
      assert.equal(await engines(), 1)
    }),
  )

  for (const [what, rest, wake] of [
    ['is frozen', 'freeze', 'resume'],
    ['is kept for the back button', 'pagehide', 'pageshow'],
  ] as const)
    more(`the page of the leader ${what}, and comes back`, () =>
      withTabs(async () => {
        const [leader, second] = await tabs(2)
        const call = { prompt: kPrompts[0]!, options: kGreedy }
        const number = await ask(second!, 'start', call, [5])
        await ask(second!, 'stopped', number, 1)
        // No driver causes these in every browser. The first is sent to the document and reaches the window as well.
        const send = (name: string) =>
          leader!.evaluate(
            (type) =>
              void document.dispatchEvent(new PageTransitionEvent(type, { bubbles: true, persisted: true })),
            name,
          )
        await send(rest)
        await ask(second!, 'proceed', number)
        assert.deepEqual(await ask(second!, 'result', number), await expectedOf(call))
        assert.deepEqual([await ask(leader!, 'workers'), await ask(second!, 'workers')], [0, 1])
        await send(wake)
        assert.deepEqual(await ask(leader!, 'answer', call), await expectedOf(call))
        assert.deepEqual([await ask(leader!, 'workers'), await ask(second!, 'workers')], [0, 1])
      }),
    )

  more('six conversations, and a fork, with the places of four', () =>
    withTabs(async () => {
      const [page, other] = await tabs(2)
      for (let i = 0; i < 4; i++) await ask(page!, 'load')
      assert.equal(await engines(), 1)
      const callOf = (model: number, prompt: string) => ({
        model,
        prompt,
        options: { ...kGreedy, maxTokens: 30 },
      })
      for (const prompt of [kPrompts[0]!, `${kPrompts[0]!} there was`])
        for (let model = 0; model < 5; model++) {
          const call = callOf(model, `${prompt}${' very'.repeat(model)}`)
          assert.deepEqual(await ask(page!, 'answer', call), await expectedOf({ ...call, model: 0 }))
        }
      const fork = await ask(page!, 'fork', 4)
      for (const [on, model] of [
        [page!, fork],
        [other!, 0],
      ] as const) {
        const call = callOf(model, kPrompts[3]!)
        assert.deepEqual(await ask(on, 'answer', call), await expectedOf({ ...call, model: 0 }))
      }
    }),
  )

  more('every tab may fill the context', () =>
    withTabs(async () => {
      const load = { contextLength: 64 }
      const pages = await tabs(3, { load })
      for (const options of [
        { temperature: 0, ignoreEnd: true },
        { ...kGreedy, contextShift: true },
      ]) {
        const calls = pages.map((_, i) => ({ prompt: kPrompts[i]!, options }))
        const answers = await Promise.all(pages.map((page, i) => ask(page, 'answer', calls[i]!)))
        for (const [i, answer] of answers.entries())
          assert.deepEqual(answer, await expectedOf(calls[i]!, load))
      }
    }),
  )

  const noStore = name === 'webkit' && 'WebKitGTK has no private file system'
  test('tabs that download a file at the same time fetch each part once', { skip: noStore }, () =>
    withTabs(async () => {
      server.add('/shared.gguf', readFileSync(kStories))
      const pages = await Promise.all([tab(), tab(), tab()])
      server.reset()
      const url = `${server.url}/shared.gguf`
      const seen = await Promise.all(pages.map((page) => ask(page, 'download', url)))
      for (const { bytes, last } of seen)
        assert.deepEqual([bytes, last], [readFileSync(kStories).length, readFileSync(kStories).length])
      // Each tab asks for the version of the file, with four bytes.
      const size = readFileSync(kStories).length
      assert.ok(
        server.counts('/shared.gguf').bytes <= size + 3 * 64,
        `${server.counts('/shared.gguf').bytes} bytes of ${size}`,
      )
      await ask(pages[0]!, 'remove', url)
      await ask(pages[1]!, 'gone', url)
    }),
  )

  more('other options and other versions have engines of their own', () =>
    withTabs(async () => {
      const [first] = await tabs(1)
      const [longer] = await tabs(1, { load: { contextLength: 300 } })
      const newer = await tab('/later/index.html')
      await ask(newer, 'load')
      assert.equal(await engines(), 3)
      const call = { prompt: kPrompts[0]!, options: kGreedy }
      for (const page of [first!, longer!, newer])
        assert.deepEqual(await ask(page, 'answer', call), await expectedOf(call))
      await end(newer)
      assert.equal(await engines(), 2)
    }),
  )

  more('what is not shared says so', () =>
    withTabs(async () => {
      const [page] = await tabs(1)
      assert.equal(await ask(page!, 'code', 'saveState'), 'not-found')
      assert.equal(
        await ask(page!, 'code', 'setAdapters', [{ source: `${server.url}/missing.gguf` }]),
        'no-such-file',
      )
      assert.equal(await ask(page!, 'loadCode', { load: { projector: {} } }), 'invalid-argument')
      assert.equal(await ask(page!, 'loadCode', { load: { draft: {} } }), 'invalid-argument')
      assert.equal(await ask(page!, 'loadCode', { model: '/missing.gguf' }), 'no-such-file')
    }),
  )
}

for (const name of kBrowserNames)
  describe(name, { skip: missing(name), concurrency: false }, () => {
    if (!missing(name)) suite(name)
  })

test('Node has no tabs', async () => {
  await assert.rejects(engine.load(`${server.url}/stories.gguf`, { share: true }), { code: 'unsupported' })
})
