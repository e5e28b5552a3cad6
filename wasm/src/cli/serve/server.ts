// The HTTP server for the routes: API keys, request bodies, streams, disconnected clients, and an orderly shutdown.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventStream } from './events.js'
import { failureOf, RequestError } from './failures.js'
import { Queue } from './queue.js'
import { checkAbility, kRoutes, type Answer, type Route, type Served } from './routes.js'

export interface ServerOptions {
  readonly host: string
  readonly port: number
  /** Without a key, everybody who can reach the port may use the server. */
  readonly apiKey: string | undefined
  /** The value of Access-Control-Allow-Origin. */
  readonly corsOrigin: string
  /** limit in bytes of a request's body */
  readonly maxBody: number
  /** largest number of requests that wait for the model */
  readonly maxQueue: number
  /** Called when a request has ended. */
  readonly onRequest: (line: { method: string; path: string; status: number; ms: number }) => void
}

// Milliseconds within which a client must read more of a finished response.
const kReaderPatience = 60_000
// The same for a client that sends its request.
const kHeadersTimeout = 20_000
const kRequestTimeout = 120_000

// Largest number of bytes of a refused body that are still read.
const kMaxDrained = 256 << 20

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

async function bytesOf(message: IncomingMessage, most: number): Promise<Buffer> {
  const tooLarge = (): RequestError =>
    new RequestError(413, 'body_too_large', `The body has more than ${most} bytes.`)
  if (Number(message.headers['content-length'] ?? 0) > most) throw tooLarge()
  const pieces: Buffer[] = []
  let length = 0
  // A refused body gets a response, so the connection stays open until it is sent.
  for await (const piece of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > most) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new RequestError(400, 'invalid_json', 'The body is no JSON.')
  }
}

async function formOf(bytes: Buffer, { headers }: IncomingMessage): Promise<FormData> {
  try {
    const type = { 'content-type': headers['content-type'] ?? '' }
    return await new Response(new Uint8Array(bytes), { headers: type }).formData()
  } catch {
    throw new RequestError(400, 'invalid_form', 'The body is no multipart/form-data.')
  }
}

async function bodyOf(
  { form, method }: Route,
  message: IncomingMessage,
  { maxBody }: ServerOptions,
): Promise<unknown> {
  if (method !== 'POST') return undefined
  const bytes = await bytesOf(message, maxBody)
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

/** Reads the rest of a refused body, up to a limit, so that the client can read the response. */
function drain(message: IncomingMessage): void {
  if (message.complete) return
  let left = kMaxDrained
  message.on('data', (piece: Buffer) => {
    left -= piece.length
    if (left < 0) message.socket.destroy()
  })
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

function reply(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return
  if ('events' in answer) throw new Error('This route has no streams.')
  if ('text' in answer) sendBody(response, 200, 'text/plain; charset=utf-8', Buffer.from(answer.text))
  else sendJson(response, 200, answer.json)
}

const streams = ({ streamed }: Route, body: unknown): boolean =>
  streamed === true && (body as { stream?: unknown } | null)?.stream === true

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { status, headers, body } = failureOf(error)
  sendJson(response, status, body, headers)
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

export class ModelServer {
  readonly #server: Server
  readonly #queue: Queue
  readonly #running = new Set<AbortController>()

  private constructor(served: Served, options: ServerOptions) {
    this.#queue = new Queue(options.maxQueue)
    this.#server = createServer((message, response) => void this.#handle(served, options, message, response))
    this.#server.headersTimeout = kHeadersTimeout
    this.#server.requestTimeout = kRequestTimeout
    this.#server.on('clientError', (_, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
    })
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
    const path = (message.url ?? '/').split('?', 1)[0]!
    const controller = new AbortController()
    this.#running.add(controller)
    response.on('close', () => {
      controller.abort(new Error('The client left.'))
      this.#running.delete(controller)
      options.onRequest({ method, path, status: response.statusCode, ms: performance.now() - begun })
    })
    response.setHeader('access-control-allow-origin', options.corsOrigin)
    if (options.corsOrigin !== '*') response.setHeader('vary', 'origin')
    if (!this.#server.listening) response.setHeader('connection', 'close')
    try {
      if (method === 'OPTIONS') return preflight(message, response)
      const route = routeOf(method, path)
      if (!route.open) checkKey(options.apiKey, message)
      checkAbility(route, served)
      const body = await bodyOf(route, message, options)
      const { signal } = controller
      const answer = async (): Promise<Answer> => await route.answer(served, body, signal, path)
      // A stream's request is checked here. The model computes when its events are read.
      if (streams(route, body)) await this.#stream(await answer(), response, signal)
      else if (route.ability) await this.#queue.run(signal, async () => reply(response, await answer()))
      else reply(response, await answer())
      leaveStalled(response)
    } catch (error) {
      fail(response, error)
      drain(message)
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
