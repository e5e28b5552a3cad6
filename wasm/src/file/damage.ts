// Whether what was opened is whole: what every command that reads says, and what those that write refuse.
import { counted } from '../api/counted.js'
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { Finding } from '../api/findings.js'
import type { TensorInfo } from '../api/tensors.js'
import { printable, type OpenedFile, type Part } from './opened.js'
import { findingsOfSet } from './shards.js'

const kErrorCodes: Readonly<Record<string, GgufErrorCode>> = {
  'data-truncated': 'truncated',
  'missing-shard': 'missing-shard',
  'duplicate-tensor': 'duplicate',
}

/** Tensors of a file whose data does not end within it. */
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
    const end = cut.reduce((most, { offset, byteLength }) => Math.max(most, offset + byteLength), 0)
    const { name } = cut.reduce((least, one) => (one.offset < least.offset ? one : least))
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
 * What is missing of a file or set, and what contradicts itself: shards, tensor data that was cut off, numbers of shards,
 * names that are there twice. By headers and sizes: nothing is read. shard: of that file alone.
 */
export function damageOf(file: OpenedFile, shard?: number): Finding[] {
  const { shardParts } = file
  const isAlone = shardParts.length === 1
  const each = shardParts.flatMap(({ name, part }, i): Finding[] => {
    if (shard !== undefined && i !== shard) return []
    if (part) return damageOfPart(part, i, isAlone)
    const message = `the file ${name} of this split model is not there`
    return [{ level: 'error', code: 'missing-shard', message, offset: 0, shard: i }]
  })
  return isAlone || shard !== undefined ? each : [...each, ...findingsOfSet(shardParts)]
}

const kWriteAnyway = 'To write it all the same: allowDamaged, --force on the command line.'

function refuse([first, ...more]: readonly Finding[], advice: string): void {
  if (!first) return
  const others = more.length > 0 ? ` (and ${more.length} more: lint lists them)` : ''
  const code = kErrorCodes[first.code] ?? 'unsupported'
  const message = `The input is damaged: ${first.message}${others}. ${advice}`
  throw new GgufError(code, message, { offset: first.offset })
}

/**
 * Throws where a file or set is not whole: what is made of it would be broken, and nothing in it would say so. shard: of
 * that file alone.
 */
export function mustBeWhole(file: OpenedFile, shard?: number): void {
  refuse(damageOf(file, shard), kWriteAnyway)
}

/** Throws where llama.cpp refuses a file or set, too: what only later shards say of the set is passed over. */
export function mustBeLoadable(file: OpenedFile): void {
  refuse(
    damageOf(file).filter(({ level }) => level === 'error'),
    'It cannot be run: get the whole model.',
  )
}

/** Throws where the data of a tensor is not all there: how many rows are. */
export function mustHaveRows(file: OpenedFile, tensor: TensorInfo, rows?: readonly [number, number]): void {
  const size = file.shardParts[tensor.shard]?.part?.source.size
  const { offset, byteLength } = file.rowRange(tensor, { rows })
  if (size === undefined || offset + byteLength <= size) return
  const all = tensor.shape[0] ? tensor.elementCount / tensor.shape[0] : 0
  const there = Math.max(0, Math.floor((size - tensor.offset) / (tensor.byteLength / Math.max(all, 1))))
  throw new GgufError(
    'out-of-range',
    `The file was cut at byte ${size}: of the ${counted(all, 'row')} of tensor ${printable(tensor.name)} the first ${there} are there.`,
    { offset: size },
  )
}
