// Finds the keys and tensor infos after the vocabulary of a remote header in a few rounds of small parallel reads. Only
// the choice of reads is based on estimates. The result is an exact walk from key to key, and the caller verifies it.
import { estimateEnd, type HeaderSample } from './end-estimate.js'
import type { KnownBytes } from './known-bytes.js'
import type { ParallelStream } from './parallel-stream.js'
import { findLayout, fingerprint, layoutOfArrays, rememberLayout, type Layout } from './header-layouts.js'
import { addSample, findEnd, samplesInside, type ByteRange } from './header-samples.js'
import { isSample, planMissingBytes, planArrayEnd, type ReadPlan, type SearchState } from './read-plan.js'
import { followingArrays, tailBytes, tokensAhead } from './usual-order.js'
import { Walk, type Stop } from './walk.js'
import {
  kAmpleBytes,
  kByteBudget,
  kHeadingBytes,
  kMaxByteCost,
  kMaxEndOvershoot,
  kMaxReadTwice,
  kMaxRequests,
  kMinDistanceToKnownEnd,
  kReserveRoundTrips,
  kRestartRoundTrips,
  kRoundDuration,
  kSampleDelayRoundTrips,
  kStreamMarginRoundTrips,
  kSureErrors,
  kThriftyHeaderRoundTrips,
  kThriftyRounds,
  kUnknownKindFactor,
} from './tuning.js'

export type { ByteRange as Range }

interface FoundHeader {
  readonly walk: Walk
  /** end of the last tensor info */
  readonly end: number
  /** reads that were not needed in the end */
  readonly pending: readonly Promise<unknown>[]
  /** Stores the layout of the arrays for later previews. Must be called only after the result was verified. */
  rememberLayout(): void
}

/**
 * The bytes that the link carries in a millisecond. A stream of a round trip or more gives better bounds than the first
 * bytes: a part of what is pending has arrived, too.
 */
function currentSpeed(
  { bytesPerMs, roundTripMs }: Link,
  stream: ParallelStream | undefined,
  pending: Iterable<ByteRange>,
): number {
  const { ms, bytes } = stream?.measured ?? { ms: 0, bytes: 0 }
  if (ms < roundTripMs || bytes === 0) return bytesPerMs
  return Math.min((bytes + total(pending)) / ms, Math.max(bytes / ms, bytesPerMs))
}

function total(ranges: Iterable<ByteRange>): number {
  let bytes = 0
  for (const { offset, end } of ranges) bytes += end - offset
  return bytes
}

/** What was measured of the link. */
interface LinkEstimate {
  readonly roundTripMs: number
  readonly bytesPerMs: number
  /** bytes that the link transfers in one round trip: within bounds, and as measured */
  readonly perRound: number
  readonly perTrip: number
}

/** The measured link, and functions that read over it. */
export interface Link extends LinkEstimate {
  /** time since the first request */
  elapsedMs(): number
  /** Reads a range and resolves with it. */
  read(range: ByteRange): Promise<ByteRange>
  /** the stream that has delivered the first bytes, if it must go on beside the first samples */
  readonly firstStream: ParallelStream | undefined
  /** Starts a stream at an offset; undefined if the preview must stay small, however long it takes. */
  startStream: ((offset: number) => ParallelStream) | undefined
}

