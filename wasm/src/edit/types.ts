import type {
  ByteSource,
  GgufFile,
  LazyArray,
  NumericArray,
  ReadOptions,
  Scalar,
  ValueType,
} from '../api/types.js'

/** A type to write: "u32", or { arrayOf: "i32" }, or { arrayOf: { arrayOf: "i32" } }. */
export type WriteType = Exclude<ValueType, 'array'> | { readonly arrayOf: WriteType }

/** A typed array is an array of its element type, a Uint8Array one of u8. */
export type WriteValue = Scalar | NumericArray | LazyArray | readonly WriteValue[]

/** Raw blocks, little-endian (a ByteSource or Blob of them is read when the file is written), or floats to quantize. */
export type TensorData = Float32Array | Uint8Array | ArrayBuffer | Blob | ByteSource

export interface TensorPlan {
  readonly name: string
  /** ggml order: fastest first */
  readonly shape: readonly number[]
  /** ggml's name of the type that will be written */
  readonly type: string
}

export interface EditOptions {
  /** Of a split model: this file alone, its split.* keys as they are. Default: all files become one. */
  shard?: number | undefined
  /**
   * Edit a file that is cut, or a set that is not whole or contradicts itself (file.damage()), in place of an error:
   * 'truncated', 'missing-shard', 'duplicate' or 'unsupported'. Where cut data has to be moved, zeros stand for what is
   * not there.
   */
  allowDamaged?: boolean | undefined
}

export interface BuilderOptions {
  /** where inspect.wasm is, when it is not beside the package's files */
  wasmUrl?: string | URL | undefined
}

export interface BuildOptions extends ReadOptions {
  /** Default: that of the file that was edited, 3 where there is none or it has an older one than 2. */
  version?: 2 | 3 | undefined
  /** Default: that of the file that was edited, else little. Tensor data is turned as it is written. */
  endianness?: 'little' | 'big' | undefined
}

export interface WriteProgress {
  readonly written: number
  readonly size: number
  /** the tensor that is being computed; undefined while bytes are copied */
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

/** A stretch of a file to be written. All together they are the file, in order and without gaps. */
export type FilePart =
  | (At & { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> })
  | (At & { readonly kind: 'zeros' })
  /** the same bytes as source has from `from` on */
  | (At & { readonly kind: 'copy'; readonly source: ByteSource; readonly from: number })
  /** made on the way: another byte order, another type */
  | (At & {
      readonly kind: 'computed'
      readonly tensor: string
      pieces(signal: AbortSignal | undefined): AsyncIterable<Uint8Array<ArrayBuffer>>
    })

/** An open GGUF file of llama.cpp's imatrix, or columns by tensor: what parseImatrix makes of an imatrix.dat. */
export type ImportanceSource = GgufFile | ReadonlyMap<string, Float32Array>

export interface RequantizeOptions extends ReadOptions {
  /** Every tensor of weights gets the mixture's main type. */
  pure?: boolean | undefined
  /** The type of a tensor, whatever the mixture says; undefined: as it says. */
  types?: ((tensor: TensorPlan) => string | undefined) | undefined
  /** Which columns matter. Types of 2 bits and less need it. */
  importance?: ImportanceSource | undefined
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
