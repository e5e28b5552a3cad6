// Keeps the tabs of a site from doing the same thing with a stored file at the same time.
import { isNode } from '../runtime/node-module.js'

// A page that the browser has suspended keeps its locks.
const kPatience = 20_000

/**
 * Runs while no other tab runs something of that name, or after a long time nevertheless. Where there are no Web Locks, as
 * in Node, it runs at once.
 */
export async function alone<T>(
  name: string,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>
  if (!locks || isNode()) return await run()
  const lock = `ggufscope-store ${name}`
  signal?.throwIfAborted()
  const control = new AbortController()
  const stop = (): void => control.abort()
  const timer = setTimeout(stop, kPatience)
  signal?.addEventListener('abort', stop, { once: true })
  let isMine = false
  try {
    return await locks.request(lock, { signal: control.signal }, async () => {
      isMine = true
      return await run()
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (isMine || !control.signal.aborted) throw error
    return await run()
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
