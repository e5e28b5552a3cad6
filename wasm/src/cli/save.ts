import { realpath } from 'node:fs/promises'
import { writeFile } from '../node.js'
import type { WrittenFile } from '../edit/written-file.js'
import { UsageError, type Command, type Context } from './command.js'
import { bytesText } from './format.js'

export const kOutputOptions = {
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
} as const satisfies Command['options']

export const kOutputHelp = [
  '-o, --output FILE where the result goes; never the file that is read',
  '--force           replace an output that is there',
]

const resolved = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined)

/** The path that --output gives. */
export async function outputOf({ positionals, values }: Context): Promise<string> {
  const path = values['output']
  if (typeof path !== 'string' || path === '') throw new UsageError('where to? --output FILE')
  const input = await resolved(positionals[0]!)
  if (input !== undefined && input === (await resolved(path)))
    throw new UsageError(`${path} is the file that is read: give another output`)
  return path
}

/** Writes a file whole or not at all, and tells of it: how far it is on a terminal's stderr, the end on stdout. */
export async function save(
  { values, signal, print, json }: Context,
  path: string,
  file: WrittenFile,
  overwrite = values['force'] === true,
): Promise<void> {
  const terminal = process.stderr.isTTY
  let told = 0
  await writeFile(path, file, {
    overwrite,
    signal,
    onProgress: ({ written, size, tensor }) => {
      if (!terminal || performance.now() - told < 100) return
      told = performance.now()
      process.stderr.write(`\r\x1b[K${Math.floor((100 * written) / size)} % ${tensor ?? ''}`)
    },
  }).finally(() => {
    if (told > 0) process.stderr.write('\r\x1b[K')
  })
  if (!json) print(`${path}: ${bytesText(file.size)}`)
}
