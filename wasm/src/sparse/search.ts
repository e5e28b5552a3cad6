// Finds what lies behind the vocabulary of a remote header in a few rounds of small parallel reads. Only the
// places to read are estimates; the result is an exact walk from key to key, and the caller verifies it.
import { findWords, infosAt, keysAt } from './classify.js'
import { estimateEnd, type Point } from './estimate.js'
import type { Known } from './known.js'
import { findLayout, fingerprint, layoutOfHoles, learn, type Layout } from './layouts.js'
import { Walk, type OpenArray, type Stop } from './walk.js'

export interface Range {
  readonly offset: number
  readonly end: number
}

/** Reads ranges at the same time: one round trip. */
export type ReadRanges = (ranges: readonly Range[]) => Promise<void>

const kTokens = 'tokenizer.ggml.tokens'
// Vocabularies begin with their shortest words: they are this much longer than their beginning suggests.
const kGrowth = 1.3
// Average bytes of a token with its length.
const kTokenBytes = 15

const kProbe = 4096
const kLongestProbe = 12_288
// An end that is known this exactly is read in one piece.
const kWindow = 120_000
// More than this of a vocabulary's beginning does not improve the estimate, and walking it takes
// milliseconds.
const kSample = 1 << 15
// Bytes of a tensor info, and of the keys before the first.
const kInfo = 76
const kTail = 6144
// Bytes read for the key of an array, with a sample of its strings.
const kHeading = 2048
// An end that was missed may be this many times further away than the estimate's error.
const kWidening = 3
// If samples reach beyond the estimate and nothing shows the end of the array: this share of its length
// further.
const kFurther = 0.5
// Places of the first samples, as shares of the expected length; real vocabularies are longer.
const kFirstPlaces = { few: [0.5, 0.9, 1.2], many: [0.4, 0.8, 1.02, 1.12, 1.25, 1.5] }
const kPlaces = { few: [1 / 4, 2 / 4, 3 / 4], many: [1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6] }
const kMergePlaces = [0.3, 0.75, 1.4]

// The arrays that a vocabulary of each kind (tokenizer.ggml.model) has, in the order of llama.cpp's converters.
const kLayouts: Readonly<Record<string, readonly string[]>> = {
  gpt2: ['tokens', 'token_type', 'merges'],
  llama: ['tokens', 'scores', 'token_type'],
  bert: ['tokens', 'token_type'],
  t5: ['tokens', 'scores', 'token_type'],
}

export interface Found {
  readonly walk: Walk
  /** of the last tensor info */
  readonly end: number
  /** Stores the places of the arrays. Called after the result was verified. */
  learn(): void
}

/**
 * The completed walk; undefined if it is better to read this header whole, or if it takes more than `most`.
 */
export async function search(
  known: Known,
  size: number,
  most: { readonly rounds: number; readonly bytes: number },
  read: ReadRanges,
): Promise<Found | undefined> {
  const walk = new Walk(known)
  if (!walk.isKnownVersion) return undefined
  const points: Point[] = []
  const { fetched } = known
  const vocabulary = vocabularyOf(walk, walk.go(), known)
  let needs = 0
  let missed = { key: '', rounds: 0 }
  for (let round = 0; ; round++) {
    const stop = advance(walk, points, known)
    if (stop.kind === 'end') {
      const learnt = () =>
        vocabulary && learn(vocabulary.id, layoutOfHoles(walk.longArrays, vocabulary.offset))
      return { walk, end: stop.at, learn: learnt }
    }
    if (stop.kind === 'wrong' || round >= most.rounds || known.fetched - fetched > most.bytes)
      return undefined
    needs = stop.kind === 'need' ? needs + 1 : 0
    if (stop.kind === 'strings') {
      const isSame = stop.array.key === missed.key
      missed = { key: stop.array.key, rounds: isSame ? missed.rounds + 1 : 0 }
    }
    const met = round === 0 ? vocabulary?.layout : undefined
    const plan = met
      ? planKnown(walk, vocabulary!.offset, met)
      : stop.kind === 'need'
        ? planNeed(walk, stop, needs)
        : planStrings(walk, stop.array, points, { known, size, missed: missed.rounds })
    const ranges = plan
      .flatMap(({ offset, end }) => known.missing(Math.round(offset), Math.min(Math.round(end), size)))
      .filter(({ offset, end }) => end > offset)
    if (ranges.length === 0) return undefined
    await read(ranges)
    for (const range of ranges) addPoint(points, known, range, walk.little)
    points.sort((a, b) => a.offset - b.offset)
  }
}

