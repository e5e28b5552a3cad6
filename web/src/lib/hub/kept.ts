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

/** The stored file if it is complete, otherwise the address. */
export async function keptSource(address: string): Promise<Source> {
  if (!(await keptFile(address))?.complete) return address
  const { StoredSource } = await import('ggufscope/store')
  return new StoredSource(address)
}

export async function removeKept(address: string) {
  const { removeStored } = await import('ggufscope/store')
  await removeStored(address)
}

export async function forgetPreviews() {
  const { removePreviews } = await import('ggufscope/store')
  await removePreviews()
}
