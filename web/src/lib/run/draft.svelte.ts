// The draft model: it proposes tokens, and the open model checks several of them at once.
import type { GgufFile } from 'ggufscope'
import type { HubVariant } from 'ggufscope/hub'
import { absolute, nameOf } from '../file/address'
import { hub } from '../hub/hub.svelte'
import { bytesOf, Companion } from './companion.svelte'
import { errorText } from '../language/error-text'

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

/** The tensors of a file's first head. It has the embedding and the output in common with the model. */
function ofHead(file: GgufFile): GgufFile['tensors'] {
  const { architecture = '' } = file.summary()
  const number = (key: string) => Number(file.metadata.get(`${architecture}.${key}`) ?? 0)
  const first = `blk.${number('block_count') - number('nextn_predict_layers')}.`
  return file.tensors.filter(({ name }) => name.startsWith(first))
}

export class Draft extends Companion {
  readonly role = 'draft'
  /** draft models beside the model in its repository */
  beside = $state.raw<readonly HubVariant[]>([])
  /** tokens at a time */
  length = $state<number>(4)

  private isOwn = $state(false)
  private looked = false

  override get size(): number {
    return this.isOwn && this.file ? bytesOf(ofHead(this.file)) : super.size
  }

  protected override closes(): boolean {
    return !this.isOwn
  }

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

  /** Takes the open file itself, which stays open. `host`: the server that it comes from. */
  useOwn(file: GgufFile, name: string, host: string | undefined) {
    this.drop()
    this.isOwn = true
    this.file = file
    this.name = name
    this.host = host
  }

  async useAddress(address: string) {
    try {
      const url = absolute(address)
      await this.use(url, nameOf(address), hub.headersFor(url))
    } catch (error) {
      this.failure = errorText(error)
    }
  }

  override drop() {
    super.drop()
    this.isOwn = false
  }
}
