// The glue that Emscripten generates from wasm/bindings_edit.cpp, as far as the package uses it.
import type { Span } from './inspect.js'

/** Reads a container from before GGUF by windows that it asks for. */
export interface LegacyReader {
  /** where the next bytes of the file from position() on go */
  reserve(bytes: number): number
  /** 0: all is read; > 0: so many bytes from position() on are needed; -1: failure() */
  advance(fileSize: number): number
  position(): number
  version(): number
  container(): string
  /** a GGUF header that says the same; its tensors' relative offsets are absolute in the file */
  header(): Span
  failure(): { code: string; message: string; offset: number }
  delete(): void
}

/** Puts a header together. Sources, keys and tensors in any order; those of a kind in the order of the file. */
export interface HeaderWriter {
  /** where the bytes of an opened file's header go; sources are numbered from 0 */
  addSource(bytes: number): number
  /** false: failure() */
  parseSource(): boolean
  /** where the value of the next addKey goes, little-endian and with lengths of 64 bits */
  addValue(bytes: number): number
  addKey(key: string, type: number, elementType: number, count: number): void
  copyKey(source: number, index: number): void
  copyKeyAs(source: number, index: number, key: string): void
  /** offset: relative to the data; negative: behind the one before */
  addTensor(name: string, shape: readonly number[], type: number, bytes: number, offset: number): void
  copyTensor(source: number, index: number, type: number, bytes: number, offset: number): void
  /** false: failure() */
  write(version: number, bigEndian: boolean): boolean
  header(): Span
  /** doubles: of the tensors, relative to the data */
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

interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

export default function createEdit(options: ModuleOptions): Promise<EditModule>
