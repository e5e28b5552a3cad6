// The differences between two files.
import type { MetadataValue, ValueType } from './metadata.js'
import type { TensorInfo } from './tensors.js'

export interface CompareOptions {
  /**
   * What to compare of the tensors. none: only the headers; sampled: some rows of each tensor; all: every byte.
   * Default: 'sampled'.
   */
  values?: 'none' | 'sampled' | 'all' | undefined
  /** Approximate number of bytes that 'sampled' reads of each tensor and file; at least one row. Default: 65,536. */
  sampleBytes?: number | undefined
  signal?: AbortSignal | undefined
  /** Called with the number of tensors compared so far, the number of all, and the last one's name. */
  onProgress?: ((done: number, total: number, name: string) => void) | undefined
}

export interface ComparedValue {
  readonly type: ValueType
  readonly value: MetadataValue
}

/**
 * removed: only the first file has the key; added: only the second has it. unread: arrays of the same type and length
 * that a preview left out; call completeHeader() of both files first to compare them.
 */
export interface KeyDifference {
  readonly key: string
  readonly kind: 'added' | 'removed' | 'changed' | 'unread'
  readonly a: ComparedValue | undefined
  readonly b: ComparedValue | undefined
  /** for arrays of the same type: index of the first element that differs */
  readonly index: number | undefined
  /** for arrays of the same type: number of elements that differ, with those that only the longer array has */
  readonly count: number | undefined
}

export interface ValueError {
  /** mean square of the difference, divided by that of the first file's values */
  readonly nmse: number
  /** cosine similarity; NaN if all values of one file are 0 */
  readonly cosine: number
  /** the largest absolute difference */
  readonly maximum: number
  /** pairs with a NaN or an infinity; no other member includes them */
  readonly notFinite: number
  /** number of pairs that were compared */
  readonly count: number
}

export interface TensorComparison {
  readonly name: string
  readonly a: TensorInfo | undefined
  readonly b: TensorInfo | undefined
  /** both files have the tensor, with the same shape */
  readonly comparable: boolean
  /** One of the files ends before the tensor's values that were to be read: it has been cut. They were not compared. */
  readonly cut: boolean
  /** All bytes that were read are equal. undefined if none were read, the tensor is cut, or the types differ. */
  readonly equal: boolean | undefined
  /** Only one file has it, or shape, type or bytes that were read differ, or it is cut. */
  readonly differs: boolean
  /** undefined if values were not read, are cut or equal, or have a type that cannot be dequantized */
  readonly error: ValueError | undefined
}

export interface Comparison {
  readonly values: 'none' | 'sampled' | 'all'
  /** in the order of the first file, then keys that only the second has */
  readonly keys: readonly KeyDifference[]
  /** All tensors of both files: those that cannot be compared first, then by nmse, largest first. */
  readonly tensors: readonly TensorComparison[]
  /** No key and no tensor differs in the parts that were read. */
  readonly same: boolean
}
