// Model hubs: the settings (server and token), and the resolution of addresses to repositories and files.
import type { FoundModel, HubAddress, HubOptions, HubVariant, Repository } from 'ggufscope/hub'
import { storage } from '../page/storage'

type Headers = Record<string, string> | undefined

/** the server that receives the token if no other is set */
const ownServer = 'https://huggingface.co'

const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : undefined)

/**
 * What an address refers to: a repository with several models, which may lack the one that the address names (`absent`), or the
 * files of one model.
 */
export type Place =
  | { kind: 'repository'; repository: Repository; absent: string | undefined; headers: Headers }
  | { kind: 'model'; urls: readonly string[]; headers: Headers }

class Hub {
  /** a server with Hugging Face's protocol, used instead of Hugging Face; empty: none */
  server = $state(storage.get('hub.server') ?? '')
  /** an access token, sent only to that server */
  token = $state(storage.get('hub.token') ?? '')

  set(server: string, token: string) {
    this.server = server.trim()
    this.token = token.trim()
    storage.set('hub.server', this.server)
    storage.set('hub.token', this.token)
  }

  /** The name of the server of the settings; undefined: Hugging Face. */
  get host(): string | undefined {
    return this.server === '' || !URL.canParse(this.server) ? undefined : new URL(this.server).host
  }

  async search(query: string, signal: AbortSignal): Promise<FoundModel[]> {
    const { searchModels } = await import('ggufscope/hub')
    return await searchModels(query, { ...this.options(undefined), signal, limit: 30 })
  }

  /** Resolves an address on a hub. Returns undefined if it is not the address of a repository. */
  async find(address: string, signal: AbortSignal): Promise<Place | undefined> {
    if (!/[/:\s]/.test(address.trim())) return undefined
    const { listRepository, parseHubAddress, pickVariant } = await import('ggufscope/hub')
    const parsed = parseHubAddress(address)
    if (!parsed) return this.replaces(address) ? await this.fileOnServer(address) : undefined
    const options = this.options(parsed)
    const repository = await listRepository(parsed, { ...options, signal })
    const wanted = parsed.file ?? parsed.quantization
    const chosen = wanted === undefined ? only(repository) : pickVariant(repository.variants, wanted)
    const headers = options.token ? this.authorization : undefined
    if (!chosen) return { kind: 'repository', repository, absent: wanted, headers }
    return { kind: 'model', urls: chosen.files.map(({ url }) => url), headers }
  }

  /** The models of the repository that an address names; none if it is on no hub. */
  async modelsAt(address: string, signal: AbortSignal): Promise<HubVariant[]> {
    if (!/[/:]/.test(address)) return []
    const { listRepository, parseHubAddress } = await import('ggufscope/hub')
    const parsed = parseHubAddress(address)
    if (!parsed) return []
    const { folder, ...repository } = parsed
    const place = parsed.file === undefined ? parsed : repository
    const { variants } = await listRepository(place, { ...this.options(parsed), signal })
    return variants.filter(({ kind, missing }) => kind === 'model' && missing === 0)
  }

  /** The projector beside a model, if its address is on a hub. */
  async projectorOf(address: string, signal: AbortSignal): Promise<HubVariant | undefined> {
    const { findProjector } = await import('ggufscope/hub')
    const token = this.serves(address) ? this.token || undefined : undefined
    return await findProjector(address, { token, signal })
  }

  /** "hf:owner/name/x.gguf" on the server that the settings name. */
  private async fileOnServer(address: string): Promise<Place> {
    const { addressOf } = await import('../../../../wasm/src/sources/addresses')
    const url = this.server.replace(/\/$/, '') + addressOf(address).pathname
    return { kind: 'model', urls: [url], headers: this.headersFor(url) }
  }

  /** The headers with the token if the address is on its server. Direct addresses of gated files need it, too. */
  headersFor(address: string): Headers {
    return this.token !== '' && this.serves(address) ? this.authorization : undefined
  }

  private get authorization(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}` }
  }

  /** Whether an address of Hugging Face is looked for on the server that the settings name instead. */
  replaces(address: string): boolean {
    return this.server !== '' && /^(hf|huggingface):/i.test(address)
  }

  /** Whether an address is on the server that the settings name. */
  serves(address: string): boolean {
    const origin = originOf(address)
    return origin !== undefined && origin === originOf(this.server || ownServer)
  }

  /** The server on which an address is: that of the settings, or Hugging Face. */
  serverOf(address: string): string {
    return this.serves(address) ? this.server || ownServer : ownServer
  }

  private options(address: HubAddress | undefined): HubOptions {
    if (address && address.hub !== 'huggingface') return {}
    const server = address?.server ?? (this.server || ownServer)
    // If the address names another server, such as a mirror, the token is not sent.
    const token = this.serves(server) ? this.token || undefined : undefined
    return { server, token }
  }
}

/** The only model of an Ollama repository, where each tag is one model, or of a release; undefined on other hubs. */
function only({ hub, variants }: Repository): HubVariant | undefined {
  return (hub === 'ollama' || hub === 'github') &&
    variants.filter(({ kind }) => kind === 'model').length === 1
    ? variants[0]
    : undefined
}

export const hub = new Hub()
