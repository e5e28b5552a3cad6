// Reads a remote model with one request: the header, then the weights.
import { checkRange } from '../sources/bytes.js'
import { CoalescedSource, type RemoteSource } from '../sources/coalesced.js'
import type { HttpSource } from '../sources/http.js'
import type { ReadOptions, StreamOptions } from '../api/source.js'

// A gap of up to this many bytes between the header and the first weights is read and discarded.
const kGap = 64 << 10

/** A paused transfer: its reader does not need more at the moment. */
interface PausedTransfer {
  readonly chunks: AsyncGenerator<Uint8Array>
  readonly control: AbortController
  /** the last received chunk, and its offset */
  readonly chunk: Uint8Array
  readonly at: number
}

/** Aborts with the signal, until the returned function is called. */
function follow(control: AbortController, signal: AbortSignal | undefined): () => void {
  const stop = () => control.abort(signal?.reason)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  return () => signal?.removeEventListener('abort', stop)
}

/**
 * A remote file that is read from its beginning: the request for the header continues with the weights after it. A
 * separate request could start only after the engine has planned which weights it needs.
 */
export class ContinuedSource extends CoalescedSource {
  readonly #remote: HttpSource
  #paused: PausedTransfer | undefined

  constructor(remote: HttpSource) {
    super(remote)
    this.#remote = remote
  }

  override async *stream(offset: number, { signal, end }: StreamOptions): AsyncGenerator<Uint8Array> {
    this.abandonTransfer()
    const control = new AbortController()
    const unfollow = follow(control, signal)
    const chunks = this.#remote.flow(offset, end, { signal: control.signal })
    try {
      let at = offset
      for (;;) {
        const next = await chunks.next()
        if (next.done) return
        const chunk = next.value
        this.#paused = { chunks, control, chunk, at }
        yield chunk // the reader pauses here after the last chunk
        this.#paused = undefined
        at += chunk.length
      }
    } finally {
      unfollow()
    }
  }

  override get flow(): NonNullable<RemoteSource['flow']> {
    return (offset, end, options) => this.#continueTransfer(offset, end, options)
  }

  async *#continueTransfer(
    offset: number,
    end: number | undefined,
    { signal }: ReadOptions,
  ): AsyncGenerator<Uint8Array> {
    const paused = this.#paused
    this.#paused = undefined
    if (
      !paused ||
      end === undefined ||
      offset < paused.at ||
      offset > paused.at + paused.chunk.length + kGap
    ) {
      stopTransfer(paused)
      yield* this.#remote.flow(offset, end, { signal })
      return
    }
    const unfollow = follow(paused.control, signal)
    try {
      let { at, chunk } = paused
      for (;;) {
        signal?.throwIfAborted()
        const part = chunk.subarray(Math.max(0, offset - at), Math.max(0, end - at))
        if (part.length > 0) yield part
        at += chunk.length
        if (at >= end) return
        const next = await paused.chunks.next()
        if (next.done) break
        chunk = next.value
      }
      checkRange(offset, end - offset, at)
    } finally {
      unfollow()
      stopTransfer(paused)
    }
  }

  /** Ends the header's request, unless it continues with the weights. */
  abandonTransfer(): void {
    stopTransfer(this.#paused)
    this.#paused = undefined
  }

  override close(): void {
    this.abandonTransfer()
    super.close()
  }
}

function stopTransfer(paused: PausedTransfer | undefined): void {
  paused?.control.abort()
  paused?.chunks.return(undefined).catch(() => {})
}
