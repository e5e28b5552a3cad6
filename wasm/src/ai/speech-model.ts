// A model that speaks, as the AI SDK's speech model.
import { GgufError } from '../api/errors.js'
import { createSpeech, type SpeechRequest } from '../engine/index.js'
import type { ProviderModel, SpeechModel, Warning } from './types.js'

const ofSpeech = (message: string): Warning => ({ type: 'other', message })

export function speechModel(
  provider: string,
  modelId: string,
  loaded: () => Promise<ProviderModel>,
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
      const model = await loaded()
      if (!('speak' in model)) throw new GgufError('unsupported', `The model "${modelId}" cannot speak.`)
      const warnings: Warning[] = []
      if (instructions !== undefined) warnings.push({ type: 'unsupported', feature: 'instructions' })
      if (speed !== undefined) warnings.push({ type: 'unsupported', feature: 'speed' })
      const request = {
        input: text,
        voice,
        response_format: outputFormat,
        language,
        ...providerOptions?.['ggufscope'],
      }
      const audio = await createSpeech(model, request as SpeechRequest, {
        signal: abortSignal,
        onDone: (result) => warnings.push(...result.warnings.map(ofSpeech)),
      })
      return { audio, warnings, response: { timestamp: new Date(), modelId } }
    },
  }
}
