// Files stored in the browser and in Node: an interrupted download continues, and a stored file needs no network.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from '@playwright/test'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { bytesContent, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { kRoot, loadPackage, packedFile } from './packed.ts'
import type { CacheReport } from 'ggufscope/store'

const skip = kHasBrowser ? false : 'no Chromium'
const home = await startServer()
home.mount('/package', packedFile('.'))
home.add('/index.html', '<!doctype html><title>test</title>')
const model = readFileSync(join(kRoot, 'tests/fixtures/stories.gguf'))
const kPart = 1 << 18
const partCount = Math.ceil(model.length / kPart)

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
  await home.close()
})

interface Told {
  code?: string
  message?: string
  progress: number[]
  files: { name: string; bytes: number; complete: boolean }[]
  same?: boolean
  tensors?: number
}

/** Downloads a file in the page, then opens the stored file and compares all of its bytes. */
async function download(path: string, expected: Uint8Array = model): Promise<Told> {
  return await page.evaluate(
    async ({ url, hash }): Promise<Told> => {
      const from = <T>(path: string) =>
        import(new URL(`/package/wasm/dist/${path}`, location.href).href) as Promise<T>
      const { download, storedFiles } = await from<typeof import('ggufscope/store')>('store/index.js')
      const { open, GgufError } = await from<typeof import('ggufscope')>('index.js')
      const progress: number[] = []
      const files = async () =>
        (await storedFiles()).map(({ name, bytes, complete }) => ({ name, bytes, complete }))
      try {
        const source = await download(url, { retries: 0, onProgress: (stored) => progress.push(stored) })
        using file = await open(source)
        const bytes = await source.read(0, source.size!, {})
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
        const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
        return { progress, files: await files(), same: hex === hash, tensors: file.tensors.length }
      } catch (error) {
        if (!(error instanceof GgufError)) throw error
        return { code: error.code, message: error.message, progress, files: await files() }
      }
    },
    { url: home.url + path, hash: createHash('sha256').update(expected).digest('hex') },
  )
}

test('an interrupted download continues after a reload, and then needs no network', { skip }, async () => {
  home.add('/model.gguf', bytesContent(model))
  // The server sends the size and three parts, and then fails.
  home.plan('/model.gguf', { after: 4, cut: 1000 })
  const first = await download('/model.gguf')
  assert.equal(first.code, 'connection-lost', first.message)
  const kept = first.files[0]!.bytes
  assert.ok(kept >= kPart && kept < model.length, `${kept} bytes kept`)
  assert.equal(first.files[0]!.complete, false)

  await page.reload()
  home.plan('/model.gguf')
  home.reset()
  const second = await download('/model.gguf')
  assert.equal(second.code, undefined, second.message)
  assert.equal(second.same, true)
  assert.ok(second.tensors! > 0)
  assert.equal(second.progress[0], kept)
  assert.equal(second.progress.at(-1), model.length)
  assert.equal(home.counts('/model.gguf').bytes, model.length - kept + 4)
  assert.deepEqual(second.files, [{ name: 'model.gguf', bytes: model.length, complete: true }])

  await page.reload()
  home.plan('/model.gguf', { cut: -1 })
  home.reset()
  const third = await download('/model.gguf')
  assert.equal(third.same, true, third.message)
  // The server is asked whether the file has changed. The browser repeats a request whose connection is cut.
  assert.equal(home.counts('/model.gguf').bytes, 0)
  home.plan('/model.gguf')
  home.reset()
  const fourth = await download('/model.gguf')
  assert.equal(fourth.same, true, fourth.message)
  const { requests, bytes } = home.counts('/model.gguf')
  assert.deepEqual([requests, bytes], [1, 0])
})

test('the download of a replaced file starts again', { skip }, async () => {
  home.add('/changing.gguf', bytesContent(model))
  home.plan('/changing.gguf', { after: 4, cut: 1000 })
  const first = await download('/changing.gguf')
  assert.equal(first.code, 'connection-lost')
  const other = Buffer.from(model)
  other[other.length - 1]! ^= 1
  home.add('/changing.gguf', bytesContent(other))
  home.plan('/changing.gguf')
  home.reset()
  const second = await download('/changing.gguf', other)
  assert.equal(second.same, true, second.message)
  assert.equal(home.counts('/changing.gguf').bytes, other.length + 4)

  // The file changes during the download.
  home.add('/moving.gguf', bytesContent(model))
  home.plan('/moving.gguf', { after: 3, replace: '/changing.gguf' })
  assert.equal((await download('/moving.gguf')).code, 'file-changed')
})

