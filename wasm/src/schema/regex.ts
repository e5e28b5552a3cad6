// Parses the regular expressions of JSON schemas with ECMAScript's syntax (flag u). Features that an automaton cannot
// have (back references, lookbehind) are errors.
import { PatternError } from './errors.js'
import { complement, sortedApart, type Range } from './gbnf.js'

export type Regex =
  | { readonly kind: 'set'; readonly ranges: readonly Range[] }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Regex[] }
  | { readonly kind: 'repeat'; readonly item: Regex; readonly min: number; readonly max: number }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'border'; readonly negated: boolean }
  | { readonly kind: 'ahead'; readonly item: Regex; readonly negated: boolean }

const kDigits: readonly Range[] = [[0x30, 0x39]]
export const kWord: readonly Range[] = [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]] // prettier-ignore
// prettier-ignore
const kSpace: readonly Range[] = [
  [0x09, 0x0d], [0x20, 0x20], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f],
  [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff],
]
const kLineEnds: readonly Range[] = [[0x0a, 0x0a], [0x0d, 0x0d], [0x2028, 0x2029]] // prettier-ignore
export const kAny: readonly Range[] = [[0, 0x10ffff]]
const kSets: Readonly<Record<string, readonly Range[]>> = {
  d: kDigits,
  w: kWord,
  s: kSpace,
  D: complement(kDigits),
  W: complement(kWord),
  S: complement(kSpace),
}
const kControls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, '0': 0 }
const kMaxRepeat = 20_000

const properties = new Map<string, readonly Range[]>()
/** The code points of \p{name}, in the Unicode version of the JavaScript engine. */
function property(name: string): readonly Range[] | undefined {
  const known = properties.get(name)
  if (known) return known
  let test: RegExp
  try {
    test = new RegExp(`^\\p{${name}}$`, 'u')
  } catch {
    return undefined
  }
  const ranges: [number, number][] = []
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code === 0xd800) code = 0xe000
    if (!test.test(String.fromCodePoint(code))) continue
    const last = ranges.at(-1)
    if (last && last[1] === code - 1) last[1] = code
    else ranges.push([code, code])
  }
  properties.set(name, ranges)
  return ranges
}

class Parser {
  readonly #chars: readonly string[]
  #at = 0
  #depth = 0

  constructor(readonly source: string) {
    this.#chars = [...source]
  }

  whole(): Regex {
    const out = this.#choice()
    if (this.#at < this.#chars.length) this.#refuse(`"${this.#chars[this.#at]}"`)
    return out
  }

  #refuse(what: string): never {
    throw new PatternError(
      `has the pattern ${JSON.stringify(this.source)}, where ${what} at character ${this.#at} is not supported`,
    )
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false
    this.#at++
    return true
  }

