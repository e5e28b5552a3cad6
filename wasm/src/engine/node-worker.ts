// Starts the engine's worker in Node.
import type { Worker } from 'node:worker_threads'
import { nodeModule, nodeProcess } from '../runtime/node-module.js'
import type { DeviceKind } from './types.js'

// The file names are literals for tools that trace files; bundlers for pages ignore them.
const kScripts: Readonly<Record<DeviceKind, () => URL>> = {
  cpu() {
    return new URL(/* webpackIgnore: true */ /* @vite-ignore */ './engine-worker.js', import.meta.url)
  },
  gpu() {
    return new URL(/* webpackIgnore: true */ /* @vite-ignore */ './engine-gpu-worker.js', import.meta.url)
  },
}

/** Starts a worker of the script for that device in Node. */
export function nodeWorker(
  workerUrl: string | URL | undefined,
  device: DeviceKind,
): { worker: Worker; script: URL } {
  const script = workerUrl === undefined ? kScripts[device]() : new URL(workerUrl, import.meta.url)
  const { Worker: Made } = nodeModule<typeof import('node:worker_threads')>('node:worker_threads')
  // Options of Node's command line (such as --eval) are passed to workers, which would then refuse their file.
  const isOnCommandLine = nodeProcess()?.execArgv?.some((argument) => argument.startsWith('--input-type'))
  const worker = new Made(script, isOnCommandLine ? { execArgv: [] } : {})
  return { worker, script }
}
