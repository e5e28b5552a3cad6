// Implements the part of a browser's private file system that the store uses, with a folder in Node.
import type { FileHandle as NodeFileHandle } from 'node:fs/promises'
import { GgufError } from '../api/errors.js'
import { nodeModule, nodeProcess } from '../runtime/node-module.js'
import type { Folder, FolderFile, StoredBytes } from './types.js'

const fs = () => nodeModule<typeof import('node:fs/promises')>('node:fs/promises')
const path = () => nodeModule<typeof import('node:path')>('node:path')
const own = () => nodeModule<typeof import('node:process')>('node:process')

/** The user's cache folder: XDG_CACHE_HOME, or the system's default. */
function cacheFolder(): string {
  const { homedir } = nodeModule<typeof import('node:os')>('node:os')
  const { env = {}, platform } = nodeProcess()!
  const own = env['XDG_CACHE_HOME'] // only an absolute one counts (XDG Base Directory Specification)
  if (own && path().isAbsolute(own)) return own
  if (platform === 'win32') return env['LOCALAPPDATA'] ?? path().join(homedir(), 'AppData', 'Local')
  return platform === 'darwin'
    ? path().join(homedir(), 'Library', 'Caches')
    : path().join(homedir(), '.cache')
}

class DiskBytes implements StoredBytes {
  readonly size: number
  readonly lastModified: number
  readonly #file: string
  readonly #from: number

  constructor(file: string, from: number, size: number, lastModified: number) {
    this.#file = file
    this.#from = from
    this.size = size
    this.lastModified = lastModified
  }

  slice(from: number, to: number): DiskBytes {
    return new DiskBytes(this.#file, this.#from + from, Math.max(0, to - from), this.lastModified)
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(this.size)
    const handle: NodeFileHandle = await fs().open(this.#file, 'r')
    try {
      for (let at = 0; at < bytes.length;) {
        const { bytesRead } = await handle.read(bytes, at, bytes.length - at, this.#from + at)
        if (bytesRead === 0) throw new GgufError('file-changed', `${this.#file} was cut while it was read.`)
        at += bytesRead
      }
    } finally {
      await handle.close()
    }
    return bytes.buffer
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.arrayBuffer())
  }
}

class DiskFile implements FolderFile {
  readonly kind = 'file'
  readonly name: string
  readonly #file: string

  constructor(file: string) {
    this.name = path().basename(file)
    this.#file = file
  }

  async getFile(): Promise<StoredBytes> {
    const { size, mtimeMs } = await fs().stat(this.#file)
    return new DiskBytes(this.#file, 0, size, mtimeMs)
  }

  /**
   * Writes a temporary file and renames it when it is complete, so that processes that write the same file do not
   * conflict. If the folder or the temporary file was removed meanwhile, it tries once more.
   */
  async write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#writeOnce(bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      await fs().mkdir(path().dirname(this.#file), { recursive: true })
      await this.#writeOnce(bytes)
    }
  }

  async #writeOnce(bytes: Uint8Array): Promise<void> {
    const temporary = `${this.#file}.${own().pid}.${crypto.randomUUID()}.part`
    try {
      await fs().writeFile(temporary, bytes, { flush: true })
      await fs().rename(temporary, this.#file)
    } catch (error) {
      await fs().rm(temporary, { force: true })
      throw error
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return own().kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Removes the temporary files of processes that were killed. */
async function removeTemporary(folder: string): Promise<void> {
  for (const name of await fs().readdir(folder)) {
    const pid = /\.(?:(\d+)\.)?[0-9a-f]{8}-[0-9a-f-]{27}\.part$/.exec(name)
    if (pid && !(pid[1] !== undefined && isRunning(Number(pid[1]))))
      await fs().rm(path().join(folder, name), { force: true })
  }
}

class DiskFolder implements Folder {
  readonly kind = 'directory'
  readonly name: string
  readonly #folder: string

  constructor(folder: string) {
    this.name = path().basename(folder)
    this.#folder = folder
  }

  async getDirectoryHandle(name: string): Promise<DiskFolder> {
    const folder = path().join(this.#folder, name)
    await fs().mkdir(folder, { recursive: true })
    await removeTemporary(folder)
    return new DiskFolder(folder)
  }

  getFileHandle(name: string): Promise<DiskFile> {
    return Promise.resolve(new DiskFile(path().join(this.#folder, name)))
  }

  async removeEntry(name: string): Promise<void> {
    await fs().rm(path().join(this.#folder, name), { recursive: true, force: true })
  }

  async *keys(): AsyncGenerator<string> {
    yield* await fs().readdir(this.#folder)
  }

  async *values(): AsyncGenerator<DiskFile | DiskFolder> {
    for (const entry of await fs().readdir(this.#folder, { withFileTypes: true })) {
      const full = path().join(this.#folder, entry.name)
      yield entry.isDirectory() ? new DiskFolder(full) : new DiskFile(full)
    }
  }
}

/** The folder with this name in the user's cache folder. It is created if missing. */
export async function nodeFolder(name: string): Promise<Folder> {
  const root = path().join(cacheFolder(), 'ggufscope')
  try {
    return await new DiskFolder(root).getDirectoryHandle(name)
  } catch (error) {
    throw new GgufError(
      'forbidden',
      `The folder for kept files could not be made in ${root}: ${(error as Error).message}. Set XDG_CACHE_HOME to another folder.`,
      { cause: error },
    )
  }
}

/** Free bytes of the disk for this user. */
export async function nodeRoom(): Promise<number> {
  const { bavail, bsize } = await fs().statfs(cacheFolder())
  return bavail * bsize
}
