// What only a browser does: CORS, hidden headers, preflights, workers. Pages of one server open files of another.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium, type Browser, type Page } from '@playwright/test'
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel, smallModel } from '../fixtures/models.ts'
import { sparseContent } from '../server/content.ts'
import type { Faults } from '../server/faults.ts'
import { startServer } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { loadPackage, packedFile } from './packed.ts'

const skip = kHasBrowser ? false : 'no Chromium'
const home = await startServer({ cors: false })
const foreign = await startServer()
home.mount('/package', packedFile('.'))
home.add('/index.html', '<!doctype html><title>test</title>')
const model = smallModel()
const bytes = writeGguf(model)
const large = previewModel(kPreviewShapes[2]!)
const { header, size } = writeHeader(large)
foreign.add('/large.gguf', sparseContent(header, size))

let browser: Browser
let page: Page
before(async () => {
  if (skip) return
  browser = await chromium.launch(kBrowser)
  page = await browser.newPage()
  await page.goto(`${home.url}/index.html`)
})
after(async () => {
  await browser?.close()
  await Promise.all([home.close(), foreign.close()])
})

let serial = 0
function address(...faults: Faults[]): string {
  const path = `/small-${serial++}.gguf`
  foreign.add(path, bytes)
  foreign.plan(path, ...faults)
  return foreign.url + path
}

interface Seen {
  code?: string
  message?: string
  names?: string[]
  size?: number | undefined
  last?: number[]
}

/** open() in the page. */
function see(url: string): Promise<Seen> {
  return page.evaluate(async (url): Promise<Seen> => {
    const { open, GgufError } = (await import(
      new URL('/package/wasm/dist/index.js', location.href).href
    )) as typeof import('ggufscope')
    try {
      using file = await open(url, { retries: 1, timeout: 500 })
      const last = await file.read(file.tensors.at(-1)!.name)
      return { names: file.tensors.map(({ name }) => name), size: file.size, last: [...last] }
    } catch (error) {
      if (!(error instanceof GgufError)) throw error
      return { code: error.code, message: error.message }
    }
  }, url)
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
for (const [what, faults, wantedSize] of right) {
  test(`right result across origins: ${what}`, { skip }, async () => {
    foreign.reset()
    const seen = await see(address(...faults))
    assert.equal(seen.code, undefined, seen.message)
    assert.deepEqual(seen.names, names)
    assert.deepEqual(seen.last, last)
    assert.equal(seen.size, wantedSize)
    assert.equal(foreign.log.filter(({ method }) => method === 'OPTIONS').length, 0, 'no preflights')
  })
}

test('no CORS has its own error, apart from no server', { skip }, async () => {
  const refused = await see(address({ cors: 'off' }))
  assert.equal(refused.code, 'cors', refused.message)
  assert.match(refused.message!, /Download it/)
  const gone = await startServer()
  await gone.close()
  assert.equal((await see(`${gone.url}/x.gguf`)).code, 'network')
})

test('a file that changes is noticed where the tag is exposed', { skip }, async () => {
  const other = bytes.slice()
  other[other.length - 1]! ^= 1
  foreign.add('/other.gguf', other)
  assert.equal((await see(address({ after: 1, replace: '/other.gguf' }))).code, 'file-changed')
})

test('one request, aborted when the header is whole', { skip }, async () => {
  foreign.reset()
  const count = await page.evaluate(async (url) => {
    const { open } = (await import(
      new URL('/package/wasm/dist/index.js', location.href).href
    )) as typeof import('ggufscope')
    using file = await open(url)
    return file.tensors.length
  }, `${foreign.url}/large.gguf`)
  assert.equal(count, large.tensors!.length)
  await new Promise((done) => setTimeout(done, 50))
  assert.equal(foreign.counts().requests, 1)
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
for (const [what, faults, codes] of sparseFaults) {
  test(`a sparse preview across origins: ${what}`, { skip }, async () => {
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
            using file = await open(url, { preview, timeout: 1500 })
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
        assert.match(seen.stored!, /^\[\["oow-/) // the browser remembers where the arrays lie
      }
    }
    await far.close()
  })
}

test('tokenizer() answers at once, and its module is loaded no sooner', { skip }, async () => {
  const vocabulary = readFileSync(join(import.meta.dirname, '../fixtures/stories.gguf'))
  home.add('/stories.gguf', vocabulary)
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

test('in a worker, from a File', { skip }, async () => {
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

test('a File edited is a Blob of its slices, and reads back', { skip }, async () => {
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
        // 64 MB behind the header, of which nothing is to be read.
        const parts = [Uint8Array.from(data), new Uint8Array(64 << 20)]
        using file = await open(new File(parts, 'small.gguf'))
        const built = await (await file.edit()).set('general.name', 'edited in a page').build()
        const before = read
        const blob = await built.blob()
        const copied = read - before
        using again = await open(blob)
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