test('a tag that is a hash is checked', { skip }, async () => {
  const hash = createHash('sha256').update(model).digest('hex')
  home.add('/hashed.gguf', { ...bytesContent(model), etag: `"${hash}"` })
  const right = await download('/hashed.gguf')
  assert.equal(right.same, true, right.message)

  home.add('/damaged.gguf', {
    ...bytesContent(model),
    etag: `"${hash.replace(/^./, (c) => (c === '0' ? '1' : '0'))}"`,
  })
  const wrong = await download('/damaged.gguf')
  assert.equal(wrong.code, 'bad-hash', wrong.message)
  assert.ok(!wrong.files.some(({ name }) => name === 'damaged.gguf'))
})

/** Runs a download in the page with the option crossOriginStorage. The page's polyfill does what the proposal says. */
async function downloadShared(
  path: string,
  { refuse = false, damage = false, off = false, headers = false } = {},
  [site, on] = [home, page],
): Promise<{ states: (string | undefined)[]; same: boolean; entries: [string, unknown][] }> {
  return await on.evaluate(
    async ({ url, hash, refuse, damage, off, headers }) => {
      const from = <T>(path: string) =>
        import(new URL(`/package/wasm/dist/${path}`, location.href).href) as Promise<T>
      const { download, removeStored } = await from<typeof import('ggufscope/store')>('store/index.js')
      interface Kept {
        bytes: Blob
        origins: unknown
      }
      const scope = globalThis as unknown as { shared?: Map<string, Kept> }
      const shared = (scope.shared ??= new Map<string, Kept>())
      const hexOf = async (bytes: Blob) =>
        Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', await bytes.arrayBuffer())), (byte) =>
          byte.toString(16).padStart(2, '0'),
        ).join('')
      const requestFileHandle = async (
        { algorithm, value }: { algorithm: string; value: string },
        { create = false, origins }: { create?: boolean; origins?: unknown } = {},
      ) => {
        if (refuse) throw new DOMException('It is blocked.', 'NotAllowedError')
        if (algorithm !== 'SHA-256' || !/^[0-9a-f]{64}$/.test(value)) throw new TypeError('This is no hash.')
        if (!create && !shared.has(value)) throw new DOMException('It is not there.', 'NotFoundError')
        const chunks: BlobPart[] = []
        return {
          getFile: async () => {
            const { bytes } = shared.get(value)!
            return damage ? new Blob([bytes.slice(0, -1), 'x']) : bytes
          },
          createWritable: async () => ({
            write: async (chunk: BlobPart) => void chunks.push(chunk),
            abort: async () => {},
            close: async () => {
              const bytes = new Blob(chunks)
              if ((await hexOf(bytes)) !== value) throw new DOMException('The hash is another.', 'DataError')
              shared.set(value, { bytes, origins })
            },
          }),
        }
      }
      const crossOriginStorage = off ? undefined : { requestFileHandle }
      Object.defineProperty(navigator, 'crossOriginStorage', {
        value: crossOriginStorage,
        configurable: true,
      })
      const states: (string | undefined)[] = []
      const source = await download(url, {
        crossOriginStorage: true,
        onCache: ({ crossOrigin }) => states.push(crossOrigin),
        ...(headers ? { headers: { 'X-Test': '1' } } : {}),
      })
      const bytes = await source.read(0, source.size!, {})
      const same = (await hexOf(new Blob([bytes as BlobPart]))) === hash
      await removeStored(url)
      return {
        states,
        same,
        entries: [...shared].map(([value, { origins }]) => [value, origins] as [string, unknown]),
      }
    },
    {
      url: site.url + path,
      hash: createHash('sha256').update(model).digest('hex'),
      refuse,
      damage,
      off,
      headers,
    },
  )
}

