// The HTTP server for the routes: API keys, request bodies, streams, disconnected clients, and an orderly shutdown.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { bytesOf, drain, formOf, isAnswered, jsonOf, type BodyLimits } from './bodies.js'
import { EventStream } from './events.js'
import { failureOf, RequestError } from './failures.js'
import { checkOrigin } from './origins.js'
import { Queue } from './queue.js'
import { checkAbility, kRoutes, type Answer, type Route, type Served } from './routes.js'

export interface ServerOptions {
  readonly host: string
  readonly port: number
  /** Without a key, everybody who can reach the port may use the server. */
  readonly apiKey: string | undefined
  /** further origins whose pages may send requests; '*': all */
  readonly cors: readonly string[]
  /** limit in bytes of a request's body */
  readonly maxBody: number
  /** largest number of requests that wait for the model */
  readonly maxQueue: number
  /** milliseconds; default: kTimeouts */
  readonly timeouts?: Partial<typeof kTimeouts>
  /** Called when a request has ended. */
  readonly onRequest: (line: { method: string; path: string; status: number; ms: number }) => void
}

// Milliseconds within which a client must read more of a finished response.
const kReaderPatience = 60_000
/**
 * Milliseconds in which a client must send its headers and its request, without a byte of a body, of a body that is
 * refused, and between looks at the clients.
 */
const kTimeouts = { headers: 20_000, request: 600_000, body: 20_000, drain: 10_000, check: 5_000 }

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares keys in constant time. */
function checkKey(apiKey: string | undefined, { headers }: IncomingMessage): void {
  if (apiKey === undefined) return
  const [scheme = '', given = ''] = (headers.authorization ?? '').split(/\s+/, 2)
  const other = headers['x-api-key']
  const key = scheme.toLowerCase() === 'bearer' ? given : typeof other === 'string' ? other : ''
  if (timingSafeEqual(digest(key), digest(apiKey))) return
  throw new RequestError(401, 'invalid_api_key', 'The API key is missing or wrong.', {
    'www-authenticate': 'Bearer',
  })
}

async function bodyOf(
  { form, method }: Route,
  message: IncomingMessage,
  limits: BodyLimits,
): Promise<unknown> {
  if (method !== 'POST') return undefined
  const bytes = await bytesOf(message, limits)
  return form ? await formOf(bytes, message) : jsonOf(bytes)
}

function routeOf(method: string, path: string): Route {
  const matches = ({ paths }: Route): boolean =>
    paths.some((one) => (one.endsWith('*') ? path.startsWith(one.slice(0, -1)) : one === path))
  const found = kRoutes.filter(matches)
  if (found.length === 0) throw new RequestError(404, 'not_found', `There is nothing at ${path}.`)
  const route = found.find((one) => one.method === method || (method === 'HEAD' && one.method === 'GET'))
  if (route) return route
  const allow = [...new Set(found.map((one) => one.method))].join(', ')
  throw new RequestError(405, 'method_not_allowed', `${path} takes ${allow}, not ${method}.`, { allow })
}

/** Disconnects a client that stops reading a finished response. */
function leaveStalled(response: ServerResponse): void {
  if (response.writableFinished) return
  let taken = response.socket?.bytesWritten
  const timer = setInterval(() => {
    const now = response.socket?.bytesWritten
    if (now === taken) response.destroy()
    taken = now
  }, kReaderPatience)
  timer.unref()
  response.on('close', () => clearInterval(timer))
}

function sendBody(response: ServerResponse, status: number, type: string, body: Buffer, headers = {}): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length, ...headers })
  response.end(body)
}

function sendJson(response: ServerResponse, status: number, value: unknown, headers = {}): void {
  const body = Buffer.from(JSON.stringify(value))
  sendBody(response, status, 'application/json; charset=utf-8', body, headers)
}

/** The header Ggufscope-Warnings, a JSON array in ASCII; none without a warning. */
function warningHeaders(warnings: readonly string[]): Record<string, string> {
  if (warnings.length === 0) return {}
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return {
    'ggufscope-warnings': JSON.stringify(warnings).replaceAll(/[^ -~]/g, escaped),
    'access-control-expose-headers': 'ggufscope-warnings',
  }
}

function reply(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return
  if ('events' in answer) throw new Error('This route has no streams.')
  if ('bytes' in answer) {
    const { bytes, type, warnings } = answer
    sendBody(response, 200, type, Buffer.from(bytes), warningHeaders(warnings))
  } else if ('text' in answer) sendBody(response, 200, 'text/plain; charset=utf-8', Buffer.from(answer.text))
  else sendJson(response, 200, answer.json)
}

const streams = ({ streamed }: Route, body: unknown): boolean =>
  streamed !== undefined && (body as { [field: string]: unknown } | null)?.[streamed[0]] === streamed[1]

