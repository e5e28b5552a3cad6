// Parses schemas to nodes: each keyword is read and checked once, and references become nodes. As in JSON Schema,
// keywords for a type apply only to values of that type.
import { shown as written } from '../api/checks.js'
import { GgufError } from '../api/errors.js'

import { countSteps } from './steps.js'

export type JsonSchema = boolean | { readonly [keyword: string]: unknown }
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type TypeName = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'
export const kTypes: readonly TypeName[] = ['object', 'array', 'string', 'number', 'boolean', 'null']

export interface Contains {
  readonly node: Node
  readonly min: number
  readonly max: number
  /** index of the first item to which this applies */
  readonly from: number
}

/** Requires that some key, except the names and patterns, has a value that node accepts. */
export interface SomeKey {
  readonly names: ReadonlySet<string>
  readonly patterns: readonly string[]
  readonly node: Node
}

export interface Keywords {
  readonly types?: ReadonlySet<TypeName>
  readonly integer?: boolean
  /** not an integer; only made by negation, like the excluded values, the steps that do not divide, and SomeKey */
  readonly fraction?: boolean
  readonly values?: readonly Json[]
  readonly excluded?: readonly Json[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly notMultipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly patterns?: readonly { readonly source: string; readonly negated: boolean }[]
  readonly format?: string
  readonly prefix?: readonly Node[]
  readonly items?: Node
  readonly minItems?: number
  readonly maxItems?: number
  readonly unique?: boolean
  readonly contains?: Contains
  readonly properties?: ReadonlyMap<string, Node>
  readonly patternProperties?: readonly (readonly [string, Node])[]
  readonly additional?: Node
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly propertyNames?: Node
  readonly dependentRequired?: ReadonlyMap<string, readonly string[]>
  readonly dependentSchemas?: ReadonlyMap<string, Node>
  readonly someKey?: SomeKey
  readonly references?: readonly Node[]
  readonly allOf?: readonly Node[]
  readonly anyOf?: readonly Node[]
  readonly oneOf?: readonly Node[]
  readonly not?: Node
  readonly if?: Node
  readonly then?: Node
  readonly else?: Node
  readonly unevaluatedProperties?: Node
  readonly unevaluatedItems?: Node
}

export interface Node {
  readonly id: number
  /** a JSON pointer into the schema */
  readonly path: string
  /** parsed on first use, because schemas can be recursive */
  readonly keywords: () => Keywords
}

type Raw = { readonly [key: string]: unknown }
function isObject(value: unknown): value is Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const shown = (path: string): string => (path.length > 300 ? `${path.slice(0, 300)}...` : path)

export function wrong(path: string, what: string): never {
  throw new GgufError('invalid-argument', `The schema at ${shown(path)} ${what}.`)
}
export function refuse(path: string, what: string): never {
  throw new GgufError('unsupported', `The schema at ${shown(path)} ${what}.`)
}

const kOne = ['additionalProperties', 'propertyNames', 'items', 'additionalItems', 'contains', 'not', 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems', 'contentSchema'] // prettier-ignore
const kSeveral = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const kByName = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'dependencies',
]
// Unsupported assertion keywords of other drafts.
const kForeign = ['$recursiveRef', 'extends', 'disallow', 'divisibleBy']
// OpenAPI 3.0 defines nullable only beside type. Generators also write it beside these, and mean: or null.
const kReferring = ['$ref', 'allOf', 'anyOf', 'oneOf']

const kMaxDepth = 500
/** Converting takes up to a tenth of a millisecond for each. */
const kMaxSchemas = 20_000
const kBase = 'https://schema.invalid/'
const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

interface Place {
  readonly raw: unknown
  readonly path: string
  readonly base: string
}

const namesOf = (value: unknown, path: string): string[] => {
  if (!Array.isArray(value) || value.some((name) => typeof name !== 'string'))
    wrong(path, 'is no array of names')
  return value as string[]
}

/** Reads a numeric keyword: a count, or a number above a bound. */
function numbersIn(raw: Raw, at: (key: string) => string) {
  return {
    count(key: string): number | undefined {
      const value = raw[key]
      if (value === undefined) return undefined
      if (typeof value !== 'number' || value < 0 || !Number.isInteger(value))
        wrong(at(key), `is ${written(value)}, no count`)
      return value
    },
    number(key: string, above = -Infinity): number | undefined {
      const value = raw[key]
      if (value === undefined) return undefined
      if (typeof value !== 'number' || !Number.isFinite(value) || value <= above)
        wrong(at(key), `is ${written(value)}, ${above === 0 ? 'no number above 0' : 'no number'}`)
      return value
    },
  }
}

/** A schema document, which resolves references. */
export class SchemaDocument {
  readonly root: Node
  readonly any: Node
  readonly never: Node
  readonly #resources = new Map<string, Place>()
  readonly #anchors = new Map<string, Place>()
  readonly #dynamic = new Map<string, number>()
  readonly #nodes = new Map<unknown, Node>()
  #count = 0

