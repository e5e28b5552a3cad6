// Names of repositories: short forms, pages, and the names that other tools use.
import { checkArgument, text as isText } from '../api/checks.js'
import { decoded, shownFile } from '../sources/addresses.js'
import { pastedName } from './pasted.js'
import type { HubAddress, HubName } from './types.js'

const kHosts: readonly { host: RegExp; hub: HubName }[] = [
  { host: /^(www\.)?(huggingface\.co|hf\.co|hf-mirror\.com)$/, hub: 'huggingface' },
  { host: /^(www\.)?modelscope\.(cn|ai)$/, hub: 'modelscope' },
  { host: /^(www\.)?ollama\.com$|^registry\.ollama\.ai$/, hub: 'ollama' },
  { host: /^(www\.)?github\.com$/, hub: 'github' },
]

const kPrefixes: Readonly<Record<string, HubName>> = {
  hf: 'huggingface',
  huggingface: 'huggingface',
  ms: 'modelscope',
  modelscope: 'modelscope',
  ollama: 'ollama',
  github: 'github',
  gh: 'github',
}

/** Pages of the hubs that show no model, by the beginning of their paths. */
const kOtherPages: Readonly<Record<HubName, RegExp>> = {
  huggingface:
    /^(?:datasets|spaces|collections|docs|blog|papers|tasks|learn|posts|search|settings|organizations|login|join|new|chat|api)\//,
  modelscope: /^(?:datasets|studios|collections|docs|organization|learn|search|my|api)\//,
  ollama:
    /^(?:library|search|models?|blog|download|docs|signin|signup|settings|pricing|cloud|turbo|api|v2)\/?$|^(?:blog|docs|api|v2|download|settings)\//,
  github: /^(?:orgs|topics|search|marketplace|settings|features|sponsors|login|about)\//,
}

const kName = /^[\w][\w.-]*$/

/**
 * The repository that a text names; undefined for any other text, such as a file's address or a path. Accepted are
 * "owner/name", "owner/name:Q4_K_M", "hf:owner/name@revision", "hf.co/owner/name:Q4_K_M", "ms:owner/name",
 * "ollama:name:tag", "github:owner/name@tag" for the files of a release, the pages of repositories, with the folder or the
 * file that they show, and commands such as "ollama run name:tag" or "llama-server -hf owner/name:Q4_K_M".
 */
export function parseHubAddress(text: string): HubAddress | undefined {
  checkArgument('parseHubAddress()', 'address', text, isText)
  const given = pastedName(text)
  const [, prefix = '', rest = ''] = /^([a-z]+):(?:\/\/)?(.+)$/i.exec(given) ?? []
  if (Object.hasOwn(kPrefixes, prefix.toLowerCase()))
    return (
      ofWeb(rest)?.address ??
      (/^m/i.test(prefix) ? fileIn('modelscope', rest) : undefined) ??
      ofPath(kPrefixes[prefix.toLowerCase()]!, rest.replace(/^models\/(?=[^/]+\/[^/]+)/, ''))
    )
  const web = ofWeb(given)
  if (web) return web.address
  if (/^[a-z][\w.-]*:[\w.-]+$/i.test(given) && !/^[a-z]:/i.test(given)) return ofPath('ollama', given)
  const bare =
    /^[^/\\:\s]+\/([^/\\:\s]+?)(@refs(?:\/|%2f)(?:pr|convert)(?:\/|%2f)[^/:\s]+|@[^:\s]+(?=:))?(?::.+)?$/i.exec(
      given,
    )
  return bare && !/\.gguf$/i.test(bare[1]!) ? ofPath('huggingface', given) : undefined
}

