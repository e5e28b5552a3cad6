// The parts that the package uses of the glue that Emscripten generates from wasm/bindings_edit.cpp.
import type { Span } from './inspect.js'
import type { GlueOptions } from './runtime/compile.js'

/** Reads a container from before GGUF, in windows that it requests. */
export interface LegacyReader {
  /** the address for the next bytes of the file, from position() on */
  reserve(bytes: number): number
  /** 0: everything is read; > 0: number of bytes from position() on that are needed; -1: an error, see failure() */
  advance(fileSize: number): number
  position(): number
  version(): number
  container(): string
  /** an equivalent GGUF header; its tensors' relative offsets are absolute in the file */
  header(): Span
  failure(): { code: string; message: string; offset: number }
  delete(): void
}

/**
 * Builds a header. Sources, keys and tensors may be added in any order; those of one kind in the order of the file.
 */
export interface HeaderWriter {
  /** the address for the bytes of an open file's header; sources are numbered from 0 */
  addSource(bytes: number): number
  /** false: an error, see failure() */
  parseSource(): boolean
  /** the address for the value of the next addKey, little-endian and with 64-bit lengths */
  addValue(bytes: number): number
  addKey(key: string, type: number, elementType: number, count: number): void
  copyKey(source: number, index: number): void
  copyKeyAs(source: number, index: number, key: string): void
  /** offset: relative to the data; negative: after the previous tensor */
  addTensor(name: string, shape: readonly number[], type: number, bytes: number, offset: number): void
  copyTensor(source: number, index: number, type: number, bytes: number, offset: number): void
  /** false: an error, see failure() */
  write(version: number, bigEndian: boolean): boolean
  header(): Span
  /** doubles: the tensors' offsets relative to the data */
  offsets(): Span
  dataBytes(): number
  alignment(): number
  failure(): { code: string; message: string; offset: number }
  delete(): void
}

export interface EditModule {
  HEAPU8: Uint8Array<ArrayBuffer>
  HeaderWriter: new () => HeaderWriter
  LegacyReader: new () => LegacyReader
  /** both empty for a key that is not standardized */
  keyMeaning(key: string): [unit: string, meaning: string]
}

export default function createEdit(options: GlueOptions): Promise<EditModule>
