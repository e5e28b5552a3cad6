// The body of one answer: read piece by piece, and given up when nothing comes for too long.
import { connectionLost } from './http-errors.js'

// What a browser has waiting of an answer, about.
const kReusedBytes = 512 << 10

interface BodyOptions {
  /** bytes at its begin that are dropped */
  readonly skip: number
  /** the file's byte that the first piece begins with */
  readonly at: number
  /** pieces lie in one buffer and hold until the next one is asked for */
  readonly reused: boolean
  readonly idle: IdleTimeout
  readonly host: string
}

/** The pieces of an answer's body. Errors: a TransientError with the byte where the connection was lost. */
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
      idle.heard()
      if (done) break
      const rest = Math.min(skip - dropped, value.length)
      dropped += rest
      if (rest < value.length) {
        idle.pause()
        position += value.length - rest
        yield rest === 0 ? value : value.subarray(rest)
        idle.heard()
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
 * A reader whose pieces all lie in one buffer: nothing is allocated for what is copied away at once. undefined: this
 * engine has none for bodies.
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

/** Aborts one request when its caller does, or when nothing is heard for too long. */
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
    this.heard()
  }

  /** The clock starts anew. */
  heard(): void {
    this.pause()
    if (!Number.isFinite(this.timeout)) return
    this.#timer = setTimeout(() => {
      this.timedOut = true
      this.controller.abort()
    }, this.timeout)
  }

  /** While the reader is busy with what it got, silence is its own doing. */
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
