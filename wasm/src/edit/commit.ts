// Commits the changed header of a file on Hugging Face, by the client @huggingface/hub: only the new header is sent, and the
// tensor data that is there stays.
import { callBack } from '../api/callbacks.js'
import {
  bytes,
  callback,
  checkArgument,
  checkOptions,
  flag,
  object,
  signal,
  text,
  type Check,
} from '../api/checks.js'
import { GgufError, quoted, type GgufErrorCode } from '../api/errors.js'
import type {
  CommitOptions,
  CommitProgress,
  HubClient,
  HubCommit,
  HubFile,
  WrittenFile,
} from '../api/edit.js'
import type { GgufBuilder, GgufFile } from '../api/file.js'
import { open } from '../file/open.js'
import { isNode } from '../runtime/node-module.js'
import { addressOf, decoded } from '../sources/addresses.js'

const kHubServer = 'https://huggingface.co'
/** Bytes of a body that a browser must hold in memory, which it cannot stream to the server. */
const kMaxHeld = 1 << 29

/** The module @huggingface/hub, by the functions that are called. */
const clientModule: Check = (value) =>
  ['modelInfo', 'downloadFile', 'commitIter'].every(
    (name) => object(value) === undefined && typeof (value as Record<string, unknown>)[name] === 'function',
  )
    ? undefined
    : 'the module @huggingface/hub'

const kCommitChecks = {
  signal,
  client: clientModule,
  token: text,
  server: text,
  branch: text,
  message: text,
  pullRequest: flag,
  header: bytes,
  onProgress: callback,
} as const

/**
 * The file in a repository of Hugging Face, or of a server with its protocol, that an address names: hf:owner/name/file.gguf,
 * its page, or its address; undefined for any other address.
 */
export function hubFileOf(address: string | URL, server: string = kHubServer): HubFile | undefined {
  checkArgument('hubFileOf()', 'server', server, text)
  const url = addressOf(address)
  const at = server.replace(/\/+$/, '')
  const isHub = /^(?:www\.)?(?:huggingface\.co|hf\.co)$/.test(url.hostname)
  const [, repository, branch, path] = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(url.pathname) ?? []
  if (repository === undefined || !(isHub || (URL.canParse(at) && url.origin === new URL(at).origin)))
    return undefined
  return { server: at, repository, branch: decoded(branch!), path: decoded(path!) }
}

export const urlOf = ({ server, repository, path }: HubFile, revision: string): string =>
  `${server}/${repository}/resolve/${encodeURIComponent(revision)}/${path.split('/').map(encodeURIComponent).join('/')}`

const kCodes: Readonly<Record<number, GgufErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'no-such-file',
  409: 'file-changed',
  412: 'file-changed',
  429: 'rate-limited',
}

/** An error of the client as one of this package. It never holds the token. */
function hubError(error: unknown, token: string | undefined): GgufError {
  if (error instanceof GgufError) return error
  const { statusCode: status } = error as { statusCode?: number }
  const message = token === undefined || token === '' ? quoted(error) : quoted(error).replaceAll(token, '...')
  // The words of a browser's TypeError say no more.
  if (error instanceof TypeError) return new GgufError('network', 'The hub could not be reached.')
  if (status === undefined) return new GgufError('http-error', `The hub: ${message}.`)
  const code = kCodes[status] ?? (status >= 500 ? 'server-error' : 'http-error')
  return new GgufError(code, `The hub answers ${status}: ${message}.`, { status })
}

/** What the client answers; its error is one of this package, or the reason of the abort. */
async function answerOf<T>(call: Promise<T>, { token, signal: end }: CommitOptions): Promise<T> {
  try {
    return await call
  } catch (error) {
    end?.throwIfAborted()
    throw hubError(error, token)
  }
}

/** The length of the old header, if the new file is a new header and the old data; an error otherwise. */
function oldHeaderLength(built: WrittenFile, size: number | undefined): number {
  const [header, data, ...more] = built.parts
  const isKept =
    header?.kind === 'bytes' &&
    more.length === 0 &&
    (data === undefined || (data.kind === 'copy' && data.from + data.length === size))
  if (isKept && size !== undefined) return data?.kind === 'copy' ? data.from : size
  throw new GgufError(
    'unsupported',
    'A commit sends a new header only, but this change also changes tensor data: write a new file, and upload it.',
  )
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])

const lengthOf = (body: BodyInit | null | undefined): number => {
  if (typeof body === 'string') return new TextEncoder().encode(body).length
  if (body instanceof Blob) return body.size
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : 0
}

/** fetch() for the client: it ends with the signal, and says how many bytes it sends. */
function countedFetch(end: AbortSignal | undefined, onSent: (bytes: number) => void): typeof fetch {
  return async (input, init = {}) => {
    const control = new AbortController()
    const stops = [init.signal, end].flatMap((one) => one ?? [])
    const watched = stops.map((one) => ({ one, stop: () => control.abort(one.reason) }))
    for (const { one, stop } of watched)
      if (one.aborted) stop()
      else one.addEventListener('abort', stop, { once: true })
    let { body } = init
    // A browser takes the client's own kinds of Blob for empty ones.
    if (body instanceof Blob && body.constructor !== Blob && !isNode()) {
      if (body.size > kMaxHeld)
        throw new GgufError(
          'unsupported',
          'This repository takes whole files only, which a page cannot send: use the command line.',
        )
      body = await body.arrayBuffer()
    }
    const response = await fetch(input, {
      ...init,
      ...(body !== undefined && { body }),
      signal: control.signal,
    })
    onSent(lengthOf(body))
    return response
  }
}

