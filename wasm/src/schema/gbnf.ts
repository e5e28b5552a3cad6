// Expressions of GBNF. Sets of characters are sorted ranges of code points.
import { countSteps } from './steps.js'

export type Range = readonly [first: number, last: number]

const kSurrogates: Range = [0xd800, 0xdfff]
const kLastCodePoint = 0x10ffff

/** An empty choice accepts nothing. An empty sequence accepts the empty text. */
export type Expression =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly ranges: readonly Range[] }
  | { readonly kind: 'rule'; readonly name: string }
  /** a token of the vocabulary, by its text or id; negated: any other token */
  | { readonly kind: 'token'; readonly token: string | number; readonly negated: boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Expression[] }
  | { readonly kind: 'repeat'; readonly item: Expression; readonly min: number; readonly max: number }

export const kNone: Expression = { kind: 'choice', items: [] }
export const kEmpty: Expression = { kind: 'sequence', items: [] }

export function isNone(e: Expression): boolean {
  return e.kind === 'choice' && e.items.length === 0
}
function isEmpty(e: Expression): boolean {
  return e.kind === 'sequence' && e.items.length === 0
}

export function text(value: string): Expression {
  return value === '' ? kEmpty : { kind: 'text', text: value }
}
export function rule(name: string): Expression {
  return { kind: 'rule', name }
}
export function characters(ranges: readonly Range[]): Expression {
  const kept = without(ranges, [kSurrogates])
  return kept.length === 0 ? kNone : { kind: 'class', ranges: kept }
}

export function sequence(...items: readonly Expression[]): Expression {
  const flat: Expression[] = []
  countSteps(items.length)
  for (const item of items) {
    if (isNone(item)) return kNone
    const parts = item.kind === 'sequence' ? item.items : [item]
    for (const part of parts) {
      const last = flat.at(-1)
      if (part.kind === 'text' && last?.kind === 'text')
        flat[flat.length - 1] = { kind: 'text', text: last.text + part.text }
      else flat.push(part)
    }
  }
  return flat.length === 1 ? flat[0]! : { kind: 'sequence', items: flat }
}

export function choice(...items: readonly Expression[]): Expression {
  const flat = new Map<string, Expression>()
  for (const item of items)
    for (const part of item.kind === 'choice' ? item.items : [item]) flat.set(print(part), part)
  return flat.size === 1 ? flat.values().next().value! : { kind: 'choice', items: [...flat.values()] }
}

export function repeat(item: Expression, min: number, max: number): Expression {
  if (max < min) return kNone
  if (max === 0 || isEmpty(item)) return kEmpty
  if (isNone(item)) return min === 0 ? kEmpty : kNone
  return min === 1 && max === 1 ? item : { kind: 'repeat', item, min, max }
}
export function optional(item: Expression): Expression {
  return repeat(item, 0, 1)
}

export function sortedApart(ranges: readonly Range[]): Range[] {
  countSteps(ranges.length >> 2)
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
  if (next <= kLastCodePoint) out.push([next, kLastCodePoint])
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

/** A literal text. */
function literal(value: string): string {
  const escaped = Array.from(value, (char) => {
    const code = char.codePointAt(0)!
    if (char === '"' || char === '\\') return `\\${char}`
    if (code >= kSurrogates[0] && code <= kSurrogates[1]) return '\\ufffd'
    return code < 0x20 ? character(code) : char
  })
  return `"${escaped.join('')}"`
}

function printClass(ranges: readonly Range[]): string {
  const one = ([a, b]: Range) => (a === b ? character(a) : `${character(a)}-${character(b)}`)
  const others = complement([...ranges, kSurrogates])
  if (others.length === 0) return '.' // to llama.cpp, [^] is the empty text
  return others.length < ranges.length ? `[^${others.map(one).join('')}]` : `[${ranges.map(one).join('')}]`
}

function printRepeat(item: string, min: number, max: number): string {
  if (max === Infinity) return `${item}${min === 0 ? '*' : min === 1 ? '+' : `{${min},}`}`
  return `${item}${min === 0 && max === 1 ? '?' : min === max ? `{${min}}` : `{${min},${max}}`}`
}

/** Prints an expression. inner: it is an item of a sequence or of a repetition. */
export function print(e: Expression, inner = false): string {
  countSteps(2)
  switch (e.kind) {
    case 'text':
      return literal(e.text)
    case 'class':
      return printClass(e.ranges)
    case 'rule':
      return e.name
    case 'token':
      return `${e.negated ? '!' : ''}${typeof e.token === 'number' ? `<[${e.token}]>` : e.token}`
    case 'repeat':
      return printRepeat(print(e.item, true).replace(/^(.*[*+?}])$/, '($1)'), e.min, e.max)
    case 'sequence': {
      const body = e.items.map((item) => (item.kind === 'choice' ? print(item, true) : print(item))).join(' ')
      return inner ? `(${body})` : body
    }
    case 'choice': {
      const items = [...e.items].sort((a, b) => Number(isEmpty(b)) - Number(isEmpty(a)))
      const body = items.map((item) => print(item)).join(' | ')
      return inner || items.length === 0 ? `(${body})` : body
    }
  }
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
const kUnescaped = complement(kEscaped)

/** One character of a set, in the notation of JSON strings. */
export function jsonCharacter(ranges: readonly Range[]): Expression {
  const alternatives = [characters(without(ranges, kEscaped))]
  for (const [first, last] of without(ranges, kUnescaped))
    for (let code = first; code <= last; code++) {
      const named = kNamed.get(code)
      alternatives.push(text(named === undefined ? `\\u${code.toString(16).padStart(4, '0')}` : `\\${named}`))
    }
  return choice(...alternatives)
}
