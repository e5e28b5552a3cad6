// Finds the keys and tensor infos after the vocabulary of a remote header in a few rounds of small parallel reads. Only
// the choice of reads is based on estimates. The result is an exact walk from key to key, and the caller verifies it.
import { estimateEnd, type Point } from './estimate.js'
import type { Known } from './known.js'
import type { Flow } from './flow.js'
import { findLayout, fingerprint, layoutOfHoles, learn, type Layout } from './layouts.js'
import { addPoint, endOf, piecesOf, type Range } from './pieces.js'
import { isSample, kRequests, planNeed, planStrings, type Plan, type Situation } from './plan.js'
import { following, kHeading, tailBytes, tokensAhead } from './usual.js'
import { Walk, type Stop } from './walk.js'

export type { Range }

// In a known vocabulary, samples that are nearer than this to a known end are left out.
const kNear = 1 << 16
// A gap of up to this many known bytes is read again if that saves a request.
const kLittle = 1 << 14
// Additional round trips that a search may take beyond its plan.
const kReserve = 1.5
// The delay of a stream by samples that are read in parallel, in round trips.
const kSlack = 0.3
// Safety margin for reads during a stream, in round trips.
const kMargin = 0.25
// Duration of one round including its bytes, in round trips.
const kRound = 1.2
// An array probably ends at most this many errors before its estimated end.
const kSure = 4
// A preview should not read more than kMaxBytes. A byte costs more if fewer than kPlenty of them are left, up to kMaxPrice
// times as much: narrower windows take more rounds. After kThriftyRounds rounds, and unless the header has at least
// kThriftyEnd round trips' bytes, time counts more.
const kMaxBytes = 500_000
const kPlenty = 400_000
const kMaxPrice = 4
const kThriftyRounds = 4
const kThriftyEnd = 8
// A stream may pass the estimated end of the header by this factor.
const kBeyond = 4
// A stream that is this many round trips behind the known position is restarted there.
const kFar = 1.3

export interface Found {
  readonly walk: Walk
  /** end of the last tensor info */
  readonly end: number
  /** reads that were not needed in the end */
  readonly pending: readonly Promise<unknown>[]
  /** Stores the layout of the arrays for later previews. Must be called only after the result was verified. */
  learn(): void
}

/**
 * The bytes that the link carries in a millisecond. A stream of a round trip or more gives better bounds than the first
 * bytes: a part of what is pending has arrived, too.
 */
function speed({ bytesPerMs, roundTripMs }: Link, flow: Flow | undefined, pending: Iterable<Range>): number {
  const { ms, bytes } = flow?.measured ?? { ms: 0, bytes: 0 }
  if (ms < roundTripMs || bytes === 0) return bytesPerMs
  return Math.min((bytes + total(pending)) / ms, Math.max(bytes / ms, bytesPerMs))
}

function total(ranges: Iterable<Range>): number {
  let bytes = 0
  for (const { offset, end } of ranges) bytes += end - offset
  return bytes
}

/** The measured link, and functions that read over it. */
export interface Link {
  readonly roundTripMs: number
  readonly bytesPerMs: number
  /** bytes that the link transfers in one round trip: within bounds, and as measured */
  readonly perRound: number
  readonly perTrip: number
  /** time since the first request */
  elapsedMs(): number
  /** Reads a range and resolves with it. */
  read(range: Range): Promise<Range>
  /** the stream that has delivered the first bytes, if it must go on beside the first samples */
  readonly head: Flow | undefined
  /** Starts a stream at an offset; undefined if the preview must stay small, however long it takes. */
  flow: ((offset: number) => Flow) | undefined
}

