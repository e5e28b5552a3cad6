// The keys and tensors of a file that will be written, and where their data come from.
import type { AssetOptions } from '../api/assets.js'
import type { ByteSource } from '../api/source.js'
import type { TensorInfo } from '../api/tensors.js'
import type { OpenedFile, Part } from '../file/opened.js'
import type { Header, KeyEntry as HeaderEntry } from '../header/header.js'
import type { EncodedValue } from './values.js'

/** A value that stays in the heap of an opened file. */
interface FileValue extends HeaderEntry {
  readonly header: Header
  readonly key: string
}

export interface KeyEntry {
  key: string
  readonly from: FileValue | EncodedValue
}

export interface FileTensor {
  readonly file: OpenedFile
  readonly part: Part
  /** in the order of the part */
  readonly index: number
  readonly info: TensorInfo
}

export interface GivenTensor {
  readonly source: ByteSource
  readonly type: string
}

/** Importance of the columns: one row for all matrices, or one row for each matrix (expert). */
export interface Importance {
  readonly count: number
  load(signal: AbortSignal | undefined): Promise<Float32Array>
}

export interface TensorEntry {
  name: string
  readonly shape: readonly number[]
  type: string
  importance: Importance | undefined
  readonly from: FileTensor | GivenTensor
}

export interface Layout {
  readonly keys: readonly KeyEntry[]
  readonly tensors: readonly TensorEntry[]
  readonly version: number
  readonly bigEndian: boolean
  /** the file whose tensor data may be copied as one range */
  readonly base: Part | undefined
  /** nothing was changed: the result equals base byte for byte */
  readonly untouched: boolean
  /** every value is checked while it is written: NaN and infinities are errors */
  readonly checked?: boolean
  readonly hosting: AssetOptions | undefined
  readonly name?: string | undefined
}
