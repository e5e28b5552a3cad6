// How many threads the engine's pool gets.
import { isNode, nodeModule } from '../runtime/node-module.js'
import { kMaxThreads } from './threading.js'

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
