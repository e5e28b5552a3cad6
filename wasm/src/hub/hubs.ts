// The hubs' HTTP interfaces, one row each: how to list a repository's files, and how to search models.
import { GgufError } from '../api/errors.js'
import {
  encodedPath,
  isObject,
  numberOf,
  onlyFirst,
  onServer,
  pathOf,
  requestJson,
  textOf,
} from './request.js'
import type { FoundModel, HubFile, HubName, HubOptions } from './types.js'

export interface Hub {
  /** the hub's own server */
  readonly server: string
  /** the default revision */
  readonly revision: string
  /** address of its pages, if they are on another server */
  readonly site?: string
  readonly page: (id: string, revision: string) => string
  readonly list: (id: string, revision: string, options: HubOptions) => Promise<HubFile[]>
  readonly search?: (query: string, limit: number, options: HubOptions) => Promise<FoundModel[]>
}

/** Limit for the pages of a listing, so that a server that always names a next page cannot block. */
const kMaxPages = 100

const kHuggingFace: Hub = {
  server: 'https://huggingface.co',
  revision: 'main',
  page: (id) => `/${encodedPath(id)}`,
  // The tree has pages of up to 1,000 entries; the header Link contains the next one.
  async list(id, revision, options) {
    const files: HubFile[] = []
    const path = `/api/models/${encodedPath(id)}/tree/${encodeURIComponent(revision)}?recursive=true`
    let url: URL | undefined = onServer(options.server, this.server, path)
    for (let page = 0; url !== undefined && page < kMaxPages; page++) {
      const { body, response } = await requestJson(url, options)
      for (const entry of arrayOf(body, url)) {
        const file = isObject(entry) && entry['type'] === 'file' ? pathOf(entry['path']) : undefined
        if (file === undefined || !isObject(entry)) continue
        // The entry's size is also correct for files in Git LFS or Xet; "lfs" repeats it with the hash.
        const lfs = isObject(entry['lfs']) ? entry['lfs'] : {}
        files.push({
          path: file,
          size: numberOf(lfs['size']) ?? numberOf(entry['size']) ?? 0,
          sha256: textOf(lfs['oid']),
          url: onServer(
            options.server,
            this.server,
            `/${encodedPath(id)}/resolve/${encodeURIComponent(revision)}/${encodedPath(file)}`,
          ).href,
        })
      }
      url = nextPage(response, url)
    }
    return files
  },
  async search(query, limit, options) {
    const url = onServer(options.server, this.server, '/api/models')
    const words = { search: query, filter: 'gguf', sort: 'downloads', direction: '-1', limit: String(limit) }
    for (const [name, value] of Object.entries(words)) url.searchParams.set(name, value)
    const { body } = await requestJson(url, options)
    const found = arrayOf(body, url).flatMap((entry): FoundModel[] => {
      const id = isObject(entry) ? (textOf(entry['id']) ?? textOf(entry['modelId'])) : undefined
      if (id === undefined || !isObject(entry)) return []
      return [
        {
          id,
          downloads: numberOf(entry['downloads']),
          likes: numberOf(entry['likes']),
          updated: textOf(entry['lastModified']) ?? textOf(entry['createdAt']),
          gated: entry['gated'] !== undefined && entry['gated'] !== false,
        },
      ]
    })
    return onlyFirst(found, ({ id }) => id)
  },
}

const kModelScope: Hub = {
  server: 'https://modelscope.cn',
  revision: 'master',
  page: (id) => `/models/${encodedPath(id)}`,
  async list(id, revision, options) {
    const url = onServer(options.server, this.server, `/api/v1/models/${encodedPath(id)}/repo/files`)
    url.searchParams.set('Revision', revision)
    url.searchParams.set('Recursive', 'true')
    const { body } = await requestJson(url, options)
    const data = isObject(body) && isObject(body['Data']) ? body['Data'] : undefined
    if (data === undefined || !Array.isArray(data['Files'])) {
      const said = isObject(body) ? textOf(body['Message']) : undefined
      throw new GgufError('http-error', `${url.host} lists no files of ${id}${said ? `: ${said}` : '.'}`)
    }
    return data['Files'].flatMap((entry: unknown): HubFile[] => {
      const path = isObject(entry) && entry['Type'] !== 'tree' ? pathOf(entry['Path']) : undefined
      if (path === undefined || !isObject(entry)) return []
      const file = `/models/${encodedPath(id)}/resolve/${encodeURIComponent(revision)}/${encodedPath(path)}`
      return [
        {
          path,
          size: numberOf(entry['Size']) ?? 0,
          sha256: textOf(entry['Sha256']) || undefined,
          url: onServer(options.server, this.server, file).href,
        },
      ]
    })
  },
}

