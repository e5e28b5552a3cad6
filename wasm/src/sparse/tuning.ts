// Every constant of the sparse preview that was chosen, not given by the format, in groups. After each: what set it.
// U50, U20, U200: node tests/bench/unseen.ts with the link 50/6.25, 20/50, 200/1 (round trip in ms / MB/s), on the seeds of
// the tuning that web/docs/performance/preview.md lists. P: node tests/bench/preview.ts. V: measured in the vocabularies of real
// files. README.md has the formula in which they stand. A change is judged by those benchmarks, on all links.

// COST MODEL. What a read costs and what it saves. Times are in round trips, and bytes in bytes that the link carries
// in one round trip (perRound).

/** A byte of a window counts this many times its transfer time, so that previews stay small. [U50] */
export const kByteWeight = 1.4
/**
 * A preview should not read more bytes. With less than kAmpleBytes of them left, a byte costs more, up to kMaxByteCost
 * times as much: narrower windows take more rounds. [U50: 19 of 320 headers of 4 MB and more read more, not 60]
 */
export const kByteBudget = 500_000
/** See kByteBudget. [U50] */
export const kAmpleBytes = 400_000
/** See kByteBudget. [U50] */
export const kMaxByteCost = 4
/** After this many rounds time counts more than bytes. [U50] */
export const kThriftyRounds = 4
/**
 * Also in a header of less than this many round trips' bytes. [U200: two of 1,000 headers were 20 and 32 ms late
 * without it]
 */
export const kThriftyHeaderRoundTrips = 8
/**
 * An interval that costs less is read completely, unless a window of less than kNarrowFraction of it contains the end
 * with at least kSureWindowProbability. [U50]
 */
export const kWholeIntervalRoundTrips = 0.55
/** See kWholeIntervalRoundTrips. [U50] */
export const kNarrowFraction = 0.5
/** See kWholeIntervalRoundTrips. [U50] */
export const kSureWindowProbability = 0.75
/** No window costs more. [U50] */
export const kMaxWindowRoundTrips = 0.7
/** A window is read only if it contains the end with at least this probability. [U50] */
export const kMinWindowProbability = 0.3
/** Cost of also reading the ends of the arrays of fixed size that follow a window. [U50] */
export const kMaxShiftedRoundTrips = 0.25
/** Expected waste of also reading the keys and tensor infos after the last array. [U50] */
export const kMaxTailWasteRoundTrips = 0.4
/**
 * Distance from the last array to the tensor infos over which everything is read. [U50: the 99th percentile of 4 MB
 * and more fell from 462 to 418 ms]
 */
export const kMaxGapToInfosRoundTrips = 0.6
/** The usual cost of a search: round trips after the first bytes, bytes, and time for the requests. [U50] */
export const kSearchCost = { rounds: 3.5, bytes: 300_000, overheadMs: 30 }
/** The same for a known vocabulary. [P] */
export const kKnownVocabularyCost = { rounds: 1, bytes: 110_000, overheadMs: 30 }
/**
 * A search starts if the stream is expected to take at least this many times as long. The first estimate may be much
 * too low. [U20: 106 ms instead of 119 on average]
 */
export const kMinSpeedup = 0.65
/** Up to this speedup the estimate may be too high, so the first stream goes on beside the first samples. [U50, U20] */
export const kSureSpeedup = 1.5
/**
 * Above kSureSpeedup, the first stream ends if more than this many round trips' bytes are left of the open array.
 * [U50, U200]
 */
export const kMinRoundTripsToSample = 1.05

// TIME LIMITS OF THE STREAM. A stream beside the search keeps the promise that no preview ends more than a round trip
// after the whole header would have arrived. In round trips.

/** Additional round trips that a search may take beyond its plan. [U50, U20, U200] */
export const kReserveRoundTrips = 1.5
/** The delay of a stream by samples that are read in parallel. [U50, U20, U200] */
export const kSampleDelayRoundTrips = 0.3
/** Safety margin for reads during a stream. [U20: 7 of 1,000 headers were late without it] */
export const kStreamMarginRoundTrips = 0.25
/** Duration of one round including its bytes. [U50] */
export const kRoundDuration = 1.2
/** A stream that is this far behind the known position is restarted there. [U50] */
export const kRestartRoundTrips = 1.3
/** A stream may pass the estimated end of the header by this factor; further on, a sample was classified wrongly. [U50] */
export const kMaxEndOvershoot = 4
/**
 * If the first sample is this many round trips' bytes after the known part, a stream that begins there still ends in
 * time. [U20]
 */
export const kFirstSampleRoundTrips = 1.25
/** The number of times in a round trip that the bytes of a stream are processed. [U50] */
export const kBatchesInRoundTrip = 8

// PRIORS OF THE END OF AN ARRAY. How long strings are and how their length changes, before samples show it.

