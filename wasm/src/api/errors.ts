/**
 * What went wrong, as one stable word.
 * The first group comes from the parser (core/base/error_codes.inc), the second from where the bytes came from.
 */
export type GgufErrorCode =
  | 'truncated'
  | 'bad-magic'
  /** a web page, not a file */
  | 'html'
  /** a JSON document: a server's error message, perhaps */
  | 'json'
  /** a Git LFS pointer in place of the file */
  | 'lfs-pointer'
  | 'safetensors'
  | 'archive'
  | 'pickle'
  /** ggml's containers from before GGUF */
  | 'legacy-container'
  | 'bad-version'
  | 'bad-value-type'
  | 'bad-count'
  | 'bad-length'
  | 'nesting-too-deep'
  | 'bad-alignment'
  | 'bad-shape'
  | 'overflow'
  | 'out-of-range'
  | 'not-found'
  | 'unsupported'
  | 'invalid-argument'
  | 'out-of-memory'
  /** a key or tensor of that name is there already */
  | 'duplicate'
  /** numbers that cannot be quantized: NaN, infinities, or larger than the type holds */
  | 'bad-values'
  /** a file of that name is there already */
  | 'file-exists'
  /** the server could not be reached at all */
  | 'network'
  /** the server answers, but does not let this page read the answer */
  | 'cors'
  /** the connection broke, also after all retries */
  | 'connection-lost'
  | 'unauthorized'
  | 'forbidden'
  /** no such file at this address or path */
  | 'no-such-file'
  | 'rate-limited'
  /** the server says that the range asked for does not exist */
  | 'bad-range'
  /** the server ignores ranges, and reading up to the requested offset would fetch far too much */
  | 'no-ranges'
  | 'server-error'
  | 'http-error'
  /** the file was replaced by another between two requests */
  | 'file-changed'
  /** some of the files of a split model are not there */
  | 'missing-shard'
  /** the browser or the disk has no room to keep it */
  | 'quota'
  /** the received bytes do not match the server's hash */
  | 'bad-hash'
  /** a preview left this part out: read it first */
  | 'incomplete'
  /** a preview showed something else than the header */
  | 'preview-mismatch'
  /** the chat template is wrong, or refuses the conversation */
  | 'chat-template'
  /** the chat template needs too many steps, or makes too much text */
  | 'chat-template-limit'
  /** used after close() */
  | 'closed'
  /** the WebAssembly module could not be loaded */
  | 'wasm'

export interface GgufErrorDetails {
  /** absolute byte offset in the file at which the error lies, if there is one */
  offset?: number | undefined
  /** line and column of a chat template, from 1 */
  line?: number | undefined
  column?: number | undefined
  /** HTTP status, if a server answered */
  status?: number | undefined
  cause?: unknown
}

/** Every error of this package. The reason of an AbortSignal is thrown as it is. */
export class GgufError extends Error {
  override readonly name = 'GgufError'
  readonly code: GgufErrorCode
  readonly offset: number | undefined
  readonly line: number | undefined
  readonly column: number | undefined
  readonly status: number | undefined

  constructor(code: GgufErrorCode, message: string, details: GgufErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    ;({ offset: this.offset, line: this.line, column: this.column, status: this.status } = details)
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** An error's message inside a sentence: without its full stop. */
export function quoted(error: unknown): string {
  return messageOf(error).replace(/\.+$/, '')
}
