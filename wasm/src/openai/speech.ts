// OpenAI's requests for speech, answered by a model that speaks.
import {
  callback,
  checkArgument,
  checkOptions,
  either,
  flag,
  seed,
  kProgressChecks,
  modelWith,
  number,
  object,
  oneOf,
  text,
  type Check,
} from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'
import { callBack } from '../api/callbacks.js'
import { GgufError } from '../api/errors.js'
import { joined, toPcm } from '../audio/write-wav.js'
import type { Phonemize } from '../audio/phonemes.js'
import type { SpokenPart, SpokenResult } from '../audio/speak-types.js'
import type { VoiceProfile } from '../audio/voice-profile.js'
import type { Model } from '../engine/types.js'
import { encodeBase64 } from '../media/data-address.js'

export interface SpeechRequest {
  readonly model?: string | undefined
  /** the text to speak */
  readonly input: string
  /**
   * 'default' is the model's own voice; Kokoro has others, whose names info.voices lists. For OuteTTS, a profile. A
   * recording is an option of speak().
   */
  readonly voice?: string | VoiceProfile | undefined
  /** pcm: 16-bit, little-endian, of the model's rate. Default: wav; MP3 and others cannot be written. */
  readonly response_format?: 'wav' | 'pcm' | undefined
  /** audio: the whole file. sse, for the server alone: events while it is made, always pcm. Default: audio. */
  readonly stream_format?: 'audio' | 'sse' | undefined
  /** as in speak() */
  readonly language?: string | undefined
  readonly speed?: number | undefined
  readonly ipa?: boolean | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
}

const nameOfVoice: Check = (value) =>
  typeof value === 'string' && !value.startsWith('data:') ? undefined : 'the name of a voice'

const kChecks: Readonly<Record<keyof SpeechRequest, Check>> = {
  model: text,
  input: text,
  voice: either(nameOfVoice, object),
  response_format: oneOf('wav', 'pcm'),
  stream_format: oneOf('audio', 'sse'),
  language: text,
  speed: number(0.25, 4),
  ipa: flag,
  temperature: number(0),
  seed,
}

/** Options of createSpeech() besides its request. */
export interface SpeechOptions {
  signal?: AbortSignal | undefined
  /** as in speak(), for models that read phonemes */
  phonemize?: Phonemize | undefined
  /** Called with the share of the text that is spoken, 0 to 1, after each part. An error that it throws ends the speech. */
  onProgress?: ((done: number) => void) | undefined
  /** Called once at the end, with the warnings among others. */
  onDone?: ((result: SpokenResult) => void) | undefined
}

/** An event of the server's stream. */
type SpeechEvent =
  | {
      readonly type: 'speech.audio.delta'
      /** base64 of PCM */
      readonly audio: string
      readonly done: number
    }
  | {
      readonly type: 'speech.audio.done'
      readonly sample_rate: number
      readonly sample_count: number
      readonly warnings: readonly string[]
    }

/** The whole speech as a file. Samples are turned to 16 bits as they come: less to hold until the end. */
export async function speechFile(
  parts: AsyncGenerator<SpokenPart, SpokenResult, void>,
  format: 'wav' | 'pcm',
  { onProgress, onDone }: SpeechOptions,
): Promise<Bytes> {
  const all: Bytes[] = []
  let next = await parts.next()
  try {
    for (; !next.done; next = await parts.next()) {
      all.push(toPcm(next.value.samples))
      await callBack(onProgress, next.value.done)
    }
  } finally {
    if (!next.done) await parts.return(undefined as never)
  }
  await callBack(onDone, next.value)
  return joined(all, format === 'pcm' ? undefined : next.value.sampleRate)
}

/** Checks a request. In OpenAI's requests, null means absent. */
function checked(model: Pick<Model, 'speak'>, request: SpeechRequest): SpeechRequest {
  checkArgument('createSpeech()', 'model', model, modelWith('speak'))
  checkArgument('createSpeech()', 'request', request, object)
  const given = Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== null),
  ) as unknown as SpeechRequest
  checkOptions('createSpeech()', given, kChecks)
  checkArgument('createSpeech()', 'input', given.input, text)
  return given
}

function speaking(
  model: Pick<Model, 'speak'>,
  { input, voice, language, speed, ipa, temperature, seed }: SpeechRequest,
  { signal, phonemize }: SpeechOptions,
): AsyncGenerator<SpokenPart, SpokenResult, void> {
  const given = voice === 'default' ? undefined : voice
  const options = { voice: given, language, speed, ipa, temperature, seed }
  return model.speak(input, { ...options, phonemize, signal })
}

/**
 * The answer of /v1/audio/speech: the bytes of a WAV file, or of PCM. Errors: 'invalid-argument' for a bad request, and those
 * of speak().
 */
export async function createSpeech(
  model: Pick<Model, 'speak'>,
  request: SpeechRequest,
  options: SpeechOptions = {},
): Promise<Bytes> {
  const given = checked(model, request)
  if (given.stream_format === 'sse')
    throw new GgufError(
      'invalid-argument',
      'createSpeech() returns a whole file: leave out stream_format. speak() yields parts while they are made.',
    )
  checkOptions('createSpeech()', options, { ...kProgressChecks, phonemize: callback, onDone: callback })
  return await speechFile(speaking(model, given, options), given.response_format ?? 'wav', options)
}

/** The events of a request with stream_format sse. A bad request is an error at once. */
export function speechEvents(
  model: Pick<Model, 'speak'>,
  request: SpeechRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechEvent, void, void> {
  const given = checked(model, request)
  if (given.response_format === 'wav')
    throw new GgufError(
      'invalid-argument',
      'A WAV file begins with its length, which a stream does not know: with stream_format sse, response_format is pcm.',
    )
  return eventsOf(speaking(model, given, { signal }))
}

async function* eventsOf(
  parts: AsyncGenerator<SpokenPart, SpokenResult, void>,
): AsyncGenerator<SpeechEvent, void, void> {
  let next = await parts.next()
  try {
    for (; !next.done; next = await parts.next()) {
      const { samples, done } = next.value
      yield { type: 'speech.audio.delta', audio: encodeBase64(toPcm(samples)), done }
    }
  } finally {
    if (!next.done) await parts.return(undefined as never)
  }
  const { sampleRate, sampleCount, warnings } = next.value
  yield { type: 'speech.audio.done', sample_rate: sampleRate, sample_count: sampleCount, warnings }
}
