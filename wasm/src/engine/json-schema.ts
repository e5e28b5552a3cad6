// JSON schemas as GBNF: the grammar's texts are JSON that the schema accepts, not always all of it. Objects have their
// properties in the schema's order, and others only where additionalProperties says so; oneOf is read as anyOf; numbers
// and white space have bounds. A keyword that cannot be kept is an error.
import { GgufError } from '../api/errors.js'
import { choice, literal, repeat } from './gbnf.js'
import { integerRange, numberRange } from './json-numbers.js'
import { patternToGbnf } from './pattern.js'
import { kPlain, kCommon, kFormats } from './json-rules.js'

export type JsonSchema = boolean | { readonly [keyword: string]: unknown }
type Schema = { readonly [keyword: string]: unknown }

const kAnnotations = new Set(
  '$schema $id $comment $defs definitions title description default examples deprecated readOnly writeOnly contentMediaType contentEncoding discriminator'.split(
    ' ',
  ),
)
// Keywords of a type speak of values of that type alone.
const kOfType: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: [],
  boolean: [],
  null: [],
}
const kKnown = new Set([
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  ...Object.values(kOfType).flat(),
])
const kTypes = ['object', 'array', 'string', 'number', 'boolean', 'null']

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

class Converter {
  readonly rules = new Map<string, string>()
  readonly #names = new Map<string, string>() // rules by what they are
  readonly #references = new Map<string, string>() // rules by pointer
  #depth = 0
  #visits = 0

  constructor(readonly root: JsonSchema) {}

