// A speech model, as the AI SDK's transcription model.
import { GgufError } from '../api/errors.js'
import type { TranscribeOptions } from '../audio/types.js'
import type { Loader } from './loader.js'
import type { ProviderModel, TranscriptionModel } from './types.js'

interface Timed {
  readonly start: number
  readonly end: number
}

const timed = (text: string, { start, end }: Timed) => ({ text, startSecond: start, endSecond: end })

export function transcriptionModel(
  provider: string,
  modelId: string,
  loaded: Loader<ProviderModel>,
): TranscriptionModel {
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    async doGenerate({ audio, timestampGranularities = [], abortSignal, providerOptions }) {
      const model = await loaded(abortSignal)
      if (!('transcribe' in model))
        throw new GgufError('unsupported', `The model "${modelId}" cannot transcribe: load a Whisper model.`)
      const own: TranscribeOptions = providerOptions?.['ggufscope'] ?? {}
      const words = own.words ?? timestampGranularities.includes('word')
      const file = typeof audio === 'string' ? { base64: audio, name: 'The audio' } : audio
      const heard = await model.transcribe(file, { ...own, words, signal: abortSignal })
      const { segments } = heard
      return {
        text: heard.text.trim(),
        segments: segments.map((segment) => timed(segment.text.trim(), segment)),
        ...(words && {
          words: segments.flatMap((segment) =>
            (segment.words ?? []).map((word) => timed(word.word.trim(), word)),
          ),
        }),
        language: heard.language,
        durationInSeconds: heard.duration,
        warnings: heard.warnings.map((message) => ({ type: 'other', message })),
        response: { timestamp: new Date(), modelId },
      }
    },
  }
}
