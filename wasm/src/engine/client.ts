import { GgufError, type GgufErrorCode } from '../api/errors.js'
import { isNode } from '../runtime/node-module.js'
import type { Answer, Call, CallName, Calls, Message } from './protocol.js'
import type { Piece } from './types.js'

interface Thread {
  post(message: Message, transfer: ArrayBuffer[]): void
  end(): void
}

// Milliseconds that a worker has to end its threads in.
const kPatience = 1500

/** The worker of this page, or of Node. */
async function spawn(heard: (answer: Answer) => void, broke: (reason: string) => void): Promise<Thread> {
  if (isNode()) {
    const { nodeWorker } = await import('./node-worker.js')
    const worker = await nodeWorker('./worker.js')
    worker.on('message', heard)
    worker.on('error', (error) => broke(String(error)))
    worker.on('exit', (code) => broke(`it ended with code ${code}`))
    worker.unref() // a loaded model does not keep a program alive; its calls do
    let calls = 0
    worker.on('message', (answer: Answer) => {
      if (!('pieces' in answer) && --calls === 0) worker.unref()
    })
    return {
      post(message, transfer) {
        if ('name' in message && ++calls === 1) worker.ref()
        worker.postMessage(message, transfer)
      },
      end: () => void worker.terminate(),
    }
  }
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
  worker.addEventListener('message', (event: MessageEvent<Answer>) => heard(event.data))
  worker.addEventListener('error', (event) => broke(event.message || 'its script could not be loaded'))
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    end() {
      if (!globalThis.crossOriginIsolated) return worker.terminate()
      // Threads that sleep in shared memory end at once when they are woken, and after seconds when they are only
      // told. A worker that does not listen, deep in a prompt, is not waited for.
      const stop = setTimeout(() => worker.terminate(), kPatience)
      worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
        if (data.id !== 0) return
        clearTimeout(stop)
        worker.terminate()
      })
      worker.postMessage({ close: true } satisfies Message)
    },
  }
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
  pieces?: ((pieces: readonly Piece[]) => void) | undefined
}

/** Calls into the worker, each with its answer. */
export class Client {
  readonly #waiting = new Map<number, Waiting>()
  #thread: Thread | undefined
  #ended: GgufError | undefined
  #lastId = 0

  static async start(): Promise<Client> {
    const client = new Client()
    client.#thread = await spawn(
      (answer) => client.#heard(answer),
      (reason) => client.end(new GgufError('wasm', `The engine's worker broke: ${reason}.`)),
    )
    return client
  }

  call<N extends CallName>(
    name: N,
    argument: Calls[N][0],
    {
      signal,
      transfer = [],
      onPieces,
    }: {
      signal?: AbortSignal | undefined
      transfer?: ArrayBuffer[]
      onPieces?: ((pieces: readonly Piece[]) => void) | undefined
    } = {},
  ): Promise<Calls[N][1]> {
    if (!this.#thread || this.#ended) return Promise.reject(this.#ended ?? closed())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const id = ++this.#lastId
    const thread = this.#thread
    return new Promise<Calls[N][1]>((resolve, reject) => {
      const abort = () => thread.post({ cancel: id }, [])
      const settle = () => signal?.removeEventListener('abort', abort)
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.set(id, {
        resolve: (value) => {
          settle()
          if (signal?.aborted) reject(signal.reason)
          else resolve(value as Calls[N][1])
        },
        reject: (error) => {
          settle()
          reject(signal?.aborted ? signal.reason : error)
        },
        pieces: onPieces,
      })
      thread.post({ id, name, argument } as Call, transfer)
    })
  }

  end(error = closed()): void {
    this.#ended ??= error
    this.#thread?.end()
    this.#thread = undefined
    for (const { reject } of this.#waiting.values()) reject(this.#ended)
    this.#waiting.clear()
  }

  #heard(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (!waiting) return
    if ('pieces' in answer) {
      waiting.pieces?.(answer.pieces)
      return
    }
    this.#waiting.delete(answer.id)
    if ('error' in answer) {
      const { code, message, offset } = answer.error
      waiting.reject(new GgufError(code as GgufErrorCode, message, { offset }))
    } else {
      waiting.resolve(answer.value)
    }
  }
}

function closed(): GgufError {
  return new GgufError('closed', 'This model was closed.')
}
