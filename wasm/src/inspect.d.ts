// The glue that Emscripten generates from wasm/bindings*.cpp, as far as the package uses it. [pointer, length] spans
// hold until the next call into the document.
export type Span = [pointer: number, length: number]

export interface ArrayInfo {
  type: import('./types.js').ValueType
  length: number
  offset: number
  bytes: number
}

export interface WasmDocument {
  reserve(bytes: number): number
  advance(bytes: number, fileSize: number): number
  base(): number
  errorCode(): string
  errorMessage(): string
  errorOffset(): number
  version(): number
  bigEndian(): boolean
  alignment(): number
  headerLength(): number
  dataOffset(): number
  keyCount(): number
  tensorCount(): number
  keysSeen(): number
  tensorsSeen(): number
  keyTable(): Span
  tensorTable(): Span
  gatherKeys(): boolean
  gatherTensorNames(): boolean
  gatherStrings(array: number, from: number, to: number): boolean
  texts(): Span
  ends(): Span
  arrayOfKey(key: number): number
  arrayOfElement(array: number, index: number): number
  arrayInfo(array: number): ArrayInfo
  stringAt(array: number, index: number): Span
  delete(): void
}

export interface InspectModule {
  HEAPU8: Uint8Array<ArrayBuffer>
  Document: new () => WasmDocument
  typeCount(): number
  typeRow(index: number): import('./types.js').TensorType
}

interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}

export default function createInspect(options: ModuleOptions): Promise<InspectModule>
