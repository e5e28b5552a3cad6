// The environments in which the package is tested. Each row says what it installs, its files, and what it runs.
import type { Context } from './context.ts'
import type { Seen } from './expected.ts'
import { kNode, kProgram } from './node.ts'
import { kBuiltPage, kInWorker, kMain, kPage, kPages } from './pages.ts'

export interface Environment {
  readonly name: string
  /** the setting from the documentation that its users need, if any */
  readonly setting?: string
  /** npm packages with versions; exact if the version matters */
  readonly packages: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** additional fields of its package.json */
  readonly manifest?: Readonly<Record<string, unknown>>
  /** number of threads for "all": 2 unless the environment cannot share memory */
  readonly threads?: number
  run(context: Context): Promise<Seen>
}

const kHeaders = `{ 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }`

const kFiles = { 'index.html': kPage, 'main.js': kMain }
const vite = (version: number): Environment[] => [
  {
    name: `Vite ${version}, development`,
    packages: [`vite@${version}`],
    files: { ...kFiles, 'vite.config.js': `export default { server: { headers: ${kHeaders} } }\n` },
    run: (context) => context.served(['vite', '--port', '{port}', '--strictPort', '--host', '127.0.0.1']),
  },
  {
    name: `Vite ${version}, build`,
    packages: [`vite@${version}`],
    files: kFiles,
    run: async (context) => {
      await context.command(['vite', 'build', '--base', './'])
      return context.page('dist')
    },
  },
]
/** The same with a program that runs in a worker. */
const viteWorker = (version: number): Environment[] =>
  vite(version).map(({ name, ...row }) => ({
    ...row,
    name: `Web worker, ${name}`,
    setting: "[`worker: { format: 'es' }`](#web-workers-with-vite)",
    files: {
      ...kInWorker,
      'vite.config.js': `export default { worker: { format: 'es' }, server: { headers: ${kHeaders} } }\n`,
    },
  }))

const webpack = (what = '', files: Environment['files'] = kFiles): Environment => ({
  name: `${what}webpack 5`,
  packages: ['webpack@5', 'webpack-cli@6'],
  files: { ...files, 'dist/index.html': kBuiltPage },
  run: async (context) => {
    await context.command(['webpack', '--mode', 'production', '--entry', './main.js'])
    return context.page('dist')
  },
})
const webpackServer: Environment = {
  name: 'webpack 5, development',
  packages: ['webpack@5', 'webpack-cli@6', 'webpack-dev-server@5'],
  files: {
    'main.js': kMain,
    'public/index.html': kBuiltPage,
    'webpack.config.js': `export default { entry: './main.js', devServer: { headers: ${kHeaders} } }\n`,
  },
  run: (context) =>
    context.served(['webpack', 'serve', '--mode', 'development', '--port', '{port}', '--host', '127.0.0.1']),
}

const kNextLayout = {
  'app/layout.jsx': `export default function Layout({ children }) { return <html><body>{children}</body></html> }\n`,
}
const kNextPage = {
  ...kNextLayout,
  'app/page.jsx': `'use client'
import { useEffect } from 'react'
import { everything } from '../app.js'
export default function Page() {
  useEffect(() => { globalThis.everything = everything }, [])
  return <p>page</p>
}
`,
}
const kNextServer = {
  ...kNextLayout,
  'app/page.jsx': `import { everything } from '../app.js'
import { readFileSync } from 'node:fs'
export const dynamic = 'force-dynamic'
export default async function Page() {
  const seen = await everything(new Uint8Array(readFileSync(process.env.MODEL)), {}, 2)
  return <pre id="seen">{'SEEN ' + JSON.stringify(seen)}</pre>
}
`,
}
const nextConfig = (settings = ''): Record<string, string> => ({
  'next.config.mjs': `export default { ${settings} headers: async () => [{ source: '/:path*', headers: [{ key: 'Cross-Origin-Opener-Policy', value: 'same-origin' }, { key: 'Cross-Origin-Embedder-Policy', value: 'require-corp' }] }] }\n`,
})
const kNext = ['next@latest', 'react@latest', 'react-dom@latest']
const kExternal = "serverExternalPackages: ['ggufscope']"
const kNextStart = ['next', 'start', '-p', '{port}', '-H', '127.0.0.1']
const next = (name: string, flag: string): Environment[] => [
  {
    name: `Next, ${name}, development`,
    packages: kNext,
    files: { ...kNextPage, ...nextConfig() },
    run: (context) => context.served(['next', 'dev', flag, '-p', '{port}', '-H', '127.0.0.1']),
  },
  {
    name: `Next, ${name}, client`,
    packages: kNext,
    files: { ...kNextPage, ...nextConfig() },
    run: async (context) => {
      await context.command(['next', 'build', flag])
      return context.served(kNextStart)
    },
  },
  {
    name: `Next, ${name}, server component`,
    setting: `[\`${kExternal}\`](#next-and-other-servers)`,
    packages: kNext,
    files: { ...kNextServer, ...nextConfig(`${kExternal},`) },
    run: async (context) => {
      await context.command(['next', 'build', flag])
      return context.fetched(kNextStart)
    },
  },
  {
    name: `Next, ${name}, standalone`,
    setting: `[\`${kExternal}\`](#next-and-other-servers)`,
    packages: kNext,
    files: {
      ...kNextServer,
      ...nextConfig(`${kExternal}, output: 'standalone', outputFileTracingRoot: import.meta.dirname,`),
    },
    run: async (context) => {
      await context.command(['next', 'build', flag])
      return context.fetched([process.execPath, '.next/standalone/server.js'])
    },
  },
]

