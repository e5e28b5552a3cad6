// Options and results of speak().
import type { AudioInput } from './types.js'
import type { Phonemize } from './phonemes.js'
import type { VoiceProfile } from './voice-profile.js'

export interface SpeakOptions {
  /**
   * A recording of the voice to speak with; for OuteTTS its profile; for Kokoro a name of info.voices. Default: the
   * model's own.
   */
  voice?: AudioInput | VoiceProfile | undefined
  /**
   * English name or ISO 639-1 code, for models that speak several languages such as Qwen3-TTS. Default: English. For
   * Kokoro what phonemize() gets; default: the voice's.
   */
  language?: string | undefined
  /** How fast, from 0.25 to 4, for models that plan durations such as Kokoro. Default: 1. */
  speed?: number | undefined
  /**
   * The phonemes of a clause, for models that read phonemes such as Kokoro. Others do not call it. Without it, the list of
   * words in the file is used, if there is one.
   */
  phonemize?: Phonemize | undefined
  /** The text is phonemes already, in the International Phonetic Alphabet. Default: false. */
  ipa?: boolean | undefined
  /** How much chance there is, from 0. Default: the model's. */
  temperature?: number | undefined
  /** A whole number, of which the lower 32 bits are used. Default: a new one every time. */
  seed?: number | undefined
  signal?: AbortSignal | undefined
}

/** The next samples of a text that is spoken. */
export interface SpokenPart {
  /** one channel, from -1 to 1 */
  readonly samples: Float32Array
  /** samples per second */
  readonly sampleRate: number
  /** share of the text that is spoken, 0 to 1; it grows with each sentence or two */
  readonly done: number
}

/** How a text was spoken. */
export interface SpokenResult {
  /** number of all samples */
  readonly sampleCount: number
  /** samples per second */
  readonly sampleRate: number
  /** milliseconds that it took, without the time that the reader was behind */
  readonly ms: number
  /** What a user should know, such as settings of the model that are not known. Usually empty. */
  readonly warnings: readonly string[]
}
