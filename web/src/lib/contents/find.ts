// Finds the entries of an array that contain a text, some thousands at a time.
import type { LazyArray } from 'ggufscope'
import { preview } from './values'

const chunk = 4096

/** Indexes of the entries whose text contains `query`. Case matters only if the query has capital letters. */
export async function findEntries(
  view: LazyArray,
  query: string,
  options: {
    signal: AbortSignal
    onProgress: (found: readonly number[], searched: number) => void
    limit: number
  },
): Promise<number[]> {
  const fold = query === query.toLowerCase()
  const found: number[] = []
  for (let from = 0; from < view.length && found.length < options.limit; from += chunk) {
    for (const [i, item] of view.slice(from, from + chunk).entries()) {
      const text = typeof item === 'string' ? item : preview(item)
      if ((fold ? text.toLowerCase() : text).includes(query)) found.push(from + i)
      if (found.length >= options.limit) break
    }
    options.onProgress(found, Math.min(view.length, from + chunk))
    // Yields to the page between chunks.
    await new Promise((resolve) => setTimeout(resolve))
    options.signal.throwIfAborted()
  }
  return found
}
