// Plans what to read next of a header: a window or samples for each unknown end of an array, all in the same round.
import { chooseReads, type ReadChoice, type BoundedEnd } from './read-choice.js'
import {
  boundsOfRankedScores,
  endFromTensorInfos,
  boundsFromLaterArrays,
  tensorInfosRange,
} from './end-bounds.js'
import { estimateEnd, type EndEstimate, type HeaderSample } from './end-estimate.js'
import type { KnownBytes } from './known-bytes.js'
import { samplesAfter, samplesInside, type SampleBounds, type ByteRange } from './header-samples.js'
import {
  arraysAhead,
  arrayBytes,
  followingArrays,
  arraysAfterStrings,
  isTokenCountKnown,
  isSkippingArrays,
  isUsualOrder,
  kTokens,
  tailBytes,
  tokensAhead,
  vocabularySize,
  type FollowingArrays,
} from './usual-order.js'
import type { OpenArray, Stop, Walk } from './walk.js'
import {
  kContradictionErrors,
  kEqualCountProbability,
  kExtendedFraction,
  kFirstMergeSamples,
  kFirstSampleBytes,
  kFirstSampleRoundTrips,
  kFirstSamples,
  kFirstTokenSamples,
  kHeadingBytes,
  kMaxCountRatio,
  kMaxEqualCountErrors,
  kMaxGapToInfosRoundTrips,
  kMaxRequests,
  kMaxSampleRange,
  kMaxShiftedRoundTrips,
  kMaxTailWasteRoundTrips,
  kMaxWidthRatio,
  kMergeByteError,
  kMergeByteRatio,
  kMinEqualCountProbability,
  kMinSampleDistance,
  kNearestOpenSample,
  kNeededTailFraction,
  kOpenSampleRange,
  kSampleBytes,
  kShortTailBytes,
  kTailKeysBytes,
  kUsualKeysProbability,
} from './tuning.js'

const kScoresKey = arrayBytes('scores', 0)

export interface SearchState {
  readonly walk: Walk
  readonly samples: readonly HeaderSample[]
  readonly known: KnownBytes
  /** size of the file */
  readonly size: number
  /** bytes that the link carries in one round trip: within bounds, and as measured */
  readonly perRound: number
  readonly perTrip: number
  /** ranges that were requested and have not arrived */
  readonly pending: readonly ByteRange[]
  /** factor by which a byte costs more than its transfer time: above 1 if the preview may read more than it should */
  readonly price: number
}

export const isSample = ({ offset, end }: ByteRange): boolean => end - offset <= kMaxSampleRange

/** Whether a part of [low, high) has been requested and has not arrived. */
const isPending = ({ pending }: SearchState, low: number, high: number): boolean =>
  pending.some(({ offset, end }) => offset < high && end > low)

/** Whether what has not arrived will show more of an end in (low, high]. infos: tensor infos, which show nothing of it. */
function isAwaited(state: SearchState, low: number, high: number, infos?: ByteRange): boolean {
  const isBehind = (range: ByteRange): boolean => isSample(range) && range.offset >= low
  const isBefore = ({ offset }: ByteRange): boolean => offset < (infos?.offset ?? Infinity)
  return isPending(state, low, high) || state.pending.some((range) => isBehind(range) && isBefore(range))
}

export interface ReadPlan {
  readonly ranges: readonly ByteRange[]
  /** a stream can start here: the bytes before are known, or belong to an array that ends after this offset */
  readonly resume: number
  /** lower estimate of the header's end, and the number of rounds that the search may need */
  readonly end: number
  readonly rounds: number
}

const rangeAt = (offset: number, length: number): ByteRange => ({ offset, end: offset + length })

