// Converts the options of a transcription to the engine's, and the engine's segments to the package's.
import {
  callback,
  checkOptions,
  flag,
  integer,
  number,
  oneOf,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import type { TranscribeOptions } from './types.js'

export const kTranscribeChecks: Readonly<Record<keyof TranscribeOptions, Check>> = {
  language: text,
  task: oneOf('transcribe', 'translate'),
  timestamps: flag,
  words: flag,
  prompt: text,
  carryPrompt: flag,
  conditionOnText: flag,
  keepContext: flag,
  singleSegment: flag,
  maxTokens: integer(0, 2 ** 31),
  maxLength: integer(0, 2 ** 31),
  splitOnWord: flag,
  suppressBlank: flag,
  suppressNonSpeech: flag,
  audioContext: integer(0, 2 ** 31),
  offset: number(0, 2 ** 22),
  duration: number(0, 2 ** 22),
  temperature: number(0),
  temperatureStep: number(0),
  bestOf: integer(1, 8),
  beamSize: integer(0, 8),
  entropyThreshold: number(),
  logprobThreshold: number(),
  noSpeechThreshold: number(),
  silenceThreshold: number(0, 1),
  maxInitialTimestamp: number(0),
  onSegment: callback,
  onProgress: callback,
  signal,
}

type SameOptions = Omit<
  TranscribeOptions,
  'task' | 'words' | 'offset' | 'duration' | 'onSegment' | 'onProgress' | 'signal'
>

/** SpeechOptions of wasm/bindings_speech.cpp. What is undefined has the core's default (TranscribeOptions). */
export interface SpeechRecord extends SameOptions {
  readonly translate?: boolean
  readonly tokenTimes?: boolean
  readonly offsetMs?: number
  readonly durationMs?: number
}

export function speechRecord(options: TranscribeOptions): SpeechRecord {
  checkOptions('transcribe()', options, kTranscribeChecks)
  const { task, words = false, offset = 0, duration = 0, onSegment, onProgress, signal: _, ...same } = options
  return {
    ...same,
    translate: task === 'translate',
    tokenTimes: words || (options.maxLength ?? 0) > 0,
    offsetMs: Math.round(offset * 1000),
    durationMs: Math.round(duration * 1000),
  }
}
