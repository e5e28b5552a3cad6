// Adds and removes rows of the tensors that have one row per token. Rows are copied while the file is written.
import type { AssetOptions } from '../api/assets.js'
import { counted } from '../api/counted.js'
import type { NewRows } from '../api/edit.js'
import { GgufError } from '../api/errors.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { tensorTypes } from '../header/header.js'
import { Heap } from '../runtime/heap.js'
import { inspectModule, quantModule } from '../runtime/module.js'
import { BytesSource } from '../sources/bytes.js'
import { floatChunks } from '../tensors/values.js'
import type { TensorEntry } from './entries.js'
import { ifCut, isFile, rangeOf, sourceType } from './layout.js'
import { converted } from './transform.js'

const kEmbeddings = 'token_embd.weight'
const kPerToken =
  /^(token_embd\.weight|output\.(weight|bias)|per_layer_token_embd\.weight|blk\.\d+\.(nextn\.(embed_tokens|shared_head_head)|ffn_gate_tid2eid)\.weight)$/

interface RowChange {
  /** number of tokens before the change */
  readonly count: number
  readonly removed: ReadonlySet<number>
  /** number of tokens to add */
  readonly added: number
  readonly rows: NewRows
  readonly hosting: AssetOptions | undefined
}

/** The dimension that counts rows. */
const rowAxis = ({ name }: TensorEntry): number => (name.endsWith('.bias') ? 0 : 1)

/** Number of rows of the token embeddings, which can be more than there are tokens. */
export function rowsOf(tensors: readonly TensorEntry[]): number | undefined {
  return tensors.find(({ name }) => name === kEmbeddings)?.shape[1]
}

/** The bytes of a tensor, little-endian and in ggml's current layout. */
function bytesOf({ name, from }: TensorEntry): { source: ByteSource; offset: number; byteLength: number } {
  if (!isFile(from)) return { source: from.source, offset: 0, byteLength: from.source.size ?? 0 }
  const { part, info } = from
  const { header } = part
  const isSmall = (header.type(info.typeId)?.smallBlockBytes ?? 0) > 0 && header.facts().smallBlocks
  if (header.bigEndian || isSmall)
    throw new GgufError(
      'unsupported',
      `Tensor ${name} has an old layout or byte order: convert the file first.`,
    )
  const source = ifCut(part.source, info.offset + info.byteLength)
  return { source, offset: info.offset, byteLength: info.byteLength }
}

/** The mean of the first rows, as one row in the tensor's own type. */
async function meanRow(
  entry: TensorEntry,
  count: number,
  hosting: AssetOptions | undefined,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const [inspect, quant] = await Promise.all([inspectModule(hosting), quantModule(hosting)])
  const types = tensorTypes(inspect)
  const range = rangeOf(entry, types)
  const { type } = range
  const converts = quant.canDequantize(type.id) && quant.canQuantize(type.id)
  if (!converts || /^I\d/.test(type.name) || quant.needsImportance(type.id))
    throw new GgufError(
      'unsupported',
      `Tensor ${entry.name}: no mean of rows of ${type.name} can be computed. Add the tokens with rows of zeros.`,
    )
  const axis = rowAxis(entry)
  const columns = axis === 0 ? 1 : entry.shape[0]!
  const sums = new Float64Array(columns)
  const heap = new Heap(quant)
  try {
    let at = 0
    const part = { ...range, byteLength: (range.byteLength / entry.shape[axis]!) * count }
    for await (const chunk of floatChunks(quant, part, heap, signal))
      for (const value of heap.floats(chunk.floats, chunk.count)) {
        sums[at] = sums[at]! + value
        at = at + 1 === columns ? 0 : at + 1
      }
  } finally {
    heap.free()
  }
  const mean = Float32Array.from(sums, (sum) => sum / count)
  const floats = {
    type: [...types.values()].find(({ name }) => name === 'F32')!,
    source: new BytesSource(new Uint8Array(mean.buffer)),
    offset: 0,
    byteLength: mean.byteLength,
    small: false,
    bigEndian: false,
  }
  const row = { name: entry.name, shape: [columns], type, bigEndian: false, importance: undefined }
  const chunks: Uint8Array[] = []
  for await (const chunk of converted(quant, floats, row, signal)) chunks.push(chunk)
  const [first] = chunks
  return chunks.length === 1
    ? first!
    : new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer())
}

/** Bytes of the new tensor: a copy of a range of the old one, or one row repeated. */
interface Segment {
  readonly at: number
  readonly length: number
  read(from: number, length: number, options: ReadOptions): Promise<Uint8Array>
}

function repeated(row: (signal: AbortSignal | undefined) => Promise<Uint8Array>): Segment['read'] {
  let made: Uint8Array | undefined
  return async (from, length, options) => {
    made ??= await row(options.signal)
    const bytes = new Uint8Array(length)
    for (let i = 0; i < length; i++) bytes[i] = made[(from + i) % made.length]!
    return bytes
  }
}

function sourceOf(segments: readonly Segment[]): ByteSource {
  const last = segments.at(-1)
  return {
    size: last ? last.at + last.length : 0,
    async read(offset, length, options = {}) {
      const bytes = new Uint8Array(length)
      for (const { at, length: size, read } of segments) {
        const from = Math.max(offset, at)
        const to = Math.min(offset + length, at + size)
        if (from < to) bytes.set(await read(from - at, to - from, options), from - offset)
      }
      return bytes
    },
  }
}

/** The tensor with the rows of the changed vocabulary. A tensor without rows for tokens stays as it is. */
export function withRows(entry: TensorEntry, change: RowChange): TensorEntry {
  const { count, removed, added, hosting } = change
  if (!kPerToken.test(entry.name)) return entry
  const axis = rowAxis(entry)
  const rows = entry.shape[axis] ?? 0
  if (rows < count)
    throw new GgufError(
      'bad-shape',
      `Tensor ${entry.name} has ${counted(rows, 'row')} for ${counted(count, 'token')}.`,
    )
  const grown = Math.max(0, added - (rows - count))
  if (grown === 0 && removed.size === 0) return entry
  const { source, offset, byteLength } = bytesOf(entry)
  const rowBytes = byteLength / rows
  const type = sourceType(entry)
  if (!Number.isInteger(rowBytes) || rowBytes === 0 || (grown > 0 && /^I\d/.test(type)))
    throw new GgufError('unsupported', `Tensor ${entry.name} of type ${type} cannot get other rows.`)

  const segments: Segment[] = []
  let at = 0
  const add = (length: number, read: Segment['read']): void => {
    if (length > 0) segments.push({ at, length, read })
    at += length
  }
  let start = 0
  for (const end of [...[...removed].sort((a, b) => a - b), rows]) {
    const from = offset + start * rowBytes
    add((end - start) * rowBytes, (skip, length, options) => source.read(from + skip, length, options))
    start = end + 1
  }
  const row =
    change.rows === 'mean' && count > 0
      ? (signal: AbortSignal | undefined) => meanRow(entry, count, hosting, signal)
      : () => Promise.resolve(new Uint8Array(rowBytes))
  add(grown * rowBytes, repeated(row))
  const shape = entry.shape.map((n, i) => (i === axis ? n - removed.size + grown : n))
  return { ...entry, shape, from: { source: sourceOf(segments), type } }
}
