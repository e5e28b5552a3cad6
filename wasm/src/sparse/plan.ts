// Plans what to read next of a header: a window or samples for each unknown end of an array, all in the same round.
import { aim, type Aim, type Target } from './aim.js'
import { countdownBegin, endBeforeInfos, endFromBehind, infosBehind } from './clues.js'
import { estimateEnd, type Estimate, type Point } from './estimate.js'
import type { Known } from './known.js'
import { piecesBehind, piecesOf, type Bracket, type Range } from './pieces.js'
import {
  ahead,
  arrayBytes,
  following,
  followingStrings,
  isCounted,
  isSkipped,
  isUsual,
  kHeading,
  kTail,
  kTokens,
  tailBytes,
  tokensAhead,
  vocabularySize,
  type Following,
} from './usual.js'
import type { OpenArray, Stop, Walk } from './walk.js'

const kProbe = 4096
// The first samples are longer, so that they give a good estimate of the string length.
const kFirstProbe = 8192
// Bytes of keys and tensor infos to read after a window that a piece of them probably ends.
const kLittleTail = 1 << 15
// Limit of requests in a round: browsers open at most this many connections to a server over HTTP/1.1.
export const kRequests = 6
// Positions of the first samples, as fractions of the expected length.
const kFirst = { few: [0.4, 0.85, 1.15], many: [0.3, 0.6, 0.85, 1.02, 1.2, 1.6] }
const kFirstMerges = [0.5, 1.15, 2.2]
// If the first sample is this many round trips' bytes after the known part, a stream that begins there still ends in time.
const kFirstLeast = 1.25
// It is left out if it is within this fraction of the expected length before the second one.
const kApart = 0.2
const kFirstTokens = [0.3, 0.7, 1, 1.4]
// The probability that there are as many merges as tokens.
const kEven = 0.5
// The probability that the keys before the tensor infos are not larger than usual.
const kShown = 0.8
// The fraction of the estimated bytes of keys and tensor infos that certainly follow the last array.
const kNeeded = 0.8

// Limits as fractions of a round trip. kShifted: cost of also reading the ends of the arrays of fixed size that follow.
// kWorth: expected waste of also reading the keys and tensor infos after the last array. kKeys: distance from the last
// array to the tensor infos over which everything is read.
const kShifted = 0.25
const kWorth = 0.4
const kKeys = 0.6
// kFurther: if nothing shows the end of an array, the search continues over this fraction of its length. kWide: an
// interval is not sampled evenly if it is this many times as wide as the distance to its estimate.
const kFurther = 1.2
const kWide = 20
// If no piece bounds the end of an array, samples are this far behind the known part, as a fraction of the length: from
// kNext on, and up to kNext * kFarthest.
const kNext = 0.08
const kFarthest = 22
// One merge for each token makes this fraction of the bytes that the tokens and their spaces have: letters have no
// merge. kPairedScale: the error of that estimate, as a fraction of the length.
const kPaired = 0.975
const kPairedScale = 0.018
// The estimate of as many merges as tokens is dropped if the end is more than kReach errors away, or if its probability
// is below kMinProbability. Other numbers of merges are up to kSpread times as many, or as few.
const kReach = 2
const kMinProbability = 0.35
const kSpread = 5
// Bounds from later arrays are not used if the estimate is this many errors outside of them.
const kContradiction = 4
// Ranges up to this length are samples.
const kShort = 1 << 14

const kScoresKey = arrayBytes('scores', 0)

export interface Situation {
  readonly walk: Walk
  readonly points: readonly Point[]
  readonly known: Known
  /** size of the file */
  readonly size: number
  /** bytes that the link carries in one round trip: within bounds, and as measured */
  readonly perRound: number
  readonly perTrip: number
  /** ranges that were requested and have not arrived */
  readonly pending: readonly Range[]
  /** factor by which a byte costs more than its transfer time: above 1 if the preview may read more than it should */
  readonly price: number
}

export const isSample = ({ offset, end }: Range): boolean => end - offset <= kShort

