// A model that speaks, as the AI SDK's speech model.
import { GgufError } from '../api/errors.js'
import { kSpeaksAlone } from '../api/abilities.js'
import { createSpeech, type Model, type SpeechRequest } from '../engine/index.js'
import type { Loader } from './loader.js'
import type { ProviderModel, SpeechModel, SpeechModelSettings, Warning } from './types.js'

const ofSpeech = (message: string): Warning => ({ type: 'other', message })

export function speechModel(
  provider: string,
  modelId: string,
  loaded: Loader<ProviderModel>,
  { phonemize }: SpeechModelSettings,
): SpeechModel {
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    async doGenerate({
      text,
      voice,
      outputFormat,
      instructions,
      speed,
      language,
      abortSignal,
      providerOptions,
    }) {
      const model = await loaded(abortSignal)
      if (!('speak' in model)) throw new GgufError('unsupported', `The model "${modelId}" cannot speak.`)
      const warnings: Warning[] = []
      if (instructions !== undefined) warnings.push({ type: 'unsupported', feature: 'instructions' })
      const setsSpeed = (model as Partial<Pick<Model, 'info'>>).info?.architecture === kSpeaksAlone
      if (speed !== undefined && !setsSpeed) warnings.push({ type: 'unsupported', feature: 'speed' })
      const request = {
        input: text,
        voice,
        response_format: outputFormat,
        language,
        speed: setsSpeed ? speed : undefined,
        ...providerOptions?.['ggufscope'],
      }
      const audio = await createSpeech(model, request as SpeechRequest, {
        signal: abortSignal,
        phonemize,
        onDone: (result) => warnings.push(...result.warnings.map(ofSpeech)),
      })
      return { audio, warnings, response: { timestamp: new Date(), modelId } }
    },
  }
}
