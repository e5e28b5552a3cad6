// The sparse preview: a header without its long arrays.
import { GgufError } from '../api/errors.js'
import { Header, type Gaps } from '../header/header.js'
import type { InspectModule } from '../inspect.js'
import type { Preview } from '../api/file.js'
import type { ByteSource, ReadOptions } from '../api/source.js'
import { skipStrings } from './cursor.js'
import { Known } from './known.js'
import { Flow, type Stream } from './flow.js'
import type { Range } from './pieces.js'
import { expect, search, type Expected, type Link } from './search.js'
import type { Hole, Walk } from './walk.js'

// The number of bytes of a header that are read before the decision how to continue.
const kHeadBytes = 1 << 15
// If pieces arrive without waiting, this many bytes show that the link is fast.
const kPlenty = 1 << 19
// After kSettled bytes, the decision to stream is final. Before that, it is repeated when the bytes have grown by the
// factor kAgain.
const kSettled = 1 << 22
const kAgain = 1.5
interface Mark {
  readonly at: number
  readonly length: number
}
const kNoMark: Mark = { at: 0, length: 0 }
// A piece that arrived faster was already buffered, so it does not measure the link.
const kWaitedMs = 0.3
// Memory limit of a header that is read in parts.
const kMaxHeaderBytes = 1 << 28
// Bytes that the link transfers in a round trip: bounds, and the value if it could not be measured.
const kPerRound = { least: 100_000, usual: 300_000, most: 400_000 }
// If the first bytes were buffered while the page was busy, the round trip is at least this fraction of the time until
// they were read.
const kMinRoundTrip = 0.3
// The number of times in a round trip that the bytes of a stream are processed.
const kBatches = 8
// The usual cost of a sparse preview: round trips after the first bytes, bytes, and time for the requests. kMet is for
// known vocabularies.
const kSearch = { rounds: 3.5, bytes: 300_000, overheadMs: 30 }
const kMet = { rounds: 1, bytes: 110_000, overheadMs: 30 }
// The sparse preview is chosen if the stream is expected to take at least this many times as long. The first estimate may
// be much too low. Up to kSureGain it may be too high, so the stream of the first bytes goes on beside the first samples.
const kGain = 0.65
const kSureGain = 1.5
// Above it, that stream ends if more than this many round trips' bytes are left of the open array.
const kRoom = 1.05
// Limits of a search. They are wide, because every round narrows each end, and a stream would start from the beginning.
// Two rounds may overlap.
const kMost = { rounds: 28, bytes: 1_500_000 }

/** The beginning of a header, the measured link, and the decision how to continue. */
export class SparseAttempt {
  readonly #source: ByteSource
  readonly #preview: Preview
  readonly #firstByteMs: number
  readonly #stream: Stream
  readonly #head: Uint8Array[] = []
  #firstAt: number | undefined
  #length = 0
  // The speed is measured since these marks. first: the first piece after which one had to wait. What arrives before it
  // without waiting was buffered while the page was busy, or is a burst of the link. Others are made whenever the bytes
  // have doubled.
  #marks = { first: kNoMark, before: kNoMark, last: kNoMark }
  #hasWaited = false
  #at = 0
  #judged = 0
  /** the expected duration of the stream as a multiple of the search's */
  #gain = 0
  #expected: Expected = { end: 0, isMet: false, resume: 0 }

  /** firstByteMs: from the request to the first bytes. stream: streams the source's bytes. */
  constructor(source: ByteSource, preview: Preview, firstByteMs: number, stream: Stream) {
    this.#source = source
    this.#preview = preview
    this.#stream = stream
    this.#firstByteMs = firstByteMs
  }

  /** The bytes that the stream has delivered. */
  #known(): Known {
    const bytes = new Uint8Array(this.#length)
    let at = 0
    for (const piece of this.#head) {
      bytes.set(piece, at)
      at += piece.length
    }
    const known = new Known()
    known.add(0, bytes)
    return known
  }

