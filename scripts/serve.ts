// Serves the built viewer with the documentation (web/dist) on a loopback port, cross-origin isolated, with byte
// ranges. Ends on Ctrl-C.
// node scripts/serve.ts [--port N] [--root DIR] [--meanwhile COMMAND]
// --meanwhile: a shell command that builds more files. Until it ends, requests for files below assets/ and docs/ that
// are missing wait for them.
import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname, join, relative, resolve, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { kSample } from '../web/src/lib/file/samples.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    root: { type: 'string' },
    meanwhile: { type: 'string' },
  },
})
const root = resolve(values.root ?? join(import.meta.dirname, '../web/dist'))
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml',
  '.webmanifest': 'application/manifest+json',
  '.wasm': 'application/wasm',
  '.gguf': 'application/octet-stream',
  '.wav': 'audio/wav',
}
const packed = new Set([
  '.html',
  '.js',
  '.css',
  '.svg',
  '.json',
  '.md',
  '.txt',
  '.xml',
  '.webmanifest',
  '.wasm',
])
const samples = new Set(['.gguf', '.wav'])

/** Whether a request's Accept-Encoding allows gzip. */
const acceptsGzip = (accepted = '') =>
  accepted.split(',').some((one) => /^\s*(gzip|\*)\s*(;|$)/.test(one) && !/;\s*q=0(\.0*)?\s*$/.test(one))

// A process group of its own, because the command has child processes.
const build =
  values.meanwhile === undefined
    ? undefined
    : spawn('bash', ['-c', values.meanwhile], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
let isBuilding = build !== undefined
build?.on('close', () => (isBuilding = false))
function endBuild(): void {
  try {
    if (isBuilding) process.kill(-build!.pid!)
  } catch {
    // it has just ended
  }
}

/** What is at the path; undefined: nothing, and the build that runs meanwhile writes nothing there. */
async function lookUp(path: string) {
  const isBuilt = /^(assets|docs)([/\\]|$)/.test(relative(root, path))
  for (;;) {
    const mayCome = isBuilt && isBuilding
    const info = await stat(path).catch(() => undefined)
    if (info || !mayCome) return info
    await sleep(200)
  }
}

/** The site's page of missing addresses, for a visitor who follows a wrong link; programs that request a file get no body. */
async function answerMissing(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asksForPage = request.headers.accept?.includes('text/html')
  const page = asksForPage ? await readFile(join(root, '404.html')).catch(() => undefined) : undefined
  response.writeHead(404, { 'Cache-Control': 'no-cache', ...(page && { 'Content-Type': types['.html'] }) })
  response.end(request.method === 'HEAD' ? undefined : page)
}

async function answer(request: IncomingMessage, response: ServerResponse) {
  const end = (status: number) => response.writeHead(status).end()
  if (request.method !== 'GET' && request.method !== 'HEAD') return end(405)
  const url = new URL(request.url ?? '/', 'http://localhost')
  const path = resolve(join(root, decodeURIComponent(url.pathname)))
  if (path !== root && !path.startsWith(root + sep)) return end(403)
  // A folder's address must end in a slash for relative links; it serves index.html.
  const found = await lookUp(path)
  if (found?.isDirectory() && !url.pathname.endsWith('/'))
    return response.writeHead(301, { Location: `/${relative(root, path).replaceAll(sep, '/')}/` }).end()
  const file = found?.isDirectory() ? join(path, 'index.html') : path
  const info = await stat(file).catch(() => undefined)
  if (!info?.isFile()) return await answerMissing(request, response)

  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '')
  const isPart = range !== null && Boolean(range[1] || range[2])
  // A range is sent uncompressed. Whole texts and modules are compressed.
  const canPack = packed.has(extname(file))
  const packs = canPack && !isPart && acceptsGzip(request.headers['accept-encoding'])
  const tag = `${info.size.toString(16)}-${Math.trunc(info.mtimeMs).toString(16)}${packs ? '-gzip' : ''}`
  const headers: Record<string, string> = {
    'Content-Type': types[extname(file)] ?? 'application/octet-stream',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    // Pages of other origins may read the samples, as on the published site: a reader's own page runs the snippets.
    ...(samples.has(extname(file))
      ? { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }
      : { 'Cross-Origin-Resource-Policy': 'same-origin' }),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-cache',
    'Accept-Ranges': 'bytes',
    ETag: `"${tag}"`,
    ...(canPack && { Vary: 'Accept-Encoding' }),
  }
  let start = 0
  let last = info.size - 1
  let status = 200
  if (isPart) {
    start = range[1] ? Number(range[1]) : Math.max(0, info.size - Number(range[2]))
    if (range[1] && range[2]) last = Math.min(last, Number(range[2]))
    if (start > last) {
      response.writeHead(416, { ...headers, 'Content-Range': `bytes */${info.size}` }).end()
      return
    }
    status = 206
    headers['Content-Range'] = `bytes ${start}-${last}/${info.size}`
  } else if (request.headers['if-none-match'] === headers['ETag']) {
    response.writeHead(304, headers).end()
    return
  }
  if (packs) headers['Content-Encoding'] = 'gzip'
  else headers['Content-Length'] = String(last - start + 1)
  response.writeHead(status, headers)
  if (request.method === 'HEAD' || info.size === 0) {
    response.end()
    return
  }
  const body = createReadStream(file, { start, end: last })
  body.on('error', () => response.destroy())
  response.on('close', () => body.destroy())
  if (packs) body.pipe(createGzip()).pipe(response)
  else body.pipe(response)
}

const server = createServer((request, response) => {
  answer(request, response).catch(() =>
    response.headersSent ? response.destroy() : response.writeHead(400).end(),
  )
})
const wanted = Number(values.port)
server.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE' || wanted === 0) throw error
  server.listen(0, '127.0.0.1')
})
server.on('listening', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : wanted
  const base = `http://127.0.0.1:${port}`
  console.log(`ggufscope: ${base}/?url=${kSample}, documentation: ${base}/docs/   (Ctrl-C ends it)`)
})
server.listen(wanted, '127.0.0.1')
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    endBuild()
    server.close()
    server.closeAllConnections()
  })
}
