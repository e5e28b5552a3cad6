// Merges LoRA adapters into a model's weights: W + s B A, computed in floats while the file is written.
import type { AssetOptions } from '../api/assets.js'
import type { MergeReport } from '../api/edit.js'
import { GgufError } from '../api/errors.js'
import type { GgufFile, MergeAdapterOptions } from '../api/file.js'
import type { ReadOptions } from '../api/source.js'
import { mustBeWhole } from '../file/damage.js'
import { tensorTypes } from '../header/header.js'
import type { QuantModule } from '../quant.js'
import { Heap } from '../runtime/heap.js'
import { inspectModule, quantModule } from '../runtime/module.js'
import { floatChunks, mustBeFloats, type BlockRange } from '../tensors/values.js'
import { isActivated, mustFit, type AdapterPair } from './adapter-pairs.js'
import type { GivenTensor, TensorEntry } from './entries.js'
import { readImportance } from './imatrix.js'
import { rangeOf } from './layout.js'
import { openFile } from './open-file.js'
import { importanceFor } from './quantize.js'
import { nextTask } from '../runtime/next-task.js'

// The computation yields to the page after this many milliseconds.
const kYieldMs = 50

/** Returns rows of a tensor as floats. */
async function rowsOf(
  module: QuantModule,
  range: BlockRange,
  [first, end, columns]: readonly [first: number, end: number, columns: number],
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const rowBytes = (columns / range.type.blockSize) * range.type.blockBytes
  const part = { ...range, offset: range.offset + first * rowBytes, byteLength: (end - first) * rowBytes }
  const out = new Float32Array((end - first) * columns)
  const heap = new Heap(module)
  try {
    let at = 0
    for await (const { floats, count } of floatChunks(module, part, heap, signal)) {
      out.set(heap.floats(floats, count), at)
      at += count
    }
    return out
  } finally {
    heap.free()
  }
}

/** A pair as floats: `rank` vectors of a row's length for each matrix, and `rank` factors for each row. */
interface Halves {
  readonly vectors: Float32Array
  readonly factors: Float32Array
}

async function halvesOf(
  adapter: GgufFile,
  { a, b, rank, embeds }: AdapterPair,
  signal: AbortSignal | undefined,
): Promise<Halves> {
  const [low, high] = await Promise.all([
    adapter.dequantize(a.name, { signal }),
    adapter.dequantize(b.name, { signal }),
  ])
  if (!embeds) return { vectors: low, factors: high }
  const columns = high.length / rank
  const vectors = new Float32Array(high.length)
  for (let i = 0; i < columns; i++)
    for (let r = 0; r < rank; r++) vectors[r * columns + i] = high[i * rank + r]!
  return { vectors, factors: low }
}

/** A source of the merged weight as F32, little-endian. */
function mergedSource(
  module: QuantModule,
  base: BlockRange,
  pair: AdapterPair,
  { shape, scale, adapter }: { shape: readonly number[]; scale: number; adapter: GgufFile },
): GivenTensor['source'] {
  const { rank } = pair
  const columns = shape[0]!
  const outputs = shape[1] ?? 1
  const size = 4 * shape.reduce((product, n) => product * n, 1)
  const factor = Math.fround(scale * pair.factor)
  let halves: Halves | undefined // kept until the last row is read
  const read = async (
    offset: number,
    length: number,
    { signal }: ReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> => {
    halves ??= await halvesOf(adapter, pair, signal)
    const { vectors, factors } = halves
    const first = Math.floor(offset / (4 * columns))
    const end = Math.ceil((offset + length) / (4 * columns))
    const rows = await rowsOf(module, base, [first, end, columns], signal)
    let yielded = performance.now()
    for (let row = first; row < end; row++) {
      if (performance.now() - yielded > kYieldMs) {
        await nextTask()
        signal?.throwIfAborted()
        yielded = performance.now()
      }
      const out = rows.subarray((row - first) * columns, (row - first + 1) * columns)
      const matrix = Math.floor(row / outputs) * rank * columns
      for (let r = 0; r < rank; r++) {
        const times = factor * factors[row * rank + r]!
        const from = matrix + r * columns
        for (let i = 0; i < columns; i++) out[i] = out[i]! + times * vectors[from + i]!
      }
    }
    if (offset + length === size) halves = undefined
    return new Uint8Array(rows.buffer as ArrayBuffer, offset - 4 * first * columns, length)
  }
  return { size, read }
}

/** Returns the entries that the adapter changes, each with its replacement. */
export async function merge(
  adapter: GgufFile,
  entries: readonly TensorEntry[],
  architecture: string | undefined,
  { scale = 1, importance, signal }: MergeAdapterOptions,
  hosting: AssetOptions | undefined,
): Promise<{ report: MergeReport; changes: ReadonlyMap<TensorEntry, TensorEntry> }> {
  if (typeof scale !== 'number' || !Number.isFinite(Math.fround(scale)))
    throw new GgufError(
      'invalid-argument',
      `An adapter's scale must be a finite number, not ${String(scale)}.`,
    )
  mustBeWhole(openFile(adapter))
  const { pairs, ignored } = mustFit(adapter, { architecture, tensors: entries })
  if (isActivated(adapter))
    throw new GgufError(
      'unsupported',
      'An activated adapter cannot be merged, because it has no effect before its invocation tokens.',
    )
  const [inspect, module] = await Promise.all([inspectModule(hosting), quantModule(hosting)])
  const types = tensorTypes(inspect)
  const columns = importance && (await readImportance(importance, signal))
  signal?.throwIfAborted()
  const changes = new Map<TensorEntry, TensorEntry>()
  for (const pair of pairs) {
    const entry = entries.find(({ name }) => name === pair.weight)!
    const range = rangeOf(entry, types)
    mustBeFloats(module, range.type, entry.name)
    for (const { typeId, type, name } of [pair.a, pair.b])
      mustBeFloats(module, { id: typeId, name: type }, name)
    const source = mergedSource(module, range, pair, { shape: entry.shape, scale, adapter })
    const isPlain = /^(F|BF)\d/.test(entry.type)
    const found = isPlain ? undefined : (importanceFor(entry, columns) ?? entry.importance)
    changes.set(entry, { ...entry, importance: found, from: { source, type: 'F32' } })
  }
  return { report: { merged: pairs.map(({ weight }) => weight), ignored }, changes }
}
