// The accepted forms of audio, transcripts, and the options of transcribe().
import type { Base64File } from '../media/data-address.js'

/** Audio in the form of the Web Audio API's AudioBuffer. */
export interface AudioBufferLike {
  readonly numberOfChannels: number
  readonly sampleRate: number
  getChannelData(channel: number): Float32Array
}

/**
 * Samples from -1 to 1 at 16 kHz; samples at another rate, with one or several channels; an AudioBuffer; or the bytes
 * of a file, also as base64 or a data: address: WAV and RF64 (PCM of 8, 16, 24 and 32 bits, floats, A-law, mu-law)
 * everywhere, in a page every format that the browser decodes, and in Node those of the package audio-decode if it is
 * installed. Several channels are averaged. From 2,000 to 768,000 samples per second.
 */
export type AudioInput =
  | Float32Array
  | { readonly samples: Float32Array | readonly Float32Array[]; readonly sampleRate: number }
  | AudioBufferLike
  | Uint8Array
  | ArrayBuffer
  | Blob
  | Base64File
  | string
  | URL

export interface TranscriptToken {
  readonly id: number
  readonly probability: number
  readonly logprob: number
  /** seconds, with the option `words`; otherwise undefined */
  readonly start?: number | undefined
  readonly end?: number | undefined
}

export interface TranscriptWord {
  readonly word: string
  /** seconds */
  readonly start: number
  readonly end: number
  /** the smallest probability of its tokens */
  readonly probability: number
}

export interface TranscriptSegment {
  /** in seconds from the beginning of the audio; the last segment may end after the audio */
  readonly start: number
  readonly end: number
  /** the model's text, usually with a leading space */
  readonly text: string
  /** tokens of the text, and the timestamp after it if there is one */
  readonly tokens: readonly TranscriptToken[]
  /** present with the option `words` */
  readonly words?: readonly TranscriptWord[] | undefined
  /** of the segment's window: probability of silence, mean logprob of its tokens, temperature of sampling */
  readonly noSpeechProbability: number
  readonly meanLogprob: number
  readonly temperature: number
  /** seconds: the beginning of that window */
  readonly seek: number
}

export interface Transcription {
  readonly text: string
  /** code: 'en' */
  readonly language: string
  /** its English name, as Whisper and OpenAI write it: 'english' */
  readonly languageName: string
  /** probabilities by language code, if the language was detected */
  readonly languageProbabilities?: Readonly<Record<string, number>> | undefined
  /** length of the audio in seconds */
  readonly duration: number
  /** what the audio file lacks, such as samples that its header claims; otherwise empty */
  readonly warnings: readonly string[]
  readonly segments: readonly TranscriptSegment[]
}

export interface TranscribeOptions {
  /**
   * Code or English name of the spoken language, in any case, with or without a region ('en', 'English', 'en-US');
   * 'auto': detect it. Default: 'auto'.
   */
  language?: string | undefined
  /** translate: translate into English. Default: 'transcribe'. */
  task?: 'transcribe' | 'translate' | undefined
  /** Whether the model writes timestamps. Without them, each window of 30 s is one segment. Default: true. */
  timestamps?: boolean | undefined
  /** Times of words and tokens, by dynamic time warping of the decoder's attention to the audio. Default: false. */
  words?: boolean | undefined
  /** Text that precedes the transcript, as an example of names, spelling and style. Default: none. */
  prompt?: string | undefined
  /** Uses the prompt for every window, not only for the first. Default: false. */
  carryPrompt?: boolean | undefined
  /** Uses the text of one window as the prompt of the next. Default: true. */
  conditionOnText?: boolean | undefined
  /** Uses the text of the last transcribe() as the prompt of this one. Default: false. */
  keepContext?: boolean | undefined
  /** Makes each window one segment. Default: false. */
  singleSegment?: boolean | undefined
  /** Largest number of tokens in a window; 0: no limit. Default: 0. */
  maxTokens?: number | undefined
  /** Largest number of characters in a segment; longer segments are split. 0: no limit. Default: 0. */
  maxLength?: number | undefined
  /** maxLength splits only between words. Default: false. */
  splitOnWord?: boolean | undefined
  /** Suppresses a blank and the end token at the beginning of a window. Default: true. */
  suppressBlank?: boolean | undefined
  /** Suppresses tokens that are not speech, such as notes and brackets. Default: false. */
  suppressNonSpeech?: boolean | undefined
  /**
   * Number of 20 ms frames that the encoder computes for a window; fewer are faster. 0: the model's 1500. Default: 0.
   */
  audioContext?: number | undefined
  /** Start of the transcription, in seconds. Default: 0. */
  offset?: number | undefined
  /** Seconds to transcribe; 0: up to the end. Default: 0. */
  duration?: number | undefined
  /** Temperature of the first attempt. Default: 0 (greedy). */
  temperature?: number | undefined
  /** Added to the temperature when a window fails, up to 1; 0: no further attempts. Default: 0.2. */
  temperatureStep?: number | undefined
  /** Number of sequences sampled at temperatures above 0; the best one is used. From 1 to 8. Default: 5. */
  bestOf?: number | undefined
  /** Number of beams at temperature 0, from 2 to 8; 0 or 1: greedy. Default: 0. */
  beamSize?: number | undefined
  /**
   * A window fails if the entropy of its last 32 tokens is below this, because the text repeats itself. Default: 2.4.
   */
  entropyThreshold?: number | undefined
  /** A window fails if the mean logprob of its tokens is below this. Default: -1. */
  logprobThreshold?: number | undefined
  /** A window that fails by logprobs counts as silence if its probability of silence is above this. Default: 0.6. */
  noSpeechThreshold?: number | undefined
  /**
   * Audio is silent where the root mean square of 10 ms is below this, from 0 to 1. Silence of at least 5 s that fills
   * a window is skipped, and so is audio that is silent everywhere. 0: nothing is skipped, as in whisper.cpp.
   * Default: 0.0003 (-70 dB).
   */
  silenceThreshold?: number | undefined
  /** Largest first timestamp of a window, in seconds. Default: 1. */
  maxInitialTimestamp?: number | undefined
  /** Called for each segment when its window is done. */
  onSegment?: ((segment: TranscriptSegment) => void) | undefined
  /** Called with the fraction of the audio that is done, from 0 to 1. */
  onProgress?: ((done: number) => void) | undefined
  signal?: AbortSignal | undefined
}
