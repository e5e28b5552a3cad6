// The draft model: it proposes tokens, and the open model checks several of them at once.
import { open, type GgufFile, type Source } from 'ggufscope'
import type { HubVariant } from 'ggufscope/hub'
import { absolute, nameOf } from '../file/address'
import { hub } from '../hub/hub.svelte'

/** tokens that are proposed at a time */
export const draftLengths = [1, 2, 4, 8, 16] as const

/** Whether a file has heads that predict further tokens (MTP): it can draft for itself. */
export function draftsForItself(file: GgufFile): boolean {
  const { architecture = '' } = file.summary()
  return Number(file.metadata.get(`${architecture}.nextn_predict_layers`) ?? 0) > 0
}

/** The draft models beside a model, if its file's address is on a server with the protocol of Hugging Face. */
async function draftsOf(address: string, signal: AbortSignal): Promise<HubVariant[]> {
  const { href } = new URL(address, document.baseURI)
  const file = /^(https?:\/\/[^/]+)\/([^/]+\/[^/]+)\/resolve\/([^/]+)\//.exec(href)
  if (!file) return []
  const [, server = '', id = '', revision = ''] = file
  const { listRepository } = await import('ggufscope/hub')
  const token = hub.serves(server) ? hub.token || undefined : undefined
  const place = { hub: 'huggingface', id, revision: decodeURIComponent(revision), server } as const
  const { variants } = await listRepository(place, { server, token, signal })
  return variants.filter(({ kind, missing }) => kind === 'draft' && missing === 0)
}

export class Draft {
  /** open while it is in use */
  file = $state.raw<GgufFile>()
  name = $state('')
  failure = $state('')
  opening = $state(false)
  /** draft models beside the model in its repository */
  beside = $state.raw<readonly HubVariant[]>([])
  /** tokens at a time */
  length = $state<number>(4)

  private isOwn = false
  private control = new AbortController()
  private looked = false

  /** Looks once for draft models beside the model. */
  async look(address: string) {
    if (this.looked) return
    this.looked = true
    try {
      this.beside = await draftsOf(address, AbortSignal.timeout(30_000))
    } catch {
      // Without a listing, a file can still be chosen.
    }
  }

  /** Takes the open file itself, which stays open. */
  useOwn(file: GgufFile, name: string) {
    this.drop()
    this.isOwn = true
    this.file = file
    this.name = name
  }

  async useAddress(address: string) {
    try {
      const url = absolute(address)
      await this.use(url, nameOf(address), hub.headersFor(url))
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error)
    }
  }

  async use(source: Source | readonly Source[], name: string, headers?: Record<string, string>) {
    this.drop()
    this.opening = true
    const { signal } = (this.control = new AbortController())
    try {
      const file = await open(source, { preview: 'full', signal, headers })
      if (signal.aborted) return file.close()
      this.file = file
      this.name = name
    } catch (error) {
      if (!signal.aborted) this.failure = error instanceof Error ? error.message : String(error)
    } finally {
      if (!signal.aborted) this.opening = false
    }
  }

  drop() {
    this.control.abort()
    if (!this.isOwn) this.file?.close()
    this.isOwn = false
    this.file = undefined
    this.name = ''
    this.failure = ''
    this.opening = false
  }
}