interface Vocabulary {
  readonly id: string
  readonly offset: number
  /** from an earlier file */
  readonly layout: Layout | undefined
}

/** The array of strings at which the first walk stopped. */
function vocabularyOf(walk: Walk, stop: Stop, known: Known): Vocabulary | undefined {
  if (stop.kind !== 'strings') return undefined
  const { offset, count } = stop.array
  const id = fingerprint(count, known.from(offset))
  return id === undefined ? undefined : { id, offset, layout: findLayout(id) }
}

/** The ends of all arrays at once, if the vocabulary is known. */
function planKnown(walk: Walk, offset: number, layout: Layout): Range[] {
  return layout.map(([begin, length], i) => {
    const end = offset + begin + length
    return { offset: end - kHeading, end: end + (i === layout.length - 1 ? tailBytes(walk) : kHeading) }
  })
}

/** Classifies a piece, together with the strings that continue from before it or behind it. */
function addPoint(points: Point[], known: Known, { offset, end }: Range, little: boolean): void {
  const take = (touches: (point: Point) => boolean): Point | undefined => {
    const at = points.findIndex(touches)
    return at < 0 ? undefined : points.splice(at, 1)[0]
  }
  offset =
    take((point) => point.words !== undefined && point.offset + point.length === offset)?.offset ?? offset
  for (;;) {
    const words = findWords(known.from(offset).subarray(0, end - offset), little)
    const next = words && !words.broken ? take((point) => point.offset === end) : undefined
    if (!next) {
      points.push({ offset, length: end - offset, words })
      return
    }
    end += next.length
  }
}

/** For a header with a known beginning: where it probably ends, and whether its vocabulary is known. */
export function expect(all: Known): { end: number; isMet: boolean } {
  let known = all.beginning(kSample)
  let walk = new Walk(known)
  if (!walk.isKnownVersion) return { end: 0, isMet: false }
  let stop = walk.go()
  if (stop.kind !== 'strings') {
    known = all
    walk = new Walk(known)
    stop = walk.go()
  }
  const tail = tailBytes(walk)
  if (stop.kind !== 'strings')
    return { end: 'at' in stop ? stop.at + tokensAhead(walk) + tail : 0, isMet: false }
  const { array } = stop
  const layout = vocabularyOf(walk, stop, known)?.layout
  const last = layout?.at(-1)
  if (last) return { end: array.offset + last[0] + last[1] + tail, isMet: true }
  const { inside } = like(walk, array, [], known)
  const { end } = estimateEnd(array, inside)
  const merges = mergesAhead(walk, array, end, inside[0]?.words?.mean ?? 0)
  const arraysEnd = merges ? merges.at + merges.length : end + (following(walk, array).shifts.at(-1) ?? 0)
  const vocabulary = kGrowth * (arraysEnd + tokensAhead(walk, array) - array.offset)
  return { end: array.offset + vocabulary + tail, isMet: false }
}

/** Bytes of tokens that are still to come: about as many tokens as an array before them has elements. */
function tokensAhead(walk: Walk, open?: OpenArray): number {
  if (open?.key === kTokens || walk.arrays.includes(kTokens)) return 0
  const before = walk.longArrays.map(({ offset, end, strings }) => strings ?? (end - offset) / 4)
  return kTokenBytes * Math.max(0, ...before, open?.count ?? 0)
}