/** Searches the header; undefined if it is better read as a stream, or if the search takes more than `max`. */
export async function searchHeader(
  known: KnownBytes,
  size: number,
  link: Link,
  max: { readonly rounds: number; readonly bytes: number },
): Promise<FoundHeader | undefined> {
  const walk = new Walk(known)
  if (!walk.isKnownVersion) return undefined
  const { perRound, perTrip } = link
  const facts = { walk, known, samples: [] as HeaderSample[], size, perRound, perTrip }
  const note = (range: ByteRange): void => {
    addSample(facts.samples, known, range, walk.little)
    facts.samples.sort((a, b) => a.offset - b.offset)
  }
  const vocabulary = vocabularyOf(walk, walk.advance(), known)
  const pending = new Map<ByteRange, Promise<ByteRange>>()
  let stream = link.firstStream
  let bytes = 0
  let end = 0
  let needs = { at: -1, times: 0 }
  for (let round = 0; ;) {
    const stop = advancePastEnds(facts)
    if (stop.kind === 'end') {
      const remember = () => vocabulary && rememberLayouts(vocabulary, walk, stop.at)
      stream?.stop()
      return { walk, end: stop.at, rememberLayout: remember, pending: [...pending.values()] }
    }
    if (stop.kind === 'wrong') return undefined
    // A stream that has gone far beyond the header shows that a sample of it was taken for something else.
    if (stream && end > 0 && stream.at > kMaxEndOvershoot * (end + perTrip)) return undefined
    if (!stream && (round >= max.rounds || bytes > max.bytes)) return undefined
    const spent = known.fetched + total(pending.keys())
    const price =
      round <= kThriftyRounds && end > kThriftyHeaderRoundTrips * perTrip ? byteCostFactor(spent, walk) : 1
    const state = { ...facts, pending: [...pending.keys()], price }
    const times = 'at' in stop && stop.at === needs.at ? needs.times : needs.times + 1
    const plan =
      round === 0 && vocabulary?.layout && stop.kind === 'strings'
        ? planKnownVocabulary(state, stop, vocabulary)
        : stop.kind === 'need'
          ? planMissingBytes(state, stop, times)
          : planArrayEnd(state, stop.array)
    end = plan.end
    // The first samples determine where a stream can start. Further reads show that those under way do not matter for it.
    if (round > 0 && (plan.ranges.length > 0 || !state.pending.some(isSample)))
      stream = adjustStream(stream, plan, { state, link, onStop: note })
    const ranges = rangesToRead(plan.ranges, state, stream)
    if (ranges.length > 0 && isWithinStreamTime(ranges, pending.keys(), { stream, link })) {
      for (const range of ranges) {
        pending.set(range, link.read(range))
        bytes += range.end - range.offset
      }
      needs = stop.kind === 'need' ? { at: stop.at, times } : { at: -1, times: 0 }
      round++
    } else if (!stream && pending.size === 0) return undefined
    const came = await Promise.race([...pending.values(), ...(stream ? [stream.next()] : [])])
    if (!came) return undefined
    pending.delete(came)
    note(came)
  }
}

/** The factor by which a byte costs more than its transfer time, so that few previews read more than kByteBudget. */
function byteCostFactor(spent: number, walk: Walk): number {
  const left = kByteBudget - spent - tailBytes(walk)
  return Math.min(kMaxByteCost, Math.max(1, kAmpleBytes / Math.max(1, left)))
}

/** The ranges of a plan that are unknown and that the stream will not deliver within a round trip. */
function rangesToRead(
  planned: readonly ByteRange[],
  { known, size, perRound, pending }: SearchState,
  stream?: ParallelStream,
): readonly ByteRange[] {
  const [from, soon] = stream ? [stream.at, stream.at + perRound] : [size, size]
  const ranges: { offset: number; end: number }[] = []
  for (const range of planned.toSorted((a, b) => a.offset - b.offset)) {
    const parts = [
      { offset: range.offset, end: Math.min(range.end, from) },
      { offset: Math.max(range.offset, soon), end: Math.min(range.end, size) },
    ]
    for (const part of parts) {
      const [offset, end] = [Math.round(part.offset), Math.round(part.end)]
      const last = ranges.at(-1)
      if (last && offset <= last.end) last.end = Math.max(last.end, end)
      else if (end > offset) ranges.push({ offset, end })
    }
  }
  const missing = subtractRanges(
    ranges.flatMap(({ offset, end }) => known.missing(offset, end)),
    pending,
  )
  return limitRequests(missing, Math.max(0, kMaxRequests - pending.length - (stream ? 1 : 0)))
}

/** The parts of ranges that are outside of all others. */
function subtractRanges(ranges: readonly ByteRange[], others: readonly ByteRange[]): ByteRange[] {
  return others.reduce<ByteRange[]>(
    (left, other) =>
      left
        .flatMap(({ offset, end }) => [
          { offset, end: Math.min(end, other.offset) },
          { offset: Math.max(offset, other.end), end },
        ])
        .filter((part) => part.offset < part.end),
    [...ranges],
  )
}

