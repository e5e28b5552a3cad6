// Answers OpenAI's requests for transcriptions.
import { kTranscribeChecks } from '../audio/records.js'
import { checkArgument, checkOptions, modelWith, object } from '../api/checks.js'
import { toSrt, toText, toVtt } from '../audio/formats.js'
import type { AudioInput, TranscribeOptions, Transcription } from '../audio/types.js'
import type { SpeechModel } from '../engine/types.js'
import { GgufError } from '../api/errors.js'

/** OpenAI's request for /v1/audio/transcriptions, with the audio as its file. */
export interface TranscriptionRequest {
  file: AudioInput
  model?: string | undefined
  language?: string | undefined
  prompt?: string | undefined
  temperature?: number | undefined
  /** Default: 'json'. */
  response_format?: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | undefined
  /** With verbose_json. Default: ['segment']. */
  timestamp_granularities?: readonly ('word' | 'segment')[] | undefined
}

export interface VerboseTranscription {
  task: 'transcribe' | 'translate'
  /** English name: 'english' */
  language: string
  duration: number
  text: string
  segments?: {
    id: number
    seek: number
    start: number
    end: number
    text: string
    tokens: number[]
    temperature: number
    avg_logprob: number
    compression_ratio: number
    no_speech_prob: number
  }[]
  words?: { word: string; start: number; end: number }[]
  /** what is wrong with the audio, which was transcribed nevertheless; absent if nothing is */
  warnings?: readonly string[]
}

/** The size of a text divided by its size after deflate. It is high for a text that repeats itself. */
async function compressionRatio(text: string): Promise<number> {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length === 0) return 0
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
  return bytes.length / (await new Response(stream).arrayBuffer()).byteLength
}

const warningsOf = ({ warnings }: Transcription) => (warnings.length > 0 ? { warnings } : {})

async function verbose(
  heard: Transcription,
  { task = 'transcribe' }: TranscribeOptions,
  granularities: readonly string[],
): Promise<VerboseTranscription> {
  const segments = granularities.includes('segment')
    ? await Promise.all(
        heard.segments.map(async (s, id) => ({
          id,
          seek: Math.round(s.seek * 100),
          start: s.start,
          end: s.end,
          text: s.text,
          tokens: s.tokens.map((token) => token.id),
          temperature: s.temperature,
          avg_logprob: s.meanLogprob,
          compression_ratio: await compressionRatio(s.text),
          no_speech_prob: s.noSpeechProbability,
        })),
      )
    : undefined
  const words = granularities.includes('word')
    ? heard.segments.flatMap((s) =>
        (s.words ?? []).map(({ word, start, end }) => ({ word: word.trim(), start, end })),
      )
    : undefined
  return {
    task,
    language: heard.languageName,
    duration: heard.duration,
    text: heard.text,
    ...(segments && { segments }),
    ...(words && { words }),
    ...warningsOf(heard),
  }
}

type Hearing = Pick<SpeechModel, 'transcribe'>

/**
 * A transcript in OpenAI's format: { text }, a verbose_json, or a text (text, srt, vtt). The first two also have the
 * warnings of transcribe(), to which options are passed. Errors of transcribe().
 */
export async function createTranscription(
  model: Hearing,
  request: TranscriptionRequest & { response_format: 'text' | 'srt' | 'vtt' },
  options?: TranscribeOptions,
): Promise<string>
export async function createTranscription(
  model: Hearing,
  request: TranscriptionRequest & { response_format: 'verbose_json' },
  options?: TranscribeOptions,
): Promise<VerboseTranscription>
export async function createTranscription(
  model: Hearing,
  request: TranscriptionRequest & { response_format?: 'json' | undefined },
  options?: TranscribeOptions,
): Promise<{ text: string; warnings?: readonly string[] }>
export async function createTranscription(
  model: Hearing,
  request: TranscriptionRequest,
  options: TranscribeOptions = {},
): Promise<string | VerboseTranscription | { text: string }> {
  checkArgument('createTranscription()', 'model', model, modelWith('transcribe'))
  checkArgument('createTranscription()', 'request', request, object)
  checkOptions('createTranscription()', options, kTranscribeChecks)
  const { file, language, prompt, temperature, response_format: format = 'json' } = request
  const granularities = request.timestamp_granularities ?? ['segment']
  const all: TranscribeOptions = {
    ...options,
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
    ...(temperature !== undefined && { temperature }),
    words: options.words ?? (format === 'verbose_json' && granularities.includes('word')),
  }
  const writers = { text: toText, srt: toSrt, vtt: toVtt }
  if (format !== 'json' && format !== 'verbose_json' && !Object.hasOwn(writers, format))
    throw new GgufError(
      'invalid-argument',
      `response_format is json, text, srt, verbose_json or vtt, not ${String(format)}.`,
    )
  const heard = await model.transcribe(file, all)
  if (format === 'json') return { text: heard.text, ...warningsOf(heard) }
  if (format === 'verbose_json') return await verbose(heard, all, granularities)
  return writers[format](heard)
}
