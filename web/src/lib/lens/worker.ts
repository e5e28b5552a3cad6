// The worker of the tensor lens: caches a tensor's bytes, and computes tiles and statistics from them.
import { open, type GgufFile } from 'ggufscope'
import { addRows, elementCells, emptySums, meanCells } from './cells'
import { ChunkSource } from './chunk-source'
import { chunksIn, type Window } from './chunks'
import { pause } from './pause'
import { sidesOf, type FromWorker, type Place, type Subject, type ToWorker } from './protocol'
import { errorText } from '../language/error-text'

const post = (message: FromWorker, transfer: Transferable[] = []) => postMessage(message, { transfer })

// Limit of elements that are dequantized at a time.
const maxAtOnce = 1 << 20
const pauseEveryMs = 25
// If a view needs at most this many bytes, all are fetched together in few requests. Otherwise each tile appears when
// its bytes have arrived.
const maxTogether = 2 << 20

class Stopped extends Error {}

class Session {
  readonly source: ChunkSource
  private file: Promise<GgufFile> | undefined
  private readonly requests = new Map<
    number,
    { resolve: (bytes: Uint8Array) => void; reject: (reason: Error) => void }
  >()
  private lastRequest = 0
  private view = -1
  private paused = 0
  private readonly control = new AbortController()
  private statsControl = new AbortController()

  constructor(
    readonly id: number,
    private readonly subject: Subject,
    private readonly assets: Record<string, string>,
  ) {
    this.source = new ChunkSource(subject, (from, to) => {
      const request = ++this.lastRequest
      post({ kind: 'read', session: id, request, from, to })
      return new Promise((resolve, reject) => this.requests.set(request, { resolve, reject }))
    })
  }

  answer(request: number, bytes: Uint8Array | Error) {
    const asked = this.requests.get(request)
    this.requests.delete(request)
    if (bytes instanceof Error) asked?.reject(bytes)
    else asked?.resolve(bytes)
  }

  close() {
    this.view = -1
    this.control.abort(new Stopped())
    this.cancelStats()
    for (const { reject } of this.requests.values()) reject(new Stopped())
    void this.file?.then(
      (file) => file.close(),
      () => undefined,
    )
  }

  private async opened(): Promise<GgufFile> {
    return await (this.file ??= open(this.source, { assets: this.assets }))
  }

  /** If the type's usual blocks do not match the number of bytes, the file has super-blocks of 64. */
  private superBlock(file: GgufFile): { superBlock?: 64 } {
    const usual = file.tensors[0]?.byteLength
    return usual === this.subject.byteLength ? {} : { superBlock: 64 }
  }

  private windowOf(place: Place): Window {
    const { columns, rows } = this.subject
    const { x, y } = place
    const [w, h] = sidesOf(place)
    return {
      columns: [x * w, Math.min(columns, (x + 1) * w)],
      rows: [y * h, Math.min(rows, (y + 1) * h)],
    }
  }

  private missing(tiles: readonly Place[]): { bytes: number; indices: Set<number>; free: Place[] } {
    const missing = new Set<number>()
    const free: Place[] = []
    for (const tile of tiles) {
      let isFree = true
      for (const index of chunksIn(this.source.chunks, this.windowOf(tile))) {
        if (this.source.has(index)) continue
        missing.add(index)
        isFree = false
      }
      if (isFree) free.push(tile)
    }
    let bytes = 0
    for (const index of missing) bytes += this.source.bytesOf(index)
    return { bytes, indices: missing, free }
  }

  async show(view: number, tiles: readonly Place[], allowance: number) {
    this.view = view
    const { bytes, indices, free } = this.missing(tiles)
    const isAllowed = bytes <= allowance
    post({ kind: 'view', session: this.id, view, missing: isAllowed ? 0 : bytes, isDone: false })
    let loaded = 0
    const onLoaded = (count: number) => {
      loaded += count
      if (this.view === view) post({ kind: 'loaded', session: this.id, view, loaded, total: bytes })
    }
    try {
      const all = [...indices].sort((a, b) => a - b)
      if (isAllowed && bytes <= maxTogether) await this.source.load(all, onLoaded)
      for (const tile of isAllowed ? tiles : free) await this.make(view, tile, onLoaded)
      post({ kind: 'view', session: this.id, view, missing: isAllowed ? 0 : bytes, isDone: true })
    } catch (error) {
      if (this.view === view && !(error instanceof Stopped))
        post({ kind: 'failure', session: this.id, of: 'view', message: errorText(error) })
    }
  }

