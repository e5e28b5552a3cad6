// The body of one response. It is read chunk by chunk, and aborted if nothing arrives for too long.
import { freeBuffer } from '../runtime/free-buffer.js'
import { connectionLost } from './http-errors.js'

// Approximate size of a browser's receive buffer.
const kReusedBytes = 512 << 10

interface BodyOptions {
  /** number of bytes at its beginning to drop */
  readonly skip: number
  /** offset in the file of the first chunk */
  readonly at: number
  /** chunks are in one reused buffer and are valid until the next one is requested */
  readonly reused: boolean
  /** the response is from the caller's own function, so its memory may still be in use */
  readonly foreign: boolean
  readonly idle: IdleTimeout
  readonly host: string
}

/** The chunks of a response's body. Errors: a TransientError with the byte at which the connection was lost. */
export async function* readBody(
  response: Response,
  { skip, at, reused, foreign, idle, host }: BodyOptions,
): AsyncGenerator<Uint8Array> {
  const reader = response.body
    ? (reused && (canPause() ? reusingReader : freeingReader)(response.body, foreign)) ||
      response.body.getReader()
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
 * A reader that puts all chunks into one reused buffer, for callers that copy them immediately; undefined if this
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

/**
 * The same where transfers cannot be paused: frees each chunk when the next one is requested, or none is. WebKit's
 * garbage collector alone would free them more than 100 MB later, which counts on phones.
 */
function freeingReader(
  body: ReadableStream<Uint8Array>,
  foreign: boolean,
): Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'releaseLock'> {
  const reader = body.getReader()
  let last: Uint8Array | undefined
  const freeLast = () => {
    // Of length 0 if the caller has passed it on.
    if (last && last.byteLength > 0 && last.byteLength === last.buffer.byteLength) freeBuffer(last.buffer)
    last = undefined
  }
  return {
    async read() {
      freeLast()
      const { done, value } = await reader.read()
      if (done) return { done, value: undefined }
      last = foreign ? value.slice() : value
      return { done, value: last }
    },
    releaseLock() {
      freeLast()
      reader.releaseLock()
    },
  }
}

/**
 * Whether fetch() has backpressure: the browser stops receiving a response while nobody reads it. Firefox and WebKit
 * buffer whatever arrives. No API reports this, so it is detected by a feature that both lack: streams as request bodies.
 */
export const canPause = (): boolean => 'duplex' in (globalThis.Request?.prototype ?? {})

/**
 * Whether the browser buffers received bytes in two processes, as WebKit does. Detected by a feature that WebKit lacks and
 * Firefox has: BYOB readers, which fill the caller's buffer.
 */
export const copiesBodies = (): boolean => !('ReadableStreamBYOBReader' in globalThis)

/** Bytes to ask for at once where a transfer cannot be paused. */
export const unpausedBytes = (): number => (copiesBodies() ? 1.5 * 2 ** 20 : 8 * 2 ** 20)

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

  /** Stops the timer while the reader is busy with a chunk. */
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
