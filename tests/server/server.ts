// A loopback HTTP server for tests and benchmarks: ranges, an artificial delay, one bandwidth cap shared by all
// connections, exact counts of what was sent, and faults as data (faults.ts).
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { bytesContent, contentType, fileContent } from './content.ts'
import type { Content } from './content.ts'
import { Exchange } from './exchange.ts'
import type { LoggedRequest } from './exchange.ts'
import { parseFaults, randomNumbers, strike } from './faults.ts'
import type { Faults } from './faults.ts'
import { Link } from './pace.ts'

export interface ServerOptions {
  port?: number
  /** Milliseconds before the first byte of each response. */
  delay?: number
  /** Bytes per second, shared by all connections. */
  bandwidth?: number
  cors?: boolean
  /** Sends COOP and COEP headers, so that pages are cross-origin isolated. */
  isolated?: boolean
  /** More headers for all responses. */
  headers?: Readonly<Record<string, string>>
  seed?: number
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

/** The file of an address path below a folder; undefined if there is none, or if it would lie outside the folder. */
async function fileBelow(folder: string, relative: string): Promise<Content | undefined> {
  const root = resolve(folder)
  const name = relative === '' || relative.endsWith('/') ? relative + 'index.html' : relative
  const full = resolve(root, '.' + sep + name)
  if (full !== root && !full.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined
  return fileContent(full)
}

async function compressed(content: Content): Promise<Content> {
  const { etag, lastModified, type } = content
  return { ...bytesContent(gzipSync(await content.read(0, content.size))), etag, lastModified, type }
}

class LoopbackServer implements Server {
  readonly options: { delay: number; bandwidth: number }
  readonly #cors: boolean
  readonly #isolated: boolean
  readonly #headers: Readonly<Record<string, string>>
  readonly #random: () => number
  readonly #link: Link
  readonly #files = new Map<string, Content>()
  readonly #folders: { prefix: string; folder: string }[] = []
  readonly #plans = new Map<string, Faults[]>()
  /** The number of requests for each path. */
  readonly #seen = new Map<string, number>()
  readonly #server = createServer({ keepAliveTimeout: 5000 }, (request, response) => {
    this.#answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.statusCode = 500
      response.end(String(error))
    })
  })
  #log: LoggedRequest[] = []
  url = ''

  constructor(options: ServerOptions) {
    const { delay = 0, bandwidth = Infinity, cors = true, isolated = false, headers = {}, seed = 1 } = options
    this.options = { delay, bandwidth }
    this.#cors = cors
    this.#isolated = isolated
    this.#headers = headers
    this.#random = randomNumbers(seed)
    this.#link = new Link(bandwidth)
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((ready, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', ready)
    })
    // The server and idle connections must not keep a test process alive.
    this.#server.unref()
    this.#server.on('connection', (socket) => socket.unref())
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #find(path: string): Promise<Content | undefined> {
    const file = this.#files.get(path)
    if (file) return file
    for (const { prefix, folder } of this.#folders) {
      const content = path.startsWith(prefix) ? await fileBelow(folder, path.slice(prefix.length)) : undefined
      if (content) return content
    }
    return undefined
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = new URL(request.url ?? '/', this.url)
    const path = decodeURIComponent(target.pathname)
    const fromQuery = parseFaults(target.searchParams)
    const key = fromQuery ? path + target.search : path
    const index = this.#seen.get(key) ?? 0
    const preflight = request.method === 'OPTIONS'
    if (!preflight) this.#seen.set(key, index + 1)
    const all = [...(this.#plans.get(path) ?? []), ...(fromQuery ? [fromQuery] : [])]
    const fault = strike(all, index, this.#random)
    const exchange = new Exchange(request, response, path, fault, index)
    this.#log.push(exchange.entry)

    const cors = this.#cors && fault.cors !== 'off'
    for (const [name, value] of Object.entries(this.#headers)) response.setHeader(name, value)
    exchange.setOriginHeaders(cors, this.#isolated)
    const delay = fault.delay ?? this.options.delay
    if (delay > 0) await sleep(delay)
    if (response.destroyed) return
    if (preflight) return exchange.answerPreflight(cors)
    if (exchange.refused(target)) return

    let content = await this.#find(fault.replace ?? path)
    if (!content) return exchange.text(404, 'no such file\n')
    try {
      if (fault.encoding === 'gzip') {
        content = await compressed(content)
        response.setHeader('Content-Encoding', 'gzip')
      }
      await exchange.send(content, this.#link)
    } finally {
      if (content.close) await content.close()
    }
  }

  setBandwidth(bytesPerSecond: number): void {
    this.#link.bytesPerSecond = bytesPerSecond
  }

  add(path: string, content: Content | Uint8Array | string): void {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    this.#files.set(path, bytes instanceof Uint8Array ? bytesContent(bytes, contentType(path)) : bytes)
  }

  mount(prefix: string, folder: string): void {
    this.#folders.push({ prefix: prefix.endsWith('/') ? prefix : prefix + '/', folder })
    this.#folders.sort((a, b) => b.prefix.length - a.prefix.length)
  }

  plan(path: string, ...faults: Faults[]): void {
    this.#plans.set(path, faults)
    this.#seen.delete(path)
  }

  get log(): readonly LoggedRequest[] {
    return this.#log
  }

  counts(path?: string): { requests: number; bytes: number } {
    const counted = this.#log.filter((e) => e.method !== 'OPTIONS' && (path === undefined || e.path === path))
    return { requests: counted.length, bytes: counted.reduce((sum, e) => sum + e.bytes, 0) }
  }

  reset(): void {
    this.#log = []
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.#server.close(() => done())
      this.#server.closeAllConnections()
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const server = new LoopbackServer(options)
  await server.listen(options.port ?? 0)
  return server
}
