// What to read next of a header: for each end that is still unknown a window or samples, all in the same round.
import { aim, type Aim, type Target } from './aim.js'
import { countdownBegin, endBeforeInfos } from './clues.js'
import { estimateEnd, type Estimate, type Point } from './estimate.js'
import type { Known } from './known.js'
import { piecesBehind, piecesOf, type Bracket, type Range } from './pieces.js'
import type { OpenArray, Stop, Walk } from './walk.js'

// Average bytes of a token with its length.
const kTokenBytes = 15
const kProbe = 4096
// The first samples are longer: they tell the length of strings best.
const kFirstProbe = 12_288
// Bytes of a tensor info, and of the keys before the first.
const kInfo = 76
const kTail = 6144
// Bytes read for the key of an array, with a sample of its strings.
const kHeading = 2048
// Requests of a round: browsers open so many connections over HTTP/1.1.
export const kRequests = 6
// Places of the first samples, as shares of the expected length.
const kFirst = { few: [0.4, 0.85, 1.15], many: [0.3, 0.6, 0.85, 1.02, 1.2, 1.6] }
const kFirstMerges = [0.5, 1.15, 2.2]
const kFirstTokens = [0.3, 0.7, 1, 1.4]
// Probability that there are as many merges as tokens.
const kEven = 0.5
// Probability that the keys before the tensor infos are not larger than usual.
const kShown = 0.8

// Arrays of fixed size behind an end are read with it if that costs less than this share of a round trip, and the keys
// and tensors behind the last one likewise.
const kShifted = { merges: 0.25, tail: 0.25 }
const kWorth = 0.8
// If nothing shows the end of an array: this share of its length further. An interval this many times as wide as the
// way to its estimate is not sampled evenly.
const kFurther = 1.2
const kWide = 20

const kScoresKey = arrayBytes('scores', 0)
const kTokens = 'tokenizer.ggml.tokens'
// The arrays that a vocabulary of each kind (tokenizer.ggml.model) has, in the order of llama.cpp's converters.
const kLayouts: Readonly<Record<string, readonly string[]>> = {
  gpt2: ['tokens', 'token_type', 'merges'],
  llama: ['tokens', 'scores', 'token_type'],
  bert: ['tokens', 'token_type'],
  t5: ['tokens', 'scores', 'token_type'],
}

export interface Situation {
  readonly walk: Walk
  readonly points: readonly Point[]
  readonly known: Known
  /** of the file */
  readonly size: number
  /** bytes that the link carries in one round trip */
  readonly perRound: number
}

export interface Plan {
  readonly ranges: readonly Range[]
  /** a stream can begin here: everything before is known, or lies in an array that ends after this offset */
  readonly resume: number
  /** expected end of the header, at least, and the round trips that the search may need until there */
  readonly end: number
  readonly rounds: number
}

export function tailBytes(walk: Walk): number {
  const left = walk.tensorCount - walk.infos
  // Later names are longer: their numbers have more digits.
  return walk.infoBytes === undefined ? kTail + kInfo * left : kProbe + 1.05 * walk.infoBytes * left
}

/** Arrays of the usual layout that are still to come. */
function ahead(walk: Walk): string[] {
  const layout = kLayouts[walk.texts.get('tokenizer.ggml.model') ?? ''] ?? ['tokens']
  return layout.filter((name) => !walk.names.has(`tokenizer.ggml.${name}`))
}

/** Whether the keys so far are in the order of the converters, which write the arrays before the control tokens. */
function isUsual(walk: Walk): boolean {
  return !walk.names.has('tokenizer.ggml.bos_token_id') && !walk.names.has('tokenizer.ggml.eos_token_id')
}

/** Bytes of a key with an array of this many elements of four bytes. */
function arrayBytes(name: string, count: number): number {
  return 8 + `tokenizer.ggml.${name}`.length + 16 + 4 * count
}

interface Following {
  /** from the end of the array to those of arrays of fixed size behind it */
  readonly shifts: readonly number[]
  /** whether merges are expected behind those */
  readonly merges: boolean
  /** bytes worth reading behind the last */
  readonly tail: number
}

/** The keys behind an array of strings, or behind a key, in the usual layout. */
export function following(walk: Walk, count: number): Following {
  const shifts: number[] = []
  let shift = 0
  for (const name of ahead(walk)) {
    if (name === 'merges') return { shifts, merges: true, tail: kHeading }
    if (name === 'tokens') return { shifts, merges: false, tail: kHeading }
    shift += arrayBytes(name, count)
    shifts.push(shift)
  }
  return { shifts, merges: false, tail: tailBytes(walk) }
}

