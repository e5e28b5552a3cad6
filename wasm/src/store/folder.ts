// Stores a file in the origin's private file system, or in a folder of Node's, in parts of equal length. A part is
// stored completely or not at all, so an interrupted transfer continues with the next part.
import { GgufError } from '../api/errors.js'
import { isNode } from '../runtime/node-module.js'
import { isInfo, partLength, sumOf, type StoredInfo } from './record.js'
import { kSealBytes, sealed, unsealed } from './seal.js'
import { tellChange } from './changes.js'
import type { Folder } from './types.js'

const kRoot = 'ggufscope-files'
const kInfo = 'info.json'

/** Whether this page or worker has a private file system, or this is Node. */
export const canKeep = (): boolean =>
  isNode() || typeof globalThis.navigator?.storage?.getDirectory === 'function'

/**
 * A folder of the origin's private file system; in Node, of the user's folder for caches. Rejects with 'unsupported' if
 * the browser has none, or does not open it, as in some private windows.
 */
export async function privateFolder(name: string): Promise<Folder> {
  if (isNode()) return await (await import('./node-folder.js')).nodeFolder(name)
  if (!canKeep()) {
    throw new GgufError(
      'unsupported',
      'Nothing can be stored here: this needs a browser with a private file system, and a page on https:// or localhost.',
    )
  }
  try {
    return await (await navigator.storage.getDirectory()).getDirectoryHandle(name, { create: true })
  } catch (error) {
    const full = explained(error, 'the files')
    if (full !== error) throw full
    const why = error instanceof Error ? error.message : String(error)
    throw new GgufError('unsupported', `This browser does not open its private file system: ${why}`, {
      cause: error,
    })
  }
}

/** Number of bytes that can still be stored. */
export async function room(): Promise<number> {
  if (isNode()) return await (await import('./node-folder.js')).nodeRoom()
  const { quota, usage } = await navigator.storage.estimate()
  return (quota ?? Infinity) - (usage ?? 0)
}

const root = (): Promise<Folder> => privateFolder(kRoot)

