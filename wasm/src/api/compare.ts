// What two files differ in.
import type { MetadataValue, ValueType } from './metadata.js'
import type { TensorInfo } from './tensors.js'

export interface CompareOptions {
  /**
   * none: headers alone. sampled: some rows of each tensor. all: every byte. Default: 'sampled'.
   */
  values?: 'none' | 'sampled' | 'all' | undefined
  /** bytes of each tensor and file that 'sampled' reads, about; one row at least. Default: 65,536 */
  sampleBytes?: number | undefined
  signal?: AbortSignal | undefined
  /** tensors of which the values are compared, of how many; and the one that was done */
  onProgress?: ((done: number, total: number, name: string) => void) | undefined
}

export interface ComparedValue {
  readonly type: ValueType
  readonly value: MetadataValue
}

/**
 * removed: only the first file has the key; added: only the second. unread: arrays of the same type and length that a preview
 * left out: completeHeader() of both files before the comparison reads them.
 */
export interface KeyDifference {
  readonly key: string
  readonly kind: 'added' | 'removed' | 'changed' | 'unread'
  readonly a: ComparedValue | undefined
  readonly b: ComparedValue | undefined
  /** of arrays of the same type: the first element that differs */
  readonly index: number | undefined
}

export interface ValueError {
  /** mean square of the difference over that of the first file's values */
  readonly nmse: number
  /** NaN where all values of one file are 0 */
  readonly cosine: number
  /** the greatest difference */
  readonly maximum: number
  /** pairs with a NaN or an infinity, which count in nothing else */
  readonly notFinite: number
  /** pairs that were compared */
  readonly count: number
}

export interface TensorComparison {
  readonly name: string
  readonly a: TensorInfo | undefined
  readonly b: TensorInfo | undefined
  /** both files have it, of the same shape */
  readonly comparable: boolean
  /** Of what was read all bytes are the same; undefined where nothing was read, or the types differ. */
  readonly equal: boolean | undefined
  /** undefined where values were not read, are equal, or are of a type that cannot be dequantized */
  readonly error: ValueError | undefined
}

export interface Comparison {
  readonly values: 'none' | 'sampled' | 'all'
  /** in the order of the first file, then those that only the second has */
  readonly keys: readonly KeyDifference[]
  /** Every tensor of both: those that cannot be compared first, then by nmse, the greatest first. */
  readonly tensors: readonly TensorComparison[]
  /** No key and no tensor differs in what was read. */
  readonly same: boolean
}
