// A table of sentences with places for names and numbers, and their translations.

/** "{}" stands for a quoted text or one word, "{#byte}" for "1 byte" or "7 bytes", "{#tensor begins/tensors begin}" for other plurals. */
const kPlace = /\{(?:#([^}/]+)(?:\/([^}]+))?)?\}/g

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The expression that a sentence with places stands for. Undefined: it has none. */
export function patternOf(sentence: string): RegExp | undefined {
  let source = ''
  let at = 0
  for (const { 0: whole, 1: one, 2: many, index } of sentence.matchAll(kPlace)) {
    source += escaped(sentence.slice(at, index))
    source +=
      one === undefined ? String.raw`('.*?'|\S+)` : `(\\d+) (?:${escaped(one)}|${escaped(many ?? `${one}s`)})`
    at = index + whole.length
  }
  return at === 0 ? undefined : new RegExp(`^${source}${escaped(sentence.slice(at))}$`, 's')
}

/** What ends the last message of a rule that has more: " (and 7 more)". */
const kMore = ' (and {} more)'

type Table = Readonly<Partial<Record<string, string>>>

export class Sentences {
  private readonly patterns: readonly (readonly [RegExp, string])[]
  private readonly more: RegExp

  private readonly table: Table

  constructor(table: Table) {
    this.table = table
    // The sentences with most letters of their own come first: "{} is {}, no UUID" before "{} is {}".
    const own = (sentence: string) => sentence.replace(kPlace, '').length
    this.patterns = Object.entries(table)
      .toSorted(([a], [b]) => own(b) - own(a))
      .flatMap(([sentence, translation = '']) => {
        const pattern = patternOf(sentence)
        return pattern && sentence !== kMore ? [[pattern, translation] as const] : []
      })
    this.more = new RegExp(`^(.+)${patternOf(kMore)!.source.slice(1)}`, 's')
  }

  /** undefined: there is no translation */
  translate(english: string): string | undefined {
    if (Object.hasOwn(this.table, english)) return this.table[english]
    const more = this.more.exec(english)
    if (more) {
      const [, before = '', n = ''] = more
      const [head, tail] = [this.translate(before), this.table[kMore]]
      return head !== undefined && tail !== undefined ? head + fill(tail, [n]) : undefined
    }
    for (const [pattern, translation] of this.patterns) {
      const found = pattern.exec(english)
      if (found) return fill(translation, found.slice(1))
    }
    return undefined
  }
}

const fill = (translation: string, values: readonly string[]): string =>
  translation.replace(/\{(\d+)\}/g, (whole, i: string) => values[Number(i)] ?? whole)
