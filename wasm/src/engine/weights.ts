// Fetches the weights of a plan and passes them to the engine: a piece is packed while the next arrives.
import type { CountedReadOptions } from '../sources/http.js'
import { freeBuffer } from '../runtime/free-buffer.js'
import { canPause, copiesBodies } from '../sources/http-body.js'
import type { ByteSource } from '../api/source.js'
import type { Client } from './client.js'
import { OnwardSource } from './onward-source.js'
import { flowOf, flowBytes, runsOf, shareRun, type Flow, type Piece } from './pieces.js'
import type { Opened, PlannedTensor } from './protocol.js'
import type { LoadOptions } from './types.js'

// Parallel requests. One request for each piece would cost a browser more than the bytes do. So each request
// brings many pieces if the source can stream; two pieces of a request are then on their way to the engine.
// Where the browser buffers received bytes twice, fewer requests keep its memory small.
const requestCount = () => (copiesBodies() ? 2 : 3)
// There, one request at a time brings the last 60 MB of a fast connection: memory is largest then, and what was received
// stays in it for a second. On a slow connection nothing waits in memory, and a second request hides the delay.
const kLastRuns = 40
const kFastBytesPerMs = 40e3
// The rest of a request is divided among several only if one connection is slow. Otherwise they gain nothing,
// and bytes that a browser has buffered would be fetched twice.
const kMeasureMs = 250
const kSlowBytesPerMs = 100e3
const kMinShareBytes = 16 << 20

// Between two reports of bytes alone: 20 a second.
const kReportMs = 50

/** Bytes received and tensors packed. */
class Progress {
  readonly #missing: number[]
  readonly #total: number
  readonly #report: LoadOptions['onProgress']
  #loaded = 0
  #tensors = 0
  #reported = { loaded: 0, tensors: 0, at: 0 }

  constructor(plan: readonly PlannedTensor[], report: LoadOptions['onProgress']) {
    this.#missing = plan.map(({ rows, rowBytes }) => rows * rowBytes)
    this.#total = this.#missing.reduce((sum, bytes) => sum + bytes, 0)
    this.#report = report
  }

  get loaded(): number {
    return this.#loaded
  }

