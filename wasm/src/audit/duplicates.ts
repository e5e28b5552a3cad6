// Finds tensors with the same data, within a file and across files.
import { counted } from '../api/counted.js'
import type { AuditFinding, DuplicateTensors, FileHashes } from './types.js'
import { printable, type OpenedFile } from '../file/opened.js'

const kMaxNames = 6

/** Groups tensors by type, size and hash. Empty tensors and files without hashes do not count. */
export function findDuplicates(
  files: readonly OpenedFile[],
  hashes: readonly (FileHashes | undefined)[],
): DuplicateTensors[] {
  const groups = new Map<string, { bytes: number; type: string; tensors: { file: number; name: string }[] }>()
  for (const [file, opened] of files.entries()) {
    const own = hashes[file]?.tensors
    if (!own) continue
    const ordered = opened.parts.flatMap((_, shard) => opened.tensors.filter((one) => one.shard === shard))
    for (const [i, { name, type, byteLength: bytes }] of ordered.entries()) {
      if (bytes === 0) continue
      const [hash] = Object.values(own[i]!.hashes)
      const key = `${type} ${bytes} ${hash}`
      if (!groups.has(key)) groups.set(key, { bytes, type, tensors: [] })
      groups.get(key)!.tensors.push({ file, name })
    }
  }
  return [...groups.values()]
    .filter(({ tensors }) => tensors.length > 1)
    .sort((a, b) => b.bytes * b.tensors.length - a.bytes * a.tensors.length)
}

/** One note for each group of large tensors that a file stores more than once. */
export function duplicateFindings(
  file: number,
  opened: OpenedFile,
  groups: readonly DuplicateTensors[],
): AuditFinding[] {
  return groups.flatMap(({ bytes, tensors }): AuditFinding[] => {
    const names = tensors.filter((one) => one.file === file).map(({ name }) => name)
    if (names.length < 2) return []
    const shown = names.slice(0, kMaxNames).map(printable).join(', ')
    const more = names.length > kMaxNames ? ` and ${names.length - kMaxNames} more` : ''
    const { offset, shard } = opened.tensor(names[1]!)!
    const message = `the same data is stored ${names.length} times, ${counted(bytes, 'byte')} each: ${shown}${more}`
    return [{ subject: 'duplicates', level: 'note', code: 'duplicate-tensor-data', message, offset, shard }]
  })
}
