// Runs a snippet's text in a worker, and creates the package's workers for it.
import type { FromSnippet, Level, ToSnippet, WorkerRequest } from './messages.js'

export interface Run {
  /** Resolves when the snippet has ended, failed, or was stopped. */
  readonly ended: Promise<'well' | 'failed' | 'stopped'>
  stop(): void
}

export function runSnippet(text: string, onLine: (level: Level, text: string, sound?: Blob) => void): Run {
  const snippet = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  const workers = new Map<number, Worker>()
  const post = (message: ToSnippet, transfer: Transferable[] = []) => snippet.postMessage(message, transfer)

  function serve(request: WorkerRequest): void {
    const { id } = request
    if (request.do === 'create') {
      const worker = new Worker(request.url, request.options)
      workers.set(id, worker)
      worker.addEventListener('message', ({ data, ports }) => post({ id, message: data }, [...ports]))
      worker.addEventListener('error', ({ message }) => post({ id, failed: message ?? '' }))
    } else if (request.do === 'post') workers.get(id)?.postMessage(request.message, request.transfer)
    else workers.get(id)?.terminate()
  }

  const { promise, resolve } = Promise.withResolvers<'well' | 'failed' | 'stopped'>()
  const end = (how: 'well' | 'failed' | 'stopped') => {
    for (const worker of [snippet, ...workers.values()]) worker.terminate()
    resolve(how)
  }
  async function withoutTypes(): Promise<void> {
    try {
      const { withoutTypes } = await import('./types.js')
      post({ run: withoutTypes(text), packageUrl, isPlain: true })
    } catch (error) {
      onLine('error', String(error))
      end('failed')
    }
  }
  snippet.addEventListener('message', ({ data }: MessageEvent<FromSnippet>) => {
    if ('print' in data) onLine(data.print, data.text, data.sound)
    else if ('worker' in data) serve(data.worker)
    else if (data.ended === 'typed') void withoutTypes()
    else end(data.ended)
  })
  snippet.addEventListener('error', ({ message }) => {
    onLine('error', message || 'The worker for snippets could not be loaded.')
    end('failed')
  })
  const packageUrl = new URL(`${import.meta.env.BASE_URL}package/`, location.href).href
  post({ run: text, packageUrl, isPlain: false })
  return { ended: promise, stop: () => end('stopped') }
}
