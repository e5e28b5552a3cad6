// What a command reads, so that nothing that it writes replaces it. Device and inode identify a file: hard links,
// symbolic links and other spellings of a path are the same file.
import { open, stat } from 'node:fs/promises'
import { messageOf } from '../api/errors.js'
import { NodeFileSource } from '../node.js'
import { UsageError } from './command.js'

type Identity = { readonly dev: bigint; readonly ino: bigint }
const identity = ({ dev, ino }: Identity): string => `${dev}:${ino}`

const kRead = new Map<string, string>()

/** From now on every file that is opened counts, those beside a given one included. */
export function watchInputs(): void {
  NodeFileSource.onOpened = (path, stat) => kRead.set(identity(stat), path)
}

/** The bytes of a file that an option names, whole. */
export async function readInput(path: string, what: string): Promise<Uint8Array> {
  try {
    const handle = await open(path, 'r')
    try {
      kRead.set(identity(await handle.stat({ bigint: true })), path)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw new UsageError(`${what}: ${path} cannot be read: ${messageOf(error)}`)
  }
}

/** The name by which a file was read that is the same as the one at this path. */
export async function readAs(path: string): Promise<string | undefined> {
  const there = await stat(path, { bigint: true }).catch(() => undefined)
  return there && kRead.get(identity(there))
}