/** Average bytes of a token with its length field. [V] */
export const kTokenBytes = 15
/** Usual bytes of a string with its length field in a short list. [V] */
export const kStringBytes = 16
/** Steps in which the lengths of the remaining strings are added up. [U50] */
export const kIntegrationSteps = 96
/**
 * The prior variance of the logarithm of the mean string length over an array, and its weight, in arrays observed. [V,
 * U50]
 */
export const kLengthDrift = 0.15
/** See kLengthDrift. [V, U50] */
export const kLengthDriftWeight = 0.6
/** Vocabularies begin with their shortest words. At e times the distance, words are longer by this fraction. [V] */
export const kLengthGrowth = 0.04
/**
 * Samples can miss irregular parts of a vocabulary, so errors are this many times as large as the samples suggest.
 * [U50]
 */
export const kErrorFactor = 1.5
/** Converts a standard deviation to the scale of a logistic distribution. [exact] */
export const kLogisticScale = Math.sqrt(3) / Math.PI
/** The probability that an estimate is wrong. The end is then uniformly distributed between its bounds. [U50] */
export const kWrongEstimateProbability = 0.15
/** Bisection steps for finding a quantile. [exact] */
export const kQuantileSteps = 40
/** Bounds from later arrays are not used if the estimate is this many errors outside of them. [U50] */
export const kContradictionErrors = 4
/** An array probably ends at most this many errors before its estimated end. [U20] */
export const kSureErrors = 4

// PRIORS OF TWO ARRAYS OF STRINGS. Merges after tokens, or tokens after merges, while the first end is unknown.

/** The probability that there are as many merges as tokens. [V, U50] */
export const kEqualCountProbability = 0.5
/**
 * One merge for each token makes this fraction of the bytes that the tokens and their spaces have: letters have no
 * merge. [V]
 */
export const kMergeByteRatio = 0.975
/** The error of that estimate, as a fraction of the length. [V] */
export const kMergeByteError = 0.018
/**
 * The estimate of as many merges as tokens is dropped if the end is more errors away, or if its probability is below
 * kMinEqualCountProbability. [U50]
 */
export const kMaxEqualCountErrors = 2
/** See kMaxEqualCountErrors. [U50] */
export const kMinEqualCountProbability = 0.35
/** Other numbers of merges are up to this many times as many, or as few. [U50] */
export const kMaxCountRatio = 5
/** If nothing shows the end of an array, the search continues over this fraction of its length. [U50] */
export const kExtendedFraction = 1.2
/** An interval is not sampled evenly if it is this many times as wide as the distance to its estimate. [U50] */
export const kMaxWidthRatio = 20
/**
 * If no sample bounds the end of an array, samples are this far behind the known part, as a fraction of the length:
 * from here on, and up to kOpenSampleRange times as far. [U50]
 */
export const kNearestOpenSample = 0.08
/** See kNearestOpenSample. [U50: merges of 4 times the bytes need it] */
export const kOpenSampleRange = 22

// PRIORS OF THE TAIL. The keys and tensor infos after the last array.

/** The probability that the keys before the tensor infos are not larger than usual. [U50] */
export const kUsualKeysProbability = 0.8
/** The fraction of the estimated bytes of keys and tensor infos that certainly follow the last array. [U50] */
export const kNeededTailFraction = 0.8
/** Bytes of a tensor info. [V, P] */
export const kTensorInfoBytes = 76
/** Bytes of the keys before the first tensor info, with a margin. [V, P] */
export const kTailKeysBytes = 12_288
/** Bytes to read beyond the expected tensor infos, if their length is known. [P] */
export const kSpareTailBytes = 4096
/** Later infos are longer than the known ones by this factor: their block numbers have more digits. [V] */
export const kTensorInfoGrowth = 1.05
/** The same for infos of a sample, which is nearer. [U50] */
export const kSampledInfoGrowth = 1.025
/** Bytes to read after infos that a sample shows, because one more request would cost more. [U50] */
export const kSpareInfoBytes = 2048
/** Usual size of the keys between the last array and the tensor infos. [V, U50] */
export const kUsualKeysBytes = 3000
/**
 * The error of a tensor's index in the table when it is estimated from its offset in the data, as a fraction of the
 * table. [U50]
 */
export const kRankError = 0.06
/**
 * The scores of a SentencePiece vocabulary decrease by one from its first normal token on. At most this many control
 * and byte tokens precede it. [V]
 */
export const kMaxUnscored = 1024
/**
 * If the kind of the vocabulary is not known yet, it may have merges: both arrays are this many times as long as the
 * tokens. [U50]
 */
export const kUnknownKindFactor = 2.5

// SAMPLES. Where and how long. Positions are fractions of the expected length.

