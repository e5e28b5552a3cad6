// The sources of bytes.
import type { GgufErrorCode } from './errors.js'

export interface ReadOptions {
  signal?: AbortSignal | undefined
}

export interface StreamOptions extends ReadOptions {
  /** offset after which the reader needs nothing; a source may stop there */
  end?: number | undefined
}

/** A source of bytes, the only interface to the outside. Offsets and lengths are in bytes. */
export interface ByteSource {
  /** The size in bytes, if known. A source may learn it from its first response. */
  readonly size?: number | undefined
  /** File name, for shards and messages. */
  readonly name?: string | undefined
  /** false: reading at an offset transfers everything before it, as on a server that ignores ranges */
  readonly ranges?: boolean | undefined
  /** Resolves to exactly `length` bytes, or rejects. */
  read(offset: number, length: number, options: ReadOptions): Promise<Uint8Array>
  /** Everything from offset on, in chunks of any size. If the iteration ends early, the transfer stops. */
  stream?(offset: number, options: StreamOptions): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>
  /** Another file in the same folder, for the files of a split model. */
  sibling?(name: string): ByteSource
  close?(): void
}

/**
 * The sources that open() accepts. A string is an address, the address of a model hub's page, or
 * "hf:owner/repository/file.gguf".
 */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array | ByteSource

export interface RetryInfo {
  readonly attempt: number
  readonly delayMs: number
  /** code and message of the error of this attempt */
  readonly code: GgufErrorCode
  readonly reason: string
}

/**
 * What Cross-Origin Storage did with a file. found: its bytes were used; stored: it was added; missing: it is not there;
 * damaged: its bytes have another hash, and were not used; refused: by the user, the browser or a policy; unavailable: the
 * browser does not have it
 */
export type CrossOriginState = 'found' | 'stored' | 'missing' | 'damaged' | 'refused' | 'unavailable'

/** What is stored of a file when it is opened, compared with the server's. */
export interface CacheReport {
  readonly url: string
  readonly name: string
  /**
   * new: nothing was stored; same: the stored bytes are those of the server's file, as far as they go; changed: the
   * server has another file now, so the stored one was removed; unchecked: the server could not be asked, and the
   * complete stored file is used
   */
  readonly state: 'new' | 'same' | 'changed' | 'unchecked'
  /** why it is unchecked */
  readonly reason?: string | undefined
  /** With the option crossOriginStorage, in further reports: what became of that. */
  readonly crossOrigin?: CrossOriginState | undefined
}
