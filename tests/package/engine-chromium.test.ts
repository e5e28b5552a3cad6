// The engine in a page, with cross-origin isolation (threads) and without (one thread): it answers, the page stays
// responsive, an abort is quick, and closing frees everything.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Browser, type Page } from '@playwright/test'
import type * as Engine from 'ggufscope/engine'
import { kAll, kLong } from '../fixtures/short.ts'
import { kSlowShape, syntheticFile } from '../fixtures/synthetic.ts'
import { startServer, type Server } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { kRoot, packedFile } from './packed.ts'

const skip = kHasBrowser ? false : 'no Chromium'

const servers: Record<string, Server> = {
  'with isolation': await startServer({ isolated: true, cors: false }),
  'without isolation': await startServer({ cors: false }),
}
let browser: Browser
before(async () => {
  if (skip) return
  browser = await chromium.launch(kBrowser)
  const models = join(kRoot, 'build/bench-models')
  await syntheticFile(models, kSlowShape, 'Q8_0')
  for (const server of Object.values(servers)) {
    server.mount('/package', packedFile('.'))
    server.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
    server.add('/stories.gguf', readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
    server.mount('/models', models)
  }
})
after(async () => {
  await browser?.close()
  await Promise.all(Object.values(servers).map((server) => server.close()))
})

interface Tools {
  engine: typeof Engine
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** processor time of the thread, in microseconds */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/** The processor time, in milliseconds, of the longest task on a renderer's main thread while `run` runs. */
async function longestTask(page: Page, run: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  let trace: Buffer
  try {
    await run()
  } finally {
    trace = await browser.stopTracing()
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const threads = traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${pid}/${tid}`)
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => name.endsWith('RunTask') && ph === 'X' && threads.includes(`${pid}/${tid}`),
  )
  const times = tasks.flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur / 1000]))
  assert.ok(times.length > 10, `${times.length} tasks in the trace, with their times`)
  return Math.max(...times)
}

/** Opens a page with the engine's package in `tools`. An error on its console fails the test. */
async function inPage(name: string, use: (page: Page, faults: string[]) => Promise<void>): Promise<void> {
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  try {
    await page.goto(`${servers[name]!.url}/index.html`)
    await page.evaluate(async () => {
      const url = new URL('/package/wasm/dist/engine/index.js', location.href).href
      Object.assign(globalThis, { tools: { engine: (await import(url)) as unknown } })
    })
    await use(page, faults)
    assert.deepEqual(faults, [])
  } finally {
    await page.close()
  }
}

for (const name of Object.keys(servers)) {
  const isolated = name === 'with isolation'
  const once = skip || (!isolated && kLong)

  test(`${name}: the sample answers and the page stays free`, { skip }, async () =>
    inPage(name, async (page) => {
      const run = () =>
        page.evaluate(async () => {
          const { engine } = (globalThis as unknown as { tools: Tools }).tools
          using model = await engine.load(new URL('/stories.gguf', location.href), { threads: 2 })
          let text = ''
          for await (const piece of model.generate('Once upon a time', { seed: 7 })) text += piece.text
          const { variant, variantReason, threads } = model.info
          return { text, variant, variantReason, threads }
        })
      const first = await run()
      assert.match(first.text, /^, a [a-z]+ [a-z]+ .*\.$/s)
      assert.equal(first.variant, 'relaxed', first.variantReason)
      assert.equal(first.threads, isolated ? 2 : 1)
      if (!isolated) assert.match(first.variantReason, /not cross-origin isolated/)
      // Processor time, so that other work on the machine counts little; compiling the modules is part of the first run.
      const longest: number[] = []
      while (longest.length < 3 && !(Math.min(...longest) < 50))
        longest.push(await longestTask(page, async () => assert.equal((await run()).text, first.text)))
      assert.ok(
        Math.min(...longest) < 50,
        `the longest task of each of three runs took ${longest.join(', ')} ms`,
      )
    }),
  )

  test(`${name}: an abort returns within one token`, { skip }, async () =>
    inPage(name, async (page) => {
      const stopAfterThree = () =>
        page.evaluate(async () => {
          const { engine } = (globalThis as unknown as { tools: Tools }).tools
          using model = await engine.load(new URL('/models/slow-Q8_0.gguf', location.href), {
            threads: 2,
            precision: 'exact',
          })
          const controller = new AbortController()
          let pieces = 0
          let reason: unknown
          const prompt = [300, 301, 302]
          try {
            const options = { ignoreEnd: true, temperature: 0, signal: controller.signal }
            for await (const _ of model.generate(prompt, options))
              if (++pieces === 3) controller.abort(new Error('enough'))
          } catch (error) {
            reason = error
          }
          // The saved state shows how many tokens were computed before the engine stopped.
          const state = await model.saveState()
          return {
            pieces,
            reason: String(reason),
            computed: new DataView(state.buffer).getUint32(4, true) - 3,
          }
        })
      // On a busy machine the page may receive a piece a few tokens late, but not every time.
      let seen = await stopAfterThree()
      for (let more = 4; more > 0 && seen.computed > 3 + 1; more--) seen = await stopAfterThree()
      assert.equal(seen.reason, 'Error: enough')
      // The third piece's token is sampled but not evaluated yet. At most one further token is evaluated meanwhile.
      assert.equal(seen.pieces, 3)
      assert.ok(seen.computed <= 3 + 1, `${seen.computed} tokens computed, 3 seen`)
    }),
  )

  test(`${name}: loads and closes leave nothing behind`, { skip: once }, async () =>
    inPage(name, async (page) => {
      const session = await browser.newBrowserCDPSession()
      const renderers = async () =>
        (await session.send('SystemInfo.getProcessInfo')).processInfo.filter(
          ({ type }) => type === 'renderer',
        )
      const collectGarbage = () => page.evaluate(() => (globalThis as unknown as { gc(): void }).gc())
      /** The number of worker threads, according to the operating system. */
      const workers = async () => {
        await collectGarbage()
        return (await renderers())
          .flatMap(({ id }) => readdirSync(`/proc/${id}/task`).map((task) => `/proc/${id}/task/${task}/comm`))
          .filter((path) => existsSync(path) && readFileSync(path, 'utf8').startsWith('DedicatedWorker'))
          .length
      }
      /** Resident bytes of the browser's renderers. */
      const resident = async () => {
        await collectGarbage()
        return (await renderers())
          .map(({ id }) => Number(readFileSync(`/proc/${id}/statm`, 'utf8').split(' ')[1]) * 4096)
          .reduce((sum, bytes) => sum + bytes, 0)
      }
      const round = (times: number) =>
        page.evaluate(async (times) => {
          const { engine } = (globalThis as unknown as { tools: Tools }).tools
          let total = 0
          for (let i = 0; i < times; i++) {
            const model = await engine.load(new URL('/models/slow-Q8_0.gguf', location.href), {
              threads: 2,
            })
            total = model.info.memory.total
            for await (const _ of model.generate([300, 301], { maxTokens: 2, ignoreEnd: true }));
            model.close()
          }
          return total
        }, times)
      const model = await round(kAll ? 3 : 2)
      // Each load has two workers. They and their memory are freed a while after garbage collection.
      const until = async (isFreed: () => Promise<boolean>) => {
        for (let tries = 0; tries < 100 && !(await isFreed()); tries++) await sleep(100)
      }
      await until(async () => (await workers()) === 0)
      const before = await resident()
      await round(kAll ? 10 : 4)
      await until(async () => (await workers()) === 0)
      assert.equal(await workers(), 0, 'workers are left')
      let grown = 0
      await until(async () => (grown = (await resident()) - before) < 2 * model)
      assert.ok(grown < 2 * model, `grew by ${grown} bytes; one model has ${model}`)
    }),
  )

  test(`${name}: where memory ends there is an error, and the page goes on`, { skip }, async () =>
    inPage(name, async (page) => {
      const seen = await page.evaluate(async () => {
        const { engine } = (globalThis as unknown as { tools: Tools }).tools
        const codes: string[] = []
        // The load is refused before it starts, or, if the given limit is too high, when memory is exhausted.
        for (const memoryLimit of [1e6, undefined, Infinity]) {
          try {
            const contextLength = memoryLimit === 1e6 ? 384 : 2 ** 22
            using model = await engine.load(new URL('/models/slow-Q8_0.gguf', location.href), {
              contextLength,
              memoryLimit,
              threads: 2,
            })
            codes.push(`loaded with ${model.info.contextLength}`)
          } catch (error) {
            codes.push(error instanceof engine.GgufError ? error.code : String(error))
          }
        }
        using model = await engine.load(new URL('/stories.gguf', location.href), { threads: 2 })
        let pieces = 0
        for await (const _ of model.generate('Once', { seed: 1, maxTokens: 5 })) pieces++
        return { codes, pieces }
      })
      assert.deepEqual(seen, { codes: ['out-of-memory', 'out-of-memory', 'out-of-memory'], pieces: 5 })
    }),
  )

  test(
    `${name}: a page that was frozen goes on, and after a crash a page loads again`,
    { skip: once },
    async () =>
      inPage(name, async (page) => {
        const server = servers[name]!
        const cdp = await browser.newBrowserCDPSession()
        const { processInfo } = await cdp.send('SystemInfo.getProcessInfo')
        const renderers = processInfo.filter(({ type }) => type === 'renderer')
        // As phones do with programs in the background.
        const freeze = async () => {
          for (const { id } of renderers) process.kill(id, 'SIGSTOP')
          // A pause is what is tested.
          await sleep(1000)
          for (const { id } of renderers) process.kill(id, 'SIGCONT')
        }
        await page.evaluate(() => {
          let last = performance.now()
          const gaps: number[] = []
          setInterval(() => {
            if (performance.now() - last > 900) gaps.push(performance.now() - last)
            last = performance.now()
          }, 10)
          Object.assign(globalThis, { gaps })
        })
        const load = (page: Page) =>
          page.evaluate(async () => {
            const { engine } = (globalThis as unknown as { tools: Tools }).tools
            const path = new URL('/models/slow-Q8_0.gguf', location.href)
            const model = await engine.load(path, { threads: 2, contextLength: 256, timeout: 700 })
            Object.assign(globalThis, { model })
          })
        server.setBandwidth(20e6) // more than a second
        try {
          const sent = () => server.counts('/models/slow-Q8_0.gguf').bytes
          const earlier = sent()
          const weightsMove = async () => {
            while (sent() < earlier + 1e6) await sleep(10)
          }
          const loading = load(page)
          await Promise.race([loading, weightsMove()])
          await Promise.all([loading, freeze()])
        } finally {
          server.setBandwidth(Infinity)
        }
        const answer = page.evaluate(async () => {
          const { model } = globalThis as unknown as { model: Engine.Model }
          let pieces = 0
          for await (const _ of model.generate([300, 301], { ignoreEnd: true, maxTokens: 150, seed: 1 })) {
            Object.assign(globalThis, { pieces: ++pieces })
            await new Promise((done) => setTimeout(done, 10))
          }
          return { pieces, gaps: (globalThis as unknown as { gaps: number[] }).gaps.length }
        })
        await page.waitForFunction(() => (globalThis as unknown as { pieces?: number }).pieces! > 5)
        await freeze()
        const { pieces, gaps } = await answer
        assert.equal(pieces, 150)
        assert.ok(gaps >= 2, `${gaps} gaps of a second in the page's time`)
        await page.goto('chrome://crash').catch(() => {})
        await inPage(name, load)
      }),
  )
}
