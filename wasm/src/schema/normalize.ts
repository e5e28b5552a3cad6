// Normalizes a schema to alternatives without anyOf, references and the like: each lists the constraints for every
// type.
import { kNumberFormats, kStringFormats } from './formats.js'
import { Negation } from './negate.js'
import {
  kTypes,
  refuse,
  isAmong,
  typeOf,
  wrong,
  type Contains,
  type Json,
  type Keywords,
  type Node,
  type SchemaDocument,
  type SomeKey,
  type TypeName,
} from './node.js'
import { countSteps } from './steps.js'
import { noNumbers, type NumberBounds } from './numbers.js'

/** One schema's constraints for properties: by name, by pattern, and for all others. */
export interface Layer {
  readonly properties: ReadonlyMap<string, Node>
  readonly patterns: readonly (readonly [string, Node])[]
  readonly additional?: Node
}
interface Tuple {
  readonly prefix: readonly Node[]
  readonly rest?: Node
}

export interface Alternative {
  readonly types: ReadonlySet<TypeName>
  /** the types to which its keywords apply, if it has no keyword `type` */
  readonly spoken: ReadonlySet<TypeName>
  readonly values?: readonly Json[]
  readonly excluded: readonly Json[]
  readonly number: NumberBounds
  readonly string: {
    readonly min: number
    readonly max: number
    readonly patterns: readonly { readonly source: string; readonly negated: boolean }[]
    readonly formats: readonly string[]
  }
  readonly array: {
    readonly min: number
    readonly max: number
    readonly tuples: readonly Tuple[]
    readonly contains: readonly Contains[]
    readonly unique: boolean
  }
  readonly object: {
    readonly layers: readonly Layer[]
    readonly required: readonly string[]
    readonly min: number
    readonly max: number
    readonly names: readonly Node[]
    readonly some: readonly SomeKey[]
  }
  /** properties and items that count as evaluated for the unevaluated keywords */
  readonly seen: {
    readonly keys: readonly string[]
    readonly patterns: readonly string[]
    readonly allKeys: boolean
    readonly items: number
    readonly allItems: boolean
    readonly contains: boolean
  }
}

