// Tables and code that are wider than the page fade at the edge where they go on.
import { fadeEdges } from '../../../src/lib/page/fade-edges.js'

let ends: (() => void)[] = []

export function showMore(): void {
  for (const end of ends) end()
  ends = [
    ...document.querySelectorAll<HTMLElement>('.vp-doc table, .vp-doc div[class*="language-"] pre'),
  ].map(fadeEdges)
}
