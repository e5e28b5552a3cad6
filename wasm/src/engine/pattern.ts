// Regular expressions of JSON schemas as GBNF: what strings of JSON they match. What a grammar cannot do (looking
// around, back references, word borders) is an error.
import { GgufError } from '../api/errors.js'
import { choice, complement, jsonCharacter, literal, repeat, sortedApart, type Range } from './gbnf.js'

const kDigits: readonly Range[] = [[0x30, 0x39]]
const kWord: readonly Range[] = [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]] // prettier-ignore
// prettier-ignore
const kSpace: readonly Range[] = [
  [0x09, 0x0d], [0x20, 0x20], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f],
  [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff],
]
const kLineEnds: readonly Range[] = [[0x0a, 0x0a], [0x0d, 0x0d], [0x2028, 0x2029]] // prettier-ignore
const kSets: Readonly<Record<string, readonly Range[]>> = {
  d: kDigits,
  w: kWord,
  s: kSpace,
  D: complement(kDigits),
  W: complement(kWord),
  S: complement(kSpace),
}
const kControls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, '0': 0 }

class Pattern {
  readonly #chars: readonly string[]
  readonly #any: string
  #at = 0

  constructor(
    readonly source: string,
    any: string,
  ) {
    this.#chars = [...source]
    this.#any = any
  }

  /** The inside of the string's quotes. */
  whole(): string {
    const alternatives: string[] = []
    do {
      const start = this.#take('^')
      const body = this.#sequence()
      const end = this.#take('$')
      alternatives.push([start ? '' : `${this.#any}*`, body, end ? '' : `${this.#any}*`].join(' '))
    } while (this.#take('|'))
    if (this.#at < this.#chars.length) this.#refuse(`"${this.#chars[this.#at]}"`)
    return choice(alternatives)
  }

  #refuse(what: string): never {
    throw new GgufError(
      'unsupported',
      `The pattern ${JSON.stringify(this.source)} cannot be a grammar: ${what} at character ${this.#at} is not supported.`,
    )
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false
    this.#at++
    return true
  }

  #sequence(): string {
    const items: string[] = []
    let text = '' // plain characters side by side are one text
    const flush = () => {
      if (text !== '') items.push(literal(text))
      text = ''
    }
    for (;;) {
      const char = this.#chars[this.#at]
      if (char === undefined || char === '|' || char === ')' || char === '$') break
      const item = this.#atom()
      const quantified = this.#quantified(item)
      const plain = /^"(?:[^"\\])"$/.test(quantified)
      if (plain) {
        text += quantified.slice(1, -1)
      } else {
        flush()
        items.push(quantified)
      }
    }
    flush()
    return items.join(' ')
  }

  #quantified(item: string): string {
    let [min, max] = [1, 1]
    if (this.#take('*')) [min, max] = [0, Infinity]
    else if (this.#take('+')) [min, max] = [1, Infinity]
    else if (this.#take('?')) [min, max] = [0, 1]
    else if (this.#take('{')) {
      const end = this.#chars.indexOf('}', this.#at)
      const counts = /^(\d+)(,(\d*))?$/.exec(this.#chars.slice(this.#at, end).join(''))
      if (end < 0 || !counts) this.#refuse('this {')
      min = Number(counts[1])
      max = counts[2] === undefined ? min : counts[3] === '' ? Infinity : Number(counts[3])
      if (max < min) this.#refuse('this {')
      this.#at = end + 1
    } else {
      return item
    }
    this.#take('?') // lazy: the same strings
    return repeat(item, min, max)
  }

  #atom(): string {
    const char = this.#chars[this.#at]!
    if (char === '(') return this.#group()
    if (char === '[') return jsonCharacter(this.#class())
    if (char === '.') {
      this.#at++
      return jsonCharacter(complement(kLineEnds))
    }
    if ('^*+?{'.includes(char)) this.#refuse(`"${char}"`)
    const set = this.#character()
    if (/\p{Cs}/u.test(char)) this.#refuse('half a character')
    if (set.length === 1 && set[0]![0] === set[0]![1]) {
      const json = JSON.stringify(String.fromCodePoint(set[0]![0])).slice(1, -1)
      return literal(json)
    }
    return jsonCharacter(set)
  }

  #group(): string {
    this.#at++
    if (this.#take('?')) {
      if (this.#take('<')) {
        if ('=!'.includes(this.#chars[this.#at] ?? '=')) this.#refuse('a look behind')
        while (this.#at < this.#chars.length && !this.#take('>')) this.#at++
      } else if (!this.#take(':')) {
        this.#refuse('a look ahead')
      }
    }
    const alternatives: string[] = []
    do alternatives.push(this.#sequence())
    while (this.#take('|'))
    if (!this.#take(')'))
      this.#refuse(this.#chars[this.#at] === '$' ? '"$" in a group' : 'a group without its end')
    return `(${alternatives.join(' | ')})`
  }

  #class(): Range[] {
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
    const set = negated ? complement(ranges) : sortedApart(ranges)
    if (set.length === 0) this.#refuse('a class that nothing is in')
    return set
  }

  /** A character, or the set of an escape. */
  #character(inClass = false): readonly Range[] {
    const char = this.#chars[this.#at++]!
    const one = (code: number): readonly Range[] => [[code, code]]
    if (char !== '\\') return one(char.codePointAt(0)!)
    const escape = this.#chars[this.#at++] ?? ''
    const set = kSets[escape]
    if (set) return set
    const control = kControls[escape]
    if (control !== undefined) return one(control)
    if (escape === 'b' && inClass) return one(8)
    if (escape === 'x' || escape === 'u') {
      const rest = this.#chars.slice(this.#at, this.#at + 10).join('')
      const hex =
        escape === 'x' ? /^([\da-f]{2})/i.exec(rest) : /^(?:([\da-f]{4})|\{([\da-f]+)\})/i.exec(rest)
      const code = parseInt(hex?.[1] ?? hex?.[2] ?? '', 16)
      if (!hex || !(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) this.#refuse('this escape')
      this.#at += hex[0].length
      return one(code)
    }
    if (escape === '' || /[\p{L}\p{N}]/u.test(escape)) {
      this.#at -= 2
      this.#refuse(`"\\${escape}"`)
    }
    return one(escape.codePointAt(0)!)
  }
}

/** any: the rule of one character of a JSON string. */
export function patternToGbnf(source: string, any: string): string {
  return new Pattern(source, any).whole()
}
