// Reads a remote model with one request: the header, then the weights.
import { checkRange } from '../sources/bytes.js'
import { CoalescedSource, type RemoteSource } from '../sources/coalesced.js'
import type { HttpSource } from '../sources/http.js'
import type { ReadOptions, StreamOptions } from '../api/source.js'

// A gap of up to this many bytes between the header and the first weights is read and discarded.
const kGap = 64 << 10

/** A paused transfer: its reader does not need more at the moment. */
interface Left {
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly control: AbortController
  /** the last received piece, and its offset */
  readonly piece: Uint8Array
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
export class OnwardSource extends CoalescedSource {
  readonly #remote: HttpSource
  #left: Left | undefined

  constructor(remote: HttpSource) {
    super(remote)
    this.#remote = remote
  }

  override async *stream(offset: number, { signal, end }: StreamOptions): AsyncGenerator<Uint8Array> {
    this.leave()
    const control = new AbortController()
    const unfollow = follow(control, signal)
    const pieces = this.#remote.flow(offset, end, { signal: control.signal })
    try {
      let at = offset
      for (;;) {
        const next = await pieces.next()
        if (next.done) return
        const piece = next.value
        this.#left = { pieces, control, piece, at }
        yield piece // the reader pauses here after the last piece
        this.#left = undefined
        at += piece.length
      }
    } finally {
      unfollow()
    }
  }

  override get flow(): NonNullable<RemoteSource['flow']> {
    return (offset, end, options) => this.#goOn(offset, end, options)
  }

  async *#goOn(offset: number, end: number | undefined, { signal }: ReadOptions): AsyncGenerator<Uint8Array> {
    const left = this.#left
    this.#left = undefined
    if (!left || end === undefined || offset < left.at || offset > left.at + left.piece.length + kGap) {
      stop(left)
      yield* this.#remote.flow(offset, end, { signal })
      return
    }
    const unfollow = follow(left.control, signal)
    try {
      let { at, piece } = left
      for (;;) {
        signal?.throwIfAborted()
        const part = piece.subarray(Math.max(0, offset - at), Math.max(0, end - at))
        if (part.length > 0) yield part
        at += piece.length
        if (at >= end) return
        const next = await left.pieces.next()
        if (next.done) break
        piece = next.value
      }
      checkRange(offset, end - offset, at)
    } finally {
      unfollow()
      stop(left)
    }
  }

  /** Ends the header's request, unless it continues with the weights. */
  leave(): void {
    stop(this.#left)
    this.#left = undefined
  }

  override close(): void {
    this.leave()
    super.close()
  }
}

function stop(left: Left | undefined): void {
  left?.control.abort()
  left?.pieces.return(undefined).catch(() => {})
}