/** Elements of the longest array before. */
function vocabularySize(walk: Walk): number {
  return Math.max(0, ...walk.longArrays.map(({ offset, end, strings }) => strings ?? (end - offset) / 4))
}

/** Bytes of tokens that are still to come: about as many tokens as an array before them has elements. */
export function tokensAhead(walk: Walk, open?: OpenArray): number {
  if (open?.key === kTokens || walk.names.has(kTokens)) return 0
  return kTokenBytes * Math.max(vocabularySize(walk), open?.count ?? 0)
}

const piece = (offset: number, length: number): Range => ({ offset, end: offset + length })

/** times: how often in a row the walk ran out of known bytes. */
export function planNeed(situation: Situation, { at, bytes }: Stop & { kind: 'need' }, times: number): Plan {
  const { walk, points, perRound } = situation
  const count = vocabularySize(walk)
  const { shifts, merges, tail } = following(walk, count)
  const isTail = ahead(walk).length === 0 || count === 0 || times > 1
  const ranges: Range[] = [piece(at, bytes + (isTail ? tailBytes(walk) : kHeading))]
  const last = shifts.at(-1) ?? 0
  if (!isTail && count > 0) {
    // Perhaps the next key is an array of as many elements, and so is the one behind it.
    const most = isUsual(walk) ? worth(tail, 1, perRound) : kHeading
    for (const [i, shift] of shifts.entries())
      ranges.push(piece(at + shift - 32, i === shifts.length - 1 ? Math.max(kTail, most) : kTail))
    const tokens = tokensAhead(walk)
    if (tokens > perRound) for (const place of kFirstTokens) ranges.push(piece(at + place * tokens, kProbe))
    const words = points.filter((point) => point.offset < at && point.words).at(-1)
    if (merges && words) {
      const begin = { mean: at + last, scale: 0 }
      const other = piecesBehind(words.words!.pairs, at, points)
      const later = laterTarget(count, words, begin, other, situation)
      ranges.push(...laterRanges(later, situation, kRequests - ranges.length))
    }
  }
  return { ranges, resume: at, end: at + (isTail ? 0 : last) + tailBytes(walk), rounds: isTail ? 1 : 3 }
}

/** Where to read for the end of an array of strings, for the ends behind it, and for the keys behind those. */
export function planStrings(situation: Situation, array: OpenArray): Plan {
  const { walk, points, known, size, perRound } = situation
  const bracket = piecesOf(walk, array, points, known)
  const { inside, low } = bracket
  const high = Math.min(bracket.high, size)
  const sample = inside.at(-1)
  if (!sample)
    return { ranges: [piece(array.at, 2 * kProbe)], resume: low, end: low + tailBytes(walk), rounds: 3 }
  const estimate = estimateEnd(array, inside)
  const next = following(walk, array.count)
  const behind =
    isUsual(walk) || ahead(walk).length === 0 ? next : { shifts: [], merges: false, tail: kHeading }
  const fixed = behind.shifts.at(-1) ?? 0
  const other = piecesBehind(sample.words!.pairs, bracket.high, points)
  const begin = { mean: Math.min(estimate.mean, high) + fixed, scale: estimate.scale }
  const later =
    other.inside.length > 0 || (behind.merges && array.key === kTokens)
      ? laterTarget(array.count, sample, begin, other, situation)
      : undefined
  const end = Math.max(later?.low ?? 0, estimate.mean - estimate.scale + fixed) + tailBytes(walk)
  const facts = { resume: low, end, rounds: later ? 4 : 3 }
  // Numbers behind the end are those of the arrays that follow.
  const numbers = points.find((point) => point.offset === bracket.high && point.numbers)
  const nearest = numbers ? high - (fixed || 2 * arrayBytes('token_type', array.count)) : low
  const target = clued({ ...estimate, low: Math.max(low, nearest), high }, fixed, !later, behind, situation)
  // Keys of fixed arrays behind the end are read with the same uncertainty.
  const own = aim(target, perRound, 1, later ? 3 : kRequests)
  if (own.window || inside.length > 1) {
    const ranges = [
      ...own.probes.map((at) => piece(at, kProbe)),
      ...windows(own, behind, perRound, later ? kShifted.merges : kShifted.tail),
    ]
    const slots = Math.max(2, kRequests - ranges.length)
    return { ...facts, ranges: [...ranges, ...laterRanges(later, situation, slots)] }
  }
  const length = Math.min(kFirstProbe, Math.max(kProbe, Math.round((estimate.mean - array.at) / 300)))
  const first = later ? kFirst.few : kFirst.many
  const places = first.map((part) => array.at + part * (estimate.mean - array.at)).filter((at) => at < high)
  return { ...facts, ranges: [...places, ...(later?.first ?? [])].map((at) => piece(at, length)) }
}

