// Grammars of strings: combines patterns, formats, lengths and excluded values into one automaton.
import { dfaToRules, isEmptyDfa, lengthsOf, makeDfa, type Dfa } from './automaton.js'
import type { Context } from './context.js'
import { choice, repeat, sequence, type Expression } from './gbnf.js'
import { PatternError } from './errors.js'
import { kStringFormats } from './formats.js'
import type { Alternative } from './normalize.js'
import { anyOfLength, exactText, kAny, parseRegex, type Regex } from './regex.js'

export interface StringBounds {
  readonly min: number
  readonly max: number
  readonly patterns: readonly { readonly source: string; readonly negated: boolean }[]
  readonly formats: readonly string[]
  readonly excluded: readonly string[]
}

export function stringsOf({ string, excluded }: Alternative): StringBounds {
  return { ...string, excluded: excluded.filter((value) => typeof value === 'string') }
}

/** A pattern that must match, or must not. */
interface Part {
  readonly regex: Regex
  readonly negated: boolean
}

/** Splits off the lookaheads at the beginning of a pattern: each is a pattern of its own. */
function separated({ regex, negated }: Part): Part[] {
  const items = regex.kind === 'sequence' ? regex.items : []
  const end = items.findIndex(({ kind }, i) => i > 0 && kind !== 'ahead')
  if (negated || items[0]?.kind !== 'start' || end < 2) return [{ regex, negated }]
  const [start, rest] = [items[0], items.slice(end)]
  const aheads = items.slice(1, end).flatMap((one) => (one.kind === 'ahead' ? [one] : []))
  return [
    ...aheads.map((one): Part => ({
      regex: { kind: 'sequence', items: [start, one.item] },
      negated: one.negated,
    })),
    { regex: { kind: 'sequence', items: [start, ...rest] }, negated: false },
  ]
}

/** Whether every string of a format keeps to a part. If that needs too large an automaton, the answer is false. */
function includes(format: Regex, { regex, negated }: Part): boolean {
  try {
    const label = ([inside, found]: readonly boolean[]) => (inside && found === negated ? 'other' : '')
    return isEmptyDfa(
      makeDfa([format, regex], label, ([inside, found]) => inside === false || found === !negated),
    )
  } catch (error) {
    if (error instanceof PatternError) return false
    throw error
  }
}

export function partsOf(b: StringBounds): Part[] {
  const formats = b.formats.map((name) => parseRegex(`^(?:${kStringFormats[name]!})$`))
  const sources = new Map(b.patterns.map((one) => [`${one.negated} ${one.source}`, one]))
  const patterns = [...sources.values()]
    .flatMap(({ source, negated }) => separated({ regex: parseRegex(source), negated }))
    .filter((part) => !formats.some((format) => includes(format, part)))
  const out = [...patterns, ...formats.map((regex) => ({ regex, negated: false }))]
  out.push(...b.excluded.map((value) => ({ regex: exactText(value), negated: true })))
  if (b.min > 0 || b.max < Infinity) out.push({ regex: anyOfLength(b.min, b.max), negated: false })
  return out
}

function stringDfa(b: StringBounds): Dfa {
  const free = { ...b, min: 0, max: Infinity }
  const unbounded = b.min === 0 && b.max === Infinity
  const dfa = dfaOf(partsOf(free))
  if (unbounded) return dfa
  // Length bounds that all strings satisfy anyway need no states.
  const { shortest, longest } = lengthsOf(dfa)
  if (b.min <= shortest && b.max >= longest) return dfa
  return dfaOf(
    partsOf({ ...b, min: b.min <= shortest ? 0 : b.min, max: b.max >= longest ? Infinity : b.max }),
  )
}
function dfaOf(parts: readonly Part[]): Dfa {
  return makeDfa(
    parts.map(({ regex }) => regex),
    (matches) => (matches.every((good, i) => good !== parts[i]!.negated) ? 'string' : ''),
    (settled) => settled.some((good, i) => good === parts[i]!.negated),
  )
}

/** Whether no string is accepted. A format's expression matches only a subset, so it cannot prove that. */
export function noStrings(b: StringBounds): boolean {
  if (b.max < b.min) return true
  if (b.patterns.length + b.excluded.length === 0) return false
  return isEmptyDfa(stringDfa({ ...b, formats: [] }))
}

/** Converts a regular expression directly to an expression; undefined if that needs an automaton. */
function direct(regex: Regex, { style }: Context): Expression | undefined {
  const any = style.character(kAny)
  const inner = (r: Regex): Expression | undefined => {
    switch (r.kind) {
      case 'set':
        return style.character(r.ranges)
      case 'repeat': {
        const item = inner(r.item)
        return item && repeat(item, r.min, r.max)
      }
      case 'sequence':
      case 'choice': {
        const items = r.items.map(inner)
        if (items.some((item) => item === undefined)) return undefined
        return (r.kind === 'sequence' ? sequence : choice)(...(items as Expression[]))
      }
      default:
        return undefined
    }
  }
  const alternatives = regex.kind === 'choice' ? regex.items : [regex]
  const outs = alternatives.map((alternative) => {
    let items = alternative.kind === 'sequence' ? alternative.items : [alternative]
    const start = items[0]?.kind === 'start'
    const end = items.at(-1)?.kind === 'end'
    items = items.slice(start ? 1 : 0, end ? -1 : undefined)
    const body = inner({ kind: 'sequence', items })
    const around = repeat(any, 0, Infinity)
    return body && sequence(...(start ? [] : [around]), body, ...(end ? [] : [around]))
  })
  return outs.includes(undefined) ? undefined : choice(...(outs as Expression[]))
}

export function stringExpression(b: StringBounds, context: Context, hint: string): Expression {
  const { rules, style } = context
  const parts = partsOf(b)
  if (parts.length === 0) return rules.use('string')
  const plain = b.patterns.length + b.formats.length + b.excluded.length === 0
  if (plain)
    return rules.add(hint, sequence(style.quote, repeat(rules.use('char'), b.min, b.max), style.quote))
  const [only] = parts
  const alone = parts.length === 1 && !only!.negated ? direct(only!.regex, context) : undefined
  const body = alone ?? dfaToRules(stringDfa(b), 'string', rules, hint, style.character)
  return rules.add(hint, sequence(style.quote, body, style.quote))
}
