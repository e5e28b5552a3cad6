// Files to write.
import type { Bytes } from './arrays.js'
import type { AssetOptions } from './assets.js'
import type { LazyArray, NumericArray, Scalar, ValueType } from './metadata.js'
import type { ByteSource, ReadOptions } from './source.js'
import type { TokenType } from './text.js'

/** A type to write: "u32", or { arrayOf: "i32" }, or { arrayOf: { arrayOf: "i32" } }. */
export type WriteType = Exclude<ValueType, 'array'> | { readonly arrayOf: WriteType }

/** A typed array is written as an array of its element type; a Uint8Array as an array of u8. */
export type WriteValue = Scalar | NumericArray | LazyArray | readonly WriteValue[]

/** Raw blocks, little-endian (a ByteSource or Blob of them is read when the file is written), or floats to quantize. */
export type TensorData = Float32Array | Uint8Array | ArrayBuffer | Blob | ByteSource

/**
 * JSON has no NaN, no infinities and no integers beyond 2^53. They are written as texts: "NaN", "-Infinity",
 * "9007199254740993".
 */
export type ChangeValue = string | number | boolean | readonly ChangeValue[]

/** A token to add to a vocabulary. */
export interface NewToken {
  /** As it reads. In normal tokens, spaces are written as U+2581 if the vocabulary writes them so. */
  readonly text: string
  /**
   * Default: 'user-defined', which is found in any text. 'control' is found only where special tokens are. 'normal'
   * is found only if other tokens merge to it, and is refused in vocabularies with merges.
   */
  readonly type?: TokenType | undefined
  /** Default: below those of all normal tokens; -1000 for other types. */
  readonly score?: number | undefined
}

/** Values of new rows in the embeddings and the output: the mean of the rows of all tokens, or zeros. */
export type NewRows = 'mean' | 'zeros'

export interface AddTokensOptions {
  /** default: 'mean' */
  rows?: NewRows | undefined
}

/**
 * One change of a file, as data. `type` is "u32", or "i32[]" for an array; without it, set() chooses the type. In
 * `entries`, numbers count from 0 in the array before the change: `set` replaces entries, `remove` removes entries,
 * `append` adds entries at the end.
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
  | {
      readonly change: 'add-tokens'
      readonly tokens: readonly NewToken[]
      readonly rows?: NewRows | undefined
    }
  | { readonly change: 'remove-tokens'; readonly tokens: readonly (number | string)[] }

/** A saved list of changes. They are applied in order. */
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
  /** For a split model: edits only this file and keeps its split.* keys. Default: all files are merged into one. */
  shard?: number | undefined
  /**
   * Edits a truncated file, or an incomplete or inconsistent set (see file.damage()), instead of throwing an error
   * 'truncated', 'missing-shard', 'duplicate' or 'unsupported'. Missing data is replaced by zeros if it has to be
   * moved.
   */
  allowDamaged?: boolean | undefined
}

export type BuilderOptions = AssetOptions

export interface BuildOptions extends ReadOptions {
  /** Default: the edited file's version, or 3 if there is no such file or its version is 1. */
  version?: 2 | 3 | undefined
  /** Default: the byte order of the edited file, otherwise little. Tensor data is converted when it is written. */
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
  /** offset in the file to write */
  readonly to: number
  readonly length: number
}

/** A range of the file to write. All ranges together are the file, in order and without gaps. */
export type FilePart =
  | (At & { readonly kind: 'bytes'; readonly bytes: Bytes })
  | (At & { readonly kind: 'zeros' })
  /** the bytes of `source` from offset `from` on */
  | (At & { readonly kind: 'copy'; readonly source: ByteSource; readonly from: number })
  /** computed while writing: another byte order, another type */
  | (At & {
      readonly kind: 'computed'
      readonly tensor: string
      /** The bytes in order, in chunks of at most 8 MB. */
      chunks(signal: AbortSignal | undefined): AsyncIterable<Bytes>
      /** @deprecated The same as chunks(), its name since 0.3. */
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
  /** the type that the mixture or the caller chose; it differs from `to` if the rows are not whole blocks of it */
  readonly wanted: string
  /** an importance matrix entry was used */
  readonly importance: boolean
  /** it was already quantized */
  readonly requantized: boolean
  /** the type needs importance for good results, but there is none */
  readonly needsImportance: boolean
}

/** The decisions of quantize(). Lists contain names of tensors. */
export interface QuantizeReport {
  readonly mixture: string
  /** general.file_type */
  readonly fileType: number
  /** all tensors, in the order of the file */
  readonly tensors: readonly QuantizedTensor[]
  /** number of tensors that get another type */
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
        /** entries that do not match any tensor of the model */
        readonly unused: readonly string[]
        readonly datasets: readonly string[]
        readonly chunks: number | undefined
      }
    | undefined
}

