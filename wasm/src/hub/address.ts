// Names of repositories: short forms, pages, and the names that other tools use.
import { checkArgument, text as isText } from '../api/checks.js'
import { decoded } from '../sources/addresses.js'
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
 * "ollama:name:tag", and the pages of repositories.
 */
export function parseHubAddress(text: string): HubAddress | undefined {
  checkArgument('parseHubAddress()', 'address', text, isText)
  const given = text.trim()
  const prefix = /^([a-z]+):(?!\/\/[^/]*\.)(?:\/\/)?(.+)$/i.exec(given)
  const named = prefix && Object.hasOwn(kPrefixes, prefix[1]!.toLowerCase())
  if (named) return ofPath(kPrefixes[prefix[1]!.toLowerCase()]!, prefix[2]!)
  const web = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?)\/([^?#]+)/i.exec(given)
  if (web) {
    const [, host = '', path = ''] = web
    const row = kHosts.find((one) => one.host.test(host.toLowerCase()))
    return row && ofPath(row.hub, decoded(path).replace(/^(models|library)\//, ''), mirrorOf(host))
  }
  if (/^[a-z][\w.-]*:[\w.-]+$/i.test(given) && !/^[a-z]:/i.test(given)) return ofPath('ollama', given)
  const bare = /^[^/\\:\s]+\/[^/\\:\s]+(:[\w.-]+)?$/.test(given)
  return bare && !/\.gguf$/i.test(given) ? ofPath('huggingface', given) : undefined
}

/** Requests go directly to a mirror. Other host names of a hub are aliases. */
const mirrorOf = (host: string) =>
  /^hf-mirror\.com$/i.test(host) ? `https://${host.toLowerCase()}` : undefined

function ofPath(hub: HubName, path: string, server?: string): HubAddress | undefined {
  const [head = '', ...rest] = path.replace(/\/+$/, '').split('/')
  const owned = hub !== 'ollama' || rest.length > 0
  const [name, quantization] = splitOnce(owned ? (rest.shift() ?? '') : head, ':')
  const [bare, revision = rest[0] === 'tree' ? rest[1] : undefined] = splitOnce(name, '@')
  const owner = owned ? head : 'library'
  // A longer path leads to a file or to another page, but "tree/main" is still the repository.
  const more = rest.length > 0 && rest[0] !== 'tree' && !(rest[0] === 'files' || rest[0] === 'summary')
  if (!kName.test(owner) || !kName.test(bare) || more) return undefined
  const address = { hub, id: `${owner}/${bare}`, server }
  if (hub === 'ollama') return { ...address, revision: quantization ?? 'latest' }
  return { ...address, revision, quantization }
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
