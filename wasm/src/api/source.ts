// Where bytes come from.

export interface ReadOptions {
  signal?: AbortSignal | undefined
}

export interface StreamOptions extends ReadOptions {
  /** the reader needs nothing behind this offset: a source may stop there */
  end?: number | undefined
}

/** Where bytes come from: the only interface to the outside. Offsets and lengths in bytes. */
export interface ByteSource {
  /** The size in bytes, if it is known. A source may learn it from its first response. */
  readonly size?: number | undefined
  /** File name, for shards and messages. */
  readonly name?: string | undefined
  /** false: reading at an offset means reading up to it, as on a server that ignores ranges */
  readonly ranges?: boolean | undefined
  /** Exactly length bytes, or an error. */
  read(offset: number, length: number, options: ReadOptions): Promise<Uint8Array>
  /** Everything from offset on, in pieces of any size. Ending the iteration early stops the transfer. */
  stream?(offset: number, options: StreamOptions): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>
  /** A file beside this one, for the shards of a split model. */
  sibling?(name: string): ByteSource
  close?(): void
}

/** What open() takes. A string is an address, a model-hub page address or "hf:owner/repository/file.gguf". */
export type Source = string | URL | Blob | ArrayBuffer | Uint8Array | ByteSource

export interface RetryInfo {
  readonly attempt: number
  readonly delayMs: number
  readonly reason: string
}
