// The lines in which two texts differ.

export interface Row {
  readonly kind: 'same' | 'gone' | 'added'
  readonly text: string
}

/** Neighbouring differences, with one line of context around them. */
interface Hunk {
  /** the line of the first text, from 1, that the first difference stands at */
  readonly first: number
  readonly rows: readonly Row[]
}

/** Texts of more lines are compared without a search for common lines within the part that differs. */
const kMaxLines = 3000
const kContext = 1

const rows = (kind: Row['kind'], lines: readonly string[]): Row[] => lines.map((text) => ({ kind, text }))

/** The rows of the part that differs, by the longest common subsequence of its lines. */
function middleRows(a: readonly string[], b: readonly string[]): Row[] {
  if (a.length === 0 || b.length === 0 || a.length + b.length > kMaxLines)
    return [...rows('gone', a), ...rows('added', b)]
  const width = b.length + 1
  // lengths[i * width + j]: of the longest common subsequence of a from i on and b from j on
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  const result: Row[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      result.push({ kind: 'same', text: a[i++]! })
      j++
    } else if (
      j >= b.length ||
      (i < a.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    )
      result.push({ kind: 'gone', text: a[i++]! })
    else result.push({ kind: 'added', text: b[j++]! })
  }
  return result
}

function rowsOf(from: string, to: string): Row[] {
  const [a, b] = [from.split('\n'), to.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  return [
    ...rows('same', a.slice(0, start)),
    ...middleRows(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...rows('same', a.slice(a.length - end)),
  ]
}

/** The differences of two texts by lines, none for equal texts. */
export function lineHunks(from: string, to: string): Hunk[] {
  const all = rowsOf(from, to)
  const hunks: Hunk[] = []
  let line = 1
  let at = 0
  while (at < all.length) {
    if (all[at]!.kind === 'same') {
      line++
      at++
      continue
    }
    const first = line
    const begin = Math.max(0, at - kContext)
    let end = at
    // Differences whose contexts would meet belong together.
    for (let next = at; next < all.length && next - end <= 2 * kContext; next++)
      if (all[next]!.kind !== 'same') end = next + 1
    for (; at < end; at++) if (all[at]!.kind !== 'added') line++
    hunks.push({ first, rows: all.slice(begin, end + kContext) })
  }
  return hunks
}
