// Features that only browsers have: CORS, hidden headers, preflights, workers, threads. Pages of one server open files
// of another, in Chromium, Firefox and WebKitGTK, which is Safari's engine.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  kBrowserNames,
  missing,
  startBrowser,
  type BrowserName,
  type Driven,
  type Page,
} from '../browsers/drive.ts'
import { expectedSeen, faultsOf, importMapPage, modelBytes, type Seen } from '../everywhere/expected.ts'
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel, smallModel } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { sparseContent } from '../server/content.ts'
import type { Faults } from '../server/faults.ts'
import { startServer } from '../server/server.ts'
import { kRoot, loadPackage, packedFile } from './packed.ts'

const home = await startServer({ cors: false })
const foreign = await startServer()
const isolatedHome = await startServer({ isolated: true, cors: false })
for (const server of [home, isolatedHome]) {
  server.mount('/package', packedFile('.'))
  server.add('/index.html', '<!doctype html><title>test</title><link rel="icon" href="data:,">')
  server.add('/stories.gguf', modelBytes())
  server.add('/app/app.js', readFileSync(join(kRoot, 'tests/everywhere/app.js')))
  server.add('/app/index.html', importMapPage())
}
let expected: Seen
before(async () => (expected = await expectedSeen()))
const model = smallModel()
const bytes = writeGguf(model)
const large = previewModel(kPreviewShapes[2]!)
const { header, size } = writeHeader(large)
foreign.add('/large.gguf', sparseContent(header, size))
const larger = previewModel(kPreviewShapes.at(-1)!)
const largerHeader = writeHeader(larger)
for (const path of ['/larger.gguf', '/unmeasured.gguf'])
  foreign.add(path, sparseContent(largerHeader.header, largerHeader.size))
foreign.plan('/unmeasured.gguf', { length: 'off' })

after(() => Promise.all([home, isolatedHome, foreign].map((server) => server.close())))