test('Cross-Origin Storage: a file is shared by its hash, read, and never trusted', { skip }, async () => {
  const hash = createHash('sha256').update(model).digest('hex')
  const content = { ...bytesContent(model), etag: `"${hash}"` }
  for (const path of ['/first.gguf', '/second.gguf', '/third.gguf']) home.add(path, content)
  const transferred = (path: string) => home.counts(path).bytes

  const refused = await downloadShared('/first.gguf', { refuse: true })
  assert.deepEqual(refused, { states: [undefined, 'refused', 'refused'], same: true, entries: [] })
  const off = await downloadShared('/first.gguf', { off: true })
  assert.deepEqual(off, { states: [undefined, 'unavailable', 'unavailable'], same: true, entries: [] })
  // With headers, which may be a password, only for this site.
  const own = await downloadShared('/third.gguf', { headers: true })
  assert.deepEqual(own.entries, [[hash, undefined]])
  await page.evaluate(() => (globalThis as unknown as { shared: Map<string, unknown> }).shared.clear())

  const first = await downloadShared('/first.gguf')
  assert.deepEqual(first, { states: [undefined, 'missing', 'stored'], same: true, entries: [[hash, '*']] })
  home.reset()
  const second = await downloadShared('/second.gguf')
  assert.deepEqual([second.states, second.same], [[undefined, 'found'], true])
  assert.ok(transferred('/second.gguf') < 100, `${transferred('/second.gguf')} bytes`)
  home.reset()
  const damaged = await downloadShared('/second.gguf', { damage: true })
  assert.deepEqual([damaged.states, damaged.same], [[undefined, 'damaged', 'stored'], true])
  assert.ok(transferred('/second.gguf') >= model.length)

  // The hub's tag of the file, beside another one of the server that has it.
  const hub = await startServer({ headers: { 'x-linked-etag': `"${hash}"` } })
  const visit = await browser.newPage()
  try {
    hub.mount('/package', packedFile('.'))
    hub.add('/index.html', '<!doctype html><title>test</title>')
    hub.add('/linked.gguf', bytesContent(model))
    await visit.goto(`${hub.url}/index.html`)
    const linked = await downloadShared('/linked.gguf', {}, [hub, visit])
    assert.deepEqual([linked.states, linked.entries], [[undefined, 'missing', 'stored'], [[hash, '*']]])
  } finally {
    await visit.close()
    await hub.close()
  }

  // Without a hash of the server nothing is asked.
  home.add('/plain.gguf', bytesContent(model))
  assert.deepEqual((await downloadShared('/plain.gguf')).states, [undefined])
})

test('a full disk and missing ranges are errors, and files can be removed', { skip }, async () => {
  home.add('/tight.gguf', bytesContent(model))
  await page.evaluate(() => {
    navigator.storage.estimate = async () => ({ quota: 1_000_000, usage: 400_000 })
  })
  const tight = await download('/tight.gguf')
  assert.equal(tight.code, 'quota')
  assert.match(tight.message!, /remove stored models|free space/)
  await page.reload()

  home.plan('/tight.gguf', { ranges: 'off' })
  assert.equal((await download('/tight.gguf')).code, 'unsupported')
  home.plan('/tight.gguf')

  const left = await page.evaluate(async (url) => {
    const { removeStored, storedFiles } = (await import(
      new URL('/package/wasm/dist/store/index.js', location.href).href
    )) as typeof import('ggufscope/store')
    await removeStored(url)
    return (await storedFiles()).map(({ name }) => name)
  }, `${home.url}/model.gguf`)
  assert.ok(left.length > 0 && !left.includes('model.gguf'))
})

test('load() with cache: the model runs without network the second time', { skip }, async () => {
  home.add('/run.gguf', bytesContent(model))
  const run = () =>
    page.evaluate(async (url) => {
      const { load } = (await import(
        new URL('/package/wasm/dist/engine/index.js', location.href).href
      )) as typeof import('ggufscope/engine')
      const model = await load(url, { cache: true, contextLength: 64 })
      let text = ''
      for await (const piece of model.generate('Once', { maxTokens: 8, temperature: 0 })) text += piece.text
      model.close()
      return text
    }, `${home.url}/run.gguf`)
  const first = await run()
  await page.reload()
  home.plan('/run.gguf', { cut: -1 })
  assert.equal(await run(), first)
  assert.ok(first.length > 4)
})

