// Grammars of objects: declared properties in order, then other properties by the patterns that their keys match.
import { dfaToRules, labelsOf, makeDfa } from './automaton.js'
import { choice, isNone, kEmpty, kNone, optional, repeat, sequence, text, type Expression } from './gbnf.js'
import type { Alternative, Layer } from './normalize.js'
import { accepts } from './evaluate.js'
import { matches } from './matches.js'
import { refuse, type Node } from './node.js'
import { anyExactText, exactText, kAny, parseRegex, type Regex } from './regex.js'
import { partsOf, stringsOf } from './strings.js'
import { countSteps } from './steps.js'
import type { Context, ObjectSyntax } from './context.js'

type ObjectBounds = Alternative['object']

/** The schemas of all layers that apply to the value of a key. */
export function nodesOfKey(layers: readonly Layer[], key: string, never: Node): Node[] {
  const out = new Set<Node>()
  for (const { properties, patterns, additional } of layers) {
    countSteps(1 + patterns.length)
    const own = properties.get(key)
    const found = [
      ...(own ? [own] : []),
      ...patterns.flatMap(([source, node]) => (matches(source, key) ? [node] : [])),
    ]
    for (const node of found) out.add(node)
    if (found.length === 0 && additional) out.add(additional)
  }
  return out.has(never) ? [never] : [...out]
}

/** Keys that a layer or a requirement names, in order. */
function namedKeys({ layers, required }: ObjectBounds): string[] {
  return [...new Set([...layers.flatMap(({ properties }) => [...properties.keys()]), ...required])]
}

/** The schemas for the value of a key; `never` if propertyNames refuses the key. */
function valueNodes(o: ObjectBounds, key: string, never: Node): Node[] {
  return o.names.every((names) => accepts(names, key)) ? nodesOfKey(o.layers, key, never) : [never]
}

/** Whether objects may have only named keys. */
function isClosed({ layers }: ObjectBounds, context: Context): boolean {
  return layers.some(
    ({ patterns, additional }) =>
      patterns.length === 0 && additional !== undefined && context.isEmpty([additional]),
  )
}

/** The keys that propertyNames allows, if they are few. */
function allowedKeys(o: ObjectBounds, context: Context): string[] | undefined {
  if (o.names.length === 0) return undefined
  const alternatives = context.normalizer.all([...o.names, context.strings])
  if (!alternatives.every(({ values }) => values)) return undefined
  const values = alternatives
    .flatMap(({ values = [] }) => values)
    .filter((value) => typeof value === 'string')
  return [...new Set(values)].filter((value) => o.names.every((names) => accepts(names, value)))
}

export function emptyObject(o: ObjectBounds, context: Context): boolean {
  const { never } = context.document
  if (o.required.some((key) => context.isEmpty(valueNodes(o, key, never)))) return true
  if (o.min === 0 || !isClosed(o, context)) return false
  return namedKeys(o).filter((key) => !context.isEmpty(valueNodes(o, key, never))).length < o.min
}

/** For a negated additionalProperties: one alternative for each key that may be the refused one. */
function withSomeKeys(o: ObjectBounds, context: Context, path: string): ObjectBounds[] {
  countSteps(4)
  const [some, ...rest] = o.some
  if (!some) return [o]
  const closed = isClosed(o, context)
  const cannot = () =>
    refuse(path, 'asks for some other property among additional ones, which a grammar cannot')
  if (!closed && !o.layers.every(({ additional }) => additional === undefined)) cannot()
  const keys = namedKeys(o).filter(
    (key) => !some.names.has(key) && !some.patterns.some((source) => matches(source, key)),
  )
  if (keys.length === 0 && !closed) {
    // Without any named property, the other one can be the first of all.
    if (namedKeys(o).length + some.names.size + some.patterns.length + rest.length > 0) cannot()
    const layer: Layer = { properties: new Map(), patterns: [], additional: some.node }
    return [{ ...o, layers: [...o.layers, layer], min: Math.max(o.min, 1), some: [] }]
  }
  return keys.flatMap((key) => {
    const layer: Layer = { properties: new Map([[key, some.node]]), patterns: [] }
    const required = [...new Set([...o.required, key])]
    return withSomeKeys({ ...o, layers: [...o.layers, layer], required, some: rest }, context, path)
  })
}

