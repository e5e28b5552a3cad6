// Changes addresses of pages and short forms (hf:) to those of files.
import { GgufError } from '../api/errors.js'
import { isNode } from '../runtime/node-module.js'

const kHubs = /^(www\.)?(huggingface\.co|hf\.co|hf-mirror\.com|modelscope\.(cn|ai))$/

/** The address of a hub's page as browsers show it, without https://. */
export const kShort = /^((www\.)?(huggingface\.co|hf\.co|hf-mirror\.com|modelscope\.(cn|ai)|github\.com)\/)/i

/** The page of a repository, or of one of its folders: [repository, revision]. */
const kList = /^\/((?:models\/)?[^/]+\/[^/]+)(?:\/(?:tree|file\/view)\/((?:refs\/\w+\/)?[^/]+)(?:\/.*)?)?\/?$/
/** The page of a file. */
const kFile = /^(\/(?:models\/)?[^/]+\/[^/]+)\/(?:blob|raw|file\/view|tree(?=\/.+\.gguf$))\/(?=.)/i

/** The file that the page of a hub shows, by the query of its address. */
export function shownFile(query: string | undefined): string | undefined {
  for (const [name, value] of new URLSearchParams(query))
    if (/^(show_(file_info|tensors)|fileName)$/.test(name) && value !== 'true' && value !== '')
      return decoded(value)
  return undefined
}

/** Changes the address of a hub's page to that of the file that it shows. */
function toFile(url: URL): void {
  if (url.hostname === 'github.com')
    url.pathname = url.pathname.replace(/^(\/[^/]+\/[^/]+)\/blob\/(?=.)/, '$1/raw/')
  if (!kHubs.test(url.hostname)) return
  const [, repository, revision] = kList.exec(url.pathname) ?? []
  const shown = repository && shownFile(url.search)
  if (shown) {
    const standard = repository.startsWith('models/') ? 'master' : 'main'
    url.pathname = `/${repository}/resolve/${revision ?? standard}/${shown}`
    url.search = ''
  }
  url.pathname = url.pathname
    .replace(kFile, '$1/resolve/')
    .replace(/(\/resolve\/refs)\/(pr|convert)\/(?=[^/]+\/)/, '$1%2F$2%2F')
}

const forPaths = (): string => (isNode() ? ' For paths, import open from "ggufscope/node".' : '')

/**
 * The address to fetch for a user's input: "hf:owner/repository/path/x.gguf" (optionally with a revision:
 * "hf:owner/repository@main/x.gguf"), a page of a model hub, or any other address, unchanged. Relative addresses are
 * relative to the page.
 */
export function addressOf(source: string | URL): URL {
  if (typeof source !== 'string' && !(source instanceof URL))
    throw new GgufError('invalid-argument', `An address is a string or a URL, not ${String(source)}.`)
  const text = String(source).trim()
  const full = text
    .replace(kShort, 'https://$1')
    .replace(
      /^hf:(?:\/\/)?([^/@:]+\/[^/@:]+)(?:@((?:refs\/(?:pr|convert)\/)?[^/]+))?\/(?=.)/,
      (_, repository: string, revision = 'main') =>
        `https://huggingface.co/${repository}/resolve/${revision}/`,
    )
  let url: URL
  try {
    url = new URL(full, globalThis.location?.href)
  } catch (cause) {
    throw new GgufError('invalid-argument', `"${text}" is no address.${forPaths()}`, { cause })
  }
  if (/^(file|.):$/.test(url.protocol)) {
    const reason = isNode() ? `open() of "ggufscope" cannot read ${url}.` : `A page cannot read ${url}.`
    throw new GgufError('unsupported', reason + forPaths())
  }
  toFile(url)
  if (url.protocol === 'hf:' || (kHubs.test(url.hostname) && kList.test(url.pathname)))
    throw new GgufError(
      'invalid-argument',
      `"${text}" names no file. Give hf:owner/name/file.gguf, hf:owner/name@revision/file.gguf, or its page.`,
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