test(
  'load() with cache asks the server once whether the file changed, in a browser too',
  { skip },
  async () => {
    const away = await startServer()
    const changed = Buffer.from(model)
    changed.fill(0, model.length - 300)
    try {
      for (const server of [home, away])
        for (const plan of [{}, { etag: 'date' }] as const) {
          const path = `/asked-${plan.etag ?? 'tag'}.gguf`
          const put = (bytes: Buffer, day: number) =>
            server.add(path, { ...bytesContent(bytes), lastModified: new Date(Date.UTC(2026, 0, day)) })
          const run = async () => {
            server.reset()
            const loaded = await page.evaluate(async (url) => {
              const { load } = (await import(
                new URL('/package/wasm/dist/engine/index.js', location.href).href
              )) as typeof import('ggufscope/engine')
              const states: string[] = []
              const onCache = ({ state, reason }: CacheReport) =>
                void states.push(reason === undefined ? state : `${state}, with a reason`)
              const model = await load(url, { cache: true, threads: 1, contextLength: 32, onCache })
              const logits = await model.evaluate([1, 2])
              model.close()
              return { states: states.join(), logits: logits.join() }
            }, server.url + path)
            return { ...loaded, ...server.counts(path) }
          }
          const what = server.url + path
          put(model, 1)
          server.plan(path, plan)
          const first = await run()
          assert.deepEqual([first.states, first.requests > 1], ['new', true], what)
          const again = await run()
          assert.deepEqual([again.states, again.requests, again.logits], ['same', 1, first.logits], what)
          assert.ok(again.bytes <= 4, `${again.bytes}`)
          for (const fault of [{ cut: -1 }, { status: 503 }, { cors: 'off' }] as const) {
            if ('cors' in fault && server === home) continue
            server.plan(path, { ...plan, ...fault })
            const alone = await run()
            assert.deepEqual([alone.states, alone.logits], ['unchecked, with a reason', first.logits], what)
          }
          server.plan(path, plan)
          put(changed, 2)
          const after = await run()
          assert.equal(after.states, 'changed', what)
          assert.notEqual(after.logits, first.logits, what)
          assert.deepEqual([(await run()).states, (await run()).requests], ['same', 1], what)
          server.plan(path)
        }
    } finally {
      await away.close()
    }
  },
)

interface Seen {
  names: number
  first: string
  bytesRead: number
}

/** Opens a file in the page with stored data. */
async function see(url: string, preview: 'full' | 'sparse'): Promise<Seen> {
  return await page.evaluate(
    async ({ url, preview }) => {
      const { open } = (await import(
        new URL('/package/wasm/dist/index.js', location.href).href
      )) as typeof import('ggufscope')
      using file = await open(url, { preview, cache: true })
      return { names: file.tensors.length, first: file.tensors[0]!.name, bytesRead: file.bytesRead }
    },
    { url, preview },
  )
}

/** Waits until the data of this many requests is stored, with checksums. A file's name appears before its bytes. */
async function keptRuns(requests: number): Promise<void> {
  await page.evaluate(async (requests) => {
    const root = await navigator.storage.getDirectory()
    for (let runs = 0; runs < requests; await new Promise((resolve) => setTimeout(resolve, 20))) {
      runs = 0
      const previews = await root.getDirectoryHandle('ggufscope-previews', { create: true })
      for await (const folder of previews.values())
        for await (const handle of (folder as FileSystemDirectoryHandle).values()) {
          const [, from, to] = /^(\d+)-(\d+)$/.exec(handle.name) ?? []
          if (from === undefined) continue
          const { size } = await (handle as FileSystemFileHandle).getFile()
          runs += size === Number(to) - Number(from) + 32 ? 1 : 0
        }
    }
  }, requests)
}

