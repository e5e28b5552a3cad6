// The glue that Emscripten generates from wasm/bindings*.cpp, as far as the package uses it.
import type { FileKind, Finding, KeyMeaning, TensorType, ValueType } from './types.js'

/** A place in the heap that holds until the next call into the document. */
export type Span = [pointer: number, length: number]

export interface Facts {
  version: number
  bigEndian: boolean
  alignment: number
  dataOffset: number
  /** declared by the file */
  keyCount: number
  tensorCount: number
  /** parsed so far */
  keysSeen: number
  tensorsSeen: number
}

export interface WasmDocument {
  /** where the next bytes go; 0: no memory */
  reserve(bytes: number): number
  /** 0: whole; > 0: so many bytes of the file are needed; -1: failure() */
  advance(bytes: number, fileSize: number): number
  base(): number
  failure(): { code: string; message: string; offset: number }
  facts(): Facts
  kind(): FileKind
  /** how many findings there are */
  lint(fileSize: number, fileName: string): number
  finding(index: number): Omit<Finding, 'shard'>
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
  arrayInfo(array: number): { type: ValueType; length: number; offset: number }
  stringAt(array: number, index: number): Span
  delete(): void
}

export interface WasmTokenizer {
  /** empty: all is well, and the rest may be called */
  errorCode(): string
  errorMessage(): string
  errorOffset(): number
  kind(): string
  model(): string
  pre(): string
  size(): number
  addsBos(): boolean
  addsEos(): boolean
  special(): Span
  /** room for the text or the ids of the next call */
  reserve(bytes: number): number
  encode(bytes: number, special: boolean, bos: boolean): Span
  decode(ids: number, removeSpecial: boolean, special: boolean): Span
  text(id: number): Span
  piece(id: number): Span
  type(id: number): number
  score(id: number): number
  isSpecial(id: number): boolean
  isEnd(id: number): boolean
  find(bytes: number): number
  search(bytes: number, types: number, from: number, limit: number): Span
  noteCount(): number
  noteStrict(index: number): boolean
  noteCode(index: number): string
  noteMessage(index: number): string
  delete(): void
}

export interface InspectModule {
  TextTokenizer: new (document: WasmDocument) => WasmTokenizer
  HEAPU8: Uint8Array<ArrayBuffer>
  Document: new () => WasmDocument
  typeCount(): number
  typeRow(index: number): TensorType
  fileTypeName(id: number): string
  /** names with a NUL behind each; empty where the name is not that of a shard */
  shardNames(name: string): string
  /** both empty for a key that is not standardized */
  keyMeaning(key: string): KeyMeaning
}

interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

export default function createInspect(options: ModuleOptions): Promise<InspectModule>