/** Whether a part of [low, high) has been requested and has not arrived. */
const isPending = ({ pending }: Situation, low: number, high: number): boolean =>
  pending.some(({ offset, end }) => offset < high && end > low)

/** Whether what has not arrived will show more of an end in (low, high]. infos: tensor infos, which show nothing of it. */
function isAwaited(situation: Situation, low: number, high: number, infos?: Range): boolean {
  const isBehind = (range: Range): boolean => isSample(range) && range.offset >= low
  const isBefore = ({ offset }: Range): boolean => offset < (infos?.offset ?? Infinity)
  return (
    isPending(situation, low, high) || situation.pending.some((range) => isBehind(range) && isBefore(range))
  )
}

export interface Plan {
  readonly ranges: readonly Range[]
  /** a stream can start here: the bytes before are known, or belong to an array that ends after this offset */
  readonly resume: number
  /** lower estimate of the header's end, and the number of rounds that the search may need */
  readonly end: number
  readonly rounds: number
}

const piece = (offset: number, length: number): Range => ({ offset, end: offset + length })

/** Plans the reads if the walk has run out of known bytes. times: how often in a row that happened. */
export function planNeed(situation: Situation, { at, bytes }: Stop & { kind: 'need' }, times: number): Plan {
  const { walk, points, perRound } = situation
  const count = vocabularySize(walk)
  const { shifts, merges, tail } = following(walk, count)
  const isTail = ahead(walk).length === 0 || count === 0 || (times > 1 && walk.has('tokens'))
  // If the order is unusual, the missing arrays may be absent.
  const isOrder = isUsual(walk) && !isSkipped(walk)
  const most = isOrder && !isTail ? kHeading : worth(tailBytes(walk), isTail ? 1 : 0.5, perRound)
  const isAsked = isPending(situation, at, at + bytes)
  const ranges: Range[] = isAsked ? [] : [piece(at, bytes + most)]
  const last = shifts.at(-1) ?? 0
  if (!isTail && count > 0 && !isAwaited(situation, at + bytes, 0)) {
    // The next keys may be arrays with the same number of elements.
    const rest = isUsual(walk) ? worth(tail, 1, perRound) : kHeading
    for (const [i, shift] of shifts.entries())
      ranges.push(piece(at + shift - 32, i === shifts.length - 1 ? Math.max(kTail, rest) : kTail))
    const words = points.filter((point) => point.offset < at && point.words).at(-1)
    const tokens = tokensAhead(walk)
    const shown = tokens === 0 && !merges && neededBehind(at + last, situation)
    if (shown) ranges.push(shown)
    if (words && (merges || tokens > perRound)) {
      const begin = { mean: at + last, scale: 0 }
      const other = piecesBehind(words.words!.pairs, at, points)
      const strings = walk.longArrays.find((one) => one.strings === count)
      const mean = strings ? (strings.end - strings.offset) / count : words.words!.mean
      const later = laterTarget(count, paired(words, mean), begin, other, situation)
      const infos = neededBehind(later.high, situation)
      if (infos) ranges.push(infos)
      ranges.push(...laterRanges(later, situation, ranges.length, infos))
    } else if (tokens > perRound)
      for (const place of kFirstTokens) ranges.push(piece(at + place * tokens, kProbe))
  }
  return {
    ranges,
    resume: at,
    end: at + (isTail ? 0 : last) + tailBytes(walk),
    rounds: !isTail ? 3 : isAsked ? 2 : 1,
  }
}

