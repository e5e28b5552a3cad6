// Tells the kinds of loaded models apart, for doors that take either.
import { GgufError } from '../api/errors.js'
import type { LoadedModel, Model, SpeechModel } from './types.js'

/** Error: 'unsupported' for a speech model. */
export function textModelOf(model: LoadedModel): Model {
  if ('generate' in model) return model
  throw new GgufError('unsupported', 'A Whisper model transcribes speech. It does not generate text.')
}

/** Error: 'unsupported' for a text model. */
export function speechModelOf(model: LoadedModel): SpeechModel {
  if ('transcribe' in model) return model
  throw new GgufError(
    'unsupported',
    `A model of architecture ${model.info.architecture} cannot transcribe: a Whisper model is needed.`,
  )
}