const kSvelteKit = {
  packages: [
    '@sveltejs/kit@2',
    '@sveltejs/adapter-static@3',
    '@sveltejs/vite-plugin-svelte@7',
    'svelte@5',
    'vite@8',
  ],
  files: {
    'svelte.config.js': `import adapter from '@sveltejs/adapter-static'\nexport default { kit: { adapter: adapter({ fallback: 'index.html' }) } }\n`,
    'vite.config.js': `import { sveltekit } from '@sveltejs/kit/vite'\nexport default { plugins: [sveltekit()], server: { headers: ${kHeaders} } }\n`,
    'src/hooks.server.js': `export async function handle({ event, resolve }) {
  const response = await resolve(event)
  for (const [name, value] of Object.entries(${kHeaders})) response.headers.set(name, value)
  return response
}
`,
    'src/app.html': `<!doctype html><html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>`,
    'src/routes/[...rest]/+page.svelte': `<script>\nimport { onMount } from 'svelte'\nimport { everything } from '../../../app.js'\nonMount(() => { globalThis.everything = everything })\n</script>\n<p>page</p>`,
    'src/routes/+layout.js': `export const ssr = false\n`,
  },
}
const kAstro = {
  packages: ['astro@7'],
  files: {
    'astro.config.mjs': `export default { server: { headers: ${kHeaders} }, devToolbar: { enabled: false } }\n`,
    'src/pages/index.astro': `<html><body><script>\nimport { everything } from '../../app.js'\nglobalThis.everything = everything\n</script></body></html>`,
  },
}

