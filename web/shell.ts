// A Vite plugin that puts the viewer's first frame and its styles into the page, so that the browser paints before it has the
// viewer's code. The components draw the frame here, and draw over it when their code is there.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Alias, type Plugin, type Rollup } from 'vite'
import type { Shell } from './src/shell.ts'

const root = join(import.meta.dirname, '..')

/** What the viewer's modules need of a browser, without an address and preferences. Returns what takes it away. */
function imitateBrowser(): () => void {
  const element = { dataset: {}, lang: '', dir: '' }
  const location = { href: 'https://viewer.invalid/', search: '', hash: '', pathname: '/' }
  const globals = {
    window: { addEventListener() {} },
    document: { baseURI: location.href, documentElement: element },
    location,
    history: { state: null },
    navigator: { languages: [], onLine: true, userAgent: '' },
  }
  const before = Object.keys(globals).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  )
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  return () => {
    for (const [name, was] of before)
      if (was) Object.defineProperty(globalThis, name, was)
      else Reflect.deleteProperty(globalThis, name)
  }
}

/** The components as HTML. Panels, which are imported when they are shown, are left out. */
async function draw(alias: readonly Alias[]): Promise<Shell[]> {
  const outDir = join(root, 'build/shell')
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'error',
    publicDir: false,
    plugins: [
      svelte({ configFile: false }),
      {
        name: 'without-panels',
        resolveDynamicImport: (path) =>
          typeof path === 'string' && !path.endsWith('/index.ts') ? { id: path, external: true } : null,
      },
    ],
    worker: { format: 'es' },
    resolve: { alias: [...alias] },
    build: {
      ssr: 'src/shell.ts',
      outDir,
      emptyOutDir: true,
      rolldownOptions: { external: (id) => id.startsWith(join(root, 'wasm/dist')) },
    },
  })
  const end = imitateBrowser()
  try {
    const { drawShells } = (await import(
      `${pathToFileURL(join(outDir, 'shell.js')).href}?${Date.now()}`
    )) as {
      drawShells(): Promise<Shell[]>
    }
    return await drawShells()
  } finally {
    end()
  }
}

/** Throws if the page could look different from what the viewer's code draws, or if its content policy forbids something. */
function check(shells: readonly Shell[], css: string) {
  for (const { code, kind, html } of shells) {
    const unknown = html.match(/svelte-[a-z0-9]+/g)?.find((name) => !css.includes(name))
    if (unknown !== undefined) throw new Error(`${kind}, ${code}: no styles for the class ${unknown}`)
    const [own] = / style="[^"]*"/.exec(html) ?? []
    if (own !== undefined) throw new Error(`${kind}, ${code}: the page's content policy forbids${own}`)
  }
}

// Chooses as LanguageChoice and ThemeChoice do. Nothing reacts before the viewer's code is there: #app is inert.
const scriptFor = (codes: readonly string[], texts: Readonly<Record<string, string>>) => `
const stored = (key) => {
  try {
    return localStorage.getItem('ggufscope.' + key) ?? ''
  } catch {
    return ''
  }
}
const page = document.documentElement
if (['light', 'dark'].includes(stored('theme'))) page.dataset.theme = stored('theme')
const codes = ${JSON.stringify(codes)}
const main = (code) => code.toLowerCase().split('-')[0]
const wanted = [stored('language'), ...navigator.languages]
const language = wanted.flatMap((one) => codes.filter((code) => main(code) === main(one)))[0] ?? codes[0]
const address = new URLSearchParams(location.search).get('url')
const frame = document.getElementById((address ? 'loading-' : 'start-') + language)
const app = document.getElementById('app')
page.lang = language
page.dir = frame.dir
app.append(frame.content)
if (address) {
  app.querySelector('#address').value = address
  app.querySelector('h1').textContent = address.split(/[?#]/)[0].split('/').filter(Boolean).at(-1)
}
const texts = ${JSON.stringify(texts)}[main(language)]
if (texts) {
  const link = Object.assign(document.createElement('link'), { rel: 'modulepreload', crossOrigin: '' })
  link.href = './' + texts
  document.head.append(link)
}
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The file with the texts of each language, by the name of its folder. */
function textsIn(bundle: Rollup.OutputBundle): Record<string, string> {
  const found: Record<string, string> = {}
  for (const file of Object.values(bundle)) {
    const module = file.type === 'chunk' ? file.facadeModuleId : undefined
    const [, folder] = /\/texts\/(\w+)\/index\.ts$/.exec(module ?? '') ?? []
    if (folder !== undefined) found[folder] = file.fileName
  }
  return found
}

const templateOf = ({ code, kind, dir, html }: Shell) =>
  `<template id="${kind}-${code}" dir="${dir}">${html}</template>\n    `

export function shell(): Plugin {
  let alias: readonly Alias[]
  return {
    name: 'shell',
    apply: 'build',
    configResolved: (config) => void ({ alias } = config.resolve),
    transformIndexHtml: {
      order: 'post',
      async handler(html, { bundle }) {
        const link = /<link rel="stylesheet" crossorigin href="\.\/([^"]+)">/
        const [, file = ''] = link.exec(html) ?? []
        const sheet = bundle![file]
        if (sheet?.type !== 'asset') throw new Error('the page has no style sheet')
        const css = String(sheet.source).trim()
        const shells = await draw(alias)
        check(shells, css)
        const script = scriptFor([...new Set(shells.map(({ code }) => code))], textsIn(bundle!))
        const app = '<div id="app"'
        // Chunks that import the entry's code would load its style sheet again. A link to it stops them, and a disabled one loads
        // nothing.
        return html
          .replace("script-src 'self'", () => `script-src 'self' ${hashOf(script)}`)
          .replace("style-src 'self'", () => `style-src 'self' ${hashOf(css)}`)
          .replace(link, () => `<style>${css}</style>\n    <link rel="stylesheet" disabled href="./${file}">`)
          .replace(
            `${app}></div>`,
            () => `${app} inert></div>\n    ${shells.map(templateOf).join('')}<script>${script}</script>`,
          )
      },
    },
  }
}
