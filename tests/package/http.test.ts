// Every kind of server and every kind of failure, with a real server: the right file, or a specific error.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufErrorCode, OpenProgress } from 'ggufscope'
import { writeGguf, writeHeader } from '../fixtures/gguf.ts'
import { hugeModel, kPreviewShapes, previewModel, shards, smallModel } from '../fixtures/models.ts'
import { sparseByte, sparseContent } from '../server/content.ts'
import { randomNumbers, type Faults } from '../server/faults.ts'
import { turns, until } from '../fixtures/until.ts'
import { startServer } from '../server/server.ts'
import { loadPackage, packedFile } from './packed.ts'

const { open, GgufError } = await loadPackage()
const server = await startServer()
after(() => server.close())

const model = previewModel(kPreviewShapes[2]!)
const { header, size, offsets } = writeHeader(model)
const kTensor = 'blk.3.attn_norm.weight'
const tensorIndex = model.tensors!.findIndex(({ name }) => name === kTensor)
const tensorData = Uint8Array.from({ length: 4096 * 4 }, (_, i) => sparseByte(offsets[tensorIndex]! + i))

const small = smallModel()
const smallBytes = writeGguf(small)

/** Adds the small file under a unique name, so that cases are independent. */
let serial = 0
function address(...faults: Faults[]): string {
  const path = `/small-${serial++}.gguf`
  server.add(path, smallBytes)
  server.plan(path, ...faults)
  return server.url + path
}

/** Opens, compares everything with the fixture, reads a tensor, closes. */
async function check(url: string, options: Parameters<typeof open>[1] = {}): Promise<void> {
  using file = await open(url, { timeout: 500, ...options })
  assert.deepEqual(
    [...file.metadata.keys()],
    small.metadata!.map(([key]) => key),
  )
  assert.deepEqual(
    file.tensors.map(({ name }) => name),
    small.tensors!.map(({ name }) => name),
  )
  for (const { name, data } of small.tensors!.slice(-2)) assert.deepEqual(await file.read(name), data)
}

const right: [what: string, faults: Faults, size?: number | null][] = [
  ['a plain server', {}],
  ['no ranges', { ranges: 'off' }],
  ['ranges refused with 416', { ranges: 'refused' }],
  ['no Content-Length', { length: 'off' }],
  ['no Content-Range', { contentRange: 'off' }],
  ['total unknown', { contentRange: 'star' }, null],
  ['neither ranges nor a length', { ranges: 'off', length: 'off' }, null],
  ['neither Content-Range nor a length', { contentRange: 'off', length: 'off' }, null],
  ['short ranges', { shorten: 700 }],
  ['a redirect on the same origin', { redirect: 'relative' }],
  ['a redirect to another origin', { redirect: 'absolute' }],
  ['a permanent redirect', { redirect: 'relative', redirectStatus: 308 }],
  ['gzip', { encoding: 'gzip' }, null],
  ['gzip without a length', { encoding: 'gzip', length: 'off' }, null],
  ['no validators', { etag: 'off' }],
  ['weak validators', { etag: 'weak' }],
  ['503 once', { status: 503, times: 1 }],
  ['429 with Retry-After once', { status: 429, retryAfter: '0', times: 1 }],
  ['a connection cut before the header', { cut: -1, times: 1 }],
  ['a connection cut in the header', { cut: 300, times: 2 }],
  ['a connection cut in the header, no ranges', { cut: 300, times: 2, ranges: 'off' }],
  ['a stall before the header', { stall: -1, times: 1 }],
  ['a stall in the header', { stall: 300, times: 1 }],
  ['a cut later', { cut: 10, after: 1, times: 1 }],
]
for (const [what, faults, wantedSize = smallBytes.length] of right) {
  test(`a preview gives the right result: ${what}`, async () => {
    // A temporary fault is one plan; the permanent properties of the server are another.
    const { times, ranges, ...passing } = faults
    const lasting: Faults = times === undefined ? faults : ranges ? { ranges } : {}
    await check(times === undefined ? address(faults) : address(lasting, { times, ...passing }))
    using file = await open(address(lasting))
    if (wantedSize !== null) assert.equal(file.size, wantedSize)
  })
}

