// A server with the hubs' protocols for repositories of a test: Hugging Face's tree with pages, LFS sizes, tokens and
// redirects to another origin; ModelScope's listing; an OCI registry like Ollama's; GitHub's releases.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HubRepository {
  id: string
  /** at: the address of the bytes, if another server has them */
  files: Readonly<Record<string, Uint8Array | { size: number; at?: string }>>
  /** the required token */
  token?: string
  downloads?: number
}

export interface HubServer {
  url: string
  /** origin of the bytes, which differs from the hub's as with real hubs */
  storage: string
  requests: { path: string; authorization: string | undefined }[]
  /** requests to the storage */
  fetched: { path: string; authorization: string | undefined; bytes: number }[]
  close(): Promise<void>
}

const kPage = 3
const sizeOf = (content: Uint8Array | { size: number }) =>
  content instanceof Uint8Array ? content.length : content.size
const digestOf = (content: Uint8Array | { size: number }) =>
  createHash('sha256')
    .update(content instanceof Uint8Array ? content : String(content.size))
    .digest('hex')

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization, range, accept',
    'access-control-expose-headers': 'link, content-range, etag',
    ...headers,
  })
  response.end(JSON.stringify(body))
}

type Handler = (
  match: readonly string[],
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
) => void

export async function startHub(repositories: readonly HubRepository[]): Promise<HubServer> {
  const requests: HubServer['requests'] = []
  const fetched: HubServer['fetched'] = []
  const contents = new Map(
    repositories.flatMap(({ files }) => Object.values(files).map((one) => [digestOf(one), one] as const)),
  )
  const storage = createServer((request, response) => {
    const digest = (request.url ?? '').slice(1)
    const content = contents.get(digest)
    if (request.method === 'OPTIONS') return json(response, 204, undefined)
    if (!(content instanceof Uint8Array)) return json(response, 404, {})
    const [, from = '0', to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    const end = to ? Math.min(Number(to) + 1, content.length) : content.length
    const part = content.subarray(Number(from), end)
    fetched.push({ path: digest, authorization: request.headers.authorization, bytes: part.length })
    response.writeHead(request.headers.range ? 206 : 200, {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'content-range, etag',
      'content-length': part.length,
      'accept-ranges': 'bytes',
      'content-range': `bytes ${from}-${end - 1}/${content.length}`,
      etag: `"${digest}"`,
    })
    response.end(part)
  })
  await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
  const storageUrl = `http://127.0.0.1:${(storage.address() as AddressInfo).port}`

  const find = (id: string, request: IncomingMessage, response: ServerResponse) => {
    const repository = repositories.find((one) => one.id === id)
    const { token } = repository ?? {}
    if (!repository) json(response, 404, { error: 'Repository not found' })
    else if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      json(response, 401, { error: 'Access to this repository is restricted.' })
    else return repository
    return undefined
  }
  const redirect = (content: Uint8Array | { size: number; at?: string }, response: ServerResponse) =>
    response
      .writeHead(302, {
        location: (!(content instanceof Uint8Array) && content.at) || `${storageUrl}/${digestOf(content)}`,
        'access-control-allow-origin': '*',
      })
      .end()

  const routes: [path: RegExp, handler: Handler][] = [
    [
      /^\/api\/models$/,
      (_, url, _request, response) => {
        const word = url.searchParams.get('search') ?? ''
        const found = repositories.filter(({ id }) => id.toLowerCase().includes(word.toLowerCase()))
        const sorted = found.toSorted((a, b) => (b.downloads ?? 0) - (a.downloads ?? 0))
        json(
          response,
          200,
          sorted.slice(0, Number(url.searchParams.get('limit'))).map(({ id, downloads = 0, token }) => ({
            id,
            downloads,
            likes: 3,
            lastModified: '2026-05-01T10:00:00.000Z',
            gated: token === undefined ? false : 'auto',
          })),
        )
      },
    ],
    [
      /^\/api\/models\/([^/]+\/[^/]+)\/tree\/([^/]+)$/,
      ([, id = ''], url, request, response) => {
        const repository = find(id, request, response)
        if (!repository) return
        const from = Number(url.searchParams.get('cursor') ?? 0)
        const all = Object.entries(repository.files)
        const entries = all.slice(from, from + kPage).map(([path, content]) => ({
          type: 'file',
          oid: digestOf(content).slice(0, 40),
          path,
          size: sizeOf(content),
          ...(path.endsWith('.gguf')
            ? { lfs: { oid: digestOf(content), size: sizeOf(content), pointerSize: 134 }, xetHash: 'x' }
            : {}),
        }))
        const next = new URL(url)
        next.searchParams.set('cursor', String(from + kPage))
        const link = from + kPage < all.length ? { link: `<${next.href}>; rel="next"` } : {}
        json(
          response,
          200,
          [{ type: 'directory', path: 'folder', size: 0 }, ...entries],
          link as Record<string, string>,
        )
      },
    ],
    [
      /^\/api\/v1\/models\/([^/]+\/[^/]+)\/repo\/files$/,
      ([, id = ''], _url, request, response) => {
        const repository = find(id, request, response)
        if (!repository) return
        const Files = Object.entries(repository.files).map(([Path, content]) => ({
          ...{
            Type: 'blob',
            Path,
            Name: Path.split('/').at(-1),
            Size: sizeOf(content),
            Sha256: digestOf(content),
          },
        }))
        json(response, 200, { Code: 200, Data: { Files: [{ Type: 'tree', Path: 'folder' }, ...Files] } })
      },
    ],
    [
      /^\/v2\/([^/]+\/[^/]+)\/manifests\/([^/]+)$/,
      ([, id = ''], _url, request, response) => {
        const repository = find(id, request, response)
        if (!repository) return
        const layers = Object.entries(repository.files).map(([path, content]) => ({
          mediaType: `application/vnd.ollama.image.${path.includes('mmproj') ? 'projector' : path.endsWith('.gguf') ? 'model' : 'license'}`,
          digest: `sha256:${digestOf(content)}`,
          size: sizeOf(content),
        }))
        json(response, 200, { schemaVersion: 2, layers })
      },
    ],
    [
      /^\/v2\/([^/]+\/[^/]+)\/blobs\/sha256:([0-9a-f]+)$/,
      ([, , digest = ''], _url, _request, response) => {
        const content = contents.get(digest)
        if (content) redirect(content, response)
        else json(response, 404, {})
      },
    ],
    [
      /^\/repos\/([^/]+\/[^/]+)\/releases\/(latest|tags\/[^/]+)$/,
      ([, id = '', release = ''], url, request, response) => {
        const repository = find(id, request, response)
        if (!repository) return
        const tag = release === 'latest' ? 'v2' : release.slice('tags/'.length)
        const assets = Object.entries(repository.files).map(([name, content]) => ({
          name,
          size: sizeOf(content),
          digest: `sha256:${digestOf(content)}`,
          browser_download_url: `${url.origin}/${id}/releases/download/${tag}/${encodeURIComponent(name)}`,
        }))
        json(response, 200, { tag_name: tag, assets })
      },
    ],
    [
      /^\/(?:models\/)?([^/]+\/[^/]+)\/(?:resolve|releases\/download)\/[^/]+\/(.+)$/,
      ([, id = '', path = ''], _url, request, response) => {
        const repository = find(id, request, response)
        if (!repository) return
        const content = repository.files[decodeURIComponent(path)]
        if (content) redirect(content, response)
        else json(response, 404, { error: 'Entry not found' })
      },
    ],
  ]

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    if (request.method === 'OPTIONS') return json(response, 204, undefined)
    requests.push({ path: url.pathname, authorization: request.headers.authorization })
    for (const [path, handler] of routes) {
      const match = path.exec(url.pathname)
      if (match) return handler(match, url, request, response)
    }
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Hub</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    storage: storageUrl,
    requests,
    fetched,
    async close() {
      for (const one of [server, storage]) {
        one.closeAllConnections()
        await new Promise((resolve) => one.close(resolve))
      }
    },
  }
}
