// Caches the viewer's own files, so that it works offline after the first visit. Opened GGUF files are never cached here.
// The build inserts `__FILES__` and `__VERSION__`. Each file has its hash in its name.
const files = __FILES__
const name = 'viewer-__VERSION__'
const home = new URL('./', location.href).href
const addressOf = (file) => new URL(file, home).href
const known = new Set(files.map(addressOf))

// Files for the start page and the panels are cached at once; the engines, which are the largest, when the page is idle.
const isLarge = (file) => /engine-|\.gguf$/.test(file)

async function keep(list) {
  const cache = await caches.open(name)
  const missing = []
  for (const file of list) if (!(await cache.match(addressOf(file)))) missing.push(addressOf(file))
  await cache.addAll(missing)
}

self.addEventListener('install', (event) => {
  event.waitUntil(keep(['./', ...files.filter((file) => !isLarge(file))]))
})

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      const others = (await caches.keys()).filter((key) => key.startsWith('viewer-') && key !== name)
      await Promise.all(others.map((key) => caches.delete(key)))
      await self.clients.claim()
    })(),
  )
})

/** Downloads that a page announced: id -> name, size, and the port from which the pieces come. */
const downloads = new Map()

self.addEventListener('message', (event) => {
  const { data, ports } = event
  if (data === 'keep-rest') event.waitUntil(keep(files).catch(() => {}))
  else if (data === 'activate') event.waitUntil(self.skipWaiting())
  // Whether a page with these scripts and style sheets is of this version.
  else if (data?.has) ports[0].postMessage(data.has.every((file) => known.has(file)))
  else if (data?.download) {
    downloads.set(data.download, { ...data, port: ports[0] })
    ports[0].postMessage('ready')
  }
})

/** Answers with the pieces of a download, each requested when the browser has room for it. */
function streamed({ name, size, port }) {
  const body = new ReadableStream(
    {
      pull: (controller) =>
        new Promise((resolve) => {
          port.onmessage = ({ data }) => {
            if (data === 'end') controller.close()
            else if (data === 'failed') controller.error(new Error('stopped'))
            else controller.enqueue(data)
            resolve()
          }
          port.postMessage('pull')
        }),
      cancel: () => port.postMessage('cancel'),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'Content-Length': String(size),
      'Content-Security-Policy': "default-src 'none'",
      'Cross-Origin-Embedder-Policy': 'require-corp',
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
  })
}

/** The newest page if there is a network, otherwise the cached one. */
async function page(request) {
  try {
    const response = await fetch(request)
    if (response.ok) return response
  } catch {
    // Without a network.
  }
  const kept = await (await caches.open(name)).match(home)
  return kept ?? Response.error()
}

/** A cached file, or the server's. The page does not wait until it is stored: Firefox could stop there for good. */
async function asset(event) {
  const { request } = event
  const cache = await caches.open(name)
  const kept = await cache.match(request.url)
  if (kept) return kept
  const response = await fetch(request)
  if (response.status === 200) event.waitUntil(cache.put(request.url, response.clone()).catch(() => {}))
  return response
}

/** A range of a cached file; the server's response if the file is not cached. */
async function part(request) {
  const kept = await (await caches.open(name)).match(request.url)
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get('range') ?? '') ?? []
  if (!kept || from === undefined) return await fetch(request)
  const whole = await kept.blob()
  const start = Number(from)
  const end = to === '' ? whole.size : Math.min(whole.size, Number(to) + 1)
  if (start >= end) return new Response(null, { status: 416, headers: { 'Content-Range': `bytes */${whole.size}` } })
  const headers = new Headers(kept.headers)
  headers.delete('content-encoding')
  headers.set('Content-Length', String(end - start))
  headers.set('Content-Range', `bytes ${start}-${end - 1}/${whole.size}`)
  return new Response(whole.slice(start, end), { status: 206, headers })
}

self.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  const { origin, pathname } = new URL(request.url)
  const address = origin + pathname
  const id = address.startsWith(`${home}download/`) ? address.slice(home.length + 9) : undefined
  if (downloads.has(id)) {
    event.respondWith(streamed(downloads.get(id)))
    downloads.delete(id)
  } else if (request.mode === 'navigate' && (address === home || address === `${home}index.html`))
    event.respondWith(page(request))
  else if (known.has(address))
    event.respondWith(request.headers.has('range') ? part(request) : asset(event))
})
