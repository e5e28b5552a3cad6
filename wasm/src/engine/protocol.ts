// The messages between the page and the engine's worker. Every call has an answer. A generation sends pieces before
// its answer.
import type { WasmName } from '../api/assets.js'
import type { SpeechRecord } from '../audio/records.js'
import type { SoundRecord } from '../audio/sound-input.js'
import type { SpokenPart } from '../audio/speak-types.js'
import type { TranscriptSegment } from '../audio/types.js'
import type { SamplerOptions } from './sampler-options.js'
import type { CacheType, FinishReason, GpuAdapter, Piece, Pooling, Precision, Variant } from './types.js'

/** The model itself, or the one that drafts tokens for it: both are loaded by the same calls. */
export type ModelRole = 'main' | 'draft'

export interface EngineOptions {
  /** The engine's modules that are not next to the worker's script. */
  readonly assets: Readonly<Partial<Record<WasmName, string | BufferSource | WebAssembly.Module>>>
  /** the page's crossOriginIsolated */
  readonly isolated: boolean | undefined
  /** the requested number */
  readonly threads: number | undefined
  readonly variant: Variant | undefined
}

/** Rows of a planned tensor; their bytes start at byte `at` of the reserved buffer. */
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
  /** A Whisper model: in GGUF, or in an older container, whose tensor offsets are absolute in the file. */
  readonly speech?: 'gguf' | 'legacy' | undefined
}

/** Facts from the model's keys, and facts about the engine that the package needs. */
export interface Facts {
  readonly vocabularySize: number
  readonly embeddingLength: number
  readonly layers: number
  /** in tokens; 0: the file does not state it */
  readonly trainedContextLength: number
  readonly threads: number
  /** floats in an output row */
  readonly outputLength: number
  /** default of embed() */
  readonly pooling: Pooling
  /** floats in a pooled vector */
  readonly pooledLength: number
  /** the head that scores options: typed, endpoints or joint; empty: none */
  readonly decisionHead: string
  /** the pipeline of speech of the projector; empty: none */
  readonly speech: string
  readonly encoder: boolean
  readonly recurrent: boolean
  /** why the model cannot continue a text; empty: it can */
  readonly generationRefusal: string
  /**
   * Rows that are packed together: a tensor's rows must be passed in multiples of this number, except for the last
   * ones.
   */
  readonly rowGroup: number
}

/** All numeric options of the sampler. */
export type SamplerNumbers = Readonly<Record<keyof SamplerOptions, number>>

/** A tensor to fetch. Row sizes are in bytes of the file. */
export interface PlannedTensor {
  readonly file: number
  /** offset of row 0 in the file */
  readonly offset: number
  readonly rows: number
  readonly rowBytes: number
}

export interface PlannedModel {
  readonly variant: Variant
  readonly reason: string
  readonly architecture: string
  readonly facts: Facts
  readonly defaults: SamplerNumbers
  /** in the order of the files */
  readonly plan: readonly PlannedTensor[]
}

export interface Sizes {
  /** number of tokens that all sequences share */
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

/** Asks for a plan of the model on a GPU, before its weights are loaded. */
export interface PlanDeviceCall {
  readonly sizes: Sizes
  /** software instead of a graphics card will do */
  readonly allowFallback: boolean
  /** kernels for prompts are compiled when they are used first, not with the model */
  readonly onlyTokens: boolean
  /** whole files, which become part of the weights */
  readonly adapters: readonly { readonly bytes: Uint8Array<ArrayBuffer>; readonly scale: number }[]
}

/**
 * What a product on a GPU multiplies. integers: activations of 8 bits by the weights' integers, where the weights' types have
 * these. halves: binary16, where the device has it. Those of prompts are halves where integers are asked for and the types
 * have none.
 */
export type Factors = 'floats' | 'halves' | 'integers'
export interface Products {
  /** those of few tokens at once, which are never halves: reading weights takes most of their time */
  readonly tokens: Exclude<Factors, 'halves'>
  readonly prompts: Factors
}

/** A model on a GPU. */
export interface DevicePlan {
  readonly adapter: GpuAdapter
  /** why its encoders of images and of audio run on the CPU; empty: they do not, or there are none */
  readonly whyNoEncoder: readonly string[]
  readonly memory: MemoryBytes
}

/** An adapter that is loaded in the engine. */
export interface AdapterFacts {
  readonly id: number
  readonly controlVector: boolean
  /** number of weights or layers that it changes */
  readonly targets: number
  readonly bytes: number
  /** names of tensors without effect */
  readonly ignored: readonly string[]
}

/** An adapter to use. The layers are those of a control vector, both included. */
export interface ChosenAdapter {
  readonly id: number
  readonly scale: number
  readonly firstLayer: number
  readonly lastLayer: number
}

/** A text, or a token with an empty text. token -1: none */
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
  /** pairs of layer and head; head -1: the whole layer */
  readonly ablated: Int32Array
  /** counts the tokens of `answered`, too */
  readonly maxTokens: number
  /** the first tokens of the answer, which another engine has found: their pieces are not sent again */
  readonly answered: Int32Array
}

export interface GenerateStatistics {
  readonly finishReason: FinishReason
  readonly stopString: string | undefined
  readonly promptTokens: number
  readonly reusedTokens: number
  readonly promptMs: number
  readonly generateMs: number
  readonly tokens: number
  readonly acceptedDraftTokens: number
}

/** A call of one of the worker's handlers (worker.ts). */
export interface Call {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}
export interface Cancel {
  readonly cancel: number
}
/** The reader of a generation is behind (true) or has caught up (false): no token is computed meanwhile. */
export interface Pause {
  readonly pause: boolean
  readonly of: number
}
/** The last call: frees threads and memory. The answer's id is 0; ids of calls start at 1. */
export interface Close {
  readonly close: true
}
export type Message = Call | Cancel | Pause | Close
/** The answer to a request for threads: a port to each that runs. */
export interface Threads {
  readonly threads: readonly MessagePort[]
}
/** The only message to a worker that is a thread: its port to the engine's worker. */
export interface ForThread {
  readonly thread: MessagePort
}
export interface TranscribeCall {
  readonly sound: SoundRecord
  readonly record: SpeechRecord
  readonly words: boolean
  readonly reached?: ReachedWindow | undefined
}
/** A window that a transcription has reached, for another engine to go on there. */
export interface ReachedWindow {
  /** before it */
  readonly segments: readonly TranscriptSegment[]
  /** in 10 ms */
  readonly seek: number
  /** the tokens that its prompt continues */
  readonly context: Int32Array<ArrayBuffer>
  readonly language: string
  readonly languageProbabilities: Float32Array<ArrayBuffer>
}
/** Progress of a transcription: new segments, the fraction that is done, and the window that follows. */
export interface TranscriptionProgress extends ReachedWindow {
  readonly progress: number
}
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly pieces: readonly Piece[] }
  | { readonly id: number; readonly heard: TranscriptionProgress }
  | { readonly id: number; readonly spoken: SpokenPart }
  | { readonly id: number; readonly done: number; readonly of: number }
  | { readonly id: number; readonly error: { code: string; message: string; offset: number } }
  /** A request for that many threads. */
  | { readonly id: 0; readonly wanted: number }

/** The connection to the engine, in a worker or in the same thread. */
export interface Link {
  post(message: Message, transfer: ArrayBuffer[]): void
  end(): void
}