interface HeaderChange {
  readonly header: Uint8Array<ArrayBuffer>
  /** bytes of the old header, and of the old file */
  readonly end: number
  readonly size: number
}

/** The new header that an edit makes. */
async function changeOf(
  file: GgufFile,
  edit: (file: GgufFile) => GgufBuilder | Promise<GgufBuilder>,
  path: string,
  options: CommitOptions,
): Promise<HeaderChange> {
  if (file.shards.length > 1)
    throw new GgufError(
      'unsupported',
      'Files of split models cannot be committed: edit a copy, and upload it.',
    )
  const built = await (await edit(file)).build({ signal: options.signal })
  if (options.header && !isSame(options.header, built.header))
    throw new GgufError('file-changed', `${path} on the hub is another file now: open it again.`)
  return { header: built.header, end: oldHeaderLength(built, file.size), size: file.size! }
}

/** Makes the commit, and returns its id and address. */
async function send(
  { server, repository, branch, path }: HubFile,
  change: HeaderChange & { readonly parent: string },
  options: CommitOptions & { client: HubClient },
): Promise<Pick<HubCommit, 'commit' | 'url' | 'sent'>> {
  const { client, token, signal: abortSignal, onProgress } = options
  const total = change.size - change.end + change.header.length
  let sent = 0
  const at = {
    hubUrl: server,
    repo: repository,
    ...(token !== undefined && { accessToken: token }),
    fetch: countedFetch(abortSignal, (length) => (sent += length)),
  }
  const original = await answerOf(client.downloadFile({ ...at, path, revision: change.parent }), options)
  if (original?.size !== change.size)
    throw new GgufError('file-changed', `${path} has another size than when its header was read.`)
  const steps = client.commitIter({
    ...at,
    branch,
    parentCommit: change.parent,
    abortSignal,
    useWebWorkers: false,
    title: options.message ?? `Change the header of ${path}`,
    isPullRequest: options.pullRequest === true,
    operations: [
      {
        operation: 'edit',
        path,
        originalContent: original,
        edits: [{ content: new Blob([change.header]), start: 0, end: change.end }],
      },
    ],
  })
  for (;;) {
    const { done, value } = await answerOf(steps.next(), options)
    abortSignal?.throwIfAborted()
    if (done) return { commit: value?.commit.oid, url: value?.pullRequestUrl ?? value?.commit.url, sent }
    const progress: CommitProgress | undefined =
      value.event === 'fileProgress'
        ? {
            phase: value.state === 'hashing' ? 'hashing' : 'uploading',
            done: Math.round((value.progress ?? 0) * total),
            total,
            sent,
          }
        : value.phase === 'committing'
          ? { phase: 'committing', done: total, total, sent }
          : undefined
    if (progress) await callBack(onProgress, progress)
  }
}

/**
 * Changes the header of a file on Hugging Face where it is: the client sends the new header, and the tensor data stay.
 * Without a client it is a dry run, which changes nothing. `edit` gets the file as it is in the branch, and returns a builder
 * with the changes. Errors: 'invalid-argument' for an address of no hub, 'unauthorized', 'forbidden', 'file-changed' if
 * another commit came between or the header is not the expected one, 'unsupported' for changes of tensor data and for split
 * models, and those of the network.
 */
export async function commitToHub(
  address: string | URL,
  edit: (file: GgufFile) => GgufBuilder | Promise<GgufBuilder>,
  options: CommitOptions = {},
): Promise<HubCommit> {
  checkArgument('commitToHub()', 'edit', edit, callback)
  checkOptions('commitToHub()', options, kCommitChecks)
  const { client, token, signal: end, onProgress } = options
  const found = hubFileOf(address, options.server)
  if (!found)
    throw new GgufError('invalid-argument', `${quoted(String(address))} names no file on Hugging Face.`)
  const place = { ...found, branch: options.branch ?? found.branch }
  const { server, repository, branch, path } = place
  // The commit that the change is made upon: one that comes between makes the hub refuse.
  const parent =
    client &&
    (
      await answerOf(
        client.modelInfo({
          hubUrl: server,
          name: repository,
          revision: branch,
          additionalFields: ['sha'],
          accessToken: token,
          fetch: countedFetch(end, () => {}),
        }),
        options,
      )
    ).sha
  const file = await open(urlOf(place, parent ?? branch), {
    signal: end,
    allowMissingShards: true,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    ...(onProgress && {
      onProgress: ({ loaded }) => onProgress({ phase: 'header', done: loaded, total: undefined, sent: 0 }),
    }),
  })
  try {
    const change = await changeOf(file, edit, path, options)
    const { header, end: oldHeader, size } = change
    const sizes = { oldHeader, newHeader: header.length, kept: size - oldHeader }
    const result = { repository, branch, path, ...sizes }
    if (!client || parent === undefined) return result
    return { ...result, ...(await send(place, { ...change, parent }, { ...options, client })) }
  } finally {
    file.close()
  }
}