  constructor(root: unknown) {
    this.any = this.make({}, '#')
    this.never = this.make({ types: new Set() }, '#')
    this.#resources.set(kBase, { raw: root, path: '#', base: kBase })
    this.#index({ raw: root, path: '#', base: kBase }, new Set())
    this.root = this.#node({ raw: root, path: '#', base: this.#baseOf(root, kBase) })
  }

  make(keywords: Keywords | (() => Keywords), path: string): Node {
    if (typeof keywords !== 'function') return { id: this.#count++, path, keywords: () => keywords }
    let read: Keywords | undefined
    return { id: this.#count++, path, keywords: () => (read ??= keywords()) }
  }

  #baseOf(raw: unknown, base: string): string {
    const id = isObject(raw) ? raw['$id'] : undefined
    if (typeof id !== 'string' || id.startsWith('#')) return base
    try {
      return new URL(id, base).href.replace(/#$/, '')
    } catch {
      return base
    }
  }

  /** Finds all subschemas with an $id or an anchor. */
  #index(place: Place, seen: Set<unknown>, depth = 0): void {
    const { raw, path } = place
    if (!isObject(raw) || seen.has(raw)) return
    if (depth > kMaxDepth) refuse(path, 'nests too deep')
    countSteps(30)
    if (seen.add(raw).size > kMaxSchemas)
      refuse(path, `is beyond the ${kMaxSchemas} schemas that one may have inside`)
    const base = this.#baseOf(raw, place.base)
    if (base !== place.base) this.#resources.set(base, { raw, path, base })
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = raw[keyword]
      if (typeof anchor !== 'string') continue
      this.#anchors.set(`${base}#${anchor}`, { raw, path, base })
      if (keyword === '$dynamicAnchor') this.#dynamic.set(anchor, (this.#dynamic.get(anchor) ?? 0) + 1)
    }
    for (const key of kOne) this.#index({ raw: raw[key], path: `${path}/${key}`, base }, seen, depth + 1)
    for (const key of kSeveral) {
      const list = raw[key]
      if (Array.isArray(list))
        list.forEach((item: unknown, i) =>
          this.#index({ raw: item, path: `${path}/${key}/${i}`, base }, seen, depth + 1),
        )
    }
    for (const key of kByName) {
      const map = raw[key]
      if (!isObject(map)) continue
      for (const [name, item] of Object.entries(map))
        this.#index({ raw: item, path: `${path}/${key}/${escaped(name)}`, base }, seen, depth + 1)
    }
  }

  #node({ raw, path, base }: Place): Node {
    if (raw === true) return this.any
    if (raw === false) return this.make({ types: new Set() }, path)
    if (!isObject(raw)) wrong(path, `is no schema but ${written(raw)}`)
    let node = this.#nodes.get(raw)
    if (!node) {
      const within = this.#baseOf(raw, base)
      node = this.make(() => this.#orNull(raw, path, within) ?? this.#read(raw, path, within), path)
      this.#nodes.set(raw, node)
    }
    return node
  }

  #find(reference: unknown, path: string, base: string): Place {
    if (typeof reference !== 'string') wrong(path, 'has a $ref that is no text')
    const [name, fragment = ''] = reference.split('#', 2) as [string, string?]
    let uri = base
    try {
      if (name !== '') uri = new URL(name, base).href
    } catch {
      wrong(path, `refers to ${reference}, which is no address`)
    }
    const resource = this.#resources.get(uri)
    if (!resource) refuse(path, `refers to ${reference}, and only what is in the schema itself is known`)
    const missing = () => wrong(path, `refers to ${reference}, which is not there`)
    if (fragment !== '' && !fragment.startsWith('/'))
      return this.#anchors.get(`${uri}#${fragment}`) ?? missing()
    let at: Place = { ...resource, base: uri }
    for (const part of fragment.split('/').slice(1)) {
      let key: string
      try {
        key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      } catch {
        return missing()
      }
      const { raw } = at
      if (typeof raw !== 'object' || raw === null || !Object.hasOwn(raw, key)) missing()
      at = {
        raw: (raw as Raw)[key],
        path: `${at.path}/${escaped(key)}`,
        base: this.#baseOf(raw, at.base),
      }
    }
    return at
  }

