/** Waits for a value, but no longer than until the abort, whose reason it rejects with. */
export async function untilAbort<T>(value: T | PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted()
  if (!signal) return await value
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([value, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
