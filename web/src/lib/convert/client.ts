// The page's part of making new files: starts the worker, and gives its outputs the form that can be saved.
import type { Savable, SaveOptions } from '../save/save-file'
import { t } from '../language/text'
import type { FromWorker, Input, Output, Plan, Task, ToWorker } from './protocol'

interface Waiting {
  resolve: (message: FromWorker) => void
  reject: (error: Error) => void
  onprogress?: (message: Extract<FromWorker, { kind: 'progress' }>) => void
}

/** Makes files of one open file. A new plan replaces the plan before it. */
export class ConvertWorker {
  private worker: Worker | undefined
  private id = 0
  private waiting: Waiting | undefined

  private start(): Worker {
    if (this.worker) return this.worker
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.handle(data)
    worker.onerror = (event) => {
      event.preventDefault()
      this.waiting?.reject(new Error(event.message || t('The worker could not be started.')))
    }
    return (this.worker = worker)
  }

  private handle(message: FromWorker) {
    const { waiting } = this
    if (message.id !== this.id || !waiting) return
    if (message.kind === 'progress') return waiting.onprogress?.(message)
    this.waiting = undefined
    if (message.kind === 'failed') waiting.reject(new Error(message.message))
    else waiting.resolve(message)
  }

  private ask(message: ToWorker, onprogress?: Waiting['onprogress']): Promise<FromWorker> {
    const worker = this.start()
    return new Promise((resolve, reject) => {
      this.waiting = onprogress ? { resolve, reject, onprogress } : { resolve, reject }
      worker.postMessage(message)
    })
  }

  /** Plans a task. Never settles if another plan replaces it. */
  async plan(input: Input, task: Task): Promise<Plan> {
    const answer = await this.ask({ kind: 'plan', id: ++this.id, input, task })
    if (answer.kind !== 'plan') throw new Error(t('The worker gave another answer.'))
    return answer.plan
  }

  /** An output of the last plan, whose bytes the worker computes when they are saved. */
  output({ size, toRead }: Output, output: number): Savable {
    const { id } = this
    return {
      size,
      toRead,
      stream: (options) => this.stream(id, output, size, options),
      blob: async ({ signal, onProgress }) => {
        const stop = () => this.close()
        signal.addEventListener('abort', stop, { once: true })
        try {
          const answer = await this.ask({ kind: 'blob', id, output }, ({ progress }) =>
            onProgress({ ...progress, size }),
          )
          if (answer.kind !== 'blob') throw new Error(t('The worker gave another answer.'))
          return answer.blob
        } finally {
          signal.removeEventListener('abort', stop)
        }
      },
    }
  }

  private stream(
    id: number,
    output: number,
    size: number,
    { signal, onProgress }: SaveOptions,
  ): ReadableStream<Uint8Array> {
    let written = 0
    signal.addEventListener('abort', () => this.close(), { once: true })
    return new ReadableStream(
      {
        pull: async (controller) => {
          const answer = await this.ask({ kind: 'pull', id, output })
          if (answer.kind !== 'chunk') throw new Error(t('The worker gave another answer.'))
          if (!answer.bytes) return controller.close()
          written += answer.bytes.length
          onProgress({ written, size, tensor: answer.tensor })
          controller.enqueue(answer.bytes)
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    )
  }

  /** Ends the worker and what it computes. The next plan starts another one. */
  close() {
    this.worker?.terminate()
    this.worker = undefined
    this.waiting?.reject(new Error(t('Stopped.')))
    this.waiting = undefined
  }
}
