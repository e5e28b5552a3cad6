// The package's own files can be on other origins, in folders, or given as bytes and compiled modules. If one cannot be
// loaded, the error says so. A program uses every feature of the package, in Chromium.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, mock, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from '@playwright/test'
import { build } from 'esbuild'
import { expectedSeen, faultsOf, importMapPage, modelBytes, type Seen } from '../everywhere/expected.ts'
import { everyNth } from '../fixtures/short.ts'
import { startServer, type Server } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { kRoot, packedFile, packedRoot } from './packed.ts'

const skip = kHasBrowser ? false : 'no Chromium'
const work = mkdtempSync(join(packedRoot(), 'hosting-'))
writeFileSync(join(work, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
const app = join(work, 'app.js')
copyFileSync(join(kRoot, 'tests/everywhere/app.js'), app)

/** The page's server has cross-origin isolation for threads. The other one lacks the package and allows CORS. */
const home = await startServer({ isolated: true, cors: false })
const foreign = await startServer({ isolated: true })
let browser: Browser
let expected: Seen
before(async () => {
  expected = await expectedSeen()
  if (!skip) browser = await chromium.launch(kBrowser)
  for (const server of [home, foreign]) server.add('/stories.gguf', modelBytes())
  // One folder with all files, as the documentation describes.
  const flat = join(work, 'flat')
  mkdirSync(flat)
  for (const folder of ['wasm/dist', 'wasm/dist/engine'])
    for (const name of readdirSync(packedFile(folder)))
      if (/\.wasm$|^engine-worker\.js$/.test(name))
        copyFileSync(packedFile(`${folder}/${name}`), join(flat, name))
  foreign.mount('/flat', flat)
  foreign.mount('/package', packedFile('.'))
  home.mount('/flat', flat)
  home.mount('/package', packedFile('.'))
})
after(async () => {
  await browser?.close()
  await Promise.all([home.close(), foreign.close()])
  rmSync(work, { recursive: true, force: true })
})

let serial = 0
/** Bundles the program without a plug-in, so that there are no files beside it. */
async function bundle(format: 'esm' | 'iife', more = ''): Promise<string> {
  const source = join(work, `entry-${serial}.js`)
  writeFileSync(source, `import { everything } from './app.js'\nglobalThis.everything = everything\n${more}`)
  const out = join(work, `out-${serial++}`)
  await build({
    entryPoints: [source],
    bundle: true,
    format,
    outfile: join(out, 'main.js'),
    logLevel: 'error',
    logOverride: { 'empty-import-meta': 'silent' },
  })
  return out
}

async function inPage<T>(server: Server, html: string, use: (page: Page) => Promise<T>): Promise<T> {
  const path = `/page-${serial++}/`
  server.add(`${path}index.html`, `<!doctype html><link rel="icon" href="data:,">${html}`)
  const page = await browser.newPage()
  try {
    await page.goto(`${server.url}${path}index.html`)
    await page.waitForFunction(() => 'everything' in globalThis, undefined, { timeout: 10_000 })
    return await use(page)
  } finally {
    await page.close()
  }
}

/** Runs the program in a page. `options`: a JavaScript expression that the page evaluates. */
function everythingIn(html: string, options = '{}', source = "'/stories.gguf'"): Promise<Seen> {
  return inPage(home, html, (page) =>
    page.evaluate(`(async () => globalThis.everything(${source}, await (async () => (${options}))(), 2))()`),
  )
}

function addApp(): void {
  home.add(`/page-${serial}/app.js`, readFileSync(app))
}

test('an import map and no bundler', { skip }, async () => {
  addApp()
  assert.deepEqual(faultsOf(await everythingIn(importMapPage()), expected, 2), [])
})

test('files can come from another origin, such as a CDN', { skip }, async () => {
  addApp()
  assert.deepEqual(faultsOf(await everythingIn(importMapPage(`${foreign.url}/package`)), expected, 2), [])
})

const kNames = readdirSync(packedFile('wasm/dist'))
  .concat(readdirSync(packedFile('wasm/dist/engine')))
  .filter((name) => name.endsWith('.wasm'))
const tableOf = (value: (name: string) => string): string =>
  `{ assets: { 'engine-worker.js': '/flat/engine-worker.js', ${kNames.map((name) => `'${name}': ${value(name)}`).join()} } }`
const kWays: readonly [what: string, format: 'esm' | 'iife', options: string][] = [
  ['a folder', 'esm', `{ assets: '/flat/' }`],
  ['a folder without a slash, from a classic script', 'iife', `{ assets: '/flat' }`],
  ['a folder of another origin', 'esm', `{ assets: '${foreign.url}/flat/' }`],
  ['wasmUrl and workerUrl', 'esm', `{ wasmUrl: '/flat/inspect.wasm', workerUrl: '/flat/engine-worker.js' }`],
  ['an address each', 'iife', tableOf((name) => `'/flat/${name}'`)],
  ['bytes', 'iife', tableOf((name) => `await (await fetch('/flat/${name}')).arrayBuffer()`)],
  [
    'compiled modules',
    'iife',
    tableOf((name) => `await WebAssembly.compileStreaming(fetch('/flat/${name}'))`),
  ],
  ['promises of modules', 'iife', tableOf((name) => `WebAssembly.compileStreaming(fetch('/flat/${name}'))`)],
]
for (const [what, format, options] of everyNth(kWays, 2))
  test(`the files are given as ${what}`, { skip }, async () => {
    const out = await bundle(format)
    home.mount(`/page-${serial}`, out)
    const script = format === 'esm' ? '<script type="module" src="main.js">' : '<script src="main.js">'
    assert.deepEqual(faultsOf(await everythingIn(`${script}</script>`, options), expected, 2), [])
  })

test('the files are given as Responses, once each', { skip }, async () => {
  const out = await bundle('iife')
  home.mount(`/page-${serial}`, out)
  const options = tableOf((name) => `await fetch('/flat/${name}')`)
  const seen = await everythingIn('<script src="main.js"></script>', options)
  // The engine is loaded twice. The second load needs a second response, and its error says so.
  const { 'engine, all threads': second, ...rest } = seen
  assert.match(second!, /^failed: /)
  assert.deepEqual(
    faultsOf({ ...rest, 'engine, all threads': expected['engine, all threads']! }, expected, 2),
    [],
  )
})

test('a dependency that a development server bundled away from its files', { skip }, async () => {
  // Imitates Vite 5 to 7, which move code to node_modules/.vite/deps without the files that it reads.
  const out = await bundle('esm')
  home.mount('/dev/node_modules/.vite/deps', out)
  home.mount('/dev/node_modules/ggufscope', packedFile('.'))
  const seen = await everythingIn(
    '<script type="module" src="/dev/node_modules/.vite/deps/main.js"></script>',
  )
  assert.deepEqual(faultsOf(seen, expected, 2), [])
})

test('where there are no workers the engine runs in place', { skip }, async () => {
  const out = await bundle('esm', 'delete globalThis.Worker')
  home.mount(`/page-${serial}`, out)
  const seen = await everythingIn('<script type="module" src="main.js"></script>', `{ assets: '/flat/' }`)
  assert.deepEqual(faultsOf(seen, expected, 1), [])
})

test('a service worker, bundled into one file', { skip }, async () => {
  const out = await bundle(
    'iife',
    `addEventListener('fetch', (event) => {
      if (new URL(event.request.url).pathname !== '/service/run') return
      event.respondWith(everything('/stories.gguf', { assets: '/flat/' }).then((seen) => Response.json(seen)))
    })
    addEventListener('activate', (event) => event.waitUntil(clients.claim()))`,
  )
  home.mount('/service', out)
  home.add('/service/index.html', '<!doctype html><title>service</title>')
  const page = await browser.newPage()
  try {
    await page.goto(`${home.url}/service/index.html`)
    const seen = await page.evaluate(async () => {
      await navigator.serviceWorker.register('main.js')
      await navigator.serviceWorker.ready
      while (!navigator.serviceWorker.controller) await new Promise((done) => setTimeout(done, 20))
      return (await (await fetch('run')).json()) as Seen
    })
    assert.deepEqual(faultsOf(seen, expected, 1), [])
  } finally {
    await page.close()
  }
})

test('the content security policy in the documentation works', { skip }, async () => {
  const out = await bundle('esm')
  home.mount(`/page-${serial}`, out)
  const policy = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'`
  const seen = await everythingIn(
    `<meta http-equiv="Content-Security-Policy" content="${policy}"><script type="module" src="main.js"></script>`,
    `{ assets: '/flat/' }`,
  )
  assert.deepEqual(faultsOf(seen, expected, 2), [])
})

test('errors name a worker that cannot start, and the solution', { skip }, async () => {
  for (const [options, address] of [
    [`{ wasmUrl }`, '/engine-worker.js'],
    [`{ wasmUrl, workerUrl: '/nothing/engine-worker.js' }`, '/nothing/engine-worker.js'],
    [`{ wasmUrl, workerUrl: '${foreign.url}/nothing.js' }`, `${foreign.url}/nothing.js`],
  ] as const) {
    const out = await bundle('esm')
    home.mount(`/page-${serial}`, out)
    const wasmUrl = `wasmUrl: '/flat/inspect.wasm'`
    const seen = await everythingIn(
      '<script type="module" src="main.js"></script>',
      options.replace('wasmUrl', wasmUrl),
    )
    assert.match(seen['engine, 1 thread']!, /^failed: wasm The engine's worker /)
    assert.ok(seen['engine, 1 thread']!.includes(address), seen['engine, 1 thread'])
    assert.match(seen['engine, 1 thread']!, /option assets/)
  }
})

test('errors name a module that cannot start, and the solution', { skip }, async () => {
  home.add('/app/index.html', '<!doctype html>')
  for (const [options, reason] of [
    [
      `{ assets: '/nothing/' }`,
      /nothing\/inspect\.wasm could not be started: the server answers with status 404/,
    ],
    [`{ wasmUrl: '/app/index.html' }`, /it is a web page/],
    [`{ wasmUrl: new Uint8Array(4) }`, /inspect\.wasm that was given could not be started/],
    [`{ wasmUrl: 5 }`, /no address, Response, bytes or module/],
  ] as const) {
    const out = await bundle('esm')
    home.mount(`/page-${serial}`, out)
    const seen = await everythingIn('<script type="module" src="main.js"></script>', options)
    assert.match(seen['open']!, reason)
    assert.match(seen['open']!, /^failed: wasm .*option assets/)
  }
})

test('the modules and the worker are exported by their names', () => {
  for (const name of [...kNames, 'engine-worker.js']) {
    const program = `console.log(import.meta.resolve('ggufscope/${name}'))`
    writeFileSync(join(work, 'resolve.js'), program)
    const found = execFileSync(process.execPath, [join(work, 'resolve.js')], { encoding: 'utf8' }).trim()
    assert.ok(readFileSync(new URL(found)).length > 0)
  }
})

test('in Node: a folder of files: and a script that is not there', async () => {
  const { load } = (await import(
    pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
  )) as typeof import('ggufscope/engine')
  const assets = pathToFileURL(join(work, 'flat/'))
  const model = await load(modelBytes(), { assets, threads: 2 })
  assert.equal(model.info.threads, 2)
  model.close()
  const wrong = pathToFileURL(join(work, 'nothing/engine-worker.js'))
  await assert.rejects(
    load(modelBytes(), { workerUrl: wrong }),
    (error: { code: string; message: string }) => {
      assert.equal(error.code, 'wasm')
      assert.ok(error.message.includes(wrong.href), error.message)
      return true
    },
  )
})

test('in Node: a module in place of another, which nothing prints', async () => {
  const { open } = (await import(
    `${pathToFileURL(packedFile('wasm/dist/open.js'))}?again`
  )) as typeof import('ggufscope')
  const bytes = (name: string) => readFileSync(packedFile(`wasm/dist/${name}`))
  const print = mock.method(console, 'error', () => undefined)
  const wrong = (name: string) => (error: { code: string; message: string }) => {
    assert.equal(error.code, 'wasm')
    assert.match(error.message, new RegExp(`module ${name} that was given could not be started`))
    return true
  }
  for (const other of ['text.wasm', 'quant.wasm'])
    await assert.rejects(open(modelBytes(), { wasmUrl: bytes(other) }), wrong('inspect.wasm'))
  for (const other of ['inspect.wasm', 'quant.wasm']) {
    const file = await open(modelBytes(), { assets: { 'text.wasm': bytes(other) } })
    assert.throws(() => file.tokenizer(), wrong('text.wasm'))
    await assert.rejects(file.loadTokenizer(), wrong('text.wasm'))
  }
  assert.equal(print.mock.callCount(), 0)
})
