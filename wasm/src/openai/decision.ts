// Answers requests for decisions, in the format of /v1/systemone.
import { checkArgument, object } from '../api/checks.js'
import { GgufError } from '../api/errors.js'
import type { DecisionQuestion } from '../decision/types.js'
import { checkCall } from './requests.js'
import type { CallOptions, CompletionModel, DecisionAnswer, DecisionRequest } from './types.js'

/** Media, which are refused; llama.cpp's server has the same messages for them. */
function checkMedia(given: Readonly<Record<string, unknown>>): void {
  const isGiven = (value: unknown): boolean =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  if (isGiven(given['videos'])) throw new GgufError('invalid-argument', '"videos" is not supported')
  for (const name of ['files', 'images']) {
    const list = given[name]
    if (!isGiven(list)) continue
    if (!Array.isArray(list)) throw new GgufError('invalid-argument', `"${name}" must be an array`)
    if (list.some((one) => typeof one !== 'string' || !one.startsWith('data:')))
      throw new GgufError(
        'invalid-argument',
        'images must be data URLs (data:image/...;base64,... or data:audio/...;base64,...)',
      )
    throw new GgufError('unsupported', 'Decisions about images or audio are not supported.')
  }
}

/**
 * Decides all questions of a request. Errors: those of decideAll(); 'unsupported' for images and audio; unknown fields
 * are ignored, as in llama.cpp's server.
 */
export async function createDecision(
  model: CompletionModel,
  request: DecisionRequest,
  call: CallOptions = {},
): Promise<DecisionAnswer> {
  checkCall('createDecision()', model, call)
  checkArgument('createDecision()', 'request', request, object)
  checkMedia(request as unknown as Readonly<Record<string, unknown>>)
  const { state, questions, model: name } = request
  let tokens = 0
  const answers = await model.decideAll<Readonly<Record<string, DecisionQuestion>>>(
    { state, questions },
    { signal: call.signal, onDone: (done) => (tokens = done.tokens) },
  )
  return {
    model: name ?? model.info.architecture,
    answers,
    usage: { input_tokens: tokens, output_tokens: 0 },
  }
}