  /** The alternatives of a schema that is nullable without a type; undefined if it is not. */
  #orNull(raw: Raw, path: string, base: string): Keywords | undefined {
    const nullable = raw['nullable'] === true && raw['type'] === undefined
    if (!nullable || !kReferring.some((key) => key in raw)) return undefined
    const others = this.make(() => this.#read(raw, path, base), path)
    return { anyOf: [this.make({ types: new Set(['null']) }, path), others] }
  }

  #read(raw: Raw, path: string, base: string): Keywords {
    const at = (key: string) => `${path}/${key}`
    for (const key of kForeign)
      if (raw[key] !== undefined) refuse(at(key), 'is a keyword that is not supported')
    const node = (key: string): Node | undefined =>
      raw[key] === undefined ? undefined : this.#node({ raw: raw[key], path: at(key), base })
    const { count, number } = numbersIn(raw, at)
    const list = (key: string, minLength = 0): Node[] | undefined => {
      const value = raw[key]
      if (value === undefined) return undefined
      if (!Array.isArray(value) || value.length < minLength) wrong(at(key), 'is no array of schemas')
      return value.map((item: unknown, i) => this.#node({ raw: item, path: `${at(key)}/${i}`, base }))
    }
    const map = (key: string): [string, Node][] | undefined => {
      const value = raw[key]
      if (value === undefined) return undefined
      if (!isObject(value)) wrong(at(key), 'is no object of schemas')
      return Object.entries(value).map(([name, item]) => [
        name,
        this.#node({ raw: item, path: `${at(key)}/${escaped(name)}`, base }),
      ])
    }
    const tuple = list('prefixItems') ?? (Array.isArray(raw['items']) ? list('items') : undefined)
    const contains = node('contains')
    const [min, max] = [count('minContains') ?? 1, count('maxContains') ?? Infinity]
    return defined({
      ...typesOf(raw, path),
      values: valuesOf(raw, path),
      ...boundsOf(raw, number),
      multipleOf: number('multipleOf', 0),
      minLength: count('minLength'),
      maxLength: count('maxLength'),
      patterns: patternsOf(raw, path),
      format: typeof raw['format'] === 'string' ? raw['format'] : undefined,
      prefix: tuple,
      items: Array.isArray(raw['items']) ? node('additionalItems') : node('items'),
      minItems: count('minItems'),
      maxItems: count('maxItems'),
      unique: raw['uniqueItems'] === true || undefined,
      contains: contains && { node: contains, min, max, from: 0 },
      properties: raw['properties'] === undefined ? undefined : new Map(map('properties')),
      patternProperties: map('patternProperties'),
      additional: node('additionalProperties'),
      required: raw['required'] === undefined ? undefined : namesOf(raw['required'], at('required')),
      minProperties: count('minProperties'),
      maxProperties: count('maxProperties'),
      propertyNames: node('propertyNames'),
      ...this.#dependencies(raw, path, map),
      references: this.#references(raw, path, base),
      allOf: list('allOf'),
      anyOf: list('anyOf', 1),
      oneOf: list('oneOf', 1),
      not: node('not'),
      if: node('if'),
      then: node('then'),
      else: node('else'),
      unevaluatedProperties: node('unevaluatedProperties'),
      unevaluatedItems: node('unevaluatedItems'),
    })
  }

