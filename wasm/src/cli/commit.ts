// Changes of a file on Hugging Face as a commit, by the client @huggingface/hub: only the new header is sent, and the
// tensor data that is there stays.
import { GgufError, messageOf, type GgufErrorCode } from '../api/errors.js'
import type { GgufBuilder, GgufFile } from '../api/file.js'
import type { WrittenFile } from '../api/edit.js'
import { open, withPaths } from '../node.js'
import { optionalPackage } from '../runtime/optional-package.js'
import { addressOf, decoded } from '../sources/addresses.js'
import { UsageError, type Context, type Options } from './command.js'
import { bytesText } from './format.js'

export const kCommitOptions = {
  commit: {
    excludes: ['output', 'in-place'],
    help: 'commit the change to the file on Hugging Face; without it, a dry run',
  },
  message: { value: 'TEXT', needs: 'commit', help: 'the title of the commit' },
  'pull-request': { needs: 'commit', help: 'open a pull request with the commit' },
} as const satisfies Options

/** A file in a repository. */
export interface HubTarget {
  readonly server: string
  readonly id: string
  readonly branch: string
  readonly path: string
}

/** The parts of @huggingface/hub that are used. */
interface HubClient {
  modelInfo(of: object): Promise<{ sha: string }>
  downloadFile(of: object): Promise<Blob | null>
  commit(of: object): Promise<{ commit: { oid: string; url: string }; pullRequestUrl?: string } | undefined>
}

/** The file on Hugging Face, or on the server HF_ENDPOINT, that a word names; undefined for any other word. */
export function hubTarget(word: string): HubTarget | undefined {
  const source = withPaths(word)
  if (typeof source !== 'string' && !(source instanceof URL)) return undefined
  const url = addressOf(source)
  const endpoint = (process.env['HF_ENDPOINT'] || 'https://huggingface.co').replace(/\/+$/, '')
  const isHub = /^(?:www\.)?(?:huggingface\.co|hf\.co)$/.test(url.hostname)
  const [, id, branch, path] = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(url.pathname) ?? []
  if (id === undefined || !(isHub || url.origin === new URL(endpoint).origin)) return undefined
  return { server: endpoint, id, branch: decoded(branch!), path: decoded(path!) }
}

/** The token of HF_TOKEN, or of --header. */
function tokenOf({ values }: Context): string | undefined {
  const headers = (values['header'] ?? []) as readonly string[]
  const given = headers.map((line) => /^authorization: *bearer +(\S+) *$/i.exec(line)?.[1])
  return given.find((token) => token !== undefined) ?? (process.env['HF_TOKEN'] || undefined)
}

async function clientFor(): Promise<HubClient> {
  const client = await optionalPackage<HubClient>('@huggingface/hub')
  if (client) return client
  throw new GgufError(
    'unsupported',
    '--commit needs the package @huggingface/hub beside this one: npm install @huggingface/hub.',
  )
}

const kCodes: Readonly<Record<number, GgufErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'no-such-file',
  409: 'file-changed',
  412: 'file-changed',
  429: 'rate-limited',
}

/** An error of the client as one of this package. It never holds the token. */
function hubError(error: unknown, token: string | undefined): unknown {
  if (error instanceof GgufError || error instanceof UsageError) return error
  const { statusCode: status } = error as { statusCode?: number }
  const text = messageOf(error)
  const message = token === undefined ? text : text.replaceAll(token, '...')
  if (status === undefined)
    return new GgufError(error instanceof TypeError ? 'network' : 'http-error', `The hub: ${message}`)
  const code = kCodes[status] ?? (status >= 500 ? 'server-error' : 'http-error')
  return new GgufError(code, `The hub answers ${status}: ${message}.`, { status })
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
    'A commit sends a new header only, but this change also changes tensor data: write the file with --output, and upload it.',
  )
}

const urlOf = ({ server, id, path }: HubTarget, revision: string): string =>
  `${server}/${id}/resolve/${encodeURIComponent(revision)}/${path.split('/').map(encodeURIComponent).join('/')}`

interface Sent {
  readonly repository: string
  readonly branch: string
  readonly path: string
  /** bytes of the header that is replaced, of the new one, and of the data that stays */
  readonly oldHeader: number
  readonly newHeader: number
  readonly kept: number
  readonly commit?: string | undefined
  readonly url?: string | undefined
}

function tell({ json, print, printJson }: Context, sent: Sent): void {
  if (json) return printJson(sent)
  const { repository, branch, path, oldHeader, newHeader, kept, commit, url } = sent
  print(`${repository}, branch ${branch}: ${path}`)
  print(
    `  ${bytesText(oldHeader)} of header ${commit === undefined ? 'would be' : 'were'} replaced by ${bytesText(newHeader)}; ${bytesText(kept)} of tensor data stay`,
  )
  print(
    commit === undefined ? '  Nothing was changed: --commit makes the commit.' : `  commit ${commit}: ${url}`,
  )
}

/** Edits a file on the hub: commits the change, or without --commit tells what a commit would send. */
export async function setOnHub(
  context: Context,
  target: HubTarget,
  edit: (file: GgufFile) => Promise<GgufBuilder>,
): Promise<number> {
  const { values, signal, progress } = context
  const { server, id, branch, path } = target
  const token = tokenOf(context)
  const isCommit = values['commit'] === true
  if (isCommit && token === undefined)
    throw new UsageError('--commit needs a token with write access: set the variable HF_TOKEN')
  const client = isCommit ? await clientFor() : undefined
  const at = { hubUrl: server, ...(token !== undefined && { accessToken: token }) }
  try {
    // The commit that the change is made upon: one that comes between makes the hub refuse.
    const parent = (await client?.modelInfo({ ...at, name: id, revision: branch, additionalFields: ['sha'] }))
      ?.sha
    const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` }
    using file = await open(urlOf(target, parent ?? branch), {
      ...{ signal, headers, onProgress: progress.opening, allowMissingShards: true },
    })
    progress.clear()
    if (file.shards.length > 1)
      throw new GgufError(
        'unsupported',
        'Files of split models cannot be committed: edit a copy, and upload it.',
      )
    const built = await (await edit(file)).build({ signal })
    const end = oldHeaderLength(built, file.size)
    const kept = file.size! - end
    const sent: Sent = { repository: id, branch, path, oldHeader: end, newHeader: built.header.length, kept }
    let result: Sent = sent
    if (client) {
      const original = await client.downloadFile({ ...at, repo: id, path, revision: parent })
      if (original?.size !== file.size)
        throw new GgufError('file-changed', `${path} has another size than when its header was read.`)
      const done = await client.commit({
        ...{ ...at, repo: id, branch, parentCommit: parent, abortSignal: signal, useWebWorkers: false },
        title: (values['message'] as string | undefined) ?? `Change the header of ${path}`,
        isPullRequest: values['pull-request'] === true,
        operations: [
          {
            ...{ operation: 'edit', path, originalContent: original },
            edits: [{ content: new Blob([built.header]), start: 0, end }],
          },
        ],
      })
      result = { ...sent, commit: done?.commit.oid, url: done?.pullRequestUrl ?? done?.commit.url }
    }
    tell(context, result)
    return 0
  } catch (error) {
    signal.throwIfAborted()
    throw hubError(error, token)
  }
}
