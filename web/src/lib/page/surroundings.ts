// What surrounds the panels: the viewer's page, or an element in somebody else's page. Components get it as context.
import type { GgufFile, TensorInfo } from 'ggufscope'
import { createContext, type Component } from 'svelte'

export interface Surroundings {
  /** rows have two lines, and details cover the list */
  readonly narrow: boolean
  /** whether the colours are dark now */
  readonly dark: boolean
  /** loads what compares a tensor with that of another file, if the user can open one */
  readonly loadComparison?: () => Promise<{ default: Component<{ file: GgufFile; tensor: TensorInfo }> }>
}

export const [useSurroundings, setSurroundings] = createContext<Surroundings>()
