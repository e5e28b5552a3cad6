// Starts the engine's worker in Node.
import type { Worker } from 'node:worker_threads'
import { nodeModule, nodeProcess } from '../runtime/node-module.js'

/**
 * Starts a worker of the script in Node. Its file name is a literal for tools that trace files; bundlers for pages
 * ignore it.
 */
export function nodeWorker(workerUrl?: string | URL): { worker: Worker; script: URL } {
  const script =
    workerUrl === undefined
      ? new URL(/* webpackIgnore: true */ /* @vite-ignore */ './engine-worker.js', import.meta.url)
      : new URL(workerUrl, import.meta.url)
  const { Worker: Made } = nodeModule<typeof import('node:worker_threads')>('node:worker_threads')
  // Options of Node's command line (such as --eval) are passed to workers, which would then refuse their file.
  const isOnCommandLine = nodeProcess()?.execArgv?.some((argument) => argument.startsWith('--input-type'))
  const worker = new Made(script, isOnCommandLine ? { execArgv: [] } : {})
  return { worker, script }
}
