// A file on disk as a source.
import { checkArgument, text } from '../api/checks.js'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GgufError, messageOf, type GgufErrorCode } from '../api/errors.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { checkRange, streamByReads } from './bytes.js'

const kCodes: Readonly<Record<string, readonly [code: GgufErrorCode, what: string]>> = {
  ENOENT: ['no-such-file', 'There is no such file'],
  ENOTDIR: ['no-such-file', 'There is no such file'],
  EISDIR: ['invalid-argument', 'This is a folder'],
  ELOOP: ['invalid-argument', 'Symbolic links lead in a circle'],
  ENAMETOOLONG: ['invalid-argument', 'The name is too long for a file'],
  EACCES: ['forbidden', 'The permissions forbid reading'],
  EPERM: ['forbidden', 'The permissions forbid reading'],
}

const kSchemes = 'https, http, file, hf, data or blob'
/** Names of repositories, which are no files. */
const kRepository = /^(hf|ms|github|ollama):/i

/** Why a path cannot be read. before: what the message begins with. An address of another scheme is no path. */
export function readError(path: string, error: unknown, before = ''): GgufError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const [kind, what] = kCodes[code] ?? ['unsupported', messageOf(error)]
  const scheme = /^[a-z][a-z\d+.-]+:/i.exec(path)?.[0]
  if (kind === 'no-such-file' && scheme !== undefined) {
    const message = kRepository.test(path)
      ? `${path} names a repository, and no file: give a file's path or address`
      : `Addresses that begin with ${scheme} cannot be read: ${path}. Give a path, or an address of ${kSchemes}`
    return new GgufError('unsupported', `${before}${message}.`, { cause: error })
  }
  return new GgufError(kind, `${before}${what}: ${path}`, { cause: error })
}

/** Identifies a file, by any path. */
interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
}

/** A file on disk, of any size. Opened by the first read. */
export class NodeFileSource implements ByteSource {
  /** Called for every file that a source opens, so that a program can avoid writing over it. */
  static onOpened: ((path: string, stat: FileIdentity) => void) | undefined

  readonly #path: string
  #opened: Promise<FileHandle> | undefined
  #size: number | undefined
  #closed = false

  constructor(path: string) {
    checkArgument('NodeFileSource', 'path', path, text)
    this.#path = path
  }

  get path(): string {
    return this.#path
  }

  get name(): string {
    return basename(this.#path)
  }

  get size(): number | undefined {
    return this.#size
  }

  sibling(name: string): NodeFileSource {
    return new NodeFileSource(join(dirname(this.#path), name))
  }

  #handle(): Promise<FileHandle> {
    if (this.#closed) throw new GgufError('closed', `${this.#path} was closed.`)
    this.#opened ??= this.#open()
    return this.#opened
  }

  async #open(): Promise<FileHandle> {
    const refused = (error: unknown): never => {
      throw readError(this.#path, error)
    }
    // Before open(), which waits for a writer where the path is a pipe, and cannot be ended.
    const there = await stat(this.#path).catch(refused)
    if (there.isDirectory())
      throw new GgufError('invalid-argument', `${this.#path} is a folder. Name a file in it.`)
    if (!there.isFile()) throw new GgufError('invalid-argument', `${this.#path} is no regular file.`)
    const handle = await open(this.#path, 'r').catch(refused)
    const opened = await handle.stat({ bigint: true })
    this.#size = Number(opened.size)
    NodeFileSource.onOpened?.(this.#path, opened)
    return handle
  }

  async read(offset: number, length: number, { signal }: ReadOptions): Promise<Uint8Array> {
    signal?.throwIfAborted()
    const handle = await this.#handle()
    checkRange(offset, length, this.#size)
    const bytes = new Uint8Array(length)
    for (let filled = 0; filled < length;) {
      const { bytesRead } = await handle
        .read(bytes, filled, Math.min(length - filled, 1 << 30), offset + filled)
        .catch((error: unknown) => {
          throw readError(this.#path, error)
        })
      signal?.throwIfAborted()
      if (bytesRead === 0) checkRange(offset, length, offset + filled)
      filled += bytesRead
    }
    return bytes
  }

  async *stream(offset: number, options: ReadOptions): AsyncGenerator<Uint8Array> {
    await this.#handle()
    yield* streamByReads(this as ByteSource & { size: number }, offset, options)
  }

  close(): void {
    this.#closed = true
    this.#opened?.then((handle) => handle.close()).catch(() => {})
    this.#opened = undefined
  }
}
