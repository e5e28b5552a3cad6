// The messages between the page and the worker that makes new files.
import type { Change, MergeReport, QuantizeReport } from 'ggufscope/edit'

/** What a new file is to be. */
export type Task =
  | {
      readonly kind: 'quantize'
      readonly mixture: string
      readonly pure: boolean
      readonly allowRequantize: boolean
      readonly importance: File | undefined
    }
  | { readonly kind: 'split'; readonly maxBytes: number | undefined; readonly maxTensors: number | undefined }
  | { readonly kind: 'gguf'; readonly version: 2 | 3 | undefined; readonly endianness: 'little' | 'big' }
  | { readonly kind: 'adapter'; readonly adapter: File; readonly scale: number }
  | { readonly kind: 'safetensors'; readonly tensors: readonly string[] }
  | { readonly kind: 'npy'; readonly tensors: readonly string[] }

/** The open file as the worker can open it again. */
export interface Input {
  readonly sources: readonly (Blob | string)[]
  readonly headers: Record<string, string> | undefined
  /** whether the address is stored completely in this browser */
  readonly isKept: boolean
  /** the changes of the panel Edit */
  readonly changes: readonly Change[]
  /** names of new files begin with it */
  readonly name: string
}

export interface Output {
  readonly name: string
  readonly size: number
  /** bytes that are read or computed; the others are slices of local files */
  readonly toRead: number
}

export interface Plan {
  readonly outputs: readonly Output[]
  readonly quantized: QuantizeReport | undefined
  readonly merged: MergeReport | undefined
}

export interface Progress {
  readonly written: number
  readonly tensor: string | undefined
}

export type ToWorker =
  | { readonly kind: 'plan'; readonly id: number; readonly input: Input; readonly task: Task }
  /** makes a Blob of an output */
  | { readonly kind: 'blob'; readonly id: number; readonly output: number }
  /** asks for the next chunk of an output */
  | { readonly kind: 'pull'; readonly id: number; readonly output: number }
  | { readonly kind: 'stop'; readonly id: number }

export type FromWorker = { readonly id: number } & (
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'blob'; readonly blob: Blob }
  /** no bytes: the end */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array | undefined; readonly tensor: string | undefined }
  | { readonly kind: 'failed'; readonly message: string }
)