  #choice(): Regex {
    if (++this.#depth > 100) this.#refuse('a group nested so deep')
    const items: Regex[] = []
    do items.push(this.#sequence())
    while (this.#take('|'))
    this.#depth--
    return items.length === 1 ? items[0]! : { kind: 'choice', items }
  }

  #sequence(): Regex {
    const items: Regex[] = []
    for (;;) {
      const char = this.#chars[this.#at]
      if (char === undefined || char === '|' || char === ')') break
      items.push(this.#quantified(this.#atom()))
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items }
  }

  #quantified(item: Regex): Regex {
    let [min, max] = [1, 1]
    const start = this.#at
    if (this.#take('*')) [min, max] = [0, Infinity]
    else if (this.#take('+')) [min, max] = [1, Infinity]
    else if (this.#take('?')) [min, max] = [0, 1]
    else if (this.#take('{')) {
      const end = this.#chars.indexOf('}', this.#at)
      const counts = /^(\d+)(,(\d*))?$/.exec(this.#chars.slice(this.#at, end).join(''))
      if (end < 0 || !counts) this.#refuse('this {')
      min = Number(counts[1])
      max = counts[2] === undefined ? min : counts[3] === '' ? Infinity : Number(counts[3])
      if (max < min || Math.max(min, max === Infinity ? 0 : max) > kMaxRepeat) this.#refuse('this {')
      this.#at = end + 1
    } else {
      return item
    }
    if (item.kind === 'start' || item.kind === 'end' || item.kind === 'border' || item.kind === 'ahead') {
      this.#at = start
      this.#refuse('a repetition of what is no character')
    }
    this.#take('?') // lazy quantifiers match the same strings
    return { kind: 'repeat', item, min, max }
  }

  #atom(): Regex {
    const char = this.#chars[this.#at]!
    if (char === '(') return this.#group()
    if (char === '[') return { kind: 'set', ranges: this.#class() }
    if (char === '^' || char === '$') {
      this.#at++
      return { kind: char === '^' ? 'start' : 'end' }
    }
    if (char === '.') {
      this.#at++
      return { kind: 'set', ranges: complement(kLineEnds) }
    }
    if ('*+?{'.includes(char)) this.#refuse(`"${char}"`)
    if (char === '\\' && 'bB'.includes(this.#chars[this.#at + 1] ?? ' ')) {
      this.#at += 2
      return { kind: 'border', negated: this.#chars[this.#at - 1] === 'B' }
    }
    if (/\p{Cs}/u.test(char)) this.#refuse('half a character')
    return { kind: 'set', ranges: this.#character() }
  }

  #group(): Regex {
    this.#at++
    let ahead: 'ahead' | 'not' | undefined
    if (this.#take('?')) {
      if (this.#take('<')) {
        if ('=!'.includes(this.#chars[this.#at] ?? '=')) this.#refuse('a look behind')
        while (this.#at < this.#chars.length && !this.#take('>')) this.#at++
      } else if (this.#take('=')) {
        ahead = 'ahead'
      } else if (this.#take('!')) {
        ahead = 'not'
      } else if (!this.#take(':')) {
        this.#refuse('this group')
      }
    }
    const item = this.#choice()
    if (!this.#take(')')) this.#refuse('a group without its end')
    return ahead === undefined ? item : { kind: 'ahead', item, negated: ahead === 'not' }
  }

  #class(): readonly Range[] {
    this.#at++
    const negated = this.#take('^')
    const ranges: Range[] = []
    while (!this.#take(']')) {
      if (this.#at >= this.#chars.length) this.#refuse('a class without its end')
      const from = this.#character(true)
      if (this.#chars[this.#at] === '-' && this.#chars[this.#at + 1] !== ']') {
        this.#at++
        const to = this.#at < this.#chars.length ? this.#character(true) : []
        const [first, last] = [from[0]?.[0], to[0]?.[0]]
        if (from.length !== 1 || to.length !== 1 || first === undefined || last === undefined || last < first)
          this.#refuse('this range')
        ranges.push([first, last])
      } else {
        ranges.push(...from)
      }
    }
    return negated ? complement(ranges) : sortedApart(ranges)
  }

  /** A character, or the set of an escape. */
  #character(inClass = false): readonly Range[] {
    const char = this.#chars[this.#at++]!
    const one = (code: number): readonly Range[] => [[code, code]]
    if (char !== '\\') return one(char.codePointAt(0)!)
    const escape = this.#chars[this.#at++] ?? ''
    const set = kSets[escape]
    if (set) return set
    const rest = this.#chars.slice(this.#at, this.#at + 60).join('')
    const control = kControls[escape]
    if (control !== undefined && !(escape === '0' && /^\d/.test(rest))) return one(control)
    if (escape === 'b' && inClass) return one(8)
    if (escape === 'p' || escape === 'P') {
      const name = /^\{([\w=]+)\}/.exec(rest)?.[1]
      const ranges = name === undefined ? undefined : property(name)
      if (name === undefined || ranges === undefined) this.#refuse('this property')
      this.#at += name.length + 2
      return escape === 'p' ? ranges : complement(ranges)
    }
    if (escape === 'c' && /^[a-z]/i.test(rest)) return one(this.#chars[this.#at++]!.charCodeAt(0) % 32)
    if (escape === 'x' || escape === 'u') {
      const hex =
        escape === 'x' ? /^([\da-f]{2})/i.exec(rest) : /^(?:([\da-f]{4})|\{([\da-f]+)\})/i.exec(rest)
      if (!hex) this.#refuse('this escape')
      this.#at += hex[0].length
      return one(this.#scalar(parseInt(hex[1] ?? hex[2] ?? '', 16)))
    }
    if (escape === '' || /[\p{L}\p{N}]/u.test(escape)) {
      this.#at -= 2
      this.#refuse(`"\\${escape}"`)
    }
    return one(escape.codePointAt(0)!)
  }

  /** Combines two \u escapes of surrogates to a code point. */
  #scalar(code: number): number {
    if (code >= 0xd800 && code <= 0xdbff) {
      const low = /^\\u(d[c-f][\da-f]{2})/i.exec(this.#chars.slice(this.#at, this.#at + 6).join(''))
      if (low) {
        this.#at += 6
        return 0x10000 + ((code - 0xd800) << 10) + (parseInt(low[1]!, 16) - 0xdc00)
      }
    }
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) this.#refuse('this escape')
    return code
  }
}

const parsed = new Map<string, Regex>()
export function parseRegex(source: string): Regex {
  let out = parsed.get(source)
  if (!out) {
    if (parsed.size > 500) parsed.clear()
    parsed.set(source, (out = new Parser(source).whole()))
  }
  return out
}

const charsOf = (value: string): Regex[] =>
  Array.from(value, (char): Regex => {
    const code = char.codePointAt(0)!
    return { kind: 'set', ranges: [[code, code]] }
  })
export function exactText(value: string): Regex {
  return { kind: 'sequence', items: [{ kind: 'start' }, ...charsOf(value), { kind: 'end' }] }
}
/** Exactly one of several texts. One machine reads them all, so that its states are those of a trie. */
export function anyExactText(values: readonly string[]): Regex {
  const items = values.map((value): Regex => ({ kind: 'sequence', items: charsOf(value) }))
  return { kind: 'sequence', items: [{ kind: 'start' }, { kind: 'choice', items }, { kind: 'end' }] }
}
export function anyOfLength(min: number, max: number): Regex {
  const item: Regex = { kind: 'set', ranges: kAny }
  return { kind: 'sequence', items: [{ kind: 'start' }, { kind: 'repeat', item, min, max }, { kind: 'end' }] }
}
