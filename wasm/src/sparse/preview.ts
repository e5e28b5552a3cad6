// The sparse preview: a header without its long arrays.
import { GgufError } from '../api/errors.js'
import { Header, type Gaps } from '../header/header.js'
import type { InspectModule } from '../inspect.js'
import type { Preview } from '../api/file.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { skipStrings } from './cursor.js'
import { KnownBytes } from './known-bytes.js'
import { ParallelStream, type Stream } from './parallel-stream.js'
import type { ByteRange } from './header-samples.js'
import { estimateHeader, searchHeader, type HeaderEstimate, type Link } from './search.js'
import type { OmittedArray, Walk } from './walk.js'
import {
  kBatchesInRoundTrip,
  kBytesPerRound,
  kEstimateAgainGrowth,
  kFastLinkBytes,
  kFinalStreamBytes,
  kHeadBytes,
  kKnownVocabularyCost,
  kMaxHeaderBytes,
  kMinRoundTripFraction,
  kMinRoundTripsToSample,
  kMinSpeedup,
  kSearchCost,
  kSearchLimits,
  kSureSpeedup,
  kWaitedMs,
} from './tuning.js'

interface Mark {
  readonly at: number
  readonly length: number
}
const kNoMark: Mark = { at: 0, length: 0 }

/** The beginning of a header, the measured link, and the decision how to continue. */
export class SparsePreview {
  readonly #source: ByteSource
  readonly #preview: Preview
  readonly #firstByteMs: number
  readonly #stream: Stream
  readonly #chunks: Uint8Array[] = []
  #firstAt: number | undefined
  #length = 0
  // The speed is measured since these marks. first: the first chunk after which one had to wait. What arrives before it
  // without waiting was buffered while the page was busy, or is a burst of the link. Others are made whenever the bytes
  // have doubled.
  #marks = { first: kNoMark, before: kNoMark, last: kNoMark }
  #hasWaited = false
  #at = 0
  #estimatedAtLength = 0
  /** the expected duration of the stream as a multiple of the search's */
  #speedup = 0
  #expected: HeaderEstimate = { end: 0, isKnownVocabulary: false, resume: 0 }

  /** firstByteMs: from the request to the first bytes. stream: streams the source's bytes. */
  constructor(source: ByteSource, preview: Preview, firstByteMs: number, stream: Stream) {
    this.#source = source
    this.#preview = preview
    this.#stream = stream
    this.#firstByteMs = firstByteMs
  }

  /** The bytes that the stream has delivered. */
  #known(): KnownBytes {
    const bytes = new Uint8Array(this.#length)
    let at = 0
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    const known = new KnownBytes()
    known.add(0, bytes)
    return known
  }

