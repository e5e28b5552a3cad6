import { GgufError } from '../api/errors.js'

const kHuggingFace = /^(www\.)?(huggingface\.co|hf\.co|hf-mirror\.com)$/
const kModelScope = /^(www\.)?modelscope\.(cn|ai)$/

// The pages of model hubs that show a file, and the addresses of the files: [page, download], both paths on the host.
const kPages: readonly { host: RegExp; page: RegExp; file: string }[] = [
  { host: kHuggingFace, page: /^(\/[^/]+\/[^/]+)\/(?:blob|raw|blame)\/(.+)$/, file: '$1/resolve/$2' },
  { host: kHuggingFace, page: /^(\/[^/]+\/[^/]+)\/tree\/(.+\.gguf)$/i, file: '$1/resolve/$2' },
  { host: kModelScope, page: /^(\/models\/.+)\/file\/view\/(.+)$/, file: '$1/resolve/$2' },
  { host: /^github\.com$/, page: /^(\/[^/]+\/[^/]+)\/blob\/(.+)$/, file: '$1/raw/$2' },
]
// Pages of a repository, or of a folder, that name the shown file in their query: [page, revision].
const kLists: readonly { host: RegExp; page: RegExp; revision: string }[] = [
  { host: kHuggingFace, page: /^\/([^/]+\/[^/]+)(?:\/tree\/(.+?))?\/?$/, revision: 'main' },
  { host: kModelScope, page: /^\/(models\/[^/]+\/[^/]+)\/file\/view\/(.+?)\/?$/, revision: 'master' },
]
const kShownFile = ['show_file_info', 'show_tensors', 'fileName']

/** The file that the page of a hub shows, by the query of its address. */
export function shownFile(query: string | undefined): string | undefined {
  const words = new URLSearchParams(query)
  const file = kShownFile.map((name) => words.get(name)).find((value) => value?.includes('.'))
  return file?.replace(/%2f/gi, '/')
}

/**
 * The revision at the beginning of a path, and the rest. Slashes of revisions are encoded, some twice, but pages of
 * Hugging Face also write "refs/pr/1".
 */
export function revisionIn(path: string): [revision: string, rest: string] {
  const [, revision = '', rest = ''] = /^(refs\/(?:pr|convert)\/[^/]+|[^/]+)(?:\/(.*))?$/.exec(path) ?? []
  return [decoded(revision).replace(/%2f/gi, '/'), rest]
}

/** Changes the address of a hub's page to that of the file that it shows. */
function toFile(url: URL): void {
  const file = shownFile(url.search)
  for (const { host, page, revision } of file === undefined ? [] : kLists) {
    const [, repository, rest = ''] = (host.test(url.hostname) && page.exec(url.pathname)) || []
    if (repository === undefined) continue
    const [named] = revisionIn(rest)
    const path = file!.split('/').map(encodeURIComponent).join('/')
    url.pathname = `/${repository}/resolve/${encodeURIComponent(named || revision)}/${path}`
    url.search = ''
  }
  for (const { host, page, file } of kPages) {
    if (host.test(url.hostname)) url.pathname = url.pathname.replace(page, file)
  }
  if (kHuggingFace.test(url.hostname))
    url.pathname = url.pathname.replace(/(?<=\/resolve\/)refs\/(pr|convert)\/(?=[^/]+\/)/, 'refs%2F$1%2F')
}

/**
 * The address to fetch for a user's input: "hf:owner/repository/path/x.gguf" (optionally with a revision:
 * "hf:owner/repository@main/x.gguf"), a page of a model hub, or any other address, unchanged. Relative addresses are
 * relative to the page.
 */
export function addressOf(source: string | URL): URL {
  if (typeof source !== 'string' && !(source instanceof URL))
    throw new GgufError('invalid-argument', `An address is a string or a URL, not ${String(source)}.`)
  const text = String(source).trim()
  const short = /^hf:(?:\/\/)?([^/@:]+\/[^/@:]+)(?:@((?:refs\/(?:pr|convert)\/)?[^/]+))?\/(.+)$/.exec(text)
  if (short) {
    const [, repository, revision = 'main', path] = short
    const encoded = encodeURIComponent(revisionIn(revision)[0])
    return new URL(`https://huggingface.co/${repository}/resolve/${encoded}/${path}`)
  }
  let url: URL
  try {
    url = new URL(text, globalThis.location?.href)
  } catch (cause) {
    throw new GgufError('invalid-argument', `"${text}" is no address. Give a whole one, https:// included.`, {
      cause,
    })
  }
  if (url.protocol === 'file:') {
    throw new GgufError(
      'unsupported',
      `A page cannot read ${url}. In Node, import open from "ggufscope/node".`,
    )
  }
  toFile(url)
  if (
    /^hf:$/i.test(url.protocol) ||
    (kHuggingFace.test(url.hostname) && /^\/[^/]+\/[^/]+(\/tree\/.*)?\/?$/.test(url.pathname))
  )
    throw new GgufError(
      'invalid-argument',
      `"${text}" names no file. Give one: hf:owner/name/file.gguf, hf:owner/name@revision/file.gguf, its page (.../blob/main/file.gguf) or its address (.../resolve/main/file.gguf).`,
    )
  return url
}

/** The address of a file of that name in the same folder. */
export function siblingOf(url: URL, name: string): URL {
  const sibling = new URL(url)
  sibling.pathname = sibling.pathname.replace(/[^/]*$/, () => encodeURIComponent(name))
  return sibling
}

/** Decodes a part of an address; a part that is no valid encoding is returned unchanged. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