function fail(response: ServerResponse, error: unknown, path: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { status, headers, body } = failureOf(error)
  const given = path.startsWith('/v1/messages') ? { type: 'error', ...body } : body // Anthropic's form
  sendJson(response, status, given, headers)
}

function preflight(message: IncomingMessage, response: ServerResponse): void {
  const wanted = message.headers['access-control-request-headers']
  response.writeHead(204, {
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': typeof wanted === 'string' ? wanted : 'authorization, content-type',
    'access-control-allow-private-network': 'true',
    'access-control-max-age': '86400',
  })
  response.end()
}

/** As Node answers by itself. */
const kClientErrors: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** Ends the connection of a client whose request is no HTTP, is too long or takes too long. */
function leave(error: NodeJS.ErrnoException, socket: Socket): void {
  const status = kClientErrors[error.code ?? ''] ?? '400 Bad Request'
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse }
  // The client may keep its half open, so end() alone would leave the connection there.
  if (socket.writable && !response?.headersSent && !isAnswered(socket))
    socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  socket.destroySoon()
}

export class ModelServer {
  readonly #server: Server
  readonly #queue: Queue
  readonly #running = new Set<AbortController>()
  readonly #timeouts: typeof kTimeouts

  private constructor(served: Served, options: ServerOptions) {
    this.#queue = new Queue(options.maxQueue)
    this.#timeouts = { ...kTimeouts, ...options.timeouts }
    const { headers, request, check } = this.#timeouts
    const timeouts = { headersTimeout: headers, requestTimeout: request, connectionsCheckingInterval: check }
    this.#server = createServer(
      timeouts,
      (message, response) => void this.#handle(served, options, message, response),
    )
    this.#server.on('clientError', leave)
  }

  /** Resolves when the server listens. Errors: those of listen(). */
  static async start(served: Served, options: ServerOptions): Promise<ModelServer> {
    const server = new ModelServer(served, options)
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject)
      server.#server.listen(options.port, options.host, resolve)
    })
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Accepts no more requests, and aborts running ones after the given number of milliseconds. */
  async stop(patience: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const hurry = setTimeout(() => {
      for (const controller of this.#running) controller.abort(new Error('The server ends.'))
      setTimeout(() => this.#server.closeAllConnections(), 1000).unref()
    }, patience)
    await this.#queue.empty()
    this.#server.closeIdleConnections()
    await closed
    clearTimeout(hurry)
  }

  async #handle(
    served: Served,
    options: ServerOptions,
    message: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const begun = performance.now()
    const { method = 'GET' } = message
    // Proxies may send a whole address (RFC 9112, 3.2.2).
    const target = (message.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '')
    const path = target.split('?', 1)[0]!.replace(/(.)\/+$/, '$1') || '/'
    const controller = new AbortController()
    this.#running.add(controller)
    response.on('close', () => {
      controller.abort(new Error('The client left.'))
      this.#running.delete(controller)
      options.onRequest({ method, path, status: response.statusCode, ms: performance.now() - begun })
    })
    response.setHeader('vary', 'origin')
    if (!this.#server.listening) response.setHeader('connection', 'close')
    try {
      const origin = checkOrigin(message, { ...options, hasKey: options.apiKey !== undefined })
      if (origin !== undefined) response.setHeader('access-control-allow-origin', origin)
      if (method === 'OPTIONS') return preflight(message, response)
      const route = routeOf(method, path)
      if (!route.open) checkKey(options.apiKey, message)
      checkAbility(route, served)
      const limits = { maxBody: options.maxBody, patience: this.#timeouts.body }
      const body = await bodyOf(route, message, limits)
      const { signal } = controller
      const answer = async (): Promise<Answer> => await route.answer(served, body, signal, path)
      // A stream's request is checked here. The model computes when its events are read.
      if (streams(route, body)) await this.#stream(await answer(), response, signal)
      else if (route.ability) await this.#queue.run(signal, async () => reply(response, await answer()))
      else reply(response, await answer())
      leaveStalled(response)
    } catch (error) {
      fail(response, error, path)
      // A client that stopped sending has nothing to drain.
      const isLate = error instanceof RequestError && error.status === 408
      drain(message, isLate ? 0 : this.#timeouts.drain)
    }
  }

  async #stream(answer: Answer, response: ServerResponse, signal: AbortSignal): Promise<void> {
    if (!('events' in answer)) return reply(response, answer)
    const isNext = this.#queue.checkRoom()
    const stream = new EventStream(response, answer)
    if (!isNext) stream.open()
    try {
      await this.#queue.run(signal, () => stream.send())
    } catch (error) {
      stream.fail(error)
    }
  }
}