const wrong: [what: string, faults: Faults, code: GgufErrorCode, advice: RegExp][] = [
  ['401', { status: 401 }, 'unauthorized', /token/],
  ['403', { status: 403 }, 'forbidden', /gated|expired/],
  ['404', { status: 404 }, 'no-such-file', /address/],
  ['410', { status: 410 }, 'no-such-file', /gone/],
  ['418', { status: 418 }, 'http-error', /418/],
  ['429', { status: 429 }, 'rate-limited', /Wait/],
  ['429 for an hour', { status: 429, retryAfter: '3600' }, 'rate-limited', /3600 s/],
  ['500', { status: 500 }, 'server-error', /later/],
  ['503', { status: 503 }, 'server-error', /later/],
  ['a page', { html: true }, 'html', /page/],
  ['always cut', { cut: 0 }, 'connection-lost', /lost at byte/],
  ['always cut at once', { cut: -1 }, 'network', /could not be reached/],
  ['always stalled', { stall: 0 }, 'connection-lost', /nothing came/],
  ['another range than asked', { contentRange: 'start' }, 'bad-range', /asked for byte/],
  ['a redirect loop', { redirect: 'loop' }, 'network', /redirect/],
]
for (const [what, faults, code, advice] of wrong) {
  test(`a fault has its own error: ${what}`, async () => {
    await assert.rejects(open(address(faults), { timeout: 1000, retries: 1 }), (error: Error) => {
      assert.ok(error instanceof GgufError, String(error))
      assert.equal(error.code, code, error.message)
      assert.match(error.message, advice)
      assert.doesNotMatch(error.message, /\.\)?\./)
      if (faults.status !== undefined) assert.equal(error.status, faults.status)
      return true
    })
  })
}

test('unreachable servers are errors', async () => {
  const closed = createServer()
  await new Promise<void>((ready) => closed.listen(0, '127.0.0.1', ready))
  const { port } = closed.address() as AddressInfo
  await new Promise((done) => closed.close(done))
  await assert.rejects(open(`http://127.0.0.1:${port}/x.gguf`), { code: 'network', message: /ECONNREFUSED/ })
})

