// The body of one response. It is read piece by piece, and aborted if nothing arrives for too long.
import { connectionLost } from './http-errors.js'

// Approximate size of a browser's receive buffer.
const kReusedBytes = 512 << 10

interface BodyOptions {
  /** number of bytes at its beginning to drop */
  readonly skip: number
  /** offset in the file of the first piece */
  readonly at: number
  /** pieces are in one reused buffer and are valid until the next one is requested */
  readonly reused: boolean
  readonly idle: IdleTimeout
  readonly host: string
}

/** The pieces of a response's body. Errors: a TransientError with the byte at which the connection was lost. */
export async function* readBody(
  response: Response,
  { skip, at, reused, idle, host }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  const reader = response.body
    ? (reused && reusingReader(response.body)) || response.body.getReader()
    : undefined
  let dropped = 0
  let position = at
  let ended = false
  try {
    while (reader) {
      const { done, value } = await reader.read()
      idle.restart()
      if (done) break
      const rest = Math.min(skip - dropped, value.length)
      dropped += rest
      if (rest < value.length) {
        idle.pause()
        position += value.length - rest
        yield rest === 0 ? value : value.subarray(rest)
        idle.restart()
      }
    }
    ended = true
  } catch (error) {
    idle.rethrowIfAborted()
    throw connectionLost(host, position, idle.timedOut ? idle.timeoutError() : error)
  } finally {
    idle.done()
    if (!ended) idle.controller.abort()
    reader?.releaseLock()
  }
}

/**
 * A reader that puts all pieces into one reused buffer, for callers that copy them immediately; undefined if this
 * JavaScript engine has no such reader for bodies.
 */
function reusingReader(
  body: ReadableStream<Uint8Array>,
): Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'releaseLock'> | undefined {
  let reader: ReadableStreamBYOBReader
  try {
    reader = body.getReader({ mode: 'byob' })
  } catch {
    return undefined
  }
  let buffer = new ArrayBuffer(kReusedBytes)
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done) return { done, value: undefined }
      buffer = value.buffer
      return { done, value }
    },
    releaseLock: () => reader.releaseLock(),
  }
}

/** Aborts one request if its caller aborts, or if nothing arrives for too long. */
export class IdleTimeout {
  timedOut = false
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #stop: () => void

  constructor(
    readonly controller: AbortController,
    readonly signal: AbortSignal | undefined,
    readonly timeout: number,
  ) {
    this.#stop = () => controller.abort(signal?.reason)
    signal?.addEventListener('abort', this.#stop, { once: true })
    this.restart()
  }

  /** Restarts the timer. */
  restart(): void {
    this.pause()
    if (!Number.isFinite(this.timeout)) return
    this.#timer = setTimeout(() => {
      this.timedOut = true
      this.controller.abort()
    }, this.timeout)
  }

  /** Stops the timer while the reader is busy with a piece. */
  pause(): void {
    clearTimeout(this.#timer)
  }

  done(): void {
    this.pause()
    this.signal?.removeEventListener('abort', this.#stop)
  }

  rethrowIfAborted(): void {
    this.signal?.throwIfAborted()
  }

  timeoutError(): Error {
    return new Error(`nothing came for ${this.timeout / 1000} s`)
  }
}
