// The custom element <gguf-viewer>. This module is small: it loads what shows a file when there is one to show, and the element is
// almost in the visible part of the page. The public types are in wasm/src/element.d.ts.
import type { GgufFile } from 'ggufscope'
import type { GgufPanel, GgufTheme, GgufViewerElement as Declared } from 'ggufscope/element'
import type { App } from './app'
import type { Report } from './look'

const panels: readonly GgufPanel[] = ['overview', 'metadata', 'tensors', 'graph', 'findings']
const themes: readonly GgufTheme[] = ['page', 'system', 'light', 'dark']
/** Properties that a framework may have set before the element was defined. */
const properties = ['src', 'panel', 'item', 'theme', 'lang', 'loading', 'source', 'options'] as const

const style =
  ':host{display:block;height:36rem}:host([hidden]){display:none}p{margin:1em;white-space:pre-wrap}'
/** Distance from the visible part of the page, in CSS pixels, at which a file is loaded. */
const near = '400px'

// Modules for pages are also imported where pages are rendered in advance, without a DOM.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

export class GgufViewerElement extends Base implements Declared {
  static readonly observedAttributes = ['src', 'panel', 'item', 'theme', 'lang', 'loading']

  private readonly tree = this.attachShadow({ mode: 'open' })
  private app: Promise<App | undefined> | undefined
  private running: App | undefined
  private given: Declared['source']
  /** what the app has opened: an element that was only moved does not open it again */
  private shown: NonNullable<Declared['source']> | undefined
  private openOptions: Declared['options'] = {}
  private observer: IntersectionObserver | undefined
  private isNear = false
  private isPlanned = false

  constructor() {
    super()
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(style)
    this.tree.adoptedStyleSheets = [sheet]
  }

  get src(): string {
    return this.getAttribute('src') ?? ''
  }
  set src(address: string | null | undefined) {
    this.write('src', address)
  }

  get panel(): GgufPanel {
    return panels.find((one) => one === this.getAttribute('panel')) ?? 'overview'
  }
  set panel(panel: GgufPanel | null | undefined) {
    this.write('panel', panel)
  }

  get item(): string | null {
    return this.getAttribute('item')
  }
  set item(item: string | null | undefined) {
    this.write('item', item)
  }

  get theme(): GgufTheme {
    return themes.find((one) => one === this.getAttribute('theme')) ?? 'page'
  }
  set theme(theme: GgufTheme | null | undefined) {
    this.write('theme', theme)
  }

  get loading(): 'lazy' | 'eager' {
    return this.getAttribute('loading') === 'eager' ? 'eager' : 'lazy'
  }
  set loading(loading: 'lazy' | 'eager' | null | undefined) {
    this.write('loading', loading)
  }

  get source(): Declared['source'] {
    return this.given
  }
  set source(source: Declared['source'] | null) {
    this.given = source ?? undefined
    this.plan()
  }

  get options(): Declared['options'] {
    return this.openOptions
  }
  set options(options: Declared['options'] | null | undefined) {
    this.openOptions = options ?? {}
  }

  get file(): GgufFile | undefined {
    return this.running?.file
  }

  reload() {
    if (this.running) this.running.retry()
    else this.plan()
  }

  connectedCallback() {
    for (const name of properties) {
      if (!Object.hasOwn(this, name)) continue
      const value: unknown = this[name]
      Reflect.deleteProperty(this, name)
      Reflect.set(this, name, value)
    }
    this.observe()
    this.plan()
  }

  disconnectedCallback() {
    this.observer?.disconnect()
    this.observer = undefined
    // An element that was only moved keeps its file.
    queueMicrotask(() => {
      if (!this.isConnected) this.stop()
    })
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null) {
    if (before === after) return
    if (name === 'src') this.given = undefined
    if (name === 'loading' && this.isConnected) this.observe()
    if (name === 'src' || name === 'loading') this.plan()
    else this.running?.show(this.look)
  }

  private write(name: string, value: string | null | undefined) {
    if (value === null || value === undefined) this.removeAttribute(name)
    else this.setAttribute(name, value)
  }

  private observe() {
    this.observer?.disconnect()
    this.observer = undefined
    if (this.isNear || this.loading === 'eager') return
    this.observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        this.isNear = true
        this.observer?.disconnect()
        this.plan()
      },
      { rootMargin: near },
    )
    this.observer.observe(this)
  }

  /** Opens the file after this task, when all attributes are set. */
  private plan() {
    if (this.isPlanned) return
    this.isPlanned = true
    queueMicrotask(() => {
      this.isPlanned = false
      if (this.isConnected) void this.start()
    })
  }

  private get look() {
    const { panel, item, theme } = this
    // A page's language is that of the closest element that names one.
    const lang = this.closest('[lang]')?.getAttribute('lang') ?? ''
    return { panel, item: item ?? undefined, theme, lang }
  }

  private async start() {
    const source = this.given ?? (this.src === '' ? undefined : this.src)
    if (source === undefined) return this.stop()
    if (!this.isNear && this.loading === 'lazy') return
    const loading = (this.app ??= this.load())
    const app = await loading
    if (this.app !== loading || !this.isConnected) return
    this.running = app
    app?.show(this.look)
    if (this.shown === source) return
    this.shown = source
    app?.open(source, this.openOptions)
  }

  /** Loads what shows a file. undefined if that failed: an event reports the error, and the next start tries again. */
  private async load(): Promise<App | undefined> {
    try {
      const { createApp } = await import('./app')
      this.tree.querySelector('p')?.remove()
      return await createApp(this.tree, this.look, this.report)
    } catch (error) {
      this.app = undefined
      const line = this.tree.querySelector('p') ?? this.tree.appendChild(document.createElement('p'))
      line.setAttribute('role', 'alert')
      // As errorText() has it: this module imports nothing that is loaded later.
      line.textContent = error instanceof Error ? error.message : String(error)
      this.report('gguf-error', { error })
      return undefined
    }
  }

  private readonly report: Report = (type, detail) => {
    if (type === 'gguf-panel') {
      const { panel, item } = detail as { panel: GgufPanel; item: string | undefined }
      this.write('panel', panel)
      this.write('item', item)
    }
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
  }

  private stop() {
    const { app } = this
    this.app = undefined
    this.running = undefined
    this.shown = undefined
    void app?.then((one) => one?.close())
  }
}

if (globalThis.customElements?.get('gguf-viewer') === undefined)
  globalThis.customElements?.define('gguf-viewer', GgufViewerElement)
