// A worker that the page creates for this worker, and whose messages it passes on.
import type { WorkerRequest } from './messages.js'

const workers = new Map<number, RelayedWorker>()

export class RelayedWorker extends EventTarget {
  static send: (request: WorkerRequest, transfer: Transferable[]) => void
  readonly #id = workers.size

  constructor(url: string | URL, options?: WorkerOptions) {
    super()
    workers.set(this.#id, this)
    RelayedWorker.send({ do: 'create', id: this.#id, url: String(url), options }, [])
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    RelayedWorker.send({ do: 'post', id: this.#id, message, transfer }, transfer)
  }

  terminate(): void {
    RelayedWorker.send({ do: 'terminate', id: this.#id }, [])
  }
}

/** Hands over what the page's worker sent, or why it failed. */
export function relay(id: number, answer: { readonly message: unknown } | { readonly failed: string }): void {
  const event =
    'failed' in answer
      ? Object.assign(new Event('error', { cancelable: true }), { message: answer.failed })
      : new MessageEvent('message', { data: answer.message })
  workers.get(id)?.dispatchEvent(event)
}
