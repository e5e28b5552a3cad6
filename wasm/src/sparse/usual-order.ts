// The usual layout of a header: the arrays of a vocabulary in the order of llama.cpp's converters, and their sizes.
import type { NumberSample } from './classify.js'
import type { OpenArray, Walk } from './walk.js'
import {
  kHeadingBytes,
  kSpareTailBytes,
  kTailKeysBytes,
  kTensorInfoBytes,
  kTensorInfoGrowth,
  kTokenBytes,
} from './tuning.js'

export const kTokens = 'tokenizer.ggml.tokens'
// The arrays that a vocabulary of each kind (tokenizer.ggml.model) has, in the order of llama.cpp's converters.
const kLayouts: Readonly<Record<string, readonly string[]>> = {
  gpt2: ['tokens', 'token_type', 'merges'],
  llama: ['tokens', 'scores', 'token_type'],
  bert: ['tokens', 'token_type'],
  t5: ['tokens', 'scores', 'token_type', 'precompiled_charsmap'],
}

export function tailBytes(walk: Walk): number {
  const left = walk.tensorCount - walk.infos
  // Later names are longer, because their block numbers have more digits.
  return walk.infoBytes === undefined
    ? kTailKeysBytes + kTensorInfoBytes * left
    : kSpareTailBytes + kTensorInfoGrowth * walk.infoBytes * left
}

/** The arrays of the usual layout that the walk has not reached. */
export function arraysAhead(walk: Walk): string[] {
  if (walk.keys === walk.keyCount) return []
  // The key of the kind may come after the arrays.
  const shown = walk.has('merges') ? 'gpt2' : walk.has('scores') ? 'llama' : ''
  const layout = kLayouts[walk.texts.get('tokenizer.ggml.model') ?? shown] ?? ['tokens']
  return layout.filter((name) => !walk.has(name))
}

/** Whether missing arrays that usually precede the merges are absent, or follow them. */
export function isSkippingArrays(walk: Walk): boolean {
  return walk.has('merges') && walk.has('tokens')
}

/** Whether the keys so far are in llama.cpp's order, in which the arrays precede the ids of the control tokens. */
export function isUsualOrder(walk: Walk): boolean {
  return !walk.has('bos_token_id') && !walk.has('eos_token_id')
}

/** The bytes of a key and its array of `count` elements of four bytes. */
export function arrayBytes(name: string, count: number): number {
  return 8 + `tokenizer.ggml.${name}`.length + 16 + 4 * count
}

export interface FollowingArrays {
  /** distances from the end of the array to the ends of the arrays of fixed size after it */
  readonly shifts: readonly number[]
  /** whether merges are expected after those */
  readonly merges: boolean
  /** number of bytes to read after the last of these ends */
  readonly tail: number
}

/** The keys that follow an array of strings, or a key, in the usual layout. */
export function followingArrays(walk: Walk, count: number): FollowingArrays {
  const shifts: number[] = []
  let shift = 0
  for (const name of arraysAhead(walk)) {
    if (name === 'merges') return { shifts, merges: true, tail: kHeadingBytes }
    if (name === 'tokens' || name === 'precompiled_charsmap')
      return { shifts, merges: false, tail: kHeadingBytes }
    shift += arrayBytes(name, count)
    shifts.push(shift)
  }
  return { shifts, merges: false, tail: tailBytes(walk) }
}

/** The number of tokens, or else of merges; 0 if no array shows it. */
export function vocabularySize({ names }: Walk): number {
  const count = (name: string): number => names.get(`tokenizer.ggml.${name}`) ?? 0
  return Math.max(count('tokens'), count('token_type'), count('scores')) || count('merges')
}

/** Whether the number of tokens is known, not only the number of merges. */
export function isTokenCountKnown(walk: Walk): boolean {
  return ['tokens', 'token_type', 'scores'].some((name) => walk.has(name))
}

/** The estimated bytes of tokens that follow: as many tokens as an array before them has elements. */
export function tokensAhead(walk: Walk, open?: OpenArray): number {
  if (open?.key === kTokens || walk.has('tokens')) return 0
  return kTokenBytes * Math.max(vocabularySize(walk), open?.count ?? 0)
}

/**
 * The keys that follow an array of strings. shown: numbers after it that a sample shows. room: at most this many bytes
 * until other strings.
 */
export function arraysAfterStrings(
  walk: Walk,
  shown: NumberSample | undefined,
  room: number,
): FollowingArrays {
  const isAbsent = !shown && isSkippingArrays(walk)
  const name = shown && (shown.types ? 'token_type' : 'scores')
  const isNew = name !== undefined && !walk.has(name)
  const left = arraysAhead(walk)
  const count = vocabularySize(walk)
  // Without the key of the kind, no array is expected, but the numbers show one.
  if (left.length === 0 ? !isNew : isUsualOrder(walk) && !isAbsent) {
    const usual = followingArrays(walk, count)
    return (usual.shifts.at(-1) ?? 0) <= room
      ? usual
      : { shifts: [], merges: usual.merges, tail: kHeadingBytes }
  }
  if (isNew && (left.length === 0 || left.includes(name)) && isTokenCountKnown(walk))
    return {
      shifts: [arrayBytes(name, count)],
      merges: left.includes('merges'),
      tail: left.join() === name ? tailBytes(walk) : kHeadingBytes,
    }
  return { shifts: [], merges: false, tail: isAbsent ? tailBytes(walk) : kHeadingBytes }
}
