// A loopback HTTP server for tests and benchmarks: ranges, an artificial delay, one bandwidth cap shared by all
// connections, exact counts of what was sent, and faults as data (faults.ts).
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bytesContent, contentType, fileContent } from './content.ts'
import type { Content } from './content.ts'
import { parseFaults, randomNumbers, strike } from './faults.ts'
import type { Faults } from './faults.ts'
import { kPieceBytes, Link } from './pace.ts'

export interface ServerOptions {
  port?: number
  /** Milliseconds before the first byte of each response. */
  delay?: number
  /** Bytes per second, shared by all connections. */
  bandwidth?: number
  cors?: boolean
  /** Sends COOP and COEP headers, so that pages are cross-origin isolated. */
  isolated?: boolean
  seed?: number
}

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

export interface Server {
  /** "http://127.0.0.1:PORT", without a slash at the end. */
  readonly url: string
  readonly options: { delay: number; bandwidth: number }
  /** Changes the bandwidth from the next piece on. */
  setBandwidth(bytesPerSecond: number): void
  /** Adds a file in memory or a virtual one. The path begins with "/". */
  add(path: string, content: Content | Uint8Array | string): void
  /** Serves all files below a folder. The longest prefix wins; it may be "/". */
  mount(prefix: string, folder: string): void
  /** Replaces the faults of a path; without faults it works normally. Resets the path's request counter. */
  plan(path: string, ...faults: Faults[]): void
  readonly log: readonly LoggedRequest[]
  /** Totals of the log for one path or for all. Preflights (OPTIONS) are not counted. */
  counts(path?: string): { requests: number; bytes: number }
  /** Clears the log. */
  reset(): void
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
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

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const { delay = 0, bandwidth = Infinity, cors = true, isolated = false, seed = 1 } = options
  const files = new Map<string, Content>()
  const folders: { prefix: string; folder: string }[] = []
  const plans = new Map<string, Faults[]>()
  const seen = new Map<string, number>()
  const random = randomNumbers(seed)
  const link = new Link(bandwidth)
  let log: LoggedRequest[] = []
  let url = ''

  async function find(path: string): Promise<Content | undefined> {
    const file = files.get(path)
    if (file) return file
    for (const { prefix, folder } of folders) {
      if (!path.startsWith(prefix)) continue
      const root = resolve(folder)
      const relative = path.slice(prefix.length)
      const full = resolve(
        root,
        '.' + sep + (relative === '' || relative.endsWith('/') ? relative + 'index.html' : relative),
      )
      if (full !== root && !full.startsWith(root.endsWith(sep) ? root : root + sep)) continue
      const content = await fileContent(full)
      if (content) return content
    }
    return undefined
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '/', url)
    const path = decodeURIComponent(target.pathname)
    const fromQuery = parseFaults(target.searchParams)
    const key = fromQuery ? path + target.search : path
    const index = seen.get(key) ?? 0
    const preflight = request.method === 'OPTIONS'
    if (!preflight) seen.set(key, index + 1)
    const all = [...(plans.get(path) ?? []), ...(fromQuery ? [fromQuery] : [])]
    const fault = strike(all, index, random)

    const entry: LoggedRequest = {
      headers: request.headers,
      method: request.method ?? '',
      path,
      range: request.headers.range,
      status: 0,
      bytes: 0,
      aborted: false,
      time: performance.now(),
    }
    log.push(entry)
    response.on('close', () => (entry.aborted = !response.writableFinished))

    const allowed = cors && fault.cors !== 'off'
    if (allowed) {
      response.setHeader('Access-Control-Allow-Origin', '*')
      if (fault.cors !== 'simple') response.setHeader('Access-Control-Expose-Headers', kExposed)
    }
    if (isolated) {
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
    }
    if (allowed || isolated) response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')

