// Converts schemas to expressions. Each combination of schemas has one rule, so that recursion ends.
import { GgufError } from '../api/errors.js'
import type { Context, ObjectSyntax, ValueStyle } from './context.js'
import { arrayExpression, emptyArray } from './arrays.js'
import { PatternError } from './errors.js'
import { accepts } from './evaluate.js'
import { choice, isNone, rule, type Expression } from './gbnf.js'
import { kJson } from './json-rules.js'
import { refuse, SchemaDocument, kTypes, type Json, type Node, type TypeName } from './node.js'
import { Normalizer, numbersOf, type Alternative } from './normalize.js'
import { numberExpression } from './numbers.js'
import { emptyObject, objectExpression } from './objects.js'
import { Rules } from './rules.js'
import { noStrings, stringExpression, stringsOf, type StringBounds } from './strings.js'

const keyOf = (nodes: readonly Node[]) =>
  nodes
    .map(({ id }) => id)
    .sort((a, b) => a - b)
    .join()

/** Runs a step, and adds the schema's path to the errors of patterns. */
function at<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof PatternError) refuse(path, error.message)
    throw error
  }
}

interface Visit {
  expression?: Expression
  name?: string
}

export class Converter implements Context {
  readonly rules: Rules
  readonly normalizer: Normalizer
  readonly strings: Node
  readonly #visits = new Map<string, Visit>()
  readonly #empty = new Map<string, boolean>()
  #unwritten: (() => never) | undefined
  #depth = 0

  /** rules: the rules of a grammar with other parts besides this schema. */
  constructor(
    readonly document: SchemaDocument,
    rules?: Rules,
    readonly style: ValueStyle = kJson,
  ) {
    this.rules = rules ?? new Rules(style.common)
    this.normalizer = new Normalizer(document, (nodes) => this.isEmpty(nodes))
    this.strings = document.make({ types: new Set(['string']) }, '#')
  }

