// The open file as its panels see it: where its bytes come from, which panel is shown, and what is selected there. Components get
// it as context: the viewer's session, or the state of an element in somebody else's page.
import type { GgufFile, OpenProgress, Scalar, Source } from 'ggufscope'
import type { Repository } from 'ggufscope/hub'
import { createContext } from 'svelte'

export interface Loading {
  kind: 'loading'
  label: string
  progress: OpenProgress | undefined
  /** the file's first keys, known after one round trip */
  keys: ReadonlyMap<string, Scalar> | undefined
}

export type Stage =
  | { kind: 'start' }
  | Loading
  | { kind: 'repository'; label: string; repository: Repository; absent: string | undefined }
  | { kind: 'open'; label: string; file: GgufFile }
  | {
      kind: 'failed'
      label: string
      error: unknown
      /** it was looked up on a hub */
      isOnHub?: boolean
      /** it is its repository that could not be listed */
      isUnlisted?: boolean
    }

export interface Opened {
  readonly panel: string
  /** the name of the file that is open or loading */
  readonly label: string
  /** shown in the address field; empty for local files */
  readonly address: string
  /** the source of the open file; a list for a split model */
  readonly source: Source | readonly Source[] | undefined
  /** the headers of every request to its server */
  readonly headers: Record<string, string> | undefined
  /** whether its bytes come from a server, not from a local file or the browser's storage */
  readonly isRemote: boolean
  /** an address that leads others to the open file; undefined if there is none */
  readonly link: string | undefined
  /** whether there is a panel of that name */
  has(panel: string): boolean
  /** the selected item of a panel, even if the panel is hidden */
  itemOf(panel: string): string | undefined
  /** Shows a panel and selects an item in it, or nothing if there is no `item`. */
  show(panel: string, item?: string): void
  /** Shows a panel with its current selection. */
  turnTo(panel: string): void
  cancel(): void
  retry(options?: { allowMissingShards?: boolean }): void
  /** Closes the file and shows the start page, if there is one. */
  leave?(): void
  /** Searches the hub for a model, if there is a page for it. */
  search?(words: string): void
}

export const [useOpened, setOpened] = createContext<Opened>()
