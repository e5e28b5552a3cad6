// Answers OpenAI's requests for embeddings.
import { GgufError } from '../api/errors.js'
import { normalizeRows } from '../engine/embeddings.js'
import { encodeBase64 } from '../media/data-address.js'
import { textsOf } from './completion.js'
import { checkCall, checkEmbeddingRequest } from './requests.js'
import type { CallOptions, CompletionModel, EmbeddingAnswer, EmbeddingRequest } from './types.js'

function base64(values: Float32Array): string {
  const view = new DataView(new ArrayBuffer(4 * values.length))
  values.forEach((value, i) => view.setFloat32(4 * i, value, true))
  return encodeBase64(new Uint8Array(view.buffer))
}

function shortened(values: Float32Array, dimensions: number | undefined): Float32Array {
  if (dimensions === undefined || dimensions === values.length) return values
  if (dimensions > values.length)
    throw new GgufError(
      'invalid-argument',
      `The vectors have ${values.length} dimensions, not ${dimensions}.`,
    )
  const some = values.slice(0, dimensions)
  normalizeRows(some, dimensions, 2)
  return some
}

/**
 * Embeds texts in OpenAI's format, with the file's pooling, normalized. Errors: those of embed(), 'unsupported' for
 * rerankers, which have no vectors, and for files whose pooling gives a vector for each token, and 'invalid-argument'
 * for options that are unknown or out of range.
 */
export function createEmbedding(
  model: CompletionModel,
  request: EmbeddingRequest & { readonly encoding_format: 'base64' },
  call?: CallOptions,
): Promise<EmbeddingAnswer<string>>
export function createEmbedding(
  model: CompletionModel,
  request: EmbeddingRequest & { readonly encoding_format?: 'float' | null | undefined },
  call?: CallOptions,
): Promise<EmbeddingAnswer>
export function createEmbedding(
  model: CompletionModel,
  request: EmbeddingRequest,
  call?: CallOptions,
): Promise<EmbeddingAnswer<number[] | string>>
export async function createEmbedding(
  model: CompletionModel,
  request: EmbeddingRequest,
  call: CallOptions = {},
): Promise<EmbeddingAnswer<number[] | string>> {
  checkCall('createEmbedding()', model, call)
  const { input, encoding_format, dimensions, ...given } = checkEmbeddingRequest('createEmbedding()', request)
  const texts = textsOf('The input', input)
  if (model.info.pooling === 'rank')
    throw new GgufError('unsupported', 'This model is a reranker and has no vectors: use createRerank().')
  if (model.info.pooling === 'none')
    throw new GgufError(
      'unsupported',
      "This model's file has the pooling type none: a vector for each token, not for each text. Use embed() with another pooling.",
    )
  let tokens = 0
  const vectors = await model.embed(texts as string[], {
    signal: call.signal,
    onDone: (done) => (tokens = done.tokens),
  })
  return {
    object: 'list',
    data: vectors.map((vector, index) => {
      const values = shortened(vector, dimensions)
      const embedding = encoding_format === 'base64' ? base64(values) : Array.from(values)
      return { object: 'embedding', index, embedding }
    }),
    model: given.model ?? model.info.architecture,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}
