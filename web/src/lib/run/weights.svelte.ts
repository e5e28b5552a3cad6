// The weights of the open file: how much is fetched before a model runs, whether it fits, and what this browser keeps.
import type { GgufError, GgufFile } from 'ggufscope'
import type { StoredFile } from 'ggufscope/store'
import { keptFile, rememberKeeping, removeKept } from '../hub/kept'
import { oneLine } from '../language/format'
import { reason } from '../language/said.svelte'
import { TransferRate, type Transfer } from '../language/transfer'
import { t } from '../language/text'
import { memoryInPage, pageMemory } from '../memory/page-memory'
import { session } from '../file/session.svelte'
import { isCut } from '../contents/tensors'
import { hears } from '../page/panel'
import { trainedContext } from '../memory/model-memory'
import type { Companion } from './companion.svelte'
import { refusalOf } from './refusal'

/** Larger transfers are asked about first. */
const askAboveBytes = 300e6
/** the engine's context where none is set */
const standardContext = 4096

/** The addresses of all files of a model; none if it is of this computer, or has files without a name. */
function addressesOf(source: typeof session.source, { shards }: GgufFile): string[] {
  const list: readonly unknown[] = Array.isArray(source) ? source : [source]
  const given = list.filter((one) => typeof one === 'string')
  if (given.length < list.length) return []
  const [first = ''] = given
  if (given.length === shards.length) return given
  // One file was named, and the others stand beside it.
  return shards.flatMap(({ name, present }) => {
    if (!present || name === undefined) return []
    const url = new URL(first, document.baseURI)
    url.pathname = url.pathname.replace(/[^/]*$/, () => encodeURIComponent(name))
    return url.href
  })
}

type Kept = Pick<StoredFile, 'bytes' | 'complete'>

async function keptOf(addresses: readonly string[]): Promise<Kept | undefined> {
  const files = await Promise.all(addresses.map(keptFile))
  const bytes = files.reduce((sum, file) => sum + (file?.bytes ?? 0), 0)
  return files.some(Boolean) ? { bytes, complete: files.every((file) => file?.complete) } : undefined
}

export class Weights {
  /** whether the user keeps the file in this browser */
  keep = $state(false)
  /** what is stored of it, over all its files; undefined: nothing */
  kept = $state.raw<Kept>()
  /** what is stored of it and of the files that are loaded with it */
  keptWithOthers = $state.raw<Kept>()
  /** the download that stores it */
  transfer = $state.raw<Transfer>()
  /** why it is not kept */
  failure = $state('')
  /** the files that are loaded with the model */
  companions = $state.raw<readonly Companion[]>([])
  /** bytes of memory that the model takes with them; undefined: not known */
  needed = $state<number>()
  /** the context that `needed` is for, in tokens; undefined: the model has none, or it is not known */
  context = $state<number>()
  /** bytes of memory that a page can have */
  readonly limit = pageMemory()
  /** the addresses of files that can be kept, several of a split model; none of local files */
  readonly addresses: readonly string[]
  /** the server that the bytes come from; undefined: this computer */
  readonly host: string | undefined
  readonly size: number
  private readonly isCut: boolean
  /** whether the architecture is not known */
  private isUnknown = $state(false)
  /** what the engine or a check says against the file; empty: nothing, or not asked */
  private refused = $state('')
  private isChecked = false
  /** what is done after the user agrees to load the model; set while the user is asked */
  asked = $state.raw<() => void>()
  /** resolves when it is known what is stored, and whether the model fits */
  ready: Promise<unknown>

  private control: AbortController | undefined
  private download: Promise<void> | undefined
  private isClosed = false

  constructor(private readonly file: GgufFile) {
    const { source } = session
    this.addresses = addressesOf(source, file)
    const [first] = this.addresses
    this.host = first === undefined ? undefined : new URL(first, document.baseURI).host
    const sizes = file.shards.map(({ size }) => size)
    this.size = sizes.every((size) => size !== undefined)
      ? sizes.reduce((sum, size) => sum + size, 0)
      : file.tensors.reduce((sum, { byteLength }) => sum + byteLength, 0)
    this.isCut = isCut(file)
    this.ready = this.look().then(() => (this.keep = this.kept !== undefined))
  }

  /** Bytes of the model's own file that come from a server when it is loaded. */
  get ownToFetch(): number {
    if (this.host === undefined || this.kept?.complete) return 0
    return this.size - (this.kept?.bytes ?? 0)
  }

  /** Bytes that come from servers when the model is loaded. */
  get toFetch(): number {
    if (this.keptWithOthers?.complete) return 0
    return this.companions.reduce((sum, { toFetch }) => sum + toFetch, this.ownToFetch)
  }

  /** Why the model cannot be run, whatever is loaded; empty: it can. */
  get fault(): string {
    if (this.isCut) return t('The file is cut off, so its model cannot be run. Get the whole file.')
    if (this.isUnknown && this.refused) return reason(`${this.refused}.`, 600)
    if (this.isUnknown)
      return t('The engine does not know the architecture {name}.', {
        name: oneLine(this.file.summary().architecture ?? '', 60),
      })
    return (
      this.refused && t('The engine cannot run this model: {reason}.', { reason: reason(this.refused, 600) })
    )
  }

