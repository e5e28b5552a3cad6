// Split models: which files belong together, and checks of the whole set.
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import type { Finding } from '../api/findings.js'
import type { OpenOptions } from '../api/file.js'
import type { ByteSource } from '../api/source.js'
import type { Header } from '../header/header.js'
import type { InspectModule } from '../inspect.js'
import { eachInParallel } from '../sources/parallel.js'
import { kMaxFindings, printable, type Part, type ShardPart } from './opened.js'

// Number of shards that are opened at the same time.
const kParallelShards = 6
const kMissing = new Set(['no-such-file', 'missing-shard'])

/** The place of a file in a split model, from its name: name-00001-of-00003.gguf. */
interface ShardName {
  /** from 0 */
  readonly index: number
  /** the names of all shards, in order */
  readonly names: readonly string[]
}

/** undefined if the name is not that of a shard. */
function parseShardName(module: InspectModule, name: string | undefined): ShardName | undefined {
  const names = module
    .shardNames(name ?? '')
    .split('\0')
    .slice(0, -1)
  const index = names.indexOf(name ?? '')
  return index < 0 ? undefined : { index, names }
}

/** A numeric key of a header; undefined if it is absent. */
function numberIn(header: Header, key: string): number | undefined {
  const index = header.keys().indexOf(key)
  const entry = index < 0 ? undefined : header.keyEntries()[index]!
  if (!entry || entry.type === 'array' || entry.type === 'string') return undefined
  return Number(header.scalar(entry))
}

const nameOf = (part: Part, shard: number): string => part.source.name ?? `shard ${shard + 1}`

/**
 * Checks the keys of a shard about its place in the set. Loaders read split.count and split.tensors.count only from
 * the first shard.
 */
function findingsOfShard(part: Part, shard: number, count: number, declared: number | undefined): Finding[] {
  const name = nameOf(part, shard)
  const said = (key: string): number | string => numberIn(part.header, key) ?? 'not there'
  const level = shard === 0 ? 'error' : 'spec'
  const findings: Finding[] = []
  const compare = (
    level: Finding['level'],
    code: string,
    key: string,
    wanted: number,
    what: string,
  ): void => {
    if (said(key) !== wanted)
      findings.push({
        level,
        code,
        message: `${name} ${what}, but its ${key} is ${said(key)}, not ${wanted}`,
        shard,
      })
  }
  compare('error', 'split-number', 'split.no', shard, `is shard ${shard + 1}`)
  compare(level, 'split-count', 'split.count', count, `is of ${counted(count, 'shard')}`)
  if (declared !== undefined)
    compare(
      level,
      'split-tensors',
      'split.tensors.count',
      declared,
      `is of a set of ${counted(declared, 'tensor')}`,
    )
  return findings
}

/** Checks of the whole set. A set without such findings can be merged. */
export function findingsOfSet(shards: readonly ShardPart[]): Finding[] {
  const first = shards.find(({ part }) => part)?.part
  const declared = first && numberIn(first.header, 'split.tensors.count')
  const findings = shards.flatMap(({ part }, shard) =>
    part ? findingsOfShard(part, shard, shards.length, declared) : [],
  )
  const seen = new Map<string, number>()
  let tensors = 0
  for (const [shard, { part }] of shards.entries()) {
    for (const { name, offset } of part?.header.tensors(shard) ?? []) {
      tensors++
      const before = seen.get(name)
      // Within one shard, that file's lint reports it.
      if (before !== undefined && before !== shard) {
        const message = `tensor ${printable(name)} is in shard ${before + 1} already`
        findings.push({ level: 'error', code: 'duplicate-tensor', message, offset, shard })
      }
      seen.set(name, before ?? shard)
    }
  }
  if (shards.every(({ part }) => part) && declared !== undefined && declared !== tensors) {
    const message = `split.tensors.count is ${declared}, but the shards have ${counted(tensors, 'tensor')}`
    findings.push({ level: 'error', code: 'split-tensors', message, shard: 0 })
  }
  return findings.slice(0, kMaxFindings)
}

/** The number of files of this file's model. */
const countOf = ({ header }: Part): number => numberIn(header, 'split.count') ?? 0

/** What is needed to open the other files of a set. */
interface Others {
  /** all files that were given, including the first */
  readonly given: readonly ByteSource[]
  read(source: ByteSource, shard: number): Promise<Part>
  readonly options: OpenOptions
  /** called before the others are opened */
  onCount(count: number): void
}