function suite(browserName: BrowserName): void {
  let browser: Driven
  let page: Page
  before(async () => {
    browser = await startBrowser(browserName)
    page = await browser.newPage()
    await page.goto(`${home.url}/index.html`)
  })
  after(() => browser?.close())

  let serial = 0
  function address(...faults: Faults[]): string {
    const path = `/small-${serial++}.gguf`
    foreign.add(path, bytes)
    foreign.plan(path, ...faults)
    return foreign.url + path
  }

  interface Opened {
    code?: string
    message?: string
    names?: string[]
    size?: number | undefined
    last?: number[]
  }

  /** open() in the page. */
  function see(url: string, headers: Record<string, string> = {}): Promise<Opened> {
    return page.evaluate(
      async ({ url, headers }): Promise<Opened> => {
        const { open, GgufError } = (await import(
          new URL('/package/wasm/dist/index.js', location.href).href
        )) as typeof import('ggufscope')
        try {
          const file = await open(url, { retries: 1, timeout: 500, headers })
          const last = await file.read(file.tensors.at(-1)!.name)
          return { names: file.tensors.map(({ name }) => name), size: file.size, last: [...last] }
        } catch (error) {
          if (!(error instanceof GgufError)) throw error
          return { code: error.code, message: error.message }
        }
      },
      { url, headers },
    )
  }

  const names = model.tensors!.map(({ name }) => name)
  const last = [...model.tensors!.at(-1)!.data!]
  const right: [what: string, faults: Faults[], size: number | undefined][] = [
    ['every header exposed', [{}], bytes.length],
    ['no header exposed, preflights fail', [{ cors: 'simple' }], bytes.length],
    ['no header exposed, no ranges', [{ cors: 'simple', ranges: 'off' }], undefined],
    ['no header exposed, gzip', [{ cors: 'simple', encoding: 'gzip' }], undefined],
    ['no header exposed, no length', [{ cors: 'simple', length: 'off' }], undefined],
    ['cut in the header', [{ cors: 'simple' }, { cut: 300, times: 1 }], bytes.length],
  ]
  // In the others, none of the faults.
  const every = kAll || browserName === 'chromium'
  for (const [what, faults, wantedSize] of every ? right : right.slice(0, 1)) {
    test(`a preview across origins gives the right result: ${what}`, async () => {
      foreign.reset()
      const seen = await see(address(...faults))
      assert.equal(seen.code, undefined, seen.message)
      assert.deepEqual(seen.names, names)
      assert.deepEqual(seen.last, last)
      assert.equal(seen.size, wantedSize)
      assert.equal(foreign.log.filter(({ method }) => method === 'OPTIONS').length, 0, 'no preflights')
    })
  }

  test('a missing CORS header and a missing server are different errors', async () => {
    const refused = await see(address({ cors: 'off' }))
    assert.equal(refused.code, 'cors', refused.message)
    assert.match(refused.message!, /Download it/)
    const gone = await startServer()
    await gone.close()
    assert.equal((await see(`${gone.url}/x.gguf`)).code, 'network')
  })

  // Browsers hide the target of a redirect ("opaque"). fetch() must not send the caller's headers there.
  test("headers of the caller's own do not follow a redirect to another origin", async () => {
    const secrets = { Authorization: 'Bearer secret', 'X-Token': 'secret' }
    // All browsers use the same servers, so each has its own paths.
    const hop = `/hop-${browserName}.gguf`
    const twice = `/twice-${browserName}.gguf`
    for (const path of [hop, twice]) {
      const target = address({})
      home.add(path, bytes)
      home.plan(hop, { redirect: target })
      home.plan(twice, { redirect: hop })
      const seen = await see(home.url + path, secrets)
      assert.equal(seen.code, undefined, seen.message)
      assert.deepEqual(seen.last, last)
      const first = home.log.find((request) => request.path === path)!
      assert.equal(first.headers['x-token'], 'secret')
      const there = foreign.log.filter((request) => target.endsWith(request.path))
      assert.ok(there.length > 0)
      for (const { headers } of there) assert.doesNotMatch(JSON.stringify(headers), /secret/)
    }
  })

  test('a file that changes is noticed where the tag is exposed', async () => {
    const other = bytes.slice()
    other[other.length - 1]! ^= 1
    foreign.add('/other.gguf', other)
    assert.equal((await see(address({ after: 1, replace: '/other.gguf' }))).code, 'file-changed')
  })

  // Firefox and WebKit receive what nobody reads, so a request has an end there, and further ones bring the rest of the
  // header.
  const parts = {
    chromium: [],
    firefox: ['bytes=0-8388607'],
    webkit: ['bytes=0-1572863', 'bytes=1572864-3145727', 'bytes=3145728-6291455'],
  }[browserName]
  for (const [path, size] of [
    ['/large.gguf', header.length],
    ['/larger.gguf', largerHeader.header.length],
    ['/unmeasured.gguf', largerHeader.header.length],
  ] as const)
    test(`a header of ${(size / 1e6).toFixed(1)} MB is read in order, and the rest of the file is not: ${path}`, async () => {
      foreign.reset()
      const count = await page.evaluate(async (url) => {
        const { open } = (await import(
          new URL('/package/wasm/dist/index.js', location.href).href
        )) as typeof import('ggufscope')
        const file = await open(url, { preview: 'full' })
        return file.tensors.length
      }, foreign.url + path)
      assert.equal(count, (path === '/large.gguf' ? large : larger).tensors!.length)
      const wanted = parts.filter((part) => Number(/\d+/.exec(part)![0]) < size)
      const ranges = foreign.log.map(({ range }) => range)
      assert.deepEqual(ranges, wanted.length > 0 ? wanted : ['bytes=0-'])
      if (wanted.length > 0) return
      // A server hears of it when its next bytes find nobody.
      for (let tries = 0; tries < 500 && !foreign.log[0]!.aborted; tries++) await sleep(20)
      assert.equal(foreign.log[0]!.aborted, true)
    })

  const sparseFaults: [what: string, faults: Faults, codes: string[]][] = [
    ['none', {}, []],
    ['no header exposed', { cors: 'simple' }, []],
    ['cut', { cut: 2000, after: 2, times: 1 }, []],
    ['429', { status: 429, retryAfter: '0', after: 3, times: 1 }, []],
    ['a stall', { stall: 500, after: 4, times: 1 }, []],
    ['ranges ignored half-way', { ranges: 'off', after: 4 }, ['file-changed']],
    ['content changed half-way', { replace: '/other-large.gguf', after: 4 }, ['file-changed']],
  ]
  for (const [what, faults, codes] of every ? sparseFaults : sparseFaults.slice(0, 1)) {
    test(`a sparse preview works across origins: ${what}`, async () => {
      const far = await startServer({ delay: 40, bandwidth: 3e6 })
      far.add('/large.gguf', sparseContent(header, size))
      far.add(
        '/other-large.gguf',
        sparseContent(
          header.map((byte) => byte ^ 1),
          size,
        ),
      )
      for (const preview of ['sparse', 'auto'] as const) {
        far.plan('/large.gguf', faults)
        const seen = await page.evaluate(
          async ({ url, preview }) => {
            const { open, GgufError } = (await import(
              new URL('/package/wasm/dist/index.js', location.href).href
            )) as typeof import('ggufscope')
            localStorage.clear()
            try {
              const file = await open(url, { preview, timeout: 1500 })
              const wasComplete = file.complete
              const names = file.tensors.map(({ name }) => name)
              await file.completeHeader()
              const tokens = file.metadata.get('tokenizer.ggml.tokens') as import('ggufscope').LazyArray
              return {
                wasComplete,
                names,
                last: tokens.at(-1),
                stored: localStorage.getItem('ggufscope.layouts'),
              }
            } catch (error) {
              if (!(error instanceof GgufError)) throw error
              return { code: error.code }
            }
          },
          { url: `${far.url}/large.gguf`, preview },
        )
        if (seen.code !== undefined) {
          assert.ok(codes.includes(seen.code), `${preview}: ${seen.code}`)
          continue
        }
        assert.deepEqual(
          seen.names,
          large.tensors!.map(({ name }) => name),
        )
        const tokens = large.metadata!.find(([key]) => key === 'tokenizer.ggml.tokens')![1].value as string[]
        assert.equal(seen.last, tokens.at(-1))
        if (what === 'none' && preview === 'sparse') {
          assert.equal(seen.wasComplete, false)
          assert.match(seen.stored!, /^\[\["oow-/) // the browser has stored the layout of the arrays
        }
      }
      await far.close()
    })
  }

  test('tokenizer() returns at once, and its module is loaded only then', async () => {
    const vocabulary = modelBytes()
    const fresh = await browser.newPage()
    const loads = (): number => home.log.filter(({ path }) => path.endsWith('/text.wasm')).length
    try {
      await fresh.goto(`${home.url}/index.html`)
      const before = loads()
      await fresh.evaluate(async () => {
        const { open } = (await import(
          new URL('/package/wasm/dist/index.js', location.href).href
        )) as typeof import('ggufscope')
        const file = await open(new URL('/stories.gguf', location.href))
        Object.assign(globalThis, { file, lint: file.lint(), summary: file.summary() })
      })
      assert.equal(loads(), before)
      const ids = await fresh.evaluate(() => {
        const { file } = globalThis as unknown as { file: import('ggufscope').GgufFile }
        return file.tokenizer().encode('Once upon a time')
      })
      assert.equal(loads(), before + 1)
      using file = await (await loadPackage()).open(vocabulary)
      assert.deepEqual(ids, file.tokenizer().encode('Once upon a time'))
    } finally {
      await fresh.close()
    }
  })

  test('a File can be opened in a worker', async () => {
    const found = await page.evaluate(
      async ({ bytes, url }) => {
        const program = `onmessage = async ({ data }) => {
          const { open } = await import(${JSON.stringify(url)})
          const file = await open(data)
          postMessage([file.name, file.tensors.length])
          file.close()
        }`
        const worker = new Worker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })), {
          type: 'module',
        })
        try {
          return await new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => resolve(data)
            worker.onerror = (event) => reject(new Error(event.message))
            worker.postMessage(new File([new Uint8Array(bytes)], 'small.gguf'))
          })
        } finally {
          worker.terminate()
        }
      },
      { bytes: [...bytes], url: `${home.url}/package/wasm/dist/index.js` },
    )
    assert.deepEqual(found, ['small.gguf', names.length])
  })

  test('editing a File gives a Blob of its slices, which can be opened', async () => {
    const seen = await page.evaluate(
      async (data) => {
        const { open } = (await import(
          new URL('/package/wasm/dist/index.js', location.href).href
        )) as typeof import('ggufscope')
        let read = 0
        const { arrayBuffer } = Blob.prototype
        Blob.prototype.arrayBuffer = function () {
          read += this.size
          return arrayBuffer.call(this)
        }
        try {
          // 64 MB follow the header, and none of them may be read.
          const parts = [Uint8Array.from(data), new Uint8Array(64 << 20)]
          const file = await open(new File(parts, 'small.gguf'))
          const built = await (await file.edit()).set('general.name', 'edited in a page').build()
          const before = read
          const blob = await built.blob()
          const copied = read - before
          const again = await open(blob)
          const last = again.tensors.at(-1)!
          const streamed = await new Response(built.stream()).arrayBuffer()
          return {
            copied,
            name: again.metadata.get('general.name'),
            size: blob.size,
            streamed: streamed.byteLength,
            last: [...(await again.read(last.name))],
          }
        } finally {
          Blob.prototype.arrayBuffer = arrayBuffer
        }
      },
      [...bytes],
    )
    const grown = seen.size - (64 << 20) - bytes.length
    assert.ok(grown >= 0 && grown <= 32, `${grown} bytes more`)
    assert.deepEqual(
      { ...seen, size: 0 },
      { copied: 0, name: 'edited in a page', size: 0, streamed: seen.size, last },
    )
  })

  for (const isolated of [true, false])
    test(`all that the package does, ${isolated ? 'with' : 'without'} isolation`, async () => {
      const server = isolated ? isolatedHome : home
      const fresh = await browser.newPage()
      try {
        await fresh.goto(`${server.url}/app/index.html`)
        const seen = await fresh.evaluate(async () => {
          type Everything = (source: string, options: object, threads: number) => Promise<Seen>
          const found = globalThis as unknown as { everything?: Everything }
          while (!found.everything) await new Promise((done) => setTimeout(done, 20))
          return await found.everything('/stories.gguf', {}, 2)
        })
        assert.deepEqual(faultsOf(seen, expected, isolated ? 2 : 1), [])
      } finally {
        await fresh.close()
      }
    })

  test('the reasons for the variant and the number of threads are true', async () => {
    for (const server of [isolatedHome, home]) {
      const fresh = await browser.newPage()
      try {
        await fresh.goto(`${server.url}/index.html`)
        const seen = await fresh.evaluate(async () => {
          const { load } = (await import(
            new URL('/package/wasm/dist/engine/index.js', location.href).href
          )) as typeof import('ggufscope/engine')
          const model = await load(new URL('/stories.gguf', location.href), { threads: 2 })
          model.close()
          const { variant, variantReason, threads } = model.info
          // A function with i8x16.relaxed_swizzle; the engine asks for another instruction.
          const hasRelaxed = WebAssembly.validate(
            Uint8Array.of(
              ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0],
              ...[10, 15, 1, 13, 0, 65, 0, 253, 15, 65, 0, 253, 15, 253, 128, 2, 11],
            ),
          )
          return { variant, variantReason, threads, hasRelaxed, isIsolated: crossOriginIsolated }
        })
        assert.equal(seen.isIsolated, server === isolatedHome)
        assert.equal(
          /not cross-origin isolated/.test(seen.variantReason),
          !seen.isIsolated,
          seen.variantReason,
        )
        assert.equal(seen.threads, seen.isIsolated ? 2 : 1, seen.variantReason)
        assert.equal(seen.variant, seen.hasRelaxed ? 'relaxed' : 'simd')
        const reason = seen.hasRelaxed ? /^Relaxed SIMD is supported/ : /no relaxed SIMD/
        assert.match(seen.variantReason, reason)
      } finally {
        await fresh.close()
      }
    }
  })

  // A hidden page's timers run once a second, or once a minute.
  test('a hidden page opens, loads and generates without waiting for timers', async () => {
    const behind = await browser.newPage()
    await behind.goto(`${isolatedHome.url}/index.html`)
    const front = await browser.newPage()
    try {
      await front.goto(`${isolatedHome.url}/index.html`)
      const seen = await behind.evaluate(async () => {
        const at = new URL('/package/wasm/dist/', location.href)
        const { load } = (await import(
          new URL('engine/index.js', at).href
        )) as typeof import('ggufscope/engine')
        const timer = globalThis.setTimeout
        let timers = 0
        Object.assign(globalThis, {
          setTimeout: (run: () => void, ms?: number) =>
            timer(() => {
              timers++ // not counted if it only limits a wait, and is cleared
              run()
            }, ms),
        })
        const model = await load(new URL('/stories.gguf', location.href), { threads: 2 })
        const { file } = model
        const [first] = file.tensors
        const values = await Promise.all([file.read(first!.name, { rows: [0, 1] }), file.read(first!.name)])
        let text = ''
        for await (const piece of model.generate('Once', { seed: 1, temperature: 0, maxTokens: 20 }))
          text += piece.text
        const tokens = file.tokenizer().encode(text).length
        model.close()
        const { visibilityState } = document
        return { visibilityState, timers, text, tokens, read: values.map(({ length }) => length > 0) }
      })
      // Playwright's Chromium shows all its pages.
      assert.equal(seen.visibilityState, browserName === 'chromium' ? 'visible' : 'hidden')
      assert.equal(seen.timers, 0)
      assert.ok(seen.text.length > 20 && seen.tokens > 0, seen.text)
      assert.deepEqual(seen.read, [true, true])
    } finally {
      await front.close()
      await behind.close()
    }
  })

  test('a page can load again after an abort, an out-of-memory error and a close', async () => {
    const fresh = await browser.newPage()
    try {
      await fresh.goto(`${isolatedHome.url}/index.html`)
      const seen = await fresh.evaluate(async () => {
        const { load, GgufError } = (await import(
          new URL('/package/wasm/dist/engine/index.js', location.href).href
        )) as typeof import('ggufscope/engine')
        const source = new URL('/stories.gguf', location.href)
        const codes: unknown[] = []
        const code = (error: unknown) => codes.push(error instanceof GgufError ? error.code : String(error))
        for (const options of [
          { memoryLimit: 1e5 },
          { contextLength: 2 ** 24, memoryLimit: Infinity },
          { signal: AbortSignal.abort(new Error('enough')) },
        ])
          await load(source, { threads: 2, ...options }).then((model) => model.close(), code)
        const model = await load(source, { threads: 2 })
        const controller = new AbortController()
        try {
          for await (const _ of model.generate('Once', { ignoreEnd: true, signal: controller.signal }))
            controller.abort(new Error('stop'))
        } catch (error) {
          code(error)
        }
        let pieces = 0
        for await (const _ of model.generate('Once', { seed: 1, maxTokens: 5 })) pieces++
        model.close()
        return { codes, pieces }
      })
      assert.deepEqual(seen, {
        codes: ['out-of-memory', 'out-of-memory', 'Error: enough', 'Error: stop'],
        pieces: 5,
      })
    } finally {
      await fresh.close()
    }
  })

  // Safari before version 26 has no createWritable().
  for (const withWritable of [true, false])
    test(`cache: true keeps what was read, or reads on where nothing can be kept${withWritable ? '' : ', by a worker'}`, async () => {
      const fresh = await browser.newPage()
      const path = `/kept-${withWritable}.gguf`
      home.add(path, modelBytes())
      try {
        await fresh.goto(`${home.url}/index.html`)
        const requests: number[] = []
        let canKeep = false
        for (let round = 0; round < 2; round++) {
          home.reset()
          const seen = await fresh.evaluate(
            async ({ path, withWritable }) => {
              if (!withWritable && typeof FileSystemFileHandle === 'function')
                delete (FileSystemFileHandle.prototype as { createWritable?: unknown }).createWritable
              const { load } = (await import(
                new URL('/package/wasm/dist/engine/index.js', location.href).href
              )) as typeof import('ggufscope/engine')
              const model = await load(path, { cache: true, threads: 1 })
              let text = ''
              for await (const piece of model.generate('Once upon a time', { seed: 7, maxTokens: 12 }))
                text += piece.text
              model.close()
              return { text, canKeep: 'getDirectory' in (navigator.storage ?? {}) }
            },
            { path, withWritable },
          )
          assert.equal(`1 thread:${seen.text}`, expected['engine, 1 thread'])
          requests.push(home.log.filter((one) => one.path === path).length)
          canKeep = seen.canKeep
        }
        assert.ok(requests[0]! > 0)
        // The one request asks whether the file changed.
        assert.equal(requests[1]! === 1, canKeep, `${requests} requests`)
      } finally {
        await fresh.close()
      }
    })
}

for (const name of kBrowserNames) describe(name, { skip: missing(name) }, () => suite(name))
