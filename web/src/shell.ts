// Draws the viewer's first frame as HTML, once for each language. web/shell.ts calls it while the viewer is built.
import { render } from 'svelte/server'
import App from './App.svelte'
import { language } from './lib/language/language.svelte'
import { session } from './lib/file/session.svelte'
import { languages } from './texts/languages'

export interface Shell {
  /** of the language */
  code: string
  kind: 'start' | 'loading'
  dir: string
  html: string
}

/** Without comments, and without what would accept something before the viewer's code is there. */
const still = (html: string) =>
  html
    .replace(/<!--.*?-->/g, '')
    .replace(/<input hidden[^>]*>/g, '')
    .replaceAll('<input ', '<input readonly ')
    .replaceAll('<select ', '<select disabled ')

/** The start page, and the page that loads a file. */
export async function drawShells(): Promise<Shell[]> {
  const shells: Shell[] = []
  for (const { code, dir = 'ltr' } of languages) {
    await language.choose(code)
    for (const kind of ['start', 'loading'] as const) {
      session.stage = kind === 'start' ? { kind } : { kind, label: '', progress: undefined, keys: undefined }
      shells.push({ code, kind, dir, html: still(render(App).body) })
    }
  }
  return shells
}
