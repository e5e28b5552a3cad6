// Errors of requests. They state the host, the byte, and what to do.
import { GgufError, quoted, type GgufErrorCode } from '../api/errors.js'

/** A transient failure, after which the request is retried. delayMs: the delay that the server requested. */
export class TransientError extends Error {
  constructor(
    readonly error: GgufError,
    readonly delayMs?: number,
  ) {
    super(error.message)
  }
}

const kStatuses: Readonly<Record<number, readonly [code: GgufErrorCode, advice: string]>> = {
  401: ['unauthorized', 'It asks for a token.'],
  403: [
    'forbidden',
    'The file may be gated, or the link expired: open its page, accept the terms, give a token.',
  ],
  404: ['no-such-file', 'Check the address.'],
  410: ['no-such-file', 'It is gone.'],
  429: ['rate-limited', 'Wait a while and try again.'],
}

/** Statuses after which the same request may succeed later. */
function isTransient(status: number): boolean {
  return (
    status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
  )
}

function retryAfterMs(response: Response): number | undefined {
  const text = response.headers.get('retry-after')
  if (text === null) return undefined
  const seconds = Number(text)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

export function connectionLost(host: string, at: number, cause: unknown): TransientError {
  const reason = cause === undefined ? '' : ` (${quoted(cause)})`
  return new TransientError(
    new GgufError('connection-lost', `The connection to ${host} was lost at byte ${at}${reason}.`, {
      offset: at,
      cause,
    }),
  )
}

export function noCors(host: string, cause: unknown): GgufError {
  return new GgufError(
    'cors',
    `${host} does not let other sites read this file (no CORS headers). Download it and open it from your disk, or ask for "Access-Control-Allow-Origin" on the server.`,
    { cause },
  )
}

export function unreachable(host: string, cause: unknown): GgufError | TransientError {
  const { text, final } = systemReason(cause)
  const error = new GgufError(
    'network',
    text
      ? `${host} could not be reached: ${text}. Check the address and the connection.`
      : `${host} could not be reached. Check the address and the connection.`,
    { cause },
  )
  return final ? error : new TransientError(error)
}

/** The error for a status other than 200 and 206. */
export function refusal(
  response: Response,
  { host, name }: { host: string; name: string },
): GgufError | TransientError {
  const { status } = response
  const [code, advice] = kStatuses[status] ?? [
    status === 416 ? 'bad-range' : status >= 500 ? 'server-error' : 'http-error',
    status >= 500 ? 'Try again later.' : 'Check the address.',
  ]
  const waitMs = isTransient(status) ? retryAfterMs(response) : undefined
  const patience = waitMs === undefined ? '' : ` It asks to wait ${Math.ceil(waitMs / 1000)} s.`
  const error = new GgufError(code, `${host} answered ${status} for ${name}.${patience} ${advice}`, {
    status,
  })
  return isTransient(status) ? new TransientError(error, waitMs) : error
}

const kFinalReasons = new Set([
  'ENOTFOUND',
  'ECONNREFUSED',
  'ERR_INVALID_URL',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/** In Node, the reason of a failed fetch is in the cause of the cause. A browser's TypeError has none. */
function systemReason(error: unknown): { text: string; final: boolean } {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const code = inner && 'code' in inner ? String(inner.code) : ''
  const text = inner ? quoted(inner) || code : error instanceof TypeError ? '' : quoted(error)
  return { text, final: kFinalReasons.has(code) || /redirect/.test(text) }
}
