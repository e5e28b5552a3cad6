// The glue that Emscripten generates from wasm/bindings.cpp, as far as the package uses it.
import type { Bytes } from './api/arrays.js'
import type { FindingLevel } from './api/findings.js'
import type { FileKind } from './api/file.js'
import type { ValueType } from './api/metadata.js'

/** A place in the heap that holds until the next call into the document. */
export type Span = [pointer: number, length: number]

/** Counts are declared by the file; those seen are parsed so far. */
export type Facts = [
  version: number,
  bigEndian: boolean,
  alignment: number,
  dataOffset: number,
  keyCount: number,
  tensorCount: number,
  keysSeen: number,
  tensorsSeen: number,
  smallBlocks: boolean,
]

export interface WasmDocument {
  /** where the next bytes go; 0: no memory */
  reserve(bytes: number): number
  /** 0: whole; > 0: so many bytes of the file are needed; -1: failure() */
  advance(bytes: number, fileSize: number): number
  base(): number
  failure(): [code: string, message: string, offset: number]
  facts(): Facts
  kind(): FileKind
  /** how many findings there are */
  lint(fileSize: number, fileName: string): number
  finding(index: number): [level: FindingLevel, code: string, message: string, offset: number]
  keyTable(): Span
  tensorTable(): Span
  /** true: ends() counts UTF-16 units of one valid text; false: bytes */
  gatherKeys(): boolean
  gatherTensorNames(): boolean
  gatherStrings(array: number, from: number, to: number): boolean
  texts(): Span
  ends(): Span
  arrayOfKey(key: number): number
  arrayOfElement(array: number, index: number): number
  arrayInfo(array: number): [type: ValueType, length: number, offset: number]
  stringAt(array: number, index: number): Span
  delete(): void
}

export interface InspectModule {
  HEAPU8: Bytes
  Document: new () => WasmDocument
  typeCount(): number
  typeRow(
    index: number,
  ): [
    id: number,
    name: string,
    blockSize: number,
    blockBytes: number,
    removed: boolean,
    smallBlockBytes: number,
    legacy: boolean,
  ]
  fileTypeName(id: number): string
  /** Of a tensor type of a fork of ggml; empty for other ids. */
  forkTypeName(id: number): string
  /** names with a NUL behind each; empty where the name is not that of a shard */
  shardNames(name: string): string
}

interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

/** What comes has functions; module.ts makes the classes of them. */
export default function createInspect(
  options: ModuleOptions,
): Promise<Record<string, (...args: unknown[]) => unknown>>
