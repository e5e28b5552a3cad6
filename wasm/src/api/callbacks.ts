// Functions of the caller that a call calls. They may return promises.

/** Calls a function and waits for what it returns, so that its error ends the call. */
export async function callBack<Args extends readonly unknown[]>(
  callback: ((...args: Args) => unknown) | undefined,
  ...args: Args
): Promise<void> {
  await callback?.(...args)
}

type Callback = (...args: readonly unknown[]) => unknown

/**
 * Runs a call that does not wait for its callbacks: the options whose names begin with "on". If what one returns
 * rejects, the call rejects with that error, at the next callback or at its end. drop() then gets its result.
 */
export async function withCallbacks<Options extends object, Result>(
  options: Options,
  run: (options: Options) => Promise<Result>,
  drop?: (result: Result) => void,
): Promise<Result> {
  const waiting: Promise<void>[] = []
  const failed: unknown[] = []
  const watched: Record<string, Callback> = {}
  for (const [name, value] of Object.entries(options ?? {}) as [string, unknown][])
    if (name.startsWith('on') && typeof value === 'function')
      watched[name] = (...args) => {
        if (failed.length > 0) throw failed[0]
        const returned = (value as Callback)(...args)
        if (returned instanceof Promise)
          waiting.push(returned.then(undefined, (error: unknown) => void failed.push(error)))
      }
  if (Object.keys(watched).length === 0) return await run(options)
  const result = await run({ ...options, ...watched })
  await Promise.all(waiting)
  if (failed.length === 0) return result
  drop?.(result)
  throw failed[0]
}
