// Grammars of arrays: items by index, lengths, `contains` and `uniqueItems`.
import { choice, kEmpty, kNone, optional, repeat, sequence, text, type Expression } from './gbnf.js'
import type { Context } from './context.js'
import { accepts } from './evaluate.js'
import type { Alternative } from './normalize.js'
import { refuse, same, type Json, type Node } from './node.js'

type ArrayBounds = Alternative['array']
const kMaxUnique = 10
const kMaxStates = 4000

function tupleLength({ tuples }: ArrayBounds): number {
  return Math.max(0, ...tuples.map(({ prefix }) => prefix.length))
}

function nodesOfItem({ tuples }: ArrayBounds, i: number): Node[] {
  return [...new Set(tuples.flatMap(({ prefix, rest }) => prefix[i] ?? rest ?? []))]
}

export function emptyArray(a: ArrayBounds, context: Context): boolean {
  const places = tupleLength(a) + 1
  for (let i = 0; i < Math.min(a.min, places); i++) if (context.isEmpty(nodesOfItem(a, i))) return true
  return a.contains.some(({ node, min, from }) => {
    if (min === 0) return false
    for (let i = from; i < Math.max(places, from + 1) && i < a.max; i++)
      if (!context.isEmpty([...nodesOfItem(a, i), node])) return false
    return true
  })
}

export function arrayExpression(
  given: ArrayBounds,
  context: Context,
  path: string,
  hint: string,
): Expression {
  const { tuples, contains, unique, min, max } = given
  if (tuples.length + contains.length === 0 && !unique && min === 0 && max === Infinity)
    return context.rules.use('array')
  const exact = exactLengths(given, context)
  const write = (bounds: ArrayBounds) => new ArrayWriter(bounds, context, path, hint).write()
  return exact ? context.rules.prefer(hint || 'array', write(exact), () => write(given)) : write(given)
}

/** Tuples that allow further items, and do not say which, are written with exactly the described items. */
function exactLengths(a: ArrayBounds, context: Context): ArrayBounds | undefined {
  const places = tupleLength(a)
  const said = a.tuples.some(({ rest }) => rest !== undefined)
  if (places === 0 || said || a.max <= places || a.min > places || a.contains.length > 0) return undefined
  for (let i = 0; i < places; i++) if (context.isEmpty(nodesOfItem(a, i))) return undefined
  return { ...a, min: a.min === 0 ? places : a.min, max: places }
}

interface State {
  readonly length: number
  /** number of items that matched each `contains` */
  readonly found: readonly number[]
  /** with uniqueItems: which of the possible values occurred */
  readonly used: number
}

/** A possible next item, and the state after it. */
interface Option {
  readonly item: Expression
  readonly found: readonly number[]
  readonly value?: number
}

class ArrayWriter {
  readonly #places: number
  readonly #universe: readonly Json[] | undefined
  readonly #options = new Map<number, readonly Option[]>()
  readonly #made = new Map<string, Expression>()

  constructor(
    readonly a: ArrayBounds,
    readonly context: Context,
    readonly path: string,
    readonly hint: string,
  ) {
    this.#places = tupleLength(a)
    this.#universe = a.unique && this.a.max > 1 ? this.#values() : undefined
  }

  /** The possible values of items, if they are few; undefined if no two items can be equal anyway. */
  #values(): Json[] | undefined {
    const last = Math.min(this.#places + 1, this.a.max)
    const nodes = Array.from({ length: last }, (_, i) => nodesOfItem(this.a, i))
    const bounded = this.a.max <= this.#places
    const disjoint = (i: number, j: number) => this.context.isEmpty([...nodes[i]!, ...nodes[j]!])
    if (bounded && nodes.every((_, i) => nodes.slice(0, i).every((__, j) => disjoint(j, i)))) return undefined
    const out: Json[] = []
    for (const each of nodes) {
      const values = this.context.values(each)
      if (!values)
        refuse(this.path, 'has uniqueItems, which a grammar keeps only for items of a few known values')
      for (const value of values) if (!out.some((other) => same(other, value))) out.push(value)
    }
    if (out.length > kMaxUnique)
      refuse(this.path, `has uniqueItems with more than ${kMaxUnique} values, which a grammar cannot keep`)
    return out
  }

