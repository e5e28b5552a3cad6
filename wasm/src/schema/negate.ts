// Negates schemas: one schema for each way in which a value can be refused.
import { kNumberFormats, kStringFormats } from './formats.js'
import {
  kTypes,
  refuse,
  type Json,
  type Keywords,
  type Node,
  type SchemaDocument,
  type TypeName,
} from './node.js'

const only = (type: TypeName): ReadonlySet<TypeName> => new Set([type])

export class Negation {
  readonly #known = new Map<number, Node>()

  constructor(readonly document: SchemaDocument) {}

  /** A node that accepts exactly the values that `node` refuses. */
  of(node: Node): Node {
    let out = this.#known.get(node.id)
    if (!out) {
      out = this.document.make(() => ({ anyOf: this.#ways(node) }), node.path)
      this.#known.set(node.id, out)
      this.#known.set(out.id, node)
    }
    return out
  }

  #ways(node: Node): Node[] {
    const k = node.keywords()
    const ways: Keywords[] = [
      ...this.#typesAndValues(k, node.path),
      ...numbers(k),
      ...strings(k, node.path),
      ...this.#arrays(k, node.path),
      ...this.#objects(k, node.path),
      ...this.#combined(k, node.path),
    ]
    const made = ways.map((way) => this.document.make(way, node.path))
    return made.length > 0 ? made : [this.document.make({ types: new Set() }, node.path)]
  }

  #typesAndValues(k: Keywords, path: string): Keywords[] {
    const out: Keywords[] = []
    if (k.types) {
      const others = kTypes.filter((type) => !k.types!.has(type))
      if (others.length > 0) out.push({ types: new Set(others) })
    }
    if (k.integer) out.push({ types: only('number'), fraction: true })
    if (k.fraction) out.push({ types: only('number'), integer: true })
    if (k.values) {
      const scalars = k.values.filter((value) => typeof value !== 'object' || value === null)
      const others = k.values.filter((value) => typeof value === 'object' && value !== null)
      out.push({ excluded: scalars, allOf: others.map((value) => this.#unlike(value, path)) })
    }
    if (k.excluded) out.push({ values: k.excluded })
    return out
  }

  /** A node that accepts every value except one array or object. */
  #unlike(value: Json, path: string): Node {
    const make = (keywords: Keywords) => this.document.make(keywords, path)
    const not = (item: Json) => this.of(make({ values: [item] }))
    if (Array.isArray(value)) {
      const items = value as readonly Json[]
      const any = this.document.any
      const ways = items.map((item, i) =>
        make({
          types: only('array'),
          minItems: i + 1,
          prefix: [...items.slice(0, i).map(() => any), not(item)],
          items: any,
        }),
      )
      if (items.length > 0) ways.push(make({ types: only('array'), maxItems: items.length - 1 }))
      ways.push(make({ types: only('array'), minItems: items.length + 1 }))
      return make({ anyOf: [make({ types: new Set(kTypes.filter((t) => t !== 'array')) }), ...ways] })
    }
    const entries = Object.entries(value as { readonly [key: string]: Json })
    const ways = entries.flatMap(([key, item]) => [
      make({ types: only('object'), properties: new Map([[key, this.document.never]]) }),
      make({ types: only('object'), properties: new Map([[key, not(item)]]), required: [key] }),
    ])
    ways.push(make({ types: only('object'), minProperties: entries.length + 1 }))
    return make({ anyOf: [make({ types: new Set(kTypes.filter((t) => t !== 'object')) }), ...ways] })
  }

  #arrays(k: Keywords, path: string): Keywords[] {
    const out: Keywords[] = []
    const types = only('array')
    const { prefix = [], items, contains } = k
    prefix.forEach((item, i) => {
      const before = prefix.slice(0, i).map(() => this.document.any)
      out.push({ types, minItems: i + 1, prefix: [...before, this.of(item)], items: this.document.any })
    })
    if (items)
      out.push({ types, contains: { node: this.of(items), min: 1, max: Infinity, from: prefix.length } })
    if (contains) {
      if (contains.min > 0) out.push({ types, contains: { ...contains, min: 0, max: contains.min - 1 } })
      if (contains.max < Infinity)
        out.push({ types, contains: { ...contains, min: contains.max + 1, max: Infinity } })
    }
    if (k.minItems) out.push({ types, maxItems: k.minItems - 1 })
    if (k.maxItems !== undefined) out.push({ types, minItems: k.maxItems + 1 })
    if (k.unique) refuse(path, 'has uniqueItems where what it refuses is asked for (not, oneOf, if)')
    if (k.unevaluatedItems ?? k.unevaluatedProperties)
      refuse(path, 'has an unevaluated keyword where what it refuses is asked for (not, oneOf, if)')
    return out
  }

  #objects(k: Keywords, path: string): Keywords[] {
    const out: Keywords[] = []
    const types = only('object')
    const { never } = this.document
    const names = new Set(k.properties?.keys())
    const patterns = (k.patternProperties ?? []).map(([source]) => source)
    for (const [key, child] of k.properties ?? [])
      out.push({ types, required: [key], properties: new Map([[key, this.of(child)]]) })
    if (k.additional) out.push({ types, someKey: { names, patterns, node: this.of(k.additional) } })
    for (const key of k.required ?? []) out.push({ types, properties: new Map([[key, never]]) })
    if (k.minProperties) out.push({ types, maxProperties: k.minProperties - 1 })
    if (k.maxProperties !== undefined) out.push({ types, minProperties: k.maxProperties + 1 })
    for (const [key, others] of k.dependentRequired ?? [])
      for (const other of others) out.push({ types, required: [key], properties: new Map([[other, never]]) })
    for (const [key, child] of k.dependentSchemas ?? [])
      out.push({ types, required: [key], allOf: [this.of(child)] })
    for (const name of ['patternProperties', 'propertyNames', 'someKey'] as const)
      if (k[name] !== undefined && !(name === 'patternProperties' && patterns.length === 0))
        refuse(
          path,
          `has ${name === 'someKey' ? 'not' : name} where what it refuses is asked for (not, oneOf, if)`,
        )
    return out
  }

  #combined(k: Keywords, path: string): Keywords[] {
    const not = (node: Node) => this.of(node)
    const out: Keywords[] = [...(k.references ?? []), ...(k.allOf ?? [])].map((node) => ({
      allOf: [not(node)],
    }))
    if (k.anyOf) out.push({ allOf: k.anyOf.map(not) })
    if (k.oneOf) {
      out.push({ allOf: k.oneOf.map(not) })
      if (k.oneOf.length > 20)
        refuse(`${path}/oneOf`, 'has too many branches where what it refuses is asked for')
      k.oneOf.forEach((a, i) => k.oneOf!.slice(0, i).forEach((b) => out.push({ allOf: [a, b] })))
    }
    if (k.not) out.push({ allOf: [k.not] })
    if (k.if && k.then) out.push({ allOf: [k.if, not(k.then)] })
    if (k.if && k.else) out.push({ allOf: [not(k.if), not(k.else)] })
    return out
  }
}