/** Searches the header; undefined if it is better read as a stream, or if the search takes more than `most`. */
export async function search(
  known: Known,
  size: number,
  link: Link,
  most: { readonly rounds: number; readonly bytes: number },
): Promise<Found | undefined> {
  const walk = new Walk(known)
  if (!walk.isKnownVersion) return undefined
  const { perRound, perTrip } = link
  const facts = { walk, known, points: [] as Point[], size, perRound, perTrip }
  const note = (range: Range): void => {
    addPoint(facts.points, known, range, walk.little)
    facts.points.sort((a, b) => a.offset - b.offset)
  }
  const vocabulary = vocabularyOf(walk, walk.go(), known)
  const pending = new Map<Range, Promise<Range>>()
  let flow = link.head
  let bytes = 0
  let end = 0
  let needs = { at: -1, times: 0 }
  for (let round = 0; ;) {
    const stop = advance(facts)
    if (stop.kind === 'end') {
      const learnt = () => vocabulary && learnAll(vocabulary, walk, stop.at)
      flow?.stop()
      return { walk, end: stop.at, learn: learnt, pending: [...pending.values()] }
    }
    if (stop.kind === 'wrong') return undefined
    // A stream that has gone far beyond the header shows that a piece of it was taken for something else.
    if (flow && end > 0 && flow.at > kBeyond * (end + perTrip)) return undefined
    if (!flow && (round >= most.rounds || bytes > most.bytes)) return undefined
    const spent = known.fetched + total(pending.keys())
    const price = round <= kThriftyRounds && end > kThriftyEnd * perTrip ? priceOf(spent, walk) : 1
    const situation = { ...facts, pending: [...pending.keys()], price }
    const times = 'at' in stop && stop.at === needs.at ? needs.times : needs.times + 1
    const plan =
      round === 0 && vocabulary?.layout && stop.kind === 'strings'
        ? planKnown(situation, stop, vocabulary)
        : stop.kind === 'need'
          ? planNeed(situation, stop, times)
          : planStrings(situation, stop.array)
    end = plan.end
    // The first samples determine where a stream can start. Further reads show that those under way do not matter for it.
    if (round > 0 && (plan.ranges.length > 0 || !situation.pending.some(isSample)))
      flow = flowFor(flow, plan, { situation, link, onStop: note })
    const ranges = unread(plan.ranges, situation, flow)
    if (ranges.length > 0 && mayRead(ranges, pending.keys(), { flow, link })) {
      for (const range of ranges) {
        pending.set(range, link.read(range))
        bytes += range.end - range.offset
      }
      needs = stop.kind === 'need' ? { at: stop.at, times } : { at: -1, times: 0 }
      round++
    } else if (!flow && pending.size === 0) return undefined
    const came = await Promise.race([...pending.values(), ...(flow ? [flow.next()] : [])])
    if (!came) return undefined
    pending.delete(came)
    note(came)
  }
}

/** The factor by which a byte costs more than its transfer time, so that few previews read more than kMaxBytes. */
function priceOf(spent: number, walk: Walk): number {
  const left = kMaxBytes - spent - tailBytes(walk)
  return Math.min(kMaxPrice, Math.max(1, kPlenty / Math.max(1, left)))
}

/** The ranges of a plan that are unknown and that the stream will not deliver within a round trip. */
function unread(
  planned: readonly Range[],
  { known, size, perRound, pending }: Situation,
  flow?: Flow,
): readonly Range[] {
  const [from, soon] = flow ? [flow.at, flow.at + perRound] : [size, size]
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
  const missing = without(
    ranges.flatMap(({ offset, end }) => known.missing(offset, end)),
    pending,
  )
  return fewer(missing, Math.max(0, kRequests - pending.length - (flow ? 1 : 0)))
}

