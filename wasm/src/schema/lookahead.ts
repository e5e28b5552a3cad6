// Removes lookaheads from patterns: if everything before a lookahead has a fixed length, the lookahead becomes a
// separate pattern.
import type { Regex } from './regex.js'

/** A pattern that must match, or must not. */
export interface Part {
  readonly regex: Regex
  readonly negated: boolean
}

const kMaxAlternatives = 64

function isPlain(regex: Regex): boolean {
  if (regex.kind === 'ahead') return false
  if (regex.kind === 'repeat') return isPlain(regex.item)
  return regex.kind === 'sequence' || regex.kind === 'choice' ? regex.items.every(isPlain) : true
}

function hasOneLength(regex: Regex): boolean {
  if (regex.kind === 'repeat') return regex.min === regex.max && hasOneLength(regex.item)
  if (regex.kind === 'sequence') return regex.items.every(hasOneLength)
  return regex.kind !== 'choice' && regex.kind !== 'ahead'
}

/** Expands choices that contain lookaheads into separate sequences of items. */
function sequencesOf(regex: Regex): Regex[][] {
  if (isPlain(regex) || regex.kind === 'repeat' || regex.kind === 'ahead') return [[regex]]
  if (regex.kind === 'choice') return regex.items.flatMap(sequencesOf)
  if (regex.kind !== 'sequence') return [[regex]]
  let out: Regex[][] = [[]]
  for (const item of regex.items) {
    const more = sequencesOf(item)
    out = out.flatMap((before) => more.map((after) => [...before, ...after]))
    if (out.length > kMaxAlternatives) return [[regex]]
  }
  return out
}

/**
 * Alternatives of a pattern: all parts of one must match, or must not match. Parts that cannot be separated stay
 * together.
 */
export function alternativesOf(regex: Regex): Part[][] {
  if (isPlain(regex)) return [[{ regex, negated: false }]]
  return sequencesOf(regex).map((items) => {
    const before: Regex[] = []
    const out: Part[] = []
    for (const item of items) {
      const fixed = before[0]?.kind === 'start' && before.every(hasOneLength)
      if (item.kind !== 'ahead' || !fixed) before.push(item)
      else out.push({ regex: { kind: 'sequence', items: [...before, item.item] }, negated: item.negated })
    }
    return [...out, { regex: { kind: 'sequence', items: before }, negated: false }]
  })
}
