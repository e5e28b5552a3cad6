// A Vite plugin that adds a short script to the page. If the address contains a link to a file, the script requests the
// wasm module and the code for showing the file while the viewer's own code is still on its way.
import { createHash } from 'node:crypto'
import type { Plugin, Rollup } from 'vite'

/** Modules that are imported when a file is opened, by the end of their path. */
const wanted = ['/panels/Overview.svelte', '/wasm/dist/index.js', '/wasm/dist/sparse/preview.js']

interface Early {
  /** the wasm module that reads headers */
  module: string
  /** the code of the wanted modules, and all that it imports, except what the page requests anyway */
  code: string[]
}

function earlyOf(bundle: Rollup.OutputBundle): Early {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const withImports = (some: readonly Rollup.OutputChunk[]) =>
    some.flatMap(({ fileName, imports }) => [fileName, ...imports])
  const usual = withImports(chunks.filter(({ isEntry }) => isEntry))
  const code = withImports(
    chunks.filter(({ moduleIds }) => moduleIds.some((id) => wanted.some((end) => id.endsWith(end)))),
  )
  const module = Object.keys(bundle).find((file) => /\/inspect-[^/]*\.wasm$/.test(file))
  if (module === undefined) throw new Error('the bundle has no inspect.wasm')
  return { module, code: [...new Set(code)].filter((file) => !usual.includes(file)) }
}

// The viewer takes the module from `earlyModule`, because not all browsers use a preloaded one. The first access to the storage
// waits for the browser's own process: while the code is on its way, nothing else waits for it.
const scriptFor = ({ module, code }: Early) => `
setTimeout(() => {
  try { localStorage.length } catch {}
})
if (new URLSearchParams(location.search).has('url')) {
  const module = new URL(${JSON.stringify(module)}, document.baseURI).href
  globalThis.earlyModule = fetch(module).then((response) => (response.ok ? response : module), () => module)
  for (const file of ${JSON.stringify(code)}) {
    const link = Object.assign(document.createElement('link'), { rel: 'modulepreload', crossOrigin: '' })
    link.href = './' + file
    document.head.append(link)
  }
}
`

export function earlyRequests(): Plugin {
  return {
    name: 'early-requests',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const script = scriptFor(earlyOf(bundle!))
        const hash = createHash('sha256').update(script).digest('base64')
        return (
          html
            .replace("script-src 'self'", `script-src 'self' 'sha256-${hash}'`)
            // After the viewer's code, which comes first, and before the styles, because a script waits for those above it.
            .replace(/\n *<link rel="stylesheet"/, `\n    <script>${script}</script>$&`)
        )
      },
    },
  }
}
