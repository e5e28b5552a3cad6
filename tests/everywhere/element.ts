// Host pages of the custom element, and a program that uses the element in any of them: plain HTML that loads it from another origin
// under a strict policy, and applications of React, Svelte and Vue, bundled by Vite.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import type { Server } from '../server/server.ts'

/** What the program sees and what the page reports, in each host page. */
export interface Used {
  readonly name: string
  readonly panels: readonly string[]
  readonly overview: string
  readonly metadata: string
  readonly tensors: string
  /** the lens: the value at the cursor, which the worker computes */
  readonly lens: string
  readonly graph: readonly string[]
  readonly findings: string
  readonly events: readonly string[]
  /** the attribute `panel`, and what the host page knows of it */
  readonly attribute: string | null
  readonly host: string
  /** styles that the element added to the page */
  readonly styles: number
  readonly faults: readonly string[]
}

export const kUsed: Used = {
  name: 'stories.gguf',
  panels: ['Overview', 'Metadata 34', 'Tensors 29', 'Graph', 'Findings 0'],
  overview: 'A llama model of 2.03 million parameters in 3 layers',
  metadata: '34 keys',
  tensors: '29 tensors',
  lens: 'row 0, column 0: 0.07662803',
  graph: ['Before the blocks', 'Blocks 0 to 2 (× 3)', 'After the blocks'],
  findings: 'The checks of the header found nothing to report.',
  events: ['gguf-open', 'metadata', 'tensors', 'tensors/blk.0.attn_q.weight', 'graph', 'findings'],
  attribute: 'findings',
  host: 'findings',
  styles: 0,
  faults: [],
}

// Collects what a browser reports of a page.
const kWatch = `globalThis.faults = []
addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => faults.push(violatedDirective + ' ' + blockedURI))
addEventListener('error', ({ message }) => faults.push(message))
addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)))
globalThis.events = []
addEventListener('gguf-open', ({ type }) => events.push(type))
addEventListener('gguf-error', ({ type, detail }) => events.push(type + ' ' + detail.error))
addEventListener('gguf-panel', ({ detail: { panel, item } }) => {
  events.push(item === undefined ? panel : panel + '/' + item)
  const line = document.querySelector('[data-plain]')
  if (line) line.textContent = panel
})
`

