// What an element says to its content, and the content to the element.
import type { GgufTheme, GgufViewerEventMap } from 'ggufscope/element'

export type Report = <Type extends keyof GgufViewerEventMap>(
  type: Type,
  detail: GgufViewerEventMap[Type]['detail'],
) => void

export interface Look {
  panel: string
  item: string | undefined
  theme: GgufTheme
  /** of the page at the element's place; empty: that of the browser */
  lang: string
}
