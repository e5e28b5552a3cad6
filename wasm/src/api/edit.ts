// Files that are written.
import type { Bytes } from './arrays.js'
import type { AssetOptions } from './assets.js'
import type { LazyArray, NumericArray, Scalar, ValueType } from './metadata.js'
import type { ByteSource, ReadOptions } from './source.js'

/** A type to write: "u32", or { arrayOf: "i32" }, or { arrayOf: { arrayOf: "i32" } }. */
export type WriteType = Exclude<ValueType, 'array'> | { readonly arrayOf: WriteType }

/** A typed array is an array of its element type, a Uint8Array one of u8. */
export type WriteValue = Scalar | NumericArray | LazyArray | readonly WriteValue[]

/** Raw blocks, little-endian (a ByteSource or Blob of them is read when the file is written), or floats to quantize. */
export type TensorData = Float32Array | Uint8Array | ArrayBuffer | Blob | ByteSource

/** JSON has no NaN, no infinities and no integers beyond 2^53. Those are texts: "NaN", "-Infinity", "9007199254740993". */
export type ChangeValue = string | number | boolean | readonly ChangeValue[]

/**
 * One change of a file, as data. `type` is "u32", or "i32[]" for an array; without it set() chooses the type. Of `entries`
 * the numbers count from 0 in the array before the change: `set` gives some entries another value, `remove` leaves some out,
 * `append` adds some at the end.
 */
export type Change =
  | {
      readonly change: 'set'
      readonly key: string
      readonly type?: string | undefined
      readonly value: ChangeValue
    }
  | {
      readonly change: 'entries'
      readonly key: string
      readonly set?: Readonly<Record<string, ChangeValue>> | undefined
      readonly remove?: readonly number[] | undefined
      readonly append?: readonly ChangeValue[] | undefined
    }
  | { readonly change: 'rename'; readonly key: string; readonly to: string }
  | { readonly change: 'remove'; readonly key: string }
  | { readonly change: 'rename-tensor'; readonly name: string; readonly to: string }
  | { readonly change: 'remove-tensor'; readonly name: string }

/** Changes as they are saved. They are made one after the other. */
export interface ChangeList {
  readonly format: 'ggufscope-changes'
  readonly version: 1
  readonly changes: readonly Change[]
}

export interface TensorPlan {
  readonly name: string
  /** ggml order: fastest first */
  readonly shape: readonly number[]
  /** ggml's name of the type that will be written */
  readonly type: string
}

export interface EditOptions {
  /** For a split model: edit this file alone, and keep its split.* keys. Default: all files become one. */
  shard?: number | undefined
  /**
   * Edit a truncated file, or an incomplete or inconsistent set (file.damage()), instead of throwing an
   * error: 'truncated', 'missing-shard', 'duplicate' or 'unsupported'. Where truncated data has to be moved,
   * zeros replace the missing data.
   */
  allowDamaged?: boolean | undefined
}

export type BuilderOptions = AssetOptions

export interface BuildOptions extends ReadOptions {
  /** Default: that of the file that was edited, 3 where there is none or it has an older one than 2. */
  version?: 2 | 3 | undefined
  /** Default: the byte order of the edited file, else little. Tensor data is converted when it is written. */
  endianness?: 'little' | 'big' | undefined
}

export interface WriteProgress {
  readonly written: number
  readonly size: number
  /** the tensor that is being computed, or checked by quantize(); undefined while bytes are copied */
  readonly tensor: string | undefined
}

export interface WriteOptions extends ReadOptions {
  onProgress?: ((progress: WriteProgress) => void) | undefined
}

interface At {
  /** where in the file to be written */
  readonly to: number
  readonly length: number
}

/** A range of a file to be written. All ranges together are the file, in order and without gaps. */
export type FilePart =
  | (At & { readonly kind: 'bytes'; readonly bytes: Bytes })
  | (At & { readonly kind: 'zeros' })
  /** the same bytes as source has from `from` on */
  | (At & { readonly kind: 'copy'; readonly source: ByteSource; readonly from: number })
  /** computed while writing: another byte order, another type */
  | (At & {
      readonly kind: 'computed'
      readonly tensor: string
      pieces(signal: AbortSignal | undefined): AsyncIterable<Bytes>
    })

export interface MergeReport {
  /** names of the tensors that change */
  readonly merged: readonly string[]
  /** names of weights that the adapter's pairs cannot change, and of its norm tensors */
  readonly ignored: readonly string[]
}

export interface QuantizedTensor {
  readonly name: string
  /** ggml order: fastest first */
  readonly shape: readonly number[]
  /** ggml's names of types */
  readonly from: string
  readonly to: string
  readonly fromBytes: number
  readonly toBytes: number
  /**
   * the type that the mixture or the caller gives; differs from `to` if the rows are not whole blocks of it
   */
  readonly wanted: string
  /** the matrix has an entry that is used */
  readonly importance: boolean
  /** it was quantized before */
  readonly requantized: boolean
  /** the type needs importance for good results, and there is none */
  readonly needsImportance: boolean
}

/** What quantize() decided. Lists are of tensors' names. */
export interface QuantizeReport {
  readonly mixture: string
  /** general.file_type */
  readonly fileType: number
  /** all, in the order of the file */
  readonly tensors: readonly QuantizedTensor[]
  /** how many get another type */
  readonly quantized: number
  readonly fellBack: readonly string[]
  readonly requantized: readonly string[]
  readonly needsImportance: readonly string[]
  readonly importance:
    | {
        readonly entries: number
        /** tensors that are quantized with the matrix, and without it */
        readonly covered: readonly string[]
        readonly lacking: readonly string[]
        /** entries that are not tensors of the model */
        readonly unused: readonly string[]
        readonly datasets: readonly string[]
        readonly chunks: number | undefined
      }
    | undefined
}

/** At least one of the two limits counts; without either 128 tensors. */
export interface SplitOptions extends BuildOptions {
  /** the most tensors in a file */
  maxTensors?: number | undefined
  /** the most bytes of tensor data in a file, but for tensors that are larger alone */
  maxBytes?: number | undefined
}

export interface SafetensorsOptions extends ReadOptions {
  /** Names of tensors; all when absent. */
  tensors?: readonly string[] | undefined
}

/**
 * A file to be written: its header, and the sources of the rest. Only the header is in memory; the rest is
 * read on demand, a piece at a time.
 */
export interface WrittenFile {
  /** of a shard: the name that the others expect */
  readonly name: string | undefined
  readonly size: number
  /** the recipe: the header, and ranges to copy or compute */
  readonly parts: readonly FilePart[]
  /** Everything before the tensor data. */
  readonly header: Bytes
  /** The bytes in order, in pieces of at most 8 MB. */
  pieces(options?: WriteOptions): AsyncGenerator<Bytes>
  stream(options?: WriteOptions): ReadableStream<Bytes>
  /** Takes slices of a Blob or File without reading them; reads everything else. */
  blob(options?: WriteOptions): Promise<Blob>
  /** The whole file in memory. Error: out-of-memory. */
  bytes(options?: WriteOptions): Promise<Bytes>
}
