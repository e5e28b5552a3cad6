// The test server itself: the behaviour that tests and benchmarks rely on.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { sparseByte, sparseContent } from '../server/content.ts'
import { parseRange } from '../server/exchange.ts'
import type { Faults } from '../server/faults.ts'
import { startServer } from '../server/server.ts'
import type { Server } from '../server/server.ts'

const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff)
let server: Server
before(async () => {
  server = await startServer({ isolated: true })
  server.mount('/here', import.meta.dirname)
  server.add('/new', 'the new one')
})
after(() => server.close())
beforeEach(() => {
  server.add('/f', bytes)
  server.plan('/f')
  server.reset()
})

const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(server.url + path, { ...init, headers })
const body = async (response: Response) => new Uint8Array(await response.arrayBuffer())

const ranges: [string | undefined, number, ReturnType<typeof parseRange>][] = [
  [undefined, 10, undefined],
  ['bytes=0-3', 10, { start: 0, end: 4 }],
  ['bytes=4-', 10, { start: 4, end: 10 }],
  ['bytes=-3', 10, { start: 7, end: 10 }],
  ['bytes=-30', 10, { start: 0, end: 10 }],
  ['bytes=8-100', 10, { start: 8, end: 10 }],
  ['bytes=10-', 10, null],
  ['bytes=-0', 10, null],
  ['bytes=5-4', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['bytes=-', 10, undefined],
  ['items=0-1', 10, undefined],
]
for (const [header, size, expected] of ranges) {
  test(`the test server answers range ${header}`, () => assert.deepEqual(parseRange(header, size), expected))
}

test('ranges, conditions and headers', async () => {
  const part = await get('/f', { Range: 'bytes=10-19' })
  assert.equal(part.status, 206)
  assert.equal(part.headers.get('content-range'), 'bytes 10-19/100000')
  assert.equal(part.headers.get('content-length'), '10')
  assert.equal(part.headers.get('access-control-allow-origin'), '*')
  assert.equal(part.headers.get('cross-origin-embedder-policy'), 'require-corp')
  assert.deepEqual(await body(part), bytes.slice(10, 20))
  const etag = part.headers.get('etag')!
  assert.equal((await get('/f', { Range: 'bytes=0-1', 'If-Range': etag })).status, 206)
  assert.equal((await get('/f', { Range: 'bytes=0-1', 'If-Range': '"other"' })).status, 200)
  const beyond = await get('/f', { Range: 'bytes=100000-' })
  assert.equal(beyond.status, 416)
  assert.equal(beyond.headers.get('content-range'), 'bytes */100000')
  const head = await get('/f', {}, { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), '100000')
  const preflight = await get('/f', { 'Access-Control-Request-Headers': 'if-range' }, { method: 'OPTIONS' })
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'if-range')
  assert.equal((await get('/here/server.test.ts')).status, 200)
  assert.equal((await get('/here/..%2f..%2fpackage.json')).status, 404)
})

test('the test server counts the bytes it sent', async () => {
  await body(await get('/f'))
  await body(await get('/f', { Range: 'bytes=0-99' }))
  await get('/f', {}, { method: 'HEAD' })
  assert.deepEqual(server.counts('/f'), { requests: 3, bytes: 100_100 })
})

test('a file of 400 GB that is not stored anywhere', async () => {
  const size = 400 * 2 ** 30
  server.add('/sparse', sparseContent(new Uint8Array([1, 2, 3]), size))
  const start = size - 7
  const tail = await body(await get('/sparse', { Range: `bytes=${start}-` }))
  assert.deepEqual(
    [...tail],
    Array.from({ length: 7 }, (_, i) => sparseByte(start + i)),
  )
  assert.deepEqual(
    (await body(await get('/sparse', { Range: 'bytes=1-3' }))).slice(0, 2),
    new Uint8Array([2, 3]),
  )
})

