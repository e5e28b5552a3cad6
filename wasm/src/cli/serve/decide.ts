// Answers /v1/systemone, as llama.cpp's server does.
import { GgufError } from '../../api/errors.js'
import { createDecision, type CompletionModel, type DecisionRequest } from '../../engine/index.js'
import { RequestError } from './failures.js'

/** A body that is no object lacks a state. The answer names the served model. Errors: 501 for media. */
export async function decide(
  { model, id }: { readonly model: CompletionModel; readonly id: string },
  body: unknown,
  signal: AbortSignal,
): Promise<{ json: unknown }> {
  const given = typeof body === 'object' && !Array.isArray(body) ? body : {}
  try {
    return { json: await createDecision(model, { ...given, model: id } as DecisionRequest, { signal }) }
  } catch (error) {
    if (error instanceof GgufError && error.code === 'unsupported')
      throw new RequestError(501, error.code, error.message)
    throw error
  }
}
