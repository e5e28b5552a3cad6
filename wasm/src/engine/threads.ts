// The threads that the engine's pool computes with, besides the worker itself.
import { isNode, nodeModule } from '../runtime/node-module.js'
import type { ThreadStart } from './thread.js'

export interface Thread {
  start(message: ThreadStart): void
  /** after start(): when it has come out of the pool */
  readonly left: Promise<void>
  end(): void
}

// The pool's own limit; and where memory is what limits every machine that a browser runs on.
const kMost = 64
const kDefaultMost = 16
// Of two or three, halves would more often lose than gain.
const kLeastTried = 4

async function availableCores(): Promise<number> {
  if (isNode()) {
    const { availableParallelism } = await nodeModule<typeof import('node:os')>('node:os')
    return availableParallelism()
  }
  return globalThis.navigator?.hardwareConcurrency ?? 1
}

/** How many threads to compute with, and why not more where it is one. */
export async function threadCount(wished: number | undefined): Promise<{ count: number; reason?: string }> {
  // Node has no crossOriginIsolated: it may always share memory.
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated ?? true
  if (wished === 1) return { count: 1 }
  if (!isolated || typeof SharedArrayBuffer === 'undefined') {
    return { count: 1, reason: 'The page is not cross-origin isolated, so there are no threads.' }
  }
  if (wished !== undefined) return { count: Math.min(wished, kMost) }
  const cores = await availableCores()
  // Of many cores one is left to the page and its neighbours: a loop ends with its slowest thread.
  return { count: Math.min(cores > 4 ? cores - 1 : cores, kDefaultMost) }
}

/** How many threads one token is tried with: all, half of them, a quarter (of cores that are two threads each, those). */
export function fewerThreads(count: number): number[] {
  return count < kLeastTried ? [count] : [count, Math.ceil(count / 2), Math.ceil(count / 4)]
}

/** A thread whose script has begun, or undefined where none can be made. What it breaks on later is the engine's end. */
async function makeThread(): Promise<Thread | undefined> {
  if (isNode()) {
    const { nodeWorker } = await import('./node-worker.js')
    const worker = await nodeWorker('./thread.js')
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
    const worker = new Worker(new URL('./thread.js', import.meta.url), { type: 'module' })
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
