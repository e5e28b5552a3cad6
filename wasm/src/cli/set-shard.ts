// Chooses the file of a split model that `set` edits, so that the set stays consistent.
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Change } from '../api/edit.js'
import type { GgufFile } from '../api/file.js'
import { NodeFileSource } from '../sources/node-file.js'
import { withPaths } from '../sources/node-paths.js'
import { UsageError, type Context } from './command.js'

const pathOf = (word: string): string => (/^file:/i.test(word) ? fileURLToPath(word) : word)

/** The file name of a path or address, without the query. */
function nameOf(word: string): string {
  const source = withPaths(word)
  return source instanceof NodeFileSource ? source.name : basename(word.replace(/[?#].*$/, ''))
}

/**
 * Index of the file to edit; undefined for a model of one file. Readers take keys from the first file, so keys are
 * changed there. split.* keys are changed in the file that the call names.
 */
export function editedShard(
  context: Context,
  file: GgufFile,
  keys: readonly string[],
  changes: readonly Change[],
): number | undefined {
  const { positionals, values, warn } = context
  const { shards } = file
  if (shards.length === 1) return undefined
  if (values['remove-tensor'] !== undefined || changes.some(({ change }) => change === 'remove-tensor'))
    throw new UsageError(
      'without that tensor split.tensors.count would be wrong in every file: merge the files first',
    )
  const tokens = ['add-token', 'remove-token'].some((name) => values[name] !== undefined)
  if (tokens || changes.some(({ change }) => change.endsWith('-tokens')))
    throw new UsageError('tokens have rows in tensors of other files of this set: merge the files first')
  const named = shards.findIndex(({ name }) => name === nameOf(positionals[0]!))
  const own = keys.filter((key) => key.startsWith('split.'))
  if (own.length > 0) {
    if (values['force'] !== true)
      throw new UsageError(
        `${own.join(', ')} of one file out of step with the others makes the model unreadable: --force`,
      )
    return Math.max(named, 0)
  }
  const renamed = [
    ...changes.flatMap((one) => (one.change === 'rename-tensor' ? [one.name] : [])),
    ...((values['rename-tensor'] ?? []) as string[]).map((word) => word.split('=')[0]!),
  ]
  const shard =
    keys.length > 0 ? 0 : (renamed.map((name) => file.tensor(name)?.shard).find((i) => i !== undefined) ?? 0)
  if (shard !== named)
    warn(
      `${shards[shard]!.name} is edited: it is the file of this set that holds ${keys.length > 0 ? 'the keys' : 'the tensor'}`,
    )
  return shard
}

/** The path of the file that is edited. */
export function pathOfShard(
  { positionals, values }: Context,
  file: GgufFile,
  shard: number | undefined,
): string {
  const words = [positionals[0]!, ...((values['shard'] ?? []) as string[])]
  const name = shard === undefined ? undefined : file.shards[shard]?.name
  if (name === undefined) return pathOf(words[0]!)
  return pathOf(words.find((word) => nameOf(word) === name) ?? join(dirname(pathOf(words[0]!)), name))
}

/** Warns if readers will not find the other files, which they search by name in the same folder. */
export async function warnOfName(
  { warn }: Context,
  file: GgufFile,
  shard: number,
  output: string,
): Promise<void> {
  const own = file.shards[shard]?.name ?? ''
  if (basename(output) !== own) {
    warn(
      `${output} is one file of a set, under another name: readers look for ${own} in the folder of the other files`,
    )
    return
  }
  const others = file.shards
    .filter((_, i) => i !== shard)
    .map(({ name }) => join(dirname(output), name ?? ''))
  const there = await Promise.all(others.map((path) => stat(path).catch(() => undefined)))
  const lacking = others.filter((_, i) => !there[i])
  if (lacking.length > 0)
    warn(
      `${output} needs the other files of the set in its folder: ${lacking.map((path) => basename(path)).join(', ')}`,
    )
}
