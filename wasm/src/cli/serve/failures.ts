// Errors in the format of OpenAI's API.
import { GgufError, messageOf } from '../../api/errors.js'
import { QueueFull } from './queue.js'

/** An error of the request itself, found before the model runs. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    /** what clients of an API look for in its errors */
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    super(message)
  }
}

export interface Failure {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: {
    error: { message: string; type: string; param: null; code: string; details?: RequestError['details'] }
  }
}

const kServerFaults = new Set(['closed', 'wasm', 'crashed', 'out-of-memory'])

const typeOf = (status: number): string =>
  status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'server_error'

function failure(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  details?: RequestError['details'],
): Failure {
  const error = { message, type: typeOf(status), param: null, code, ...(details && { details }) }
  return { status, headers, body: { error } }
}

// Functions of the package that requests stand for.
const kFunctions =
  /(\. )?\b(?:create\w+|stream\w+|chat|generate|embed|rerank|speak|transcribe|decide|encodeChat|encodeMedia|renderChat|evaluate)\(\)/g

/** A message of the package, for clients that do not know its functions. */
const inRequestWords = (message: string): string =>
  message
    .replace(
      /^This model is a reranker and has no vectors: use createRerank\(\)/,
      'This model is a reranker and has no vectors: send it to /v1/rerank',
    )
    .replace(
      kFunctions,
      (_, start: string | undefined, at: number) =>
        `${start ?? ''}${start === undefined && at > 0 ? 'the' : 'The'} request`,
    )

export function failureOf(error: unknown): Failure {
  if (error instanceof RequestError)
    return failure(error.status, error.code, error.message, error.headers, error.details)
  if (error instanceof QueueFull) return failure(503, 'busy', error.message, { 'retry-after': '1' })
  if (!(error instanceof GgufError)) return failure(500, 'internal', messageOf(error))
  return failure(kServerFaults.has(error.code) ? 503 : 400, error.code, inRequestWords(error.message))
}