  /** Records the next piece, its time and its duration. Returns true if a decision can be made. */
  isEnough(piece: Uint8Array, at: number, waitedMs: number): boolean {
    this.#head.push(piece)
    this.#length += piece.length
    if (this.#preview === 'sparse') return this.#length >= kHeadBytes
    const isFirst = this.#firstAt === undefined
    this.#firstAt ??= at
    this.#at = at
    this.#hasWaited ||= !isFirst && waitedMs > kWaitedMs
    const mark = { at, length: this.#length }
    if (!this.#hasWaited) this.#marks = { first: mark, before: mark, last: mark }
    else if (this.#length >= 2 * this.#marks.last.length)
      this.#marks = { ...this.#marks, before: this.#marks.last, last: mark }
    return !isFirst && this.#length >= kHeadBytes && (waitedMs > kWaitedMs || this.#length >= kPlenty)
  }

  /** The lower one of the speeds since the marks, because pieces are buffered whenever the page is busy. */
  get #bytesPerMs(): number {
    const since = ({ at, length }: Mark) => (this.#length - length) / (this.#at - at)
    return Math.min(since(this.#marks.first), since(this.#marks.before))
  }

  /** Without the time in which the first bytes were buffered, because the page was busy. */
  get #roundTripMs(): number {
    const { length } = this.#marks.first
    const bufferedMs = Math.max(0, length - this.#head[0]!.length) / this.#bytesPerMs
    return Math.max(kMinRoundTrip * this.#firstByteMs, this.#firstByteMs - (bufferedMs || 0))
  }

  /** Bytes that the link carries in one round trip, as measured. */
  get #perTrip(): number {
    const bytes = this.#roundTripMs * this.#bytesPerMs
    return Number.isFinite(bytes) ? bytes : kPerRound.usual
  }

  /** The same within bounds. */
  get #perRound(): number {
    return Math.min(kPerRound.most, Math.max(kPerRound.least, this.#perTrip))
  }

  /** Whether the decision to stream is final. Before that it is repeated, because early pieces may be misleading. */
  get isSettled(): boolean {
    return this.#length >= kSettled
  }

  /** Whether a sparse preview is expected to end before the stream does, or was requested explicitly. */
  get isWorthwhile(): boolean {
    if (this.#preview === 'sparse') return true
    if (this.#source.size === undefined || this.#source.ranges === false) return false
    const bytesPerMs = this.#bytesPerMs
    // The bytes that have arrived since may show that the strings are longer.
    if (this.#length >= kAgain * this.#judged) {
      this.#judged = this.#length
      this.#expected = expect(this.#known())
    }
    const whole = (this.#expected.end - this.#length) / bytesPerMs
    const { rounds, bytes, overheadMs } = this.#expected.isMet ? kMet : kSearch
    this.#gain = whole / (rounds * this.#roundTripMs + bytes / bytesPerMs + overheadMs)
    return this.#gain > kGain
  }

  /** Whether the first stream may end: the search wins, or a stream from its first sample on is not late. */
  get #isRoomy(): boolean {
    const room = this.#expected.resume - this.#length
    return this.#preview === 'sparse' || (this.#gain > kSureGain && room > kRoom * this.#perTrip)
  }

  #flow(
    pieces: AsyncIterable<Uint8Array>,
    offset: number,
    facts: { known: Known; onRead: (bytes: number) => void; onStop: () => void; isBegun: boolean },
  ): Flow {
    return new Flow(pieces, offset, { ...facts, batch: this.#perRound / kBatches })
  }

  /** Begins a stream that ends with the signal, or when it is stopped. */
  #begun(
    offset: number,
    { known, onRead, signal }: { known: Known; onRead: (bytes: number) => void; signal: AbortSignal },
  ): Flow {
    const own = new AbortController()
    const stop = () => own.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    const onStop = () => {
      signal.removeEventListener('abort', stop)
      own.abort()
    }
    return this.#flow(this.#stream(offset, own.signal), offset, { known, onRead, onStop, isBegun: false })
  }

  /**
   * Finds the tensor table without reading the arrays before it; undefined if the header must be read as a stream.
   * stream: the one that has delivered the pieces. It is closed, or goes on during the search.
   */
  async run(
    module: InspectModule,
    stream: AsyncGenerator<Uint8Array>,
    { signal, onRead }: { signal: AbortSignal | undefined; onRead: (bytes: number) => void },
  ): Promise<Header | undefined> {
    const close = () => void stream.return(undefined).catch(() => {})
    const head = this.#isRoomy ? undefined : stream
    if (!head) close()
    // Aborts pending requests when the header is complete.
    const inner = new AbortController()
    const abort = () => inner.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      signal?.throwIfAborted()
      return await this.#searched(module, { head, signal: inner.signal, onRead })
    } finally {
      signal?.removeEventListener('abort', abort)
      inner.abort()
      if (head) close()
    }
  }

  async #searched(
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
    const read = async (range: Range) => {
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
      head: head && this.#flow(head, this.#length, { known, onRead, onStop: () => {}, isBegun: true }),
      flow:
        this.#preview === 'sparse' ? undefined : (offset) => this.#begun(offset, { known, onRead, signal }),
    }
    const found = await search(known, size, link, kMost)
    signal.throwIfAborted()
    if (!found || found.end > kMaxHeaderBytes) return undefined
    const { walk, end } = found
    const sparse = parsed(module, end, size, (target) => writeWithoutHoles(known, walk, target))
    if (sparse && isConsistent(sparse, end, size)) {
      found.learn()
      if (walk.holes.length > 0) sparse.gaps = new HeaderGaps(sparse, source, known, walk)
      return sparse
    }
    sparse?.close()
    // If the table is not as expected, all missing bytes are read. Bytes that are known or under way are not read again.
    await Promise.all(found.pending)
    await Promise.all(known.missing(0, end).map(read))
    signal.throwIfAborted()
    const bytes = known.from(0)
    const whole = parsed(module, bytes.length, size, (target) => target.set(bytes))
    if (whole) whole.bytesRead = known.fetched
    return whole
  }
}

/** Parses a header; undefined if it is incomplete or invalid. The stream then reports the actual error. */
function parsed(
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
function writeWithoutHoles(known: Known, walk: Walk, target: Uint8Array): void {
  known.copyTo(target)
  const view = new DataView(target.buffer, target.byteOffset)
  for (const { offset, end, strings } of walk.holes) {
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
  readonly #known: Known
  readonly #little: boolean
  readonly #holes: Map<number, Hole>

  constructor(header: Header, source: ByteSource, known: Known, walk: Walk) {
    this.#header = header
    this.#source = source
    this.#known = known
    this.#little = walk.little
    this.#holes = new Map(walk.holes.map((hole) => [hole.offset, hole]))
  }

  get bytesRead(): number {
    return this.#known.fetched
  }

  has(offset: number): boolean {
    return this.#holes.has(offset)
  }

  async load(offset: number | undefined, { signal }: ReadOptions): Promise<void> {
    signal?.throwIfAborted()
    const holes = offset === undefined ? [...this.#holes.values()] : [this.#holes.get(offset)]
    await Promise.all(holes.map(async (hole) => hole && this.#fill(hole, signal)))
    if (this.#holes.size > 0) return
    this.#header.bytesRead = this.#known.fetched
    this.#header.gaps = undefined
  }

  async #fill({ offset, end, strings }: Hole, signal: AbortSignal | undefined): Promise<void> {
    await Promise.all(
      this.#known.missing(offset, end).map(async (gap) => {
        this.#known.add(gap.offset, await this.#source.read(gap.offset, gap.end - gap.offset, { signal }))
      }),
    )
    if (!this.#holes.has(offset)) return // another call was faster
    const bytes = this.#known.from(offset).subarray(0, end - offset)
    if (strings !== undefined && !isChain(bytes, strings, this.#little)) {
      throw new GgufError(
        'preview-mismatch',
        'What the preview showed of this file is not what its header says: it was made to mislead, or is damaged. Open it with preview: "full".',
        { offset },
      )
    }
    this.#header.put(offset, bytes)
    this.#holes.delete(offset)
  }
}

/** Whether this many strings fill the bytes exactly. */
function isChain(bytes: Uint8Array, count: number, little: boolean): boolean {
  const skipped = skipStrings(bytes, little, { at: 0, count, longest: bytes.length })
  return skipped?.left === 0 && skipped.at === bytes.length
}