export const kEnvironments: readonly Environment[] = [
  ...[5, 6, 7, 8].flatMap(vite),
  webpackServer,
  webpack(),
  {
    name: 'Rspack',
    packages: ['@rspack/core@2', '@rspack/cli@2'],
    files: { 'main.js': kMain, 'dist/index.html': kBuiltPage },
    run: async (context) => {
      await context.command(['rspack', 'build', '--mode', 'production', '--entry', './main.js'])
      return context.page('dist')
    },
  },
  {
    name: 'Rollup',
    setting: 'the files copied next to the bundle',
    packages: ['rollup@4', '@rollup/plugin-node-resolve@16'],
    files: { 'main.js': kMain, 'dist/index.html': kBuiltPage },
    run: async (context) => {
      await context.command(['rollup', 'main.js', '-p', 'node-resolve', '-d', 'dist'])
      context.copyAssets('dist')
      return context.page('dist')
    },
  },
  {
    name: 'esbuild',
    setting: 'the files copied next to the bundle',
    packages: ['esbuild@0'],
    files: { 'main.js': kMain, 'dist/index.html': kBuiltPage },
    run: async (context) => {
      await context.command(['esbuild', 'main.js', '--bundle', '--format=esm', '--outfile=dist/main.js'])
      context.copyAssets('dist')
      return context.page('dist')
    },
  },
  {
    name: 'Parcel',
    setting: '[`packageExports`](#parcel)',
    manifest: { '@parcel/resolver-default': { packageExports: true } },
    packages: ['parcel@2'],
    files: { 'index.html': kPage, 'main.js': kMain },
    run: async (context) => {
      await context.command(['parcel', 'build', 'index.html', '--public-url', './'])
      return context.page('dist')
    },
  },
  {
    name: 'Parcel, development',
    setting: '[`packageExports`](#parcel); not isolated, so one thread',
    manifest: { '@parcel/resolver-default': { packageExports: true } },
    packages: ['parcel@2'],
    // its server sends no headers, so that pages are not isolated
    threads: 1,
    files: { 'index.html': kPage, 'main.js': kMain },
    run: (context) => context.served(['parcel', 'index.html', '--port', '{port}', '--host', '127.0.0.1']),
  },
  ...next('Turbopack', '--turbopack'),
  ...next('webpack', '--webpack'),
  {
    ...kSvelteKit,
    name: 'SvelteKit, development',
    setting: 'for threads [headers](./threads.md#a-server-for-development)',
    run: (context) =>
      context.served(['vite', 'dev', '--port', '{port}', '--strictPort', '--host', '127.0.0.1']),
  },
  {
    ...kSvelteKit,
    name: 'SvelteKit, build',
    run: async (context) => {
      await context.command(['vite', 'build'])
      return context.page('build')
    },
  },
  {
    ...kAstro,
    name: 'Astro, development',
    run: (context) => context.served(['astro', 'dev', '--port', '{port}', '--host', '127.0.0.1']),
  },
  {
    ...kAstro,
    name: 'Astro, build',
    run: async (context) => {
      await context.command(['astro', 'build'])
      return context.page('dist')
    },
  },
  ...kPages,
  ...[5, 8].flatMap(viteWorker),
  webpack('Web worker, ', kInWorker),
  ...kNode,
  {
    name: 'Bun',
    packages: ['bun@1'],
    files: { 'run.mjs': kProgram },
    run: (context) => context.program(['./node_modules/.bin/bun', 'run.mjs']),
  },
  {
    name: 'Deno',
    packages: ['deno@2'],
    files: { 'run.mjs': kProgram },
    run: (context) => context.program(['./node_modules/.bin/deno', 'run', '-A', 'run.mjs']),
  },
  {
    name: 'workerd',
    setting: '[modules by `assets`, one bundle](#workerd)',
    packages: ['miniflare@4', 'esbuild@0'],
    threads: 1,
    files: {
      'worker.js': `import { everything } from './app.js'
import model from './model.bin'
import inspect from 'ggufscope/inspect.wasm'
import text from 'ggufscope/text.wasm'
import quant from 'ggufscope/quant.wasm'
import jinja from 'ggufscope/jinja.wasm'
import simd from 'ggufscope/engine-simd.wasm'
import relaxed from 'ggufscope/engine-relaxed.wasm'
const assets = { 'inspect.wasm': inspect, 'text.wasm': text, 'quant.wasm': quant, 'jinja.wasm': jinja, 'engine-simd.wasm': simd, 'engine-relaxed.wasm': relaxed }
export default { fetch: async () => Response.json(await everything(new Uint8Array(model), { assets }, 2)) }
`,
      'run.mjs': `import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { copyFileSync } from 'node:fs'
copyFileSync(process.argv[2], 'model.bin')
await build({ entryPoints: ['worker.js'], bundle: true, format: 'esm', outfile: 'out/worker.js', loader: { '.wasm': 'copy', '.bin': 'copy' }, assetNames: '[name]', logLevel: 'error', conditions: ['workerd', 'worker'] })
const { readdirSync, readFileSync } = await import('node:fs')
const type = (name) => (name.endsWith('.wasm') ? 'CompiledWasm' : name.endsWith('.bin') ? 'Data' : 'ESModule')
const names = readdirSync('out').sort((a, b) => (a === 'worker.js' ? -1 : b === 'worker.js' ? 1 : 0))
const modules = names.map((name) => ({ type: type(name), path: name, contents: name === 'worker.js' ? readFileSync('out/' + name, 'utf8') : readFileSync('out/' + name) }))
const miniflare = new Miniflare({ modules, compatibilityDate: '2025-06-01' })
const response = await miniflare.dispatchFetch('http://localhost/')
console.log('SEEN ' + (await response.text()))
await miniflare.dispose()
process.exit(0)
`,
    },
    run: (context) => context.program([process.execPath, 'run.mjs']),
  },
]
