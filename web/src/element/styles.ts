// Styles in shadow roots. They are constructed, because the content policy of a page may forbid all others, and shared by all elements.
import shared from '../app.css?inline'

const sheets = new Map<string, CSSStyleSheet>()
const roots = new Set<ShadowRoot>()

const add = (root: ShadowRoot, sheet: CSSStyleSheet) => {
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]
}

/** Adds a style sheet to all elements. The build calls it for the styles of each component (web/element.config.ts). */
export function adopt({ hash, code }: { hash: string; code: string }) {
  if (sheets.has(hash)) return
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(code)
  sheets.set(hash, sheet)
  for (const root of roots) add(root, sheet)
}

/** Gives a root all styles, those too that components bring later. Returns a function that ends this. */
export function styleRoot(root: ShadowRoot): () => void {
  adopt({ hash: 'shared', code: shared })
  const own = root.adoptedStyleSheets
  root.adoptedStyleSheets = [...own, ...sheets.values()]
  roots.add(root)
  return () => {
    roots.delete(root)
    root.adoptedStyleSheets = own
  }
}
