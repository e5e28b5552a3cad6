// The messages between the page and the engine's worker. Every call has an answer; a generation has pieces
// before it.
import type { WasmName } from '../api/assets.js'
import type { SoundRecord, SpeechRecord } from '../audio/records.js'
import type { Transcription, TranscriptSegment } from '../audio/types.js'
import type {
  CacheType,
  Peaks,
  Piece,
  Pooling,
  Precision,
  ProfiledOperation,
  SamplingOptions,
  Variant,
  FinishReason,
} from './types.js'

export interface ChooseOptions {
  /** Those modules of the engine that do not lie beside the worker's script. */
  readonly assets: Readonly<Partial<Record<WasmName, string | BufferSource | WebAssembly.Module>>>
  /** the page's crossOriginIsolated */
  readonly isolated: boolean | undefined
  /** As requested. */
  readonly threads: number | undefined
  readonly variant: Variant | undefined
}

/** Rows of a planned tensor, from byte `at` of the reserved room. */
export interface ArrivedRows {
  readonly tensor: number
  readonly firstRow: number
  readonly at: number
  readonly bytes: number
}

export interface AnswerOptions {
  readonly sampler: SamplerNumbers
  readonly seed: number
  readonly logprobs: number
  readonly lookup: number
  readonly draft: number
  readonly keep: number
  readonly ignoreEnd: boolean
  readonly contextShift: boolean
}

export interface FileHeader {
  readonly bytes: Uint8Array
  readonly fileSize: number | undefined
  /** A Whisper model: in GGUF, or in a container before it, whose header gives places in the file. */
  readonly speech?: 'gguf' | 'legacy' | undefined
}

/** Facts from the model's keys, and what the package must know about the engine. */
export interface Facts {
  readonly vocabularySize: number
  readonly embeddingLength: number
  readonly layers: number
  /** tokens; 0: the file does not say */
  readonly trainedContextLength: number
  readonly threads: number
  /** floats of an output row */
  readonly outputLength: number
  /** of embed() by default */
  readonly pooling: Pooling
  /** floats of a pooled vector */
  readonly pooledLength: number
  readonly encoder: boolean
  readonly recurrent: boolean
  /** Rows that are packed together: a tensor's rows arrive in multiples of this number, except at its end. */
  readonly rowGroup: number
}

/** The sampler's numbers: the rows of core/engine/sampler_options.inc. */
export type SamplerNumbers = {
  readonly [Name in Exclude<keyof SamplingOptions, 'seed' | 'logitBias'>]-?: number
}

/** A tensor to be fetched. Rows are counted in bytes of the file. */
export interface PlannedTensor {
  readonly file: number
  /** of row 0, from the file's begin */
  readonly offset: number
  readonly rows: number
  readonly rowBytes: number
}

export interface Opened {
  readonly variant: Variant
  readonly reason: string
  readonly architecture: string
  readonly facts: Facts
  readonly defaults: SamplerNumbers
  /** in the order of the files */
  readonly plan: readonly PlannedTensor[]
}

export interface Sizes {
  /** tokens of all sequences together */
  readonly context: number
  /** tokens that are computed at once */
  readonly batch: number
  readonly sequences: number
  readonly cacheKeys: CacheType
  readonly cacheValues: CacheType
  readonly sparseAttention: boolean
  readonly precision: Precision
}

/** Bytes. */
export interface MemoryBytes {
  readonly weights: number
  readonly cache: number
  readonly recurrent: number
  readonly scratch: number
}

/** An adapter that the engine holds. */
export interface AdapterFacts {
  readonly id: number
  readonly controlVector: boolean
  /** weights or layers that it changes */
  readonly targets: number
  readonly bytes: number
  /** names of tensors that change nothing */
  readonly ignored: readonly string[]
}

/** Layers are those of a control vector, both included. */
export interface ChosenAdapter {
  readonly id: number
  readonly scale: number
  readonly firstLayer: number
  readonly lastLayer: number
}