function numbers(k: Keywords): Keywords[] {
  const types = only('number')
  const out: Keywords[] = []
  const format = k.format === undefined ? undefined : kNumberFormats[k.format]
  for (const bounds of [k, format ?? {}] as Keywords[]) {
    if (bounds.minimum !== undefined) out.push({ types, exclusiveMaximum: bounds.minimum })
    if (bounds.maximum !== undefined) out.push({ types, exclusiveMinimum: bounds.maximum })
  }
  if (format?.integer) out.push({ types, fraction: true })
  if (k.exclusiveMinimum !== undefined) out.push({ types, maximum: k.exclusiveMinimum })
  if (k.exclusiveMaximum !== undefined) out.push({ types, minimum: k.exclusiveMaximum })
  if (k.multipleOf !== undefined) out.push({ types, notMultipleOf: k.multipleOf })
  if (k.notMultipleOf !== undefined) out.push({ types, multipleOf: k.notMultipleOf })
  return out
}

function strings(k: Keywords, path: string): Keywords[] {
  const types = only('string')
  const out: Keywords[] = []
  if (k.minLength) out.push({ types, maxLength: k.minLength - 1 })
  if (k.maxLength !== undefined) out.push({ types, minLength: k.maxLength + 1 })
  for (const { source, negated } of k.patterns ?? [])
    out.push({ types, patterns: [{ source, negated: !negated }] })
  if (k.format !== undefined && Object.hasOwn(kStringFormats, k.format))
    refuse(path, `has the format ${k.format} where what it refuses is asked for (not, oneOf, if)`)
  return out
}
