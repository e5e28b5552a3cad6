import { GgufError } from '../api/errors.js'

// The pages of model hubs and the addresses of the files: [page, download], both paths on the host.
const kPages: readonly { host: RegExp; page: RegExp; file: string }[] = [
  {
    host: /^(www\.)?(huggingface\.co|hf\.co|hf-mirror\.com)$/,
    page: /^(\/.+)\/blob\/(.+)$/,
    file: '$1/resolve/$2',
  },
  {
    host: /^(www\.)?modelscope\.(cn|ai)$/,
    page: /^(\/models\/.+)\/file\/view\/(.+)$/,
    file: '$1/resolve/$2',
  },
  { host: /^github\.com$/, page: /^(\/[^/]+\/[^/]+)\/blob\/(.+)$/, file: '$1/raw/$2' },
]

/**
 * The address to fetch for a user's input: "hf:owner/repository/path/x.gguf" (optionally with a revision:
 * "hf:owner/repository@main/x.gguf"), a page of a model hub, or any other address, unchanged. Relative addresses are
 * relative to the page.
 */
export function addressOf(source: string | URL): URL {
  if (typeof source !== 'string' && !(source instanceof URL))
    throw new GgufError('invalid-argument', `An address is a string or a URL, not ${String(source)}.`)
  const text = String(source).trim()
  const short = /^hf:(?:\/\/)?([^/@]+\/[^/@]+)(?:@([^/]+))?\/(.+)$/.exec(text)
  if (short) {
    const [, repository, revision = 'main', path] = short
    return new URL(`https://huggingface.co/${repository}/resolve/${revision}/${path}`)
  }
  const page = /^hf:|^https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/[^/]+\/[^/]+(?:\/tree\/.*)?\/?$/i.test(
    text,
  )
  if (page)
    throw new GgufError(
      'invalid-argument',
      `"${text}" names no file. Give one: hf:owner/name/file.gguf, hf:owner/name@revision/file.gguf, its page (.../blob/main/file.gguf) or its address (.../resolve/main/file.gguf).`,
    )
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
  for (const { host, page, file } of kPages) {
    if (host.test(url.hostname)) url.pathname = url.pathname.replace(page, file)
  }
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
