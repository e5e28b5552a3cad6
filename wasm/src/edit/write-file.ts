import { randomBytes } from 'node:crypto'
import { link, open, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GgufError, messageOf, type GgufErrorCode } from '../api/errors.js'
import type { WriteOptions } from './types.js'
import type { WrittenFile } from './written-file.js'

export interface WriteFileOptions extends WriteOptions {
  /** Replace a file that is there, even one that is read from. Default: an error of code 'file-exists'. */
  overwrite?: boolean | undefined
}

const kCodes: Readonly<Record<string, GgufErrorCode>> = {
  ENOENT: 'no-such-file',
  ENOTDIR: 'no-such-file',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EEXIST: 'file-exists',
  EISDIR: 'invalid-argument',
}

function errorOf(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof GgufError) return error
  const code = kCodes[String(error.code)] ?? 'unsupported'
  return new GgufError(code, `${path} cannot be written: ${messageOf(error)}`, { cause: error })
}

/** Writes a file whole or not at all: under another name first, which becomes the right one at the end. */
export async function writeFile(
  path: string,
  file: WrittenFile,
  { overwrite = false, ...options }: WriteFileOptions = {},
): Promise<void> {
  const exists = (): GgufError => new GgufError('file-exists', `${path} is there already.`)
  const there = await stat(path).catch(() => undefined)
  if (there && !overwrite) throw exists()
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`)
  try {
    const handle = await open(part, 'wx', there?.mode)
    try {
      for await (const piece of file.pieces(options)) await handle.writeFile(piece)
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (overwrite) {
      await rename(part, path)
      return
    }
    // A link, unlike a new name, replaces nothing; not every file system has links.
    try {
      await link(part, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists()
      await rename(part, path)
      return
    }
    await unlink(part)
  } catch (error) {
    await unlink(part).catch(() => {})
    throw errorOf(path, error)
  }
}
