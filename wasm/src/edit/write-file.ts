// Writes a file in Node under a temporary name, and renames it when it is complete.
import { kWriteChecks } from './checks.js'
import { checkArgument, checkOptions, flag, text, type Check } from '../api/checks.js'
import { randomBytes } from 'node:crypto'
import { link, lstat, open, readdir, readlink, realpath, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { GgufError, quoted, type GgufErrorCode } from '../api/errors.js'
import type { WriteOptions } from '../api/edit.js'
import type { WrittenFile } from '../api/edit.js'

export interface WriteFileOptions extends WriteOptions {
  /** Replaces an existing file, even one that is read. Default: an existing file is an error of code 'file-exists'. */
  overwrite?: boolean | undefined
}

/** A file that is written completely under a temporary name. */
export interface PreparedFile {
  /** Renames it to its final name, atomically. */
  commit(): Promise<void>
  /** Deletes it. */
  discard(): Promise<void>
}

const kCodes: Readonly<Record<string, GgufErrorCode>> = {
  ENOENT: 'no-such-file',
  ENOTDIR: 'no-such-file',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EROFS: 'forbidden',
  EEXIST: 'file-exists',
  EISDIR: 'invalid-argument',
  ENAMETOOLONG: 'invalid-argument',
  ENOSPC: 'quota',
  EDQUOT: 'quota',
  EFBIG: 'quota',
}

// A temporary name must not exceed the 255 bytes that file systems allow.
const kNameBytes = 200

function errorOf(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof GgufError) return error
  const code = kCodes[String(error.code)] ?? 'unsupported'
  const reason = error.code === 'ENOENT' ? `there is no folder ${dirname(path)}` : quoted(error)
  return new GgufError(code, `${path} cannot be written: ${reason}.`, { cause: error })
}

/** The beginning of temporary names: ".model.gguf.", followed by twelve hexadecimal digits and ".part". */
function partPrefix(path: string): string {
  const name = Buffer.from(basename(path)).subarray(0, kNameBytes)
  return `.${name.toString().replace(/\ufffd$/, '')}.`
}

const kMaxLinks = 40

/** The file that a path means: the target of symbolic links, which need not exist. */
export async function targetOf(path: string): Promise<string> {
  let target = path
  for (let links = 0; links < kMaxLinks; links++) {
    const there = await realpath(target).catch(() => undefined)
    if (there !== undefined) return there
    const to = await readlink(target).catch(() => undefined)
    if (to === undefined) return target
    target = resolve(dirname(target), to)
  }
  throw new GgufError('invalid-argument', `${path} cannot be written: its links lead in a circle.`)
}

/** Temporary files of this output, left by an interrupted process or still being written by another one. */
export async function leftParts(output: string): Promise<string[]> {
  const path = await targetOf(output)
  const prefix = partPrefix(path)
  const names = await readdir(dirname(path)).catch(() => [])
  return names
    .filter((name) => name.startsWith(prefix) && /^[0-9a-f]{12}\.part$/.test(name.slice(prefix.length)))
    .map((name) => join(dirname(path), name))
}

/** Flushes a folder, so that a rename survives a loss of power. Not every system supports it. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close().catch(() => {})
}

const isWritten: Check = (value) =>
  typeof value === 'object' && value !== null && 'chunks' in value ? undefined : 'what build() returned'

/**
 * Writes a file under a temporary name in the same folder, and flushes it to the disk. On errors, deletes it. A symbolic
 * link stays, and its target is written.
 */
export async function prepareFile(
  output: string,
  file: WrittenFile,
  given: WriteFileOptions = {},
): Promise<PreparedFile> {
  checkArgument('writeFile()', 'path', output, text)
  checkArgument('writeFile()', 'file', file, isWritten)
  checkOptions('writeFile()', given, { ...kWriteChecks, overwrite: flag })
  const { overwrite = false, ...options } = given
  const exists = (): GgufError => new GgufError('file-exists', `${output} is there already.`)
  if (!overwrite && (await lstat(output).catch(() => undefined))) throw exists()
  const path = await targetOf(output)
  const there = await stat(path).catch(() => undefined)
  if (there && !there.isFile())
    throw new GgufError('invalid-argument', `${path} is no regular file: give another output.`)
  const part = join(dirname(path), `${partPrefix(path)}${randomBytes(6).toString('hex')}.part`)
  const discard = (): Promise<void> => unlink(part).catch(() => {})
  const failed = async (error: unknown): Promise<never> => {
    await discard()
    throw errorOf(path, error)
  }
  try {
    const handle = await open(part, 'wx', there?.mode)
    try {
      for await (const chunk of file.chunks(options)) await handle.writeFile(chunk)
      // Restores the mode, which the umask reduced, and the owner, if this process may change it.
      if (there) {
        await handle.chown(there.uid, there.gid).catch(() => {})
        await handle.chmod(there.mode & 0o7777).catch(() => {})
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    return await failed(error)
  }
  /** A hard link, unlike a rename, never replaces a file. Not every file system has hard links. */
  const linked = async (): Promise<boolean> => {
    try {
      await link(part, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists()
      return false
    }
    await unlink(part)
    return true
  }
  return {
    async commit() {
      try {
        if (overwrite || !(await linked())) await rename(part, path)
      } catch (error) {
        await failed(error)
      }
      await syncFolder(dirname(path))
    },
    discard,
  }
}

/** Writes a file completely or not at all: under a temporary name, which is renamed at the end. */
export async function writeFile(
  path: string,
  file: WrittenFile,
  options: WriteFileOptions = {},
): Promise<void> {
  await (await prepareFile(path, file, options)).commit()
}
