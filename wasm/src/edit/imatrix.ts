// Importance matrices of llama.cpp's imatrix: mean squares of the inputs of each tensor's columns.
import { bytes as isBytes, checkArgument } from '../api/checks.js'
import { counted } from '../api/counted.js'
import { GgufError } from '../api/errors.js'
import { isOpened } from '../file/opened.js'
import type { GgufFile } from '../api/file.js'
import type { TensorInfo } from '../api/tensors.js'
import type { Importance } from './entries.js'
import type { ImportanceSource } from '../api/file.js'

/** Mean squares of activations reach about 1e12. Above this limit the quantizers' sums overflow float32. */
const kMaxImportance = 1e20

/** Entries by tensor name, with the data sets and the number of chunks from which they were computed. */
export class ImportanceEntries extends Map<string, Importance> {
  datasets: readonly string[] = []
  chunks: number | undefined
}

/** The result of parseImatrix: columns by tensor name, with the data sets and chunks from which they were computed. */
export class ImatrixColumns extends Map<string, Float32Array> {
  datasets: readonly string[] = []
  chunks: number | undefined
}

/** Why a number is not a valid importance; undefined if it is valid. */
function whyNot(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return 'infinite'
  if (value < 0) return `negative (${value})`
  return value > kMaxImportance ? `${value}, which no activations reach` : undefined
}

/** place: an element's absolute offset in the file, if there is a file. */
function check(name: string, values: Float32Array, place: (i: number) => number | undefined): Float32Array {
  const i = values.findIndex((value) => !(value >= 0 && value <= kMaxImportance))
  if (i < 0) return values
  throw new GgufError(
    'bad-values',
    `The importance matrix cannot be used: value ${i} for ${name} is ${whyNot(values[i]!)}.`,
    { offset: place(i) },
  )
}

/** Computes the mean squares of a GGUF file's entry: the sums of squares of each column, divided by the counts. */
async function columnsOf(
  file: GgufFile,
  name: string,
  [sums, counts]: readonly [TensorInfo, TensorInfo],
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const [values, n] = await Promise.all([
    file.dequantize(sums.name, { signal }),
    file.dequantize(counts.name, { signal }),
  ])
  check(`the counts of ${name}`, n, (i) => counts.offset + 4 * i)
  const rowLength = values.length / n.length
  // No token was routed to an expert with count 0: its columns get equal importance.
  const columns = values.map((value, i) => {
    const count = n[Math.floor(i / rowLength)]!
    return count > 0 ? value / count : Number.isFinite(value) ? 1 : value
  })
  return check(name, columns, (i) => sums.offset + 4 * i)
}

async function inFile(file: GgufFile, signal: AbortSignal | undefined): Promise<ImportanceEntries> {
  const entries = new ImportanceEntries()
  for (const sums of file.tensors) {
    const name = /^(.*)\.in_sum2$/.exec(sums.name)?.[1]
    if (name === undefined) continue
    const counts = file.tensor(`${name}.counts`)
    if (!counts || counts.elementCount === 0 || sums.elementCount % counts.elementCount !== 0) {
      throw new GgufError(
        'bad-shape',
        `The importance matrix cannot be used: ${sums.name} has ${sums.elementCount} sums, and ${counts?.elementCount ?? 'no'} counts belong to them.`,
        { offset: sums.offset },
      )
    }
    const load = (again: AbortSignal | undefined): Promise<Float32Array> =>
      columnsOf(file, name, [sums, counts], again)
    await load(signal)
    entries.set(name, { count: sums.elementCount, load })
  }
  if (entries.size === 0) {
    const type = file.metadata.get('general.type') ?? 'model'
    throw new GgufError(
      'invalid-argument',
      `This is no importance matrix: the GGUF file (${type as string}) has no tensor whose name ends in .in_sum2.`,
    )
  }
  const datasets = file.metadata.get('imatrix.datasets')
  if (typeof datasets === 'object' && datasets !== null)
    entries.datasets = [...(datasets as Iterable<unknown>)].map(String)
  const chunks = file.metadata.get('imatrix.chunk_count')
  if (typeof chunks === 'number') entries.chunks = chunks
  return entries
}

/** Returns all entries. Every value is checked when it is read. */
export async function readImportance(
  source: ImportanceSource,
  signal: AbortSignal | undefined,
): Promise<ImportanceEntries> {
  if (isOpened(source)) return await inFile(source, signal)
  if (!(source instanceof Map))
    throw new GgufError('invalid-argument', 'importance is an open file of this package or a Map of columns.')
  const entries = new ImportanceEntries()
  for (const [name, columns] of source as ReadonlyMap<string, Float32Array>) {
    check(name, columns, () => undefined)
    entries.set(name, { count: columns.length, load: async () => columns })
  }
  if (entries.size === 0) throw new GgufError('invalid-argument', 'The importance matrix has no entries.')
  if (source instanceof ImatrixColumns) {
    entries.datasets = source.datasets
    entries.chunks = source.chunks
  }
  return entries
}

/**
 * Parses an imatrix.dat, which llama.cpp wrote until 2025, to columns by tensor name. Layout: the count of entries; for
 * each entry the length and bytes of the name, the calls, the count of values, and the values multiplied by the calls;
 * then, in newer files, the chunks and the length and bytes of the data set's name. All numbers have 32 bits,
 * little-endian.
 */
export function parseImatrix(bytes: Uint8Array): ImatrixColumns {
  checkArgument('parseImatrix()', 'content', bytes, isBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (length: number): number => {
    if (length < 0 || length > bytes.length - at)
      throw new GgufError('truncated', `The imatrix ends at byte ${bytes.length}, within an entry.`, {
        offset: at,
      })
    at += length
    return at - length
  }
  const i32 = (): number => view.getInt32(take(4), true)
  const text = (): string => {
    const length = i32()
    const start = take(length)
    return new TextDecoder().decode(bytes.subarray(start, start + length))
  }
  const entries = new ImatrixColumns()
  const count = i32()
  // An entry takes at least 13 bytes.
  if (count < 1 || count > bytes.length / 13)
    throw new GgufError(
      'bad-count',
      `This is no imatrix: it would have ${counted(count, 'entry', 'entries')}.`,
      { offset: 0 },
    )
  for (let i = 0; i < count; i++) {
    const name = text()
    const calls = i32()
    const values = i32()
    const from = take(4 * values)
    const columns = Float32Array.from({ length: values }, (_, k) => view.getFloat32(from + 4 * k, true))
    entries.set(name, calls > 0 ? columns.map((value) => value / calls) : columns)
  }
  if (at < bytes.length) {
    entries.chunks = i32()
    if (at < bytes.length) entries.datasets = [text()]
  }
  return entries
}
