// Starts the engine's worker: in Node, in a page, from a server of another origin, or next to the bundle of a
// development server. If workers do not exist, the engine runs in the calling thread.
import { GgufError, messageOf, quoted } from '../api/errors.js'
import { absolute } from '../runtime/compile.js'
import { isNode } from '../runtime/node-module.js'
import type { Answer, Link, Message } from './protocol.js'

// Milliseconds that a worker has to end its threads.
const kPatience = 1500

type OnAnswer = (answer: Answer) => void
type Broke = (reason: string) => void

function notStarted(script: unknown, reason: unknown): GgufError {
  return new GgufError(
    'wasm',
    `The engine's worker ${String(script)} could not be started: ${quoted(reason)}. Host engine-worker.js and engine-*.wasm (wasm/dist/engine of the package) where this page may load them and say where by the option assets, or workerUrl for the script alone. A content policy must allow the script in worker-src.`,
    { cause: reason },
  )
}

async function inNode(workerUrl: string | URL | undefined, onAnswer: OnAnswer, broke: Broke): Promise<Link> {
  const { nodeWorker } = await import('./node-worker.js')
  const { worker, script } = nodeWorker(workerUrl)
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', (error) => reject(notStarted(script, error)))
    worker.once('exit', (code) => reject(notStarted(script, `it ended with code ${code}`)))
  })
  worker.on('message', onAnswer)
  worker.on('error', (error) => broke(String(error)))
  worker.on('exit', (code) => broke(`it ended with code ${code}`))
  worker.unref() // a loaded model does not keep a program alive; its calls do
  let calls = 0
  worker.on('message', (answer: Answer) => {
    const isEnd = !('pieces' in answer) && !('heard' in answer)
    if (isEnd && --calls === 0) worker.unref()
  })
  return {
    post(message, transfer) {
      if ('name' in message && ++calls === 1) worker.ref()
      worker.postMessage(message, transfer)
    },
    end: () => void worker.terminate(),
  }
}

/** The only expression by which bundlers find the script. */
function bundled(): Worker {
  return new Worker(new URL('./engine-worker.js', import.meta.url), { type: 'module' })
}

/**
 * The address to which a bundler has moved the script, which only its version of the expression above contains.
 * Called only after a failure.
 */
function bundledUrl(): URL | undefined {
  const { Worker: Real } = globalThis
  let asked: string | URL | undefined
  class Asked {
    constructor(url: string | URL) {
      asked = url
    }
  }
  try {
    globalThis.Worker = Asked as unknown as typeof Worker
    bundled()
  } catch {
    // import.meta.url is not an address there
  } finally {
    globalThis.Worker = Real
  }
  return asked === undefined ? undefined : absolute(asked)
}

/** Resolves with a worker of the script when it runs. */
function running(make: () => Worker): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const worker = make()
    worker.addEventListener('message', () => resolve(worker), { once: true })
    worker.addEventListener(
      'error',
      (event) => {
        event.preventDefault()
        reject(new Error(event.message || 'its script could not be loaded'))
      },
      { once: true },
    )
  })
}

const isForeign = (url: URL): boolean =>
  /^https?:$/.test(url.protocol) && url.origin !== globalThis.location?.origin

/** Browsers refuse workers from another origin. A local script that imports the remote one is allowed. */
function atAddress(url: URL): Worker {
  if (!isForeign(url)) return new Worker(url, { type: 'module' })
  const script = new Blob([`import ${JSON.stringify(url.href)}`], { type: 'text/javascript' })
  // Not revoked, because the threads start with the same address.
  return new Worker(URL.createObjectURL(script), { type: 'module' })
}

async function ofPage(workerUrl: string | URL | undefined): Promise<Worker> {
  if (workerUrl !== undefined) {
    const url = absolute(workerUrl)
    return running(() => atAddress(url)).catch((error: unknown) => {
      throw notStarted(url, error)
    })
  }
  try {
    return await running(bundled)
  } catch (error) {
    const url = bundledUrl()
    if (!url) throw notStarted('engine-worker.js', error)
    const { elsewhere } = await import('../runtime/elsewhere.js')
    const others = isForeign(url) ? [url] : elsewhere(url)
    for (const other of others) {
      const worker = await running(() => atAddress(other)).catch(() => undefined)
      if (worker) return worker
    }
    throw notStarted(url, error)
  }
}

/** Workers that are ending. If one is terminated while another makes its threads, Firefox can block the other for good. */
const ending = new Set<Promise<void>>()
const kSettled = 100 // milliseconds after terminate()

async function inPage(workerUrl: string | URL | undefined, onAnswer: OnAnswer, broke: Broke): Promise<Link> {
  await Promise.all(ending)
  const worker = await ofPage(workerUrl)
  worker.addEventListener('message', (event: MessageEvent<Answer>) => onAnswer(event.data))
  worker.addEventListener('error', (event) => broke(event.message || 'it ended'))
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    end() {
      if (!globalThis.crossOriginIsolated) return worker.terminate()
      const ended = new Promise<void>((settled) => {
        const terminate = (): void => {
          worker.terminate()
          setTimeout(settled, kSettled)
        }
        // Threads that sleep in shared memory end immediately if they are woken, but only after seconds if they are
        // terminated. If a worker does not answer because it computes a prompt, it is terminated after a delay.
        const stop = setTimeout(terminate, kPatience)
        worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
          if (data.id !== 0) return
          clearTimeout(stop)
          terminate()
        })
      })
      ending.add(ended)
      void ended.then(() => ending.delete(ended))
      worker.postMessage({ close: true } satisfies Message)
    },
  }
}

export async function startWorker(
  workerUrl: string | URL | undefined,
  onAnswer: OnAnswer,
  broke: Broke,
): Promise<Link> {
  if (isNode()) return inNode(workerUrl, onAnswer, broke)
  if (typeof Worker === 'function') return inPage(workerUrl, onAnswer, broke)
  try {
    const { inPlace } = await import('./in-place.js')
    return inPlace(onAnswer)
  } catch (cause) {
    // Service workers do not support dynamic import, so the engine must be in their bundle.
    throw new GgufError(
      'unsupported',
      `There are no workers here, and the engine's code for that case cannot be loaded: ${messageOf(cause)}. Bundle the script into one file, without splitting.`,
      { cause },
    )
  }
}
