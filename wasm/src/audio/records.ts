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

/** SpeechOptions of wasm/bindings_speech.cpp. */
export function speechRecord(options: TranscribeOptions = {}) {
  checkOptions('transcribe()', options, kTranscribeChecks)
  const { words = false, maxLength = 0 } = options
  return {
    language: options.language ?? 'auto',
    prompt: options.prompt ?? '',
    translate: options.task === 'translate',
    timestamps: options.timestamps ?? true,
    singleSegment: options.singleSegment ?? false,
    keepContext: options.keepContext ?? false,
    conditionOnText: options.conditionOnText ?? true,
    suppressBlank: options.suppressBlank ?? true,
    suppressNonSpeech: options.suppressNonSpeech ?? false,
    tokenTimes: words || maxLength > 0,
    splitOnWord: options.splitOnWord ?? false,
    carryPrompt: options.carryPrompt ?? false,
    maxTokens: options.maxTokens ?? 0,
    maxLength,
    audioContext: options.audioContext ?? 0,
    offsetMs: Math.round((options.offset ?? 0) * 1000),
    durationMs: Math.round((options.duration ?? 0) * 1000),
    bestOf: options.bestOf ?? 5,
    beamSize: options.beamSize ?? 0,
    temperature: options.temperature ?? 0,
    temperatureStep: options.temperatureStep ?? 0.2,
    entropyThreshold: options.entropyThreshold ?? 2.4,
    logProbabilityThreshold: options.logprobThreshold ?? -1,
    noSpeechThreshold: options.noSpeechThreshold ?? 0.6,
    silenceThreshold: options.silenceThreshold ?? 0.0003,
    maxInitialTimestamp: options.maxInitialTimestamp ?? 1,
    lengthPenalty: -1,
  }
}
export type SpeechRecord = ReturnType<typeof speechRecord>