/** Plans the reads for the end of an array of strings, the ends of the arrays after it, and the keys after those. */
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
  const other = piecesBehind(sample.words!.pairs, bracket.high, points)
  const behind = followingStrings(walk, numbers?.numbers, (other.inside[0]?.offset ?? Infinity) - low)
  const fixed = behind.shifts.at(-1) ?? 0
  const begin = { mean: Math.min(estimate.mean, high) + fixed, scale: estimate.scale }
  const later =
    other.inside.length > 0 || (array.key === kTokens ? behind.merges : !walk.has('tokens'))
      ? laterTarget(
          isCounted(walk) ? vocabularySize(walk) : array.count,
          paired(sample, (estimate.mean - array.offset) / array.count),
          begin,
          other,
          situation,
        )
      : undefined
  const end = Math.max(later?.low ?? 0, estimate.mean - estimate.scale + fixed) + tailBytes(walk)
  const facts = { resume: low, end, rounds: later ? 4 : 3 }
  // Numbers after the end belong to the arrays that follow.
  const isNear = numbers?.offset === bracket.high
  const target = {
    ...estimate,
    low: isNear ? Math.max(low, high - 2 * arrayBytes('token_type', array.count)) : low,
    high,
    needed: high === size ? undefined : later || isNear ? 0 : kNeeded * tailBytes(walk),
  }
  const infos = neededBehind(later?.high ?? high, situation)
  const slots = isAwaited(situation, low, high, infos) ? 0 : kRequests - situation.pending.length
  // The ends of the following arrays of fixed size have the same uncertainty.
  const own: Aim =
    slots > 0
      ? aim(
          clued(target, !later, behind, situation),
          perRound,
          situation.price,
          later ? Math.min(slots, 3) : slots,
        )
      : { window: undefined, probability: 0, probes: [] }
  // If all samples lie behind the array, the estimate was wrong, and the next ones are between the bounds.
  if (!own.window && inside.length === 1 && own.probes.length > 0 && high === size) {
    const length = estimate.mean - array.at
    return { ...facts, ranges: firstSamples(array.at, length, later, situation) }
  }
  const mostTail = later ? kHeading : endsHeader(target, own.window) ? kLittleTail : behind.tail
  const ranges = [
    ...own.probes.map((at) => piece(at, kProbe)),
    ...windows(own, { ...behind, tail: Math.min(behind.tail, mostTail) }, perRound),
    ...(infos ? [infos] : []),
  ]
  const all = [...ranges, ...laterRanges(later, situation, ranges.length, infos)]
  // The infos show better than the usual sizes where the header ends.
  return {
    ...facts,
    ranges: all.map((range) => ({ ...range, end: Math.min(range.end, infos?.end ?? size) })),
  }
}

/** The keys and tensor infos that a piece shows, from the first piece after the arrays on if that is near. */
function neededBehind(high: number, { walk, points, size, perRound }: Situation): Range | undefined {
  const infos = infosBehind(points, high, walk, size)
  const isNear = infos !== undefined && infos.offset - high <= kKeys * perRound
  return isNear && points.every((point) => point.offset !== high || !(point.numbers ?? point.words))
    ? { offset: high, end: infos.end }
    : infos
}

/** The first samples of an array of strings of about that length, and of the next one. */
function firstSamples(at: number, length: number, later: Later | undefined, { perTrip }: Situation): Range[] {
  const bytes = Math.min(kFirstProbe, Math.max(kProbe, Math.round(length / 300)))
  const first = later ? kFirst.few : kFirst.many
  const least = Math.min(kFirstLeast * perTrip, 2 * kFirst.few[0]! * length)
  const places = first.map((part) => at + Math.max(part * length, least))
  const apart = places.filter((place, i) => i > 0 || places[1]! - place > kApart * length)
  return [...apart, ...(later?.first ?? [])].map((place) => piece(place, bytes))
}

/** Improves the target with pieces after the end. isLast: whether no strings follow. */
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
  // If pieces contradict each other or the samples, one was classified wrongly, or the layout is another one.
  const reach = kContradiction * target.scale
  const isLikely = high > target.mean - reach && low < target.mean + reach
  if (low < high && isLikely) target = { ...target, low, high }
  else return target
  const begin = countdownBegin(points, low, known)
  if (begin && begin.high - kScoresKey > low && begin.low < high)
    return { ...target, low: Math.max(low, begin.low - kScoresKey), high: Math.min(high, begin.high) }
  const last = isLast && tail > kHeading ? endBeforeInfos(points, low, walk, size) : undefined
  const mean = (last?.mean ?? 0) - fixed
  return last && mean > low && mean < high ? { ...target, mean, scale: last.scale } : target
}

