// Where two texts differ: what they begin and end with alike, and what is between.

export interface Change {
  readonly before: string
  /** what the other text does not have there; empty if it only has more */
  readonly changed: string
  readonly after: string
}

const isSecondHalf = (text: string, at: number): boolean => /^[\udc00-\udfff]/.test(text.slice(at, at + 1))

/** The text in three parts, cut where it differs from `other`. Pairs of surrogates stay whole. */
export function changeOf(text: string, other: string): Change {
  const shorter = Math.min(text.length, other.length)
  let from = 0
  while (from < shorter && text[from] === other[from]) from++
  if (isSecondHalf(text, from) || isSecondHalf(other, from)) from--
  let alike = 0
  while (alike < shorter - from && text.at(-1 - alike) === other.at(-1 - alike)) alike++
  if (isSecondHalf(text, text.length - alike) || isSecondHalf(other, other.length - alike)) alike--
  const to = text.length - alike
  return { before: text.slice(0, from), changed: text.slice(from, to), after: text.slice(to) }
}