  #without(nodes: readonly Node[]): Node[] {
    return [...new Set(nodes)].filter((node) => node !== this.document.any)
  }

  isEmpty(given: readonly Node[]): boolean {
    const nodes = this.#without(given)
    if (nodes.length === 0) return false
    const key = keyOf(nodes)
    const known = this.#empty.get(key)
    if (known !== undefined) return known
    if (++this.#depth > 300) refuse(nodes[0]!.path, 'nests too deep')
    this.#empty.set(key, false) // while it is being determined
    const out = at(nodes[0]!.path, () =>
      this.normalizer.all(nodes).every((one) => {
        if (one.values) return this.#fitting(one.values, nodes).length === 0
        return [...one.types].every((type) => this.#isEmptyType(one, type))
      }),
    )
    this.#empty.set(key, out)
    this.#depth--
    return out
  }
  #isEmptyType(one: Alternative, type: TypeName): boolean {
    if (type === 'array') return emptyArray(one.array, this)
    if (type === 'object') return emptyObject(one.object, this)
    return type === 'string' && noStrings(stringsOf(one))
  }

  #fitting(values: readonly Json[], nodes: readonly Node[]): Json[] {
    return values.filter((value) => nodes.every((node) => accepts(node, value)))
  }

  values(nodes: readonly Node[]): Json[] | undefined {
    const out: Json[] = []
    for (const one of this.normalizer.all(this.#without(nodes))) {
      const several = one.values ?? this.#known(one)
      if (!several) return undefined
      out.push(...this.#fitting(several, nodes))
    }
    return out
  }
  #known(one: Alternative): Json[] | undefined {
    const out: Json[] = []
    for (const type of one.types) {
      const { low, high, integer } = one.number
      if (type === 'null') out.push(null)
      else if (type === 'boolean') out.push(false, true)
      else if (type === 'number' && integer && high - low < 20)
        for (let n = Math.ceil(low); n <= high; n++) out.push(n)
      else return undefined
    }
    return out
  }

  visit(given: readonly Node[], hint: string): Expression {
    const nodes = this.#without(given)
    if (nodes.length === 0) return this.rules.use('value')
    const key = keyOf(nodes)
    const known = this.#visits.get(key)
    if (known) {
      if (known.expression) return known.expression
      known.name ??= this.rules.reserve(hint || 'schema')
      return rule(known.name)
    }
    if (++this.#depth > 200) refuse(nodes[0]!.path, 'nests too deep')
    const visit: Visit = {}
    this.#visits.set(key, visit)
    const body = at(nodes[0]!.path, () => this.#body(nodes, hint))
    this.#depth--
    visit.expression = visit.name === undefined ? body : this.rules.define(visit.name, body)
    return visit.expression
  }

  #body(nodes: readonly Node[], hint: string): Expression {
    const values = new Map<string, Expression>()
    const ways: Expression[] = []
    for (const one of this.normalizer.all(nodes)) {
      if (one.values) {
        for (const value of this.#fitting(one.values, nodes)) {
          values.set(JSON.stringify(value), this.style.value(value))
        }
        continue
      }
      const all = one.types.size === kTypes.length
      const spoken = [...one.spoken].filter((type) => !this.#isEmptyType(one, type))
      const types = new Set(all && spoken.length > 0 ? spoken : one.types)
      const { string, array, object, number, excluded } = one
      const free =
        string.patterns.length +
          string.formats.length +
          array.tuples.length +
          array.contains.length +
          excluded.length ===
          0 &&
        object.layers.length + object.required.length + object.names.length === 0 &&
        number.steps.length + number.notSteps.length === 0
      if (all && one.spoken.size === 0 && free && !number.integer && !number.fraction)
        return this.rules.use('value')
      const write = (several: Iterable<TypeName>) =>
        [...several]
          .map((type) => this.#ofType(type, one, nodes[0]!.path, hint))
          .filter((way) => !isNone(way))
      const written = write(types)
      if (types.size === one.types.size) ways.push(...written)
      // If no value of the mentioned types is left, the other types still are.
      else {
        const others = [...one.types].filter((type) => !types.has(type))
        ways.push(this.rules.prefer(hint || 'any', choice(...written), () => choice(...write(others))))
      }
    }
    if (values.size > 0) ways.push(this.rules.add('value', choice(...values.values())))
    const out = choice(...ways)
    return ways.length > 1 ? this.rules.add(hint || 'any', out) : out
  }

  #ofType(type: TypeName, one: Alternative, path: string, hint: string): Expression {
    switch (type) {
      case 'null':
        return this.rules.use('null')
      case 'boolean': {
        const left = [true, false].filter((value) => !one.excluded.includes(value))
        return left.length === 2
          ? this.rules.use('boolean')
          : choice(...left.map((value) => this.style.value(value)))
      }
      case 'number':
        return (
          numberExpression(numbersOf(one), this.rules) ??
          refuse(
            path,
            `has multiples of ${one.number.steps.concat(one.number.notSteps).join(' and ')}, which a grammar keeps only of small integers, halves and quarters, or within bounds of 10000 multiples`,
          )
        )
      case 'string':
        return this.#string(stringsOf(one), path, hint)
      case 'array':
        return arrayExpression(one.array, this, path, hint)
      case 'object':
        return objectExpression(one.object, this, path, hint)
    }
  }

  #string(bounds: StringBounds, path: string, hint: string): Expression {
    const out = stringExpression(bounds, this, hint || 'string')
    if (isNone(out) && !noStrings(bounds))
      this.#unwritten ??= () =>
        refuse(
          path,
          `has the format ${bounds.formats.join(' and ')}, and what else it says fits no text that a grammar has for it`,
        )
    return out
  }

  /** The error of a schema without a grammar. */
  nothing(): never {
    this.#unwritten?.()
    throw new GgufError(
      'invalid-argument',
      `The schema accepts nothing: ${this.normalizer.reason ?? 'no value keeps to all that it says'}.`,
    )
  }

  /** The objects that all nodes accept, in another syntax. Error: 'unsupported' for objects listed by enum or const. */
  objects(nodes: readonly Node[], syntax: ObjectSyntax, hint: string): Expression {
    const object = this.document.make({ types: new Set(['object']) }, '#')
    const { path } = nodes[0]!
    const ways = this.normalizer.all([...nodes, object]).map((one) => {
      if (one.values) refuse(path, 'lists whole objects, which cannot be written as parameters')
      return at(path, () => objectExpression(one.object, this, path, hint, syntax))
    })
    return choice(...ways)
  }
}
