// OpenAI's requests for speech, answered by a model that speaks.
import {
  checkArgument,
  checkOptions,
  integer,
  kReadChecks,
  modelWith,
  number,
  object,
  oneOf,
  text,
  type Check,
} from '../api/checks.js'
import type { Bytes } from '../api/arrays.js'
import { joined, toPcm } from '../audio/write-wav.js'
import type { SpokenPart, SpokenResult } from '../audio/speak-types.js'
import type { Model } from '../engine/types.js'

export interface SpeechRequest {
  readonly model?: string | undefined
  /** the text to speak */
  readonly input: string
  /** Only the model's own voice has a name: 'default'. A recording is an option of speak(). */
  readonly voice?: 'default' | undefined
  /** pcm: 16-bit, little-endian, of the model's rate. Default: wav; MP3 and others cannot be written. */
  readonly response_format?: 'wav' | 'pcm' | undefined
  /** as in speak() */
  readonly language?: string | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
}

const kChecks: Readonly<Record<keyof SpeechRequest, Check>> = {
  model: text,
  input: text,
  voice: oneOf('default'),
  response_format: oneOf('wav', 'pcm'),
  language: text,
  temperature: number(0),
  seed: integer(),
}

/** The whole speech as a file, and the warnings. Samples are turned to 16 bits as they come: less to hold until the end. */
export async function speechFile(
  parts: AsyncGenerator<SpokenPart, SpokenResult, void>,
  format: 'wav' | 'pcm' = 'wav',
  report?: (part: SpokenPart) => void,
): Promise<{ readonly bytes: Bytes; readonly warnings: readonly string[] }> {
  const all: Bytes[] = []
  let next = await parts.next()
  for (; !next.done; next = await parts.next()) {
    all.push(toPcm(next.value.samples))
    report?.(next.value)
  }
  const { warnings, sampleRate } = next.value
  return { bytes: joined(all, format === 'pcm' ? undefined : sampleRate), warnings }
}

/**
 * The answer of /v1/audio/speech: the bytes of a WAV file, or of PCM. Errors: 'invalid-argument' for a bad request, and those
 * of speak().
 */
export async function createSpeech(
  model: Pick<Model, 'speak'>,
  request: SpeechRequest,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Bytes> {
  checkArgument('createSpeech()', 'model', model, modelWith('speak'))
  checkArgument('createSpeech()', 'request', request, object)
  // In OpenAI's requests, null means absent.
  const given = Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== null),
  ) as unknown as SpeechRequest
  checkOptions('createSpeech()', given, kChecks)
  checkArgument('createSpeech()', 'input', given.input, text)
  checkOptions('createSpeech()', options, kReadChecks)
  const { input, language, temperature, seed, response_format: format = 'wav' } = given
  const spoken = model.speak(input, { language, temperature, seed, ...options })
  return (await speechFile(spoken, format)).bytes
}
