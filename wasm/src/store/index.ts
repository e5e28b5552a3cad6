// Files kept in the browser: whole downloads that go on where they stopped.
import type { HttpOptions } from '../sources/http.js'
import { addressOf } from '../sources/addresses.js'
import { StoredFolder } from './folder.js'
import { StoredSource } from './source.js'

export { removePreviews } from './kept.js'
export { StoredSource } from './source.js'

export interface StoredFile {
  readonly url: string
  readonly name: string
  readonly size: number
  /** how many of its bytes are kept */
  readonly bytes: number
  /** all of them, checked: it opens without network */
  readonly complete: boolean
}

export interface DownloadOptions extends Omit<HttpOptions, 'onRetry'> {
  signal?: AbortSignal | undefined
  /** bytes that are kept, of how many */
  onProgress?: ((stored: number, size: number) => void) | undefined
}

/** Keeps a whole file, beginning where the last attempt stopped. The source can be given to open() and load(). */
export async function download(address: string | URL, options: DownloadOptions = {}): Promise<StoredSource> {
  const source = new StoredSource(address, options)
  await source.finish({ signal: options.signal }, options.onProgress)
  return source
}

export async function storedFiles(): Promise<StoredFile[]> {
  const all = await StoredFolder.list()
  return all.map(({ url, name, size, bytes, complete }) => ({ url, name, size, bytes, complete }))
}

/** What is kept of the file at this address. */
export async function storedFile(address: string | URL): Promise<StoredFile | undefined> {
  const { href } = addressOf(address)
  return (await storedFiles()).find(({ url }) => url === href)
}

export async function removeStored(address: string | URL): Promise<void> {
  await StoredFolder.remove(addressOf(address).href)
}
