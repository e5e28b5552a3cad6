// Answers requests for decisions, in the format of /v1/systemone.
import { checkArgument, object } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { DecisionQuestion } from '../decision/types.js'
import type { MediaPart } from '../engine/types.js'
import { partOfAddress } from '../media/files.js'
import { checkCall } from './requests.js'
import type { CallOptions, CompletionModel, DecisionAnswer, DecisionRequest } from './types.js'

/** Images and audio of a request; llama.cpp's server has the same messages for others. */
function mediaOf(given: DecisionRequest & { readonly videos?: unknown }): MediaPart[] {
  const isGiven = (value: unknown): boolean =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  if (isGiven(given.videos)) throw new GgufError('invalid-argument', '"videos" is not supported')
  return (['files', 'images'] as const).flatMap((name) => {
    const list: unknown = given[name]
    if (!isGiven(list)) return []
    if (!Array.isArray(list)) throw new GgufError('invalid-argument', `"${name}" must be an array`)
    return list.map((one: unknown) => {
      const part =
        typeof one === 'string' && one.startsWith('data:') ? partOfAddress(one, 'A file') : undefined
      if (part && part.type !== 'text') return part
      throw new GgufError(
        'invalid-argument',
        'images must be data URLs (data:image/...;base64,... or data:audio/...;base64,...)',
      )
    })
  })
}

/**
 * Decides all questions of a request. Errors: those of decideAll(). Unknown fields are ignored, as in llama.cpp's
 * server.
 */
export async function createDecision(
  model: CompletionModel,
  request: DecisionRequest,
  call: CallOptions = {},
): Promise<DecisionAnswer> {
  checkCall('createDecision()', model, call)
  checkArgument('createDecision()', 'request', request, object)
  const media = mediaOf(request)
  const { state, questions, model: name } = request
  let tokens = 0
  const answers = await model.decideAll<Readonly<Record<string, DecisionQuestion>>>(
    { state, questions, ...(media.length > 0 && { media }) },
    { signal: call.signal, onDone: (done) => (tokens = done.tokens) },
  )
  return {
    model: name ?? model.info.architecture,
    answers,
    usage: { input_tokens: tokens, output_tokens: 0 },
  }
}