const forget = () =>
  page.evaluate(async () => {
    const { removePreviews } = (await import(
      new URL('/package/wasm/dist/store/index.js', location.href).href
    )) as typeof import('ggufscope/store')
    // The page before this one may still hold a file for a moment.
    for (let tries = 1; ; tries++) {
      try {
        return await removePreviews()
      } catch (error) {
        if ((error as Error).name !== 'NoModificationAllowedError' || tries === 100) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  })

for (const preview of ['full', 'sparse'] as const) {
  test(`open() with cache: what was seen takes one request, ${preview}`, { skip }, async () => {
    const shape = kPreviewShapes.find(({ name }) => name === 'bpe-129k')!
    const { header, size } = writeHeader(previewModel(shape))
    const path = `/${preview}.gguf`
    const slow = await startServer()
    slow.add(path, sparseContent(header, size))
    await forget()
    const first = await see(slow.url + path, preview)
    const before = slow.counts(path).bytes
    await keptRuns(slow.counts(path).requests)
    await page.reload()
    slow.reset()
    // At this bandwidth the header takes half a minute, so the storage answers first even if it is slow.
    slow.setBandwidth(200e3)
    const second = await see(slow.url + path, preview)
    slow.setBandwidth(Infinity)
    assert.deepEqual({ ...second, bytesRead: 0 }, { ...first, bytesRead: 0 })
    const { requests, bytes } = slow.counts(path)
    assert.equal(requests, 1)
    assert.ok(bytes < 0.8 * before, `${bytes} bytes of ${before}`)

    // Another file has replaced the old one at the same address. Nothing of the old one may be used.
    const model = previewModel(shape)
    const [tensor, ...rest] = model.tensors!
    const other = writeHeader({ ...model, tensors: [{ ...tensor!, name: 'other.weight' }, ...rest] })
    slow.add(path, sparseContent(other.header, other.size))
    await page.reload()
    assert.equal((await see(slow.url + path, preview)).first, 'other.weight')
    await page.reload()
    await forget()
    slow.reset()
    assert.equal((await see(slow.url + path, preview)).first, 'other.weight')
    assert.ok(slow.counts(path).bytes > bytes)
    await slow.close()
  })
}

test('SHA-256 in pieces', async () => {
  const { Sha256 } = (await import(
    pathToFileURL(packedFile('wasm/dist/store/sha256.js')).href
  )) as typeof import('../../wasm/src/store/sha256.ts')
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 100_001]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 255)
    const hash = new Sha256()
    for (let at = 0; at < length; at += 37) hash.update(bytes.subarray(at, at + 37))
    assert.equal(hash.hex(), createHash('sha256').update(bytes).digest('hex'), String(length))
  }
})

assert.ok(partCount >= 5)