/** Plans the reads if the walk has run out of known bytes. times: how often in a row that happened. */
export function planMissingBytes(
  state: SearchState,
  { at, bytes }: Stop & { kind: 'need' },
  times: number,
): ReadPlan {
  const { walk, samples, perRound } = state
  const count = vocabularySize(walk)
  const { shifts, merges, tail } = followingArrays(walk, count)
  const isTail = arraysAhead(walk).length === 0 || count === 0 || (times > 1 && walk.has('tokens'))
  // If the order is unusual, the missing arrays may be absent.
  const isOrder = isUsualOrder(walk) && !isSkippingArrays(walk)
  const max =
    isOrder && !isTail ? kHeadingBytes : tailWorthReading(tailBytes(walk), isTail ? 1 : 0.5, perRound)
  const isAsked = isPending(state, at, at + bytes)
  const ranges: ByteRange[] = isAsked ? [] : [rangeAt(at, bytes + max)]
  const last = shifts.at(-1) ?? 0
  if (!isTail && count > 0 && !isAwaited(state, at + bytes, 0)) {
    // The next keys may be arrays with the same number of elements.
    const rest = isUsualOrder(walk) ? tailWorthReading(tail, 1, perRound) : kHeadingBytes
    for (const [i, shift] of shifts.entries())
      ranges.push(
        rangeAt(at + shift - 32, i === shifts.length - 1 ? Math.max(kTailKeysBytes, rest) : kTailKeysBytes),
      )
    const words = samples.filter((sample) => sample.offset < at && sample.chain).at(-1)
    const tokens = tokensAhead(walk)
    const shown = tokens === 0 && !merges && tailRange(at + last, state)
    if (shown) ranges.push(shown)
    if (words && (merges || tokens > perRound)) {
      const begin = { mean: at + last, scale: 0 }
      const other = samplesAfter(words.chain!.arePairs, at, samples)
      const strings = walk.longArrays.find((one) => one.strings === count)
      const mean = strings ? (strings.end - strings.offset) / count : words.chain!.mean
      const later = estimateSecondArray(count, pairedSample(words, mean), begin, other, state)
      const infos = tailRange(later.high, state)
      if (infos) ranges.push(infos)
      ranges.push(...planSecondArray(later, state, ranges.length, infos))
    } else if (tokens > perRound)
      for (const place of kFirstTokenSamples) ranges.push(rangeAt(at + place * tokens, kSampleBytes))
  }
  return {
    ranges,
    resume: at,
    end: at + (isTail ? 0 : last) + tailBytes(walk),
    rounds: !isTail ? 3 : isAsked ? 2 : 1,
  }
}

/** Plans the reads for the end of an array of strings, the ends of the arrays after it, and the keys after those. */
export function planArrayEnd(state: SearchState, array: OpenArray): ReadPlan {
  const { walk, samples, known, size, perRound } = state
  const bracket = samplesInside(walk, array, samples, known)
  const { inside, low } = bracket
  const high = Math.min(bracket.high, size)
  const sample = inside.at(-1)
  if (!sample)
    return {
      ranges: [rangeAt(array.at, 2 * kSampleBytes)],
      resume: low,
      end: low + tailBytes(walk),
      rounds: 3,
    }
  const estimate = estimateEnd(array, inside)
  const numbers = samples.find((sample) => sample.offset >= low && sample.numbers)
  const other = samplesAfter(sample.chain!.arePairs, bracket.high, samples)
  const behind = arraysAfterStrings(walk, numbers?.numbers, (other.inside[0]?.offset ?? Infinity) - low)
  const fixed = behind.shifts.at(-1) ?? 0
  const begin = { mean: Math.min(estimate.mean, high) + fixed, scale: estimate.scale }
  const isFollowed = other.inside.length > 0 || (array.key === kTokens ? behind.merges : !walk.has('tokens'))
  const count = isTokenCountKnown(walk) ? vocabularySize(walk) : array.count
  const paired = pairedSample(sample, (estimate.mean - array.offset) / array.count)
  const later = isFollowed ? estimateSecondArray(count, paired, begin, other, state) : undefined
  const end = Math.max(later?.low ?? 0, estimate.mean - estimate.scale + fixed) + tailBytes(walk)
  const facts = { resume: low, end, rounds: later ? 4 : 3 }
  // Numbers after the end belong to the arrays that follow.
  const isNear = numbers?.offset === bracket.high
  const target = {
    ...estimate,
    low: isNear ? Math.max(low, high - 2 * arrayBytes('token_type', array.count)) : low,
    high,
    needed: high === size ? undefined : later || isNear ? 0 : kNeededTailFraction * tailBytes(walk),
  }
  const infos = tailRange(later?.high ?? high, state)
  const slots = isAwaited(state, low, high, infos) ? 0 : kMaxRequests - state.pending.length
  // The ends of the following arrays of fixed size have the same uncertainty.
  const own: ReadChoice =
    slots > 0
      ? chooseReads(
          tightenBounds(target, !later, behind, state),
          perRound,
          state.price,
          later ? Math.min(slots, 3) : slots,
        )
      : { window: undefined, probability: 0, samples: [] }
  // If all samples lie behind the array, the estimate was wrong, and the next ones are between the bounds.
  if (!own.window && inside.length === 1 && own.samples.length > 0 && high === size) {
    const length = estimate.mean - array.at
    return { ...facts, ranges: firstSamples(array.at, length, later, state) }
  }
  const maxTail = later ? kHeadingBytes : includesTail(target, own.window) ? kShortTailBytes : behind.tail
  const ranges = [
    ...own.samples.map((at) => rangeAt(at, kSampleBytes)),
    ...windowRanges(own, { ...behind, tail: Math.min(behind.tail, maxTail) }, perRound),
    ...(infos ? [infos] : []),
  ]
  const all = [...ranges, ...planSecondArray(later, state, ranges.length, infos)]
  // The infos show better than the usual sizes where the header ends.
  return {
    ...facts,
    ranges: all.map((range) => ({ ...range, end: Math.min(range.end, infos?.end ?? size) })),
  }
}

