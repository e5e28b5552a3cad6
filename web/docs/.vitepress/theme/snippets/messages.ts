// What the page and the worker that runs a snippet send each other.

export type Level = 'log' | 'warn' | 'error'

/** A worker of the package cannot be created in a worker reliably in Firefox: the page creates it and passes its messages on. */
export type WorkerRequest =
  | {
      readonly do: 'create'
      readonly id: number
      readonly url: string
      readonly options: WorkerOptions | undefined
    }
  | { readonly do: 'post'; readonly id: number; readonly message: unknown; readonly transfer: Transferable[] }
  | { readonly do: 'terminate'; readonly id: number }

/** From the snippet's worker to the page. */
export type FromSnippet =
  /** sound: a recording among the printed values */
  | { readonly print: Level; readonly text: string; readonly sound?: Blob | undefined }
  /** 'typed': it was not run, because it is no JavaScript */
  | { readonly ended: 'well' | 'failed' | 'typed' }
  | { readonly worker: WorkerRequest }

/** From the page to the snippet's worker. */
export type ToSnippet =
  /** isPlain: its types were taken out */
  | { readonly run: string; readonly packageUrl: string; readonly isPlain: boolean }
  | { readonly id: number; readonly message: unknown }
  | { readonly id: number; readonly failed: string }
