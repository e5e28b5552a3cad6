// Pages without a bundler, on a CDN, with a content security policy, and programs in workers.
import type { Environment } from './environments.ts'
import { importMapPage } from './expected.ts'

const kPackage = '/node_modules/ggufscope'
export const kMain = "import { everything } from './app.js'\nglobalThis.everything = everything\n"
export const kPage =
  '<!doctype html><link rel="icon" href="data:,"><script type="module" src="./main.js"></script>'
export const kBuiltPage = kPage.replace('./main.js', 'main.js')

/** Files of a page whose program runs in a worker. The bundler finds the worker by its literal address. */
export const kInWorker = {
  'index.html': kPage,
  'main.js': `const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
globalThis.everything = (...words) =>
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.postMessage(words)
  })
`,
  'worker.js': `import { everything } from './app.js'
onmessage = async ({ data }) => postMessage(await everything(...data))
`,
}

const kService = {
  'dist/index.html': kBuiltPage,
  'dist/main.js': `await navigator.serviceWorker.register('service.js')
await navigator.serviceWorker.ready
while (!navigator.serviceWorker.controller) await new Promise((done) => setTimeout(done, 20))
globalThis.everything = async (source) => (await fetch('run?source=' + encodeURIComponent(source))).json()
`,
  'service.js': `import { everything } from './app.js'
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  const { pathname, searchParams } = new URL(event.request.url)
  if (pathname === '/run')
    event.respondWith(everything(searchParams.get('source'), { assets: '/' }, 2).then((seen) => Response.json(seen)))
})
`,
}

/** The policy of the guide on threads, which allows the model's server. */
const policy = (other: string, scripts = '', workers = "'self'"): Record<string, string> => ({
  'Content-Security-Policy': `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'${scripts}; worker-src ${workers}; connect-src 'self' ${other}`,
})

export const kPages: readonly Environment[] = [
  {
    name: 'Import map, no bundler',
    packages: [],
    files: { 'index.html': importMapPage(kPackage) },
    run: (context) => context.page('.'),
  },
  {
    name: 'CDN on another origin',
    setting: '[a server that allows CORS](#without-a-bundler)',
    packages: [],
    run: (context) => context.page('.', (other) => ({ html: importMapPage(other + kPackage) })),
  },
  {
    name: 'Service worker',
    setting: 'one bundle, and the files by [`assets`](#where-the-files-are)',
    packages: ['esbuild@0'],
    threads: 1,
    files: kService,
    run: async (context) => {
      await context.command([
        'esbuild',
        'service.js',
        '--bundle',
        '--format=iife',
        '--outfile=dist/service.js',
      ])
      context.copyAssets('dist')
      return context.page('dist')
    },
  },
  {
    name: 'Content security policy',
    setting: '[policy](./threads.md#content-policy); the files copied next to the bundle',
    packages: ['esbuild@0'],
    files: { 'main.js': kMain, 'dist/index.html': kBuiltPage },
    run: async (context) => {
      await context.command(['esbuild', 'main.js', '--bundle', '--format=esm', '--outfile=dist/main.js'])
      context.copyAssets('dist')
      return context.page('dist', (other) => ({ headers: policy(other) }))
    },
  },
  {
    name: 'Content security policy and a CDN',
    setting: '[policy with the CDN and `blob:`](#without-a-bundler)',
    packages: [],
    run: (context) =>
      context.page('.', (other) => ({
        html: importMapPage(other + kPackage),
        // The page's import map is an inline script.
        headers: policy(other, ` 'unsafe-inline' ${other}`, `blob: ${other}`),
      })),
  },
]
