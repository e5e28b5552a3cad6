// What a file to be written is made of: keys and tensors, where they come from.
import type { AssetOptions } from '../api/assets.js'
import type { ByteSource } from '../api/source.js'
import type { TensorInfo } from '../api/tensors.js'
import type { OpenedFile, Part } from '../file/opened.js'
import type { Header, KeyEntry as HeaderEntry } from '../header/header.js'
import type { EncodedValue } from './values.js'

/** A value that stays in the heap of an opened file. */
export interface FileValue extends HeaderEntry {
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

/** Weights of the columns: of one row, or of a row of each matrix in turn. */
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
  /** the file whose data may be copied as it lies */
  readonly base: Part | undefined
  /** base comes back byte for byte */
  readonly untouched: boolean
  /** every value is looked at as it is written: NaN and infinities are refused */
  readonly checked?: boolean
  readonly hosting: AssetOptions | undefined
  readonly name?: string | undefined
}
