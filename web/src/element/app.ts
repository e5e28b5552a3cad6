// What an element shows: the state, the components in its shadow root, and their styles.
import type { GgufFile } from 'ggufscope'
import type { GgufViewerElement } from 'ggufscope/element'
import { mount, unmount } from 'svelte'
import { firstKnown } from '../lib/language/language.svelte'
import { workerAssets } from '../lib/page/worker'
import { Embedded } from './embedded.svelte'
import { isActive } from './languages'
import type { Look, Report } from './look'
import { styleRoot } from './styles'
import Viewer from './Viewer.svelte'

export interface App {
  readonly file: GgufFile | undefined
  open(source: NonNullable<GgufViewerElement['source']>, options: GgufViewerElement['options']): void
  retry(): void
  show(look: Look): void
  /** Closes the file, and removes everything. */
  close(): void
}

// Workers are single files, and do not know where the modules are.
Object.assign(workerAssets, {
  'inspect.wasm': new URL(/* @vite-ignore */ '../inspect.wasm', import.meta.url).href,
  'quant.wasm': new URL(/* @vite-ignore */ '../quant.wasm', import.meta.url).href,
})

/** Creates the content of a shadow root. It is empty until a file is opened. */
export async function createApp(root: ShadowRoot, look: Look, report: Report): Promise<App> {
  const state = new Embedded(report)
  let lang: string | undefined
  const speak = async (code: string) => {
    if (code === lang) return
    lang = code
    // Without its texts, the element stays in the language before, which is English at first.
    await state.language.apply(firstKnown(code === '' ? navigator.languages : [code])).catch(() => {})
  }
  await speak(look.lang)
  const release = styleRoot(root)
  const control = new AbortController()
  for (const event of ['pointerdown', 'keydown', 'focusin'] as const)
    root.addEventListener(event, () => isActive(state.language), { capture: true, signal: control.signal })
  const content = mount(Viewer, { target: root, props: { state } })
  const app: App = {
    get file() {
      return state.stage.kind === 'open' ? state.stage.file : undefined
    },
    open: (source, options) => state.open(source, options),
    retry: () => state.retry(),
    show({ panel, item, theme, lang: code }) {
      state.theme = theme
      state.select(panel, item)
      void speak(code)
    },
    close() {
      control.abort()
      state.close()
      void unmount(content).then(release)
    },
  }
  app.show(look)
  return app
}