/** What pieces behind say of an end. fixed: bytes of arrays behind it. isLast: there are no others. */
function clued(
  target: Target,
  fixed: number,
  isLast: boolean,
  { tail }: Following,
  { walk, points, known, size }: Situation,
): Target {
  const { low, high } = target
  const begin = countdownBegin(points, low, known)
  if (begin && begin.high - kScoresKey > low && begin.low < high)
    return { ...target, low: Math.max(low, begin.low - kScoresKey), high: Math.min(high, begin.high) }
  const last = isLast && tail > kHeading ? endBeforeInfos(points, low, walk, size) : undefined
  const mean = (last?.mean ?? 0) - fixed
  return last && mean > low && mean < high ? { ...target, mean, scale: last.scale } : target
}

/** The window in which an array ends, and those that the layout expects behind it. */
function windows(
  { window, hit }: Aim,
  { shifts, merges, tail }: Following,
  perRound: number,
  most: number,
): Range[] {
  if (!window) return []
  const [from, to] = window
  const isShifted = (to - from) * shifts.length <= most * hit * perRound
  const behind = isShifted ? shifts : []
  const last = behind.at(-1)
  const rest = merges || (shifts.length > 0 && !isShifted) ? kHeading : worth(tail, hit, perRound)
  return [
    { offset: from, end: to + (last === undefined ? rest : kHeading) },
    ...behind.map((shift) => ({
      offset: from + shift,
      end: to + shift + (shift === last ? rest : kHeading),
    })),
  ]
}

/** Bytes behind an end that may be read with it: they save a round trip if the end lies in the window. */
function worth(tail: number, hit: number, perRound: number): number {
  return tail <= kWorth * hit * perRound ? tail : kHeading
}

interface Later extends Target {
  /** places for its first samples */
  readonly first: readonly number[]
  /** how likely the estimate is right */
  readonly sure: number
}

/**
 * The array of strings behind one of `count` strings whose end is still unknown: merges behind tokens, mostly as many.
 * sample: of the first array. begin: where it probably begins. other: its pieces.
 */
function laterTarget(
  count: number,
  sample: Point,
  begin: Estimate,
  other: Bracket,
  { walk, points, size }: Situation,
): Later {
  const { mean: at } = begin
  const words = sample.words!
  const guessed: Point = { ...sample, offset: at, words: { ...words, mean: words.mean + 1 } }
  const even = estimateEnd(
    { offset: at, at, remaining: count },
    other.inside.length > 0 ? other.inside : [guessed],
  )
  const scale = Math.hypot(even.scale, begin.scale)
  const low = Math.max(at - begin.scale, other.low)
  const high = Math.min(size, other.high)
  const first = kFirstMerges.map((part) => at + part * (even.mean - at)).filter((place) => place < size)
  const last = endBeforeInfos(points, low, walk, size)
  if (last && last.mean > low && last.mean < high) return { low, high, ...last, first, sure: kShown }
  if (even.mean + scale > low && even.mean - scale < high)
    return { low, high, mean: even.mean, scale, first, sure: kEven }
  const isBound = other.high < size
  const length = isBound ? high - low : kFurther * (low - at)
  return { low, high, mean: low + length / 2, scale: length / 5, first, sure: 1 }
}

function laterRanges(later: Later | undefined, { walk, size, perRound }: Situation, slots: number): Range[] {
  if (!later) return []
  const { window, hit, probes } = aim(later, perRound, 1 / later.sure, slots)
  if (window) {
    const end = window[1] + worth(tailBytes(walk), hit * later.sure, perRound)
    return [...probes.map((at) => piece(at, kProbe)), { offset: window[0], end }]
  }
  // An uncertain estimate is no reason to sample its surroundings only.
  const { low, high } = later
  const isBound = high < size && high - low < kWide * (later.mean - low)
  const wide = aim({ ...later, scale: Math.max(later.scale, isBound ? (high - low) / 6 : 0) }, 1, 1, slots)
  return wide.probes.map((at) => piece(at, kProbe))
}
