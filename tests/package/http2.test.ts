// The number of parallel requests: few over HTTP/1.1 connections, more if one HTTP/2 connection carries them all.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { constants, createSecureServer, type Http2ServerResponse } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { chromium } from '@playwright/test'
import { writeHeader } from '../fixtures/gguf.ts'
import { kPreviewShapes, previewModel } from '../fixtures/models.ts'
import { certificate } from '../server/certificate.ts'
import { contentType, sparseContent } from '../server/content.ts'
import { parseRange } from '../server/exchange.ts'
import { kBrowser, kHasBrowser } from '../web/browser.ts'
import { packedFile } from './packed.ts'

const model = previewModel(kPreviewShapes[2]!)
const { header, size } = writeHeader(model)
const content = sparseContent(header, size)

const secret = kHasBrowser ? certificate() : undefined
const skip = secret ? false : kHasBrowser ? 'no openssl' : 'no Chromium'

for (const [protocol, few] of [
  ['h2', false],
  ['http/1.1', true],
] as const) {
  test(`${protocol}: reads under way at once`, { skip }, async () => {
    let underWay = 0
    let most = 0
    const answer = async (
      request: { url?: string | undefined; headers: IncomingHttpHeaders },
      response: ServerResponse | Http2ServerResponse,
    ) => {
      const path = new URL(request.url ?? '/', 'https://localhost').pathname
      if (path !== '/large.gguf') {
        const isPage = !path.startsWith('/wasm/')
        response.setHeader('Content-Type', isPage ? 'text/html' : contentType(path))
        response.end(isPage ? '<!doctype html>' : readFileSync(packedFile(path)))
        return
      }
      const range = parseRange(request.headers.range, size)
      assert.ok(range)
      const end = Math.min(range.end, range.start + (1 << 20))
      most = Math.max(most, ++underWay)
      // Requests are answered only when enough have arrived, or when it is clear that no more will come.
      const isStream = request.headers.range!.endsWith('-')
      for (let tries = few ? 5 : 500; !isStream && most <= 6 && tries > 0; tries--) await setTimeout(20)
      underWay--
      response.statusCode = 206
      response.setHeader('Content-Range', `bytes ${range.start}-${end - 1}/${size}`)
      response.setHeader('Content-Length', end - range.start)
      response.setHeader('ETag', '"one"')
      response.end(await content.read(range.start, end - range.start))
    }
    const server = few
      ? createServer({ ...secret }, (request, response) => void answer(request, response))
      : createSecureServer({ ...secret }, (request, response) => void answer(request, response))
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const browser = await chromium.launch(kBrowser)
    try {
      const page = await browser.newPage({ ignoreHTTPSErrors: true })
      await page.goto(`https://localhost:${(server.address() as AddressInfo).port}/`)
      const read = await page.evaluate(async () => {
        const { open } = (await import(
          new URL('/wasm/dist/index.js', location.href).href
        )) as typeof import('ggufscope')
        using file = await open('/large.gguf')
        const rows = [0, 1] as const
        const all = await Promise.all(
          file.tensors.slice(0, 40).map(({ name }) => file.read(name, { rows: [...rows] })),
        )
        return all.length
      })
      assert.equal(read, 40)
      console.log(`# ${protocol}: ${most}`)
      if (few) assert.ok(most <= 6, `${most} at once`)
      else assert.ok(most > 6 && most <= 20, `${most} at once`)
    } finally {
      await browser.close()
      server.close()
    }
  })
}

test('h2: streams that the server resets are asked again, and the bytes are right', { skip }, async () => {
  let requests = 0
  let resets = 0
  const server = createSecureServer({ ...secret }, (request, response) => {
    const path = new URL(request.url, 'https://localhost').pathname
    if (path !== '/large.gguf') {
      const isPage = !path.startsWith('/wasm/')
      response.setHeader('Content-Type', isPage ? 'text/html' : contentType(path))
      response.end(isPage ? '<!doctype html>' : readFileSync(packedFile(path)))
      return
    }
    const range = parseRange(request.headers.range, size)!
    const end = Math.min(range.end, range.start + (1 << 20))
    response.statusCode = 206
    response.setHeader('Content-Range', `bytes ${range.start}-${end - 1}/${size}`)
    response.setHeader('Content-Length', end - range.start)
    response.setHeader('ETag', '"one"')
    const bytes = content.read(range.start, end - range.start) as Uint8Array
    // Every second stream ends in the middle, with the codes that servers and proxies use.
    if (requests++ % 2 === 1) return void response.end(bytes)
    const code = [
      constants.NGHTTP2_INTERNAL_ERROR,
      constants.NGHTTP2_REFUSED_STREAM,
      constants.NGHTTP2_CANCEL,
    ][resets++ % 3]!
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.stream.close(code))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const browser = await chromium.launch(kBrowser)
  try {
    const page = await browser.newPage({ ignoreHTTPSErrors: true })
    await page.goto(`https://localhost:${(server.address() as AddressInfo).port}/`)
    const read = await page.evaluate(async (name) => {
      const { open } = (await import(
        new URL('/wasm/dist/index.js', location.href).href
      )) as typeof import('ggufscope')
      using file = await open('/large.gguf', { preview: 'full' })
      const bytes = await file.read(name, { rows: [0, 1] })
      return { tensors: file.tensors.length, offset: file.tensor(name)!.offset, bytes: [...bytes] }
    }, model.tensors!.at(-1)!.name)
    assert.equal(read.tensors, model.tensors!.length)
    assert.deepEqual(read.bytes, [...(content.read(read.offset, read.bytes.length) as Uint8Array)])
    assert.ok(resets >= 2, `${resets} resets`)
  } finally {
    await browser.close()
    server.close()
  }
})