const kMaxAlternatives = 300
const kUnseen = { keys: [], patterns: [], allKeys: false, items: 0, allItems: false, contains: false }
const kOfType: Readonly<Partial<Record<TypeName, readonly (keyof Keywords)[]>>> = {
  object: ['properties', 'patternProperties', 'additional', 'required', 'minProperties', 'maxProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  array: ['prefix', 'items', 'minItems', 'maxItems', 'unique', 'contains', 'unevaluatedItems'],
  string: ['minLength', 'maxLength', 'patterns'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
} // prettier-ignore

function boundsOf(k: Keywords): NumberBounds {
  const { format = '' } = k
  const bounds = Object.hasOwn(kNumberFormats, format) ? kNumberFormats[format]! : {}
  const low = Math.max(k.minimum ?? -Infinity, bounds.minimum ?? -Infinity)
  const above = k.exclusiveMinimum ?? -Infinity
  const high = Math.min(k.maximum ?? Infinity, bounds.maximum ?? Infinity)
  const below = k.exclusiveMaximum ?? Infinity
  return {
    integer: (k.integer ?? false) || (bounds.integer ?? false),
    fraction: k.fraction ?? false,
    low: Math.max(low, above),
    lowOpen: above >= low && above > -Infinity,
    high: Math.min(high, below),
    highOpen: below <= high && below < Infinity,
    steps: k.multipleOf === undefined ? [] : [k.multipleOf],
    notSteps: k.notMultipleOf === undefined ? [] : [k.notMultipleOf],
    excluded: [],
  }
}

function ofKeywords(k: Keywords): Alternative {
  const spoken = kTypes.filter((type) => kOfType[type]?.some((key) => k[key] !== undefined))
  const { format = '', prefix = [], items, properties = new Map(), patternProperties = [], additional } = k
  if (Object.hasOwn(kStringFormats, format)) spoken.push('string')
  const layered = k.properties !== undefined || patternProperties.length > 0 || additional !== undefined
  return {
    types: k.types ?? new Set(kTypes),
    spoken: new Set(spoken),
    ...(k.values && { values: k.values }),
    excluded: k.excluded ?? [],
    number: boundsOf(k),
    string: {
      min: k.minLength ?? 0,
      max: k.maxLength ?? Infinity,
      patterns: k.patterns ?? [],
      formats: Object.hasOwn(kStringFormats, format) ? [format] : [],
    },
    array: {
      min: k.minItems ?? 0,
      max: k.maxItems ?? Infinity,
      tuples: k.prefix || items ? [{ prefix, ...(items && { rest: items }) }] : [],
      contains: k.contains ? [k.contains] : [],
      unique: k.unique ?? false,
    },
    object: {
      layers: layered ? [{ properties, patterns: patternProperties, ...(additional && { additional }) }] : [],
      required: k.required ?? [],
      min: k.minProperties ?? 0,
      max: k.maxProperties ?? Infinity,
      names: k.propertyNames ? [k.propertyNames] : [],
      some: k.someKey ? [k.someKey] : [],
    },
    seen: {
      keys: [...properties.keys()],
      patterns: patternProperties.map(([source]) => source),
      allKeys: additional !== undefined,
      items: prefix.length,
      allItems: items !== undefined,
      contains: k.contains !== undefined,
    },
  }
}

/** The values of a schema that only lists numbers, texts, booleans and null. */
function scalarsOf({ values, types, integer, ...others }: Keywords): Json[] | undefined {
  if (!values || Object.keys(others).length > 0) return undefined
  if (values.some((value) => typeof value === 'object' && value !== null)) return undefined
  return values.filter(
    (value) => (!types || types.has(typeOf(value))) && (!integer || Number.isInteger(value)),
  )
}

function meetNumbers(a: NumberBounds, b: NumberBounds): NumberBounds {
  const [low, high] = [Math.max(a.low, b.low), Math.min(a.high, b.high)]
  return {
    integer: a.integer || b.integer,
    fraction: a.fraction || b.fraction,
    low,
    lowOpen: (a.low === low && a.lowOpen) || (b.low === low && b.lowOpen),
    high,
    highOpen: (a.high === high && a.highOpen) || (b.high === high && b.highOpen),
    steps: [...new Set([...a.steps, ...b.steps])],
    notSteps: [...new Set([...a.notSteps, ...b.notSteps])],
    excluded: [],
  }
}

const union = <T>(a: readonly T[], b: readonly T[]): T[] => [...new Set([...a, ...b])]

function meetTwo(a: Alternative, b: Alternative): Alternative {
  const values = a.values && b.values ? a.values.filter((x) => isAmong(x, b.values!)) : (a.values ?? b.values)
  return {
    types: new Set([...a.types].filter((type) => b.types.has(type))),
    spoken: new Set([...a.spoken, ...b.spoken]),
    ...(values && { values }),
    excluded: [...a.excluded, ...b.excluded],
    number: meetNumbers(a.number, b.number),
    string: {
      min: Math.max(a.string.min, b.string.min),
      max: Math.min(a.string.max, b.string.max),
      patterns: [...a.string.patterns, ...b.string.patterns],
      formats: union(a.string.formats, b.string.formats),
    },
    array: {
      min: Math.max(a.array.min, b.array.min),
      max: Math.min(a.array.max, b.array.max),
      tuples: union(a.array.tuples, b.array.tuples),
      contains: union(a.array.contains, b.array.contains),
      unique: a.array.unique || b.array.unique,
    },
    object: {
      layers: union(a.object.layers, b.object.layers),
      required: union(a.object.required, b.object.required),
      min: Math.max(a.object.min, b.object.min),
      max: Math.min(a.object.max, b.object.max),
      names: union(a.object.names, b.object.names),
      some: union(a.object.some, b.object.some),
    },
    seen: {
      keys: union(a.seen.keys, b.seen.keys),
      patterns: union(a.seen.patterns, b.seen.patterns),
      allKeys: a.seen.allKeys || b.seen.allKeys,
      items: Math.max(a.seen.items, b.seen.items),
      allItems: a.seen.allItems || b.seen.allItems,
      contains: a.seen.contains || b.seen.contains,
    },
  }
}

/** The constraints for numbers, including excluded values. */
export function numbersOf(alternative: Alternative): NumberBounds {
  const excluded = alternative.excluded.filter((value) => typeof value === 'number')
  return { ...alternative.number, excluded }
}

/** The reason why a type has no accepted value, if a simple check finds one. */
function contradiction(alternative: Alternative, type: TypeName): string | undefined {
  const { string, array, object } = alternative
  switch (type) {
    case 'null':
      return alternative.excluded.includes(null) ? 'null is excluded' : undefined
    case 'boolean':
      return [true, false].every((value) => alternative.excluded.includes(value))
        ? 'both are excluded'
        : undefined
    case 'number':
      return noNumbers(numbersOf(alternative)) ? 'no number is within the bounds' : undefined
    case 'string':
      return string.max < string.min ? 'maxLength is below minLength' : undefined
    case 'array':
      return array.max < array.min ? 'maxItems is below minItems' : undefined
    case 'object':
      if (object.max < object.min) return 'maxProperties is below minProperties'
      return object.required.length > object.max
        ? 'more properties are required than maxProperties allows'
        : undefined
  }
}

export class Normalizer {
  readonly negation: Negation
  readonly #known = new Map<string, Alternative[]>()
  readonly #open = new Set<number>()
  /** why the first alternative was dropped, for the error message if none is left */
  reason: string | undefined
  #visits = 0

  constructor(
    readonly document: SchemaDocument,
    readonly isEmpty: (nodes: readonly Node[]) => boolean,
  ) {
    this.negation = new Negation(document)
  }

  /** The alternatives that all nodes accept together. */
  all(nodes: readonly Node[]): Alternative[] {
    return nodes.reduce(
      (out, node) => (out.length === 0 ? out : this.#meet(out, this.#of(node, false), node.path)),
      [ofKeywords({})],
    )
  }

  #meet(a: readonly Alternative[], b: readonly Alternative[], path: string): Alternative[] {
    countSteps(10 * a.length * b.length)
    if (a.length * b.length > kMaxAlternatives)
      refuse(path, 'has too many alternatives, each of which differs from the others')
    return a.flatMap((x) => b.flatMap((y) => this.#possible(meetTwo(x, y), path)))
  }

  /** Removes types without values; returns nothing if no type is left. */
  #possible(alternative: Alternative, path: string): Alternative[] {
    const types = new Set<TypeName>()
    let reason = 'its types exclude each other'
    for (const type of alternative.types) {
      const why = contradiction(alternative, type)
      if (why === undefined) types.add(type)
      else reason = why
    }
    if (types.size > 0 && alternative.values?.length !== 0) return [{ ...alternative, types }]
    this.reason ??= `${path} accepts nothing: ${types.size > 0 ? 'none of its values is left' : reason}`
    return []
  }

  /** The alternatives of a node. track: evaluated properties and items are needed, so every matching branch counts. */
  #of(node: Node, track: boolean): Alternative[] {
    const key = `${node.id} ${track}`
    const known = this.#known.get(key)
    if (known) return known
    if (this.#open.has(node.id)) wrong(node.path, 'refers to itself without a value between')
    if (this.#open.size > 200 || ++this.#visits > 50_000) refuse(node.path, 'nests too deep')
    this.#open.add(node.id)
    try {
      const k = node.keywords()
      const within = track || k.unevaluatedItems !== undefined || k.unevaluatedProperties !== undefined
      const combined = this.#combined(k, node, within)
      const out = combined.flatMap((one) => this.#unevaluated(one, k, node))
      this.#known.set(key, out)
      return out
    } finally {
      this.#open.delete(node.id)
    }
  }

  #combined(k: Keywords, node: Node, track: boolean): Alternative[] {
    const { path } = node
    // The schema false is intended to refuse; the keyword that contains it gives the reason.
    let out = k.types?.size === 0 ? [] : this.#possible(ofKeywords(k), path)
    const and = (others: readonly Alternative[]) => {
      out = out.length === 0 ? out : this.#meet(out, others, path)
    }
    const together = (nodes: readonly Node[]) =>
      nodes.reduce<Alternative[]>(
        (all, n) => (all.length === 0 ? all : this.#meet(all, this.#of(n, track), path)),
        [ofKeywords({})],
      )
    const not = (n: Node) => this.#of(this.negation.of(n), false).map((one) => ({ ...one, seen: kUnseen }))
    for (const child of [...(k.references ?? []), ...(k.allOf ?? [])]) and(this.#of(child, track))
    if (k.anyOf) {
      const branches = this.#joined(k.anyOf, false)
      if (!track) {
        and(branches.flatMap((branch) => this.#of(branch, false)))
      } else {
        if (branches.length > 6)
          refuse(`${path}/anyOf`, 'has too many branches beside an unevaluated keyword')
        const subsets = Array.from({ length: 2 ** branches.length - 1 }, (_, i) =>
          branches.filter((_, j) => ((i + 1) >> j) % 2 === 1),
        )
        and(subsets.flatMap(together))
      }
    }
    if (k.oneOf) and(this.#oneOf(this.#joined(k.oneOf, true), not, track))
    if (k.not) and(not(k.not))
    if (k.if && (track || (k.then ?? k.else) !== undefined))
      and([
        ...together([k.if, ...(k.then ? [k.then] : [])]),
        ...(k.else ? this.#meet(not(k.if), this.#of(k.else, track), path) : not(k.if)),
      ])
    const { any, never } = this.document
    for (const [name, others] of k.dependentRequired ?? [])
      and([
        ...this.#possible(ofKeywords({ properties: new Map([[name, never]]) }), path),
        ofKeywords({ types: new Set(['object']), required: [name, ...others] }),
      ])
    for (const [name, child] of k.dependentSchemas ?? [])
      and([
        ofKeywords({ properties: new Map([[name, never]]) }),
        ...this.#meet(
          [ofKeywords({ types: new Set(['object']), required: [name] })],
          together([child, any]),
          path,
        ),
      ])
    return out
  }

  /** Joins the branches that only list values to one. apart: those that share no value. */
  #joined(branches: readonly Node[], apart: boolean): readonly Node[] {
    const values = new Set<Json>()
    const others = branches.filter((branch) => {
      const own = scalarsOf(branch.keywords())
      if (!own || (apart && own.some((value) => values.has(value)))) return true
      own.forEach((value) => values.add(value))
      return false
    })
    if (branches.length - others.length < 2) return branches
    return [this.document.make({ values: [...values] }, branches[0]!.path), ...others]
  }

  /** Excludes from each branch the other branches that share values with it. */
  #oneOf(branches: readonly Node[], not: (n: Node) => Alternative[], track: boolean): Alternative[] {
    const values = branches.map((branch) => branch.keywords().values)
    const differ = (i: number, j: number) =>
      values[i] && values[j] && !values[i].some((value) => isAmong(value, values[j]!))
    // By pairs, each once: [greater index][smaller index].
    const pairs = branches.map((b, j) =>
      branches.slice(0, j).map((a, i) => !differ(i, j) && !this.isEmpty([a, b])),
    )
    const overlap = (i: number, j: number) => i !== j && pairs[Math.max(i, j)]![Math.min(i, j)]!
    return branches.flatMap((branch, i) => {
      let out = this.#of(branch, track)
      branches.forEach((other, j) => {
        if (overlap(i, j) && out.length > 0) out = this.#meet(out, not(other), other.path)
      })
      return out
    })
  }

  #unevaluated(one: Alternative, k: Keywords, node: Node): Alternative[] {
    const { seen } = one
    let out = one
    const { unevaluatedProperties: properties, unevaluatedItems: items } = k
    if (properties) {
      const { any } = this.document
      if (!seen.allKeys) {
        const layer: Layer = {
          properties: new Map(seen.keys.map((key) => [key, any])),
          patterns: seen.patterns.map((source) => [source, any]),
          additional: properties,
        }
        out = { ...out, object: { ...out.object, layers: [...out.object.layers, layer] } }
      }
      out = { ...out, seen: { ...out.seen, allKeys: true } }
    }
    if (items) {
      if (seen.contains && !seen.allItems)
        refuse(`${node.path}/unevaluatedItems`, 'is beside contains, which is not supported')
      if (!seen.allItems) {
        const prefix = Array.from({ length: seen.items }, () => this.document.any)
        const tuples = [...out.array.tuples, { prefix, rest: items }]
        out = { ...out, array: { ...out.array, tuples } }
      }
      out = { ...out, seen: { ...out.seen, allItems: true } }
    }
    return this.#possible(out, node.path)
  }
}
