// The packed package through the bundlers that people use: bundled, then run in Node and in Chromium.
import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from '@playwright/test'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { array, smallModel, text } from '../fixtures/models.ts'
import { kAll } from '../fixtures/short.ts'
import { startServer } from '../server/server.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { kRoot, packedFile, packedRoot } from './packed.ts'

const require = createRequire(import.meta.url)
const plain = smallModel()
const vocabulary: Model['metadata'] = [
  ['tokenizer.ggml.model', text('gpt2')],
  ['tokenizer.ggml.pre', text('gpt-2')],
  ['tokenizer.ggml.tokens', array('string', ['a', 'b', 'ab'])],
  ['tokenizer.ggml.merges', array('string', ['a b'])],
]
const model: Model = { ...plain, metadata: [...plain.metadata!, ...vocabulary!] }
const bytes = writeGguf(model)

// Is below the packed root, so that node_modules is found as in a separate project.
const work = mkdtempSync(join(packedRoot(), 'bundle-'))
// Without a package.json, the folder would belong to this repository, whose name resolves to itself.
writeFileSync(join(work, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
const entry = join(work, 'entry.js')
writeFileSync(
  entry,
  `import { open } from 'ggufscope'
export async function list(source) {
  const file = await open(source)
  const first = await file.dequantize(file.tensors[0].name, { rows: [0, 1] })
  const ids = file.tokenizer().encode('ab')
  const result = { names: file.tensors.map(({ name }) => name), floats: first.length, ids }
  file.close()
  return result
}
globalThis.list = list
`,
)
const wanted = {
  names: model.tensors!.map(({ name }) => name),
  floats: model.tensors![0]!.shape[0]!,
  ids: [2],
}

const server = await startServer({ cors: false })
let browser: Browser | undefined
before(async () => {
  if (kHasBrowser) browser = await chromium.launch(kBrowser)
})
after(async () => {
  await browser?.close()
  await server.close()
  rmSync(work, { recursive: true })
})

const kWasm = ['inspect.wasm', 'quant.wasm', 'text.wasm']
/** Copies the wasm files beside the output, as the README says for bundlers that do not rewrite their addresses. */
function copyWasm(folder: string): void {
  for (const name of kWasm) copyFileSync(packedFile(`wasm/dist/${name}`), join(folder, name))
}

async function listIn(page: Page): Promise<unknown> {
  await page.waitForFunction(() => 'list' in globalThis, undefined, { timeout: 20_000 })
  return await page.evaluate(() =>
    (globalThis as unknown as { list: (url: string) => Promise<unknown> }).list(
      new URL('small.gguf', location.href).href,
    ),
  )
}

async function inChromium(folder: string, script: string): Promise<void> {
  if (!browser) return
  const prefix = `/${folder.split('/').pop()}/`
  server.mount(prefix, folder)
  server.add(`${prefix}small.gguf`, bytes)
  server.add(`${prefix}index.html`, `<!doctype html><script type="module" src="${script}"></script>`)
  const page = await browser.newPage()
  try {
    await page.goto(`${server.url}${prefix}index.html`)
    assert.deepEqual(await listIn(page), wanted)
  } finally {
    await page.close()
  }
}

async function inNode(file: string): Promise<void> {
  const { list } = (await import(pathToFileURL(file).href)) as {
    list: (source: Uint8Array) => Promise<unknown>
  }
  assert.deepEqual(await list(bytes), wanted)
}

function folder(name: string): string {
  const path = join(work, name)
  mkdirSync(path, { recursive: true })
  return path
}

test('no bundler: Node resolves it by its name', async () => inNode(entry))

test('esbuild', async () => {
  const { build } = await import('esbuild')
  const out = folder('esbuild')
  await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    outfile: join(out, 'main.js'),
    logLevel: 'error',
  })
  copyWasm(out)
  await inNode(join(out, 'main.js'))
  await inChromium(out, 'main.js')
})

test('rollup', async () => {
  const { rollup } = await import('@rollup/wasm-node')
  const out = folder('rollup')
  // Rollup alone does not resolve packages. This replaces its node-resolve plug-in.
  const resolve = {
    name: 'resolve',
    resolveId: (id: string) => (id === 'ggufscope' ? packedFile('wasm/dist/index.js') : null),
  }
  const bundle = await rollup({ input: entry, plugins: [resolve] })
  await bundle.write({ dir: out, format: 'es', entryFileNames: 'main.js', chunkFileNames: '[name].js' })
  await bundle.close()
  copyWasm(out)
  await inNode(join(out, 'main.js'))
  await inChromium(out, 'main.js')
})

