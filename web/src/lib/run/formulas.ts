// Formulas in an answer: LaTeX between $...$, $$...$$, \(...\) or \[...\]. An extension of the Markdown parser finds them;
// Temml writes them as MathML.
import type { TokenizerAndRendererExtension, Tokens } from 'marked'
import { OnDemand } from '../page/on-demand.svelte'

const temml = new OnDemand(async () => (await import('temml')).default)

export const canWriteFormulas = (): boolean => temml.isLoaded

// As in Pandoc: a $ that opens precedes no space, and one that closes follows no space and precedes no digit, so that prices are
// no formulas. A formula contains no empty line.
const forms: readonly (readonly [form: RegExp, display: boolean])[] = [
  [/^\$\$((?:\\[^]|(?!\n\s*\n)[^\\$])+)\$\$/, true],
  [/^\\\[((?:(?!\\\]|\n\s*\n)[^])+)\\\]/, true],
  [/^\\\(((?:(?!\\\)|\n\s*\n)[^])+)\\\)/, false],
  [/^\$(?![\s$])((?:\\[^]|(?!\n\s*\n)[^\\$`])*?(?:\\[^]|[^\s\\$`]))\$(?![\d$])/, false],
]

/** Recognizes formulas. `escape` makes text safe within HTML. */
export const formulaExtension = (escape: (text: string) => string): TokenizerAndRendererExtension => ({
  name: 'formula',
  level: 'inline',
  start: (text) => {
    const at = text.search(/\$|\\[([]/)
    return at < 0 ? undefined : at
  },
  tokenizer: (text) => {
    for (const [form, display] of forms) {
      const found = form.exec(text)
      if (found) return { type: 'formula', raw: found[0], text: found[1] ?? '', display }
    }
    return undefined
  },
  renderer: ({ raw, text, ['display']: display }: Tokens.Generic) =>
    `<span data-formula="${escape(String(text))}" data-display="${String(display)}">${escape(raw)}</span>`,
})

/** Replaces each formula's text by MathML. What Temml does not read stays as it is written. */
export function writeFormulas(inside: ParentNode) {
  const places = [...inside.querySelectorAll<HTMLElement>('[data-formula]')]
  const library = places.length > 0 ? temml.value : undefined
  if (!library) return
  for (const place of places) {
    const { formula = '', display } = place.dataset
    const written = document.createElement('span')
    try {
      library.render(formula, written, {
        displayMode: display === 'true',
        throwOnError: true,
        // A formula may be hostile: limits of its size in em, and of its macros.
        maxSize: [20, 40],
        maxExpand: 200,
      })
    } catch {
      continue
    }
    // Labels would be names and links within the page.
    for (const one of written.querySelectorAll('[id], [href]')) {
      one.removeAttribute('id')
      one.removeAttribute('href')
    }
    place.replaceChildren(...written.childNodes)
  }
}
