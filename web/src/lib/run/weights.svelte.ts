// The weights of the open file: how much is fetched before a model runs, whether it fits, and what this browser keeps.
import type { GgufError, GgufFile } from 'ggufscope'
import type { StoredFile } from 'ggufscope/store'
import { keptFile, rememberKeeping, removeKept } from '../hub/kept'
import { TransferRate, type Transfer } from '../language/transfer'
import { t } from '../language/text'
import { pageMemory } from '../memory/page-memory'
import { session } from '../file/session.svelte'

/** Larger transfers are asked about first. */
const askAboveBytes = 300e6
/** the engine's context where none is set */
const standardContext = 4096

export class Weights {
  /** whether the user keeps the file in this browser */
  keep = $state(false)
  /** what is stored of it */
  kept = $state.raw<StoredFile>()
  /** the download that stores it */
  transfer = $state.raw<Transfer>()
  /** why it is not kept */
  failure = $state('')
  /** bytes of memory that the model takes; undefined: not known */
  needed = $state<number>()
  /** bytes of memory that a page can have */
  readonly limit = pageMemory()
  /** the address of a file that can be kept; undefined: a local file, or parts of a split one */
  readonly address: string | undefined
  /** the server that the bytes come from; undefined: this computer */
  readonly host: string | undefined
  readonly size: number
  /** what is done after the user agrees to load the model; set while the user is asked */
  asked = $state.raw<() => void>()
  /** resolves when it is known what is stored, and whether the model fits */
  ready: Promise<unknown>

  private control: AbortController | undefined
  private download: Promise<void> | undefined

  constructor(private readonly file: GgufFile) {
    const { source } = session
    const first: unknown = Array.isArray(source) ? source[0] : source
    this.address = typeof source === 'string' ? source : undefined
    this.host = typeof first === 'string' ? new URL(first, document.baseURI).host : undefined
    this.size = file.size ?? file.tensors.reduce((sum, { byteLength }) => sum + byteLength, 0)
    this.ready = this.look().then(() => (this.keep = this.kept !== undefined))
  }

  /** Bytes that come from a server when the model is loaded. */
  get toFetch(): number {
    if (this.host === undefined || this.kept?.complete) return 0
    return this.size - (this.kept?.bytes ?? 0)
  }

  get fits(): boolean | undefined {
    return this.needed === undefined ? undefined : this.needed <= this.limit
  }

  /** Whether the user is asked before the model is loaded. */
  get mustAsk(): boolean {
    return this.toFetch > askAboveBytes || this.fits === false
  }

  /** Does what needs the model, at once or after the user agrees to load it. `isLoaded`: whether it is already there. */
  async before(isLoaded: boolean, work: () => void) {
    await this.ready
    if (!isLoaded && this.mustAsk) this.asked = work
    else work()
  }

  answerQuestion(agreed: boolean) {
    const work = this.asked
    this.asked = undefined
    if (agreed) work?.()
  }

  /** Checks again what is stored. */
  async look() {
    if (this.address === undefined) return
    this.kept = await keptFile(this.address)
  }

  /** Estimates the memory with a context in tokens; undefined: the engine's default. */
  estimate(context: number | undefined) {
    this.ready = Promise.all([this.ready, this.measure(context)])
  }

  private async measure(context: number | undefined) {
    try {
      const longest = this.file.summary().contextLength ?? standardContext
      const { devices } = await this.file.memory({ context: context ?? Math.min(longest, standardContext) })
      this.needed = devices[0]?.total
    } catch {
      // The engine says what it thinks of such a file.
      this.needed = undefined
    }
  }

  /** Begins to store the file, or ends it. What is stored by then stays. */
  setKeep(keep: boolean) {
    this.keep = keep
    this.failure = ''
    if (!keep) return this.control?.abort()
    this.download ??= this.store().finally(() => (this.download = undefined))
  }

  private async store() {
    const { address } = this
    if (address === undefined) return
    const { signal } = (this.control = new AbortController())
    const rate = new TransferRate()
    try {
      rememberKeeping()
      const { download } = await import('ggufscope/store')
      const { headers } = session
      await download(address, {
        signal,
        ...(headers && { headers }),
        onProgress: (stored, size) => (this.transfer = rate.measure(stored, size)),
      })
    } catch (error) {
      if (!signal.aborted) this.fail(error)
    } finally {
      this.transfer = undefined
      await this.look()
    }
  }

  private fail(error: unknown) {
    const { message } = error as Partial<GgufError>
    this.keep = false
    this.failure = t('The file is not kept: {error}', { error: message ?? String(error) })
  }

  /** Waits for the download. Returns whether the file is to be kept. */
  async settled(signal: AbortSignal): Promise<boolean> {
    if (this.download) {
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
      await Promise.race([this.download, aborted])
    }
    return this.keep && this.address !== undefined
  }

  async remove() {
    if (this.address === undefined) return
    this.setKeep(false)
    await this.download
    await removeKept(this.address)
    this.kept = undefined
    this.keep = false
  }

  close() {
    this.control?.abort()
  }
}