    const head = (status: number) => {
      entry.status = status
      response.statusCode = status
    }
    const text = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
      head(status)
      response.setHeader('Content-Type', type)
      entry.bytes = request.method === 'HEAD' ? 0 : Buffer.byteLength(body)
      response.end(request.method === 'HEAD' ? undefined : body)
    }

    const wait = fault.delay ?? delay
    if (wait > 0) await new Promise((done) => setTimeout(done, wait))
    if (response.destroyed) return
    if (preflight) {
      if (allowed && fault.cors !== 'simple') {
        response.setHeader(
          'Access-Control-Allow-Headers',
          request.headers['access-control-request-headers'] ?? '*',
        )
        response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD')
      }
      head(204)
      response.end()
      return
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'GET and HEAD only\n')
    if (fault.cut === -1) return void response.destroy()
    if (fault.stall === -1) return
    if (
      fault.redirect !== undefined &&
      (fault.redirect === 'loop' || !target.searchParams.has('redirected'))
    ) {
      const query = new URLSearchParams(target.searchParams)
      if (fault.redirect !== 'loop') query.set('redirected', '1')
      const self = `${target.pathname}?${query}`
      const other = url.replace('127.0.0.1', 'localhost')
      const to = { loop: self, relative: self, absolute: other + self }[fault.redirect] ?? fault.redirect
      response.setHeader('Location', to)
      return text(fault.redirectStatus ?? 302, 'elsewhere\n')
    }
    if (fault.status !== undefined) {
      if (fault.retryAfter !== undefined) response.setHeader('Retry-After', fault.retryAfter)
      return text(fault.status, `status ${fault.status}\n`)
    }
    if (fault.html) return text(200, kPage, 'text/html; charset=utf-8')

    let content = await find(fault.replace ?? path)
    if (!content) return text(404, 'no such file\n')
    try {
      if (fault.encoding === 'gzip') {
        const { etag, lastModified, type } = content
        content = { ...bytesContent(gzipSync(await content.read(0, content.size))), etag, lastModified, type }
        response.setHeader('Content-Encoding', 'gzip')
      }
      await send(request, response, content, fault, entry, index, head, text)
    } finally {
      if (content.close) await content.close()
    }
  }

  async function send(
    request: IncomingMessage,
    response: ServerResponse,
    content: Content,
    fault: Faults,
    entry: LoggedRequest,
    index: number,
    head: (status: number) => void,
    text: (status: number, body: string) => void,
  ): Promise<void> {
    const whole = fault.ranges === 'off' || fault.encoding === 'gzip'
    const modified = content.lastModified.toUTCString()
    const etag =
      fault.etag === 'weak'
        ? `W/${content.etag}`
        : fault.etag === 'each'
          ? `"${index}-${content.etag.slice(1)}`
          : content.etag
    if (fault.etag !== 'off') {
      response.setHeader('ETag', etag)
      response.setHeader('Last-Modified', modified)
    }
    response.setHeader('Content-Type', content.type)
    if (!whole) response.setHeader('Accept-Ranges', 'bytes')

    const condition = request.headers['if-range']
    // RFC 9110 13.1.5: If-Range compares strongly, so a weak tag never matches.
    const current =
      condition === undefined ||
      (fault.etag !== 'off' && fault.etag !== 'weak' && (condition === etag || condition === modified))
    const range =
      whole || !current
        ? undefined
        : parseRange(
            typeof request.headers.range === 'string' ? request.headers.range : undefined,
            content.size,
          )
    if (range === null || (range && fault.ranges === 'refused')) {
      response.setHeader('Content-Range', `bytes */${content.size}`)
      return text(416, 'range not satisfiable\n')
    }
    const start = range?.start ?? 0
    const end = range ? Math.min(range.end, start + (fault.shorten ?? Infinity)) : content.size
    if (range && fault.contentRange !== 'off') {
      const shift = fault.contentRange === 'start' ? 1 : 0
      const total =
        fault.contentRange === 'star' ? '*' : fault.contentRange === 'total' ? content.size * 2 : content.size
      response.setHeader('Content-Range', `bytes ${start + shift}-${end - 1 + shift}/${total}`)
    }
    head(range ? 206 : 200)
    if (fault.length !== 'off') response.setHeader('Content-Length', end - start)
    if (request.method === 'HEAD') return void response.end()

    const piece = link.bytesPerSecond === Infinity ? 8 * kPieceBytes : kPieceBytes
    const stop = Math.min(end, start + Math.min(fault.cut ?? Infinity, fault.stall ?? Infinity))
    response.flushHeaders()
    for (let at = start; at < stop && !response.destroyed;) {
      const bytes = await content.read(at, Math.min(piece, stop - at))
      if (bytes.length === 0) return void response.destroy()
      await link.pass(bytes.length, at === start)
      if (response.destroyed) return
      const failed = await new Promise<boolean>((done) => {
        const closed = () => done(true)
        response.once('close', closed)
        response.write(bytes, (error) => {
          response.off('close', closed)
          done(error != null)
        })
      })
      if (failed) return
      entry.bytes += bytes.length
      at += bytes.length
    }
    if (stop < end) {
      if (fault.cut !== undefined && fault.cut <= (fault.stall ?? Infinity)) response.destroy()
      return
    }
    response.end()
  }

  const server = createServer({ keepAliveTimeout: 5000 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.statusCode = 500
      response.end(String(error))
    })
  })
  await new Promise<void>((ready, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', ready)
  })
  // The server and idle connections must not keep a test process alive.
  server.unref()
  server.on('connection', (socket) => socket.unref())
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  return {
    url,
    options: { delay, bandwidth },
    setBandwidth(bytesPerSecond) {
      link.bytesPerSecond = bytesPerSecond
    },
    add(path, content) {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
      files.set(path, bytes instanceof Uint8Array ? bytesContent(bytes, contentType(path)) : bytes)
    },
    mount(prefix, folder) {
      folders.push({ prefix: prefix.endsWith('/') ? prefix : prefix + '/', folder })
      folders.sort((a, b) => b.prefix.length - a.prefix.length)
    },
    plan(path, ...faults) {
      plans.set(path, faults)
      seen.delete(path)
    },
    get log() {
      return log
    },
    counts(path) {
      const wanted = log.filter((e) => e.method !== 'OPTIONS' && (path === undefined || e.path === path))
      return { requests: wanted.length, bytes: wanted.reduce((sum, e) => sum + e.bytes, 0) }
    },
    reset() {
      log = []
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
