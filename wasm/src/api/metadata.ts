// Key-values of a file's header.
import type { ReadOptions } from './source.js'

/** Value types of GGUF metadata. */
export type ValueType =
  | 'u8'
  | 'i8'
  | 'u16'
  | 'i16'
  | 'u32'
  | 'i32'
  | 'f32'
  | 'bool'
  | 'string'
  | 'array'
  | 'u64'
  | 'i64'
  | 'f64'

/** A 64-bit integer is a number if a number holds it exactly (up to 2^53), otherwise a bigint. */
export type Scalar = number | bigint | boolean | string

export type MetadataValue = Scalar | LazyArray

/**
 * An array of the header, still as bytes. Elements are decoded on demand. After file.close() every access throws a
 * GgufError 'closed'.
 */
export interface LazyArray<T extends MetadataValue = MetadataValue> extends Iterable<T> {
  /** type of the elements */
  readonly type: ValueType
  readonly length: number
  /** false: a sparse preview left it out, and access throws a GgufError 'incomplete' until load() is called */
  readonly loaded: boolean
  /** Reads the array, if a preview left it out. */
  load(options?: ReadOptions): Promise<void>
  /** Like Array.prototype.at: a negative index counts from the end; out of range gives undefined. */
  at(index: number): T | undefined
  /** Like Array.prototype.slice: decodes only these elements. */
  slice(from?: number, to?: number): T[]
  /**
   * The bytes of one string, which may be invalid UTF-8. undefined if the index is out of range or the elements are
   * not strings.
   */
  bytesAt(index: number): Uint8Array | undefined
  /** A copy of all elements of a numeric array; 64-bit integers as BigInt64Array or BigUint64Array, bool as Uint8Array. */
  toTypedArray(): NumericArray
  /** All elements, for JSON.stringify. It is expensive for vocabularies. Integers beyond 2^53 become strings. */
  toJSON(): unknown[]
}

export type NumericArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array

/** What a standardized key means, from the catalogue of the specification and of llama.cpp. */
export interface KeyMeaning {
  /** "tokens", "heads", ...; may be empty */
  readonly unit: string
  /** one sentence */
  readonly meaning: string
}

/** An entry whose key occurred earlier. */
export interface RepeatedKey {
  readonly key: string
  readonly type: ValueType
  readonly value: MetadataValue
  /** absolute byte offset of the value */
  readonly offset: number
}

/**
 * The key-values of the file, like a read-only Map in the order of the file. If a key occurs twice, the first
 * counts.
 */
export interface Metadata extends Iterable<[string, MetadataValue]> {
  readonly size: number
  has(key: string): boolean
  get(key: string): MetadataValue | undefined
  /** The value's type in the file, e.g. to tell u32 from f32. */
  type(key: string): ValueType | undefined
  /** Absolute byte offset of the value. */
  offset(key: string): number | undefined
  /** Repeated entries of keys that occur more than once (all but the first), in the order of the file. */
  readonly repeated: readonly RepeatedKey[]
  /** What a standardized key means; undefined for any other key. */
  meaning(key: string): Promise<KeyMeaning | undefined>
  keys(): IterableIterator<string>
  values(): IterableIterator<MetadataValue>
  entries(): IterableIterator<[string, MetadataValue]>
  forEach(callback: (value: MetadataValue, key: string, metadata: Metadata) => void): void
  /**
   * For JSON.stringify: an object of all keys, including arrays. Integers beyond 2^53 become strings. NaN and
   * infinities become null, because JSON does not have them. Error: 'incomplete' if a preview left out an array.
   */
  toJSON(): Record<string, unknown>
}