// What the client sees for each planned fault. "failed" means that fetch or the body was rejected.
interface Seen {
  status?: number
  header?: [string, string | null]
  length?: number
}
const faults: [string, Faults, Record<string, string>, Seen | 'failed'][] = [
  ['no ranges', { ranges: 'off' }, { Range: 'bytes=0-9' }, { status: 200, length: 100_000 }],
  ['ranges refused', { ranges: 'refused' }, { Range: 'bytes=0-9' }, { status: 416 }],
  [
    'shortened',
    { shorten: 5 },
    { Range: 'bytes=0-9' },
    { status: 206, length: 5, header: ['content-range', 'bytes 0-4/100000'] },
  ],
  ['no length', { length: 'off' }, {}, { status: 200, length: 100_000, header: ['content-length', null] }],
  [
    'no Content-Range',
    { contentRange: 'off' },
    { Range: 'bytes=0-9' },
    { status: 206, length: 10, header: ['content-range', null] },
  ],
  [
    'wrong start',
    { contentRange: 'start' },
    { Range: 'bytes=0-9' },
    { header: ['content-range', 'bytes 1-10/100000'] },
  ],
  [
    'wrong total',
    { contentRange: 'total' },
    { Range: 'bytes=0-9' },
    { header: ['content-range', 'bytes 0-9/200000'] },
  ],
  [
    'unknown total',
    { contentRange: 'star' },
    { Range: 'bytes=0-9' },
    { header: ['content-range', 'bytes 0-9/*'] },
  ],
  ['relative redirect', { redirect: 'relative' }, {}, { status: 200, length: 100_000 }],
  ['absolute redirect', { redirect: 'absolute' }, {}, { status: 200, length: 100_000 }],
  ['redirect to an address', { redirect: '/new' }, {}, { status: 200, length: 11 }],
  ['redirect loop', { redirect: 'loop' }, {}, 'failed'],
  [
    'gzip',
    { encoding: 'gzip' },
    { Range: 'bytes=0-9' },
    { status: 200, length: 100_000, header: ['content-encoding', 'gzip'] },
  ],
  ['cut', { cut: 50_000 }, {}, 'failed'],
  ['cut at once', { cut: 0 }, {}, 'failed'],
  ['cut before the header', { cut: -1 }, {}, 'failed'],
  ['stall', { stall: 1000 }, {}, 'failed'],
  ['stall before the header', { stall: -1 }, {}, 'failed'],
  ['status', { status: 429, retryAfter: '2' }, {}, { status: 429, header: ['retry-after', '2'] }],
  ['html', { html: true }, {}, { status: 200, header: ['content-type', 'text/html; charset=utf-8'] }],
  ['no tag', { etag: 'off' }, {}, { header: ['etag', null] }],
  ['replaced', { replace: '/new' }, {}, { status: 200, length: 11 }],
  ['no CORS', { cors: 'off' }, {}, { header: ['access-control-allow-origin', null] }],
  [
    'CORS without exposed headers',
    { cors: 'simple' },
    {},
    { header: ['access-control-expose-headers', null] },
  ],
]
for (const [name, plan, headers, expected] of faults) {
  const query = new URLSearchParams(Object.entries(plan).map(([k, v]) => [k, v === true ? '1' : String(v)]))
  for (const path of ['/f', `/f?${query}`]) {
    test(`fault: ${name}, by ${path === '/f' ? 'plan' : 'query'}`, async () => {
      if (path === '/f') server.plan('/f', plan)
      const attempt = async () => {
        // Only a fault that ends no request needs an end.
        const signal = expected === 'failed' ? AbortSignal.timeout(500) : undefined
        const response = await get(path, headers, signal ? { signal } : {})
        return { response, data: await body(response) }
      }
      if (expected === 'failed') return await assert.rejects(attempt())
      const { response, data } = await attempt()
      if (expected.status !== undefined) assert.equal(response.status, expected.status)
      if (expected.length !== undefined) assert.equal(data.length, expected.length)
      if (expected.header) assert.equal(response.headers.get(expected.header[0]), expected.header[1])
    })
  }
}

const statuses = async (path: string, n: number) => {
  const all: number[] = []
  for (let i = 0; i < n; i++) {
    const response = await get(path)
    await body(response)
    all.push(response.status)
  }
  return all
}

test('faults for some requests', async () => {
  server.plan('/f', { status: 503, times: 2 }, { status: 404, after: 3, times: 1 })
  assert.deepEqual(await statuses('/f', 5), [503, 503, 200, 404, 200])
  server.plan('/f')
  assert.deepEqual(await statuses('/f?status=500&after=1&times=1', 3), [200, 500, 200])
})

test('random faults are determined by the seed', async () => {
  const runs: number[][] = []
  for (let i = 0; i < 2; i++) {
    const other = await startServer({ seed: 7 })
    other.add('/f', 'x')
    other.plan('/f', { status: 500, probability: 0.3 })
    const run: number[] = []
    for (let k = 0; k < 60; k++) {
      const response = await fetch(other.url + '/f')
      await response.text()
      run.push(response.status)
    }
    runs.push(run)
    await other.close()
  }
  const failures = runs[0]!.filter((s) => s === 500).length
  assert.ok(failures > 5 && failures < 35, `${failures} of 60`)
  assert.deepEqual(runs[0], runs[1])
})

test('another ETag each time, and a file replaced half-way', async () => {
  server.plan('/f', { etag: 'each' })
  const tags = [await get('/f'), await get('/f')].map((r) => r.headers.get('etag'))
  assert.notEqual(tags[0], tags[1])
  server.plan('/f', { replace: '/new', after: 1 })
  assert.deepEqual(
    (await Promise.all([(await get('/f')).text(), (await get('/f')).text()])).map((t) => t.length > 20),
    [true, false],
  )
})

test('delay and a bandwidth that connections share', async () => {
  const slow = await startServer({ delay: 60, bandwidth: 1_000_000 })
  slow.add('/f', bytes)
  const start = performance.now()
  const times = await Promise.all(
    [0, 1].map(async () => {
      await body(await fetch(slow.url + '/f'))
      return performance.now() - start
    }),
  )
  await slow.close()
  // 2 x 100 kB over one link of 1 MB/s, after 60 ms: 260 ms.
  const last = Math.max(...times)
  assert.ok(last >= 255, `${last} ms`)
})

test('stops sending when the client hangs up', async () => {
  const slow = await startServer({ bandwidth: 500_000 })
  slow.add('/f', bytes)
  await new Promise<void>((done) => {
    const client = request(slow.url + '/f', (response) => {
      response.once('data', () => {
        client.destroy()
        done()
      })
    })
    client.end()
  })
  while (!slow.log[0]!.aborted) await new Promise((done) => setTimeout(done, 10))
  const { bytes: sent } = slow.counts('/f')
  assert.ok(sent < bytes.length, `${sent} bytes`)
  // Another file has the link's whole bandwidth.
  slow.add('/g', bytes.subarray(0, 20_000))
  await body(await fetch(slow.url + '/g'))
  assert.equal(slow.counts('/f').bytes, sent)
  await slow.close()
})
