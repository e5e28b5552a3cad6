// The interface that Embind generates from wasm/bindings_engine.cpp. Addresses in the heap are valid until the next
// call. If an object lacks one of these fields, Embind throws an error that names the field.
import type { SpeechRecord } from '../audio/records.js'
import type { WasmDeviceType } from '../gpu/module.js'
import type { GlueOptions } from '../runtime/compile.js'
import type { Pointer, Span } from '../runtime/span.js'
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

export interface ProfileRow {
  readonly operation: OperationName
  readonly oneToken: boolean
  /** ggml types of weights that are multiplied together; -1: none */
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
  reserve(bytes: number): Pointer
  failure(): { code: string; message: string; offset: number }
  addHeader(headerBytes: number, fileSize: number): void
  /** The model will be the draft of another engine: of a file with MTP heads, open() opens only the first one. */
  willDraft(): void
  /** withProjector: the last header is that of an mmproj file */
  open(threads: number, withProjector: boolean): boolean
  /** Only in modules with threads: the argument of run_thread on thread 1 and following. */
  worker?(thread: number): Pointer
  architecture(): string
  facts(): Facts
  samplerDefaults(): SamplerNumbers
  plannedCount(): number
  planned(index: number): PlannedTensor
  /** Estimates the memory for running; memoryBytes() returns the result. */
  estimateMemory(sizes: Sizes): boolean
  memoryBytes(): MemoryBytes
  readVocabulary(): void
  allocateWeights(sizes: Sizes): boolean
  setRows(rows: ArrivedRows): boolean
  startSession(sizes: Sizes): boolean
  /** draft: an engine with loaded weights, which must be started after this one and deleted after it. */
  setDraft(draft: WasmEngine): boolean
  select(sequence: number): boolean
  fork(from: number, to: number): boolean
  drop(): void
  /** bytes in the reserved buffer; afterwards adapterFacts() describes the adapter */
  openAdapter(bytes: number): boolean
  adapterFacts(): Omit<AdapterFacts, 'ignored'> & { readonly ignored: string }
  closeAdapter(id: number): void
  /** called for each adapter, then setAdapters() applies them to the selected sequence */
  chooseAdapter(adapter: ChosenAdapter): void
  setAdapters(): boolean
  /** each ended by a zero byte */
  setStops(stops: string): void
  /** GBNF; empty: any text */
  setGrammar(gbnf: string): void
  /** called after setGrammar, which removes earlier triggers */
  addTrigger(trigger: TriggerRecord): void
  /** ids in the reserved buffer */
  setShown(tokens: number): void
  /** pairs of layer and head in the reserved buffer; head -1: the whole layer */
  setAblated(pairs: number): void
  setBias(pairs: number): void
  beginAnswer(tokens: number, options: AnswerOptions): boolean
  /** ids in the reserved buffer: what another engine has answered so far, after beginAnswer() with the same call */
  resumeAnswer(tokens: number): boolean
  pendingTokens(): number
  reusedTokens(): number
  acceptedDraftTokens(): number
  advance(tokens: number): boolean
  nextToken(): boolean
  /** Ends the answer: token() is -1, text() the text that was held back. */
  endAnswer(): void
  token(): number
  finishReason(): '' | 'end' | 'stop' | 'context'
  /** the index of the stop string that ended the answer, among those that are not empty; -1: none */
  stopIndex(): number
  text(): Span
  probabilities(): Span
  /** RGB pixels in the reserved buffer; number: images before it */
  beginImage(width: number, height: number, number: number): boolean
  /** samples of one channel in the reserved buffer */
  beginAudio(samples: number, rate: number): boolean
  mediaSteps(): number
  stepMedia(): boolean
  moreMedia(): boolean
  mediaTokens(): Span
  /** ids in the reserved buffer; embedding() and positions() return the result */
  readEncodedMedia(tokens: number): boolean
  positions(): Span
  /** ids in the reserved buffer: whether their media need not be encoded again */
  holdsMedia(tokens: number): boolean
  evaluate(tokens: number): boolean
  evaluated(): Span
  freeOutput(): void
  /** pooling: a name, or empty for the file's default */
  embed(tokens: number, pooling: string): boolean
  embedding(): Span
  /** The logits of the last id; evaluated() returns them. */
  evaluateLast(tokens: number): boolean
  /** ids in the reserved buffer, then the part of each; embedding() returns the scores of the options */
  decide(tokens: number): boolean
  saveState(): boolean
  saved(): Span
  freeSavedState(): void
  loadState(bytes: number): boolean
  /** Takes the profile since the last call. Returns its number of rows. */
  takeProfile(): number
  profileRow(index: number): ProfileRow
  /** peakRates() returns the result. */
  measurePeaks(): boolean
  peakRates(): Peaks
  useThreads(count: number): void
  /** the argument of Device's constructor */
  session(): Pointer
  delete(): void
}

