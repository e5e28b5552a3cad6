// What Embind makes of wasm/bindings_engine.cpp. Places in the heap hold until the next call.
export type Span = readonly [pointer: number, length: number]

export interface WasmEngine {
  reserve(bytes: number): number
  failure(): { code: string; message: string; offset: number }
  addHeader(headerBytes: number, fileSize: number): void
  open(threads: number): boolean
  /** Modules with threads only: what run_thread takes in thread 1 and those after it. */
  worker?(thread: number): number
  architecture(): string
  facts(): Span
  samplerDefaults(): Span
  plan(): Span
  memory(context: number, batch: number, texts: number, halfCache: boolean, precision: number): boolean
  readVocabulary(): void
  beginLoad(precision: number): boolean
  setRows(request: number, firstRow: number, at: number, bytes: number): boolean
  start(context: number, batch: number, texts: number, halfCache: boolean): boolean
  select(text: number): boolean
  fork(from: number, to: number): boolean
  drop(): void
  setStops(bytes: number): void
  setGrammar(bytes: number): void
  setBias(pairs: number): void
  setOptions(): void
  begin(tokens: number): boolean
  waiting(): number
  reused(): number
  guessed(): number
  advance(tokens: number): boolean
  next(): boolean
  token(): number
  finish(): number
  text(): Span
  probabilities(): Span
  evaluate(tokens: number): boolean
  evaluated(): Span
  forgetOutput(): void
  embed(tokens: number): boolean
  embedding(): Span
  saveState(): boolean
  saved(): Span
  forgetSaved(): void
  loadState(bytes: number): boolean
  profile(): Span
  peaks(): boolean
  doubles(): Span
  useThreads(count: number): void
  delete(): void
}

export interface EngineModule {
  /** in shared memory where there are threads */
  readonly HEAPU8: Uint8Array
  readonly Engine: {
    new (): WasmEngine
    /** Modules with threads only: for a thread. */
    stack?(): Span
  }
  selfTest(seed: number): boolean
  useReaders(choice: number): void
  useRuns(choice: number): void
  typeName(id: number): string
}

export type CreateEngine = (options: {
  wasmMemory?: WebAssembly.Memory
  instantiateWasm(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object
}) => Promise<EngineModule>
declare const create: CreateEngine
export default create