// An OCI registry: a manifest lists layers by digest. Those of a model are GGUF files.
const kOllamaKinds: Readonly<Record<string, string>> = {
  'application/vnd.ollama.image.model': '',
  'application/vnd.ollama.image.projector': 'mmproj-',
  'application/vnd.ollama.image.adapter': 'lora-',
}
const kOllama: Hub = {
  server: 'https://registry.ollama.ai',
  site: 'https://ollama.com',
  revision: 'latest',
  page: (id, revision) => `/${encodedPath(id)}:${encodeURIComponent(revision)}`,
  async list(id, revision, options) {
    const base = `/v2/${encodedPath(id)}`
    const url = onServer(options.server, this.server, `${base}/manifests/${encodeURIComponent(revision)}`)
    const { body } = await requestJson(url, options, {
      Accept: 'application/vnd.docker.distribution.manifest.v2+json',
    })
    const layers = isObject(body) && Array.isArray(body['layers']) ? (body['layers'] as unknown[]) : []
    return layers.flatMap((layer): HubFile[] => {
      const kind = isObject(layer) ? kOllamaKinds[textOf(layer['mediaType']) ?? ''] : undefined
      const digest = isObject(layer) ? textOf(layer['digest']) : undefined
      if (kind === undefined || !digest || !/^\w+:\w+$/.test(digest) || !isObject(layer)) return []
      return [
        {
          path: `${kind}${id.replace(/^library\//, '').replace('/', '-')}-${revision}.gguf`,
          size: numberOf(layer['size']) ?? 0,
          sha256: /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1],
          url: onServer(options.server, this.server, `${base}/blobs/${digest}`).href,
        },
      ]
    })
  },
}

const kGitHub: Hub = {
  server: 'https://api.github.com',
  site: 'https://github.com',
  revision: 'latest',
  page: (id, revision) =>
    `/${encodedPath(id)}/releases/${revision === 'latest' ? revision : `tag/${encodeURIComponent(revision)}`}`,
  async list(id, revision, options) {
    const release = revision === 'latest' ? revision : `tags/${encodeURIComponent(revision)}`
    const url = onServer(options.server, this.server, `/repos/${encodedPath(id)}/releases/${release}`)
    const { body } = await requestJson(url, options, { Accept: 'application/vnd.github+json' })
    const assets = isObject(body) && Array.isArray(body['assets']) ? (body['assets'] as unknown[]) : []
    return assets.flatMap((asset): HubFile[] => {
      const path = isObject(asset) ? pathOf(asset['name']) : undefined
      const address = isObject(asset) ? textOf(asset['browser_download_url']) : undefined
      if (path === undefined || !isObject(asset) || !/^https?:\/\//.test(address ?? '')) return []
      return [
        {
          path,
          size: numberOf(asset['size']) ?? 0,
          sha256: /^sha256:([0-9a-f]{64})$/.exec(textOf(asset['digest']) ?? '')?.[1],
          url: address!,
        },
      ]
    })
  },
}

export const kHubs: Readonly<Record<HubName, Hub>> = {
  huggingface: kHuggingFace,
  modelscope: kModelScope,
  ollama: kOllama,
  github: kGitHub,
}

function arrayOf(body: unknown, url: URL): unknown[] {
  if (Array.isArray(body)) return body as unknown[]
  throw new GgufError('http-error', `${url.host} answered ${url.pathname} with JSON that is no list.`)
}

/** RFC 8288: <address>; rel="next". Only on the same origin, because the token is sent, too. */
function nextPage(response: Response, url: URL): URL | undefined {
  const link = /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  const next = link !== undefined && URL.canParse(link, url) ? new URL(link, url) : undefined
  return next?.origin === url.origin ? next : undefined
}