  /** Whether the user may keep the file, or remove what is kept of it. */
  get offersKeeping(): boolean {
    return this.addresses.length > 0 && (!this.isCut || this.kept !== undefined)
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
    if (this.isClosed) return
    if (isLoaded || !this.mustAsk) return work()
    // Nothing is fetched for a model that the engine refuses.
    await this.check()
    if (!this.isClosed && !this.fault) this.asked = work
  }

  /** Asks the engine once whether it takes the file. It needs the whole header, and no weights. */
  async check() {
    await this.ready
    // Of a model that is too large, the figures say so.
    if (this.isClosed || this.isChecked || this.fault || this.fits === false) return
    this.isChecked = true
    this.refused = (await refusalOf(this.file))?.message ?? ''
  }

  answerQuestion(agreed: boolean) {
    const work = this.asked
    this.asked = undefined
    if (agreed) work?.()
  }

  /** Checks again what is stored. */
  async look() {
    if (this.addresses.length === 0) return
    const others = this.fetched.map(({ address }) => address)
    this.kept = await keptOf(this.addresses)
    this.keptWithOthers = others.length > 0 ? await keptOf([...this.addresses, ...others]) : this.kept
  }

  /** The files from servers that are loaded with the model. They are kept with it. */
  get fetched(): readonly (Companion & { address: string })[] {
    return this.companions.filter((one): one is Companion & { address: string } => one.address !== undefined)
  }

  /** Bytes of all files that are kept. */
  get sizeWithOthers(): number {
    return this.fetched.reduce((sum, { file, size }) => sum + (file?.size ?? size), this.size)
  }

  /** Estimates the memory with a context in tokens (undefined: the engine's default), and with other files. */
  estimate(context: number | undefined, companions: readonly Companion[] = []) {
    // In an effect, which must not read what it sets.
    const chosen = (this.companions = companions.filter(({ file }) => file))
    const before = this.ready
    this.ready = Promise.all([
      before,
      this.measure(context, chosen),
      before.then(() => this.keepOthers(chosen)),
    ])
  }

  /** Keeps also what was chosen after the user asked to keep the model. */
  private async keepOthers(companions: readonly Companion[]) {
    await this.look()
    const isMissing =
      companions === this.companions && this.fetched.length > 0 && !this.keptWithOthers?.complete
    if (this.keep && isMissing && this.kept?.complete) this.setKeep(true)
  }

  private async measure(context: number | undefined, companions: readonly Companion[]) {
    const draft = companions.find(({ role }) => role === 'draft')?.file
    const others = companions.filter(({ role }) => role !== 'draft')
    // What is asked of the file is asked now: it may be closed before the estimate is there.
    const trained = trainedContext(this.file)
    const hasContext = trained !== undefined && !hears(this.file)
    const tokens = context ?? Math.min(trained ?? standardContext, standardContext)
    let needed: number | undefined
    try {
      const { total } = await memoryInPage(this.file, { context: tokens, ...(draft && { draft }) })
      needed = others.reduce((sum, { size }) => sum + size, total)
    } catch (error) {
      const { code, problems } = error as GgufError
      if (code === 'unsupported') this.refused = problems?.[0] ?? ''
      this.isUnknown = code === 'unsupported' && !this.refused
      // The package may read a model, and say why no engine of it runs that.
      if (this.isUnknown) this.refused = (await refusalOf(this.file))?.message ?? ''
    }
    if (companions !== this.companions) return
    this.needed = needed
    this.context = hasContext ? tokens : undefined
  }

  /** Begins to store the file, or ends it. What is stored by then stays. */
  setKeep(keep: boolean) {
    this.keep = keep
    this.failure = ''
    if (!keep) return this.control?.abort()
    this.download ??= this.store().finally(() => (this.download = undefined))
  }

  private async store() {
    const { signal } = (this.control = new AbortController())
    const rate = new TransferRate()
    try {
      rememberKeeping()
      const { download } = await import('ggufscope/store')
      const { headers } = session
      let before = 0
      const own = this.addresses.map((address) => ({ address, headers }))
      for (const { address, headers } of [...own, ...this.fetched]) {
        const { size } = await download(address, {
          signal,
          ...(headers && { headers }),
          onProgress: (stored) => (this.transfer = rate.measure(before + stored, this.sizeWithOthers)),
        })
        before += size ?? 0
      }
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
    if (this.keptWithOthers?.complete) for (const one of this.fetched) await one.readKept()
    return this.keep && this.addresses.length > 0
  }

  async remove() {
    this.setKeep(false)
    await this.download
    const others = this.fetched
    for (const address of [...this.addresses, ...others.map(({ address }) => address)])
      await removeKept(address)
    this.kept = this.keptWithOthers = undefined
    this.keep = false
    await Promise.all(others.map((one) => one.readServer()))
  }

  /** The panel is gone, and its file may be closed. */
  close() {
    this.isClosed = true
    this.control?.abort()
  }
}
