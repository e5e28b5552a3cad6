// The functions of wasm/bindings_text.cpp that the package uses. The glue of inspect makes them.
import type { Bytes } from './api/arrays.js'
import type { Span } from './inspect.js'

export interface WasmTokenizer {
  /** empty: no error, and the other members may be called */
  errorCode(): string
  errorMessage(): string
  errorOffset(): number
  kind(): string
  model(): string
  pre(): string
  size(): number
  addsBos(): boolean
  addsEos(): boolean
  addsSep(): boolean
  special(): Span
  /** reserves a buffer for the text or the ids of the next call */
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

export interface TextModule {
  HEAPU8: Bytes
  _malloc(bytes: number): number
  _free(pointer: number): void
  /** from a whole header in the heap */
  TextTokenizer: new (header: number, bytes: number) => WasmTokenizer
}