/** Runs with an empty cache folder; `files` is where one address's data lies. */
async function withCache(
  work: (store: typeof import('ggufscope/store'), files: (url: string) => string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-cache-'))
  process.env['XDG_CACHE_HOME'] = folder
  const files = (url: string) => {
    const name = createHash('sha256').update(url).digest('hex').slice(0, 32)
    return join(folder, 'ggufscope', 'ggufscope-files', name)
  }
  try {
    await work(await built<typeof import('ggufscope/store')>('store/index.js'), files)
  } finally {
    delete process.env['XDG_CACHE_HOME']
    rmSync(folder, { recursive: true })
  }
}

test('stored bytes that changed on the disk are noticed, and fetched again', async () => {
  await withCache(async ({ download, StoredSource }, files) => {
    const path = '/bad-disk.gguf'
    const url = home.url + path
    home.add(path, bytesContent(model))
    home.plan(path)
    const place = (name: string) => join(files(url), name)
    const edit = (name: string, change: (bytes: Buffer) => Buffer) => () =>
      writeFileSync(place(name), change(readFileSync(place(name))))
    const record = (change: object) =>
      edit('info.json', (bytes) =>
        Buffer.from(JSON.stringify({ ...(JSON.parse(String(bytes)) as object), ...change })),
      )
    const flip = (at: number) =>
      edit('2', (bytes) => {
        bytes[at < 0 ? bytes.length + at : at]! ^= 1
        return bytes
      })
    // [damage, number of parts that are fetched again]
    const cases: Record<string, [damage: () => void, parts: number]> = {
      nothing: [() => {}, 0],
      'the first byte': [flip(0), 1],
      'a byte in the middle': [flip(1000), 1],
      'the checksum': [flip(-1), 1],
      'a cut part': [edit('2', (bytes) => bytes.subarray(0, 1000)), 1],
      'a longer part': [edit('2', (bytes) => Buffer.concat([bytes, bytes])), 1],
      'an empty part': [edit('0', () => Buffer.alloc(0)), 1],
      'a missing part': [() => rmSync(place('3')), 1],
      'two parts exchanged': [
        () => {
          const [one, two] = [readFileSync(place('1')), readFileSync(place('2'))]
          writeFileSync(place('1'), two)
          writeFileSync(place('2'), one)
        },
        2,
      ],
      'no record': [() => rmSync(place('info.json')), partCount],
      'a record that is no JSON': [edit('info.json', (bytes) => bytes.subarray(0, 20)), partCount],
      'parts of one byte': [record({ partBytes: 1 }), partCount],
      'parts of 0 bytes': [record({ partBytes: 0 }), partCount],
      'a huge size': [record({ size: 2 ** 52 }), partCount],
      'a huge size and its parts': [record({ size: 2 ** 52, partBytes: 8 << 20 }), partCount],
      'another size': [record({ size: model.length - 1 }), partCount],
      'no name': [record({ name: undefined }), partCount],
      'another version': [record({ validator: '"other"' }), partCount],
      'a file without a number': [() => writeFileSync(place('1e0'), 'x'), 0],
      'a part after the end': [() => writeFileSync(place('99'), 'x'), 0],
    }
    await download(url)
    for (const [name, [damage, parts]] of Object.entries(cases)) {
      damage()
      home.reset()
      const source = await download(url, { retries: 0 })
      assert.deepEqual(Buffer.from(await source.read(0, model.length, {})), model, name)
      // Two requests of 4 bytes may ask for the version.
      const { bytes } = home.counts(path)
      const least = parts === partCount ? model.length : parts > 0 ? (parts - 1) * kPart + 1 : 0
      assert.ok(bytes >= least && bytes <= parts * kPart + 8, `${name}: ${bytes} bytes`)
      const again = await download(url)
      assert.deepEqual(Buffer.from(await again.read(0, model.length, {})), model, name)
    }
    // Without a network, the damage is named.
    flip(5)()
    home.plan(path, { cut: -1 })
    await assert.rejects(new StoredSource(url, { retries: 0 }).read(3 * kPart - 10, 10, {}), {
      name: 'GgufError',
      message: /stored bytes of bad-disk.gguf are damaged at byte 524288, and could not be fetched again/,
    })
    home.plan(path)
    // Parts of version 0.2 of this package have no checksum. Other parts without one are damaged.
    for (const [sealed, requests] of [
      [undefined, 0],
      [true, partCount],
    ] as const) {
      for (let part = 0; part < partCount; part++)
        writeFileSync(place(String(part)), model.subarray(part * kPart, (part + 1) * kPart))
      record({ sealed, complete: true })()
      home.reset()
      const older = await download(url)
      assert.deepEqual(Buffer.from(await older.read(0, model.length, {})), model)
      assert.ok(home.counts(path).requests >= requests)
      assert.ok(home.counts(path).bytes <= 8 + (requests > 0 ? model.length : 0))
    }
  })
})

test('bytes of previews that changed on the disk are noticed', async () => {
  await withCache(async (_, files) => {
    const { open } = await built<typeof import('ggufscope')>('node.js')
    const path = '/bad-preview.gguf'
    const url = home.url + path
    home.add(path, bytesContent(model))
    const root = join(files(url), '../../ggufscope-previews', basename(files(url)))
    const runs = () => (existsSync(root) ? readdirSync(root) : []).filter((name) => /^\d+-\d+$/.test(name))
    const see = async () => {
      using file = await open(url, { cache: true, preview: 'full' })
      return [file.tensors.length, ...(await file.dequantize('output_norm.weight'))]
    }
    const first = await see()
    const isStored = async () => {
      for (let tries = 0; runs().length < 2 && tries < 500; tries++) await wait(20)
      assert.ok(runs().length >= 2)
    }
    const damages: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => (bytes.fill(3, 100, 140), bytes),
      (bytes) => bytes.fill(0),
      (bytes) => bytes.subarray(0, -1),
      (bytes) => bytes.subarray(0, -32),
      () => Buffer.alloc(0),
    ]
    for (const damage of damages) {
      await isStored()
      for (const name of runs()) writeFileSync(join(root, name), damage(readFileSync(join(root, name))))
      assert.deepEqual(await see(), first, String(damage))
    }
  })
})