/**
 * Reduces ranges to `max`, because a further request would wait for a connection. Near ranges are joined, and the
 * shortest ones are left out.
 */
function limitRequests(ranges: ByteRange[], max: number): readonly ByteRange[] {
  while (ranges.length > max) {
    const gaps = ranges.slice(1).map(({ offset }, i) => offset - ranges[i]!.end)
    const min = Math.min(...gaps)
    const at = gaps.indexOf(min)
    if (min <= kMaxReadTwice) ranges.splice(at, 2, { offset: ranges[at]!.offset, end: ranges[at + 1]!.end })
    else {
      const lengths = ranges.map(({ offset, end }) => end - offset)
      ranges.splice(lengths.lastIndexOf(Math.min(...lengths)), 1)
    }
  }
  return ranges
}

/**
 * Keeps, starts or stops the parallel stream. It is needed if the search may end more than a round trip after the whole
 * header would have arrived, and if a stream that starts one round later would be late, too.
 */
function adjustStream(
  stream: ParallelStream | undefined,
  { ranges, rounds, resume, end }: ReadPlan,
  { state, link, onStop }: { state: SearchState; link: Link; onStop: (rest: ByteRange) => void },
): ParallelStream | undefined {
  const { roundTripMs } = link
  const { known, size, pending } = state
  const perRound = roundTripMs * currentSpeed(link, stream, pending)
  const bytes = total(rangesToRead(ranges, state)) + total(pending)
  const now = link.elapsedMs() / roundTripMs
  const left = Math.max(kRoundDuration * rounds, rounds + bytes / perRound)
  const mayBeLate = now + left + kReserveRoundTrips > 2 + end / perRound
  const isLastMoment = now + 1 + kSampleDelayRoundTrips + bytes / perRound > 1 + resume / perRound
  // What was requested arrives before the stream's first bytes.
  const from = subtractRanges(known.missing(resume, size), pending)[0]?.offset ?? size
  const isFar = stream !== undefined && from - stream.at > kRestartRoundTrips * perRound
  // What the stream delivers within a round trip arrives later by any other request.
  const isUseful =
    stream && ranges.some((range) => range.offset < stream.at + perRound && range.end > stream.at)
  if (stream && ((mayBeLate && !isFar) || isUseful)) return stream
  stream?.stop()
  if (stream && stream.undelivered.end > stream.undelivered.offset) onStop(stream.undelivered)
  return mayBeLate && (isLastMoment || isFar) ? link.startStream?.(from) : undefined
}

/** Whether the parallel stream still ends within a round trip of a full read if these ranges are read, too. */
function isWithinStreamTime(
  ranges: readonly ByteRange[],
  pending: Iterable<ByteRange>,
  { stream, link }: { stream: ParallelStream | undefined; link: Link },
): boolean {
  if (!stream) return true
  const { roundTripMs, elapsedMs } = link
  const under = [...pending]
  const trips = stream.hasStarted ? 2 : 1
  const room =
    ((trips - kStreamMarginRoundTrips) * roundTripMs - elapsedMs()) * currentSpeed(link, stream, under)
  return total(ranges) + total(under) <= stream.at + room
}

interface Vocabulary {
  readonly id: string
  readonly offset: number
  /** built in, or learned from an earlier file */
  readonly layout: Layout | undefined
  /** the part after the arrays, as one place; learned from a file with as many tensors */
  readonly tail: Layout | undefined
}

const tailId = (id: string, { tensorCount }: Walk): string => `${id}+${tensorCount}`

/** Remembers where the arrays are, and how long the part after them is. */
function rememberLayouts({ id, offset }: Vocabulary, walk: Walk, end: number): void {
  const layout = layoutOfArrays(walk.longArrays, offset)
  const last = layout.at(-1)
  if (!last) return
  rememberLayout(id, layout)
  const begin = last[0] + last[1]
  rememberLayout(tailId(id, walk), [[begin, end - offset - begin]])
}

