// Which web pages may use the server, and by which names it may be reached. A page of any origin can send requests to
// this machine; with a name of its own that suddenly leads here (DNS rebinding), it could also read the answers.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { RequestError } from './failures.js'

interface OriginOptions {
  /** the address at which the server listens */
  readonly host: string
  /** further origins whose pages may send requests; '*': all */
  readonly cors: readonly string[]
  /** A name does not matter to a server with a key, which other pages do not have. */
  readonly hasKey: boolean
}

function hostOf(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase()
  } catch {
    return undefined
  }
}

export const isLoopback = (name: string): boolean =>
  name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d+){3}$/.test(name)

/** Names that no server of the internet can give itself: numbers, names without a dot, and those of local networks. */
const isLocalName = (name: string): boolean =>
  isIP(name) !== 0 || !name.includes('.') || /\.(localhost|local|internal|lan|home|home\.arpa)\.?$/.test(name)

/** Refuses a request that was sent to a name that is not this server's. */
function checkHost({ headers }: IncomingMessage, { host, cors, hasKey }: OriginOptions): void {
  if (hasKey || headers.host === undefined) return
  const name = hostOf(`http://${headers.host}`)
  const known = name === host || cors.some((origin) => hostOf(origin) === name)
  if (name !== undefined && (known || isLocalName(name))) return
  throw new RequestError(
    403,
    'host_not_allowed',
    `The server is not known as "${headers.host}": allow it with --cors http://${headers.host}, or set a key.`,
  )
}

/**
 * Checks from where a request comes. Returns the value of Access-Control-Allow-Origin; undefined: it is not from a
 * page. Error: 403.
 */
export function checkOrigin(message: IncomingMessage, options: OriginOptions): string | undefined {
  checkHost(message, options)
  const { origin, host } = message.headers
  if (options.cors.includes('*')) return '*'
  if (origin === undefined) return undefined
  const name = hostOf(origin)
  const isOwn = /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host
  if (isOwn || options.cors.includes(origin) || (name !== undefined && isLoopback(name))) return origin
  throw new RequestError(
    403,
    'origin_not_allowed',
    `Pages of ${origin} may not send requests: allow them with --cors ${origin}.`,
  )
}