export function objectExpression(
  given: ObjectBounds,
  context: Context,
  path: string,
  hint: string,
  syntax?: ObjectSyntax,
): Expression {
  const { layers, required, min, max, names, some } = given
  if (
    !syntax &&
    layers.length + required.length + names.length + some.length === 0 &&
    min === 0 &&
    max === Infinity
  )
    return context.rules.use('object')
  context.rules.use('space')
  return choice(
    ...withSomeKeys(given, context, path).map((o) =>
      new ObjectWriter(o, context, path, hint, syntax).write(),
    ),
  )
}

interface Property {
  readonly pair: Expression
  readonly needed: boolean
}

class ObjectWriter {
  readonly #properties: Property[] = []
  readonly #others: Expression
  readonly #made = new Map<string, Expression>()
  readonly #cap: number
  readonly #syntax: ObjectSyntax

  constructor(
    readonly o: ObjectBounds,
    readonly context: Context,
    readonly path: string,
    readonly hint: string,
    syntax?: ObjectSyntax,
  ) {
    this.#syntax = syntax ?? this.#json()
    const { never } = context.document
    const keys = namedKeys(o)
    const allowed = allowedKeys(o, context)
    for (const key of allowed ?? []) if (!keys.includes(key)) keys.push(key)
    const needed = new Set(o.required)
    for (const key of keys) {
      const nodes = valueNodes(o, key, never)
      const pair = nodes.includes(never) ? kNone : this.#syntax.pair(key, nodes)
      if (needed.has(key) && isNone(pair))
        context.normalizer.reason ??= `${path} requires ${JSON.stringify(key)} and forbids it`
      if (needed.has(key) || !isNone(pair)) this.#properties.push({ pair, needed: needed.has(key) })
    }
    this.#others = allowed || !this.#syntax.others ? kNone : this.#otherPairs(keys)
    const { min, max } = o
    const open = this.#others !== kNone
    if (open && min > this.#properties.length + 1)
      refuse(
        path,
        `needs ${min} properties of any names, and a grammar cannot tell more than one such name from another`,
      )
    // States are distinguished by the number of properties, up to the counted limit.
    this.#cap = max === Infinity ? Math.max(min, 1) : max + 1
    if (this.#cap * this.#properties.length > 5000) refuse(path, 'counts too many properties')
  }

  #json(): ObjectSyntax {
    const space = this.context.rules.use('space')
    return {
      open: sequence(text('{'), space),
      close: sequence(space, text('}')),
      comma: sequence(text(','), space),
      pair: (key, nodes) => this.#pair(this.context.style.key(key), nodes, key),
      others: true,
    }
  }

  write(): Expression {
    const { open, close } = this.#syntax
    return this.context.rules.add(this.hint || 'object', sequence(open, this.#from(0, 0), close))
  }

  #pair(key: Expression, nodes: readonly Node[], hint: string): Expression {
    const value = this.context.visit(nodes, hint)
    const space = this.context.rules.use('space')
    return this.context.rules.add(hint || 'property', sequence(key, text(':'), space, value))
  }

  /** The grammar after the properties before i, of which `count` are present. */
  #from(i: number, count: number): Expression {
    const { min, max } = this.o
    if (count > max) return kNone
    const key = `${i} ${count}`
    const known = this.#made.get(key)
    if (known) return known
    const comma = count > 0 ? [this.#syntax.comma] : []
    let out: Expression
    const property = this.#properties[i]
    if (property) {
      const rest = this.#from(i + 1, Math.min(count + 1, this.#cap))
      const own = sequence(...comma, property.pair, rest)
      out = property.needed ? own : this.#either(own, this.#from(i + 1, count), property, comma)
    } else {
      const [need, room] = [Math.max(min - count, 0), max - count]
      const next = sequence(this.#syntax.comma, this.#others)
      if (this.#others === kNone || room === 0) out = need > 0 ? kNone : kEmpty
      else if (need > 1) out = kNone
      else if (count > 0) out = repeat(next, need, room)
      else {
        const first = sequence(this.#others, repeat(next, 0, room - 1))
        out = need > 0 ? first : optional(first)
      }
    }
    out = this.context.rules.add(count > 0 ? 'rest' : 'first', out, 60)
    this.#made.set(key, out)
    return out
  }

  #either(
    own: Expression,
    without: Expression,
    property: Property,
    comma: readonly Expression[],
  ): Expression {
    // After the first property, the grammar after an optional property is the same with and without it.
    const uncounted = this.#cap === 1 && comma.length > 0
    return uncounted ? sequence(optional(sequence(...comma, property.pair)), without) : choice(own, without)
  }

  /** The grammar of pairs whose keys are not among the named ones. */
  #otherPairs(named: readonly string[]): Expression {
    const { o, context } = this
    const { never } = context.document
    const said = o.layers.some(({ additional }) => additional !== undefined)
    const patterns = [...new Set(o.layers.flatMap((layer) => layer.patterns.map(([source]) => source)))]
    const possible = this.#properties.filter(({ pair }) => !isNone(pair)).length
    const open = said || (named.length === 0 && patterns.length === 0) || o.min > possible
    const rest = o.layers.flatMap(({ additional }) => additional ?? [])
    if (patterns.length === 0) {
      if (!open || context.isEmpty(rest)) return kNone
      const key =
        o.names.length === 0 && named.length === 0 ? context.rules.use('string') : this.#keysOf(named)
      return key === kNone ? kNone : this.#pair(key, rest, 'pair')
    }
    const regexes = [...patterns.map(parseRegex), anyExactText(named)]
    const names = this.#names()
    const dfa = makeDfa([...regexes, ...names.regexes], (matched) => {
      if (matched[patterns.length]) return ''
      if (!names.fits(matched.slice(regexes.length))) return ''
      const found = patterns.map((_, i) => (matched[i] ? '1' : '0')).join('')
      return found.includes('1') || open ? `k${found}` : ''
    })
    const pairs = labelsOf(dfa).map((label) => {
      const has = (source: string) => label[1 + patterns.indexOf(source)] === '1'
      const nodes = new Set<Node>()
      for (const layer of o.layers) {
        const found = layer.patterns.filter(([source]) => has(source))
        for (const [, node] of found) nodes.add(node)
        if (found.length === 0 && layer.additional) nodes.add(layer.additional)
      }
      if (nodes.has(never) || context.isEmpty([...nodes])) return kNone
      const key = this.#quoted(dfaToRules(dfa, label, context.rules, 'key', context.style.character))
      return this.#pair(context.rules.add('key', key), [...nodes], 'pair')
    })
    const out = choice(...pairs.filter((pair) => pair !== kNone))
    return pairs.every((pair) => pair === kNone) ? kNone : context.rules.add('pair', out)
  }

  #quoted(key: Expression): Expression {
    const { quote } = this.context.style
    return sequence(quote, key, quote)
  }

  #keysOf(named: readonly string[]): Expression {
    const names = this.#names()
    const dfa = makeDfa([anyExactText(named), ...names.regexes], ([isNamed, ...matched]) =>
      !isNamed && names.fits(matched) ? 'key' : '',
    )
    if (labelsOf(dfa).length === 0) return kNone
    const { rules, style } = this.context
    return rules.add('key', this.#quoted(dfaToRules(dfa, 'key', rules, 'key', style.character)))
  }

  /** Converts propertyNames to patterns, and a test of the set of matching patterns. */
  #names(): { regexes: Regex[]; fits: (matched: readonly boolean[]) => boolean } {
    if (this.o.names.length === 0) return { regexes: [{ kind: 'set', ranges: kAny }], fits: () => true }
    const alternatives = this.context.normalizer.all([...this.o.names, this.context.strings])
    const parts = alternatives.map(({ values, ...one }) =>
      values
        ? values
            .filter((value) => typeof value === 'string')
            .map((value) => ({ regex: exactText(value), negated: false, any: true }))
        : partsOf(stringsOf(one)).map((part) => ({ ...part, any: false })),
    )
    const fits = (matched: readonly boolean[]) => {
      let at = 0
      return parts
        .map((several) => {
          const good = several.map(({ negated }) => matched[at++] !== negated)
          return several[0]?.any ? good.includes(true) : good.every(Boolean)
        })
        .includes(true)
    }
    return { regexes: parts.flat().map(({ regex }) => regex), fits }
  }
}
