// Syntax colours for the code in an answer, by highlight.js, which knows some forty languages. It is loaded with the first block that
// names one of them.
import { OnDemand } from '../page/on-demand.svelte'

const highlighter = new OnDemand(async () => (await import('highlight.js/lib/common')).default)

export const canColour = (): boolean => highlighter.isLoaded

/** Longer blocks stay plain: each new word of an answer colours its last block anew. */
const kMaxLength = 40_000

/** The code as HTML that contains only spans with classes. Undefined: no such language, or the library is not there yet. */
export function colouredCode(code: string, language: string): string | undefined {
  if (!/^[\w.+#-]+$/.test(language) || code.length > kMaxLength) return undefined
  const library = highlighter.value
  if (!library?.getLanguage(language)) return undefined
  return library.highlight(code, { language, ignoreIllegals: true }).value
}
