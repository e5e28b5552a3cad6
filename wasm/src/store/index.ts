// Files stored in the browser: complete downloads, which resume after an interruption.
import { withCallbacks } from '../api/callbacks.js'
import { kHttpChecks } from '../sources/http-checks.js'
import { callback, checkArgument, checkOptions, flag, kProgressChecks } from '../api/checks.js'
import type { HttpOptions } from '../sources/http.js'
import { addressOf } from '../sources/addresses.js'
import { watchChanges, type StoreChange } from './changes.js'
import { StoredFolder } from './folder.js'
import { StoredSource, type StoredOptions } from './source.js'

export { removePreviews } from './kept.js'
export { StoredSource } from './source.js'
export { VectorIndex } from './vector-index.js'
export type { VectorSearchOptions, VectorIndexOptions, VectorMatch, VectorType } from './vector-index.js'
export type { StoredOptions } from './source.js'
export type { CacheReport, CrossOriginState } from '../api/source.js'
export type { StoreChange } from './changes.js'

export interface StoredFile {
  readonly url: string
  readonly name: string
  readonly size: number
  /** how many of its bytes are stored */
  readonly bytes: number
  /** all bytes are stored and checked: it opens without a network */
  readonly complete: boolean
}

export interface DownloadOptions
  extends Omit<HttpOptions, 'onRetry'>, Pick<StoredOptions, 'onCache' | 'crossOriginStorage'> {
  signal?: AbortSignal | undefined
  /** Called ten times a second or more with the bytes that were received, earlier ones included, and the total. */
  onProgress?: ((stored: number, size: number) => void) | undefined
}

/**
 * Stores a whole file; continues where the last attempt stopped. Of a file that is stored already, it asks the server
 * once whether it is still the same, and goes on without a network. Pass the returned source to open() or load().
 */
export async function download(address: string | URL, options: DownloadOptions = {}): Promise<StoredSource> {
  checkOptions('download()', options, {
    ...kHttpChecks,
    ...kProgressChecks,
    onCache: callback,
    crossOriginStorage: flag,
  })
  return await withCallbacks(options, async ({ signal, onProgress, ...http }) => {
    const source = new StoredSource(address, { ...http, revalidate: true })
    await source.finish({ signal }, onProgress)
    return source
  })
}

/** What is stored. Rejects if the store cannot be read: 'unsupported' if the browser does not open it. */
export async function storedFiles(): Promise<StoredFile[]> {
  const all = await StoredFolder.list()
  return all.map(({ url, name, size, bytes, complete }) => ({ url, name, size, bytes, complete }))
}

/** What is stored of the file at this address. */
export async function storedFile(address: string | URL): Promise<StoredFile | undefined> {
  const { href } = addressOf(address)
  return (await storedFiles()).find(({ url }) => url === href)
}

export async function removeStored(address: string | URL): Promise<void> {
  await StoredFolder.remove(addressOf(address).href)
}

/**
 * Calls a function when this page or another one of the site stores a part of a file, completes or removes it; in Node,
 * threads of this process. Returns a function that ends this.
 */
export function watchStored(onChange: (change: StoreChange) => void): () => void {
  checkArgument('watchStored()', 'onChange', onChange, callback)
  return watchChanges(onChange)
}
