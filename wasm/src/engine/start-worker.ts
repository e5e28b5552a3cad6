// Starts the engine's workers: in Node, in a page, from a server of another origin, or next to the bundle of a
// development server. If workers do not exist, the engine runs in the calling thread.
import { GgufError, messageOf, quoted } from '../api/errors.js'
import { absolute } from '../runtime/compile.js'
import { isNode } from '../runtime/node-module.js'
import type { Answer, ForThread, Link, Message, Threads } from './protocol.js'
import type { DeviceKind } from './types.js'

// Milliseconds that a worker has to end its threads.
const kPatience = 1500

/** Which script to start, and its address if it is not next to the package's code. */
interface WorkerChoice {
  readonly workerUrl: string | URL | undefined
  readonly device: DeviceKind
}
const kScripts: Readonly<Record<DeviceKind, string>> = {
  cpu: 'engine-worker.js',
  gpu: 'engine-gpu-worker.js',
}

type OnAnswer = (answer: Answer) => void
type Broke = (reason: string) => void

function notStarted(script: unknown, reason: unknown): GgufError {
  return new GgufError(
    'wasm',
    `The engine's worker ${String(script)} could not be started: ${quoted(reason)}. Host engine-worker.js and engine-*.wasm (wasm/dist/engine of the package) where this page may load them and say where by the option assets, or workerUrl for the script alone. A content policy must allow the script in worker-src.`,
    { cause: reason },
  )
}

/** A worker in which the script runs: the engine, or one of its threads. */
interface Script {
  post(message: Message | Threads | ForThread, transfer: Transferable[]): void
  listen(onAnswer: OnAnswer, broke: Broke): void
  end(): void
}
type Start = () => Promise<Script>

async function inNode({ workerUrl, device }: WorkerChoice): Promise<Script> {
  const { nodeWorker } = await import('./node-worker.js')
  const { worker, script } = nodeWorker(workerUrl, device)
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', (error) => reject(notStarted(script, error)))
    worker.once('exit', (code) => reject(notStarted(script, `it ended with code ${code}`)))
  })
  const running = new Set<number>()
  // A reader that never comes back does not keep a program alive.
  const paused = new Set<number>()
  const update = (): void => {
    if (running.size > paused.size) worker.ref()
    else worker.unref()
  }
  worker.on('message', (answer: Answer) => {
    if (!('value' in answer || 'error' in answer)) return
    for (const calls of [running, paused]) calls.delete(answer.id)
    update()
  })
  return {
    post(message, transfer) {
      if ('name' in message) running.add(message.id)
      if ('cancel' in message) paused.delete(message.cancel)
      if ('pause' in message && running.has(message.of))
        if (message.pause) paused.add(message.of)
        else paused.delete(message.of)
      update()
      worker.postMessage(message, transfer as Parameters<typeof worker.postMessage>[1])
    },
    listen(onAnswer, broke) {
      worker.on('message', onAnswer)
      worker.on('error', (error) => broke(String(error)))
      worker.on('exit', (code) => broke(`it ended with code ${code}`))
      // A loaded model does not keep a program alive; its calls do. Adding a listener undoes this.
      update()
    },
    end: () => void worker.terminate(),
  }
}

/** The only expressions by which bundlers find the scripts. */
const kBundled: Readonly<Record<DeviceKind, () => Worker>> = {
  cpu() {
    return new Worker(new URL('./engine-worker.js', import.meta.url), { type: 'module' })
  },
  gpu() {
    return new Worker(new URL('./engine-gpu-worker.js', import.meta.url), { type: 'module' })
  },
}

/**
 * The address to which a bundler has moved the script, which only its version of the expression above contains.
 * Called only after a failure.
 */
