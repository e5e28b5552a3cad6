// Records the files that a command reads, so that its output never replaces them. Device and inode identify a file:
// hard links, symbolic links and other spellings of a path count as the same file.
import { open, stat } from 'node:fs/promises'
import { NodeFileSource, readError } from '../sources/node-file.js'
import { UsageError } from './command.js'

type Identity = { readonly dev: bigint; readonly ino: bigint }
const identity = ({ dev, ino }: Identity): string => `${dev}:${ino}`

const kRead = new Map<string, string>()

/** Starts recording every file that is opened, including the other shards of a given one. */
export function watchInputs(): void {
  NodeFileSource.onOpened = (path, stat) => kRead.set(identity(stat), path)
}

let hasReadInput = false

async function readStandardInput(what: string): Promise<Uint8Array> {
  if (process.stdin.isTTY)
    throw new UsageError(`${what}: "-" is standard input, which is a terminal: pipe the file into it`)
  if (hasReadInput) throw new UsageError(`${what}: standard input was read before; "-" stands for one file`)
  hasReadInput = true
  const blocks: Buffer[] = []
  for await (const block of process.stdin) blocks.push(block as Buffer)
  return new Uint8Array(Buffer.concat(blocks))
}

/** Reads the whole file that an option names. "-": standard input. */
export async function readInput(path: string, what: string): Promise<Uint8Array> {
  if (path === '-') return await readStandardInput(what)
  try {
    const handle = await open(path, 'r')
    try {
      kRead.set(identity(await handle.stat({ bigint: true })), path)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw readError(path, error, `${what}: `)
  }
}

/** If the file at this path was read, returns the name by which it was read. */
export async function readAs(path: string): Promise<string | undefined> {
  const there = await stat(path, { bigint: true }).catch(() => undefined)
  return there && kRead.get(identity(there))
}