  /** Records the next chunk, its time and its duration. Returns true if a decision can be made. */
  addChunk(chunk: Uint8Array, at: number, waitedMs: number): boolean {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#preview === 'sparse') return this.#length >= kHeadBytes
    const isFirst = this.#firstAt === undefined
    this.#firstAt ??= at
    this.#at = at
    this.#hasWaited ||= !isFirst && waitedMs > kWaitedMs
    const mark = { at, length: this.#length }
    if (!this.#hasWaited) this.#marks = { first: mark, before: mark, last: mark }
    else if (this.#length >= 2 * this.#marks.last.length)
      this.#marks = { ...this.#marks, before: this.#marks.last, last: mark }
    return !isFirst && this.#length >= kHeadBytes && (waitedMs > kWaitedMs || this.#length >= kFastLinkBytes)
  }

  /** The lower one of the speeds since the marks, because chunks are buffered whenever the page is busy. */
  get #bytesPerMs(): number {
    const since = ({ at, length }: Mark) => (this.#length - length) / (this.#at - at)
    return Math.min(since(this.#marks.first), since(this.#marks.before))
  }

  /** Without the time in which the first bytes were buffered, because the page was busy. */
  get #roundTripMs(): number {
    const { length } = this.#marks.first
    const bufferedMs = Math.max(0, length - this.#chunks[0]!.length) / this.#bytesPerMs
    return Math.max(kMinRoundTripFraction * this.#firstByteMs, this.#firstByteMs - (bufferedMs || 0))
  }

  /** Bytes that the link carries in one round trip, as measured. */
  get #perTrip(): number {
    const bytes = this.#roundTripMs * this.#bytesPerMs
    return Number.isFinite(bytes) ? bytes : kBytesPerRound.usual
  }

  /** The same within bounds. */
  get #perRound(): number {
    return Math.min(kBytesPerRound.max, Math.max(kBytesPerRound.min, this.#perTrip))
  }

  /** Whether the decision to stream is final. Before that it is repeated, because early chunks may be misleading. */
  get isFinal(): boolean {
    return this.#length >= kFinalStreamBytes
  }

  /** Whether a sparse preview is expected to end before the stream does, or was requested explicitly. */
  get isWorthwhile(): boolean {
    if (this.#preview === 'sparse') return true
    if (this.#source.size === undefined || this.#source.ranges === false) return false
    const bytesPerMs = this.#bytesPerMs
    // The bytes that have arrived since may show that the strings are longer.
    if (this.#length >= kEstimateAgainGrowth * this.#estimatedAtLength) {
      this.#estimatedAtLength = this.#length
      this.#expected = estimateHeader(this.#known())
    }
    const whole = (this.#expected.end - this.#length) / bytesPerMs
    const { rounds, bytes, overheadMs } = this.#expected.isKnownVocabulary
      ? kKnownVocabularyCost
      : kSearchCost
    this.#speedup = whole / (rounds * this.#roundTripMs + bytes / bytesPerMs + overheadMs)
    return this.#speedup > kMinSpeedup
  }

  /** Whether the first stream may end: the search wins, or a stream from its first sample on is not late. */
  get #mayStopStream(): boolean {
    const room = this.#expected.resume - this.#length
    return (
      this.#preview === 'sparse' ||
      (this.#speedup > kSureSpeedup && room > kMinRoundTripsToSample * this.#perTrip)
    )
  }

  #parallelStream(
    chunks: AsyncIterable<Uint8Array>,
    offset: number,
    facts: { known: KnownBytes; onRead: (bytes: number) => void; onStop: () => void; hasStarted: boolean },
  ): ParallelStream {
    return new ParallelStream(chunks, offset, { ...facts, batch: this.#perRound / kBatchesInRoundTrip })
  }

  /** Begins a stream that ends with the signal, or when it is stopped. */
  #startStream(
    offset: number,
    { known, onRead, signal }: { known: KnownBytes; onRead: (bytes: number) => void; signal: AbortSignal },
  ): ParallelStream {
    const own = new AbortController()
    const stop = () => own.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    const onStop = () => {
      signal.removeEventListener('abort', stop)
      own.abort()
    }
    return this.#parallelStream(this.#stream(offset, own.signal), offset, {
      known,
      onRead,
      onStop,
      hasStarted: false,
    })
  }

  /**
   * Finds the tensor table without reading the arrays before it; undefined if the header must be read as a stream.
   * stream: the one that has delivered the chunks. It is closed, or goes on during the search.
   */
  async run(
    module: InspectModule,
    stream: AsyncGenerator<Uint8Array>,
    { signal, onRead }: { signal: AbortSignal | undefined; onRead: (bytes: number) => void },
  ): Promise<Header | undefined> {
    const close = () => void stream.return(undefined).catch(() => {})
    const head = this.#mayStopStream ? undefined : stream
    if (!head) close()
    // Aborts pending requests when the header is complete.
    const inner = new AbortController()
    const abort = () => inner.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      signal?.throwIfAborted()
      return await this.#searchAndParse(module, { head, signal: inner.signal, onRead })
    } finally {
      signal?.removeEventListener('abort', abort)
      inner.abort()
      if (head) close()
    }
  }

  async #searchAndParse(
    module: InspectModule,
    {
      head,
      signal,
      onRead,
    }: {
      head: AsyncGenerator<Uint8Array> | undefined
      signal: AbortSignal
      onRead: (bytes: number) => void
    },
  ): Promise<Header | undefined> {
    const source = this.#source
    const { size } = source
    if (size === undefined || source.ranges === false) return undefined
    const known = this.#known()
    const read = async (range: ByteRange) => {
      const bytes = await source.read(range.offset, range.end - range.offset, { signal })
      known.add(range.offset, bytes)
      onRead(bytes.length)
      return range
    }
    const link: Link = {
      roundTripMs: this.#roundTripMs,
      bytesPerMs: this.#bytesPerMs,
      perRound: this.#perRound,
      perTrip: this.#perTrip,
      elapsedMs: () => performance.now() - (this.#firstAt ?? 0) + this.#firstByteMs,
      read,
      firstStream:
        head &&
        this.#parallelStream(head, this.#length, { known, onRead, onStop: () => {}, hasStarted: true }),
      startStream:
        this.#preview === 'sparse'
          ? undefined
          : (offset) => this.#startStream(offset, { known, onRead, signal }),
    }
    const found = await searchHeader(known, size, link, kSearchLimits)
    signal.throwIfAborted()
    if (!found || found.end > kMaxHeaderBytes) return undefined
    const { walk, end } = found
    const sparse = parseHeader(module, end, size, (target) => writeWithPlaceholders(known, walk, target))
    if (sparse && isConsistent(sparse, end, size)) {
      found.rememberLayout()
      if (walk.omittedArrays.length > 0) sparse.gaps = new HeaderGaps(sparse, source, known, walk)
      return sparse
    }
    sparse?.close()
    // If the table is not as expected, all missing bytes are read. Bytes that are known or under way are not read again.
    await Promise.all(found.pending)
    await Promise.all(known.missing(0, end).map(read))
    signal.throwIfAborted()
    const bytes = known.from(0)
    const whole = parseHeader(module, bytes.length, size, (target) => target.set(bytes))
    if (whole) whole.bytesRead = known.fetched
    return whole
  }
}

/** Parses a header; undefined if it is incomplete or invalid. The stream then reports the actual error. */
function parseHeader(
  module: InspectModule,
  length: number,
  size: number,
  write: (target: Uint8Array) => void,
): Header | undefined {
  const header = new Header(module)
  try {
    if (header.appendWritten(length, size, write) === 0) return header
  } catch (error) {
    if (!(error instanceof GgufError)) throw error
  }
  header.close()
  return undefined
}

/**
 * Writes the header with valid placeholders for the missing arrays: an array of strings becomes one long string and
 * empty ones, other arrays become zeros.
 */
function writeWithPlaceholders(known: KnownBytes, walk: Walk, target: Uint8Array): void {
  known.copyTo(target)
  const view = new DataView(target.buffer, target.byteOffset)
  for (const { offset, end, strings } of walk.omittedArrays) {
    target.fill(0, offset, end)
    if (strings !== undefined) view.setBigUint64(offset, BigInt(end - offset - 8 * strings), walk.little)
  }
}

/** Whether each tensor begins where the one before ends, and the file ends with the last (or with the header). */
function isConsistent(header: Header, headerEnd: number, size: number): boolean {
  const { alignment, dataOffset } = header.facts()
  const pad = (bytes: number) => Math.ceil(bytes / alignment) * alignment
  let next = dataOffset
  let end = headerEnd
  for (const { offset, byteLength } of header.tensorExtents()) {
    if (offset !== next || byteLength === 0) return false
    end = offset + byteLength
    next = dataOffset + pad(end - dataOffset)
  }
  return size === end || size === next
}

/** Reads the arrays that were left out on demand. */
class HeaderGaps implements Gaps {
  readonly #header: Header
  readonly #source: ByteSource
  readonly #known: KnownBytes
  readonly #little: boolean
  readonly #omitted: Map<number, OmittedArray>

  constructor(header: Header, source: ByteSource, known: KnownBytes, walk: Walk) {
    this.#header = header
    this.#source = source
    this.#known = known
    this.#little = walk.little
    this.#omitted = new Map(walk.omittedArrays.map((array) => [array.offset, array]))
  }

  get bytesRead(): number {
    return this.#known.fetched
  }

  has(offset: number): boolean {
    return this.#omitted.has(offset)
  }

  async load(offset: number | undefined, { signal }: ReadOptions): Promise<void> {
    signal?.throwIfAborted()
    const arrays = offset === undefined ? [...this.#omitted.values()] : [this.#omitted.get(offset)]
    await Promise.all(arrays.map(async (array) => array && this.#fill(array, signal)))
    if (this.#omitted.size > 0) return
    this.#header.bytesRead = this.#known.fetched
    this.#header.gaps = undefined
  }

  async #fill({ offset, end, strings }: OmittedArray, signal: AbortSignal | undefined): Promise<void> {
    await Promise.all(
      this.#known.missing(offset, end).map(async (gap) => {
        this.#known.add(gap.offset, await this.#source.read(gap.offset, gap.end - gap.offset, { signal }))
      }),
    )
    if (!this.#omitted.has(offset)) return // another call was faster
    const bytes = this.#known.from(offset).subarray(0, end - offset)
    if (strings !== undefined && !isChain(bytes, strings, this.#little)) {
      throw new GgufError(
        'preview-mismatch',
        'What the preview showed of this file is not what its header says: it was made to mislead, or is damaged. Open it with preview: "full".',
        { offset },
      )
    }
    this.#header.put(offset, bytes)
    this.#omitted.delete(offset)
  }
}

/** Whether this many strings fill the bytes exactly. */
function isChain(bytes: Uint8Array, count: number, little: boolean): boolean {
  const skipped = skipStrings(bytes, little, { at: 0, count, longest: bytes.length })
  return skipped?.left === 0 && skipped.at === bytes.length
}
