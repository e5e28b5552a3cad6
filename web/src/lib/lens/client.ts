// The page's part of the tensor lens: starts the worker, and reads the bytes that it requests from the file.
import type { GgufFile, TensorInfo, TensorStats } from 'ggufscope'
import { chunksOf, matrixOf, windowOf, type Matrix } from './chunks'
import type { Cells, FromWorker, Place, Subject, ToWorker } from './protocol'
import { errorText } from '../language/error-text'
import { t } from '../language/text'
import { startWorker, workerAssets } from '../page/worker'
import address from './worker.ts?worker&url'

interface Watcher {
  ontile: (place: Place, cells: Cells) => void
  /** missing: bytes that the view needs beyond its allowance */
  onview: (missing: number, isDone: boolean) => void
  onloaded: (loaded: number, total: number) => void
  onfailure: (message: string) => void
}

interface StatsWatcher {
  onstats: (stats: TensorStats) => void
  onprogress: (loaded: number, total: number) => void
  onfailure: (message: string) => void
}

// Types from this id on exist only in older containers, not in GGUF. The worker receives their values as floats.
const firstOldType = 1000

let sessions = 0
/** A worker without a tensor, for the next one. */
let idle: Worker | undefined
const idleMs = 30_000

function keepIdle(worker: Worker | undefined) {
  idle = worker
  setTimeout(() => {
    if (idle !== worker) return
    worker?.terminate()
    idle = undefined
  }, idleMs)
}

export class LensClient {
  readonly matrix: Matrix
  /** whether the worker receives the file's bytes instead of floats */
  readonly isRaw: boolean
  watcher: Watcher | undefined
  private readonly session = ++sessions
  /** undefined after close() */
  private worker: Worker | undefined
  private readonly control = new AbortController()
  private statsWatcher: StatsWatcher | undefined
  private views = 0
  private requests = 0
  private readonly blocks = new Map<number, (bytes: Uint8Array) => void>()

  constructor(
    private readonly file: GgufFile,
    private readonly tensor: TensorInfo,
  ) {
    this.isRaw = tensor.typeId < firstOldType
    this.matrix = matrixOf(tensor)
    if (!this.isRaw) this.matrix.byteLength = tensor.elementCount * 4
    this.start()
    const typeId = this.isRaw ? tensor.typeId : 0
    const bigEndian = this.isRaw && file.endianness === 'big'
    const subject: Subject = { ...this.matrix, typeId, bigEndian }
    this.post({ kind: 'open', session: this.session, subject, assets: workerAssets })
  }

  private start() {
    let failure = ''
    try {
      this.worker = idle ?? startWorker(address)
    } catch (error) {
      failure = errorText(error)
    }
    idle = undefined
    const { worker } = this
    // The watcher is set after the constructor.
    if (!worker) return queueMicrotask(() => this.fail(failure))
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.handle(event.data)
    worker.onerror = (event) => {
      event.preventDefault()
      worker.terminate()
      this.worker = undefined
      this.fail(event.message || t('The worker could not be started.'))
    }
  }

  private post(message: ToWorker) {
    this.worker?.postMessage(message)
  }

  view(tiles: Place[], allowance: number) {
    this.post({ kind: 'view', session: this.session, view: ++this.views, tiles, allowance })
  }

  stats(watcher: StatsWatcher) {
    this.statsWatcher = watcher
    this.post({ kind: 'stats', session: this.session })
  }

  cancelStats() {
    this.statsWatcher = undefined
    this.post({ kind: 'cancelStats', session: this.session })
  }

  /** Bytes of the tensor, from the worker's cache if it has them. */
  bytes(offset: number, length: number): Promise<Uint8Array> {
    const request = ++this.requests
    return new Promise((resolve) => {
      this.blocks.set(request, resolve)
      this.post({ kind: 'block', session: this.session, request, offset, length })
    })
  }

  close() {
    this.control.abort()
    this.post({ kind: 'stop', session: this.session })
    if (this.worker) this.worker.onmessage = this.worker.onerror = null
    if (idle) this.worker?.terminate()
    else keepIdle(this.worker)
    this.worker = undefined
  }

  fail(message: string) {
    this.watcher?.onfailure(message)
    this.statsWatcher?.onfailure(message)
  }

  handle(message: FromWorker) {
    if (message.session !== this.session) return
    switch (message.kind) {
      case 'read':
        return void this.read(message.request, message.from, message.to)
      case 'tile':
        return this.watcher?.ontile(message.place, message.cells)
      case 'view':
        if (message.view === this.views) this.watcher?.onview(message.missing, message.isDone)
        return
      case 'loaded':
        if (message.view === this.views) this.watcher?.onloaded(message.loaded, message.total)
        return
      case 'block':
        this.blocks.get(message.request)?.(message.bytes)
        this.blocks.delete(message.request)
        return
      case 'stats':
        return this.statsWatcher?.onstats({ ...message.stats, name: this.tensor.name })
      case 'statsProgress':
        return this.statsWatcher?.onprogress(message.loaded, message.total)
      case 'failure':
        return (message.of === 'stats' ? this.statsWatcher : this.watcher)?.onfailure(message.message)
    }
  }

  private async read(request: number, from: number, to: number) {
    const { file, tensor, session } = this
    const chunks = chunksOf(this.matrix)
    const { rows, columns } = windowOf(this.matrix, chunks, from, to)
    const options = {
      rows,
      signal: this.control.signal,
      ...(columns[1] - columns[0] < this.matrix.columns ? { columns } : {}),
    }
    try {
      const bytes = this.isRaw
        ? await file.read(tensor.name, options)
        : new Uint8Array((await file.dequantize(tensor.name, options)).buffer)
      // The bytes are copied, not transferred: they may belong to an open file.
      this.post({ kind: 'bytes', session, request, bytes })
    } catch (error) {
      const message = errorText(error)
      this.post({ kind: 'failed', session, request, message })
    }
  }
}
