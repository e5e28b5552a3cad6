import { randomBytes } from 'node:crypto'
import { link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GgufError, quoted, type GgufErrorCode } from '../api/errors.js'
import type { WriteOptions } from '../api/edit.js'
import type { WrittenFile } from '../api/edit.js'

export interface WriteFileOptions extends WriteOptions {
  /** Replace a file that is there, even one that is read from. Default: an error of code 'file-exists'. */
  overwrite?: boolean | undefined
}

/** A file that is written, but not yet under its name. */
export interface PreparedFile {
  /** Gives it its name, at once and whole. */
  commit(): Promise<void>
  /** Leaves nothing of it. */
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

// With what stands around it a name keeps to the 255 bytes that file systems allow.
const kNameBytes = 200

function errorOf(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof GgufError) return error
  const code = kCodes[String(error.code)] ?? 'unsupported'
  return new GgufError(code, `${path} cannot be written: ${quoted(error)}.`, { cause: error })
}

/** Temporary files begin so: ".model.gguf." and twelve hexadecimal digits and ".part" follow. */
function partPrefix(path: string): string {
  const name = Buffer.from(basename(path)).subarray(0, kNameBytes)
  return `.${name.toString().replace(/\ufffd$/, '')}.`
}

/** Temporary files of this output that an interrupted process left, or that another one is writing. */
export async function leftParts(path: string): Promise<string[]> {
  const prefix = partPrefix(path)
  const names = await readdir(dirname(path)).catch(() => [])
  return names
    .filter((name) => name.startsWith(prefix) && /^[0-9a-f]{12}\.part$/.test(name.slice(prefix.length)))
    .map((name) => join(dirname(path), name))
}

/** What was renamed is there after a loss of power, too. Not every system can do that for a folder. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close().catch(() => {})
}

/** Writes a file under a temporary name beside its own, down to the disk. Errors leave nothing. */
export async function prepareFile(
  path: string,
  file: WrittenFile,
  { overwrite = false, ...options }: WriteFileOptions = {},
): Promise<PreparedFile> {
  const exists = (): GgufError => new GgufError('file-exists', `${path} is there already.`)
  const there = await stat(path).catch(() => undefined)
  if (there && !overwrite) throw exists()
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
      for await (const piece of file.pieces(options)) await handle.writeFile(piece)
      // The umask took from the mode; another owner's file stays that owner's where this process may give it away.
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
  /** A link, unlike a new name, replaces nothing; not every file system has links. */
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

/** Writes a file whole or not at all: under another name first, which becomes the right one at the end. */
export async function writeFile(
  path: string,
  file: WrittenFile,
  options: WriteFileOptions = {},
): Promise<void> {
  await (await prepareFile(path, file, options)).commit()
}
