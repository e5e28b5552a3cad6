// Data that is stored in this browser so that it is not fetched twice: complete files, and the bytes of previews.
import type { StoredFile } from 'ggufscope/store'
import type { Source } from 'ggufscope'
import { storage } from '../page/storage'

const key = 'keeps'

/** Records that the store may contain files. */
export function rememberKeeping() {
  storage.set(key, 'yes')
}

/** Whether there may be kept files. */
export const mayKeep = () => storage.get(key) !== undefined

export async function keptFile(address: string): Promise<StoredFile | undefined> {
  if (!mayKeep()) return undefined
  const { storedFile } = await import('ggufscope/store')
  return storedFile(address).catch(() => undefined)
}

/** The stored files if all of them are complete, otherwise the source itself. */
export async function keptSource(source: Source | readonly Source[]): Promise<Source | readonly Source[]> {
  const all: readonly unknown[] = Array.isArray(source) ? source : [source]
  const addresses = all.filter((one) => typeof one === 'string')
  if (addresses.length === 0 || addresses.length < all.length) return source
  const kept = await Promise.all(addresses.map(keptFile))
  if (!kept.every((file) => file?.complete)) return source
  const { StoredSource } = await import('ggufscope/store')
  const stored = addresses.map((address) => new StoredSource(address))
  return stored.length === 1 ? stored[0]! : stored
}

export async function removeKept(address: string) {
  const { removeStored } = await import('ggufscope/store')
  await removeStored(address)
}

export async function forgetPreviews() {
  const { removePreviews } = await import('ggufscope/store')
  await removePreviews()
}