const page = (title: string, head: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8">${head}<title>${title}</title><link rel="icon" href="/icon.svg" vite-ignore><link rel="stylesheet" href="/host.css" vite-ignore><script src="/watch.js" vite-ignore></script></head><body>${body}</body></html>`

// A host may be dark by its own choice.
const kStyles = `:root { color-scheme: light; font: 16px/1.5 Georgia, serif }
:root.dark { color-scheme: dark; background: #1c1a17; color: #e8e2d6 }
body { max-width: 1080px; margin: 2em auto; padding: 0 1em }
`

/** The policy of a page that allows the element from another origin, and nothing else. */
export const policyFor = (other: string): string =>
  `default-src 'none'; script-src 'self' ${other} 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src ${other}; worker-src blob: ${other}; base-uri 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html gguf-viewer`

const kAttributes = (src: string): string => `src="${src}" loading="eager"`

const kApps: Record<string, Record<string, string>> = {
  react: {
    'main.js': `import 'ggufscope/element'
import { createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'
function App() {
  const [panel, setPanel] = useState('overview')
  return h('main', null, h('h1', null, 'A page of React'), h('p', null, 'Panel: ', h('output', null, panel)),
    h('gguf-viewer', { src: SRC, loading: 'eager', panel, 'ongguf-panel': ({ detail }) => setPanel(detail.panel) }))
}
createRoot(document.getElementById('app')).render(h(App))
`,
  },
  svelte: {
    'App.svelte': `<script>
  import 'ggufscope/element'
  let { src } = $props()
  let panel = $state('overview')
</script>
<main>
  <h1>A page of Svelte</h1>
  <p>Panel: <output>{panel}</output></p>
  <gguf-viewer {src} loading="eager" {panel} ongguf-panel={({ detail }) => (panel = detail.panel)}></gguf-viewer>
</main>
`,
    'main.js': `import { mount } from 'svelte'
import App from './App.svelte'
mount(App, { target: document.getElementById('app'), props: { src: SRC } })
`,
  },
  vue: {
    'main.js': `import 'ggufscope/element'
import { createApp, h, ref } from 'vue'
createApp({
  setup() {
    const panel = ref('overview')
    return () => h('main', [h('h1', 'A page of Vue'), h('p', ['Panel: ', h('output', panel.value)]),
      h('gguf-viewer', { src: SRC, loading: 'eager', panel: panel.value, 'onGguf-panel': ({ detail }) => (panel.value = detail.panel) })])
  },
}).mount('#app')
`,
  },
}

export const kHosts = ['plain', ...Object.keys(kApps)]

/**
 * Adds the host pages to a server. `packed`: the folder of the packed package, which the other server offers as /package; both offer
 * the sample as /stories.gguf. `work`: an empty folder from which the package can be imported. Returns the pages' addresses.
 */
export async function addHosts(
  home: Server,
  foreign: Server,
  packed: string,
  work: string,
): Promise<ReadonlyMap<string, string>> {
  foreign.mount('/package', packed)
  home.add('/watch.js', kWatch)
  home.add('/host.css', kStyles)
  home.add('/icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  const policy = `<meta http-equiv="Content-Security-Policy" content="${policyFor(foreign.url)}">`
  home.add(
    '/plain/index.html',
    page(
      'plain',
      policy,
      `<main><h1>A plain page</h1><p>Panel: <output data-plain>overview</output></p><gguf-viewer ${kAttributes(`${foreign.url}/stories.gguf`)}></gguf-viewer></main><script type="module" src="${foreign.url}/package/wasm/dist/element.js"></script>`,
    ),
  )
  for (const [name, files] of Object.entries(kApps)) {
    mkdirSync(join(work, name), { recursive: true })
    for (const [file, text] of Object.entries(files)) writeFileSync(join(work, name, file), text)
    const body = `<div id="app"></div><script type="module" src="./main.js"></script>`
    writeFileSync(join(work, name, 'index.html'), page(name, '', body))
  }
  await build({
    root: work,
    base: './',
    configFile: false,
    logLevel: 'error',
    plugins: [svelte({ configFile: false })],
    define: { SRC: JSON.stringify('/stories.gguf') },
    build: {
      target: 'es2022',
      reportCompressedSize: false,
      assetsInlineLimit: 0,
      rollupOptions: { input: Object.keys(kApps).map((name) => join(work, name, 'index.html')) },
    },
  })
  home.mount('/apps', join(work, 'dist'))
  return new Map([
    ['plain', `${home.url}/plain/index.html`],
    ...Object.keys(kApps).map((name) => [name, `${home.url}/apps/${name}/index.html`] as const),
  ])
}

/** Runs in a host page: uses the element as a person does, and returns what there is to see. */
export async function useElement(): Promise<Used> {
  const page = globalThis as unknown as { faults: string[]; events: string[] }
  const until = async <T>(what: string, find: () => T): Promise<NonNullable<T>> => {
    const end = performance.now() + 60_000
    for (;;) {
      const found = find()
      if (found) return found
      if (performance.now() > end)
        throw new Error(
          `no ${what}; ${page.events.join()}; ${page.faults.join()}; ${words(document.querySelector('gguf-viewer')?.shadowRoot?.querySelector('.gguf')).slice(0, 400)}`,
        )
      await new Promise((done) => setTimeout(done, 20))
    }
  }
  const words = (node: Element | null | undefined) => node?.textContent?.replace(/\s+/g, ' ').trim() ?? ''
  const element = await until('element', () => document.querySelector('gguf-viewer:defined'))
  const root = element.shadowRoot!
  const all = (selector: string) => [...root.querySelectorAll<HTMLElement>(selector)]
  const shown = (selector: string, text: RegExp) =>
    until(`${selector} with ${text}`, () =>
      all(`[role=tabpanel]:not([hidden]) ${selector}`).find((one) => text.test(words(one))),
    )
  const turnTo = async (name: string) => {
    ;(await until(name, () => all('[role=tab]').find((one) => words(one).startsWith(name)))).click()
  }
  const overview = words(await shown('.sentence', /./))
  await turnTo('Metadata')
  const metadata = words(await shown('.tools span', /keys/))
  await turnTo('Tensors')
  const tensors = words(await shown('.tools span', /\d tensors/))
  ;(await shown('[role=row]', /^blk\.0\.attn_q\.weight/)).click()
  const lens = words(await shown('p, output, span', /^row 0, column 0: -?[\d.]/))
  await turnTo('Graph')
  await shown('h2, h3', /After the blocks/)
  const graph = all('[role=tabpanel]:not([hidden]) section h2, [role=tabpanel]:not([hidden]) section h3').map(
    words,
  )
  await turnTo('Findings')
  const findings = words(await shown('.none', /found/))
  const host = await until('panel in the host', () => {
    const said = words(document.querySelector('output'))
    return said === 'findings' ? said : undefined
  })
  return {
    name: words(root.querySelector('h1')),
    panels: all('[role=tab]').map(words),
    overview: overview.replace(/,.*/, ''),
    metadata,
    tensors,
    lens,
    graph,
    findings,
    events: page.events,
    attribute: element.getAttribute('panel'),
    host,
    styles: document.adoptedStyleSheets.length + document.querySelectorAll('style').length,
    faults: page.faults,
  }
}
