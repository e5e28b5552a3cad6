// Pieces of GBNF. Sets of characters are sorted ranges of code points.
export type Range = readonly [first: number, last: number]

const kSurrogates: Range = [0xd800, 0xdfff]

export function sortedApart(ranges: readonly Range[]): Range[] {
  const out: [number, number][] = []
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = out.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else out.push([first, last])
  }
  return out
}

export function complement(ranges: readonly Range[]): Range[] {
  const out: Range[] = []
  let next = 0
  for (const [first, last] of sortedApart(ranges)) {
    if (first > next) out.push([next, first - 1])
    next = last + 1
  }
  if (next <= 0x10ffff) out.push([next, 0x10ffff])
  return out
}

export function without(ranges: readonly Range[], taken: readonly Range[]): Range[] {
  return complement([...complement(ranges), ...taken])
}

function character(code: number): string {
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`
  if (code > 0x7e) return `\\u${code.toString(16).padStart(4, '0')}`
  const char = String.fromCharCode(code)
  return /[\w ]/.test(char) ? char : `\\x${code.toString(16).padStart(2, '0')}`
}

/** A text as it is. */
export function literal(text: string): string {
  const escaped = Array.from(text, (char) => {
    const code = char.codePointAt(0)!
    if (char === '"' || char === '\\') return `\\${char}`
    if (code >= kSurrogates[0] && code <= kSurrogates[1]) return '\\ufffd'
    return code < 0x20 ? character(code) : char
  })
  return `"${escaped.join('')}"`
}

export function charClass(ranges: readonly Range[]): string {
  const body = ranges.map(([a, b]) => (a === b ? character(a) : `${character(a)}-${character(b)}`))
  return `[${body.join('')}]`
}

export function repeat(item: string, min: number, max: number): string {
  if (max === 0) return ''
  if (min === 1 && max === 1) return item
  if (max === Infinity) return `${item}${min === 0 ? '*' : min === 1 ? '+' : `{${min},}`}`
  return `${item}${min === 0 && max === 1 ? '?' : `{${min},${max}}`}`
}

export function choice(alternatives: readonly string[]): string {
  return alternatives.length === 1 ? alternatives[0]! : `(${alternatives.join(' | ')})`
}

const kNamed = new Map([
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x22, '"'],
  [0x5c, '\\'],
])
const kEscaped: readonly Range[] = [[0, 0x1f], [0x22, 0x22], [0x5c, 0x5c]] // prettier-ignore

/** One character of a set, as a JSON string spells it. */
export function jsonCharacter(ranges: readonly Range[]): string {
  const alternatives: string[] = []
  const plain = without(ranges, [...kEscaped, kSurrogates])
  if (plain.length > 0) alternatives.push(charClass(plain))
  for (const [first, last] of without(ranges, [
    [0x23, 0x5b],
    [0x5d, 0x10ffff],
    [0x20, 0x21],
  ]))
    // prettier-ignore
    for (let code = first; code <= last; code++) {
      const named = kNamed.get(code)
      alternatives.push(
        literal(named === undefined ? `\\u${code.toString(16).padStart(4, '0')}` : `\\${named}`),
      )
    }
  return choice(alternatives)
}
