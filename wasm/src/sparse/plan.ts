// What to read next of a header: for each end that is still unknown a window or samples, all in the same round.
import { aim, type Aim, type Target } from './aim.js'
import { countdownBegin, endBeforeInfos, endFromBehind, infosBehind } from './clues.js'
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
// A stream that begins at the first sample ends in time if this lies so many round trips' bytes behind the start.
const kFirstLeast = 1.35
const kFirstTokens = [0.3, 0.7, 1, 1.4]
// Probability that there are as many merges as tokens.
const kEven = 0.5
// Probability that the keys before the tensor infos are not larger than usual.
const kShown = 0.8
// Share of the keys and tensors behind the last array that surely lie between it and the data.
const kNeeded = 0.8

// Arrays of fixed size behind an end are read with it if that costs less than this share of a round trip, and the keys
// and tensors behind the last one if as much may be in vain.
const kShifted = 0.25
const kWorth = 0.4
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

/** Whether the arrays before the merges, the last in the usual order, are absent or come behind them. */
function isSkipped(walk: Walk): boolean {
  return walk.names.has('tokenizer.ggml.merges') && walk.names.has(kTokens)
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
  // In another order than the usual one, the arrays that are missing may be absent.
  const isOrder = isUsual(walk) && !isSkipped(walk)
  const most = isOrder && !isTail ? kHeading : worth(tailBytes(walk), isTail ? 1 : 0.5, perRound)
  const ranges: Range[] = [piece(at, bytes + most)]
  const last = shifts.at(-1) ?? 0
  if (!isTail && count > 0) {
    // Perhaps the next key is an array of as many elements, and so is the one behind it.
    const rest = isUsual(walk) ? worth(tail, 1, perRound) : kHeading
    for (const [i, shift] of shifts.entries())
      ranges.push(piece(at + shift - 32, i === shifts.length - 1 ? Math.max(kTail, rest) : kTail))
    const tokens = tokensAhead(walk)
    if (tokens > perRound) for (const place of kFirstTokens) ranges.push(piece(at + place * tokens, kProbe))
    const words = points.filter((point) => point.offset < at && point.words).at(-1)
    if (merges && words) {
      const begin = { mean: at + last, scale: 0 }
      const other = piecesBehind(words.words!.pairs, at, points)
      const strings = walk.longArrays.find((one) => one.strings === count)
      const mean = strings ? (strings.end - strings.offset) / count : words.words!.mean
      const later = laterTarget(count, paired(words, mean), begin, other, situation)
      ranges.push(...laterRanges(later, situation, kRequests - ranges.length))
    }
  }
  return { ranges, resume: at, end: at + (isTail ? 0 : last) + tailBytes(walk), rounds: isTail ? 1 : 3 }
}

/** The keys behind an array of strings. isShown: a piece shows numbers behind it. */
function followingStrings(walk: Walk, array: OpenArray, isShown: boolean): Following {
  const isAbsent = !isShown && isSkipped(walk)
  if (ahead(walk).length === 0 || (isUsual(walk) && !isAbsent))
    return following(walk, array.key === kTokens ? array.count : vocabularySize(walk) || array.count)
  return { shifts: [], merges: false, tail: isAbsent ? tailBytes(walk) : kHeading }
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
  const numbers = points.find((point) => point.offset >= low && point.numbers)
  const behind = followingStrings(walk, array, numbers !== undefined)
  const fixed = behind.shifts.at(-1) ?? 0
  const other = piecesBehind(sample.words!.pairs, bracket.high, points)
  const begin = { mean: Math.min(estimate.mean, high) + fixed, scale: estimate.scale }
  const mean = (estimate.mean - array.offset) / array.count
  const later =
    other.inside.length > 0 || (behind.merges && array.key === kTokens)
      ? laterTarget(array.count, paired(sample, mean), begin, other, situation)
      : undefined
  const end = Math.max(later?.low ?? 0, estimate.mean - estimate.scale + fixed) + tailBytes(walk)
  const facts = { resume: low, end, rounds: later ? 4 : 3 }
  // Numbers behind the end are those of the arrays that follow.
  const isNear = numbers?.offset === bracket.high
  const target = {
    ...estimate,
    low: isNear ? Math.max(low, high - 2 * arrayBytes('token_type', array.count)) : low,
    high,
    needed: high === size ? undefined : later || isNear ? 0 : kNeeded * tailBytes(walk),
  }
  // Keys of fixed arrays behind the end are read with the same uncertainty.
  const own = aim(clued(target, !later, behind, situation), perRound, 1, later ? 3 : kRequests)
  if (!own.window && inside.length === 1) {
    const length = estimate.mean - array.at
    return {
      ...facts,
      ranges: firstSamples(array.at, length, later, situation).filter(({ offset }) => offset < high),
    }
  }
  const infos = infosBehind(points, high, walk, size)
  const ranges = [
    ...own.probes.map((at) => piece(at, kProbe)),
    ...windows(own, behind, perRound),
    ...(infos ? [infos] : []),
  ]
  const slots = Math.max(2, kRequests - ranges.length)
  return { ...facts, ranges: [...ranges, ...laterRanges(later, situation, slots)] }
}

