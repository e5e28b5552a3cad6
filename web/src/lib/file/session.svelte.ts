// The file that is open, loading or failed, and the address bar, which reflects it.
import type { GgufErrorCode, OpenProgress, Source } from 'ggufscope'
import { tick } from 'svelte'
import { absolute, isFileAddress, isLocalPath, isOtherScheme, nameOf } from './address'
import { earlyAssets } from '../page/early'
import { panelNamed } from '../page/panel-names'
import { summaryOf } from '../page/summary'
import { hub, type Place } from '../hub/hub.svelte'
import { keptSource } from '../hub/kept'
import { later, nextTask } from '../page/later'
import type { Loading, Opened, Stage } from './opened'
import { other } from './other.svelte'
import { pending } from './pending.svelte'
import { recent } from './recent.svelte'
import { currentName, samples } from './samples'
import { narrow } from '../page/screen'
import { t } from '../language/text'

interface Attempt {
  /** identifies the attempt in the browser's history entries */
  id: string
  source: Source | readonly Source[]
  /** headers for a hub that needs a token */
  headers?: Record<string, string> | undefined
  label: string
  /** whether it was looked up on a hub */
  isOnHub?: boolean
  /** shown in the address field and stored in the deep link; empty for local files */
  address: string
}

const attemptOf = (given: Omit<Attempt, 'id'>): Attempt => ({ id: String(Math.random()), ...given })

const headersOf = (source: Attempt['source']) =>
  typeof source === 'string' ? hub.headersFor(source) : undefined

/** Replaces a hub address with the addresses of its files. */
function locate(attempt: Attempt, { urls }: Extract<Place, { kind: 'model' }>) {
  attempt.source = urls.length === 1 ? urls[0]! : urls
  attempt.label = nameOf(urls[0]!)
}

/** The address in the page's link; empty if there is none. */
const linked = () => currentName(new URLSearchParams(location.search).get('url') ?? '')

function readState(): string | undefined {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null && 'opened' in state ? String(state.opened) : undefined
}

function hashOf(panel: string, item: string | undefined): string {
  return `#${panel}${item === undefined ? '' : `/${encodeURIComponent(item.slice(0, 2000).toWellFormed())}`}`
}

/** "#tensors/blk.0.attn_q.weight" -> ["tensors", "blk.0.attn_q.weight"]. */
function readHash(): [panel: string, item: string | undefined] {
  const [name = '', ...rest] = location.hash.slice(1).split('/')
  try {
    return panelNamed(
      decodeURIComponent(name),
      rest.length > 0 ? decodeURIComponent(rest.join('/')) : undefined,
    )
  } catch {
    return panelNamed(name, undefined)
  }
}

const hashEveryMs = 200
/** The file that comes with the viewer and has this address, relative to the page or complete. */
const builtIn = (address: string) =>
  samples.find(({ file }) => address === file || address === new URL(file, document.baseURI).href)

/**
 * Whether more attempts would only keep the user waiting: the device is offline, or the server has not answered twice. To a
 * page, a server that does not let it read looks like one that cannot be reached.
 */
const isHopeless = ({ retry, loaded }: OpenProgress): boolean =>
  retry !== undefined && loaded === 0 && retry.code === 'network' && (retry.attempt >= 2 || !navigator.onLine)

/** Words rather than an address: no path, no protocol, and no ending of a file. */
const isWords = (text: string): boolean =>
  !/[/\\:]/.test(text) && !/\.\w{2,12}$/.test(text) && !/^\W*ollama\s+(run|pull|show)\s/i.test(text)

class Session implements Opened {
  stage = $state.raw<Stage>({ kind: 'start' })
  address = $state('')
  panel = $state('overview')
  /** the selected item of each panel, e.g. a key or a tensor */
  private items = $state<Record<string, string | undefined>>({})