/** The parts of ranges that are outside of all others. */
function without(ranges: readonly Range[], others: readonly Range[]): Range[] {
  return others.reduce<Range[]>(
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
 * Reduces ranges to `most`, because a further request would wait for a connection. Near ranges are joined, and the
 * shortest ones are left out.
 */
function fewer(ranges: Range[], most: number): readonly Range[] {
  while (ranges.length > most) {
    const gaps = ranges.slice(1).map(({ offset }, i) => offset - ranges[i]!.end)
    const least = Math.min(...gaps)
    const at = gaps.indexOf(least)
    if (least <= kLittle) ranges.splice(at, 2, { offset: ranges[at]!.offset, end: ranges[at + 1]!.end })
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
function flowFor(
  flow: Flow | undefined,
  { ranges, rounds, resume, end }: Plan,
  { situation, link, onStop }: { situation: Situation; link: Link; onStop: (rest: Range) => void },
): Flow | undefined {
  const { roundTripMs } = link
  const { known, size, pending } = situation
  const perRound = roundTripMs * speed(link, flow, pending)
  const bytes = total(unread(ranges, situation)) + total(pending)
  const now = link.elapsedMs() / roundTripMs
  const left = Math.max(kRound * rounds, rounds + bytes / perRound)
  const mayBeLate = now + left + kReserve > 2 + end / perRound
  const isLastMoment = now + 1 + kSlack + bytes / perRound > 1 + resume / perRound
  // What was requested arrives before the stream's first bytes.
  const from = without(known.missing(resume, size), pending)[0]?.offset ?? size
  const isFar = flow !== undefined && from - flow.at > kFar * perRound
  // What the stream delivers within a round trip arrives later by any other request.
  const isUseful = flow && ranges.some((range) => range.offset < flow.at + perRound && range.end > flow.at)
  if (flow && ((mayBeLate && !isFar) || isUseful)) return flow
  flow?.stop()
  if (flow && flow.rest.end > flow.rest.offset) onStop(flow.rest)
  return mayBeLate && (isLastMoment || isFar) ? link.flow?.(from) : undefined
}

/** Whether the parallel stream still ends within a round trip of a full read if these ranges are read, too. */
function mayRead(
  ranges: readonly Range[],
  pending: Iterable<Range>,
  { flow, link }: { flow: Flow | undefined; link: Link },
): boolean {
  if (!flow) return true
  const { roundTripMs, elapsedMs } = link
  const under = [...pending]
  const trips = flow.isBegun ? 2 : 1
  const room = ((trips - kMargin) * roundTripMs - elapsedMs()) * speed(link, flow, under)
  return total(ranges) + total(under) <= flow.at + room
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
function learnAll({ id, offset }: Vocabulary, walk: Walk, end: number): void {
  const layout = layoutOfHoles(walk.longArrays, offset)
  const last = layout.at(-1)
  if (!last) return
  learn(id, layout)
  const begin = last[0] + last[1]
  learn(tailId(id, walk), [[begin, end - offset - begin]])
}

/** Identifies the vocabulary by the array of strings at which the first walk stopped. */
function vocabularyOf(walk: Walk, stop: Stop, known: Known): Vocabulary | undefined {
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
function planKnown(
  situation: Situation,
  { array }: Stop & { kind: 'strings' },
  { layout = [], tail }: Vocabulary,
): Plan {
  const ends = layout.map(([begin, length], i) => {
    const end = array.offset + begin + length
    const rest = tail?.[0]?.[0] === begin + length ? tail[0][1] : tailBytes(situation.walk)
    const behind = i === layout.length - 1 ? rest : kHeading
    // The end of an array of numbers follows from its count, so the bytes before it are not needed.
    const before = length === 4 * array.count ? 0 : kHeading
    return { offset: end - before, end: end + behind }
  })
  const plan = planStrings(situation, array)
  // Samples near a known end add no information.
  const isNear = (place: Range) => ends.some(({ offset }) => Math.abs(offset - place.offset) < kNear)
  const samples = plan.ranges
    .filter((range, i) => i % 2 === 0 && !isNear(range))
    .slice(0, Math.max(0, kRequests - ends.length))
  const short = samples.map(({ offset }) => ({ offset, end: offset + 2 * kHeading }))
  return { ...plan, ranges: [...ends, ...short] }
}

export interface Expected {
  /** estimated end of the header */
  readonly end: number
  /** whether the vocabulary is known */
  readonly isMet: boolean
  /** a stream can probably start here: the bytes before are not needed, or show nothing */
  readonly resume: number
}

/** Estimates the end of a header from its first bytes. */
export function expect(known: Known): Expected {
  const walk = new Walk(known)
  if (!walk.isKnownVersion) return { end: 0, isMet: false, resume: 0 }
  const stop = walk.go()
  const tail = tailBytes(walk)
  if (stop.kind !== 'strings') {
    const words = walk.longArrays.find(({ strings }) => strings !== undefined)
    const ahead = tokensAhead(walk) + (words ? words.end - words.offset : 0)
    const strings = following(walk, 0).merges ? tokensAhead(walk) + ahead : tokensAhead(walk)
    const at = 'at' in stop ? stop.at : 0
    return { end: at && at + strings + tail, isMet: false, resume: at }
  }
  const { array } = stop
  const layout = vocabularyOf(walk, stop, known)?.layout
  const [first, last] = [layout?.[0], layout?.at(-1)]
  if (first && last)
    return { end: array.offset + last[0] + last[1] + tail, isMet: true, resume: array.offset + first[1] }
  const { inside } = piecesOf(walk, array, [], known)
  const { mean, scale } = estimateEnd(array, inside)
  const { shifts, merges } = following(walk, array.count)
  // If the kind of the vocabulary is not known yet, it may have merges.
  const isOpen = merges || !walk.names.has('tokenizer.ggml.model')
  const length = (mean - array.offset) * (isOpen ? 2.5 : 1)
  return {
    end: array.offset + length + (shifts.at(-1) ?? 0) + tokensAhead(walk, array) + tail,
    isMet: false,
    resume: mean - kSure * scale,
  }
}

/** Continues the walk, over all ends of arrays that the pieces show. */
function advance({ walk, points, known }: Omit<Situation, 'pending' | 'price'>): Stop {
  for (;;) {
    const stop = walk.go()
    if (stop.kind !== 'strings') return stop
    const end = endOf(walk, stop.array, points, known)
    if (end === undefined) return stop
    walk.close(end)
  }
}
