// Writes all output files of the command line: completely or not at all, never over a file that is read, and over an
// existing file only with --force.
import { stat, unlink } from 'node:fs/promises'
import { GgufError } from '../api/errors.js'
import { dirname, resolve, sep } from 'node:path'
import { leftParts, prepareFile, targetOf, type PreparedFile } from '../edit/write-file.js'
import type { Bytes } from '../api/arrays.js'
import { WrittenFile } from '../edit/written-file.js'
import { UsageError, type Context, type Options } from './command.js'
import { bytesText } from './format.js'
import { readAs } from './inputs.js'

export const kOutputOptions = {
  output: {
    value: 'FILE',
    short: 'o',
    file: 'written',
    help: 'the output file, which must not be an input',
  },
  force: { help: 'replace an existing output, and write the readable part of a damaged input' },
} as const satisfies Options

export interface Output {
  readonly path: string
  readonly file: WrittenFile
}

export interface SaveOptions {
  /** The user chose to replace the file that was read (--in-place). */
  readonly inPlace?: boolean
  /** The line that is printed for each written file. Default: its path and size. */
  readonly told?: string
}

/** Throws if a path must not or cannot be written. Called before the work and again after it. */
async function check({ values }: Context, path: string, { inPlace = false }: SaveOptions): Promise<void> {
  const target = await targetOf(path).catch((error: unknown) => {
    throw error instanceof GgufError ? new UsageError(error.message) : error
  })
  if ((path.endsWith('/') || path.endsWith(sep)) && !(await stat(path).catch(() => undefined)))
    throw new UsageError(`${path} is the name of a folder: give that of a file`)
  const folder = dirname(target)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new GgufError('no-such-file', `${path} cannot be written: there is no folder ${folder}.`)
  const read = await readAs(path)
  if (read !== undefined && !inPlace) {
    const other = read === path ? '' : ` (as ${read})`
    throw new UsageError(`${path} is a file that is read${other}: give another output`)
  }
  const there = await stat(path).catch(() => undefined)
  if (!there) return
  if (!there.isFile()) throw new UsageError(`${path} is no regular file: give another output`)
  if (!inPlace && values['force'] !== true) throw new GgufError('file-exists', `${path} is there already.`)
}

/** Throws if two outputs are one file, by links: the last one would replace the others. */
async function checkTogether(outputs: readonly Output[]): Promise<void> {
  const paths = new Map<string, string>()
  for (const { path } of outputs) {
    const target = resolve(await targetOf(path))
    const other = paths.get(target)
    if (other !== undefined) throw new UsageError(`${other} and ${path} are one file: give another output`)
    paths.set(target, path)
  }
}

/** Returns the path of --output. */
export async function outputOf(context: Context): Promise<string> {
  const path = context.values['output']
  if (typeof path !== 'string' || path === '') throw new UsageError('an output is needed: --output FILE')
  if (path === '-')
    throw new UsageError('an output is a file, not standard output: ./- is a file of that name')
  await check(context, path, {})
  return path
}

async function tellOfParts({ warn }: Context, path: string): Promise<void> {
  for (const part of await leftParts(path)) {
    const size = await stat(part).then(
      ({ size }) => ` (${bytesText(size)})`,
      () => '',
    )
    warn(`${part}${size} was left by an interrupted call: delete it, unless another one is writing there now`)
  }
}

/**
 * Writes all files or none: they are renamed to their final names after the last one is on the disk. Progress goes to
 * stderr if it is a terminal, and a line for each file to stdout.
 */
export async function saveAll(
  context: Context,
  outputs: readonly Output[],
  options: SaveOptions = {},
): Promise<void> {
  const { values, signal, print, json, progress } = context
  const overwrite = values['force'] === true || options.inPlace === true
  for (const { path } of outputs) {
    await check(context, path, options)
    await tellOfParts(context, path)
  }
  await checkTogether(outputs)
  const all = outputs.reduce((sum, { file }) => sum + file.size, 0)
  const prepared: PreparedFile[] = []
  const named: string[] = []
  let before = 0
  try {
    for (const { path, file } of outputs) {
      const onProgress = ({ written, tensor = '' }: { written: number; tensor?: string | undefined }): void =>
        progress.show(() => `${Math.floor((100 * (before + written)) / all)} % ${tensor}`)
      prepared.push(await prepareFile(path, file, { overwrite, signal, onProgress }))
      before += file.size
    }
    for (const [i, { path }] of outputs.entries()) {
      await check(context, path, options)
      await prepared[i]!.commit()
      named.push(path)
    }
  } catch (error) {
    await Promise.all(prepared.map((one) => one.discard()))
    // An incomplete set is useless, so new files are deleted. Files that replaced older ones stay.
    if (!overwrite) await Promise.all(named.map((path) => unlink(path).catch(() => {})))
    throw error
  } finally {
    progress.clear()
  }
  if (!json) for (const { path, file } of outputs) print(options.told ?? `${path}: ${bytesText(file.size)}`)
}

/** A file of these bytes. */
export const bytesFile = (bytes: Bytes): WrittenFile =>
  new WrittenFile([{ kind: 'bytes', to: 0, length: bytes.length, bytes }])

/** Writes one file completely or not at all. */
export async function save(
  context: Context,
  path: string,
  file: WrittenFile,
  options: SaveOptions = {},
): Promise<void> {
  await saveAll(context, [{ path, file }], options)
}