  /** An expression that can stand in a sequence. */
  visit(given: unknown, path: string): string {
    if (++this.#depth > 200 || ++this.#visits > 50_000)
      this.#refuse(path, 'nests too deep, or refers to itself without end')
    try {
      return this.#visit(given, path)
    } finally {
      this.#depth--
    }
  }

  #wrong(path: string, what: string): never {
    throw new GgufError('invalid-argument', `The schema at ${path} ${what}.`)
  }
  #refuse(path: string, what: string): never {
    throw new GgufError('unsupported', `The schema at ${path} ${what}.`)
  }

  #common(name: string): string {
    if (!this.rules.has(name)) {
      const body = kCommon[name]!
      this.rules.set(name, body)
      for (const [used] of body.replaceAll(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]/g, '').matchAll(/[a-z]+/g))
        this.#common(used)
    }
    return name
  }

  #rule(hint: string, body: string): string {
    const known = this.#names.get(body)
    if (known !== undefined) return known
    const name = this.#free(hint)
    this.rules.set(name, body)
    this.#names.set(body, name)
    return name
  }
  #free(hint: string): string {
    const base = hint.replaceAll(/[^a-zA-Z0-9]+/g, '-').slice(0, 40)
    for (let n = 1; ; n++) {
      const name = `${base}-${n}`
      if (!this.rules.has(name)) {
        this.rules.set(name, '')
        return name
      }
    }
  }

  #visit(given: unknown, path: string): string {
    if (given === true) return this.#common('value')
    if (given === false) this.#wrong(path, 'accepts nothing')
    if (!isSchema(given)) this.#wrong(path, `is no schema but ${JSON.stringify(given) ?? String(given)}`)
    const keywords = Object.keys(given).filter((key) => !kAnnotations.has(key))
    if (keywords.length === 1 && given['$ref'] !== undefined) return this.#reference(given['$ref'], path)
    const schema = this.#flat(given, path)
    const several = (schema['anyOf'] ?? schema['oneOf']) as unknown
    if (several !== undefined) return this.#several(schema, several, path)
    if ('const' in schema) return this.#values(schema, [schema['const']], path)
    if (schema['enum'] !== undefined) {
      const { enum: values } = schema
      if (!Array.isArray(values)) this.#wrong(path, 'has an enum that is no array')
      return this.#values(schema, values, path)
    }
    const types = this.#types(schema, path)
    const alternatives = types.map((type) => this.#ofType(type, schema, path))
    return choice([...new Set(alternatives)])
  }

  /** Without references and allOf. */
  #flat(schema: Schema, path: string): Schema {
    const unknown = Object.keys(schema).find((key) => !kAnnotations.has(key) && !kKnown.has(key))
    if (unknown !== undefined)
      this.#refuse(path, `has the keyword ${JSON.stringify(unknown)}, which is not supported`)
    const { $ref, allOf, ...rest } = schema
    let flat: Schema = rest
    if ($ref !== undefined) {
      const [target, pointer] = this.#find($ref, path)
      flat = this.#merge(flat, this.#asSchema(target, pointer), path)
    }
    if (allOf !== undefined) {
      if (!Array.isArray(allOf)) this.#wrong(path, 'has an allOf that is no array')
      allOf.forEach((part: unknown, i) => {
        flat = this.#merge(flat, this.#asSchema(part, `${path}/allOf/${i}`), path)
      })
    }
    return flat
  }
  #asSchema(value: unknown, path: string): Schema {
    if (value === true) return {}
    if (value === false) this.#wrong(path, 'accepts nothing')
    if (!isSchema(value)) this.#wrong(path, 'is no schema')
    if (++this.#depth > 200 || ++this.#visits > 50_000) this.#refuse(path, 'refers to itself without end')
    const flat = this.#flat(value, path)
    this.#depth--
    return flat
  }

  /** What both accept. */
  #merge(a: Schema, b: Schema, path: string): Schema {
    const out: Record<string, unknown> = { ...a }
    const closedFor = (schema: Schema, other: Schema): Record<string, unknown> => {
      const { properties = {}, additionalProperties: extra } = schema as {
        properties?: Schema
        additionalProperties?: unknown
      }
      const added = Object.entries((other['properties'] ?? {}) as Schema).filter(
        ([name]) => !Object.hasOwn(properties, name),
      )
      if (extra === false) return {}
      return Object.fromEntries(
        added.map(([name, value]) => [name, isSchema(extra) ? { allOf: [value, extra] } : value]),
      )
    }
    for (const [key, value] of Object.entries(b)) {
      const before = out[key]
      if (kAnnotations.has(key) || (before !== undefined && same(before, value))) continue
      if (key === 'properties') continue
      if (before === undefined) out[key] = value
      else if (/^(?:minimum|exclusiveMinimum|min[A-Z]\w+)$/.test(key))
        out[key] = Math.max(Number(before), Number(value))
      else if (/^(?:maximum|exclusiveMaximum|max[A-Z]\w+)$/.test(key))
        out[key] = Math.min(Number(before), Number(value))
      else if (key === 'required') out[key] = [...new Set([...(before as string[]), ...(value as string[])])]
      else if (key === 'type') out[key] = this.#commonTypes(before, value, path)
      else if (key === 'enum')
        out[key] = (before as unknown[]).filter((x) => (value as unknown[]).some((y) => same(x, y)))
      else if (key === 'items') out[key] = { allOf: [before, value] }
      else if (key === 'uniqueItems') out[key] = before === true || value === true
      else if (key === 'additionalProperties')
        out[key] = before === false || value === false ? false : { allOf: [before, value] }
      else this.#refuse(path, `has several ${key}, which cannot be joined`)
    }
    if (a['properties'] !== undefined && b['properties'] !== undefined) {
      const [first, second] = [a['properties'] as Schema, b['properties'] as Schema]
      const both: Record<string, unknown> = {}
      for (const name of Object.keys(first))
        if (Object.hasOwn(second, name))
          both[name] = same(first[name], second[name]) ? first[name] : { allOf: [first[name], second[name]] }
        else both[name] = closedFor(b, { properties: { [name]: first[name] } })[name] ?? false
      out['properties'] = { ...both, ...closedFor(a, b) }
    } else if (b['properties'] !== undefined) {
      out['properties'] = closedFor(a, b)
    } else if (a['properties'] !== undefined) {
      out['properties'] = closedFor(b, a)
    }
    return out
  }
  #commonTypes(a: unknown, b: unknown, path: string): string[] {
    const [first, second] = [[a].flat(), [b].flat()] as [string[], string[]]
    const out = first.flatMap((x) =>
      second.includes(x) || (x === 'integer' && second.includes('number'))
        ? [x]
        : x === 'number' && second.includes('integer')
          ? ['integer']
          : [],
    )
    if (out.length === 0) this.#wrong(path, 'accepts nothing: its types exclude each other')
    return out
  }

  #find(reference: unknown, path: string): [unknown, string] {
    if (typeof reference !== 'string') this.#wrong(path, 'has a $ref that is no text')
    if (!/^#(?:\/|$)/.test(reference))
      this.#refuse(path, `refers to ${reference}, and only #/... is supported`)
    let at: unknown = this.root
    for (const part of reference.split('/').slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
        this.#wrong(path, `refers to ${reference}, which is not there`)
      at = (at as Schema)[key]
    }
    return [at, reference]
  }

  #reference(given: unknown, path: string): string {
    const [target, pointer] = this.#find(given, path)
    const known = this.#references.get(pointer)
    if (known !== undefined) return known
    const name = this.#free(pointer.split('/').at(-1) === '#' ? 'schema' : pointer.split('/').at(-1)!)
    this.#references.set(pointer, name)
    const body = this.visit(target, pointer)
    if (body === name) this.#wrong(path, 'refers to itself')
    this.rules.set(name, body)
    return name
  }

  #several(schema: Schema, several: unknown, path: string): string {
    const { anyOf, oneOf, ...rest } = schema
    if (anyOf !== undefined && oneOf !== undefined) this.#refuse(path, 'has anyOf beside oneOf')
    if (!Array.isArray(several) || several.length === 0)
      this.#wrong(path, 'has an anyOf or oneOf without schemas')
    const name = anyOf === undefined ? 'oneOf' : 'anyOf'
    const alone = Object.keys(rest).every((key) => kAnnotations.has(key))
    const alternatives = several.map((part: unknown, i) => {
      const at = `${path}/${name}/${i}`
      return this.visit(alone ? part : { allOf: [rest, part] }, at)
    })
    return this.#rule('any', [...new Set(alternatives)].join(' | '))
  }

  #types(schema: Schema, path: string): string[] {
    const { type } = schema
    if (type === undefined) {
      const spoken = Object.keys(kOfType).filter((name) => kOfType[name]!.some((key) => key in schema))
      return spoken.length > 0 ? spoken : kTypes
    }
    const types = [type].flat() as unknown[]
    for (const name of types)
      if (typeof name !== 'string' || !Object.hasOwn(kOfType, name))
        this.#wrong(path, `has the type ${JSON.stringify(name)}`)
    if (types.length === 0) this.#wrong(path, 'has no type')
    return types as string[]
  }

  #values(schema: Schema, values: readonly unknown[], path: string): string {
    const types = schema['type'] === undefined ? undefined : this.#types(schema, path)
    const fits = (value: unknown) => {
      const type = typeOf(value)
      if (!(type in kOfType)) this.#wrong(path, 'has a value that is no JSON')
      if (
        'const' in schema &&
        schema['enum'] !== undefined &&
        !(schema['enum'] as unknown[]).some((v) => same(v, value))
      )
        return false
      return !types || types.includes(type) || (types.includes('integer') && Number.isInteger(value))
    }
    const fitting = values.filter(fits)
    if (fitting.length === 0) this.#wrong(path, 'accepts nothing: no value is of its type')
    return this.#rule('value', fitting.map((value) => literal(JSON.stringify(value))).join(' | '))
  }

  #ofType(type: string, schema: Schema, path: string): string {
    switch (type) {
      case 'object':
        return this.#object(schema, path)
      case 'array':
        return this.#array(schema, path)
      case 'string':
        return this.#string(schema, path)
      case 'integer':
      case 'number':
        return this.#number(type === 'integer', schema, path)
      default:
        return this.#common(type)
    }
  }

  #count(schema: Schema, key: string, otherwise: number, path: string): number {
    const value = schema[key] ?? otherwise
    if (typeof value !== 'number' || value < 0 || (value !== Infinity && !Number.isInteger(value)))
      this.#wrong(path, `has ${key} ${JSON.stringify(value)}`)
    return value
  }
  #counts(schema: Schema, noun: string, path: string): [number, number] {
    const min = this.#count(schema, `min${noun}`, 0, path)
    const max = this.#count(schema, `max${noun}`, Infinity, path)
    if (max < min) this.#wrong(path, `accepts nothing: max${noun} is below min${noun}`)
    return [min, max]
  }

  #object(schema: Schema, path: string): string {
    const { properties = {}, required = [], additionalProperties } = schema
    if (!isSchema(properties)) this.#wrong(path, 'has properties that are no object')
    if (!Array.isArray(required) || required.some((name) => typeof name !== 'string'))
      this.#wrong(path, 'has a required that is no array of names')
    const needed = new Set(required as string[])
    const declared = new Map(Object.entries(properties))
    for (const name of needed)
      if (!declared.has(name)) {
        if (additionalProperties === false)
          this.#wrong(path, `requires ${JSON.stringify(name)} and forbids it`)
        declared.set(name, additionalProperties ?? true)
      }
    for (const [name, value] of declared)
      if (value === false) {
        if (needed.has(name)) this.#wrong(path, `requires ${JSON.stringify(name)} and forbids it`)
        declared.delete(name)
      }
    const extra = additionalProperties ?? declared.size === 0
    const [min, max] = this.#counts(schema, 'Properties', path)
    if (declared.size === 0 && extra === true && min === 0 && max === Infinity) return this.#common('object')
    this.#common('space')
    const pair = (key: string, value: unknown, at: string) => `${key} ":" space ${this.visit(value, at)}`
    const other =
      extra === false
        ? ''
        : this.#rule(
            'pair',
            pair(this.#otherKey(Object.keys(properties)), extra, `${path}/additionalProperties`),
          )
    if (declared.size === 0) {
      const more = repeat(`("," space ${other})`, Math.max(min - 1, 0), max - 1)
      if (other === '' || max === 0) {
        if (min > 0) this.#wrong(path, 'accepts nothing: it needs properties and allows none')
        return this.#rule('object', '"{" space "}"')
      }
      const body = `${other} ${more} space`
      return this.#rule('object', `"{" space ${min === 0 ? `(${body})?` : body} "}"`)
    }
    if (min > needed.size || max < declared.size)
      this.#refuse(path, 'counts its properties beside declaring them')
    // Back to front: what may follow a property, and what may come where nothing has.
    let rest = other === '' ? '' : `("," space ${other})*`
    let first = other === '' ? '' : `(${other} ${rest})?`
    for (const [name, value] of [...declared].reverse()) {
      const own = this.#rule(
        name || 'property',
        pair(literal(JSON.stringify(name)), value, `${path}/properties/${name}`),
      )
      if (needed.has(name)) {
        first = `${own} ${rest}`
        rest = `"," space ${own} ${rest}`
      } else {
        first = `(${own} ${rest}${first === '' ? ')?' : ` | ${first})`}`
        rest = `("," space ${own})? ${rest}`
      }
      // Both hold what comes after: names for them keep the whole as long as it is.
      rest = rest.length > 60 ? this.#rule('rest', rest) : rest
      first = first.length > 60 ? this.#rule('first', first) : first
    }
    return this.#rule('object', `"{" space ${first} space "}"`)
  }

  /** A key that is none of those, written without escapes, so that it cannot be one in disguise. */
  #otherKey(taken: readonly string[]): string {
    const keys = taken.filter((key) => JSON.stringify(key) === `"${key}"`)
    if (keys.length === 0) return this.#common('string')
    const after = (prefix: string): string => {
      const next = new Map<string, string>()
      for (const key of keys) {
        const char = key.startsWith(prefix) ? Array.from(key.slice(prefix.length))[0] : undefined
        if (char !== undefined) next.set(char, after(prefix + char))
      }
      if (next.size === 0) return `${kPlain}+`
      const others = `[^"\\\\\\x00-\\x1f${[...next.keys()].map((char) => (/[\w ]/.test(char) ? char : `\\U${char.codePointAt(0)!.toString(16).padStart(8, '0')}`)).join('')}]`
      const alternatives = [
        `${others} ${kPlain}*`,
        ...[...next].map(([char, more]) => `${literal(char)} ${more}`),
      ]
      if (!keys.includes(prefix)) alternatives.unshift('')
      return this.#rule('key', alternatives.join(' | '))
    }
    return `"\\"" ${after('')} "\\""`
  }

  #array(schema: Schema, path: string): string {
    const { items, prefixItems, additionalItems, uniqueItems } = schema
    if (uniqueItems === true) this.#refuse(path, 'has the keyword "uniqueItems", which is not supported')
    const tuple = prefixItems ?? (Array.isArray(items) ? items : [])
    if (!Array.isArray(tuple)) this.#wrong(path, 'has prefixItems that are no array')
    const [min, max] = this.#counts(schema, 'Items', path)
    const more = Array.isArray(items) ? additionalItems : items
    this.#common('space')
    // A tuple is whole, and has more only where that is said.
    const fixed = tuple.slice(0, max).map((item: unknown, i) => this.visit(item, `${path}/prefixItems/${i}`))
    const left = max - fixed.length
    const needed = Math.max(min - fixed.length, 0)
    const open = more === false || (more === undefined && fixed.length > 0 && needed === 0) ? 0 : left
    if (needed > open) this.#wrong(path, 'accepts nothing: it needs more items than it allows')
    if (fixed.length === 0 && open === 0) return this.#rule('array', '"[" space "]"')
    if (fixed.length === 0 && more === undefined && min === 0 && max === Infinity)
      return this.#common('array')
    const item = open === 0 ? '' : this.visit(more ?? true, `${path}/items`)
    const next = (from: number, to: number) => repeat(`("," space ${item})`, from, to)
    if (fixed.length > 0)
      return this.#rule(
        'array',
        `"[" space ${fixed.join(' "," space ')} ${open === 0 ? '' : next(needed, open)} space "]"`,
      )
    const body = `${item} ${next(Math.max(min - 1, 0), max - 1)} space`
    return this.#rule('array', `"[" space ${min === 0 ? `(${body})?` : body} "]"`)
  }

  #string(schema: Schema, path: string): string {
    const { pattern, format } = schema
    const [min, max] = this.#counts(schema, 'Length', path)
    const bounded = min > 0 || max < Infinity
    if (pattern === undefined && format === undefined) {
      if (!bounded) return this.#common('string')
      return this.#rule('string', `"\\"" ${repeat(this.#common('char'), min, max)} "\\""`)
    }
    if (pattern !== undefined && format !== undefined) this.#refuse(path, 'has a pattern beside a format')
    if (pattern !== undefined && bounded)
      this.#refuse(path, 'has a pattern beside a length: say the length in the pattern')
    if (format !== undefined && !(typeof format === 'string' && Object.hasOwn(kFormats, format)))
      this.#refuse(
        path,
        `has the format ${JSON.stringify(format)}; supported are ${Object.keys(kFormats).join(', ')}`,
      )
    if (pattern !== undefined && typeof pattern !== 'string')
      this.#wrong(path, 'has a pattern that is no text')
    const source = pattern === undefined ? `^${kFormats[format as string]!}$` : (pattern as string)
    return this.#rule('string', `"\\"" (${patternToGbnf(source, this.#common('char'))}) "\\""`)
  }

  #number(integer: boolean, schema: Schema, path: string): string {
    const bound = (key: string): number | undefined => {
      const value = schema[key]
      if (value !== undefined && typeof value !== 'number')
        this.#wrong(path, `has ${key} ${JSON.stringify(value)}`)
      return value
    }
    const step = bound('multipleOf')
    if (step !== undefined && step !== 1)
      this.#refuse(path, 'has the keyword "multipleOf", which is not supported')
    const whole = integer || step === 1
    const [minimum = -Infinity, above = -Infinity] = [bound('minimum'), bound('exclusiveMinimum')]
    const [maximum = Infinity, below = Infinity] = [bound('maximum'), bound('exclusiveMaximum')]
    const low = Math.max(minimum, above)
    const high = Math.min(maximum, below)
    if (low === -Infinity && high === Infinity) return this.#common(whole ? 'integer' : 'number')
    if ([low, high].some((x) => Number.isFinite(x) && Math.abs(x) > Number.MAX_SAFE_INTEGER))
      this.#refuse(path, 'has a bound that is no safe integer')
    if (whole) {
      const from = above >= minimum && above > -Infinity ? Math.floor(above) + 1 : Math.ceil(low)
      const to = below <= maximum && below < Infinity ? Math.ceil(below) - 1 : Math.floor(high)
      if (from > to) this.#wrong(path, 'accepts nothing: its bounds exclude each other')
      return this.#rule('integer', integerRange(from, to))
    }
    if ([low, high].some((x) => Number.isFinite(x) && !Number.isInteger(x)))
      this.#refuse(path, 'bounds numbers by what is no integer')
    const [openLow, openHigh] = [above >= minimum, below <= maximum]
    if (low > high || (low === high && ((openLow && above > -Infinity) || (openHigh && below < Infinity))))
      this.#wrong(path, 'accepts nothing: its bounds exclude each other')
    return this.#rule(
      'number',
      numberRange(low, high, openLow && above > -Infinity, openHigh && below < Infinity),
    )
  }
}

/** The grammar of a schema's JSON. Errors: 'unsupported' for what a grammar cannot keep, 'invalid-argument' for no schema. */
export function schemaToGrammar(schema: JsonSchema): string {
  const converter = new Converter(schema)
  const root = converter.visit(schema, '#')
  return [['root', root] as const, ...converter.rules].map(([name, body]) => `${name} ::= ${body}\n`).join('')
}
