// What surrounds the panels: the viewer's page, or an element in somebody else's page. Components get it as context.
import { createContext } from 'svelte'

export interface Surroundings {
  /** rows have two lines, and details cover the list */
  readonly narrow: boolean
  /** whether the colours are dark now */
  readonly dark: boolean
}

export const [useSurroundings, setSurroundings] = createContext<Surroundings>()
