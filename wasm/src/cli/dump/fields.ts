// What a dump lists: the fields and tensors of one physical file, with the byte offsets of their entries.
import { GgufError } from '../../api/errors.js'
import type { MetadataValue, Scalar } from '../../api/metadata.js'
import type { TensorInfo } from '../../api/tensors.js'
import type { Part } from '../../file/opened.js'
import { HeaderMetadata } from '../../header/metadata.js'

/** A number with the type that tells how it is written. */
export interface TypedScalar {
  readonly type: string
  readonly value: Scalar
}

export interface Field {
  /** a repeated key has the offset of its entry after its name */
  readonly name: string
  /** names of gguf-py: the type, and for an array the types of its elements, from outside to inside */
  readonly types: readonly string[]
  /** where the entry begins in the file */
  readonly offset: number
  /** 1, or the number of scalars of an array and of the arrays in it */
  readonly count: number
  /** the value; of an array its scalars, at most `limit` of them */
  scalars(limit?: number): TypedScalar[]
}

export interface TensorEntry {
  readonly name: string
  readonly tensor: TensorInfo
  /** where the entry begins in the file */
  readonly offset: number
}

export interface Dump {
  readonly endian: 'LITTLE' | 'BIG'
  readonly alignment: number
  readonly dataOffset: number
  readonly fields: readonly Field[]
  readonly tensors: readonly TensorEntry[]
}

const kTypeNames: Readonly<Record<string, string>> = {
  u8: 'UINT8',
  i8: 'INT8',
  u16: 'UINT16',
  i16: 'INT16',
  u32: 'UINT32',
  i32: 'INT32',
  f32: 'FLOAT32',
  bool: 'BOOL',
  string: 'STRING',
  array: 'ARRAY',
  u64: 'UINT64',
  i64: 'INT64',
  f64: 'FLOAT64',
}

/** The types of a value, as gguf-py collects them: it looks into the first element of an array. */
function typesOf(type: string, value: MetadataValue): string[] {
  const types = [kTypeNames[type]!]
  for (let inner = value; typeof inner === 'object' && inner.length > 0;) {
    types.push(kTypeNames[inner.type]!)
    inner = inner.type === 'array' ? inner.at(0)! : ''
  }
  return types
}

function countOf(value: MetadataValue): number {
  let count = 0
  const rest = [value]
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    if (typeof one !== 'object') count++
    else if (one.type !== 'array') count += one.length
    else for (const element of one) rest.push(element)
  }
  return count
}

function scalarsOf(type: string, value: MetadataValue, limit: number): TypedScalar[] {
  const found: TypedScalar[] = []
  const rest: [string, MetadataValue][] = [[type, value]]
  for (let one = rest.pop(); one !== undefined && found.length < limit; one = rest.pop()) {
    const [kind, inner] = one
    if (typeof inner !== 'object') found.push({ type: kind, value: inner })
    else if (inner.type !== 'array')
      for (const element of inner.slice(0, limit - found.length))
        found.push({ type: inner.type, value: element as Scalar })
    else for (const element of inner.slice(0).reverse()) rest.push(['array', element])
  }
  return found
}

function fieldOf(name: string, offset: number, type: string, value: MetadataValue): Field {
  return {
    name,
    offset,
    types: typesOf(type, value),
    count: countOf(value),
    scalars: (limit = Infinity) => scalarsOf(type, value, limit),
  }
}

/** Names that occurred before get the offset of their entry. */
function distinct(): (name: string, offset: number) => string {
  const seen = new Set<string>()
  return (name, offset) => {
    const own = seen.has(name) ? `${name}_${offset}` : name
    seen.add(own)
    return own
  }
}

/** The offset of each tensor's entry. They follow the keys. Version 1 stores lengths in 32 bits. */
function entryOffsets({ header }: Part, start: number, count: number): number[] {
  const bytes = header.allBytes()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { version, bigEndian } = header.facts()
  const wide = version === 1 ? 4 : 8
  const length = (at: number): number =>
    wide === 4 ? view.getUint32(at, !bigEndian) : Number(view.getBigUint64(at, !bigEndian))
  const offsets: number[] = []
  for (let at = start; offsets.length < count;) {
    offsets.push(at)
    at += wide + length(at)
    at += 4 + wide * view.getUint32(at, !bigEndian) + 4 + 8
  }
  return offsets
}

/** Collects the fields of a part. gguf-py lists the head of the file as the first three. */
export function dumpOf(part: Part, tensors: readonly TensorInfo[]): Dump {
  const { header } = part
  if (header.container !== 'gguf')
    throw new GgufError(
      'unsupported',
      `This is a ${header.container} container from before GGUF, which has no such entries: convert it to GGUF first.`,
    )
  const { version, bigEndian, keyCount, tensorCount, alignment, dataOffset } = header.facts()
  const wide = version === 1 ? 4 : 8
  const metadata = new HeaderMetadata(header)
  const repeated = new Map(metadata.repeated.map((one) => [one.offset, one]))
  const named = distinct()
  const head: [string, number, string, number][] = [
    ['GGUF.version', 4, 'u32', version],
    ['GGUF.tensor_count', 8, wide === 8 ? 'u64' : 'u32', tensorCount],
    ['GGUF.kv_count', 8 + wide, wide === 8 ? 'u64' : 'u32', keyCount],
  ]
  const fields = head.map(([name, offset, type, value]) => fieldOf(named(name, offset), offset, type, value))
  const keys = header.keys()
  let at = 8 + 2 * wide
  for (const [i, { type, offset, length }] of header.keyEntries().entries()) {
    const value = repeated.get(offset)?.value ?? metadata.get(keys[i]!)!
    fields.push(fieldOf(named(keys[i]!, at), at, type, value))
    at = offset + length
  }
  const entry = distinct()
  const offsets = entryOffsets(part, at, tensors.length)
  return {
    endian: bigEndian ? 'BIG' : 'LITTLE',
    alignment,
    dataOffset,
    fields,
    tensors: tensors.map((tensor, i) => ({
      name: entry(tensor.name, offsets[i]!),
      tensor,
      offset: offsets[i]!,
    })),
  }
}