  received(bytes: number): void {
    this.#loaded += bytes
    if (performance.now() - this.#reported.at >= kReportMs) this.#tell()
  }

  packed({ parts }: Piece): void {
    for (const { tensor, bytes } of parts) {
      this.#missing[tensor]! -= bytes
      if (this.#missing[tensor] === 0) this.#tensors++
    }
    this.#tell()
  }

  #tell(): void {
    const [loaded, tensors] = [this.#loaded, this.#tensors]
    if (loaded === this.#reported.loaded && tensors === this.#reported.tensors) return
    this.#reported = { loaded, tensors, at: performance.now() }
    const [total, tensorCount] = [this.#total, this.#missing.length]
    this.#report?.({ phase: 'weights', loaded, total, tensors, tensorCount })
  }
}

class Fetcher {
  readonly #client: Client
  readonly #sources: readonly ByteSource[]
  readonly #progress: Progress
  readonly #failure: AbortController
  /** pieces that wait for a request */
  readonly #runs: Piece[][]
  readonly #requests: Promise<void>[] = []
  /** memory of packed pieces, for the next ones: a garbage collector would free it late */
  readonly #spare: ArrayBuffer[] = []
  readonly #began = performance.now()
  #active = 0

  constructor(
    client: Client,
    sources: readonly ByteSource[],
    { plan, facts }: Opened,
    { onProgress, failure }: { onProgress: LoadOptions['onProgress']; failure: AbortController },
  ) {
    this.#client = client
    this.#sources = sources
    this.#progress = new Progress(plan, onProgress)
    this.#failure = failure
    this.#runs = runsOf(plan, sources, facts.rowGroup)
  }

  async run(): Promise<void> {
    this.#send()
    try {
      for (const one of this.#requests) await one // some are added while others are awaited
    } finally {
      await Promise.allSettled(this.#requests)
      this.#spare.forEach(freeBuffer)
    }
  }

  /** Starts as many requests as allowed for the waiting pieces. */
  #send(): void {
    for (let more = Math.min(requestCount() - this.#active, this.#runs.length); more > 0; more--) {
      const one = this.#request()
      one.catch(() => {})
      this.#requests.push(one)
    }
  }

  /** The pieces of the next request, unless one request at a time is enough for the rest. */
  #next(): Piece[] | undefined {
    const isFast = this.#progress.loaded > kFastBytesPerMs * (performance.now() - this.#began)
    const isEnough = copiesBodies() && isFast && this.#active > 1 && this.#runs.length <= kLastRuns
    return isEnough ? undefined : this.#runs.shift()
  }

  async #request(): Promise<void> {
    this.#active++
    try {
      for (let pieces = this.#next(); pieces; pieces = this.#next()) {
        const source = this.#sources[pieces[0]!.file]!
        const flow = flowOf(source)
        if (flow) await this.#flow(flow, pieces)
        else await this.#read(source, pieces[0]!)
      }
    } catch (error) {
      this.#failure.abort(error)
      throw error
    } finally {
      this.#active--
    }
  }

  /** Packs a piece, and returns its memory for reuse. */
  async #pack(bytes: Uint8Array<ArrayBuffer>, piece: Piece): Promise<ArrayBuffer> {
    const rows = { bytes, parts: piece.parts }
    const returned = await this.#client.call('rows', rows, { transfer: [bytes.buffer] })
    this.#failure.signal.throwIfAborted()
    this.#progress.packed(piece)
    return returned
  }

  async #read(source: ByteSource, piece: Piece): Promise<void> {
    let told = 0
    // Sources of addresses report the bytes of their requests, which may begin before the piece, and end behind it.
    const onBytes = (offset: number, count: number) => {
      const from = Math.max(offset, piece.offset)
      const fresh = Math.max(0, Math.min(offset + count, piece.offset + piece.bytes) - from)
      told += fresh
      if (fresh > 0) this.#progress.received(fresh)
    }
    const options: CountedReadOptions = { signal: this.#failure.signal, onBytes }
    const bytes = await source.read(piece.offset, piece.bytes, options)
    this.#progress.received(bytes.length - told)
    // A source in memory returns a part of itself, which must not be transferred.
    const isShared = bytes.byteLength < bytes.buffer.byteLength || source.size === bytes.buffer.byteLength
    await this.#pack((isShared ? bytes.slice() : bytes) as Uint8Array<ArrayBuffer>, piece)
  }

  /**
   * Whether other requests should take a part of a run: its connection is slow (packing is not the limit),
   * and much is left.
   */
  #helpers(
    run: readonly Piece[],
    next: number,
    { waitedMs, bytes }: { waitedMs: number; bytes: number },
  ): number {
    const isSlow = waitedMs >= kMeasureMs && bytes / waitedMs < kSlowBytesPerMs
    if (!isSlow || this.#runs.length > 0 || this.#sources[run[0]!.file]!.ranges === false) return 0
    const left = run.slice(next).reduce((sum, piece) => sum + piece.bytes, 0)
    return Math.min(requestCount() - this.#active, Math.floor(left / kMinShareBytes) - 1)
  }

  /** A buffer for a piece: a returned one if it is large enough. */
  #roomFor(piece: Piece): Uint8Array<ArrayBuffer> {
    const spare = this.#spare.pop()
    if (spare && spare.byteLength >= piece.bytes) return new Uint8Array(spare, 0, piece.bytes)
    if (spare) freeBuffer(spare)
    return new Uint8Array(new ArrayBuffer(Math.max(flowBytes(), piece.bytes)), 0, piece.bytes)
  }

  async #flow(flow: Flow, pieces: Piece[]): Promise<void> {
    const last = pieces.at(-1)!
    let packed: Promise<void> = Promise.resolve()
    let next = 0
    let bytes: Uint8Array<ArrayBuffer> | undefined
    let at = pieces[0]!.offset
    let waitedMs = 0
    let asked = performance.now()
    for await (let chunk of flow(at, last.offset + last.bytes, { signal: this.#failure.signal })) {
      waitedMs += performance.now() - asked
      while (chunk.length > 0 && next < pieces.length) {
        const piece = pieces[next]!
        const skipped = Math.min(chunk.length, Math.max(0, piece.offset - at))
        const wanted = chunk.subarray(skipped, skipped + piece.offset + piece.bytes - (at + skipped))
        chunk = chunk.subarray(skipped + wanted.length)
        at += skipped
        if (wanted.length === 0) break
        // Where a buffer is not used again, it is passed on instead of copied.
        const isOwned =
          !canPause() && wanted.length === piece.bytes && wanted.buffer.byteLength === piece.bytes
        if (isOwned) {
          bytes = wanted as Uint8Array<ArrayBuffer>
        } else {
          bytes ??= this.#roomFor(piece)
          bytes.set(wanted, at - piece.offset)
        }
        this.#progress.received(wanted.length)
        at += wanted.length
        if (at < piece.offset + piece.bytes) continue
        const full = bytes
        bytes = undefined
        next++
        await packed
        packed = this.#pack(full, piece).then((returned) =>
          isOwned ? freeBuffer(returned) : void this.#spare.push(returned),
        )
        packed.catch(() => {})
        const others = this.#helpers(pieces, next, { waitedMs, bytes: at - pieces[0]!.offset })
        if (others > 0) {
          this.#runs.push(...shareRun(pieces, next, others))
          this.#send()
        }
      }
      if (next === pieces.length) break
      asked = performance.now()
    }
    await packed
  }
}

/** Fetches while earlier pieces are packed: loading needs memory for a few pieces only. */
export async function fetchWeights(
  client: Client,
  sources: readonly ByteSource[],
  opened: Opened,
  { signal, onProgress }: LoadOptions,
): Promise<void> {
  const failure = new AbortController()
  const stop = () => failure.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    await new Fetcher(client, sources, opened, { onProgress, failure }).run()
  } finally {
    for (const source of sources) if (source instanceof OnwardSource) source.leave()
    signal?.removeEventListener('abort', stop)
  }
}
