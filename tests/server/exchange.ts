// One request to the test server and its response: headers, faults, and the body at the link's rate.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Content } from './content.ts'
import type { Faults } from './faults.ts'
import { kPieceBytes } from './pace.ts'
import type { Link } from './pace.ts'

export interface LoggedRequest {
  headers: IncomingHttpHeaders
  method: string
  path: string
  range: string | undefined
  status: number
  /** Body bytes that were written to the socket. */
  bytes: number
  /** Whether the client closed the connection before the end. */
  aborted: boolean
  /** performance.now() when the request arrived. */
  time: number
}

const kPage = '<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n'
const kExposed =
  'Content-Range, Content-Length, Content-Encoding, Accept-Ranges, ETag, Last-Modified, Retry-After, Location'

/**
 * Parses a Range header. undefined: not a valid single range, so the whole file; null: not satisfiable. End is
 * exclusive.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | null | undefined {
  const match = header === undefined ? null : /^bytes=(\d*)-(\d*)$/.exec(header.trim())
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  if (match[1] === '') {
    const last = Number(match[2])
    return last === 0 || size === 0 ? null : { start: Math.max(0, size - last), end: size }
  }
  const start = Number(match[1])
  const end = match[2] === '' ? size : Math.min(size, Number(match[2]) + 1)
  if (match[2] !== '' && Number(match[2]) < start) return undefined
  return start >= size ? null : { start, end }
}

/** The ETag that a fault makes of a file's own. index: that of the request for the path. */
function etagOf(own: string, fault: Faults, index: number): string {
  if (fault.etag === 'weak') return `W/${own}`
  return fault.etag === 'each' ? `"${index}-${own.slice(1)}` : own
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly fault: Faults
  readonly entry: LoggedRequest
  readonly #index: number

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    fault: Faults,
    index: number,
  ) {
    this.request = request
    this.response = response
    this.fault = fault
    this.#index = index
    this.entry = {
      headers: request.headers,
      method: request.method ?? '',
      path,
      range: request.headers.range,
      status: 0,
      bytes: 0,
      aborted: false,
      time: performance.now(),
    }
    response.on('close', () => (this.entry.aborted = !response.writableFinished))
  }

  /** Sends a status without a body. */
  #head(status: number): void {
    this.entry.status = status
    this.response.statusCode = status
  }

  text(status: number, body: string, type = 'text/plain; charset=utf-8'): void {
    this.#head(status)
    this.response.setHeader('Content-Type', type)
    const without = this.request.method === 'HEAD'
    this.entry.bytes = without ? 0 : Buffer.byteLength(body)
    this.response.end(without ? undefined : body)
  }

  setOriginHeaders(cors: boolean, isolated: boolean): void {
    if (cors) {
      this.response.setHeader('Access-Control-Allow-Origin', '*')
      if (this.fault.cors !== 'simple') this.response.setHeader('Access-Control-Expose-Headers', kExposed)
    }
    if (isolated) {
      this.response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
      this.response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
    }
    if (cors || isolated) this.response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  }

  answerPreflight(cors: boolean): void {
    if (cors && this.fault.cors !== 'simple') {
      const headers = this.request.headers['access-control-request-headers'] ?? '*'
      this.response.setHeader('Access-Control-Allow-Headers', headers)
      this.response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD')
    }
    this.#head(204)
    this.response.end()
  }

  /** Returns true if the request gets no file, because of its method or of a fault. target: its address. */
  refused(target: URL): boolean {
    const { request, response, fault } = this
    if (request.method !== 'GET' && request.method !== 'HEAD') this.text(405, 'GET and HEAD only\n')
    else if (fault.cut === -1) response.destroy()
    else if (fault.stall === -1) return true
    else if (fault.redirect === 'loop' || (fault.redirect && !target.searchParams.has('redirected')))
      this.#redirect(target, fault.redirect)
    else if (fault.status !== undefined) {
      if (fault.retryAfter !== undefined) response.setHeader('Retry-After', fault.retryAfter)
      this.text(fault.status, `status ${fault.status}\n`)
    } else if (fault.html) this.text(200, kPage, 'text/html; charset=utf-8')
    else return false
    return true
  }

  #redirect(target: URL, redirect: string): void {
    const query = new URLSearchParams(target.searchParams)
    if (redirect !== 'loop') query.set('redirected', '1')
    const self = `${target.pathname}?${query}`
    const other = target.origin.replace('127.0.0.1', 'localhost')
    const to = new Map([
      ['loop', self],
      ['relative', self],
      ['absolute', other + self],
    ]).get(redirect)
    this.response.setHeader('Location', to ?? redirect)
    this.text(this.fault.redirectStatus ?? 302, 'elsewhere\n')
  }

  /** Sends a file, or the range of it that was requested. */
  async send(content: Content, link: Link): Promise<void> {
    const { request, response, fault } = this
    const range = this.#rangeOf(content)
    if (this.#isNotModified()) {
      this.#head(304)
      return void response.end()
    }
    if (range === null || (range && fault.ranges === 'refused')) {
      response.setHeader('Content-Range', `bytes */${content.size}`)
      return this.text(416, 'range not satisfiable\n')
    }
    const start = range?.start ?? 0
    const end = range ? Math.min(range.end, start + (fault.shorten ?? Infinity)) : content.size
    if (range && fault.contentRange !== 'off') {
      const shift = fault.contentRange === 'start' ? 1 : 0
      const total =
        fault.contentRange === 'star' ? '*' : fault.contentRange === 'total' ? content.size * 2 : content.size
      response.setHeader('Content-Range', `bytes ${start + shift}-${end - 1 + shift}/${total}`)
    }
    this.#head(range ? 206 : 200)
    if (fault.length !== 'off') response.setHeader('Content-Length', end - start)
    if (request.method === 'HEAD') response.end()
    else await this.#sendBody(content, start, end, link)
  }

  /** Whether a conditional request names the version that its headers already say. */
  #isNotModified(): boolean {
    const { headers } = this.request
    const [etag, modified] = ['ETag', 'Last-Modified'].map((name) => this.response.getHeader(name))
    const condition = headers['if-none-match']
    if (condition !== undefined) return condition === etag
    return modified !== undefined && headers['if-modified-since'] === modified
  }

  /** Sets the headers that identify a file. Returns the range to send: see parseRange. */
  #rangeOf(content: Content): ReturnType<typeof parseRange> {
    const { request, response, fault } = this
    const whole = fault.ranges === 'off' || fault.encoding === 'gzip'
    const modified = content.lastModified.toUTCString()
    const etag = etagOf(content.etag, fault, this.#index)
    if (fault.etag !== 'off') {
      if (fault.etag !== 'date') response.setHeader('ETag', etag)
      response.setHeader('Last-Modified', modified)
    }
    response.setHeader('Content-Type', content.type)
    if (!whole) response.setHeader('Accept-Ranges', 'bytes')

    const condition = request.headers['if-range']
    // RFC 9110 13.1.5: If-Range compares strongly, so a weak tag never matches.
    const current =
      condition === undefined ||
      (fault.etag !== 'off' && fault.etag !== 'weak' && (condition === etag || condition === modified))
    return whole || !current ? undefined : parseRange(request.headers.range, content.size)
  }

  async #sendBody(content: Content, start: number, end: number, link: Link): Promise<void> {
    const { response, fault } = this
    const piece = link.bytesPerSecond === Infinity ? 8 * kPieceBytes : kPieceBytes
    const stop = Math.min(end, start + Math.min(fault.cut ?? Infinity, fault.stall ?? Infinity))
    // Else they are sent with the first piece.
    if (stop !== end || link.bytesPerSecond !== Infinity) response.flushHeaders()
    for (let at = start; at < stop && !response.destroyed;) {
      const bytes = await content.read(at, Math.min(piece, stop - at))
      if (bytes.length === 0) return void response.destroy()
      await link.pass(bytes.length, at === start)
      if (response.destroyed || !(await this.#write(bytes))) return
      this.entry.bytes += bytes.length
      at += bytes.length
    }
    if (stop === end) response.end()
    else if (fault.cut !== undefined && fault.cut <= (fault.stall ?? Infinity)) response.destroy()
  }

  /** Returns false if the connection closed before the bytes were written. */
  #write(bytes: Uint8Array): Promise<boolean> {
    return new Promise((done) => {
      const closed = () => done(false)
      this.response.once('close', closed)
      this.response.write(bytes, (error) => {
        this.response.off('close', closed)
        done(error == null)
      })
    })
  }
}
