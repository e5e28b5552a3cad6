// Times open() with preview 'auto' from a loopback server with limited bandwidth, in a worker thread of Node and in pages of
// Chromium over HTTP/1.1 and HTTP/2. Each time is measured in a new thread or page, after its modules are loaded and compiled.
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createSecureServer, type Http2ServerResponse } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { chromium } from '@playwright/test'
import { writeGguf } from '../../fixtures/gguf.ts'
import { smallModel } from '../../fixtures/models.ts'
import type { LinkSpeed } from '../../fixtures/simulated-link.ts'
import { contentType, sparseContent, type Content } from '../../server/content.ts'
import { parseRange } from '../../server/exchange.ts'
import { kPieceBytes, Link } from '../../server/pace.ts'
import { certificate } from '../../server/certificate.ts'
import { kBrowser } from '../../web/browser.ts'

interface Reader {
  readonly name: string
  time(header: Uint8Array, size: number): Promise<{ ms: number; tensors: number }>
  close(): Promise<void>
}

const kRoot = join(import.meta.dirname, '../../..')

/** Source text, because it runs in a page and in a worker. */
const kTimed = `async (base) => {
  const { open } = await import(base + '/wasm/dist/index.js')
  await import(base + '/wasm/dist/sparse/preview.js')
  ;(await open(base.startsWith('http') ? '/small.gguf' : globalThis.small)).close()
  return async (url) => {
    const start = performance.now()
    const file = await open(url, { preview: 'auto' })
    const ms = performance.now() - start
    return { ms, tensors: file.tensors.length }
  }
}`

/** Resolves when more can be written, or when the connection closes. */
async function drained(response: ServerResponse | Http2ServerResponse): Promise<void> {
  let wake = (): void => {}
  await new Promise<void>((done) => response.once('drain', (wake = done)).once('close', wake))
  response.off('drain', wake).off('close', wake)
}

const kPage = '<!doctype html><link rel="icon" href="data:,">'

/** Serves a header with simulated latency and bandwidth, and the package without. */
class PacedServer {
  content: Content | undefined
  readonly #speed: LinkSpeed
  readonly #link: Link

  constructor(speed: LinkSpeed) {
    this.#speed = speed
    this.#link = new Link(speed.bytesPerMs * 1000)
  }

  readonly handle = async (
    request: { url?: string | undefined; headers: IncomingHttpHeaders },
    response: ServerResponse | Http2ServerResponse,
  ): Promise<void> => {
    const path = new URL(request.url ?? '/', 'https://localhost').pathname
    if (!path.startsWith('/large')) {
      const isPage = path === '/'
      response.setHeader('Content-Type', isPage ? 'text/html' : contentType(path))
      const small = path === '/small.gguf' ? writeGguf(smallModel()) : undefined
      response.end(isPage ? kPage : (small ?? readFileSync(join(kRoot, path))))
      return
    }
    const content = this.content!
    const range = parseRange(request.headers.range, content.size) ?? { start: 0, end: content.size }
    await setTimeout(this.#speed.roundTripMs)
    response.statusCode = 206
    response.setHeader('Content-Range', `bytes ${range.start}-${range.end - 1}/${content.size}`)
    response.setHeader('Content-Length', range.end - range.start)
    response.setHeader('ETag', '"one"')
    for (let at = range.start; at < range.end && !response.destroyed; at += kPieceBytes) {
      const length = Math.min(kPieceBytes, range.end - at)
      await this.#link.pass(length, at === range.start)
      const piece = await content.read(at, length)
      if (!(response as ServerResponse).write(piece)) await drained(response)
    }
    response.end()
  }
}

async function inNode(speed: LinkSpeed): Promise<Reader> {
  const { createServer: createPlain } = await import('node:http')
  const paced = new PacedServer(speed)
  const server = createPlain((request, response) => void paced.handle(request, response))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/large.gguf`
  const script = `const { parentPort, workerData: d } = require('node:worker_threads')
globalThis.small = d.small
;(${kTimed})(d.base).then(async (time) => parentPort.postMessage(await time(d.url)))`
  return {
    name: 'Node, HTTP/1.1',
    time: async (header, size) => {
      paced.content = sparseContent(header, size)
      const base = `file://${kRoot}`
      const worker = new Worker(script, {
        eval: true,
        workerData: { url, base, small: writeGguf(smallModel()) },
      })
      const result = await new Promise<{ ms: number; tensors: number }>((done, fail) =>
        worker.once('message', done).once('error', fail),
      )
      await worker.terminate()
      return result
    },
    close: async () => void server.close(),
  }
}

async function inChromium(name: string, speed: LinkSpeed, isHttp2: boolean): Promise<Reader> {
  const paced = new PacedServer(speed)
  const secret = certificate()
  if (!secret) throw new Error('openssl is missing')
  const server = isHttp2
    ? createSecureServer(secret, (request, response) => void paced.handle(request, response))
    : createServer(secret, (request, response) => void paced.handle(request, response))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const base = `https://localhost:${(server.address() as AddressInfo).port}`
  const browser = await chromium.launch(kBrowser)
  return {
    name,
    time: async (header, size) => {
      paced.content = sparseContent(header, size)
      const context = await browser.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      await page.goto(`${base}/`)
      const result = await page.evaluate<{ ms: number; tensors: number }>(
        `(${kTimed})(location.origin).then((time) => time('/large.gguf'))`,
      )
      await context.close()
      return result
    },
    close: async () => {
      await browser.close()
      server.close()
    },
  }
}

export async function startReaders(speed: LinkSpeed): Promise<Reader[]> {
  return [
    await inNode(speed),
    await inChromium('Chromium, HTTP/1.1', speed, false),
    await inChromium('Chromium, HTTP/2', speed, true),
  ]
}