/** Continues the walk over the ends of arrays that were found. */
function advance(walk: Walk, points: readonly Point[], known: Known): Stop {
  for (;;) {
    const stop = walk.go()
    if (stop.kind !== 'strings') return stop
    const end = endOf(walk, stop.array, points, known)
    if (end === undefined) return stop
    walk.close(end)
  }
}

/** The end of an array in known bytes: there the chain of strings becomes a chain of keys or tensor infos. */
function endOf(walk: Walk, array: OpenArray, points: readonly Point[], known: Known): number | undefined {
  for (const { offset, words } of like(walk, array, points, known).inside) {
    if (!words?.broken) continue
    // The first key, read as a string, is a link of the chain too.
    for (const start of [words.end, ...words.starts.toReversed()]) {
      const bytes = known.from(offset + start)
      const keysLeft = walk.keyCount - walk.keys
      if (
        keysLeft > 0
          ? keysAt(bytes, walk.little, 0, Math.min(keysLeft, 3))
          : infosAt(bytes, walk.little, 0, 3)
      )
        return offset + start
    }
  }
  return undefined
}

interface Bracket {
  /** pieces of the array itself, by offset */
  readonly inside: readonly Point[]
  readonly low: number
  readonly high: number
}

/** The pieces that belong to an array: strings of its kind, up to the first piece of another kind. */
function like(walk: Walk, array: OpenArray, points: readonly Point[], known: Known): Bracket {
  // Vocabularies begin with their shortest words: the later half of the walked strings predicts better.
  const begin = known.from(array.offset).subarray(0, array.at - array.offset)
  const half = begin.length >> 1
  const words = findWords(begin.subarray(half), walk.little) ?? findWords(begin, walk.little, 0)
  const inside: Point[] = words ? [{ offset: array.offset + half, length: half, words }] : []
  const own = words ?? points.find(({ offset }) => offset >= array.offset)?.words
  let low = array.at
  for (const point of points) {
    if (point.offset + point.length <= array.at) continue
    if (!point.words || point.words.pairs !== own?.pairs) {
      if (point.offset >= low) return { inside, low, high: point.offset }
      continue
    }
    inside.push(point)
    low = Math.max(low, point.offset + point.words.end)
    if (point.words.broken) return { inside, low: point.offset, high: low }
  }
  return { inside, low, high: Infinity }
}

function tailBytes(walk: Walk): number {
  return kTail + kInfo * (walk.tensorCount - walk.infos)
}

/** Bytes of a key with an array of this many elements of four bytes. */
function arrayBytes(name: string, count: number): number {
  return 8 + `tokenizer.ggml.${name}`.length + 16 + 4 * count
}

function layoutOf(walk: Walk): readonly string[] {
  return kLayouts[walk.texts.get('tokenizer.ggml.model') ?? ''] ?? []
}

/** times: how often in a row the walk ran out of known bytes. */
function planNeed(walk: Walk, { at, bytes }: Stop & { kind: 'need' }, times: number): Range[] {
  const isTail = layoutOf(walk).every((name) => walk.arrays.includes(`tokenizer.ggml.${name}`))
  const guess = isTail || times > 1 ? times * tailBytes(walk) : kHeading
  return [{ offset: at, end: at + Math.max(2 * bytes, guess) }]
}

/** Where to search for the end of an array: [from, to), limited by the samples. */
function interval(
  array: OpenArray,
  { inside, low }: Bracket,
  { bound, missed }: { bound: number; missed: number },
): [number, number] {
  const { end, error } = estimateEnd(array, inside)
  const likely = error * kWidening ** Math.max(0, missed - 1)
  // One piece if the end probably lies in it; otherwise places on both sides of it.
  const width = 2 * likely <= kWindow ? likely : 2 * likely
  // If samples contradict the estimate, the samples count.
  if (end > low && end < bound) return [Math.max(low, end - width), Math.min(bound, end + width)]
  if (end >= bound) return [missed > 1 ? low : Math.max(low, bound - likely), bound]
  return [low, Math.min(bound, low + Math.max(width, kFurther * (low - array.offset)))]
}

/**
 * Where to read for the end of an array of strings, and for the keys behind it. missed: rounds that searched
 * for this end without success.
 */
