// Tensors: their place, and what can be read and measured.
import type { AssetOptions } from './assets.js'
import type { ReadOptions } from './source.js'

export interface TensorInfo {
  readonly name: string
  /** ggml order: fastest first. A matrix of n rows and k columns is [k, n]. */
  readonly shape: readonly number[]
  /** ggml's name of the type ("Q4_K"), or "unknown(99)". */
  readonly type: string
  readonly typeId: number
  /** absolute byte offset in the file (of the shard, where there are shards) */
  readonly offset: number
  /** 0 where the type has no known layout */
  readonly byteLength: number
  readonly elementCount: number
  /** index into file.shards; 0 where there is one file */
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
  /** [from, to): rows of shape[0] elements, counted over all further dimensions. All rows when absent. */
  rows?: readonly [from: number, to: number] | undefined
  /**
   * Elements in a super-block of the K types. Some builds until May 2024 had 64 instead of 256, and their
   * files do not say so. Without this option the offsets of the tensors decide.
   */
  superBlock?: 64 | 256 | undefined
}

/** Of rows or of columns, one number for each. */
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

/** Minimum, mean and so on count finite values only. */
export interface TensorStats extends Distribution {
  readonly name: string
  readonly type: string
  /** neither NaN nor infinite */
  readonly finite: number
  readonly nans: number
  readonly infinities: number
  readonly absoluteMaximum: number
  /** Equal bins of `width` each, the first from `from` on. */
  readonly histogram: { readonly from: number; readonly width: number; readonly counts: Float64Array }
  /** undefined if there are more than four million */
  readonly rows: LineStats | undefined
  /** Columns are positions in a row: the input channels of a matrix. */
  readonly columns: LineStats | undefined
  /** Columns whose root mean square is six deviations above that of most, the farthest first. */
  readonly outlierColumns: readonly { readonly index: number; readonly rootMeanSquare: number }[]
  /** The scales stored with the blocks; undefined for types without. */
  readonly scales: (Distribution & { readonly subnormal: number; readonly notFinite: number }) | undefined
  /** With options.against. nmse: mean square of the difference over that of the reference. */
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
   * Weights of one row's elements, none negative: the tensor's entry in an importance matrix. IQ1_S, IQ2_XXS
   * and IQ2_XS require it.
   */
  importance?: Float32Array | undefined
  signal?: AbortSignal | undefined
}
