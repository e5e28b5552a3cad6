// Repositories of model hubs: the server, the token, and what an address means there.
import type { FoundModel, HubAddress, HubOptions, HubVariant, Repository } from 'ggufscope/hub'
import { storage } from './storage'

type Headers = Record<string, string> | undefined

/** The server of the token if no other is set. */
const ownServer = 'https://huggingface.co'

const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : undefined)

/** Where an address leads: to a repository of several models, or to the files of one. */
export type Place =
  | { kind: 'repository'; repository: Repository; title: string; headers: Headers }
  | { kind: 'model'; urls: readonly string[]; headers: Headers }

class Hub {
  /** A server with Hugging Face's protocol, instead of Hugging Face. */
  server = $state(storage.get('hub.server') ?? '')
  /** An access token, for that server alone. */
  token = $state(storage.get('hub.token') ?? '')

  set(server: string, token: string) {
    this.server = server.trim()
    this.token = token.trim()
    storage.set('hub.server', this.server)
    storage.set('hub.token', this.token)
  }

  async search(query: string, signal: AbortSignal): Promise<FoundModel[]> {
    const { searchModels } = await import('ggufscope/hub')
    return await searchModels(query, { ...this.options(undefined), signal, limit: 30 })
  }

  /** What an address means on a hub; undefined if it is not the address of a repository. */
  async find(address: string, signal: AbortSignal): Promise<Place | undefined> {
    // Most addresses are those of files: nothing is loaded for them.
    if (/\.gguf([?#]|$)/i.test(address) || !/[/:]/.test(address)) return undefined
    const { listRepository, parseHubAddress, pickVariant } = await import('ggufscope/hub')
    const parsed = parseHubAddress(address)
    if (!parsed) return undefined
    const options = this.options(parsed)
    const repository = await listRepository(parsed, { ...options, signal })
    const wanted = parsed.quantization
    const chosen = wanted === undefined ? only(repository) : pickVariant(repository.variants, wanted)
    const headers = options.token ? this.authorization : undefined
    const title = wanted ? `${repository.id} has no ${wanted}` : repository.id
    if (!chosen) return { kind: 'repository', repository, title, headers }
    return { kind: 'model', urls: chosen.files.map(({ url }) => url), headers }
  }

  /** The token, if the address is on its server: a file's own address in a gated repository needs it too. */
  headersFor(address: string): Headers {
    return this.token !== '' && this.serves(address) ? this.authorization : undefined
  }

  private get authorization(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}` }
  }

  private serves(address: string): boolean {
    const origin = originOf(address)
    return origin !== undefined && origin === originOf(this.server || ownServer)
  }

  private options(address: HubAddress | undefined): HubOptions {
    if (address && address.hub !== 'huggingface') return {}
    const server = address?.server ?? (this.server || ownServer)
    // A mirror that an address names is another server.
    const token = this.serves(server) ? this.token || undefined : undefined
    return { server, token }
  }
}

/** The only model of a repository: with Ollama, each tag is one. */
function only({ hub, variants }: Repository): HubVariant | undefined {
  return hub === 'ollama' && variants.filter(({ kind }) => kind === 'model').length === 1
    ? variants[0]
    : undefined
}

export const hub = new Hub()
