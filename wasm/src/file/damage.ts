// Whether an opened file or set is complete. Commands that read report damage; commands that write refuse it.
import { counted } from '../api/counted.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { Finding } from '../api/findings.js'
import type { TensorInfo } from '../api/tensors.js'
import { printable, type OpenedFile, type Part } from './opened.js'
import { findingsOfSet } from './shards.js'
import { findingsOfWhole } from './whole-model.js'

const kErrorCodes: Readonly<Record<string, GgufErrorCode>> = {
  'data-truncated': 'truncated',
  'missing-shard': 'missing-shard',
  'duplicate-tensor': 'duplicate',
  'tensor-missing': 'not-found',
}

/** Tensors of a file whose data ends after the file's end. */
function cutTensors({ header, source }: Part, shard: number): TensorInfo[] {
  const { size } = source
  return size === undefined
    ? []
    : header.tensors(shard).filter(({ offset, byteLength }) => offset + byteLength > size)
}

function damageOfPart(part: Part, shard: number, isAlone: boolean): Finding[] {
  const of = isAlone ? 'the file' : `${part.source.name ?? `shard ${shard + 1}`}`
  const findings: Finding[] = []
  const add = (code: string, message: string, offset: number): void =>
    void findings.push({ level: 'error', code, message, offset, shard })
  const cut = cutTensors(part, shard)
  const { size } = part.source
  if (cut.length > 0 && size !== undefined) {
    const end = cut.reduce((max, { offset, byteLength }) => Math.max(max, offset + byteLength), 0)
    const { name } = cut.reduce((min, one) => (one.offset < min.offset ? one : min))
    const all = part.header.facts().tensorsSeen
    add(
      'data-truncated',
      `${of} is cut: ${size} of ${counted(end, 'byte')} are there, and the data of ${cut.length} of ${counted(all, 'tensor')} is not whole, from ${printable(name)} on`,
      size,
    )
  }
  const seen = new Set<string>()
  for (const { name, offset } of part.header.tensors(shard)) {
    if (seen.has(name))
      add('duplicate-tensor', `${of} has two tensors of the name ${printable(name)}`, offset)
    seen.add(name)
  }
  return findings
}

/**
 * Lists what is missing or contradictory in a file or set: shards, truncated tensor data, shard numbers, repeated
 * names. It uses only headers and sizes, and reads nothing. shard: check only that file.
 */
export function damageOf(file: OpenedFile, shard?: number): Finding[] {
  const { shardParts } = file
  const isAlone = shardParts.length === 1
  const each = shardParts.flatMap(({ name, part }, i): Finding[] => {
    if (shard !== undefined && i !== shard) return []
    if (part) return damageOfPart(part, i, isAlone)
    const message = `the file ${name} of this split model is not there`
    return [{ level: 'error', code: 'missing-shard', message, shard: i }]
  })
  return isAlone || shard !== undefined ? each : [...each, ...findingsOfSet(shardParts)]
}

const kWriteAnyway = 'The option allowDamaged, on the command line --force, writes it all the same.'

function refuse([first, ...more]: readonly Finding[], advice: string): void {
  if (!first) return
  const others = more.length > 0 ? ` (and ${more.length} more: lint lists them)` : ''
  const code = kErrorCodes[first.code] ?? 'unsupported'
  const message = `The input is damaged: ${first.message}${others}. ${advice}`
  throw new GgufError(code, message, first.offset === undefined ? {} : { offset: first.offset })
}

/**
 * Throws if a file or set is incomplete, because the damage would not be visible in output made from it. shard: check
 * only that file.
 */
export function mustBeWhole(file: OpenedFile, shard?: number): void {
  refuse(damageOf(file, shard), kWriteAnyway)
}

/**
 * Throws only if llama.cpp also refuses the file or set: it is damaged, or lacks a tensor that the architecture
 * requires. It ignores what later shards state about the set.
 */
export async function mustBeLoadable(file: OpenedFile): Promise<void> {
  const errors = damageOf(file).filter(({ level }) => level === 'error')
  // A file without weights has an error of its own.
  const found =
    errors.length > 0 || file.tensors.length === 0 ? errors : await findingsOfWhole(file, 'missing')
  refuse(found, 'It cannot be run: get the whole model.')
}

/** Throws if a tensor's data is incomplete. The message contains the number of complete rows. */
export function mustHaveRows(file: OpenedFile, tensor: TensorInfo, rows?: readonly [number, number]): void {
  const size = file.shardParts[tensor.shard]?.part?.source.size
  const { offset, byteLength } = file.rowRange(tensor, { rows })
  if (size === undefined || offset + byteLength <= size) return
  const all = tensor.shape[0] ? tensor.elementCount / tensor.shape[0] : 0
  const there = Math.max(0, Math.floor((size - tensor.offset) / (tensor.byteLength / Math.max(all, 1))))
  throw new GgufError(
    'truncated',
    `The file is truncated at byte ${size}: of the ${counted(all, 'row')} of tensor ${printable(tensor.name)} the first ${there} are there.`,
    { offset: size },
  )
}
