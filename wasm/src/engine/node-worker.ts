import type { Worker } from 'node:worker_threads'
import { nodeModule, nodeProcess } from '../runtime/node-module.js'

/** Under Node, a worker of the script. Its name is written out for what traces files; bundlers for pages leave it alone. */
export function nodeWorker(workerUrl?: string | URL): { worker: Worker; script: URL } {
  const script =
    workerUrl === undefined
      ? new URL(/* webpackIgnore: true */ /* @vite-ignore */ './engine-worker.js', import.meta.url)
      : new URL(workerUrl, import.meta.url)
  const { Worker: Made } = nodeModule<typeof import('node:worker_threads')>('node:worker_threads')
  // Node's options for a program on the command line (such as --eval) reach its workers too, which then
  // refuse their file.
  const isOnCommandLine = nodeProcess()?.execArgv?.some((argument) => argument.startsWith('--input-type'))
  // Its threads begin with the same script.
  const worker = new Made(script, {
    workerData: { script: script.href },
    ...(isOnCommandLine ? { execArgv: [] } : {}),
  })
  return { worker, script }
}
