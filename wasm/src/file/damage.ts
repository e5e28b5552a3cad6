// Whether what was opened is whole: what every command that reads says, and what those that write refuse.
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import type { ByteSource, Finding, ReadOptions, TensorInfo } from '../api/types.js'
import type { Header } from '../header/header.js'
import { printable, type OpenFile, type Part } from './file.js'
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
      `${of} is cut: ${size} of ${end} bytes are there, and the data of ${cut.length} of ${all} tensors is not whole, from ${printable(name)} on`,
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
export function damageOf(file: OpenFile, shard?: number): Finding[] {
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
export function mustBeWhole(file: OpenFile, shard?: number): void {
  refuse(damageOf(file, shard), kWriteAnyway)
}

/** Throws where llama.cpp refuses a file or set, too: what only later shards say of the set is passed over. */
export function mustBeLoadable(file: OpenFile): void {
  refuse(
    damageOf(file).filter(({ level }) => level === 'error'),
    'It cannot be run: get the whole model.',
  )
}

/** Throws where the data of a tensor is not all there: how many rows are. */
export function mustHaveRows(file: OpenFile, tensor: TensorInfo, rows?: readonly [number, number]): void {
  const size = file.shardParts[tensor.shard]?.part?.source.size
  const { offset, byteLength } = file.rowRange(tensor, { rows })
  if (size === undefined || offset + byteLength <= size) return
  const all = tensor.shape[0] ? tensor.elementCount / tensor.shape[0] : 0
  const there = Math.max(0, Math.floor((size - tensor.offset) / (tensor.byteLength / Math.max(all, 1))))
  throw new GgufError(
    'out-of-range',
    `The file was cut at byte ${size}: of the ${all} rows of tensor ${printable(tensor.name)} the first ${there} are there.`,
    { offset: size },
  )
}

/** Where the padded data of a file ends. */
export function dataEnd(header: Header): number {
  const { dataOffset, alignment } = header.facts()
  const reach = header
    .tensors(0)
    .reduce((most, { offset, byteLength }) => Math.max(most, offset + byteLength - dataOffset), 0)
  return dataOffset + Math.ceil(reach / alignment) * alignment
}

const kMagic = [0x47, 0x47, 0x55, 0x46]

/** What begins with these bytes, at a place in a file. */
const kKinds: readonly (readonly [at: number, bytes: readonly number[], what: string])[] = [
  [0, kMagic, 'another GGUF file begins there: files were concatenated, and readers see the first only'],
  [0, [0x50, 0x4b, 3, 4], 'a ZIP archive begins there'],
  [0, [0x50, 0x4b, 5, 6], 'an empty ZIP archive begins there'],
  [257, [0x75, 0x73, 0x74, 0x61, 0x72], 'a tar archive begins there'],
  [0, [0x1f, 0x8b], 'a gzip stream begins there'],
  [0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], 'a 7z archive begins there'],
  [0, [0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz stream begins there'],
  [0, [0x28, 0xb5, 0x2f, 0xfd], 'a zstd stream begins there'],
]

async function head(source: ByteSource, at: number, options: ReadOptions): Promise<Uint8Array> {
  const { size } = source
  if (size === undefined || at >= size) return new Uint8Array()
  return await source.read(at, Math.min(512, size - at), options).catch((error: unknown) => {
    // A stream, or a server without ranges: then nobody knows.
    if (error instanceof GgufError && error.code === 'no-ranges') return new Uint8Array()
    throw error
  })
}

const startsWith = (bytes: Uint8Array, at: number, wanted: readonly number[]): boolean =>
  wanted.every((byte, i) => bytes[at + i] === byte)

/** Whether a GGUF file begins at that place. */
export async function isGguf(source: ByteSource, at: number): Promise<boolean> {
  return startsWith(await head(source, at, {}), 0, kMagic)
}

/** What lies behind the data of each file, by its first bytes: archives that were appended, files that were concatenated. */
export async function findBehindData(file: OpenFile, options: ReadOptions = {}): Promise<Finding[]> {
  const found = file.shardParts.map(async ({ part }, shard): Promise<Finding[]> => {
    if (!part || part.header.container !== 'gguf') return []
    const { header, source } = part
    const at = dataEnd(header)
    const bytes = await head(source, at, options)
    // Of a type without a known layout nobody knows where it ends.
    if (
      bytes.length === 0 ||
      header.tensors(shard).some((one) => one.byteLength === 0 && one.elementCount > 0)
    )
      return []
    const kind = kKinds.find(([from, wanted]) => startsWith(bytes, from, wanted))
    const what = kind?.[2] ?? (bytes.every((byte) => byte === 0) ? 'zeros' : 'of no known kind')
    const message = `${source.size! - at} bytes follow the tensor data at byte ${at}: ${what}`
    return [{ level: 'note', code: 'trailing-data', message, offset: at, shard }]
  })
  return (await Promise.all(found)).flat()
}
