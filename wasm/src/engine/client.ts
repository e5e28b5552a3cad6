// The page's side of the calls to the engine's worker.
import { GgufError, type GgufErrorCode } from '../api/errors.js'
import { crashMessage } from './engine-error.js'
import type { SpokenPart } from '../audio/speak-types.js'
import type { Answer, TranscriptionProgress, Link, Message } from './protocol.js'
import type { Piece } from './types.js'
import type { Handlers } from './worker.js'

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
  pieces?: ((pieces: readonly Piece[]) => void) | undefined
  heard?: ((heard: TranscriptionProgress) => void) | undefined
  spoken?: ((part: SpokenPart) => void) | undefined
  steps?: ((done: number, of: number) => void) | undefined
}

export type CallResult<Name extends keyof Handlers> = Awaited<ReturnType<Handlers[Name]>>

export interface CallOptions {
  signal?: AbortSignal | undefined
  transfer?: ArrayBuffer[]
  onPieces?: ((pieces: readonly Piece[]) => void) | undefined
  onHeard?: ((heard: TranscriptionProgress) => void) | undefined
  onSpoken?: ((part: SpokenPart) => void) | undefined
  onSteps?: ((done: number, of: number) => void) | undefined
  /** Receives a function that pauses a generation, or continues it. */
  onStart?: ((setPause: (pause: boolean) => void) => void) | undefined
}

/** What calls the engine's functions. */
export type Caller = Pick<Client, 'call'>

type Connect = (onAnswer: (answer: Answer) => void, broke: (reason: string) => void) => Promise<Link>

/** Calls functions of the worker and resolves with their results. */
export class Client {
  readonly #waiting = new Map<number, Waiting>()
  readonly #link: Promise<Link>
  readonly #outlives: boolean
  #ended: GgufError | undefined
  #lastId = 0

  /**
   * connect: starts the worker in the background. If that fails, every call fails. outlives: a crash ends only the call
   * that it answers.
   */
  constructor(connect: Connect, outlives = false) {
    this.#outlives = outlives
    this.#link = connect(
      (answer) => this.#receive(answer),
      (reason) => this.end(new GgufError('crashed', crashMessage(reason))),
    )
    this.#link.catch((error: GgufError) => this.end(error))
  }

  #post(message: Message, transfer: ArrayBuffer[]): void {
    this.#link
      .then((link) => link.post(message, transfer))
      .catch((error: unknown) => {
        if ('id' in message) this.#waiting.get(message.id)?.reject(error)
      })
  }

  call<Name extends keyof Handlers>(
    name: Name,
    argument: Parameters<Handlers[Name]>[0],
    { signal, transfer = [], onPieces, onHeard, onSpoken, onSteps, onStart }: CallOptions = {},
  ): Promise<CallResult<Name>> {
    if (this.#ended) return Promise.reject(this.#ended)
    if (signal?.aborted) return Promise.reject(signal.reason)
    const id = ++this.#lastId
    return new Promise<CallResult<Name>>((resolve, reject) => {
      const abort = () => this.#post({ cancel: id }, [])
      const settle = () => signal?.removeEventListener('abort', abort)
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.set(id, {
        resolve: (value) => {
          settle()
          if (signal?.aborted) reject(signal.reason)
          else resolve(value as CallResult<Name>)
        },
        reject: (error) => {
          settle()
          reject(signal?.aborted ? signal.reason : error)
        },
        pieces: onPieces,
        heard: onHeard,
        spoken: onSpoken,
        steps: onSteps,
      })
      this.#post({ id, name, argument }, transfer)
      onStart?.((pause) => this.#post({ pause, of: id }, []))
    })
  }

  end(error = closed()): void {
    if (!this.#ended) this.#link.then((link) => link.end()).catch(() => {})
    this.#ended ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#ended)
    this.#waiting.clear()
  }

  #receive(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (!waiting) return
    if ('pieces' in answer || 'heard' in answer || 'spoken' in answer || 'done' in answer) {
      try {
        report(waiting, answer)
      } catch (error) {
        // The caller's function threw: the call ends with its error.
        this.#waiting.delete(answer.id)
        this.#post({ cancel: answer.id }, [])
        waiting.reject(error)
      }
      return
    }
    this.#waiting.delete(answer.id)
    if ('error' in answer) {
      const { code, message, offset } = answer.error
      const error = new GgufError(code as GgufErrorCode, message, { offset })
      waiting.reject(error)
      if (error.code === 'crashed' && !this.#outlives) this.end(error)
    } else if ('value' in answer) {
      waiting.resolve(answer.value)
    }
  }
}

/** Passes what a running call reports to its caller. */
function report(
  waiting: Waiting,
  answer: Extract<Answer, { pieces: unknown } | { heard: unknown } | { spoken: unknown } | { done: number }>,
): void {
  if ('pieces' in answer) waiting.pieces?.(answer.pieces)
  else if ('heard' in answer) waiting.heard?.(answer.heard)
  else if ('spoken' in answer) waiting.spoken?.(answer.spoken)
  else waiting.steps?.(answer.done, answer.of)
}

function closed(): GgufError {
  return new GgufError('closed', 'This model was closed.')
}
