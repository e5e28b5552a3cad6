// The one file that is open, on its way, or failed; and the address bar that says so.
import { open, type GgufFile, type OpenProgress, type Scalar, type Source } from 'ggufscope'
import { absolute, nameOf } from './address'
import { keptSource } from './kept'
import { other } from './other.svelte'
import { recent } from './recent.svelte'

export type Stage =
  | { kind: 'start' }
  | {
      kind: 'loading'
      label: string
      progress: OpenProgress | undefined
      /** the first of the file, known after one round trip */
      keys: ReadonlyMap<string, Scalar> | undefined
    }
  | { kind: 'open'; label: string; file: GgufFile }
  | { kind: 'failed'; label: string; error: unknown }

interface Attempt {
  source: Source | readonly Source[]
  label: string
  /** what the address field shows and the deep link keeps; empty for files of this computer */
  address: string
}

/** "#tensors/blk.0.attn_q.weight" -> ["tensors", "blk.0.attn_q.weight"]. */
function readHash(): [panel: string, item: string | undefined] {
  const [panel = '', ...rest] = location.hash.slice(1).split('/')
  try {
    return [panel, rest.length > 0 ? decodeURIComponent(rest.join('/')) : undefined]
  } catch {
    return [panel, undefined]
  }
}

class Session {
  stage = $state.raw<Stage>({ kind: 'start' })
  address = $state('')
  panel = $state('overview')
  /** what is selected in the panel: a key, a tensor */
  item = $state<string>()

  private last: Attempt | undefined
  private control: AbortController | undefined
  private hashTimer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.followLocation()
    window.addEventListener('popstate', () => this.followLocation())
    window.addEventListener('hashchange', () => this.followHash())
  }

  /** where the open file came from, for those who read on; undefined for several files */
  get source(): Source | undefined {
    const source = this.last?.source
    return Array.isArray(source) ? undefined : (source as Source | undefined)
  }

  open(address: string) {
    const url = absolute(address)
    void this.start({ source: url, label: nameOf(url), address }, true)
  }

  openFiles(files: readonly File[]) {
    const first = files[0]
    if (!first) return
    void this.start({ source: files.length === 1 ? first : files, label: first.name, address: '' }, true)
  }

  retry(options: { allowMissingShards?: boolean } = {}) {
    if (this.last) void this.start(this.last, false, options)
  }

  cancel() {
    clearTimeout(this.hashTimer)
    this.control?.abort()
  }

  /** Back to the empty page. */
  leave() {
    this.cancel()
    this.replace({ kind: 'start' })
    this.address = ''
    this.panel = 'overview'
    this.item = undefined
    history.pushState(null, '', location.pathname)
  }

  show(panel: string, item?: string) {
    this.panel = panel
    this.item = item
    // Browsers limit how often a page may do this, and held keys are quick.
    clearTimeout(this.hashTimer)
    this.hashTimer = setTimeout(() => {
      const hash = `#${panel}${item !== undefined ? `/${encodeURIComponent(item.slice(0, 2000).toWellFormed())}` : ''}`
      history.replaceState(null, '', location.pathname + location.search + hash)
    }, 200)
  }

  private async start(attempt: Attempt, push: boolean, options: { allowMissingShards?: boolean } = {}) {
    this.cancel()
    const control = new AbortController()
    this.control = control
    this.last = attempt
    this.address = attempt.address
    const { label } = attempt
    this.replace({ kind: 'loading', label, progress: undefined, keys: undefined })
    if (push) {
      const query = attempt.address ? `?${new URLSearchParams({ url: attempt.address })}` : ''
      this.panel = 'overview'
      this.item = undefined
      history.pushState(null, '', location.pathname + query)
    }
    try {
      const source = typeof attempt.source === 'string' ? await keptSource(attempt.source) : attempt.source
      const file = await open(source, {
        ...options,
        preview: 'auto',
        cache: true,
        signal: control.signal,
        onProgress: (progress) => {
          const { stage } = this
          if (this.control === control && stage.kind === 'loading') this.stage = { ...stage, progress }
        },
        onKeys: (keys) => {
          const { stage } = this
          if (this.control === control && stage.kind === 'loading') this.stage = { ...stage, keys }
        },
      })
      if (this.control !== control) return file.close()
      this.replace({ kind: 'open', label: file.name || label, file })
      recent.add(attempt.address ? { name: label, url: attempt.address } : { name: label })
    } catch (error) {
      if (this.control !== control) return
      if (control.signal.aborted) this.replace({ kind: 'start' })
      else this.replace({ kind: 'failed', label, error })
    }
  }

  private replace(stage: Stage) {
    const before = this.stage
    this.stage = stage
    if (before.kind !== 'open') return
    before.file.close()
    other.close()
  }

  private followLocation() {
    this.followHash()
    const address = new URLSearchParams(location.search).get('url') ?? ''
    if (address) {
      const url = absolute(address)
      void this.start({ source: url, label: nameOf(url), address }, false)
    } else {
      this.cancel()
      this.address = ''
      this.replace({ kind: 'start' })
    }
  }

  private followHash() {
    const [panel, item] = readHash()
    if (panel) {
      this.panel = panel
      this.item = item
    }
  }
}

export const session = new Session()
