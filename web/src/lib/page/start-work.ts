// Work that an effect starts, such as a read.

/** Starts the work, and returns what ends it. What comes after that is dropped. */
export function startWork<T>(
  work: (signal: AbortSignal) => Promise<T>,
  done: (value: T) => void,
  failed: (error: unknown) => void,
): () => void {
  const control = new AbortController()
  const { signal } = control
  work(signal).then(
    (value) => {
      if (!signal.aborted) done(value)
    },
    (error: unknown) => {
      if (!signal.aborted) failed(error)
    },
  )
  return () => control.abort()
}
