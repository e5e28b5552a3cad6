// Fetches the weights of a plan and passes them to the engine: a range is packed while the next arrives.
import type { CountedReadOptions } from '../sources/http.js'
import { freeBuffer } from '../runtime/free-buffer.js'
import { canPause, copiesBodies } from '../sources/http-body.js'
import type { ByteSource } from '../api/source.js'
import type { Client } from './client.js'
import { ContinuedSource } from './continued-source.js'
import {
  rangeStreamOf,
  streamedBytes,
  groupRanges,
  splitGroup,
  type RangeStream,
  type TensorRange,
} from './tensor-ranges.js'
import type { ModelRole, PlannedModel, PlannedTensor } from './protocol.js'
import type { LoadOptions, LoadProgress } from './types.js'

// Parallel requests. One request for each range would cost a browser more than the bytes do. So each request
// brings many ranges if the source can stream; two ranges of a request are then on their way to the engine.
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
  readonly #onProgress: LoadOptions['onProgress']
  readonly #of: LoadProgress['of']
  #loaded = 0
  #tensors = 0
  #reported = { loaded: 0, tensors: 0, at: 0 }

  constructor(plan: readonly PlannedTensor[], role: ModelRole, report: LoadOptions['onProgress']) {
    this.#missing = plan.map(({ rows, rowBytes }) => rows * rowBytes)
    this.#total = this.#missing.reduce((sum, bytes) => sum + bytes, 0)
    this.#of = role === 'draft' ? 'draft' : 'model'
    this.#onProgress = report
  }

  get loaded(): number {
    return this.#loaded
  }

  addReceived(bytes: number): void {
    this.#loaded += bytes
    if (performance.now() - this.#reported.at >= kReportMs) this.#report()
  }

  addPacked({ parts }: TensorRange): void {
    for (const { tensor, bytes } of parts) {
      this.#missing[tensor]! -= bytes
      if (this.#missing[tensor] === 0) this.#tensors++
    }
    this.#report()
  }

  #report(): void {
    // A range includes the bytes that align its tensors.
    const [loaded, tensors] = [Math.min(this.#loaded, this.#total), this.#tensors]
    if (loaded === this.#reported.loaded && tensors === this.#reported.tensors) return
    this.#reported = { loaded, tensors, at: performance.now() }
    const [total, tensorCount] = [this.#total, this.#missing.length]
    this.#onProgress?.({ phase: 'weights', of: this.#of, loaded, total, tensors, tensorCount })
  }
}

class WeightFetcher {
  readonly #client: Client
  readonly #role: ModelRole
  readonly #sources: readonly ByteSource[]
  readonly #progress: Progress
  readonly #failure: AbortController
  /** ranges that wait for a request */
  readonly #groups: TensorRange[][]
  readonly #requests: Promise<void>[] = []
  /** memory of packed ranges, for the next ones: a garbage collector would free it late */
  readonly #spare: ArrayBuffer[] = []
  readonly #startedAt = performance.now()
  #active = 0

  constructor(
    client: Client,
    role: ModelRole,
    sources: readonly ByteSource[],
    { plan, facts }: PlannedModel,
    { onProgress, failure }: { onProgress: LoadOptions['onProgress']; failure: AbortController },
  ) {
    this.#client = client
    this.#role = role
    this.#sources = sources
    this.#progress = new Progress(plan, role, onProgress)
    this.#failure = failure
    this.#groups = groupRanges(plan, sources, facts.rowGroup)
  }

  async run(): Promise<void> {
    this.#startRequests()
    try {
      for (const one of this.#requests) await one // some are added while others are awaited
    } finally {
      await Promise.allSettled(this.#requests)
      this.#spare.forEach(freeBuffer)
    }
  }

  /** Starts as many requests as allowed for the waiting groups. */
  #startRequests(): void {
    for (let more = Math.min(requestCount() - this.#active, this.#groups.length); more > 0; more--) {
      const one = this.#runRequest()
      one.catch(() => {})
      this.#requests.push(one)
    }
  }

  /** The ranges of the next request, unless one request at a time is enough for the rest. */
  #nextGroup(): TensorRange[] | undefined {
    const isFast = this.#progress.loaded > kFastBytesPerMs * (performance.now() - this.#startedAt)
    const isEnough = copiesBodies() && isFast && this.#active > 1 && this.#groups.length <= kLastRuns
    return isEnough ? undefined : this.#groups.shift()
  }

  async #runRequest(): Promise<void> {
    this.#active++
    try {
      for (let group = this.#nextGroup(); group; group = this.#nextGroup()) {
        const source = this.#sources[group[0]!.file]!
        const stream = rangeStreamOf(source)
        if (stream) await this.#streamGroup(stream, group)
        else await this.#readRange(source, group[0]!)
      }
    } catch (error) {
      this.#failure.abort(error)
      throw error
    } finally {
      this.#active--
    }
  }

  /** Packs a range, and returns its memory for reuse. */
  async #packRange(bytes: Uint8Array<ArrayBuffer>, range: TensorRange): Promise<ArrayBuffer> {
    const rows = { role: this.#role, bytes, parts: range.parts }
    const returned = await this.#client.call('setRows', rows, { transfer: [bytes.buffer] })
    this.#failure.signal.throwIfAborted()
    this.#progress.addPacked(range)
    return returned
  }

  async #readRange(source: ByteSource, range: TensorRange): Promise<void> {
    let counted = 0
    // Sources of addresses report the bytes of their requests, which may begin before the range, and end behind it.
    const onBytes = (offset: number, count: number) => {
      const from = Math.max(offset, range.offset)
      const fresh = Math.max(0, Math.min(offset + count, range.offset + range.bytes) - from)
      counted += fresh
      if (fresh > 0) this.#progress.addReceived(fresh)
    }
    const options: CountedReadOptions = { signal: this.#failure.signal, onBytes }
    const bytes = await source.read(range.offset, range.bytes, options)
    this.#progress.addReceived(bytes.length - counted)
    // A source in memory returns a part of itself, which must not be transferred.
    const isShared = bytes.byteLength < bytes.buffer.byteLength || source.size === bytes.buffer.byteLength
    await this.#packRange((isShared ? bytes.slice() : bytes) as Uint8Array<ArrayBuffer>, range)
  }

  /**
   * Whether other requests should take a part of a run: its connection is slow (packing is not the limit),
   * and much is left.
   */
  #helperCount(
    group: readonly TensorRange[],
    next: number,
    { waitedMs, bytes }: { waitedMs: number; bytes: number },
  ): number {
    const isSlow = waitedMs >= kMeasureMs && bytes / waitedMs < kSlowBytesPerMs
    if (!isSlow || this.#groups.length > 0 || this.#sources[group[0]!.file]!.ranges === false) return 0
    const rest = group.slice(next).reduce((sum, range) => sum + range.bytes, 0)
    return Math.min(requestCount() - this.#active, Math.floor(rest / kMinShareBytes) - 1)
  }

  /** A buffer for a range: a returned one if it is large enough. */
  #bufferFor(range: TensorRange): Uint8Array<ArrayBuffer> {
    const spare = this.#spare.pop()
    if (spare && spare.byteLength >= range.bytes) return new Uint8Array(spare, 0, range.bytes)
    if (spare) freeBuffer(spare)
    return new Uint8Array(new ArrayBuffer(Math.max(streamedBytes(), range.bytes)), 0, range.bytes)
  }

  async #streamGroup(stream: RangeStream, group: TensorRange[]): Promise<void> {
    const last = group.at(-1)!
    let packed: Promise<void> = Promise.resolve()
    let next = 0
    let bytes: Uint8Array<ArrayBuffer> | undefined
    let at = group[0]!.offset
    let waitedMs = 0
    let asked = performance.now()
    for await (let chunk of stream(at, last.offset + last.bytes, { signal: this.#failure.signal })) {
      waitedMs += performance.now() - asked
      while (chunk.length > 0 && next < group.length) {
        const range = group[next]!
        const skipped = Math.min(chunk.length, Math.max(0, range.offset - at))
        const part = chunk.subarray(skipped, skipped + range.offset + range.bytes - (at + skipped))
        chunk = chunk.subarray(skipped + part.length)
        at += skipped
        if (part.length === 0) break
        // Where a buffer is not used again, it is passed on instead of copied.
        const isOwned = !canPause() && part.length === range.bytes && part.buffer.byteLength === range.bytes
        if (isOwned) {
          bytes = part as Uint8Array<ArrayBuffer>
        } else {
          bytes ??= this.#bufferFor(range)
          bytes.set(part, at - range.offset)
        }
        this.#progress.addReceived(part.length)
        at += part.length
        if (at < range.offset + range.bytes) continue
        const full = bytes
        bytes = undefined
        next++
        await packed
        packed = this.#packRange(full, range).then((returned) =>
          isOwned ? freeBuffer(returned) : void this.#spare.push(returned),
        )
        packed.catch(() => {})
        const others = this.#helperCount(group, next, { waitedMs, bytes: at - group[0]!.offset })
        if (others > 0) {
          this.#groups.push(...splitGroup(group, next, others))
          this.#startRequests()
        }
      }
      if (next === group.length) break
      asked = performance.now()
    }
    await packed
  }
}

/** Fetches while earlier ranges are packed: loading needs memory for a few ranges only. */
export async function fetchWeights(
  client: Client,
  role: ModelRole,
  sources: readonly ByteSource[],
  opened: PlannedModel,
  { signal, onProgress }: LoadOptions,
): Promise<void> {
  const failure = new AbortController()
  const stop = () => failure.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    await new WeightFetcher(client, role, sources, opened, { onProgress, failure }).run()
  } finally {
    for (const source of sources) if (source instanceof ContinuedSource) source.abandonTransfer()
    signal?.removeEventListener('abort', stop)
  }
}
