// A stand-in of Hugging Face for commits: one repository with one LFS file. Its client uploads by Git LFS, or by Xet, which
// takes only chunks that it does not have. It checks the token, the parent commit, and with Git LFS the uploaded hash.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CommitHub {
  readonly url: string
  /** the bytes of the file, after each commit */
  content: Uint8Array
  /** the current commit */
  sha: string
  readonly commits: { summary: string; parentCommit: string; path: string; pullRequest: boolean }[]
  /** SHA-256 of the file, as the last commit says it */
  oid: string
  /** with Xet: bytes of chunks that were uploaded */
  chunkBytes: number
  /** method, path without query */
  readonly requests: string[]
  /** whole addresses and headers of all requests, apart from Authorization */
  readonly seen: string[]
  /** requests whose path has this text get this status */
  refused: { path: string; status: number } | undefined
  /** uploads wait for this */
  hold: Promise<void> | undefined
  close(): Promise<void>
}

interface Setting {
  readonly id: string
  readonly path: string
  readonly token: string
  readonly xet?: boolean
  /** whether anyone may read the file */
  readonly public?: boolean
}

// The end of the record of chunks, as the client writes it.
const kFooterBytes = 200

/** What pages of other sites may send and read. */
const kCors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*, authorization',
  'access-control-expose-headers': '*',
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const shaOf = (n: number) => String(n).repeat(40).slice(0, 40)

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

export async function startCommitHub(
  { id, path, token, xet = false, public: isPublic = false }: Setting,
  content: Uint8Array,
): Promise<CommitHub> {
  const uploads = new Map<string, Uint8Array>()
  // The record of the chunks of each upload, which tells a later one what is there.
  const shards: Uint8Array[] = []
  const hub = {
    content,
    sha: shaOf(1),
    oid: '',
    chunkBytes: 0,
    commits: [] as CommitHub['commits'],
    requests: [] as string[],
    seen: [] as string[],
    refused: undefined as CommitHub['refused'],
    hold: undefined as CommitHub['hold'],
  }
  // A busy machine may send on a connection that a server with a short limit just closes.
  const server = createServer(
    { keepAliveTimeout: 120_000 },
    (request, response) => void answer(request, response),
  )
  const answer = async (request: IncomingMessage, response: import('node:http').ServerResponse) => {
    const url = new URL(request.url!, 'http://hub')
    for (const [name, value] of Object.entries(kCors)) response.setHeader(name, value)
    if (request.method === 'OPTIONS') return response.writeHead(204).end()
    hub.requests.push(`${request.method} ${url.pathname}`)
    const { authorization: _, ...headers } = request.headers
    hub.seen.push(`${request.url} ${JSON.stringify(headers)}`)
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const body = await bodyOf(request)
    const origin = `http://${request.headers.host}`
    const { refused } = hub
    if (refused && url.pathname.includes(refused.path)) return json(refused.status, { error: 'Refused.' })
    if (/^\/(?:upload|v1\/xorbs)\//.test(url.pathname)) await hub.hold
    if (url.pathname.startsWith('/upload/')) {
      uploads.set(url.pathname.slice('/upload/'.length), body)
      return response.writeHead(200, { etag: 'x' }).end()
    }
    if (url.pathname.startsWith('/v1/chunks/')) {
      const known = shards.at(-1)
      return known ? response.writeHead(200).end(known) : json(404, {})
    }
    if (url.pathname.startsWith('/v1/xorbs/')) {
      hub.chunkBytes += body.length
      return json(200, { was_inserted: true })
    }
    if (/^\/(?:v1\/)?shards$/.test(url.pathname)) {
      // The storage adds where its tables begin, behind the chunks; here there are none.
      const footer = body.length - kFooterBytes
      body.writeBigUInt64LE(BigInt(footer), footer + 24)
      shards.push(body)
      return json(200, { result: 1 })
    }
    const isRead = isPublic && request.method !== 'POST' && url.pathname.startsWith(`/${id}/resolve/`)
    if (!isRead && request.headers.authorization !== `Bearer ${token}`)
      return json(401, { error: 'Invalid token' })
    const [, what] =
      new RegExp(`^/api/models/${id}/(revision|preupload|commit)/[^/]+$`).exec(url.pathname) ?? []
    if (what === 'revision')
      return json(200, { _id: 'x', id, sha: hub.sha, lastModified: '2026-01-01T00:00:00Z' })
    if (what === 'preupload') return json(200, { files: [{ path, uploadMode: 'lfs' }] })
    if (url.pathname === `/${id}.git/info/lfs/objects/batch`) {
      const { objects } = JSON.parse(String(body)) as { objects: { oid: string; size: number }[] }
      const expiration = String(Math.floor(Date.now() / 1000) + 3600)
      const header = xet && {
        'X-Xet-Cas-Url': origin,
        'X-Xet-Access-Token': 'x',
        'X-Xet-Session-Id': 'x',
        'X-Xet-Token-Expiration': expiration,
      }
      const actionsOf = (oid: string) => ({
        upload: { href: `${origin}/upload/${oid}`, header: header || {} },
      })
      return json(200, {
        transfer: xet ? 'xet' : 'basic',
        objects: objects.map(({ oid, size }) => ({ oid, size, actions: actionsOf(oid) })),
      })
    }
    if (what === 'commit') {
      const [head, file] = String(body)
        .split('\n')
        .map((line) => (JSON.parse(line) as { value: Record<string, string> }).value) as [
        Record<string, string>,
        Record<string, string>,
      ]
      const uploaded = uploads.get(file['oid']!)
      if ((head['parentCommit'] ?? hub.sha) !== hub.sha)
        return json(412, { error: 'A commit has happened since.' })
      if (!xet && (!uploaded || sha256(uploaded) !== file['oid']))
        return json(400, { error: 'The upload is wrong.' })
      const pullRequest = url.searchParams.get('create_pr') === '1'
      hub.commits.push({
        ...{
          summary: head['summary']!,
          parentCommit: head['parentCommit'] ?? '',
          path: file['path']!,
          pullRequest,
        },
      })
      if (!pullRequest) {
        hub.oid = file['oid']!
        hub.content = uploaded ?? hub.content
        hub.sha = shaOf(hub.commits.length + 1)
      }
      return json(200, {
        commitOid: hub.sha,
        commitUrl: `${origin}/${id}/commit/${hub.sha}`,
        hookOutput: '',
        ...(pullRequest && { pullRequestUrl: `${origin}/${id}/discussions/1` }),
      })
    }
    if (!url.pathname.startsWith(`/${id}/resolve/`)) return json(404, { error: 'Not found' })
    const all = hub.content
    const [, from = '0', to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    const end = to ? Math.min(Number(to) + 1, all.length) : all.length
    response.writeHead(request.headers.range ? 206 : 200, {
      'content-length': end - Number(from),
      'accept-ranges': 'bytes',
      'content-range': `bytes ${from}-${end - 1}/${all.length}`,
      etag: `"${sha256(all)}"`,
    })
    return response.end(all.subarray(Number(from), end))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(hub, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