/** wasm/bindings_speaker.cpp describes the calls. */
export interface SpeakOptionsRecord {
  temperature: number
  topK: number
  topP: number
  seed: number
  language: string
}
export interface SpeakerFacts {
  readonly rate: number
  readonly frameSamples: number
  readonly voices: boolean
  readonly temperature: number
  readonly languages: string
  readonly warning: string
}
export interface WasmSpeaker {
  reserve(bytes: number): Pointer
  failure(): { code: string; message: string; offset: number }
  open(): boolean
  facts(): SpeakerFacts
  begin(bytes: number, options: SpeakOptionsRecord): boolean
  next(): number
  end(): void
  progress(): number
  samples(): Span
  beginVoice(count: number, rate: number): boolean
  stepVoice(): number
  voice(): Span
  setVoice(count: number): boolean
  delete(): void
}
interface WasmSpeakerType {
  new (session: Pointer): WasmSpeaker
  defaultOptions(): SpeakOptionsRecord
}
/** wasm/bindings_trace.cpp */
export interface WasmTracer extends Pick<WasmLoader, 'reserve' | 'failure'> {
  /** Numbers in the reserved buffer: tokens, layers, pairs of layer and head to record, and to ablate. */
  begin(
    counts: { tokens: number; layers: number; attention: number; ablated: number },
    allLayers: boolean,
    best: number,
  ): boolean
  /** 1: there is more to do; 0: done; -1: an error */
  step(): number
  doneTokens(): number
  layers(): Span
  logProbabilities(): Span
  ranks(): Span
  best(): Span
  bestLogProbabilities(): Span
  attention(): Span
  /** Frees the results. */
  end(): void
  delete(): void
}

/** The functions for loading, which both classes have. */
export type WasmLoader = Pick<
  WasmEngine,
  | 'reserve'
  | 'failure'
  | 'worker'
  | 'facts'
  | 'plannedCount'
  | 'planned'
  | 'estimateMemory'
  | 'memoryBytes'
  | 'allocateWeights'
  | 'setRows'
  | 'startSession'
  | 'useThreads'
  | 'delete'
>

/** wasm/bindings_speech.cpp */
export interface WasmSpeech extends WasmLoader {
  openHeader(headerBytes: number, fileSize: number, legacy: boolean, threads: number): boolean
  speechFacts(): { endOfText: number }
  /** options: all of defaultOptions() */
  beginAudio(options: SpeechRecord, samples: number): boolean
  addSamples(samples: number): boolean
  /** floats() returns the result */
  resample(samples: number, rate: number): boolean
  /** 1: there is more to do; 0: done; -1: an error */
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
  /** floats() returns the result */
  evaluate(tokens: number): boolean
  /** floats() returns the result */
  spectrogram(frames: number): boolean
  floats(): Span
  freeFloats(): void
}

export interface WasmSpeechType {
  new (): WasmSpeech
  languageCodes(): string
  defaultOptions(): SpeechRecord
}

export interface EngineModule {
  _malloc(bytes: number): number
  _free(pointer: number): void
  /** in shared memory if there are threads */
  readonly HEAPU8: Uint8Array
  readonly Engine: {
    new (): WasmEngine
    /** Only in modules with threads: a stack for a thread. */
    stack?(): Span
  }
  /** absent in 64-bit memory */
  readonly Speech?: WasmSpeechType
  readonly Device: WasmDeviceType
  readonly Speaker: WasmSpeakerType
  readonly Tracer: new (session: Pointer) => WasmTracer
  selfTest(seed: number): boolean
  useMemoryStreams(choice: number): void
  useRuns(choice: number): void
  typeName(id: number): string
}

export type CreateEngine = (options: GlueOptions) => Promise<EngineModule>
declare const create: CreateEngine
export default create