/** Identifies the vocabulary by the array of strings at which the first walk stopped. */
function vocabularyOf(walk: Walk, stop: Stop, known: KnownBytes): Vocabulary | undefined {
  if (stop.kind !== 'strings') return undefined
  const { offset, count } = stop.array
  const id = fingerprint(count, known.from(offset))
  if (id === undefined) return undefined
  return { id, offset, layout: findLayout(id), tail: findLayout(tailId(id, walk)) }
}

/**
 * Plans the reads for a known vocabulary: the ends of all arrays together, and samples as for an unknown one, so that
 * no round is lost if the layout is different after all.
 */
function planKnownVocabulary(
  state: SearchState,
  { array }: Stop & { kind: 'strings' },
  { layout = [], tail }: Vocabulary,
): ReadPlan {
  const ends = layout.map(([begin, length], i) => {
    const end = array.offset + begin + length
    const rest = tail?.[0]?.[0] === begin + length ? tail[0][1] : tailBytes(state.walk)
    const behind = i === layout.length - 1 ? rest : kHeadingBytes
    // The end of an array of numbers follows from its count, so the bytes before it are not needed.
    const before = length === 4 * array.count ? 0 : kHeadingBytes
    return { offset: end - before, end: end + behind }
  })
  const plan = planArrayEnd(state, array)
  // Samples near a known end add no information.
  const isNear = (place: ByteRange) =>
    ends.some(({ offset }) => Math.abs(offset - place.offset) < kMinDistanceToKnownEnd)
  const samples = plan.ranges
    .filter((range, i) => i % 2 === 0 && !isNear(range))
    .slice(0, Math.max(0, kMaxRequests - ends.length))
  const short = samples.map(({ offset }) => ({ offset, end: offset + 2 * kHeadingBytes }))
  return { ...plan, ranges: [...ends, ...short] }
}

export interface HeaderEstimate {
  /** estimated end of the header */
  readonly end: number
  /** whether the vocabulary is known */
  readonly isKnownVocabulary: boolean
  /** a stream can probably start here: the bytes before are not needed, or show nothing */
  readonly resume: number
}

/** Estimates the end of a header from its first bytes. */
export function estimateHeader(known: KnownBytes): HeaderEstimate {
  const walk = new Walk(known)
  if (!walk.isKnownVersion) return { end: 0, isKnownVocabulary: false, resume: 0 }
  const stop = walk.advance()
  const tail = tailBytes(walk)
  if (stop.kind !== 'strings') {
    const words = walk.longArrays.find(({ strings }) => strings !== undefined)
    const ahead = tokensAhead(walk) + (words ? words.end - words.offset : 0)
    const strings = followingArrays(walk, 0).merges ? tokensAhead(walk) + ahead : tokensAhead(walk)
    const at = 'at' in stop ? stop.at : 0
    return { end: at && at + strings + tail, isKnownVocabulary: false, resume: at }
  }
  const { array } = stop
  const layout = vocabularyOf(walk, stop, known)?.layout
  const [first, last] = [layout?.[0], layout?.at(-1)]
  if (first && last)
    return {
      end: array.offset + last[0] + last[1] + tail,
      isKnownVocabulary: true,
      resume: array.offset + first[1],
    }
  const { inside } = samplesInside(walk, array, [], known)
  const { mean, scale } = estimateEnd(array, inside)
  const { shifts, merges } = followingArrays(walk, array.count)
  // If the kind of the vocabulary is not known yet, it may have merges.
  const isOpen = merges || !walk.names.has('tokenizer.ggml.model')
  const length = (mean - array.offset) * (isOpen ? kUnknownKindFactor : 1)
  return {
    end: array.offset + length + (shifts.at(-1) ?? 0) + tokensAhead(walk, array) + tail,
    isKnownVocabulary: false,
    resume: mean - kSureErrors * scale,
  }
}

/** Continues the walk, over all ends of arrays that the samples show. */
function advancePastEnds({ walk, samples, known }: Omit<SearchState, 'pending' | 'price'>): Stop {
  for (;;) {
    const stop = walk.advance()
    if (stop.kind !== 'strings') return stop
    const end = findEnd(walk, stop.array, samples, known)
    if (end === undefined) return stop
    walk.close(end)
  }
}