/** The keys and tensor infos that a sample shows, from the first sample after the arrays on if that is near. */
function tailRange(high: number, { walk, samples, size, perRound }: SearchState): ByteRange | undefined {
  const infos = tensorInfosRange(samples, high, walk, size)
  const isNear = infos !== undefined && infos.offset - high <= kMaxGapToInfosRoundTrips * perRound
  return isNear && samples.every((sample) => sample.offset !== high || !(sample.numbers ?? sample.chain))
    ? { offset: high, end: infos.end }
    : infos
}

/** The first samples of an array of strings of about that length, and of the next one. */
function firstSamples(
  at: number,
  length: number,
  later: SecondArray | undefined,
  { perTrip }: SearchState,
): ByteRange[] {
  const bytes = Math.min(kFirstSampleBytes, Math.max(kSampleBytes, Math.round(length / 300)))
  const first = later ? kFirstSamples.beforeOthers : kFirstSamples.alone
  const min = Math.min(kFirstSampleRoundTrips * perTrip, 2 * kFirstSamples.beforeOthers[0]! * length)
  const places = first.map((part) => at + Math.max(part * length, min))
  const apart = places.filter((place, i) => i > 0 || places[1]! - place > kMinSampleDistance * length)
  return [...apart, ...(later?.first ?? [])].map((place) => rangeAt(place, bytes))
}

/** Improves the target with samples after the end. isLast: whether no strings follow. */
function tightenBounds(
  target: BoundedEnd,
  isLast: boolean,
  { shifts, tail }: FollowingArrays,
  { walk, samples, known, size }: SearchState,
): BoundedEnd {
  const fixed = shifts.at(-1) ?? 0
  const bounds = boundsFromLaterArrays(samples, target.high, arraysAhead(walk), shifts)
  const low = Math.max(target.low, bounds.low)
  const high = Math.min(target.high, bounds.high)
  // If samples contradict each other or the samples, one was classified wrongly, or the layout is another one.
  const reach = kContradictionErrors * target.scale
  const isLikely = high > target.mean - reach && low < target.mean + reach
  if (low < high && isLikely) target = { ...target, low, high }
  else return target
  const begin = boundsOfRankedScores(samples, low, known)
  if (begin && begin.high - kScoresKey > low && begin.low < high)
    return { ...target, low: Math.max(low, begin.low - kScoresKey), high: Math.min(high, begin.high) }
  const last = isLast && tail > kHeadingBytes ? endFromTensorInfos(samples, low, walk, size) : undefined
  const mean = (last?.mean ?? 0) - fixed
  return last && mean > low && mean < high ? { ...target, mean, scale: last.scale } : target
}

