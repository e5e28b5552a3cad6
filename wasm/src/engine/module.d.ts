// The interface that Embind makes from wasm/bindings_engine.cpp. Addresses in the heap are valid until the next call.
// Embind refuses an object without one of these fields, and names the field.
import type { SpeechRecord } from '../audio/records.js'
import type { GlueOptions } from '../runtime/compile.js'
import type {
  TriggerRecord,
  AdapterFacts,
  AnswerOptions,
  ArrivedRows,
  ChosenAdapter,
  Facts,
  MemoryBytes,
  PlannedTensor,
  SamplerNumbers,
  Sizes,
} from './protocol.js'
import type { OperationName, Peaks } from './types.js'

export type Span = readonly [pointer: number, length: number]

export interface ProfileRow {
  readonly operation: OperationName
  readonly oneToken: boolean
  /** ggml types of weights that are multiplied side by side; -1: none */
  readonly typeA: number
  readonly typeB: number
  readonly typeC: number
  readonly columns: number
  readonly rows: number
  readonly calls: number
  readonly ms: number
  readonly bytes: number
  readonly products: number
}

export interface WasmEngine {
  reserve(bytes: number): number
  failure(): { code: string; message: string; offset: number }
  addHeader(headerBytes: number, fileSize: number): void
  /** withProjector: the last header is an mmproj file's */
  open(threads: number, withProjector: boolean): boolean
  /** Modules with threads only: what run_thread takes in thread 1 and those after it. */
  worker?(thread: number): number
  architecture(): string
  facts(): Facts
  samplerDefaults(): SamplerNumbers
  plannedCount(): number
  planned(index: number): PlannedTensor
  /** Computes the memory of running; memoryBytes() has the result. */
  estimate(sizes: Sizes): boolean
  memoryBytes(): MemoryBytes
  readVocabulary(): void
  beginLoad(sizes: Sizes): boolean
  setRows(rows: ArrivedRows): boolean
  start(sizes: Sizes): boolean
  /** Takes an engine with its weights, which is started after this and deleted after this one. */
  setDraft(draft: WasmEngine): boolean
  select(sequence: number): boolean
  fork(from: number, to: number): boolean
  drop(): void
  /** bytes in the reserved room; then adapterFacts() */
  openAdapter(bytes: number): boolean
  adapterFacts(): Omit<AdapterFacts, 'ignored'> & { readonly ignored: string }
  closeAdapter(id: number): void
  /** one by one, then setAdapters() for the selected sequence */
  chooseAdapter(adapter: ChosenAdapter): void
  setAdapters(): boolean
  /** each ended by a zero byte */
  setStops(stops: string): void
  /** GBNF; empty: any text */
  setGrammar(gbnf: string): void
  /** after setGrammar, which removes earlier ones */
  addTrigger(trigger: TriggerRecord): void
  /** ids in the reserved room */
  setShown(tokens: number): void
  setBias(pairs: number): void
  begin(tokens: number, options: AnswerOptions): boolean
  waiting(): number
  reused(): number
  guessed(): number
  advance(tokens: number): boolean
  next(): boolean
  /** Ends the answer: token() is none, text() the text that was held back. */
  end(): void
  token(): number
  finish(): '' | 'end' | 'stop' | 'context'
  text(): Span
  probabilities(): Span
  /** pixels of three bytes in the reserved room */
  beginImage(width: number, height: number): boolean
  /** samples of one channel in the reserved room */
  beginSound(samples: number, rate: number): boolean
  mediaSteps(): number
  stepMedia(): boolean
  moreMedia(): boolean
  mediaTokens(): Span
  /** ids in the reserved room; to embedding() and positions() */
  encodedMedia(tokens: number): boolean
  positions(): Span
  evaluate(tokens: number): boolean
  evaluated(): Span
  forgetOutput(): void
  /** pooling: a name, or empty for the file's own */
  embed(tokens: number, pooling: string): boolean
  embedding(): Span
  saveState(): boolean
  saved(): Span
  forgetSaved(): void
  loadState(bytes: number): boolean
  /** Takes the profile since the last call. Returns its number of rows. */
  takeProfile(): number
  profileRow(index: number): ProfileRow
  /** To peakRates(). */
  measurePeaks(): boolean
  peakRates(): Peaks
  useThreads(count: number): void
  delete(): void
}

/** The interface for loading, common to both classes. */
export type WasmLoader = Pick<
  WasmEngine,
  | 'reserve'
  | 'failure'
  | 'worker'
  | 'facts'
  | 'plannedCount'
  | 'planned'
  | 'estimate'
  | 'memoryBytes'
  | 'beginLoad'
  | 'setRows'
  | 'start'
  | 'useThreads'
  | 'delete'
>

/** wasm/bindings_speech.cpp */
export interface WasmSpeech extends WasmLoader {
  openHeader(headerBytes: number, fileSize: number, legacy: boolean, threads: number): boolean
  begin(options: SpeechRecord, samples: number): boolean
  add(samples: number): boolean
  /** to floats() */
  resample(samples: number, rate: number): boolean
  /** 1: there is more to do; 0: done; -1: failed */
  step(): number
  progress(): number
  language(): string
  languageProbabilities(): Span
  segmentCount(): number
  segment(index: number): {
    begin: number
    end: number
    seek: number
    noSpeech: number
    meanLogProbability: number
    temperature: number
  }
  segmentText(index: number): Span
  segmentTokens(index: number): Span
  tokenText(id: number): Span
  tokenize(bytes: number): Span
  encode(seek: number, audioContext: number): boolean
  encoded(): Span
  /** to floats() */
  evaluate(tokens: number): boolean
  /** to floats() */
  spectrogram(frames: number): boolean
  floats(): Span
  forgetFloats(): void
}

export interface EngineModule {
  /** in shared memory where there are threads */
  readonly HEAPU8: Uint8Array
  readonly Engine: {
    new (): WasmEngine
    /** Modules with threads only: for a thread. */
    stack?(): Span
  }
  readonly Speech: { new (): WasmSpeech; languageCodes(): string }
  selfTest(seed: number): boolean
  useMemoryStreams(choice: number): void
  useRuns(choice: number): void
  typeName(id: number): string
}

export type CreateEngine = (options: GlueOptions) => Promise<EngineModule>
declare const create: CreateEngine
export default create