function refuseMissing(missing: readonly string[], count: number, { allowMissingShards }: OpenOptions): void {
  if (missing.length === 0 || allowMissingShards) return
  throw new GgufError(
    'missing-shard',
    `${missing.length} of the ${counted(count, 'file')} of this model ${missing.length === 1 ? 'is' : 'are'} missing: ${missing.toSorted().join(', ')}. What is there can be opened with allowMissingShards.`,
  )
}

function closeAll(parts: readonly (Part | undefined)[], but: Part): void {
  for (const part of parts) {
    if (part === but) continue
    part?.header.close()
    part?.source.close?.()
  }
}

/** Orders files with other names by split.no. */
async function openByNumber(first: Part, { given, read, options, onCount }: Others): Promise<ShardPart[]> {
  const count = countOf(first)
  const parts: Part[] = [first]
  onCount(given.length)
  try {
    await eachInParallel([...given.keys()].slice(1), kParallelShards, async (i) => {
      parts[i] = await read(given[i]!, i)
    })
    const placed = new Array<Part | undefined>(Math.max(count, 1))
    for (const [i, part] of parts.entries()) {
      const number = numberIn(part.header, 'split.no')
      const name = nameOf(part, i)
      if (count <= 1 || countOf(part) !== count || number === undefined || !(number >= 0 && number < count)) {
        const says =
          number === undefined
            ? 'says nothing of a split'
            : `says that it is ${number + 1} of ${countOf(part)}`
        throw new GgufError(
          'invalid-argument',
          `Several files were given that are not the shards of one model: ${name} ${says}.`,
        )
      }
      const other = placed[number]
      if (other)
        throw new GgufError(
          'invalid-argument',
          `${nameOf(other, number)} and ${name} both say that they are shard ${number + 1} of ${count} (split.no).`,
        )
      placed[number] = part
    }
    const missing = [...placed.keys()].filter((i) => !placed[i]).map((i) => `shard ${i + 1}`)
    refuseMissing(missing, count, options)
    return Array.from(placed, (part, i) => ({ name: part?.source.name ?? `shard ${i + 1}`, part }))
  } catch (error) {
    closeAll(parts, first)
    throw error
  }
}

/** The error for a shard whose name does not determine the names of the others. */
async function loneShard({ header, source }: Part, count: number): Promise<GgufError> {
  const { dataEnd, isGguf } = await import('./behind-data.js')
  const end = dataEnd(header)
  if (await isGguf(source, end))
    return new GgufError(
      'missing-shard',
      `This is a concatenation of the files of a split model: another GGUF file begins after the data, at byte ${end}. No program reads such a file. Split it where the files begin, and merge them.`,
      { offset: end },
    )
  return new GgufError(
    'missing-shard',
    `This is one of ${counted(count, 'file')} of a split model, and its name does not tell those of the others. Give all of them to open(), or allowMissingShards.`,
  )
}

/** Opens the other files of a split model. first: the file that was given. */
export async function openShards(first: Part, others: Others): Promise<ShardPart[]> {
  const { given, read, options, onCount } = others
  const count = countOf(first)
  const shardName = parseShardName(first.header.module, first.source.name)
  const alone: ShardPart[] = [{ name: first.source.name, part: first }]
  if (count <= 1 && given.length === 1) return alone
  const isNamed = shardName && given.every(({ name }) => shardName.names.includes(name ?? ''))
  if (given.length > 1 && !isNamed) return await openByNumber(first, others)
  if (!shardName) {
    if (options.allowMissingShards) return alone
    throw await loneShard(first, count)
  }
  const { names, index } = shardName
  const parts = new Array<Part | undefined>(names.length)
  parts[index] = first
  onCount(names.length)
  const missing: string[] = []
  try {
    await eachInParallel([...names.entries()], kParallelShards, async ([shard, name]) => {
      if (shard === index) return
      const source = given.find((one) => one.name === name) ?? first.source.sibling?.(name)
      try {
        if (source) parts[shard] = await read(source, shard)
        else missing.push(name)
      } catch (error) {
        source?.close?.()
        if (!(error instanceof GgufError && kMissing.has(error.code))) throw error
        missing.push(name)
      }
    })
    refuseMissing(missing, names.length, options)
  } catch (error) {
    closeAll(parts, first)
    throw error
  }
  return names.map((name, i) => ({ name, part: parts[i] }))
}