export async function folderName(url: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(url))
  return Array.from(new Uint8Array(digest, 0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The content of a JSON file, and when it was written; undefined: missing or damaged. */
export async function readJson(
  folder: Folder,
  name: string,
): Promise<{ value: unknown; time: number } | undefined> {
  try {
    const file = await (await folder.getFileHandle(name)).getFile()
    return { value: JSON.parse(await file.text()), time: file.lastModified }
  } catch {
    return undefined
  }
}

async function readInfo(folder: Folder): Promise<StoredInfo | undefined> {
  const info = (await readJson(folder, kInfo))?.value
  return isInfo(info) ? info : undefined
}

export async function removeAll(folder: Folder): Promise<void> {
  const names: string[] = []
  for await (const name of folder.keys()) names.push(name)
  for (const name of names) {
    try {
      await folder.removeEntry(name, { recursive: true })
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
}

/** Whether another page or process has removed a file meanwhile. */
const isGone = (error: unknown): boolean =>
  (error as Error).name === 'NotFoundError' || (error as { code?: unknown }).code === 'ENOENT'

/** Writes a file. After a crash, only closed files exist. */
export async function writeWhole(folder: Folder, name: string, content: Blob | Uint8Array): Promise<void> {
  const made = await folder.getFileHandle(name, { create: true })
  const bytes = async () => new Uint8Array(await new Response(content as BodyInit).arrayBuffer())
  if (made.write) return await made.write(await bytes())
  const handle = made as FileSystemFileHandle
  if (typeof handle.createWritable !== 'function') {
    const { writeByWorker } = await import('./write-by-worker.js')
    return writeByWorker(handle, await bytes())
  }
  const writable = await handle.createWritable()
  await writable.write(content as Blob | Uint8Array<ArrayBuffer>)
  await writable.close()
}

const kFull = /^(ENOSPC|EDQUOT|EFBIG)$/
const kForbidden = /^(EACCES|EPERM|EROFS|EISDIR|ENOTDIR|EEXIST)$/

/** Converts the errors of a full disk and of a removed folder, of a browser or of Node, to a GgufError with advice. */
export function explained(error: unknown, name: string): unknown {
  if (!(error instanceof Error)) return error
  const code = String((error as { code?: unknown }).code)
  if (isGone(error))
    return new GgufError(
      'file-changed',
      `${name} was removed from the store by another page or program. Load it again.`,
      { cause: error },
    )
  if (kForbidden.test(code))
    return new GgufError(
      'forbidden',
      `${name} cannot be stored: ${error.message}. Set XDG_CACHE_HOME to another folder.`,
      {
        cause: error,
      },
    )
  if (error.name !== 'QuotaExceededError' && !kFull.test(code)) return error
  return new GgufError(
    'quota',
    `There is no room for more of ${name}: remove stored models or free space on the disk.`,
    { cause: error },
  )
}

export class StoredFolder {
  readonly #handle: Folder
  /** parts whose checksum was right, and when they were written */
  readonly #checked = new Map<number, number>()

  private constructor(handle: Folder) {
    this.#handle = handle
  }

  static async open(url: string): Promise<StoredFolder> {
    return new StoredFolder(await (await root()).getDirectoryHandle(await folderName(url), { create: true }))
  }

  static async remove(url: string): Promise<void> {
    await (await root()).removeEntry(await folderName(url), { recursive: true }).catch(() => {})
    tellChange(url)
  }

  static async list(): Promise<(StoredInfo & { bytes: number })[]> {
    const all: (StoredInfo & { bytes: number })[] = []
    for await (const handle of (await root()).values()) {
      if (handle.kind !== 'directory') continue
      const folder = new StoredFolder(handle)
      try {
        const info = await folder.info()
        if (info) all.push({ ...info, bytes: sumOf(info, await folder.parts(info)) })
      } catch (error) {
        // Another page may remove a folder meanwhile.
        if (!isGone(error)) throw error
      }
    }
    return all
  }

  async info(): Promise<StoredInfo | undefined> {
    return await readInfo(this.#handle)
  }

  async setInfo(info: StoredInfo): Promise<void> {
    await this.#write(kInfo, new TextEncoder().encode(JSON.stringify(info)), info.name)
    tellChange(info.url)
  }

  /** Numbers of the stored parts. Those of version 0.2 of this package have no checksum. */
  async parts(info: StoredInfo): Promise<Set<number>> {
    const found = new Set<number>()
    for await (const handle of this.#handle.values()) {
      const part = Number(handle.name)
      if (handle.kind !== 'file' || !/^\d+$/.test(handle.name)) continue
      const length = partLength(info, part)
      const size = await handle.getFile().then(
        (file) => file.size,
        (error: unknown) => {
          if (!isGone(error)) throw error
          return -1
        },
      )
      const isPlain = info.sealed !== true && size === length
      if (length > 0 && (isPlain || size === length + kSealBytes)) found.add(part)
    }
    return found
  }

  /** Bytes [from, to) of a part; undefined if it is damaged, of another version of the file, or gone. */
  async readPart(info: StoredInfo, part: number, from: number, to: number): Promise<Uint8Array | undefined> {
    const length = partLength(info, part)
    try {
      const file = await (await this.#handle.getFileHandle(String(part))).getFile()
      const isPlain = info.sealed !== true && file.size === length
      if (!isPlain && file.size !== length + kSealBytes) return undefined
      if (isPlain || this.#checked.get(part) === file.lastModified)
        return new Uint8Array(await file.slice(from, to).arrayBuffer())
      const bytes = await unsealed(new Uint8Array(await file.arrayBuffer()), info, part)
      if (!bytes) return undefined
      // The same bytes are not checked again, unless another page or process writes them.
      this.#checked.set(part, file.lastModified)
      return to - from === length ? bytes : bytes.slice(from, to)
    } catch {
      return undefined
    }
  }

  async setPart(info: StoredInfo, part: number, bytes: Uint8Array): Promise<void> {
    this.#checked.delete(part)
    await this.#write(String(part), await sealed(bytes, info, part), info.name)
    tellChange(info.url)
  }

  async clear(): Promise<void> {
    await removeAll(this.#handle)
  }

  async #write(file: string, bytes: Uint8Array, name: string): Promise<void> {
    try {
      await writeWhole(this.#handle, file, bytes)
    } catch (error) {
      throw explained(error, name)
    }
  }
}
