import type { Worker as NodeWorker } from 'node:worker_threads'
import { importNamed } from '../import-named.js'

/** Under Node, a worker of the script of that name beside this one: no literal, which bundlers would take for an asset. */
export async function nodeWorker(script: string): Promise<NodeWorker> {
  const { Worker: Made } = await importNamed<typeof import('node:worker_threads')>('node:worker_threads')
  return new Made(new URL(/* webpackIgnore: true */ /* @vite-ignore */ script, import.meta.url))
}