  write(): Expression {
    const { rules } = this.context
    const space = rules.use('space')
    const start = { length: 0, found: this.a.contains.map(() => 0), used: 0 }
    const counted = this.a.contains.length > 0 || this.#universe !== undefined
    const body = counted ? this.#next(start) : this.#plain(0)
    return rules.add(this.hint || 'array', sequence(text('['), space, body, space, text(']')))
  }

  #comma(i: number): Expression[] {
    return i > 0 ? [text(','), this.context.rules.use('space')] : []
  }

  /** The grammar after i items, if only indexes and lengths matter. */
  #plain(i: number): Expression {
    const [min, max] = [this.a.min, this.a.max]
    if (i >= max) return kEmpty
    if (i >= this.#places) {
      const item = this.context.visit(nodesOfItem(this.a, i), 'item')
      const next = sequence(...this.#comma(1), item)
      if (i > 0) return repeat(next, Math.max(min - i, 0), max - i)
      const some = sequence(item, repeat(next, Math.max(min - 1, 0), max - 1))
      return min === 0 ? optional(some) : some
    }
    const item = this.context.visit(nodesOfItem(this.a, i), 'item')
    const rest = this.#plain(i + 1)
    const whole = sequence(
      ...this.#comma(i),
      item,
      i % 8 === 7 ? this.context.rules.add('items', rest) : rest,
    )
    return i < min ? whole : optional(whole)
  }

  /** The items at an index, grouped by which `contains` they match. */
  #optionsAt(place: number): readonly Option[] {
    const known = this.#options.get(place)
    if (known) return known
    const nodes = nodesOfItem(this.a, place)
    const { contains } = this.a
    let out: Option[]
    if (this.#universe) {
      out = this.#universe.flatMap((value, i) => {
        if (!nodes.every((node) => accepts(node, value))) return []
        const found = contains.map(({ node, from }) => Number(place >= from && accepts(node, value)))
        return [{ item: this.context.style.value(value), found, value: i }]
      })
    } else {
      if (contains.length > 4) refuse(this.path, 'has more than four contains')
      const sets = Array.from({ length: 2 ** contains.length }, (_, set) =>
        contains.map((__, j) => (set >> j) % 2),
      )
      out = sets.flatMap((found) => {
        const all = [...nodes]
        for (const [j, { node, max, from }] of contains.entries()) {
          if (found[j] === 1 && place < from) return []
          if (found[j] === 1) all.push(node)
          // If `contains` has no maximum, an item with any value may be left out of the count.
          else if (max < Infinity && place >= from) all.push(this.context.normalizer.negation.of(node))
        }
        return this.context.isEmpty(all) ? [] : [{ item: this.context.visit(all, 'item'), found }]
      })
    }
    this.#options.set(place, out)
    return out
  }

  #next(state: State): Expression {
    const { contains } = this.a
    const key = `${state.length} ${state.found.join()} ${state.used}`
    const known = this.#made.get(key)
    if (known) return known
    if (this.#made.size > kMaxStates) refuse(this.path, 'counts too many items')
    const name = this.context.rules.reserve('items')
    const self: Expression = { kind: 'rule', name }
    this.#made.set(key, self)
    const lastPlace = Math.max(this.#places, ...contains.map(({ from }) => from))
    const cap = this.a.max < Infinity ? this.a.max : Math.max(lastPlace, this.a.min, 1)
    const done = state.length >= this.a.min && state.found.every((n, j) => n >= contains[j]!.min)
    const ways: Expression[] = done ? [kEmpty] : []
    if (state.length < this.a.max)
      for (const { item, found, value } of this.#optionsAt(Math.min(state.length, lastPlace))) {
        const used = value === undefined ? 0 : 2 ** value
        if ((state.used & used) !== 0) continue
        const counts = state.found.map((n, j) => {
          const { min, max } = contains[j]!
          return Math.min(n + found[j]!, max < Infinity ? max + 1 : min)
        })
        if (counts.some((n, j) => n > contains[j]!.max)) continue
        const next = { length: Math.min(state.length + 1, cap), found: counts, used: state.used | used }
        ways.push(sequence(...this.#comma(state.length), item, this.#next(next)))
      }
    this.context.rules.define(name, ways.length > 0 ? choice(...ways) : kNone)
    return self
  }
}
