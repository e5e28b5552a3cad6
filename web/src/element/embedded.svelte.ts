// The state of one element: its file, and what is shown of it. The viewer's components read it in place of the viewer's session.
import { open, type OpenProgress, type Source } from 'ggufscope'
import type { GgufPanel, GgufTheme, GgufViewerElement } from 'ggufscope/element'
import { absolute, isFileAddress, nameOf } from '../lib/file/address'
import type { Loading, Opened, Stage } from '../lib/file/opened'
import { LanguageChoice } from '../lib/language/language.svelte'
import { later, nextTask } from '../lib/page/later'
import type { Surroundings } from '../lib/page/surroundings'
import { readingPanels } from '../reading-panels'
import type { Report } from './look'

type Sources = NonNullable<GgufViewerElement['source']>

/** The files of the model that an address on a hub names; the address itself if it is that of a file. */
async function locate(address: string, signal: AbortSignal): Promise<string | readonly string[]> {
  // A relative address such as "models/x" is that of a file of the page's server, not of a repository.
  const whole = absolute(address)
  if (isFileAddress(address)) return whole
  const { findVariant, parseHubAddress } = await import('ggufscope/hub')
  // Commands such as "ollama run name" have spaces.
  const place = parseHubAddress(/\s/.test(address.trim()) ? address : whole)
  if (!place) return whole
  const { files } = await findVariant(place, { signal })
  return files.map(({ url }) => url)
}

const isAddress = (source: unknown): source is string | URL =>
  typeof source === 'string' || source instanceof URL

function labelOf(source: Sources): string {
  const first: unknown = Array.isArray(source) ? source[0] : source
  if (isAddress(first)) return nameOf(String(first))
  return first instanceof File ? first.name : ''
}

export class Embedded implements Opened, Surroundings {
  stage = $state.raw<Stage>({ kind: 'start' })
  panel = $state('overview')
  theme = $state<GgufTheme>('page')
  narrow = $state(false)
  dark = $state(false)
  readonly language = new LanguageChoice()
  private items = $state<Record<string, string | undefined>>({})
  /** what is given to open(): an address is found on a hub first */
  private given: { source: Sources; options: GgufViewerElement['options'] } | undefined
  private located: Source | readonly Source[] | undefined
  private control: AbortController | undefined

  constructor(private readonly report: Report) {}

  get label(): string {
    return this.stage.kind === 'open' || this.stage.kind === 'loading' ? this.stage.label : ''
  }

  get address(): string {
    return typeof this.given?.source === 'string' ? this.given.source : ''
  }

  get source(): Source | readonly Source[] | undefined {
    return this.located
  }

  get headers(): Record<string, string> | undefined {
    const { headers } = this.given?.options ?? {}
    return headers && Object.fromEntries(new Headers(headers))
  }

  get isRemote(): boolean {
    const first: unknown = Array.isArray(this.located) ? this.located[0] : this.located
    return isAddress(first)
  }

  /** The page's address says nothing about the file. */
  get link(): string | undefined {
    return undefined
  }

  has(panel: string): boolean {
    return readingPanels.some(({ id }) => id === panel)
  }

  itemOf(panel: string): string | undefined {
    return this.items[panel]
  }

  /** Shows a panel, as the page wants it. */
  select(panel: string, item: string | undefined) {
    if (this.panel !== panel) this.panel = panel
    if (this.items[panel] !== item) this.items[panel] = item
  }

  show(panel: string, item?: string) {
    this.select(panel, item)
    this.report('gguf-panel', { panel: panel as GgufPanel, item })
  }

  turnTo(panel: string) {
    this.show(panel, this.itemOf(panel))
  }

  open(source: Sources, options: GgufViewerElement['options']) {
    this.given = { source, options }
    void this.start()
  }

  retry(options: { allowMissingShards?: boolean } = {}) {
    void this.start(options)
  }

  /** Ends loading. The element offers to try again. */
  cancel() {
    this.control?.abort()
    this.replace({ kind: 'start' })
  }

  close() {
    this.given = undefined
    this.cancel()
  }

  private replace(stage: Stage) {
    const before = this.stage
    this.stage = stage
    if (before.kind !== 'open') return
    before.file.close()
    this.report('gguf-close', undefined)
  }

  private async start(extra: { allowMissingShards?: boolean } = {}) {
    this.control?.abort()
    if (!this.given) return
    const control = (this.control = new AbortController())
    const { source, options } = this.given
    const label = labelOf(source)
    this.replace({ kind: 'loading', label, progress: undefined, keys: undefined })
    try {
      const located = isAddress(source) ? await locate(String(source), control.signal) : source
      control.signal.throwIfAborted()
      this.located = located
      const file = await open(located, { preview: 'auto', ...options, ...extra, ...this.watch(control) })
      await nextTask()
      if (control.signal.aborted) file.close()
      control.signal.throwIfAborted()
      const name = file.name || labelOf(located) || label
      this.replace({ kind: 'open', label: name, file })
      this.report('gguf-open', { file, name })
    } catch (error) {
      if (control.signal.aborted) return
      this.replace({ kind: 'failed', label, error })
      this.report('gguf-error', { error })
    }
  }

  private watch(control: AbortController) {
    // Shown in a later task, because a short header is complete by then.
    const tell = (news: Pick<Loading, 'progress'> | Pick<Loading, 'keys'>) =>
      later(() => {
        const { stage } = this
        if (this.control === control && stage.kind === 'loading') this.stage = { ...stage, ...news }
      })
    return {
      signal: control.signal,
      onProgress: (progress: OpenProgress) => {
        tell({ progress })
        this.report('gguf-progress', progress)
      },
      onKeys: (keys: NonNullable<Loading['keys']>) => void tell({ keys }),
    }
  }
}
