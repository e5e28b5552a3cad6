// Key-values of a file's header.
import type { ReadOptions } from './source.js'

/** Value types of GGUF metadata. */
export type ValueType =
  'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32' | 'f32' | 'bool' | 'string' | 'array' | 'u64' | 'i64' | 'f64'

/** 64-bit integers are numbers if a number holds them exactly (up to 2^53), otherwise bigints. */
export type Scalar = number | bigint | boolean | string

export type MetadataValue = Scalar | LazyArray

/**
 * An array of the header, still as bytes: elements are made on demand.
 * After file.close() every access throws a GgufError of code 'closed'.
 */
export interface LazyArray<T extends MetadataValue = MetadataValue> extends Iterable<T> {
  /** of the elements */
  readonly type: ValueType
  readonly length: number
  /** false: a sparse preview left it out, and access throws a GgufError of code 'incomplete' until load() */
  readonly loaded: boolean
  /** Reads the array, if a preview left it out. */
  load(options?: ReadOptions): Promise<void>
  /** Like Array.prototype.at: negative counts from the end, undefined beyond. */
  at(index: number): T | undefined
  /** Like Array.prototype.slice: makes only these elements. */
  slice(from?: number, to?: number): T[]
  /**
   * The bytes of one string, which need not be valid UTF-8. undefined beyond the end, or if elements are not
   * strings.
   */
  bytesAt(index: number): Uint8Array | undefined
  /** A copy of all elements of a numeric array; 64-bit integers as BigInt64Array or BigUint64Array, bool as Uint8Array. */
  toTypedArray(): NumericArray
  /** All elements, for JSON.stringify. Expensive on vocabularies; 64-bit integers beyond 2^53 as strings. */
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

/** An entry whose key occurred before. */
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
   * What JSON.stringify asks for: an object of all keys, arrays included. Integers beyond 2^53 are strings. JSON has no NaN
   * and no infinities: they become null. Throws a GgufError of code 'incomplete' where a preview left an array out.
   */
  toJSON(): Record<string, unknown>
}