/** Whether a window probably contains the keys and tensor infos, too: the sample at its end is already behind them. */
function includesTail({ high, needed }: BoundedEnd, window: ReadChoice['window']): boolean {
  return window?.[1] === high && needed !== undefined && needed > 0
}

/** The window for the end of an array, and windows for the ends that the layout expects after it. */
function windowRanges(
  { window, probability }: ReadChoice,
  following: FollowingArrays,
  perRound: number,
): ByteRange[] {
  const { shifts, merges, tail } = following
  if (!window) return []
  const [from, to] = window
  const isShifted = (to - from) * shifts.length <= kMaxShiftedRoundTrips * probability * perRound
  const behind = isShifted ? shifts : []
  const last = behind.at(-1)
  const rest =
    merges || (shifts.length > 0 && !isShifted)
      ? kHeadingBytes
      : tailWorthReading(tail, probability, perRound)
  return [
    { offset: from, end: to + (last === undefined ? rest : kHeadingBytes) },
    ...behind.map((shift) => ({
      offset: from + shift,
      end: to + shift + (shift === last ? rest : kHeadingBytes),
    })),
  ]
}

/** The number of bytes to read after a window. They save a round trip if the end lies in the window. */
function tailWorthReading(tail: number, probability: number, perRound: number): number {
  return tail * (1 - probability) <= kMaxTailWasteRoundTrips * probability * perRound ? tail : kHeadingBytes
}