  private async step(view: number) {
    if (performance.now() - this.paused > pauseEveryMs) {
      await pause()
      this.paused = performance.now()
    }
    if (this.view !== view) throw new Stopped()
  }

  private async make(view: number, place: Place, onLoaded: (bytes: number) => void) {
    const file = await this.opened()
    const { columns, rows } = this.windowOf(place)
    const { zx, zy } = place
    const wide = columns[1] - columns[0]
    const high = rows[1] - rows[0]
    const each = Math.max(1, Math.floor(maxAtOnce / wide))
    const width = Math.ceil(wide / 2 ** zx)
    const height = Math.ceil(high / 2 ** zy)
    const isElements = zx === 0 && zy === 0
    const elements = new Float32Array(isElements ? wide * high : 0)
    const sums = emptySums(isElements ? 0 : width, height)
    for (let row = 0; row < high; row += each) {
      await this.step(view)
      const band = [rows[0] + row, Math.min(rows[1], rows[0] + row + each)] as const
      await this.source.load(chunksIn(this.source.chunks, { rows: band, columns }), onLoaded)
      await this.step(view)
      const values = await file.dequantize('t', { rows: band, columns, ...this.superBlock(file) })
      if (isElements) elements.set(values, row * wide)
      else addRows(sums, values, wide, row, zx, zy)
    }
    const part = (at: number, count: number, z: number) => Math.min(2 ** z, count - at * 2 ** z)
    const cells = isElements
      ? elementCells(elements, width, height)
      : meanCells(sums, (x, y) => part(x, wide, zx) * part(y, high, zy))
    const buffers = new Set([cells.mean.buffer, cells.rms.buffer, cells.extreme.buffer])
    post({ kind: 'tile', session: this.id, place, cells }, [...buffers])
  }

  async block(request: number, offset: number, length: number) {
    try {
      const begin = this.source.size - this.subject.byteLength
      const bytes = await this.source.read(begin + offset, length, {})
      post({ kind: 'block', session: this.id, request, bytes })
    } catch (error) {
      this.fail('block', error)
    }
  }

  cancelStats() {
    this.statsControl.abort(new Stopped())
  }

  async stats() {
    this.cancelStats()
    const { signal } = (this.statsControl = new AbortController())
    try {
      const file = await this.opened()
      const stats = await file.stats('t', {
        signal,
        ...this.superBlock(file),
        onProgress: (loaded, total) => post({ kind: 'statsProgress', session: this.id, loaded, total }),
      })
      post({ kind: 'stats', session: this.id, stats })
    } catch (error) {
      this.fail('stats', error)
    }
  }

  private fail(of: 'stats' | 'block', error: unknown) {
    if (!this.control.signal.aborted && !(error instanceof Stopped))
      post({
        kind: 'failure',
        session: this.id,
        of,
        message: errorText(error).replaceAll('Tensor t', 'The tensor'),
      })
  }
}

let session: Session | undefined

function handle(message: ToWorker) {
  if (message.kind === 'open') {
    session?.close()
    session = new Session(message.session, message.subject, message.assets)
    return
  }
  if (!session || message.session !== session.id) return
  switch (message.kind) {
    case 'view':
      return void session.show(message.view, message.tiles, message.allowance)
    case 'bytes':
      return session.answer(message.request, message.bytes)
    case 'failed':
      return session.answer(message.request, new Error(message.message))
    case 'block':
      return void session.block(message.request, message.offset, message.length)
    case 'stats':
      return void session.stats()
    case 'cancelStats':
      return session.cancelStats()
    case 'stop':
      session.close()
      session = undefined
  }
}

onmessage = (event: MessageEvent<ToWorker>) => handle(event.data)