/** At least one of the two limits applies. The default is 128 tensors. */
export interface SplitOptions extends BuildOptions {
  /** largest number of tensors in a file */
  maxTensors?: number | undefined
  /** largest number of bytes of tensor data in a file; a single larger tensor gets its own file */
  maxBytes?: number | undefined
}

export interface SafetensorsOptions extends ReadOptions {
  /** Names of tensors. Default: all. */
  tensors?: readonly string[] | undefined
}

/**
 * A file to write: its header, and the sources of the rest. Only the header is in memory. The rest is read on demand,
 * one chunk at a time.
 */
export interface WrittenFile {
  /** for a file of a split model: the name under which the others expect it */
  readonly name: string | undefined
  readonly size: number
  /** the ranges to copy or compute, including the header */
  readonly parts: readonly FilePart[]
  /** Everything before the tensor data. */
  readonly header: Bytes
  /** The bytes in order, in chunks of at most 8 MB. */
  chunks(options?: WriteOptions): AsyncGenerator<Bytes>
  /** @deprecated The same as chunks(), its name since 0.3. */
  pieces(options?: WriteOptions): AsyncGenerator<Bytes>
  stream(options?: WriteOptions): ReadableStream<Bytes>
  /** Takes slices of a Blob or File without reading them, and reads everything else. */
  blob(options?: WriteOptions): Promise<Blob>
  /** The whole file in memory. Error: out-of-memory. */
  bytes(options?: WriteOptions): Promise<Bytes>
}

/** A file in a repository of Hugging Face, or of a server with its protocol. */
export interface HubFile {
  readonly server: string
  /** owner/name */
  readonly repository: string
  /** a branch, or another revision */
  readonly branch: string
  readonly path: string
}

/** What commitIter() of @huggingface/hub reports: a phase, or the progress of a file from 0 to 1. */
export interface HubClientEvent {
  readonly event: string
  readonly phase?: string
  readonly state?: string
  readonly progress?: number
}

/** The functions of the module @huggingface/hub that commitToHub() calls. */
export interface HubClient {
  modelInfo(of: object): Promise<{ sha: string }>
  downloadFile(of: object): Promise<Blob | null>
  commitIter(
    of: object,
  ): AsyncGenerator<
    HubClientEvent,
    { commit: { oid: string; url: string }; pullRequestUrl?: string } | undefined
  >
}

/** How far a commit is. */
export interface CommitProgress {
  /** header: its header is read; hashing: the whole file is read for its SHA-256; uploading, committing: it is sent */
  readonly phase: 'header' | 'hashing' | 'uploading' | 'committing'
  /** bytes of this phase; total is unknown while the header is read */
  readonly done: number
  readonly total: number | undefined
  /** bytes of requests that were sent until now */
  readonly sent: number
}

export interface CommitOptions extends ReadOptions {
  /** the module @huggingface/hub (2.17 or newer); without it nothing is committed */
  client?: HubClient | undefined
  /** an access token that may write; it is sent to that server only, and is in no message */
  token?: string | undefined
  /** default: https://huggingface.co */
  server?: string | undefined
  /** default: that of the address */
  branch?: string | undefined
  /** the title of the commit (default: "Change the header of ...") */
  message?: string | undefined
  /** true: opens a pull request; the branch stays as it is */
  pullRequest?: boolean | undefined
  /** The new header as it was shown to the user: if the change makes another one, nothing is committed. */
  header?: Uint8Array | undefined
  onProgress?: ((progress: CommitProgress) => void) | undefined
}

/** What a commit sends, or in a dry run would send. Sizes are in bytes. */
export interface HubCommit {
  readonly repository: string
  readonly branch: string
  readonly path: string
  /** the header that is replaced, and the new one */
  readonly oldHeader: number
  readonly newHeader: number
  /** tensor data that stay */
  readonly kept: number
  /** all that the client sent; undefined in a dry run, like the following */
  readonly sent?: number | undefined
  /** the id of the commit */
  readonly commit?: string | undefined
  /** the page of the commit, or of the pull request */
  readonly url?: string | undefined
}
