// A table of sentences with places for names and numbers, and their translations.
import type { Language } from '../../texts/languages.ts'
import { joined } from './joined.ts'

/**
 * Places of a sentence: "{}" is a quoted text, a list in brackets, an amount ("12 bytes") or one word; "{#byte}" is "1 byte" or
 * "7 bytes", "{#tensor begins/tensors begin}" the same with other plurals; "{~}" is another sentence of the table.
 */
const kPlace = /\{(?:(~)|#([^}/]+)(?:\/([^}]+))?)?\}/g
const kValue = String.raw`('.*?'|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\d[\d.,]* [a-zA-Z]+|\S+?)`

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The expression that a sentence with places stands for. Undefined: it has none. */
function patternOf(sentence: string): RegExp | undefined {
  let source = ''
  let at = 0
  for (const { 0: whole, 1: nested, 2: one, 3: many, index } of sentence.matchAll(kPlace)) {
    source += escaped(sentence.slice(at, index))
    if (nested) source += '(.+?)'
    else source += one === undefined ? kValue : `(\\d+) (?:${escaped(one)}|${escaped(many ?? `${one}s`)})`
    at = index + whole.length
  }
  return at === 0 ? undefined : new RegExp(`^${source}${escaped(sentence.slice(at))}$`, 's')
}

/** What ends the last message of a rule that has more: " (and 7 more)". */
const kMore = ' (and {} more)'

type Table = Readonly<Partial<Record<string, string>>>

interface Row {
  readonly pattern: RegExp
  readonly translation: string
  /** It has no words beside its places. */
  readonly isBare: boolean
  /** for each place: it holds another sentence */
  readonly nested: readonly boolean[]
}

export class Sentences {
  private readonly rows: readonly Row[]
  private readonly more: RegExp
  private readonly table: Table
  private readonly marks: Language['marks']

  constructor(table: Table, marks?: Language['marks']) {
    this.table = table
    this.marks = marks
    // The sentences with most letters of their own come first: "{} is {}, no UUID" before "{} is {}".
    const own = (sentence: string) => sentence.replace(kPlace, '').length
    this.rows = Object.entries(table)
      .toSorted(([a], [b]) => own(b) - own(a))
      .flatMap(([sentence, translation = '']) => {
        const pattern = patternOf(sentence)
        const nested = [...sentence.matchAll(kPlace)].map(([, nested]) => nested !== undefined)
        const isBare = !/\p{L}/u.test(sentence.replace(kPlace, ''))
        return pattern && sentence !== kMore ? [{ pattern, translation, isBare, nested }] : []
      })
    this.more = new RegExp(`^(.+)${patternOf(kMore)!.source.slice(1)}`, 's')
  }

  /** undefined: there is no translation */
  translate(english: string): string | undefined {
    return this.whole(english) ?? this.each(english) ?? this.list(english)
  }

  private whole(english: string): string | undefined {
    if (Object.hasOwn(this.table, english)) return this.table[english]
    const more = this.more.exec(english)
    if (more) {
      const [, before = '', n = ''] = more
      const [head, tail] = [this.translate(before), this.table[kMore]]
      return head !== undefined && tail !== undefined ? head + fill(tail, [n]) : undefined
    }
    for (const { pattern, translation, nested, isBare } of this.rows) {
      const found = pattern.exec(english)?.slice(1)
      const inner = found?.map((value, i) => (nested[i] ? this.translate(value) : undefined))
      // "{}: {~}." has no words of its own: without its inner sentence nothing would be translated.
      if (!found || !inner || (isBare && inner.every((text) => text === undefined))) continue
      return fill(
        translation,
        found.map((value, i) => inner[i] ?? this.amount(value)),
      )
    }
    return undefined
  }

  /** Several sentences, each of which is known. */
  private each(english: string): string | undefined {
    const sentences = english.split(/(?<=[.!?:]) (?=[A-Z"'])/)
    if (sentences.length === 1) return undefined
    const translated = sentences.map((sentence) => this.whole(sentence))
    return translated.every((text) => text !== undefined) ? joined(...translated) : undefined
  }

  /** Sentences in a list, "a; b", each of which is known, without its full stop. */
  private list(english: string): string | undefined {
    const parts = english.split('; ')
    if (parts.length === 1) return undefined
    const translated = parts.map((part) => this.whole(part) ?? this.whole(`${part}.`)?.replace(/[.。]$/, ''))
    return translated.every((text) => text !== undefined)
      ? translated.join(this.marks?.semicolon ?? '; ')
      : undefined
  }

  /** A quoted text in the language's quotation marks, or "12 bytes" with the noun of the table. */
  private amount(value: string): string {
    const { marks } = this
    const quoted = /^(['"])(.*)\1$/s.exec(value)?.[2]
    if (marks && quoted !== undefined) return marks.open + quoted + marks.close
    const [, n = '', noun = ''] = /^([\d.,]+) ([a-z]+)$/.exec(value) ?? []
    const translated = Object.hasOwn(this.table, noun) ? this.table[noun] : undefined
    return translated === undefined ? value : `${n} ${translated}`
  }
}

/** "{0}" is the first value, "{0#Byte hat/Byte haben}" the value with a word for 1 and one for other numbers. */
const fill = (translation: string, values: readonly string[]): string =>
  translation.replace(
    /\{(\d+)(?:#([^}/]*)\/([^}]*))?\}/g,
    (whole, i: string, one?: string, many?: string) => {
      const value = values[Number(i)] ?? whole
      return one === undefined ? value : `${value} ${value === '1' ? one : many}`
    },
  )
