// Tensors: their layout, and their data and statistics.
import type { AssetOptions } from './assets.js'
import type { ReadOptions } from './source.js'

export interface TensorInfo {
  readonly name: string
  /** ggml order: fastest first. A matrix of n rows and k columns is [k, n]. */
  readonly shape: readonly number[]
  /** ggml's name of the type ("Q4_K"), or "unknown(99)". */
  readonly type: string
  readonly typeId: number
  /** absolute byte offset in the file (in a split model, in its own file) */
  readonly offset: number
  /** 0 if the type's layout is unknown */
  readonly byteLength: number
  readonly elementCount: number
  /** index into file.shards; 0 if there is one file */
  readonly shard: number
}

/** Geometry of a ggml type. */
export interface TensorType {
  readonly id: number
  readonly name: string
  /** elements in a block; 0: removed from ggml, layout no longer defined */
  readonly blockSize: number
  readonly blockBytes: number
  readonly removed: boolean
}

export interface ReadRowsOptions extends ReadOptions {
  /** [from, to): rows of shape[0] elements, counted over all other dimensions. Default: all rows. */
  rows?: readonly [from: number, to: number] | undefined
  /**
   * Elements in a super-block of the K types. Some builds until May 2024 used 64 instead of 256, and their files do
   * not state it. Default: determined from the offsets of the tensors.
   */
  superBlock?: 64 | 256 | undefined
}

export interface ReadWindowOptions extends ReadRowsOptions {
  /**
   * [from, to) of each row. All columns when absent. file.read() takes whole blocks only. Rows are read with the bytes
   * between them where these are few; otherwise each row is a request.
   */
  columns?: readonly [from: number, to: number] | undefined
}

/** Statistics of rows or columns, one number for each. */
export interface LineStats {
  readonly absoluteMaximum: Float64Array
  readonly rootMeanSquare: Float64Array
}

export interface Distribution {
  readonly count: number
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly standardDeviation: number
  readonly zeros: number
}

/** Minimum, mean and similar members include only finite values. */
export interface TensorStats extends Distribution {
  readonly name: string
  readonly type: string
  /** number of values that are neither NaN nor infinite */
  readonly finite: number
  readonly nans: number
  readonly infinities: number
  readonly absoluteMaximum: number
  /** Bins of equal `width`; the first one starts at `from`. */
  readonly histogram: { readonly from: number; readonly width: number; readonly counts: Float64Array }
  /** undefined if there are more than four million */
  readonly rows: LineStats | undefined
  /** A column is a position in a row: an input channel of a matrix. */
  readonly columns: LineStats | undefined
  /** Columns whose root mean square is more than six deviations above the typical one, largest first. */
  readonly outlierColumns: readonly { readonly index: number; readonly rootMeanSquare: number }[]
  /** The scales stored in the blocks; undefined for types without scales. */
  readonly scales: (Distribution & { readonly subnormal: number; readonly notFinite: number }) | undefined
  /** With options.against. nmse: mean square of the difference, divided by that of the reference. */
  readonly error:
    | {
        readonly nmse: number
        readonly cosine: number
        readonly maximum: number
        readonly notFinite: number
      }
    | undefined
}

export interface QuantizeOptions extends AssetOptions {
  /**
   * Weights for the elements of one row, not negative: the tensor's entry in an importance matrix. IQ1_S, IQ2_XXS and
   * IQ2_XS require it.
   */
  importance?: Float32Array | undefined
  signal?: AbortSignal | undefined
}