/** Whether a window probably contains the keys and tensor infos, too: the piece at its end is already behind them. */
function endsHeader({ high, needed }: Target, window: Aim['window']): boolean {
  return window?.[1] === high && needed !== undefined && needed > 0
}

/** The window for the end of an array, and windows for the ends that the layout expects after it. */
function windows({ window, probability }: Aim, following: Following, perRound: number): Range[] {
  const { shifts, merges, tail } = following
  if (!window) return []
  const [from, to] = window
  const isShifted = (to - from) * shifts.length <= kShifted * probability * perRound
  const behind = isShifted ? shifts : []
  const last = behind.at(-1)
  const rest = merges || (shifts.length > 0 && !isShifted) ? kHeading : worth(tail, probability, perRound)
  return [
    { offset: from, end: to + (last === undefined ? rest : kHeading) },
    ...behind.map((shift) => ({
      offset: from + shift,
      end: to + shift + (shift === last ? rest : kHeading),
    })),
  ]
}

/** The number of bytes to read after a window. They save a round trip if the end lies in the window. */
function worth(tail: number, probability: number, perRound: number): number {
  return tail * (1 - probability) <= kWorth * probability * perRound ? tail : kHeading
}

interface Later extends Target {
  /** offsets of its first samples */
  readonly first: readonly number[]
  /** whether no array of numbers follows */
  readonly isLast: boolean
  /** distance to the end of the array of numbers that follows */
  readonly shift: number | undefined
  /** the probability that the estimate is right */
  readonly probability: number
  /** offset of the array, and its estimated length */
  readonly at: number
  readonly length: number
}

/** Makes an expected sample of merges from a sample of words with that mean length, or of words from one of merges. */
const paired = (sample: Point, mean: number): Point => ({
  ...sample,
  words: { ...sample.words!, mean: mean + (sample.words!.pairs ? -1 : 1), pairs: !sample.words!.pairs },
})

/**
 * The target for the second array of strings while the end of the first is still unknown, e.g. merges after tokens. It
 * mostly has as many elements. count: of the first array. sample: an expected sample. begin: its estimated start.
 * other: its pieces.
 */
function laterTarget(
  count: number,
  sample: Point,
  begin: Estimate,
  other: Bracket,
  { walk, points, size }: Situation,
): Later {
  const at = Math.min(begin.mean, other.inside[0]?.offset ?? size)
  const inside = other.inside.length > 0 ? other.inside : [{ ...sample, offset: at }]
  const sampled = estimateEnd({ offset: at, at, remaining: count }, inside)
  const isPairs = sample.words!.pairs
  // The number of tokens may be known from the arrays of numbers. That of merges is not.
  const isExact = !isPairs && isCounted(walk)
  const length = count * sample.words!.mean * (isPairs ? kPaired : 1 / kPaired)
  const even =
    isExact && other.inside.length > 0
      ? { ...sampled, scale: Math.hypot(sampled.scale, begin.scale) }
      : evenEnd(sampled, length, { ...begin, mean: at })
  const { scale } = even
  const shift =
    other.isNumbers && isCounted(walk) ? arrayBytes('token_type', vocabularySize(walk)) : undefined
  const behind = shift === undefined ? undefined : endFromBehind(points, other.high, ['token_type'], [shift])
  const least = Math.max(at - begin.scale, other.low)
  const most = Math.min(size, other.high)
  const isAgreed = behind && behind.low < most && behind.high > least
  const low = isAgreed ? Math.max(least, behind.low) : least
  const high = isAgreed ? Math.min(most, behind.high) : most
  const first = kFirstMerges.map((part) => at + part * (even.mean - at)).filter((place) => place < size)
  const isLast = !other.isNumbers
  const isFound = other.inside.at(-1)?.words?.broken === true
  const needed = other.high >= size ? undefined : isLast && !isFound ? kNeeded * tailBytes(walk) : 0
  const facts = { low, high, needed, first, isLast, shift, at, length: Math.max(low, even.mean) - at }
  const last = isLast ? endBeforeInfos(points, low, walk, size) : undefined
  if (last && last.mean > low && last.mean < high) return { ...facts, ...last, probability: kShown }
  if (even.mean + kReach * scale > low && even.mean - kReach * scale < high) {
    const probability = isFound || isExact ? 1 : evenness(even, at, low, high)
    if (probability > kMinProbability) return { ...facts, mean: even.mean, scale, probability }
  }
  const width = needed === undefined ? kFurther * (low - at) : high - low
  return { ...facts, mean: low + width / 2, scale: width / 5, probability: 1 }
}

