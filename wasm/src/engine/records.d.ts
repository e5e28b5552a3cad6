// Records that the engine's classes exchange with JavaScript, named as in C++; for classes.d.ts. If an object lacks a
// field, Embind throws an error that names it.
import type { SpeechRecord } from '../audio/records.js'
import type { AdapterFacts as LoadedAdapter, SamplerNumbers, TriggerRecord } from './protocol.js'
import type { OperationName } from './types.js'

export type { AnswerOptions, ArrivedRows, ChosenAdapter, Facts } from './protocol.js'
export type { MemoryBytes, PlannedTensor, Sizes } from './protocol.js'
export type { Peaks } from './types.js'
export type AdapterFacts = Omit<LoadedAdapter, 'ignored'> & { readonly ignored: string }
export type GrammarTrigger = TriggerRecord
export type SamplerOptions = SamplerNumbers
export type TranscribeOptions = SpeechRecord

export interface Failure {
  readonly code: string
  readonly message: string
  readonly offset: number
}

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

export interface SpeakOptions {
  readonly temperature: number
  readonly topK: number
  readonly topP: number
  readonly seed: number
  readonly profile: string
  readonly language: string
}