/** Bundles a module for pages with webpack. */
async function withWebpack(input: string, out: string): Promise<void> {
  const webpack = require('webpack') as typeof import('webpack')
  const stats = await new Promise<import('webpack').Stats | undefined>((resolve, reject) =>
    webpack(
      {
        mode: 'production',
        optimization: { minimize: kAll }, // takes half a minute
        context: work,
        entry: input,
        output: { path: out, filename: 'main.js', publicPath: 'auto' },
      },
      (error, done) => (error ? reject(error) : resolve(done)),
    ),
  )
  assert.deepEqual(stats!.toJson({ all: false, errors: true, warnings: true }).errors, [])
}

async function withVite(input: string, out: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    root: work,
    base: './',
    logLevel: 'error',
    configFile: false,
    build: {
      outDir: out,
      lib: undefined!,
      rollupOptions: { input, output: { entryFileNames: 'main.js' } },
      target: 'es2022',
    },
  })
}

for (const [name, bundle, assets] of [
  ['webpack', withWebpack, '.'],
  ['vite', withVite, 'assets'],
] as const)
  test(name, async () => {
    const out = folder(name)
    await bundle(entry, out)
    assert.ok(
      readdirSync(join(out, assets)).some((file) => file.endsWith('.wasm')),
      'the wasm files are assets',
    )
    await inChromium(out, 'main.js')
  })

test("vite's development server", async (t) => {
  if (!browser) return t.skip('no Chromium')
  const { createServer } = await import('vite')
  const root = folder('vite-dev')
  writeFileSync(join(root, 'index.html'), '<!doctype html><script type="module" src="./entry.js"></script>')
  copyFileSync(entry, join(root, 'entry.js'))
  writeFileSync(join(root, 'small.gguf'), bytes)
  const vite = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    cacheDir: join(root, '.vite'),
    server: { port: 0, host: '127.0.0.1', fs: { allow: [packedRoot()] } },
  })
  const page = await browser.newPage()
  try {
    await vite.listen()
    const address = vite.httpServer!.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${address.port}/index.html`)
    assert.deepEqual(await listIn(page), wanted)
  } finally {
    await page.close()
    await vite.close()
  }
})

test('wasmUrl loads the wasm files from another place', async () => {
  const out = folder('elsewhere')
  const away = folder('elsewhere/static')
  const { build } = await import('esbuild')
  const source = join(work, 'elsewhere.js')
  writeFileSync(
    source,
    `import { open, GgufError } from 'ggufscope'
export const list = async (bytes, wasmUrl) => {
  const wrong = await open(bytes, { wasmUrl: wasmUrl.replace('inspect', 'nothing') }).catch((error) => error)
  if (!(wrong instanceof GgufError) || wrong.code !== 'wasm') throw wrong
  return (await open(bytes, { wasmUrl })).tensors.length
}`,
  )
  await build({
    entryPoints: [source],
    bundle: true,
    format: 'esm',
    outfile: join(out, 'main.js'),
    logLevel: 'error',
  })
  copyWasm(away)
  const { list } = (await import(pathToFileURL(join(out, 'main.js')).href)) as {
    list: (bytes: Uint8Array, url: string) => Promise<number>
  }
  assert.equal(await list(bytes, pathToFileURL(join(away, 'inspect.wasm')).href), wanted.names.length)
})

// The engine's worker starts threads, and loads one of four modules with its JavaScript. All files must be found.
const engineEntry = join(work, 'engine.js')
writeFileSync(
  engineEntry,
  `import { load } from 'ggufscope/engine'
globalThis.tell = async (source) => {
  const model = await load(source, { threads: 2 })
  const { variant, threads } = model.info
  let text = ''
  for await (const piece of model.generate('Once upon a time', { seed: 7, maxTokens: 20 })) text += piece.text
  model.close()
  return { variant, threads, text }
}
`,
)

async function engineInChromium(folder: string): Promise<void> {
  if (!browser) return
  await using isolated = await startServer({ isolated: true, cors: false })
  isolated.mount('/', folder)
  isolated.add('/stories.gguf', readFileSync(join(kRoot, 'tests/fixtures/stories.gguf')))
  isolated.add('/index.html', '<!doctype html><script type="module" src="main.js"></script>')
  const page = await browser.newPage()
  try {
    await page.goto(`${isolated.url}/index.html`)
    await page.waitForFunction(() => 'tell' in globalThis, undefined, { timeout: 10_000 })
    type Told = { variant: string; threads: number; text: string }
    const { text, ...rest } = await page.evaluate(() =>
      (globalThis as unknown as { tell: (url: string) => Promise<Told> }).tell('/stories.gguf'),
    )
    assert.deepEqual(rest, { variant: 'relaxed', threads: 2 })
    assert.match(text, /^, a [a-z]+ [a-z]+ /)
  } finally {
    await page.close()
  }
}

for (const [name, bundle] of [
  ['webpack', withWebpack],
  ['vite', withVite],
] as const)
  test(`${name}: the engine with its threads`, async () => {
    const out = folder(`${name}-engine`)
    await bundle(engineEntry, out)
    await engineInChromium(out)
  })