  /** what the start page searches on the hub */
  query = $state('')
  private last: Attempt | undefined
  /** whether the complete file is stored in this browser */
  private isKept = false
  private control: AbortController | undefined
  private hashWritten = 0
  private hashTimer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.followLocation()
    window.addEventListener('popstate', () => {
      if (this.mayFollow()) this.followLocation()
    })
    window.addEventListener('hashchange', () => this.followHash())
  }

  /** the source of the open file; a list for a split model */
  get source(): Source | readonly Source[] | undefined {
    return this.last?.source
  }

  /** whether its bytes come from a server, not from a local file or the browser's storage */
  get isRemote(): boolean {
    return this.last !== undefined && this.last.address !== '' && !this.isKept
  }

  /** the page's address, if it leads others to the open file */
  get link(): string | undefined {
    return this.last !== undefined && this.last.address !== '' ? location.href : undefined
  }

  /** The viewer has all panels. */
  has(): boolean {
    return true
  }

  /** whether the address of the open file is stored completely in this browser */
  get isKeptHere(): boolean {
    return this.isKept
  }

  /** the headers of every request to its server */
  get headers(): Record<string, string> | undefined {
    return this.last?.headers
  }

  /** the selected item of a panel, even if the panel is hidden */
  itemOf(panel: string): string | undefined {
    return this.items[panel]
  }

  open(given: string) {
    const address = currentName(given)
    if (isWords(address)) return this.search(address)
    if (!pending.mayLeave()) return
    if (isLocalPath(address)) {
      const message = t('A page cannot read a path of this computer. Choose the file, or drop it here.')
      return void this.fail(address, 'invalid-argument', message)
    }
    const url = absolute(address)
    void this.start(attemptOf({ source: url, label: nameOf(url), address }), true)
  }

  /** Opens a file, and compares it with another one. */
  openWith(address: string, second: string) {
    if (!pending.mayLeave()) return
    history.pushState(null, '', `?${new URLSearchParams({ url: address, with: second })}#compare`)
    this.followLocation()
  }

  /** Shows the start page, which searches the hub for a model. */
  search(words: string) {
    this.leave()
    if (this.stage.kind === 'start') this.query = words
  }

  /** Whether the address that failed is on the hub for which there are settings. */
  get isOnOwnHub(): boolean {
    const { source, address = '', isOnHub } = this.last ?? {}
    const first: unknown = Array.isArray(source) ? source[0] : source
    // "owner/name" and "hf:owner/name" are on it, and other protocols and hubs are named.
    const isNamed = isOnHub === true && !/^(?!hf:)[a-z]+:/i.test(address)
    return isNamed || (typeof first === 'string' && hub.serves(first))
  }

  /** The name of the file that is open or loading. */
  get label(): string {
    return this.stage.kind === 'open' || this.stage.kind === 'loading' ? this.stage.label : ''
  }

  /** Opens local files. from: the name of their folder, for the error message if there are none. */
  openFiles(files: readonly File[], from = '') {
    const first = files[0]
    if (!first) {
      if (from) void this.fail(from, 'not-found', t('{from} holds no GGUF file.', { from }))
      return
    }
    if (!pending.mayLeave()) return
    const source = files.length === 1 ? first : files
    void this.start(attemptOf({ source, label: first.name, address: '' }), true)
  }

  private async fail(label: string, code: GgufErrorCode, message: string) {
    this.cancel()
    this.control = undefined
    const error: unknown = await import('ggufscope').then(
      ({ GgufError }) => new GgufError(code, message),
      (unloaded: unknown) => unloaded,
    )
    // Another file may be opened meanwhile.
    if (this.control === undefined) this.replace({ kind: 'failed', label, error })
  }

  retry(options: { allowMissingShards?: boolean } = {}) {
    if (this.last) void this.start(this.last, false, options)
  }

  cancel() {
    clearTimeout(this.hashTimer)
    this.control?.abort()
  }

  /** Closes the file and shows the start page. */
  leave() {
    if (!pending.mayLeave()) return
    this.cancel()
    this.control = undefined
    this.replace({ kind: 'start' })
    this.address = ''
    this.forget()
    history.pushState(null, '', location.pathname)
  }

  /** Shows a panel and selects an item in it, or nothing if there is no `item`. */
  show(panel: string, item?: string) {
    // On narrow screens details cover the list. They get a history entry, so that Back closes them.
    const opens = narrow.current && item !== undefined && this.itemOf(panel) === undefined
    this.panel = panel
    this.items[panel] = item
    if (!opens) return this.writeHash(hashOf(panel, item))
    clearTimeout(this.hashTimer)
    const page = location.pathname + location.search
    history.replaceState(history.state, '', page + hashOf(panel, undefined))
    history.pushState(history.state, '', page + hashOf(panel, item))
  }

  /** Selects an item of a panel that shows nothing above its list for it. */
  choose(panel: string, item: string) {
    this.items[panel] = item
    if (this.panel === panel) this.writeHash(hashOf(panel, item))
  }

  /** Shows a panel with its current selection. */
  turnTo(panel: string) {
    this.panel = panel
    this.writeHash(hashOf(panel, this.itemOf(panel)))
  }

  private writeHash(hash: string) {
    // Browsers limit how often a page may change its address. A held key would exceed that limit.
    clearTimeout(this.hashTimer)
    const write = () => {
      this.hashWritten = performance.now()
      history.replaceState(history.state, '', location.pathname + location.search + hash)
    }
    if (performance.now() - this.hashWritten > hashEveryMs) write()
    else this.hashTimer = setTimeout(write, hashEveryMs)
  }

  /** Nothing is selected, and the panel is the file's first one, or the one that a sample is for. */
  private forget() {
    this.panel = builtIn(this.address)?.panel ?? 'overview'
    this.items = {}
  }

  private async start(attempt: Attempt, push: boolean, options: { allowMissingShards?: boolean } = {}) {
    this.cancel()
    const control = new AbortController()
    this.control = control
    this.last = attempt
    this.address = attempt.address
    const { label } = attempt
    // Before a file is open, the address may already name the panel.
    const wish = this.stage.kind === 'start' ? location.hash : ''
    this.replace({ kind: 'loading', label, progress: undefined, keys: undefined })
    if (push) {
      const query = attempt.address ? `?${new URLSearchParams({ url: attempt.address })}` : ''
      this.forget()
      if (wish !== '') this.followHash()
      history.pushState({ opened: attempt.id }, '', location.pathname + query + wish)
    } else history.replaceState({ opened: attempt.id }, '')
    let isUnlisted = false
    try {
      if (isOtherScheme(attempt.address)) {
        const { GgufError } = await import('ggufscope')
        throw new GgufError('invalid-argument', t('A page can read only http and https addresses.'))
      }
      if (attempt.address) {
        // Most addresses refer to files. The hub module is not loaded for them.
        attempt.isOnHub = isUnlisted = !isFileAddress(attempt.address) || hub.replaces(attempt.address)
        const place = isUnlisted ? await hub.find(attempt.address, control.signal) : undefined
        if (this.control !== control) return
        attempt.isOnHub = place !== undefined
        isUnlisted = false
        attempt.headers = place?.headers ?? headersOf(attempt.source)
        if (place?.kind === 'repository') {
          const { repository, absent } = place
          return this.replace({ kind: 'repository', label, repository, absent })
        }
        if (place) locate(attempt, place)
      }
      const file = await this.read(attempt, control, options)
      // The header was parsed in this task. What all panels ask of it first is computed in the next one.
      await nextTask()
      summaryOf(file)
      await nextTask()
      if (control.signal.aborted) file.close()
      control.signal.throwIfAborted()
      this.replace({ kind: 'open', label: file.name || attempt.label, file })
      other.followLink()
      recent.add(attempt.address ? { name: attempt.label, url: attempt.address } : { name: attempt.label })
    } catch (error) {
      if (this.control !== control) return
      if (control.signal.aborted) this.abandon()
      else this.replace({ kind: 'failed', label, error, isOnHub: attempt.isOnHub === true, isUnlisted })
    }
  }

  private async read(attempt: Attempt, control: AbortController, options: { allowMissingShards?: boolean }) {
    // The package's code is requested with the page's, and evaluated after the first picture of it, in a task of its own.
    await nextTask()
    const [source, { open }] = await Promise.all([keptSource(attempt.source), import('ggufscope')])
    await nextTask()
    this.isKept = source !== attempt.source
    let isRead = false
    // Shown in a later task, because a short header is complete by then.
    const tell = (news: Pick<Loading, 'progress'> | Pick<Loading, 'keys'>) =>
      later(() => {
        const { stage } = this
        if (!isRead && this.control === control && stage.kind === 'loading')
          this.stage = { ...stage, ...news }
      })
    // The header of a built-in sample fits into the first request of a sparse preview, which has an end. The service
    // worker caches it.
    const isSample = builtIn(attempt.address) !== undefined
    const file = await open(source, {
      ...options,
      ...earlyAssets(),
      headers: attempt.headers,
      preview: isSample ? 'sparse' : 'auto',
      cache: !isSample,
      signal: control.signal,
      onProgress: (progress) => {
        if (isHopeless(progress)) void this.fail(attempt.label, 'network', progress.retry?.reason ?? '')
        else tell({ progress })
      },
      onKeys: (keys) => tell({ keys }),
    })
    isRead = true
    return file
  }

  /** Shows the start page after loading was cancelled, so that a reload does not start it again. */
  private abandon() {
    this.replace({ kind: 'start' })
    this.address = ''
    this.forget()
    history.replaceState(null, '', location.pathname)
  }

  private replace(stage: Stage) {
    const before = this.stage
    this.stage = stage
    if (before.kind !== 'open') return
    // What shows the file is gone then.
    void tick().then(() => before.file.close())
    other.drop()
    pending.set(0, false)
  }

  /** Whether the page's address refers to the last file. The user may have typed another panel into it. */
  private isHere(): boolean {
    if (!this.last) return false
    const opened = readState()
    if (opened !== undefined || this.stage.kind !== 'open') return opened === this.last.id
    return location.hash !== '' && linked() === this.last.address
  }

  /** Whether the navigation may proceed. If the user prefers to stay, the address of the open file is restored. */
  private mayFollow(): boolean {
    if (this.stage.kind !== 'open' || this.isHere() || pending.mayLeave()) return true
    const { id, address } = this.last!
    const query = address ? `?${new URLSearchParams({ url: address })}` : ''
    history.pushState(
      { opened: id },
      '',
      location.pathname + query + hashOf(this.panel, this.itemOf(this.panel)),
    )
    return false
  }

  private followLocation() {
    this.followHash()
    if (this.last && this.isHere()) {
      history.replaceState({ opened: this.last.id }, '')
      // The address is another place in the open file, or Forward leads to a file that was closed.
      if (this.stage.kind === 'start') void this.start(this.last, false)
      return
    }
    const address = linked()
    if (address) {
      this.address = address
      if (location.hash === '') this.forget()
      const url = absolute(address)
      void this.start(attemptOf({ source: url, label: nameOf(url), address }), false)
    } else {
      this.cancel()
      this.control = undefined
      this.address = ''
      this.replace({ kind: 'start' })
    }
  }

  private followHash() {
    const [panel, item] = readHash()
    if (!panel) return
    this.panel = panel
    this.items[panel] = item
  }
}

export const session = new Session()