function planStrings(
  walk: Walk,
  array: OpenArray,
  points: readonly Point[],
  { known, size, missed }: { known: Known; size: number; missed: number },
): Range[] {
  const bracket = like(walk, array, points, known)
  const { inside, low, high } = bracket
  if (inside.length === 0) return [{ offset: array.at, end: array.at + kProbe }]
  const bound = Math.min(high, size)
  const [from, to] = bound - low <= kWindow ? [low, bound] : interval(array, bracket, { bound, missed })
  const { end } = estimateEnd(array, inside)
  const length = Math.min(kLongestProbe, Math.max(kProbe, Math.round((end - array.at) / 300)))
  const probes = (places: readonly number[]): Range[] =>
    places.map((offset) => ({ offset, end: offset + length }))
  const first = inside.length === 1
  const later = first ? undefined : mergesBetween(walk, array, points, bound)
  const between = (low: number, high: number, parts: readonly number[]): number[] =>
    parts.map((part) => low + part * (high - low))
  const laterProbes = probes(later ? between(later.low, later.high, kPlaces.few) : [])
  if (to - from <= kWindow) return [...windows(from, to, following(walk, array)), ...laterProbes]
  if (!first) return [...probes(between(from, to, kPlaces[later ? 'few' : 'many'])), ...laterProbes]

  const merges = mergesAhead(walk, array, end, inside[0]!.words!.mean)
  return probes([
    ...between(low, end, kFirstPlaces[merges ? 'few' : 'many']).filter((at) => at < bound),
    ...(merges ? between(merges.at, merges.at + merges.length, kMergePlaces) : []),
  ])
}

/** The pieces between which the merges behind an array of tokens end, as far as they were read. */
function mergesBetween(
  walk: Walk,
  array: OpenArray,
  points: readonly Point[],
  from: number,
): { low: number; high: number } | undefined {
  if (array.key !== kTokens || !layoutOf(walk).includes('merges')) return undefined
  const behind = points.filter(({ offset }) => offset >= from)
  const last = behind.findLastIndex(({ words }) => words?.pairs === true)
  if (last < 0) return undefined
  const low = behind[last]!.offset + behind[last]!.length
  const next = behind[last + 1]
  const high = next ? next.offset : low + kFurther * (low - from)
  return high - low > kWindow ? { low, high } : undefined
}

/**
 * The piece in which an array ends, and the pieces that the layout expects behind it, with the same
 * uncertainty.
 */
function windows(from: number, to: number, { shifts, tail }: Following): Range[] {
  return [
    { offset: from, end: to + (shifts.length === 0 ? tail : kHeading) },
    ...shifts.map((shift, i) => ({
      offset: from + shift,
      end: to + shift + (i === shifts.length - 1 ? tail : kHeading),
    })),
  ]
}

interface Following {
  /** from the end of the array to those of arrays of fixed size behind it */
  readonly shifts: readonly number[]
  /** bytes worth reading behind the last */
  readonly tail: number
}

/** The keys behind an array of strings in the usual layout. */
function following(walk: Walk, array: OpenArray): Following {
  const layout = layoutOf(walk)
  const at = layout.findIndex((name) => array.key === `tokenizer.ggml.${name}`)
  if (at < 0) return { shifts: [], tail: kHeading }
  const shifts: number[] = []
  let shift = 0
  for (const name of layout.slice(at + 1)) {
    if (name === 'merges') return { shifts, tail: kHeading }
    shift += arrayBytes(name, array.count)
    shifts.push(shift)
  }
  return { shifts, tail: tailBytes(walk) }
}

/** Where the layout expects merges behind the tokens: mostly as many, each a space longer than its token. */
function mergesAhead(
  walk: Walk,
  array: OpenArray,
  end: number,
  mean: number,
): { at: number; length: number } | undefined {
  if (array.key !== kTokens || !layoutOf(walk).includes('merges')) return undefined
  return { at: end + (following(walk, array).shifts.at(-1) ?? 0), length: array.count * (mean + 1) }
}