/** Samples of an array of strings of about that length, and of the one behind it. */
function firstSamples(
  at: number,
  length: number,
  later: Later | undefined,
  { perRound }: Situation,
): Range[] {
  const bytes = Math.min(kFirstProbe, Math.max(kProbe, Math.round(length / 300)))
  const first = later ? kFirst.few : kFirst.many
  const least = Math.min(kFirstLeast * perRound - at, 2 * kFirst.few[0]! * length)
  const places = first.map((part) => at + Math.max(part * length, least))
  return [...places, ...(later?.first ?? [])].map((place) => piece(place, bytes))
}

/** What pieces behind say of an end. isLast: no strings follow. */
function clued(
  target: Target,
  isLast: boolean,
  { shifts, tail }: Following,
  { walk, points, known, size }: Situation,
): Target {
  const fixed = shifts.at(-1) ?? 0
  const bounds = endFromBehind(points, target.high, ahead(walk), shifts)
  const low = Math.max(target.low, bounds.low)
  const high = Math.min(target.high, bounds.high)
  // If pieces contradict each other, one is not what it seems.
  if (low < high) target = { ...target, low, high }
  else return target
  const begin = countdownBegin(points, low, known)
  if (begin && begin.high - kScoresKey > low && begin.low < high)
    return { ...target, low: Math.max(low, begin.low - kScoresKey), high: Math.min(high, begin.high) }
  const last = isLast && tail > kHeading ? endBeforeInfos(points, low, walk, size) : undefined
  const mean = (last?.mean ?? 0) - fixed
  return last && mean > low && mean < high ? { ...target, mean, scale: last.scale } : target
}

/** The window in which an array ends, and those that the layout expects behind it. */
function windows({ window, hit }: Aim, { shifts, merges, tail }: Following, perRound: number): Range[] {
  if (!window) return []
  const [from, to] = window
  const isShifted = (to - from) * shifts.length <= kShifted * hit * perRound
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
  return tail * (1 - hit) <= kWorth * hit * perRound ? tail : kHeading
}

interface Later extends Target {
  /** places for its first samples */
  readonly first: readonly number[]
  /** no array of numbers follows */
  readonly isLast: boolean
  /** how likely the estimate is right */
  readonly sure: number
}

/** A sample of merges of words of that mean length. */
const paired = (sample: Point, mean: number): Point => ({
  ...sample,
  words: { ...sample.words!, mean: mean + 1 },
})

/**
 * The array of strings behind one of `count` strings whose end is still unknown: merges behind tokens, mostly as many.
 * sample: what is expected of it. begin: where it probably begins. other: its pieces.
 */
function laterTarget(
  count: number,
  sample: Point,
  begin: Estimate,
  other: Bracket,
  { walk, points, size }: Situation,
): Later {
  const { mean: at } = begin
  const inside = other.inside.length > 0 ? other.inside : [{ ...sample, offset: at }]
  const even = estimateEnd({ offset: at, at, remaining: count }, inside)
  const scale = Math.hypot(even.scale, begin.scale)
  const low = Math.max(at - begin.scale, other.low)
  const high = Math.min(size, other.high)
  const first = kFirstMerges.map((part) => at + part * (even.mean - at)).filter((place) => place < size)
  const isLast = !other.isNumbers
  const needed = other.high >= size ? undefined : isLast ? kNeeded * tailBytes(walk) : 0
  const facts = { low, high, needed, first, isLast }
  const last = isLast ? endBeforeInfos(points, low, walk, size) : undefined
  if (last && last.mean > low && last.mean < high) return { ...facts, ...last, sure: kShown }
  const isFound = other.inside.at(-1)?.words?.broken
  if (even.mean + scale > low && even.mean - scale < high)
    return { ...facts, mean: even.mean, scale, sure: isFound ? 1 : kEven }
  const length = needed === undefined ? kFurther * (low - at) : high - low
  return { ...facts, mean: low + length / 2, scale: length / 5, sure: 1 }
}

function laterRanges(later: Later | undefined, { walk, size, perRound }: Situation, slots: number): Range[] {
  if (!later) return []
  const { window, hit, probes } = aim(later, perRound, 1 / later.sure, slots)
  if (window) {
    const tail = later.isLast ? worth(tailBytes(walk), hit * later.sure, perRound) : kHeading
    return [...probes.map((at) => piece(at, kProbe)), { offset: window[0], end: window[1] + tail }]
  }
  // An uncertain estimate is no reason to sample its surroundings only.
  const { low, high } = later
  const isBound = high < size && high - low < kWide * (later.mean - low)
  const wide = aim({ ...later, scale: Math.max(later.scale, isBound ? (high - low) / 6 : 0) }, 1, 1, slots)
  return wide.probes.map((at) => piece(at, kProbe))
}