  #dependencies(
    raw: Raw,
    path: string,
    map: (key: string) => [string, Node][] | undefined,
  ): Pick<Keywords, 'dependentRequired' | 'dependentSchemas'> {
    const required = new Map<string, string[]>()
    const schemas = new Map(map('dependentSchemas'))
    const { dependentRequired = {}, dependencies = {} } = raw
    for (const [key, value] of [
      ['dependentRequired', dependentRequired],
      ['dependencies', dependencies],
    ] as const) {
      if (!isObject(value)) wrong(`${path}/${key}`, 'is no object')
      for (const [name, item] of Object.entries(value)) {
        const where = `${path}/${key}/${escaped(name)}`
        if (key === 'dependentRequired' || Array.isArray(item)) required.set(name, namesOf(item, where))
        else schemas.set(name, this.#node({ raw: item, path: where, base: kBase }))
      }
    }
    return defined({
      dependentRequired: required.size > 0 ? required : undefined,
      dependentSchemas: schemas.size > 0 ? schemas : undefined,
    })
  }

  #references(raw: Raw, path: string, base: string): Node[] | undefined {
    const out: Node[] = []
    if (raw['$ref'] !== undefined) out.push(this.#node(this.#find(raw['$ref'], path, base)))
    const dynamic = raw['$dynamicRef']
    if (dynamic !== undefined) {
      const anchor = typeof dynamic === 'string' ? dynamic.split('#', 2)[1] : undefined
      if ((this.#dynamic.get(anchor ?? '') ?? 0) > 1)
        refuse(
          `${path}/$dynamicRef`,
          'refers to one of several anchors of a name, which depends on the way there',
        )
      out.push(this.#node(this.#find(dynamic, path, base)))
    }
    return out.length > 0 ? out : undefined
  }
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Defined<T>
}

/** Bounds of numbers. In OpenAPI 3.0 and draft 4, exclusiveMinimum is a boolean that applies to minimum. */
function boundsOf(
  raw: Raw,
  number: (key: string) => number | undefined,
): { [Key in 'minimum' | 'exclusiveMinimum' | 'maximum' | 'exclusiveMaximum']: number | undefined } {
  const pair = (key: string, exclusive: string): [number | undefined, number | undefined] => {
    const bound = number(key)
    if (typeof raw[exclusive] !== 'boolean') return [bound, number(exclusive)]
    return raw[exclusive] ? [undefined, bound] : [bound, undefined]
  }
  const [minimum, exclusiveMinimum] = pair('minimum', 'exclusiveMinimum')
  const [maximum, exclusiveMaximum] = pair('maximum', 'exclusiveMaximum')
  return { minimum, exclusiveMinimum, maximum, exclusiveMaximum }
}

function typesOf(raw: Raw, path: string): Pick<Keywords, 'types' | 'integer'> {
  const { type } = raw
  if (type === undefined) return {}
  const names = [type].flat() as unknown[]
  for (const name of names)
    if (name !== 'integer' && !kTypes.includes(name as TypeName)) wrong(path, `has the type ${written(name)}`)
  if (names.length === 0) wrong(path, 'has no type')
  const types = new Set(names.map((name) => (name === 'integer' ? 'number' : (name as TypeName))))
  if (raw['nullable'] === true) types.add('null')
  const integer = names.includes('integer') && !names.includes('number')
  return integer ? { types, integer } : { types }
}

function valuesOf(raw: Raw, path: string): Json[] | undefined {
  const { enum: several } = raw
  if (several !== undefined && !Array.isArray(several)) wrong(`${path}/enum`, 'is no array')
  const values = several as Json[] | undefined
  if (raw['const'] === undefined) {
    values?.forEach((value, i) => checkJson(value, `${path}/enum/${i}`))
    return values
  }
  const only = raw['const'] as Json
  checkJson(only, `${path}/const`)
  return values === undefined || values.some((value) => same(value, only)) ? [only] : []
}

function checkJson(value: unknown, path: string, depth = 0): void {
  if (depth > kMaxDepth) refuse(path, 'has a value that nests too deep')
  if (value === null || ['boolean', 'string'].includes(typeof value) || Number.isFinite(value)) return
  if (Array.isArray(value)) value.forEach((item: unknown) => checkJson(item, path, depth + 1))
  else if (isObject(value)) Object.values(value).forEach((item) => checkJson(item, path, depth + 1))
  else wrong(path, 'is no JSON value')
}

function patternsOf(raw: Raw, path: string): Keywords['patterns'] {
  const { pattern } = raw
  if (pattern === undefined) return undefined
  if (typeof pattern !== 'string') wrong(`${path}/pattern`, 'is no text')
  return [{ source: pattern, negated: false }]
}

/** Whether two JSON values are equal, whatever the order of their keys. */
export function same(a: unknown, b: unknown): boolean {
  countSteps(1)
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [first, second] = [a as Raw, b as Raw]
  const keys = Object.keys(first)
  return (
    keys.length === Object.keys(second).length &&
    keys.every((key) => Object.hasOwn(second, key) && same(first[key], second[key]))
  )
}

const simple = new WeakMap<readonly Json[], ReadonlySet<Json>>()
/** Whether a value is among others. Long lists of numbers and texts are searched once. */
export function isAmong(value: Json, values: readonly Json[]): boolean {
  if (typeof value === 'object' && value !== null) return values.some((one) => same(one, value))
  let known = simple.get(values)
  if (!known) simple.set(values, (known = new Set(values)))
  return known.has(value)
}

export function typeOf(value: Json): TypeName {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as TypeName)
}
