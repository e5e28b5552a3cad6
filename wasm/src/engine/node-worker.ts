import type { Worker as NodeWorker } from 'node:worker_threads'
import { importNamed } from '../runtime/import-named.js'

/** Under Node, a worker of the script of that name beside this one: no literal, which bundlers would take for an asset. */
export async function nodeWorker(script: string): Promise<NodeWorker> {
  const { Worker: Made } = await importNamed<typeof import('node:worker_threads')>('node:worker_threads')
  // What says how to read a program on the command line is handed on to workers, which refuse their file for it.
  const isOnCommandLine = process.execArgv.some((argument) => argument.startsWith('--input-type'))
  const options = isOnCommandLine ? { execArgv: [] } : {}
  return new Made(new URL(/* webpackIgnore: true */ /* @vite-ignore */ script, import.meta.url), options)
}