interface SecondArray extends BoundedEnd {
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
const pairedSample = (sample: HeaderSample, mean: number): HeaderSample => ({
  ...sample,
  chain: {
    ...sample.chain!,
    mean: mean + (sample.chain!.arePairs ? -1 : 1),
    arePairs: !sample.chain!.arePairs,
  },
})

/**
 * The target for the second array of strings while the end of the first is still unknown, e.g. merges after tokens. It
 * mostly has as many elements. count: of the first array. sample: an expected sample. begin: its estimated start.
 * other: its samples.
 */
function estimateSecondArray(
  count: number,
  sample: HeaderSample,
  begin: EndEstimate,
  other: SampleBounds,
  { walk, samples, size }: SearchState,
): SecondArray {
  const at = Math.min(begin.mean, other.inside[0]?.offset ?? size)
  const inside = other.inside.length > 0 ? other.inside : [{ ...sample, offset: at }]
  const sampled = estimateEnd({ offset: at, at, remaining: count }, inside)
  const isPairs = sample.chain!.arePairs
  // The number of tokens may be known from the arrays of numbers. That of merges is not.
  const isExact = !isPairs && isTokenCountKnown(walk)
  const length = count * sample.chain!.mean * (isPairs ? kMergeByteRatio : 1 / kMergeByteRatio)
  const even =
    isExact && other.inside.length > 0
      ? { ...sampled, scale: Math.hypot(sampled.scale, begin.scale) }
      : combineEstimates(sampled, length, { ...begin, mean: at })
  const { scale } = even
  const shift =
    other.isNumbers && isTokenCountKnown(walk) ? arrayBytes('token_type', vocabularySize(walk)) : undefined
  const behind =
    shift === undefined ? undefined : boundsFromLaterArrays(samples, other.high, ['token_type'], [shift])
  const min = Math.max(at - begin.scale, other.low)
  const max = Math.min(size, other.high)
  const isAgreed = behind && behind.low < max && behind.high > min
  const low = isAgreed ? Math.max(min, behind.low) : min
  const high = isAgreed ? Math.min(max, behind.high) : max
  const first = kFirstMergeSamples.map((part) => at + part * (even.mean - at)).filter((place) => place < size)
  const isLast = !other.isNumbers
  const isFound = other.inside.at(-1)?.chain?.isEnded === true
  const needed =
    other.high >= size ? undefined : isLast && !isFound ? kNeededTailFraction * tailBytes(walk) : 0
  const facts = { low, high, needed, first, isLast, shift, at, length: Math.max(low, even.mean) - at }
  const last = isLast ? endFromTensorInfos(samples, low, walk, size) : undefined
  if (last && last.mean > low && last.mean < high)
    return { ...facts, ...last, probability: kUsualKeysProbability }
  if (even.mean + kMaxEqualCountErrors * scale > low && even.mean - kMaxEqualCountErrors * scale < high) {
    const probability = isFound || isExact ? 1 : equalCountProbability(even, at, low, high)
    if (probability > kMinEqualCountProbability) return { ...facts, mean: even.mean, scale, probability }
  }
  const width = needed === undefined ? kExtendedFraction * (low - at) : high - low
  return { ...facts, mean: low + width / 2, scale: width / 5, probability: 1 }
}

/** The end of an array with as many elements as the first one, from samples and from the strings of the first one. */
function combineEstimates(sampled: EndEstimate, length: number, begin: EndEstimate): EndEstimate {
  const scale = Math.hypot(sampled.scale, begin.scale)
  // An error of the first array's end is counted twice: it shifts the second array, and makes it longer.
  const doubled = Math.hypot(2 * begin.scale, kMergeByteError * length)
  const [weight, other] = [Math.max(1, scale) ** -2, doubled ** -2]
  return {
    mean: (sampled.mean * weight + (begin.mean + length) * other) / (weight + other),
    scale: (weight + other) ** -0.5,
  }
}

/** The probability of as many elements, if the end lies between these bounds. Other lengths are equally likely. */
function equalCountProbability({ mean, scale }: EndEstimate, at: number, low: number, high: number): number {
  const below = (place: number): number => 1 / (1 + Math.exp((mean - place) / scale))
  const even = kEqualCountProbability * (below(high) - below(low))
  const times = (place: number): number =>
    Math.log(Math.min(kMaxCountRatio, Math.max(1 / kMaxCountRatio, (place - at) / (mean - at))))
  const other = ((1 - kEqualCountProbability) * (times(high) - times(low))) / (2 * Math.log(kMaxCountRatio))
  return even / (even + other)
}

/** The reads for the end of the second array of strings. used: number of requests for the first one. */
function planSecondArray(
  later: SecondArray | undefined,
  state: SearchState,
  used: number,
  infos?: ByteRange,
): ByteRange[] {
  const { walk, size, perRound, pending } = state
  const slots = kMaxRequests - pending.length - used
  if (!later || slots < 1 || isAwaited(state, later.low, later.high, infos)) return []
  // Without an upper bound, one sample is far away, because there may be several merges for each token.
  const isOpen = later.high >= size && later.probability < 1 && slots > 2
  const aimed = chooseReads(later, perRound, state.price / later.probability, isOpen ? slots - 1 : slots)
  const { window, samples: probes } = aimed
  if (window) {
    const useful = aimed.probability * later.probability
    const isEnd = includesTail(later, window)
    const whole = tailBytes(walk)
    const rest = isEnd ? Math.min(whole, kShortTailBytes) : tailWorthReading(whole, useful, perRound)
    const [from, to] = window
    const isShifted = later.shift !== undefined && to - from <= kMaxTailWasteRoundTrips * useful * perRound
    const beyond = isOpen ? [later.at + later.length * Math.sqrt(kMaxCountRatio)] : []
    return [
      ...[...probes, ...beyond].map((at) => rangeAt(at, kSampleBytes)),
      { offset: from, end: to + (later.isLast ? rest : kHeadingBytes) },
      ...(isShifted ? [{ offset: from + later.shift, end: to + later.shift + tailBytes(walk) }] : []),
    ]
  }
  const { low, high, probability, at, length } = later
  // Without an upper bound, some samples are much further away.
  const far = high < size ? 0 : probability < 1 ? slots >> 1 : slots
  const further = Array.from(
    { length: far },
    (_, i) => at + length * (1 + kNearestOpenSample * kOpenSampleRange ** ((i + 0.5) / far)),
  )
  const isBound = probability === 1 && high < size && high - low < kMaxWidthRatio * (later.mean - low)
  const scale = Math.max(later.scale, isBound ? (high - low) / 6 : 0)
  const target = { ...later, scale, doubt: far === 0 && probability < 1 ? 1 - probability : undefined }
  const near = far < slots ? chooseReads(target, 1, 1, slots - far).samples : []
  return [...near, ...further].map((place) => rangeAt(place, kSampleBytes))
}
