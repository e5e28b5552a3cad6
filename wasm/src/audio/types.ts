/** Sound in the platform's shape: an AudioBuffer of the Web Audio API has it. */
export interface AudioBufferLike {
  readonly numberOfChannels: number
  readonly sampleRate: number
  getChannelData(channel: number): Float32Array
}

/**
 * Samples from -1 to 1 at 16 kHz; samples at another rate, of one channel or several; what decodeAudioData gives; or a
 * file's bytes: WAV (PCM of 8, 16, 24 and 32 bits, floats) everywhere, and what the browser decodes in a page. Several
 * channels are averaged.
 */
export type AudioInput =
  | Float32Array
  | { readonly samples: Float32Array | readonly Float32Array[]; readonly sampleRate: number }
  | AudioBufferLike
  | Uint8Array
  | ArrayBuffer
  | Blob

export interface TranscriptToken {
  readonly id: number
  readonly probability: number
  readonly logprob: number
  /** seconds, with the option words; undefined without */
  readonly start?: number | undefined
  readonly end?: number | undefined
}

export interface TranscriptWord {
  readonly word: string
  /** seconds */
  readonly start: number
  readonly end: number
  /** the least of its tokens' */
  readonly probability: number
}

export interface TranscriptSegment {
  /** seconds of the sound; the last one may end behind it */
  readonly start: number
  readonly end: number
  /** as the model writes it, most often with a space in front */
  readonly text: string
  /** of the text, and the timestamp behind it where there is one */
  readonly tokens: readonly TranscriptToken[]
  /** with the option words */
  readonly words?: readonly TranscriptWord[] | undefined
  /** of the window that it was heard in: that nobody speaks, the mean of its tokens' logprobs, how it was drawn */
  readonly noSpeechProbability: number
  readonly meanLogprob: number
  readonly temperature: number
  /** seconds: where that window begins */
  readonly seek: number
}

export interface Transcription {
  readonly text: string
  /** code: 'en' */
  readonly language: string
  /** by code, where the language was detected */
  readonly languageProbabilities?: Readonly<Record<string, number>> | undefined
  /** seconds of the sound */
  readonly duration: number
  readonly segments: readonly TranscriptSegment[]
}

export interface TranscribeOptions {
  /** Code or English name of the language that is spoken; 'auto': detected. Default: 'auto'. */
  language?: string | undefined
  /** translate: into English. Default: 'transcribe'. */
  task?: 'transcribe' | 'translate' | undefined
  /** Whether the model writes timestamps; without, each window of 30 s is one segment. Default: true. */
  timestamps?: boolean | undefined
  /** Times of words and tokens, estimated of the probabilities of timestamps and of the loudness. Default: false. */
  words?: boolean | undefined
  /** Text that stands before the transcript: names, spelling, style. Default: none. */
  prompt?: string | undefined
  /** The prompt stands before every window, not before the first alone. Default: false. */
  carryPrompt?: boolean | undefined
  /** What was heard in one window is the prompt of the next. Default: true. */
  conditionOnText?: boolean | undefined
  /** What the last transcribe() heard is the prompt of this one. Default: false. */
  keepContext?: boolean | undefined
  /** All of a window is one segment. Default: false. */
  singleSegment?: boolean | undefined
  /** Tokens of a window at most; 0: no limit. Default: 0. */
  maxTokens?: number | undefined
  /** Characters of a segment at most, where longer ones are cut; 0: no limit. Default: 0. */
  maxLength?: number | undefined
  /** maxLength cuts between words only. Default: false. */
  splitOnWord?: boolean | undefined
  /** Neither a blank nor the end comes first. Default: true. */
  suppressBlank?: boolean | undefined
  /** Notes, brackets and other signs that are no speech never come. Default: false. */
  suppressNonSpeech?: boolean | undefined
  /** Frames of 20 ms that the encoder makes of a window; fewer are faster. 0: the model's 1500. Default: 0. */
  audioContext?: number | undefined
  /** Seconds of the sound to begin at. Default: 0. */
  offset?: number | undefined
  /** Seconds of the sound to hear; 0: all. Default: 0. */
  duration?: number | undefined
  /** The first temperature. Default: 0, the likeliest tokens. */
  temperature?: number | undefined
  /** Added where a window fails, up to a temperature of 1; 0: what failed stays. Default: 0.2. */
  temperatureStep?: number | undefined
  /** Sequences drawn side by side at temperatures above 0, of which the best is taken. From 1 to 8. Default: 5. */
  bestOf?: number | undefined
  /** Beams at temperature 0, from 2 to 8; 0 or 1: greedy. Default: 0. */
  beamSize?: number | undefined
  /** A window fails where the entropy of its last 32 tokens is below this: it repeats itself. Default: 2.4. */
  entropyThreshold?: number | undefined
  /** A window fails where the mean of its tokens' logprobs is below this. Default: -1. */
  logprobThreshold?: number | undefined
  /** A window with a likelier silence than this does not fail for its logprobs: it is silent. Default: 0.6. */
  noSpeechThreshold?: number | undefined
  /** The first timestamp is at most so many seconds into the window. Default: 1. */
  maxInitialTimestamp?: number | undefined
  /** Told of each segment when its window is done. */
  onSegment?: ((segment: TranscriptSegment) => void) | undefined
  /** Told how much of the sound is done, from 0 to 1. */
  onProgress?: ((done: number) => void) | undefined
  signal?: AbortSignal | undefined
}