function bundledUrl(bundled: () => Worker): URL | undefined {
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

const scriptOf = (worker: Worker): Script => ({
  post: (message, transfer) => worker.postMessage(message, transfer),
  listen(onAnswer, broke) {
    worker.addEventListener('message', (event: MessageEvent<Answer>) => onAnswer(event.data))
    worker.addEventListener('error', (event) => broke(event.message || 'it ended'))
  },
  end: () => worker.terminate(),
})

/** Resolves with a worker of the script when it runs. */
function running(make: () => Worker): Promise<Script> {
  return new Promise((resolve, reject) => {
    const worker = make()
    worker.addEventListener('message', () => resolve(scriptOf(worker)), { once: true })
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

/**
 * Makes workers of the script at that address. Browsers refuse workers from another origin. A local script that
 * imports the remote one is allowed.
 */
function atAddress(url: URL): Start {
  let local = url
  if (isForeign(url)) {
    const script = new Blob([`import ${JSON.stringify(url.href)}`], { type: 'text/javascript' })
    local = new URL(URL.createObjectURL(script))
  }
  return () => running(() => new Worker(local, { type: 'module' }))
}

/** Starts the first worker in a page. Returns it and the way that worked. */
async function inPage({ workerUrl, device }: WorkerChoice): Promise<[Script, Start]> {
  if (workerUrl !== undefined) {
    const url = absolute(workerUrl)
    const start = atAddress(url)
    const script = await start().catch((error: unknown) => {
      throw notStarted(url, error)
    })
    return [script, start]
  }
  const start = () => running(kBundled[device])
  try {
    return [await start(), start]
  } catch (error) {
    const url = bundledUrl(kBundled[device])
    if (!url) throw notStarted(kScripts[device], error)
    const { elsewhere } = await import('../runtime/elsewhere.js')
    const others = isForeign(url) ? [url] : elsewhere(url)
    for (const other of others) {
      const start = atAddress(other)
      const script = await start().catch(() => undefined)
      if (script) return [script, start]
    }
    throw notStarted(url, error)
  }
}

/**
 * The link to an engine whose worker runs. Its threads are workers of this thread, started in the same way. asks: the
 * worker is asked to end before it is terminated.
 */
function linkOf(engine: Script, start: Start, asks: boolean, onAnswer: OnAnswer, broke: Broke): Link {
  const workers = [engine]
  let hasEnded = false
  const terminate = (): void => {
    hasEnded = true
    for (const worker of workers) worker.end()
  }
  /** Undefined if none can be started. If it fails later, the engine fails. */
  async function startThread(): Promise<MessagePort | undefined> {
    const worker = await start().catch(() => undefined)
    if (!worker) return undefined
    if (hasEnded) worker.end()
    workers.push(worker)
    worker.listen(() => {}, broke)
    const { port1, port2 } = new MessageChannel()
    worker.post({ thread: port1 }, [port1])
    return port2
  }
  async function startThreads(count: number): Promise<void> {
    const made = await Promise.all(Array.from({ length: count }, startThread))
    const threads = made.filter((port) => port !== undefined)
    engine.post({ threads }, threads)
  }
  engine.listen((answer) => {
    if ('wanted' in answer) void startThreads(answer.wanted)
    else onAnswer(answer)
  }, broke)
  return {
    post: (message, transfer) => engine.post(message, transfer),
    end() {
      if (!asks) return terminate()
      // Threads that sleep in shared memory end immediately if they are woken, but only after seconds if they are
      // terminated. In Node, the package webgpu ends the program if it is terminated while something is read back. If a
      // worker does not answer because it computes a prompt, it is terminated after a delay.
      const late = setTimeout(terminate, kPatience)
      engine.listen(
        (answer) => {
          if (!('value' in answer) || answer.id !== 0) return
          clearTimeout(late)
          terminate()
        },
        () => {},
      )
      engine.post({ close: true }, [])
    },
  }
}

export async function startWorker(choice: WorkerChoice, onAnswer: OnAnswer, broke: Broke): Promise<Link> {
  if (isNode()) {
    const start = () => inNode(choice)
    return linkOf(await start(), start, choice.device === 'gpu', onAnswer, broke)
  }
  if (typeof Worker === 'function')
    return linkOf(...(await inPage(choice)), globalThis.crossOriginIsolated === true, onAnswer, broke)
  if (choice.device === 'gpu')
    throw new GgufError('no-device', 'There are no workers here, in which WebGPU runs.')
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
