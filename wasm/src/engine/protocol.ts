// What the page and the engine's worker say to each other. Every call has an answer; a generation has pieces before it.
import type { Piece, Precision, ProfiledOperation, Variant } from './types.js'
import type { ChooseOptions } from './variants.js'

/** In the engine's order. */
export const kPrecisions: readonly Precision[] = ['exact', 'fast', 'compact']

export interface FileHeader {
  readonly bytes: Uint8Array
  readonly fileSize: number | undefined
}

export interface Opened {
  readonly variant: Variant
  readonly reason: string
  readonly architecture: string
  readonly facts: readonly number[]
  readonly defaults: readonly number[]
  /** file, offset, rows, bytes of a row: of each tensor, in the order of the files */
  readonly plan: Float64Array
}

export interface Sizes {
  readonly context: number
  readonly batch: number
  readonly halfCache: boolean
  readonly texts: number
  readonly precision: Precision
}

export interface GenerateCall {
  readonly text: number
  readonly tokens: Int32Array
  /** in the order of the sampler's table, then seed, alternatives, ignore end, shift, guesses */
  readonly options: Float64Array
  readonly stop: readonly string[]
  readonly bias: Float64Array
  /** GBNF; empty: any text */
  readonly grammar: string
  readonly maxTokens: number
}

export type FinishReason = 'length' | 'stop' | 'end' | 'context'

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
  open: [readonly FileHeader[], Opened]
  memory: [Sizes, Float64Array]
  begin: [Sizes, void]
  vocabulary: [void, void]
  /** parts: request of the plan, first row, offset in bytes, bytes: of each tensor. The memory comes back. */
  rows: [{ bytes: Uint8Array<ArrayBuffer>; parts: Float64Array }, ArrayBuffer]
  start: [Sizes, number]
  generate: [GenerateCall, Generated]
  evaluate: [Int32Array, Float32Array]
  embed: [Int32Array, Float32Array]
  save: [{ text: number }, Uint8Array]
  restore: [{ text: number; bytes: Uint8Array }, void]
  fork: [{ from: number; to: number }, void]
  drop: [{ text: number }, void]
  profile: [void, readonly ProfiledOperation[]]
  /** bytes, words, floats, near, far */
  peaks: [void, Float64Array]
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
/** Last of all: lets go of threads and memory. The answer's id is 0; those of calls begin at 1. */
export interface Close {
  readonly close: true
}
export type Message = Call | Cancel | Close
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly pieces: readonly Piece[] }
  | { readonly id: number; readonly error: { code: string; message: string; offset: number } }
