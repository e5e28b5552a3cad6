// A Vite plugin that adds a short script to the page. If the address contains a link to a file, the script requests the
// wasm module and the code for showing the file while the viewer's own code is still on its way.
import { createHash } from 'node:crypto'
import type { Plugin, Rollup } from 'vite'

/** Modules that are imported when a file is opened, by the end of their path. */
const wanted = ['/panels/Overview.svelte']

/** The files of the bundle that contain these modules, and all that they import, except what the page requests anyway. */
function filesOf(bundle: Rollup.OutputBundle): string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const isWanted = (file: Rollup.OutputChunk) =>
    file.moduleIds.some((id) => wanted.some((end) => id.endsWith(end)))
  const entry = chunks
    .filter(({ isEntry }) => isEntry)
    .flatMap(({ fileName, imports }) => [fileName, ...imports])
  const files = chunks.filter(isWanted).flatMap(({ fileName, imports }) => [fileName, ...imports])
  const module = Object.keys(bundle).filter((file) => /\/inspect-[^/]*\.wasm$/.test(file))
  return [...module, ...new Set(files)].filter((file) => !entry.includes(file))
}

const scriptFor = (files: readonly string[]) => `
if (new URLSearchParams(location.search).has('url'))
  for (const file of ${JSON.stringify(files)}) {
    const isCode = file.endsWith('.js')
    const link = Object.assign(document.createElement('link'), { rel: isCode ? 'modulepreload' : 'preload', crossOrigin: '' })
    if (!isCode) link.as = 'fetch'
    link.href = './' + file
    document.head.append(link)
  }
`

export function earlyRequests(): Plugin {
  return {
    name: 'early-requests',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const script = scriptFor(filesOf(bundle!))
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
