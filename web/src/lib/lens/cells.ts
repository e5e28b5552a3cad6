// Combines a matrix's elements to the cells of a tile.
import type { Cells, Quantity } from './protocol'

export interface Sums {
  width: number
  height: number
  sum: Float64Array
  squares: Float64Array
  extreme: Float32Array<ArrayBuffer>
}

export function emptySums(width: number, height: number): Sums {
  const count = width * height
  return {
    width,
    height,
    sum: new Float64Array(count),
    squares: new Float64Array(count),
    extreme: new Float32Array(count),
  }
}

/**
 * Adds rows of `columns` elements each to the sums of a tile's cells. `row`: index in the tile of the first row. A cell
 * with a NaN or an infinity becomes NaN.
 */
export function addRows(
  sums: Sums,
  values: Float32Array,
  columns: number,
  row: number,
  zx: number,
  zy: number,
): void {
  const step = 2 ** zx
  const count = values.length / columns
  for (let r = 0; r < count; r++) {
    const base = Math.floor((row + r) / 2 ** zy) * sums.width
    for (let cell = 0, at = r * columns, end = at + columns; at < end; cell++) {
      const stop = Math.min(end, at + step)
      let sum = 0
      let squares = 0
      let extreme = sums.extreme[base + cell]!
      let most = Math.abs(extreme)
      for (; at < stop; at++) {
        const value = values[at]!
        sum += value
        squares += value * value
        const size = value < 0 ? -value : value
        if (size > most) {
          most = size
          extreme = value
        }
      }
      if (!Number.isFinite(sum)) extreme = NaN
      sums.sum[base + cell]! += sum
      sums.squares[base + cell]! += squares
      sums.extreme[base + cell] = extreme
    }
  }
}

/** The 99th and the 99.9th percentile of the magnitudes, and the maximum. */
function reachOf(values: Float32Array): { most: number; high: number; max: number } {
  const sizes = Float32Array.from(values, Math.abs).filter(Number.isFinite).sort()
  const at = (share: number) => sizes[Math.floor((sizes.length - 1) * share)] ?? 0
  return { most: at(0.99), high: at(0.999), max: at(1) }
}

const withReach = (cells: Omit<Cells, 'reach'>): Cells => ({
  ...cells,
  reach: Object.fromEntries(
    (['extreme', 'mean', 'rms'] as const).map((name): [Quantity, ReturnType<typeof reachOf>] => [
      name,
      reachOf(cells[name]),
    ]),
  ) as Cells['reach'],
})

/** Makes cells of one element each. */
export function elementCells(values: Float32Array<ArrayBuffer>, width: number, height: number): Cells {
  return withReach({ width, height, mean: values, rms: values.map(Math.abs), extreme: values })
}

/** Makes cells from sums. sizeOf: number of elements in a cell; cells at the edges have fewer. */
export function meanCells(
  { width, height, sum, squares, extreme }: Sums,
  sizeOf: (x: number, y: number) => number,
): Cells {
  const mean = new Float32Array(width * height)
  const rms = new Float32Array(width * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const i = y * width + x
      const size = sizeOf(x, y)
      mean[i] = Number.isNaN(extreme[i]) ? NaN : sum[i]! / size
      rms[i] = Number.isNaN(extreme[i]) ? NaN : Math.sqrt(squares[i]! / size)
    }
  return withReach({ width, height, mean, rms, extreme })
}