/** The end of an array with as many elements as the first one, from samples and from the strings of the first one. */
function evenEnd(sampled: Estimate, length: number, begin: Estimate): Estimate {
  const scale = Math.hypot(sampled.scale, begin.scale)
  // An error of the first array's end is counted twice: it shifts the second array, and makes it longer.
  const doubled = Math.hypot(2 * begin.scale, kPairedScale * length)
  const [weight, other] = [Math.max(1, scale) ** -2, doubled ** -2]
  return {
    mean: (sampled.mean * weight + (begin.mean + length) * other) / (weight + other),
    scale: (weight + other) ** -0.5,
  }
}

/** The probability of as many elements, if the end lies between these bounds. Other lengths are equally likely. */
function evenness({ mean, scale }: Estimate, at: number, low: number, high: number): number {
  const below = (place: number): number => 1 / (1 + Math.exp((mean - place) / scale))
  const even = kEven * (below(high) - below(low))
  const times = (place: number): number =>
    Math.log(Math.min(kSpread, Math.max(1 / kSpread, (place - at) / (mean - at))))
  const other = ((1 - kEven) * (times(high) - times(low))) / (2 * Math.log(kSpread))
  return even / (even + other)
}

/** The reads for the end of the second array of strings. used: number of requests for the first one. */
function laterRanges(later: Later | undefined, situation: Situation, used: number, infos?: Range): Range[] {
  const { walk, size, perRound, pending } = situation
  const slots = kRequests - pending.length - used
  if (!later || slots < 1 || isAwaited(situation, later.low, later.high, infos)) return []
  // Without an upper bound, one sample is far away, because there may be several merges for each token.
  const isOpen = later.high >= size && later.probability < 1 && slots > 2
  const aimed = aim(later, perRound, situation.price / later.probability, isOpen ? slots - 1 : slots)
  const { window, probes } = aimed
  if (window) {
    const useful = aimed.probability * later.probability
    const isEnd = endsHeader(later, window)
    const whole = tailBytes(walk)
    const rest = isEnd ? Math.min(whole, kLittleTail) : worth(whole, useful, perRound)
    const [from, to] = window
    const isShifted = later.shift !== undefined && to - from <= kWorth * useful * perRound
    const beyond = isOpen ? [later.at + later.length * Math.sqrt(kSpread)] : []
    return [
      ...[...probes, ...beyond].map((at) => piece(at, kProbe)),
      { offset: from, end: to + (later.isLast ? rest : kHeading) },
      ...(isShifted ? [{ offset: from + later.shift, end: to + later.shift + tailBytes(walk) }] : []),
    ]
  }
  const { low, high, probability, at, length } = later
  // Without an upper bound, some samples are much further away.
  const far = high < size ? 0 : probability < 1 ? slots >> 1 : slots
  const further = Array.from(
    { length: far },
    (_, i) => at + length * (1 + kNext * kFarthest ** ((i + 0.5) / far)),
  )
  const isBound = probability === 1 && high < size && high - low < kWide * (later.mean - low)
  const scale = Math.max(later.scale, isBound ? (high - low) / 6 : 0)
  const target = { ...later, scale, doubt: far === 0 && probability < 1 ? 1 - probability : undefined }
  const near = far < slots ? aim(target, 1, 1, slots - far).probes : []
  return [...near, ...further].map((place) => piece(place, kProbe))
}