/** A text, or a token: then text is empty. token -1: none */
export interface TriggerRecord {
  readonly text: string
  readonly token: number
  readonly atStart: boolean
}

export interface GenerateCall {
  readonly sequence: number
  readonly tokens: Int32Array
  readonly options: AnswerOptions
  readonly stop: readonly string[]
  readonly bias: Float64Array
  /** GBNF; empty: any text */
  readonly grammar: string
  readonly triggers: readonly TriggerRecord[]
  readonly shown: Int32Array
  readonly maxTokens: number
}

export interface Generated {
  readonly finishReason: FinishReason
  readonly promptTokens: number
  readonly reusedTokens: number
  readonly promptMs: number
  readonly generateMs: number
  readonly tokens: number
  readonly guessedTokens: number
}

/** Calls by name: what goes in and what comes out. */
export interface Calls {
  /** Before all others: makes the engine. */
  choose: [ChooseOptions, void]
  /** of the model's files, in order */
  open: [{ headers: readonly FileHeader[]; withProjector: boolean }, Opened]
  memory: [Sizes, MemoryBytes]
  begin: [Sizes, void]
  vocabulary: [void, void]
  /** Later calls of loading are for the draft model (true), or for the model itself. */
  draft: [boolean, void]
  /** The answer returns the memory. */
  rows: [{ bytes: Uint8Array<ArrayBuffer>; parts: readonly ArrivedRows[] }, ArrayBuffer]
  start: [Sizes, number]
  generate: [GenerateCall, Generated]
  evaluate: [{ sequence: number; tokens: Int32Array }, Float32Array]
  /** to the tokens that stand for it; its steps are told as they are done */
  image: [{ width: number; height: number; rgb: Uint8Array<ArrayBuffer> }, Int32Array]
  sound: [SoundRecord, Int32Array]
  encoded: [Int32Array, { embeddings: Float32Array; positions: Int32Array }]
  /** pooling: a name, or empty for the file's own */
  embed: [{ sequence: number; tokens: Int32Array; pooling: Pooling | '' }, Float32Array]
  save: [{ sequence: number }, Uint8Array]
  restore: [{ sequence: number; bytes: Uint8Array }, void]
  fork: [{ from: number; to: number }, void]
  drop: [{ sequence: number }, void]
  openAdapter: [Uint8Array, AdapterFacts]
  closeAdapters: [readonly number[], void]
  setAdapters: [{ sequence: number; adapters: readonly ChosenAdapter[] }, void]
  transcribe: [{ sound: SoundRecord; record: SpeechRecord; words: boolean }, Transcription]
  encodeSound: [{ sound: SoundRecord; audioContext: number }, Float32Array]
  evaluateSound: [{ tokens: Int32Array; sound: SoundRecord | undefined }, Float32Array]
  logMel: [{ sound: SoundRecord; frames: number }, Float32Array]
  profile: [void, readonly ProfiledOperation[]]
  peaks: [void, Peaks]
}
export type CallName = keyof Calls

export interface Call<N extends CallName = CallName> {
  readonly id: number
  readonly name: N
  readonly argument: Calls[N][0]
}
export interface Cancel {
  readonly cancel: number
}
/** The last call: frees threads and memory. The answer's id is 0; ids of calls begin at 1. */
export interface Close {
  readonly close: true
}
export type Message = Call | Cancel | Close
/** Of a sound: the segments that are new, and how much of it is done. */
export interface Heard {
  readonly segments: readonly TranscriptSegment[]
  readonly progress: number
}
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly pieces: readonly Piece[] }
  | { readonly id: number; readonly heard: Heard }
  | { readonly id: number; readonly done: number; readonly of: number }
  | { readonly id: number; readonly error: { code: string; message: string; offset: number } }

/** The connection to the engine, whether it is in a worker or not. */
export interface Link {
  post(message: Message, transfer: ArrayBuffer[]): void
  end(): void
}
