// The parts that the package uses of the glue that Emscripten generates from wasm/bindings.cpp.
import type { Bytes } from './api/arrays.js'
import type { FindingLevel } from './api/findings.js'
import type { FileKind } from './api/file.js'
import type { ValueType } from './api/metadata.js'

/** A range of the heap that stays valid until the next call into the document. */
export type Span = [pointer: number, length: number]

/** Counts are declared by the file; "seen" are those parsed so far. */
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
  /** the address for the next bytes; 0: out of memory */
  reserve(bytes: number): number
  /** 0: complete; > 0: number of bytes of the file that are needed; -1: an error, see failure() */
  advance(bytes: number, fileSize: number): number
  base(): number
  failure(): [code: string, message: string, offset: number]
  facts(): Facts
  kind(): FileKind
  /** returns the number of findings */
  lint(fileSize: number, fileName: string, scope: number): number
  /** offset: -1 if there is none */
  finding(index: number): [level: FindingLevel, code: string, message: string, offset: number]
  keyTable(): Span
  tensorTable(): Span
  /** true: ends() counts UTF-16 code units of one valid text; false: bytes */
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
  /** The name of a fork's tensor type; empty for other ids. */
  forkTypeName(id: number): string
  /** names, each followed by a NUL; empty if the name is not that of a shard */
  shardNames(name: string): string
}

/** Adds its functions to the object immediately; module.ts builds classes from them. */
export default function createInspect(module: object): unknown