/** Bytes of a sample. The first ones are longer, so that they give a good estimate of the string length. [P] */
export const kSampleBytes = 4096
/** See kSampleBytes. [U50] */
export const kFirstSampleBytes = 8192
/** The first samples of an array, if samples of another one follow, or if not. [U50] */
export const kFirstSamples = { beforeOthers: [0.4, 0.85, 1.15], alone: [0.3, 0.6, 0.85, 1.02, 1.2, 1.6] }
/** The first samples of merges, and of tokens whose number an earlier array shows. [U50] */
export const kFirstMergeSamples = [0.5, 1.15, 2.2]
/** See kFirstMergeSamples. [U50] */
export const kFirstTokenSamples = [0.3, 0.7, 1, 1.4]
/** The first sample is left out if it is within this fraction of the expected length before the second one. [U50] */
export const kMinSampleDistance = 0.2
/** Ranges up to this length are samples. [U50] */
export const kMaxSampleRange = 1 << 14
/** Bytes of keys and tensor infos to read after a window that a sample of them probably ends. [U50] */
export const kShortTailBytes = 1 << 15
/** Bytes to read for the key of an array and a sample of its strings. [P] */
export const kHeadingBytes = 2048
/** In a known vocabulary, samples that are nearer than this to a known end are left out. [U50] */
export const kMinDistanceToKnownEnd = 1 << 16
/** A gap of up to this many known bytes is read again if that saves a request. [U50] */
export const kMaxReadTwice = 1 << 14
/** Requests in a round: browsers open at most this many connections to a server over HTTP/1.1. [browsers] */
export const kMaxRequests = 6

// THE FIRST BYTES AND THE MEASURED LINK. When the decision to search or to stream is made, and how the link is
// measured.

/** Bytes of a header that are read before the decision how to continue. [P] */
export const kHeadBytes = 1 << 15
/** If chunks arrive without waiting, this many bytes show that the link is fast. [P] */
export const kFastLinkBytes = 1 << 19
/**
 * After these bytes, the decision to stream is final. Before that, it is repeated when the bytes have grown by the
 * factor kEstimateAgainGrowth. [U50]
 */
export const kFinalStreamBytes = 1 << 22
/** See kFinalStreamBytes. [U50] */
export const kEstimateAgainGrowth = 1.5
/** A chunk that arrived faster was already buffered, so it does not measure the link. [P] */
export const kWaitedMs = 0.3
/**
 * If the first bytes were buffered while the page was busy, the round trip is at least this fraction of the time until
 * they were read. [U50 with a busy page]
 */
export const kMinRoundTripFraction = 0.3
/** Bytes that the link transfers in a round trip: bounds, and the value if it could not be measured. [U50, U20] */
export const kBytesPerRound = { min: 100_000, usual: 300_000, max: 400_000 }

// LIMITS. They protect against files that are made to mislead. The tests of `tests/package/sparse-faults.test.ts` hold
// them.

/**
 * Limits of a search. They are wide, because every round narrows each end, and a stream would start from the
 * beginning. Two rounds may overlap. [U50]
 */
export const kSearchLimits = { rounds: 28, bytes: 1_500_000 }
/** Memory limit of a header that is read in parts. [memory] */
export const kMaxHeaderBytes = 1 << 28
/** Arrays up to this size are read, not left out. [P] */
export const kMaxKeptArrayBytes = 16 << 10
/** Texts up to this size are part of every preview. [P] */
export const kMaxTextBytes = 1 << 20
/** Longest key. [format] */
export const kMaxKeyBytes = 1 << 16
/** Elements of an array. [memory] */
export const kMaxCount = 2 ** 30
/** First bytes of an array that identify a vocabulary. [V] */
export const kFingerprintBytes = 4096
/** Layouts that a browser remembers. [storage] */
export const kMaxStoredLayouts = 64
/** Arrays in a remembered layout. [storage] */
export const kMaxLayoutArrays = 16

// RECOGNITION OF SAMPLES. A chain of small 64-bit lengths is very unlikely in other data.

/** The longest word of a vocabulary. A chain begins at most this far into a sample. [V] */
export const kMaxWordBytes = 2048
/** This many strings identify an array of strings. [U50] */
export const kMinChainStrings = 8
/** Offsets of the last complete strings that are kept: the array may end at any of them. [U50] */
export const kKeptStarts = 8
/** Dimensions of a tensor. [format] */
export const kMaxDims = 8
/** Largest id of a tensor type that is not taken for other data. [format] */
export const kMaxTypeId = 1000
/** A chain of tensor infos begins at most this far into a sample. [format] */
export const kMaxInfoStart = 512
/** This many tensor infos identify the table. [U50] */
export const kMinChainInfos = 4
/** Longest key that is recognized in a sample. [V] */
export const kMaxSampledKeyBytes = 256
/** This many consecutive numbers identify an array of numbers. [U50] */
export const kMinChainNumbers = 32
/** Magnitude of floats in scores. [V] */
export const kUsualMagnitude = { max: 1e7, min: 1e-5 }
/** The number of token types. [format] */
export const kTokenTypes = 6
