// Answers requests that rank documents.
import { GgufError } from '../api/errors.js'
import { checkCall, checkRerankRequest } from './requests.js'
import type { CallOptions, CompletionModel, RerankAnswer, RerankRequest } from './types.js'

function textOf(document: unknown): string {
  const text =
    typeof document === 'object' && document !== null && 'text' in document ? document.text : document
  if (typeof text === 'string') return text
  throw new GgufError('invalid-argument', 'Each document must be a string, or an object with a text.')
}

/**
 * Scores how well documents answer a query; best first. Errors: those of rerank(), and 'invalid-argument' for options
 * that are unknown or out of range.
 */
export async function createRerank(
  model: CompletionModel,
  request: RerankRequest,
  call: CallOptions = {},
): Promise<RerankAnswer> {
  checkCall('createRerank()', model, call)
  const given = checkRerankRequest('createRerank()', request)
  const documents = given.documents!.map(textOf)
  let tokens = 0
  const options = {
    topN: given.top_n,
    signal: call.signal,
    onDone: (done: { tokens: number }) => (tokens = done.tokens),
  }
  const ranked = await model.rerank(given.query!, documents, options)
  return {
    object: 'list',
    results: ranked.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(given.return_documents && { document: { text: documents[index]! } }),
    })),
    model: given.model ?? model.info.architecture,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}
