// A Vite plugin that adds the service worker to the build, with the list of files that it caches. Written here because
// libraries for this task depend on hundreds of packages.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { kSample } from './src/lib/file/samples.ts'

/** Files of web/public that the service worker also caches. */
const fixed = ['icon.svg', 'manifest.webmanifest', kSample, 'capture.js']

/** The client of Hugging Face is of no use without a network. */
const isHubClient = (made: object): boolean =>
  'moduleIds' in made &&
  Array.isArray(made.moduleIds) &&
  made.moduleIds.some((id) => String(id).includes('/node_modules/@huggingface/hub/'))

export function serviceWorker(): Plugin {
  return {
    name: 'service-worker',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const built = Object.entries(bundle).flatMap(([file, made]) =>
          /\.(html|map|txt)$/.test(file) || isHubClient(made) ? [] : [file],
        )
        const files = [...built, ...fixed].toSorted()
        const hash = createHash('sha256').update(files.join('\n'))
        for (const file of fixed) hash.update(readFileSync(join(import.meta.dirname, 'public', file)))
        const version = hash.digest('hex').slice(0, 16)
        const source = readFileSync(join(import.meta.dirname, 'src/service-worker.js'), 'utf8')
          .replace('= __FILES__', () => `= ${JSON.stringify(files)}`)
          .replace("'viewer-__VERSION__'", `'viewer-${version}'`)
        this.emitFile({ type: 'asset', fileName: 'service-worker.js', source })
      },
    },
  }
}
