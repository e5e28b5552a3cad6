// The errors of the package.
import type { CoreErrorCode } from './core-errors.js'

export type { CoreErrorCode }

/** The kind of error, as a stable string. */
export type GgufErrorCode =
  | CoreErrorCode
  /** a key or tensor of that name exists already */
  | 'duplicate'
  /** numbers that cannot be quantized: NaN, infinities, or larger than the type holds */
  | 'bad-values'
  /** a file of that name exists already */
  | 'file-exists'
  /** the server could not be reached */
  | 'network'
  /** the server answers, but does not let this page read the answer */
  | 'cors'
  /** the connection broke, and all retries failed */
  | 'connection-lost'
  | 'unauthorized'
  | 'forbidden'
  /** no such file at this address or path */
  | 'no-such-file'
  | 'rate-limited'
  /** the server says that the requested range does not exist */
  | 'bad-range'
  /** the server ignores ranges, and reading up to the requested offset would transfer too much */
  | 'no-ranges'
  | 'server-error'
  | 'http-error'
  /** the file was replaced by another between two requests */
  | 'file-changed'
  /** some files of a split model are missing */
  | 'missing-shard'
  /** the browser or the disk has not enough room */
  | 'quota'
  /** the received bytes do not match the server's hash */
  | 'bad-hash'
  /** a preview left this part out; read it first */
  | 'incomplete'
  /** a preview contradicts the header */
  | 'preview-mismatch'
  /** the chat template has an error, or refuses the conversation */
  | 'chat-template'
  /** the chat template takes too many steps, or produces too much text */
  | 'chat-template-limit'
  /** used after close() */
  | 'closed'
  /** the WebAssembly module could not be loaded */
  | 'wasm'
  /** no graphics card can be used here */
  | 'no-device'
  /** the graphics card failed, and the model could not continue on the CPU */
  | 'device-lost'
  /** the tab that ran a shared engine ended during a call that cannot be continued: call again */
  | 'interrupted'
  /** the engine crashed or ran out of memory, which closed its model: load it again */
  | 'crashed'

export interface GgufErrorDetails {
  /** absolute byte offset of the error in the file, if there is one */
  offset?: number | undefined
  /** line and column of a chat template, from 1 */
  line?: number | undefined
  column?: number | undefined
  /** HTTP status, if a server responded */
  status?: number | undefined
  /** why no loader takes a file, a sentence without its full stop for each reason */
  problems?: readonly string[] | undefined
  cause?: unknown
}

// A name from a file or a request may be of any length. A message that is too long keeps its two ends.
const kTooLong = /^(.{3000}).+(.{900})$/su

/** The class of all errors of this package. The reason of an AbortSignal is thrown unchanged. */
export class GgufError extends Error {
  // Of the minified class: Node prints it.
  static override readonly name = 'GgufError'
  override readonly name = 'GgufError'
  readonly code: GgufErrorCode
  declare readonly offset: number | undefined
  declare readonly line: number | undefined
  declare readonly column: number | undefined
  declare readonly status: number | undefined
  declare readonly problems: readonly string[] | undefined

  constructor(code: GgufErrorCode, message: string, details: GgufErrorDetails = {}) {
    const { cause, ...known } = details
    super(message.replace(kTooLong, '$1 … $2'), cause === undefined ? undefined : { cause })
    this.code = code
    // Only what is known, because Node prints every field of an error that nobody catches.
    for (const [name, value] of Object.entries(known))
      if (value !== undefined) Object.assign(this, { [name]: value })
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns an error's message for use inside a sentence, without its full stop. */
export function quoted(error: unknown): string {
  return messageOf(error).replace(/\.+$/, '')
}