test('errors name the format of files that are not GGUF', async () => {
  for (const [name, content, code] of [
    ['lfs', 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n', 'lfs-pointer'],
    ['json', '{"error":"gated"}', 'json'],
    ['empty', '', 'truncated'],
    ['text', 'hello, this is no model at all', 'bad-magic'],
  ] as const) {
    server.add(`/${name}.gguf`, content)
    await assert.rejects(open(`${server.url}/${name}.gguf`), { name: 'GgufError', code }, name)
  }
  for (const length of [8, 5000])
    await assert.rejects(open(new Uint8Array(length)), { code: 'bad-magic', message: /begins with zeros/ })
})

test('a preview is one request, aborted at the chunk that completes the header', async () => {
  server.add('/large.gguf', sparseContent(header, size))
  server.reset()
  const events: OpenProgress[] = []
  using file = await open(`${server.url}/large.gguf`, { onProgress: (event) => events.push(event) })
  assert.equal(file.tensors.length, model.tensors!.length)
  assert.equal(server.counts('/large.gguf').requests, 1)
  assert.equal(server.log[0]!.range, 'bytes=0-')
  const last = events.at(-1)!
  assert.equal(last.loaded, file.bytesRead)
  assert.equal(last.fileSize, size)
  assert.equal(last.keysSeen, model.metadata!.length)
  assert.equal(last.tensorsSeen, model.tensors!.length)
  assert.ok(events.every(({ loaded }, i) => i === 0 || loaded > events[i - 1]!.loaded))

  server.reset()
  assert.deepEqual(await file.read(kTensor), tensorData)
  assert.deepEqual(
    await file.read('token_embd.weight', { rows: [31_999, 32_000] }).then(({ length }) => length),
    (4096 / 256) * 210,
  )
  assert.equal(server.counts().requests, 2)
  assert.equal(server.counts().bytes, tensorData.length + (4096 / 256) * 210)
})

test('parts of two files are not joined after an interruption, also without a tag', async () => {
  const { header: bytes, size: total } = writeHeader(previewModel(kPreviewShapes[1]!))
  const changed = Uint8Array.from(bytes).fill(7, 90_000)
  server.add('/changed.gguf', sparseContent(changed, total))
  for (const [replace, error] of [
    ['/changed.gguf', { code: 'file-changed' }],
    [undefined, undefined],
  ] as const) {
    const path = `/cut-${serial++}.gguf`
    server.add(path, sparseContent(bytes, total))
    server.plan(path, { etag: 'off' }, { times: 1, cut: 100_000 }, replace ? { after: 1, replace } : {})
    const opened = open(server.url + path, { timeout: 500, preview: 'full' })
    if (error) await assert.rejects(opened, error)
    else (await opened).close()
  }
})

test('a file that is replaced between two requests is an error', async () => {
  const other = smallBytes.slice()
  other[other.length - 1]! ^= 1
  server.add('/other.gguf', other)
  for (const faults of [
    { replace: '/other.gguf' },
    { replace: '/other.gguf', ranges: 'off' },
    { etag: 'each' },
    // Without its tag, the file may be another one.
    { replace: '/other.gguf', etag: 'off' },
  ] as Faults[]) {
    const url = address({ after: 1, ...faults })
    using file = await open(url)
    await assert.rejects(
      file.read(file.tensors.at(-1)!.name),
      { code: 'file-changed', message: /Open it again/ },
      JSON.stringify(faults),
    )
  }
  // The first response had no tag, the second has one.
  {
    using file = await open(address({ times: 1, etag: 'off' }, { after: 1, replace: '/other.gguf' }))
    await assert.rejects(file.read(file.tensors.at(-1)!.name), { code: 'file-changed' })
  }
  // A weak tag of the same version is the same.
  {
    using file = await open(address({ after: 1, etag: 'weak' }))
    await file.read(file.tensors.at(-1)!.name)
  }
  // A weak tag that stays, with another date; no tag, with another date or length.
  for (const [first, second] of [
    [
      { etag: 'W/"1"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' },
      { etag: 'W/"1"', 'last-modified': 'Tue, 02 Jan 2024 00:00:00 GMT' },
    ],
    [
      { 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' },
      { 'last-modified': 'Tue, 02 Jan 2024 00:00:00 GMT' },
    ],
    [{}, { total: smallBytes.length + 1 }],
  ] as const satisfies [Record<string, string>, Record<string, string | number>][]) {
    let asked = 0
    const source = (_: unknown, { headers }: RequestInit = {}) => {
      const [, from = '0', to = ''] = /bytes=(\d+)-(\d*)/.exec(new Headers(headers).get('range') ?? '') ?? []
      const end = to === '' ? smallBytes.length : Math.min(Number(to) + 1, smallBytes.length)
      const { total = smallBytes.length, ...own } = (asked++ === 0 ? first : second) as Record<string, string>
      const range = { 'content-range': `bytes ${from}-${end - 1}/${total}` }
      return Promise.resolve(
        new Response(smallBytes.slice(Number(from), end) as BodyInit, {
          status: 206,
          headers: { ...own, ...range },
        }),
      )
    }
    using file = await open('http://127.0.0.1/small.gguf', { fetch: source as typeof fetch })
    await assert.rejects(
      file.read(file.tensors.at(-1)!.name),
      { code: 'file-changed' },
      JSON.stringify(second),
    )
  }
  // The file is replaced while the header is read.
  const url = address({ cut: 300, times: 1 }, { after: 1, replace: '/other.gguf' })
  await assert.rejects(open(url), { code: 'file-changed' })
})

test('ranges without Content-Range, and in parts: the right bytes, or an error', async () => {
  const last = small.tensors!.at(-1)!
  // [headers and body for the bytes from `from` to `to`, the code of the error]
  const cases: [(from: number, to: number) => [Record<string, string>, Uint8Array], string | undefined][] = [
    [(from, to) => [{}, smallBytes.subarray(from, to)], undefined],
    [() => [{}, smallBytes], undefined],
    [
      (from, to) => [
        { 'content-range': `BYTES ${from}-${to - 1}/${smallBytes.length}` },
        smallBytes.subarray(from, to),
      ],
      undefined,
    ],
    [
      (from, to) => [{ 'content-type': 'multipart/byteranges; boundary=x' }, smallBytes.subarray(from, to)],
      'bad-range',
    ],
  ]
  for (const [i, [respond, code]] of cases.entries()) {
    const other = createHttpServer((request, response) => {
      const [, from = '0', to = ''] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
      const end = to === '' ? smallBytes.length : Math.min(Number(to) + 1, smallBytes.length)
      const [headers, body] = respond(Number(from), end)
      response.writeHead(206, { ...headers, 'content-length': body.length }).end(body)
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/small.gguf`
    try {
      if (code === undefined) {
        using file = await open(url)
        assert.deepEqual(await file.read(last.name), last.data, `case ${i}`)
      } else await assert.rejects(open(url), { code }, `case ${i}`)
    } finally {
      other.close()
      other.closeAllConnections()
    }
  }
})

test('if the server ignores ranges, data far after the header is not fetched', async () => {
  const huge = writeHeader(hugeModel(1e9))
  server.add('/huge.gguf', sparseContent(huge.header, huge.size))
  server.plan('/huge.gguf', { ranges: 'off' })
  using file = await open(`${server.url}/huge.gguf`)
  server.reset()
  await assert.rejects(file.read(file.tensors.at(-1)!.name, { rows: [0, 1] }), {
    code: 'no-ranges',
    message: /Download the file/,
  })
  assert.equal(server.counts().requests, 0)
})

test('a tensor that ends behind the file is truncated', async () => {
  for (const faults of [
    {},
    { contentRange: 'off', length: 'off' },
    { ranges: 'off', length: 'off' },
  ] as Faults[]) {
    const path = `/cut-${serial++}.gguf`
    server.add(path, smallBytes.subarray(0, smallBytes.length - 1))
    server.plan(path, faults)
    using file = await open(server.url + path)
    await assert.rejects(file.read(file.tensors.at(-1)!.name), { code: 'truncated' })
  }
})

test('shards open by the address of any one, and missing ones are named', async () => {
  for (const part of shards(small, 3, 'set')) server.add(`/sub dir/${part.name}`, writeGguf(part.model))
  for (const no of [1, 3]) {
    const url = `${server.url}/sub%20dir/set-0000${no}-of-00003.gguf?download=true`
    using file = await open(url)
    assert.deepEqual(
      file.tensors.map(({ name }) => name),
      small.tensors!.map(({ name }) => name),
    )
    for (const { name, data } of small.tensors!) assert.deepEqual(await file.read(name), data)
    assert.equal(file.metadata.get('general.name'), 'small')
    assert.equal(file.shards.length, 3)
  }
  server.plan('/sub dir/set-00002-of-00003.gguf', { status: 404 })
  const url = `${server.url}/sub%20dir/set-00001-of-00003.gguf`
  await assert.rejects(open(url), { code: 'missing-shard', message: /set-00002-of-00003\.gguf/ })
  using file = await open(url, { allowMissingShards: true })
  assert.deepEqual(
    file.shards.map(({ present }) => present),
    [true, false, true],
  )
  server.plan('/sub dir/set-00002-of-00003.gguf', { status: 403 })
  await assert.rejects(open(url), { code: 'forbidden' })
})

test("the caller's headers and fetch are used, and a token is not sent to another origin", async () => {
  const seen: { url: string; token: string | null }[] = []
  const spy: typeof fetch = (input, init) => {
    seen.push({ url: String(input), token: new Headers(init?.headers).get('authorization') })
    return fetch(input, init)
  }
  const url = address({ redirect: 'absolute' })
  using file = await open(url, { fetch: spy, headers: { Authorization: 'Bearer secret' } })
  await file.read(small.tensors!.at(-1)!.name)
  assert.equal(seen.length, 2)
  assert.equal(seen[0]!.token, 'Bearer secret')
  assert.match(seen[1]!.url, /^http:\/\/localhost/)
  assert.equal(seen[1]!.token, null)
})

test("headers of the caller's own do not follow a redirect to another origin", async () => {
  const seen: { host: string; headers: Record<string, unknown> }[] = []
  const listening = async (): Promise<[Server, string]> => {
    const one = createHttpServer((request, response) => {
      seen.push({ host: request.headers.host!, headers: request.headers })
      const to = new URL(request.url!, 'http://any').searchParams.get('to')
      if (to !== null) return void response.writeHead(302, { location: to }).end()
      const [, from = 0, last = smallBytes.length - 1] =
        /^bytes=(\d+)-(\d+)?$/
          .exec(request.headers.range ?? '')
          ?.map(Number)
          .map((n) => n || 0) ?? []
      const end = last === 0 ? smallBytes.length : last + 1
      const range = `bytes ${from}-${end - 1}/${smallBytes.length}`
      response.writeHead(206, { 'content-range': range }).end(smallBytes.subarray(from, end))
    })
    await new Promise<void>((done) => one.listen(0, '127.0.0.1', done))
    return [one, `http://127.0.0.1:${(one.address() as AddressInfo).port}`]
  }
  const [[first, here], [second, there]] = [await listening(), await listening()]
  try {
    const headers = { Authorization: 'Bearer secret', 'X-Token': 'secret', Cookie: 'a=secret' }
    const hop = `/hop.gguf?to=${encodeURIComponent('/second.gguf?to=' + encodeURIComponent(`${there}/small.gguf`))}`
    await check(here + hop, { headers })
    const own = seen.filter(({ host }) => here.endsWith(host))
    const others = seen.filter(({ host }) => there.endsWith(host))
    assert.deepEqual(
      own.map((request) => request.headers['x-token']),
      ['secret', 'secret'],
    )
    assert.ok(others.length > 1)
    for (const request of others) assert.doesNotMatch(JSON.stringify(request.headers), /secret/)
    await check(`${here}/hop.gguf?to=/small.gguf`, { headers })
    const self = '/loop.gguf?to=' + encodeURIComponent('/loop.gguf?to=/loop.gguf')
    await check(here + self, { headers })
  } finally {
    first.close()
    second.close()
  }
  for (const redirect of ['//[bad', 'http://', 'https://a b/']) {
    const headers = { 'X-Token': 'a' }
    await assert.rejects(open(address({ redirect }), { headers, retries: 0 }), (error: Error) => {
      assert.ok(error instanceof GgufError)
      assert.equal(error.code, 'network')
      return true
    })
    await assert.rejects(open(address({ redirect }), { retries: 0 }), { name: 'GgufError' })
  }
  const loop = address({ redirect: 'loop' })
  await assert.rejects(open(loop, { headers: { 'X-Token': 'a' } }), { code: 'network', message: /redirects/ })
})

test('retries wait as long as the server asks, and are reported', async () => {
  const retries: OpenProgress[] = []
  const url = address({ status: 429, retryAfter: '1', times: 1 })
  using file = await open(url, { onProgress: (event) => event.retry && retries.push(event) })
  assert.equal(file.tensors.length, small.tensors!.length)
  assert.deepEqual(
    retries.map(({ retry }) => retry!.delayMs),
    [1000],
  )
  assert.match(retries[0]!.retry!.reason, /429/)
  assert.equal(retries[0]!.retry!.code, 'rate-limited')
})

test('cut connections and one failure in five requests give the right bytes', async () => {
  const random = randomNumbers(42)
  for (let round = 0; round < 10; round++) {
    const cut = Math.floor(random() * smallBytes.length)
    const url = address({ cut, probability: 0.3 }, { status: 502, probability: 0.1 })
    await check(url, { retries: 30 })
  }
})

test('an abort stops at once, with its reason, and the server sees the connection close', async () => {
  for (const faults of [{ stall: -1 }, { stall: 300 }, { status: 503, retryAfter: '20' }] as Faults[]) {
    const url = address(faults)
    const controller = new AbortController()
    const reason = new Error('enough')
    server.reset()
    let retries = 0
    const onProgress = ({ retry }: OpenProgress) => (retries += retry ? 1 : 0)
    const opening = open(url, { signal: controller.signal, onProgress })
    opening.catch(() => {})
    await until('the request, or the wait before the next one', () =>
      faults.stall === undefined ? retries > 0 : server.log.length > 0,
    )
    controller.abort(reason)
    await assert.rejects(opening, (error) => error === reason)
    if (faults.stall !== undefined) await until('the end of the connection', () => server.log[0]!.aborted)
    assert.equal(server.counts().requests, 1)
  }
  await assert.rejects(open(address(), { signal: AbortSignal.abort('no') }), (error) => error === 'no')

  using file = await open(address({ stall: 10, after: 1 }))
  const controller = new AbortController()
  server.reset()
  const reading = file.read(file.tensors.at(-1)!.name, { signal: controller.signal })
  reading.catch(() => {})
  await until('the request', () => server.log.length > 0)
  controller.abort()
  await assert.rejects(reading, { name: 'AbortError' })
})

test('simultaneous reads are merged into few requests, and each gets its own bytes', async () => {
  server.add('/many.gguf', sparseContent(header, size))
  using file = await open(`${server.url}/many.gguf`)
  server.reset()
  const norms = file.tensors.filter(({ byteLength }) => byteLength <= 16_384)
  assert.ok(norms.length > 60)
  const stopped = new AbortController()
  const [, ...got] = await Promise.all([
    assert.rejects(file.read(kTensor, { signal: stopped.signal }), { name: 'AbortError' }),
    ...norms.map(({ name }) => file.read(name)),
    Promise.resolve().then(() => stopped.abort()),
  ])
  for (const [i, { offset, byteLength }] of norms.entries())
    assert.deepEqual(
      got[i],
      Uint8Array.from({ length: byteLength }, (_, at) => sparseByte(offset + at)),
    )
  assert.ok(server.counts().requests <= norms.length)

  // Adjacent reads: rows of one tensor and parts of the same rows.
  server.reset()
  const rows = Array.from({ length: 20 }, (_, i) => [100 + 2 * i, 102 + 2 * i] as const)
  const parts = await Promise.all(
    [...rows, [110, 120] as const].map((range) => file.read('token_embd.weight', { rows: range })),
  )
  const whole = await file.read('token_embd.weight', { rows: [100, 140] })
  const rowBytes = whole.length / 40
  assert.deepEqual(Buffer.concat(parts.slice(0, 20)), Buffer.from(whole))
  assert.deepEqual(parts[20], whole.slice(10 * rowBytes, 20 * rowBytes))
  assert.equal(server.counts().requests, 1, 'what was read lately is not asked for again')
})

test('ranges in flight or read recently are not requested again; the number of parallel requests is limited', async () => {
  const slow = await startServer({ delay: 60 })
  slow.add('/slow.gguf', sparseContent(header, size))
  // Counts the requests that wait for their response.
  const waits = { now: 0, most: 0 }
  let isHeld = false
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const fetch: typeof globalThis.fetch = async (url, init) => {
    waits.most = Math.max(waits.most, ++waits.now)
    const response = await globalThis.fetch(url, init).finally(() => waits.now--)
    if (isHeld) await held
    return response
  }
  using file = await open(`${slow.url}/slow.gguf`, { fetch })
  slow.reset()
  isHeld = true
  const [stopped, waiting] = [new AbortController(), new AbortController()]
  const first = file.read('token_embd.weight', { rows: [0, 50], signal: stopped.signal })
  first.catch(() => {})
  await until('the request', () => slow.log.length > 0)
  const part = file.read('token_embd.weight', { rows: [10, 12], signal: waiting.signal })
  await turns()
  stopped.abort() // the other one continues
  await assert.rejects(first, { name: 'AbortError' })
  release()
  const bytes = await part
  const rowBytes = bytes.length / 2
  const { offset } = file.tensor('token_embd.weight')!
  const expected = Uint8Array.from({ length: 2 * rowBytes }, (_, i) => sparseByte(offset + 10 * rowBytes + i))
  assert.deepEqual(bytes, expected)
  bytes.fill(0)
  assert.deepEqual(
    await file.read('token_embd.weight', { rows: [10, 12] }),
    expected,
    'each has a copy of his own',
  )
  assert.equal(slow.counts().requests, 1)

  // Twelve distant reads are requested six at a time.
  slow.reset()
  const norms = file.tensors.filter(({ byteLength }) => byteLength <= 16_384).slice(10, 22)
  waits.most = 0
  await Promise.all(norms.map(({ name }) => file.read(name)))
  assert.equal(slow.counts().requests, 12)
  assert.equal(waits.most, 6)

  // At most 16 MB are cached.
  slow.reset()
  await file.read(norms[0]!.name)
  assert.equal(slow.counts().requests, 0)
  for (let row = 0; row < 9; row++)
    await file.read('token_embd.weight', { rows: [600 * row, 600 * row + 580] })
  slow.reset()
  await file.read(norms[0]!.name)
  assert.equal(slow.counts().requests, 1)
  await slow.close()
})

test('addresses of blobs and data are read, left and aborted without an error that nobody can catch', () => {
  const code = `import { open } from ${JSON.stringify(pathToFileURL(packedFile('wasm/dist/index.js')).href)}
    const bytes = Buffer.from('${Buffer.from(smallBytes).toString('base64')}', 'base64')
    const long = Buffer.concat([bytes, Buffer.alloc(3_000_000)])
    for (const url of [URL.createObjectURL(new Blob([long])), 'data:;base64,' + long.toString('base64')]) {
      const file = await open(url)
      await file.read(file.tensors[0].name)
      file.close()
      const gone = new AbortController()
      setTimeout(() => gone.abort(), 1)
      await open(url, { signal: gone.signal }).then((one) => one.close(), () => {})
    }
    setTimeout(() => console.log('ended'), 50)`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  assert.deepEqual([stdout, stderr], ['ended\n', ''])
})