test('two versions of a file are not mixed, also without a tag of the server', async () => {
  await withCache(async ({ download }) => {
    const other = Buffer.from(model).fill(7, 200_000)
    const middle = Buffer.from(model)
    middle.fill(7, kPart + 100_000, kPart + 200_000)
    let number = 0
    for (const [next, etag] of [
      [other, 'off'],
      [middle, 'off'],
      [model, 'off'],
      [other, undefined],
      [other, 'weak'],
      [model.subarray(0, -1), 'off'],
    ] as const) {
      const path = `/versions-${number++}.gguf`
      const url = home.url + path
      const tag = etag === undefined ? {} : ({ etag } as const)
      home.add(path, bytesContent(model))
      home.plan(path, tag, { after: 5, cut: 1000 })
      await assert.rejects(download(url, { retries: 0 }), { code: 'connection-lost' })
      home.add(path, bytesContent(next))
      home.plan(path, tag)
      home.reset()
      const states: string[] = []
      const source = await download(url, { onCache: ({ state }) => states.push(state) })
      assert.deepEqual(Buffer.from(await source.read(0, next.length, {})), Buffer.from(next), path)
      assert.deepEqual(states, [next === model ? 'same' : 'changed'])
      // What is the same continues.
      if (next === model) assert.ok(home.counts(path).bytes < model.length)
    }
    // The file is replaced within a download.
    home.add('/next.gguf', bytesContent(other))
    home.add('/within.gguf', bytesContent(model))
    home.plan('/within.gguf', { etag: 'off' }, { after: 4, replace: '/next.gguf' })
    await assert.rejects(download(`${home.url}/within.gguf`), { code: 'file-changed' })
    home.plan('/within.gguf', { etag: 'off', replace: '/next.gguf' })
    const source = await download(`${home.url}/within.gguf`)
    assert.deepEqual(Buffer.from(await source.read(0, other.length, {})), other)
    // So with a date, or a weak tag, that stays.
    for (const headers of [{ etag: 'W/"1"' }, { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }]) {
      let requests = 0
      const server = createServer((request, response) => {
        const body = requests++ < 4 ? model : other
        const [, from = '0', to = ''] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
        const end = Math.min(Number(to) + 1, body.length)
        const range = `bytes ${from}-${end - 1}/${body.length}`
        response.writeHead(206, { ...headers, 'content-range': range, 'content-length': end - Number(from) })
        response.end(body.subarray(Number(from), end))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      await assert.rejects(download(`http://127.0.0.1:${port}/x.gguf`), { code: 'file-changed' })
      server.close()
      server.closeAllConnections()
    }
  })
})

test('a stored file stays where a page without ranges comes in its place', async () => {
  await withCache(async ({ download }) => {
    let page: Buffer | undefined
    const server = createServer((request, response) => {
      const [, from = '0', to = ''] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
      if (page) return response.writeHead(200, { 'content-length': page.length }).end(page)
      const end = Math.min(Number(to) + 1, model.length)
      const range = `bytes ${from}-${end - 1}/${model.length}`
      response.writeHead(206, { etag: '"1"', 'content-range': range, 'content-length': end - Number(from) })
      response.end(model.subarray(Number(from), end))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.gguf`
    const states: string[] = []
    const bytes = async () => {
      const source = await download(url, { onCache: ({ state }) => states.push(state) })
      return Buffer.from(await source.read(0, model.length, {}))
    }
    try {
      await bytes()
      page = Buffer.from('<html>Please sign in</html>')
      assert.deepEqual(await bytes(), Buffer.from(model))
      assert.deepEqual(states, ['new', 'unchecked'])
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})

const built = async <T>(path: string): Promise<T> =>
  (await import(pathToFileURL(packedFile(`wasm/dist/${path}`)).href)) as T

test('Node keeps files in the cache folder: previews, downloads that go on, models without network', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-cache-'))
  process.env['XDG_CACHE_HOME'] = folder
  try {
    const { open } = await loadPackage()
    const { download, removePreviews, removeStored, storedFiles } =
      await built<typeof import('ggufscope/store')>('store/index.js')
    const { load } = await built<typeof import('ggufscope/engine')>('engine/index.js')
    const path = '/node.gguf'
    const url = home.url + path
    home.add(path, bytesContent(model))
    home.plan(path, { after: 4, cut: 1000 })
    await assert.rejects(download(url, { retries: 0 }), { code: 'connection-lost' })
    const [part] = await storedFiles()
    assert.ok(part!.bytes >= kPart && !part!.complete)
    home.plan(path)
    home.reset()
    const source = await download(url)
    assert.equal(home.counts(path).bytes, model.length - part!.bytes + 4)
    assert.deepEqual(Buffer.from(await source.read(0, model.length, {})), model)

    const states: string[] = []
    const run = async (contextLength: number) => {
      home.reset()
      const onCache = ({ url: told, name, state, reason }: CacheReport) => {
        assert.deepEqual([told, name], [url, 'node.gguf'])
        states.push(state)
        assert.equal(reason !== undefined, state === 'unchecked')
      }
      const loaded = await load(url, { cache: true, threads: 1, contextLength, onCache })
      const logits = await loaded.evaluate([1, 2])
      loaded.close()
      return logits
    }
    const logits = await run(32)
    assert.equal(home.counts(path).requests, 1)
    assert.equal(home.counts(path).bytes, 0)
    home.plan(path, { cut: -1 })
    assert.deepEqual(await run(33), logits)
    assert.equal(home.counts(path).requests, 1)
    for (const status of [404, 401, 503]) {
      home.plan(path, { status })
      assert.deepEqual(await run(34), logits)
    }
    // A file that changed on the server is loaded, and kept.
    home.plan(path)
    const changed = Buffer.from(model)
    changed.fill(0, model.length - 300, model.length)
    home.add(path, bytesContent(changed))
    assert.notDeepEqual(await run(35), logits)
    home.plan(path, { etag: 'weak' })
    await run(36)
    assert.equal(home.counts(path).requests, 1)
    assert.deepEqual(states, ['same', 'unchecked', 'unchecked', 'unchecked', 'unchecked', 'changed', 'same'])
    await assert.rejects(
      load(url, {
        cache: true,
        onCache() {
          throw new RangeError('mine')
        },
      }),
      { name: 'RangeError', message: 'mine' },
    )
    // A server without tags and dates has another file with the same header and size.
    home.plan(path, { etag: 'off' })
    states.length = 0
    const retrained = Buffer.from(model)
    retrained.fill(1, model.length >> 1)
    for (const now of [model, model, retrained]) {
      home.add(path, bytesContent(now))
      await run(37)
    }
    assert.deepEqual(states, ['changed', 'same', 'changed'])
    home.plan(path)

    const shape = kPreviewShapes.find(({ name }) => name === 'bpe-129k')!
    const { header, size } = writeHeader(previewModel(shape))
    home.add('/header.gguf', sparseContent(header, size))
    const bytes: number[] = []
    for (const bandwidth of [Infinity, 4e6]) {
      home.reset()
      home.setBandwidth(bandwidth)
      const file = await open(`${home.url}/header.gguf`, { cache: true })
      bytes.push(home.counts('/header.gguf').bytes)
      file.close()
      await wait(1000) // writing continues in the background
    }
    home.setBandwidth(Infinity)
    assert.ok(bytes[1]! < 0.8 * bytes[0]!, `${bytes.join(' then ')} bytes were fetched`)
    await removePreviews()
    assert.deepEqual(readdirSync(join(folder, 'ggufscope', 'ggufscope-previews')), [])
    await removeStored(url)
    assert.deepEqual(await storedFiles(), [])
    assert.deepEqual(readdirSync(join(folder, 'ggufscope', 'ggufscope-files')), [])

    writeFileSync(join(folder, 'file'), '')
    process.env['XDG_CACHE_HOME'] = join(folder, 'file')
    await assert.rejects(download(url), { code: 'forbidden', message: /Set XDG_CACHE_HOME/ })
  } finally {
    delete process.env['XDG_CACHE_HOME']
    rmSync(folder, { recursive: true })
  }
})

test('progress of downloads and cached loads comes while parts are on the way, and ends at the total', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-cache-'))
  process.env['XDG_CACHE_HOME'] = folder
  const { download } = await built<typeof import('ggufscope/store')>('store/index.js')
  const { load } = await built<typeof import('ggufscope/engine')>('engine/index.js')
  for (const path of ['/slow-download.gguf', '/slow-load.gguf']) home.add(path, bytesContent(model))
  home.setBandwidth(model.length / 4)
  try {
    const downloaded: number[] = []
    await download(`${home.url}/slow-download.gguf`, {
      onProgress: (bytes, size) => {
        assert.equal(size, model.length)
        downloaded.push(bytes)
      },
    })
    const loaded: number[] = []
    let total = 0
    const loadedModel = await load(`${home.url}/slow-load.gguf`, {
      cache: true,
      threads: 1,
      onProgress(progress) {
        if (progress.phase !== 'weights') return
        total = progress.total
        loaded.push(progress.loaded)
      },
    })
    loadedModel.close()
    for (const [reports, all] of [
      [downloaded, model.length],
      [loaded, total],
    ] as const) {
      // The parts alone would be 7 and 4. Not every report fits into a busy machine's time.
      assert.ok(reports.length > 12, `${reports.length} reports`)
      assert.deepEqual(
        reports,
        reports.toSorted((a, b) => a - b),
      )
      assert.equal(reports.at(-1), all)
    }
  } finally {
    home.setBandwidth(Infinity)
    delete process.env['XDG_CACHE_HOME']
    rmSync(folder, { recursive: true })
  }
})