/** What an address of a server names; undefined for a text that is no such address. */
function ofWeb(given: string): { address: HubAddress | undefined } | undefined {
  const web = /^(?:(?:https?:)?\/\/)?((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?)\/([^?#]*)(\?[^#]*)?/i.exec(given)
  if (!web) return undefined
  const [, host = '', path = '', query] = web
  const row = kHosts.find((one) => one.host.test(host.toLowerCase()))
  if (!row) return { address: undefined }
  const place = kPlaces[row.hub](path)
  const found =
    place === undefined || kOtherPages[row.hub].test(place)
      ? undefined
      : (fileIn(row.hub, place, kOneFile) ??
        ofPath(row.hub, place, row.hub === 'huggingface' ? mirrorOf(host) : undefined))
  const file = shownFile(query)
  return { address: found && (file === undefined ? found : { ...found, file }) }
}

/** The repository in the path of a page; undefined if it is the page of something else. */
const kPlaces: Readonly<Record<HubName, (path: string) => string | undefined>> = {
  huggingface: (path) => path.replace(/^(?:api\/)?models\//, ''),
  modelscope: (path) => path.replace(/^(?:api\/v1\/)?models\//, ''),
  ollama: (path) =>
    path
      .replace(/^v2\/(.+)\/manifests\/([^/]+)$/, '$1:$2')
      .replace(/\/(?:tags|blobs\/[^/]+)\/?$/, (page) => (path.startsWith('v2/') ? page : '')),
  github: (path) => {
    const [, id, tag] =
      /^([^/]+\/[^/]+?)(?:\.git)?(?:\/releases(?:\/latest|\/(?:tag|expanded_assets)\/([^/]+))?)?\/?$/.exec(
        path,
      ) ?? []
    return id && (tag === undefined ? id : `${id}@${tag}`)
  },
}

/** A file right below its repository: a page's address with more folders is one of another form. */
const kOneFile = /^([^/@:]+\/[^/@:]+)()\/([^/]+\.gguf)$/i

/** "owner/name/x.gguf" or "owner/name@revision/folder/x.gguf", as programs name a file of a repository. */
function fileIn(
  hub: HubName,
  path: string,
  form = /^([^/@:]+\/[^/@:]+)(?:@([^/:]+))?\/(.+\.gguf)$/i,
): HubAddress | undefined {
  const [, id, revision, file] = form.exec(path) ?? []
  const found = id === undefined ? undefined : ofPath(hub, id)
  return found && file !== undefined
    ? { ...found, revision: revision ? decoded(decoded(revision)) : undefined, file: decoded(file) }
    : undefined
}

/** Requests go directly to a mirror. Other host names of a hub are aliases. */
const mirrorOf = (host: string) =>
  /^hf-mirror\.com$/i.test(host) ? `https://${host.toLowerCase()}` : undefined

/**
 * The revision at the beginning of a path, and the rest. Slashes of revisions are encoded, some twice, but pages of
 * Hugging Face also write "refs/pr/1".
 */
function revisionIn(path: string): [revision: string, rest: string] {
  const [, revision = '', rest = ''] = /^(refs\/(?:pr|convert)\/[^/]+|[^/]+)(?:\/(.*))?$/.exec(path) ?? []
  return [decoded(decoded(revision)), rest]
}

/** The part of a page below its repository: the repository itself, or one of its folders or files. */
function ofPage(page: string): Pick<HubAddress, 'revision' | 'folder' | 'file'> | undefined {
  const [, kind = '', rest = ''] = /^([^/]*)(?:\/(.*))?$/.exec(page) ?? []
  if (kind === '' || kind === 'files' || kind === 'summary') return rest === '' ? {} : undefined
  // Talk about a repository is about the repository.
  if (kind === 'discussions' || kind === 'feedback') return {}
  if (!/^(?:tree|commits?|edit|blame)$/.test(kind)) return undefined
  const [revision, path] = revisionIn(rest)
  const place = /\.gguf$/i.test(path) ? 'file' : 'folder'
  return { revision: revision || undefined, [place]: decoded(path) || undefined }
}

function ofPath(hub: HubName, path: string, server?: string): HubAddress | undefined {
  const pattern =
    hub === 'ollama'
      ? /^(?:([^/:]+)\/)?([^/:]+)(?::([^/]+))?()$/
      : /^([^/:@]+)\/([^/:@]+)(?:@([^:]+?))?(?::(.+)|(?<!@.*)\/(.*))?$/
  const parts = pattern.exec(path.replace(/\/+$/, ''))
  if (!parts) return undefined
  const [, owner = 'library', name = '', revision, quantization, page = ''] = parts
  if (!kName.test(owner) || !kName.test(name)) return undefined
  const address = { hub, id: `${owner}/${name}`, server }
  if (hub === 'ollama') return { ...address, revision: revision ?? 'latest' }
  // A longer path leads to a file or to another page.
  if (revision !== undefined && /\/.*\.[a-z]\w*$/i.test(revision)) return undefined
  const shown = ofPage(page)
  return (
    shown && {
      ...address,
      revision: revision === undefined ? shown.revision : decoded(decoded(revision)),
      quantization: quantization === undefined ? undefined : decoded(quantization),
      folder: shown.folder,
      file: shown.file,
    }
  )
}
