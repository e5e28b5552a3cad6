// Files that the sites of a browser share, found by their SHA-256: the experimental proposal Cross-Origin Storage
// (https://github.com/WICG/cross-origin-storage), where a browser or an extension has it.
import type { CrossOriginState } from '../api/source.js'
import { Sha256 } from './sha256.js'

interface CrossOriginStorage {
  requestFileHandle(
    hash: { readonly algorithm: 'SHA-256'; readonly value: string },
    options?: { readonly create?: boolean; readonly origins?: '*' },
  ): Promise<FileSystemFileHandle>
}

const kChunk = 8 << 20

const storageOf = (): CrossOriginStorage | undefined =>
  (globalThis.navigator as { crossOriginStorage?: CrossOriginStorage } | undefined)?.crossOriginStorage

async function hashOf(file: Blob): Promise<string> {
  const hash = new Sha256()
  for (let at = 0; at < file.size; at += kChunk)
    hash.update(new Uint8Array(await file.slice(at, at + kChunk).arrayBuffer()))
  return hash.hex()
}

const stateOf = (error: unknown): CrossOriginState =>
  (error as Error).name === 'NotFoundError' ? 'missing' : 'refused'

/** The shared file of that hash and size, read whole to check it; without one, why. */
export async function readShared(
  value: string,
  size: number,
): Promise<{ readonly state: CrossOriginState; readonly file?: Blob }> {
  const storage = storageOf()
  if (!storage) return { state: 'unavailable' }
  try {
    const file = await (await storage.requestFileHandle({ algorithm: 'SHA-256', value })).getFile()
    const isRight = file.size === size && (await hashOf(file)) === value
    return isRight ? { state: 'found', file } : { state: 'damaged' }
  } catch (error) {
    return { state: stateOf(error) }
  }
}

/** Shares a file, given in chunks: with all sites, or with those of this one only. Never fails: the file is stored here. */
export async function writeShared(
  value: string,
  chunks: AsyncIterable<Uint8Array>,
  withAll: boolean,
): Promise<CrossOriginState> {
  const storage = storageOf()
  if (!storage) return 'unavailable'
  try {
    const options = { create: true, ...(withAll ? { origins: '*' as const } : {}) }
    const handle = await storage.requestFileHandle({ algorithm: 'SHA-256', value }, options)
    if (typeof handle.createWritable !== 'function') return 'unavailable'
    const writable = await handle.createWritable()
    try {
      for await (const chunk of chunks) await writable.write(chunk as Uint8Array<ArrayBuffer>)
    } catch (error) {
      await writable.abort?.().catch(() => {})
      throw error
    }
    await writable.close()
    return 'stored'
  } catch {
    return 'refused'
  }
}
