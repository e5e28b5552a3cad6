// Names of repositories: short forms, pages, and the names that other tools use.
import { checkArgument, text as isText } from '../api/checks.js'
import { decoded, shownFile } from '../sources/addresses.js'
import type { HubAddress, HubName } from './types.js'

const kHosts: readonly { host: RegExp; hub: HubName }[] = [
  { host: /^(www\.)?(huggingface\.co|hf\.co|hf-mirror\.com)$/, hub: 'huggingface' },
  { host: /^(www\.)?modelscope\.(cn|ai)$/, hub: 'modelscope' },
  { host: /^(www\.)?ollama\.com$|^registry\.ollama\.ai$/, hub: 'ollama' },
]

const kPrefixes: Readonly<Record<string, HubName>> = {
  hf: 'huggingface',
  huggingface: 'huggingface',
  ms: 'modelscope',
  modelscope: 'modelscope',
  ollama: 'ollama',
}

const kName = /^[\w][\w.-]*$/

/**
 * The repository that a text names; undefined for any other text, such as a file's address or a path. Accepted are
 * "owner/name", "owner/name:Q4_K_M", "hf:owner/name@revision", "hf.co/owner/name:Q4_K_M", "ms:owner/name",
 * "ollama:name:tag", and the pages of repositories, with the folder or the file that they show.
 */
export function parseHubAddress(text: string): HubAddress | undefined {
  checkArgument('parseHubAddress()', 'address', text, isText)
  const given = text.trim()
  const prefix = /^([a-z]+):(?!\/\/[^/]*\.)(?:\/\/)?(.+)$/i.exec(given)
  const named = prefix && Object.hasOwn(kPrefixes, prefix[1]!.toLowerCase())
  if (named) return ofPath(kPrefixes[prefix[1]!.toLowerCase()]!, prefix[2]!)
  const web = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?)\/([^?#]+)(\?[^#]*)?/i.exec(given)
  if (web) {
    const [, host = '', path = '', query] = web
    const row = kHosts.find((one) => one.host.test(host.toLowerCase()))
    const place =
      row?.hub === 'ollama' ? path.replace(/\/(tags|blobs\/[^/]+)\/?$/, '') : path.replace(/^models\//, '')
    const found = row && ofPath(row.hub, place, mirrorOf(host))
    const file = shownFile(query)
    return found && (file === undefined ? found : { ...found, file })
  }
  if (/^[a-z][\w.-]*:[\w.-]+$/i.test(given) && !/^[a-z]:/i.test(given)) return ofPath('ollama', given)
  const bare =
    /^[^/\\:\s]+\/([^/\\:\s]+?)(@refs(?:\/|%2f)(?:pr|convert)(?:\/|%2f)[^/:\s]+|@[^:\s]+(?=:))?(?::.+)?$/i.exec(
      given,
    )
  return bare && !/\.gguf$/i.test(bare[1]!) ? ofPath('huggingface', given) : undefined
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
  if (kind !== 'tree') return undefined
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
