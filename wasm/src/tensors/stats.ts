// Statistics of a tensor, and the error of one relative to another.
import { callBack } from '../api/callbacks.js'
import { GgufError } from '../api/errors.js'
import { isOpened, type OpenedFile } from '../file/opened.js'
import { Heap } from '../runtime/heap.js'
import type { Collector } from '../quant.js'
import type { StatsOptions } from '../api/file.js'
import type { LineStats, TensorStats } from '../api/tensors.js'
import { walk } from './values.js'

const kHalf = 128

/** Pairs of absolute maximum and root mean square; undefined if there are none. */
function lines(pairs: Float64Array): LineStats | undefined {
  if (pairs.length === 0) return undefined
  const pick = (offset: number): Float64Array =>
    Float64Array.from({ length: pairs.length / 2 }, (_, i) => pairs[2 * i + offset]!)
  return { absoluteMaximum: pick(0), rootMeanSquare: pick(1) }
}

/** Uses the median and the median absolute deviation, which are robust against outliers. */
function outliers(columns: LineStats | undefined): TensorStats['outlierColumns'] {
  if (!columns || columns.rootMeanSquare.length < 8) return []
  const values = columns.rootMeanSquare
  const middle = (sorted: Float64Array): number => sorted[sorted.length >> 1]!
  const median = middle(values.toSorted())
  const distance = middle(values.map((value) => Math.abs(value - median)).sort())
  const limit = median + 6 * Math.max(1.4826 * distance, 0.05 * median)
  return Array.from(values, (rootMeanSquare, index) => ({ index, rootMeanSquare }))
    .filter(({ rootMeanSquare }) => rootMeanSquare > limit)
    .sort((a, b) => b.rootMeanSquare - a.rootMeanSquare)
}

interface Floats {
  /** addresses in the module's memory */
  readonly floats: number
  readonly count: number
}

/**
 * Compares each chunk with the reference's values at the same positions. The chunks of the two may have different
 * boundaries.
 */
function comparer(collector: Collector, chunks: AsyncIterable<Floats>): (chunk: Floats) => Promise<void> {
  const others = chunks[Symbol.asyncIterator]()
  let left = 0
  let place = 0
  return async (chunk) => {
    for (let done = 0; done < chunk.count;) {
      if (left === 0) {
        const { value } = (await others.next()) as { value: Floats }
        left = value.count
        place = value.floats
      }
      const n = Math.min(left, chunk.count - done)
      collector.compare(place, chunk.floats + 4 * done, n)
      done += n
      left -= n
      place += 4 * n
    }
  }
}

// A tensor without elements has none of these.
const kNone = { min: NaN, max: NaN, mean: NaN, standardDeviation: NaN }

export async function tensorStats(
  file: OpenedFile,
  name: string,
  options: StatsOptions,
): Promise<TensorStats> {
  const { against, onProgress } = options
  const { module, tensor, rowLength, byteLength, small, count, chunks } = await walk(file, name, options)
  if (against && !isOpened(against.file))
    throw new GgufError('invalid-argument', 'options.against.file is no file of this package.')
  const reference = against && (await walk(against.file as OpenedFile, against.name ?? name, options))
  if (reference && (reference.count !== count || reference.rowLength !== rowLength)) {
    throw new GgufError(
      'bad-shape',
      `Tensors ${name} and ${reference.tensor.name} differ in shape: there is no error between them.`,
    )
  }
  const heap = new Heap(module)
  try {
    const rowCount = rowLength === 0 ? 0 : count / rowLength
    const collector = new module.Collector(tensor.typeId, small, rowLength, rowCount)
    try {
      const compare = reference && comparer(collector, reference.chunks(heap))
      for await (const chunk of chunks(heap)) {
        collector.add(chunk.blocks, chunk.blockCount, chunk.floats, chunk.count)
        await compare?.(chunk)
        await callBack(onProgress, chunk.loaded, byteLength)
      }
      const columns = lines(heap.doubles(collector.lines(true)))
      const numbers = { ...collector.numbers(), ...(count === 0 ? kNone : {}) }
      const limit = 2 ** collector.histogramExponent()
      const scales = collector.scales()
      return {
        name: tensor.name,
        type: tensor.type,
        ...numbers,
        absoluteMaximum: Math.max(Math.abs(numbers.min), Math.abs(numbers.max)),
        histogram: { from: -limit, width: limit / kHalf, counts: heap.doubles(collector.histogram()) },
        rows: lines(heap.doubles(collector.lines(false))),
        columns,
        outlierColumns: outliers(count > rowLength ? columns : undefined),
        scales,
        error: reference ? collector.comparison() : undefined,
      }
    } finally {
      collector.delete()
    }
  } finally {
    heap.free()
  }
}
