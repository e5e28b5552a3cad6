// The threads of the engine's pool, other than the worker itself.
import { isNode, nodeModule } from '../runtime/node-module.js'
import type { ThreadStart } from './thread.js'
import { kMaxThreads, kThreadName } from './threading.js'

export interface Thread {
  start(message: ThreadStart): void
  /** resolves when it has left the pool, after start() */
  readonly left: Promise<void>
  end(): void
}

// Above this number, memory bandwidth is the limit on machines that run browsers.
const kMaxDefault = 16
// With two or three threads, using half of them is usually slower.
const kMinTried = 4

function availableCores(): number {
  if (isNode()) {
    return nodeModule<typeof import('node:os')>('node:os').availableParallelism()
  }
  return globalThis.navigator?.hardwareConcurrency ?? 1
}

function whyNoThreads(isPageIsolated: boolean | undefined): string | undefined {
  if (isNode()) return undefined
  const { crossOriginIsolated: isIsolated } = globalThis as { crossOriginIsolated?: boolean }
  if (!isIsolated && isPageIsolated)
    return "The page is cross-origin isolated, but not the engine's worker, so there are no threads: its script needs the header Cross-Origin-Embedder-Policy as well."
  if (isIsolated === false) return 'The page is not cross-origin isolated, so there are no threads.'
  if (typeof SharedArrayBuffer === 'undefined')
    return 'This browser has no shared memory (SharedArrayBuffer), so there are no threads.'
  if (typeof Worker !== 'function') return 'There are no workers here, so there are no threads.'
  return undefined
}

/** The number of threads to use and, if it is one, the reason. */
export function threadCount(
  wished: number | undefined,
  isPageIsolated: boolean | undefined,
): { count: number; reason?: string } {
  if (wished === 1) return { count: 1 }
  const reason = whyNoThreads(isPageIsolated)
  if (reason !== undefined) return { count: 1, reason }
  if (wished !== undefined) return { count: Math.min(wished, kMaxThreads) }
  const cores = availableCores()
  // With many cores, one is left for the page and other programs, because a loop ends with its slowest thread.
  return { count: Math.min(cores > 4 ? cores - 1 : cores, kMaxDefault) }
}

/** The numbers of threads to try for one token: all, half, a quarter. Half suits cores with two hardware threads. */
export function fewerThreads(count: number): number[] {
  return count < kMinTried ? [count] : [count, Math.ceil(count / 2), Math.ceil(count / 4)]
}

// The type of this worker, for workers of the same script. Some bundlers convert it to a classic script. Module
// workers throw a TypeError for importScripts, except in Firefox if there is no argument.
function ownType(): WorkerType {
  try {
    ;(globalThis as { importScripts?(url: string): void }).importScripts!('data:text/javascript,')
    return 'classic'
  } catch (error) {
    return error instanceof TypeError ? 'module' : 'classic' // a content policy forbids the address
  }
}

/** A thread whose script has started, or undefined if none can be created. If it fails later, the engine fails. */
async function makeThread(): Promise<Thread | undefined> {
  if (isNode()) {
    const threads = nodeModule<typeof import('node:worker_threads')>('node:worker_threads')
    const script = new URL((threads.workerData as { script: string }).script)
    const worker = new threads.Worker(script, { workerData: { name: kThreadName }, execArgv: [] })
    return await new Promise((resolve) => {
      const failed = () => resolve(undefined)
      worker.once('error', failed)
      worker.once('exit', failed)
      worker.once('message', () => {
        worker.off('error', failed)
        resolve({
          start: (message) => worker.postMessage(message),
          left: new Promise((left) => worker.once('message', () => left())),
          end: () => void worker.terminate(),
        })
      })
    })
  }
  try {
    const worker = new Worker(globalThis.location.href, { type: ownType(), name: kThreadName })
    return await new Promise((resolve) => {
      const failed = (event: Event) => {
        event.preventDefault()
        resolve(undefined)
      }
      worker.addEventListener('error', failed)
      worker.addEventListener(
        'message',
        () => {
          worker.removeEventListener('error', failed)
          resolve({
            start: (message) => worker.postMessage(message),
            left: new Promise((left) => worker.addEventListener('message', () => left(), { once: true })),
            end: () => worker.terminate(),
          })
        },
        { once: true },
      )
    })
  } catch {
    return undefined // a content policy, or a browser whose workers have no workers
  }
}

export async function makeThreads(count: number): Promise<Thread[]> {
  const made = await Promise.all(Array.from({ length: count }, makeThread))
  return made.filter((thread) => thread !== undefined)
}
