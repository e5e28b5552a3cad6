// Random schemas for the comparison with Ajv: any combination of keywords, or schemas whose values can all be listed.
export type Random = () => number
type Schema = boolean | Record<string, unknown>

/** Pseudorandom numbers from 0 to 1 for a seed (a linear congruential generator). */
export function randomOf(seed: number): Random {
  let state = (seed * 2654435761 + 12345) % 2147483647 || 1
  return () => (state = (state * 48271) % 2147483647) / 2147483647
}

const kKeys = ['a', 'b', 'ab', 'x-1', 'é"']
const kPatterns = ['^a', 'b$', '^[a-c]+$', 'x|^y', '^.{1,3}$', '^(?!a)[a-z]{0,4}$', '\\d', '^$', '^(a|b)*c?$', '\\bz', '^\\S+@\\S+$', '^\\p{Lu}'] // prettier-ignore
const kFormats = ['date', 'time', 'date-time', 'uuid', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference', 'uri-template', 'url', 'duration', 'json-pointer', 'relative-json-pointer', 'regex', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary', 'iso-time', 'iso-date-time', 'json-pointer-uri-fragment', 'no-such-format'] // prettier-ignore
const kValues = [null, true, false, 0, 1, 2, 3, -1, 1.5, 'a', 'b', 'ab', '', [], [1], ['a', 1], {}, { a: 1 }, { a: 'b', b: null }] // prettier-ignore
const kBounds = [
  -3, -1, 0, 0.5, 1, 1.25, 2, 3, 7, 10, 99, 100, 1000, 0.1, -0.7, 12345678901234567000, 9007199254740992,
]
const kSteps = [1, 2, 3, 5, 0.5, 0.25, 10, 7, 100, 0.1, 0.01, 1.5]

export class SchemaMaker {
  readonly random: Random
  #left = 40

  constructor(random: Random) {
    this.random = random
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)]!
  }
  chance(p: number): boolean {
    return this.random() < p
  }
  count(most: number): number {
    return Math.floor(this.random() * (most + 1))
  }
  list<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.count(most - least) }, make)
  }
  #value(): unknown {
    return this.pick(kValues)
  }
  #names(): string[] {
    return [...new Set(this.list(0, 3, () => this.pick(kKeys)))]
  }

  /** A schema with any keywords. */
  any(depth: number): Schema {
    if (--this.#left < 0 || depth < 0)
      return this.pick([true, true, { type: 'string' }, { type: 'integer' }, { const: 'a' }])
    if (this.chance(0.04)) return this.chance(0.8)
    const out: Record<string, unknown> = {}
    const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
    let type = this.pick(types)
    if (this.chance(0.8)) out['type'] = this.chance(0.8) ? type : [...new Set([type, this.pick(types)])]
    else type = this.pick(['', ...types])
    if (this.chance(0.08)) out['nullable'] = true
    if (out['type'] === undefined) delete out['nullable']
    this.#typed(out, type, depth)
    if (this.chance(0.1)) this.#typed(out, this.pick(types), depth)
    this.#combined(out, depth)
    return out
  }

  #typed(out: Record<string, unknown>, type: string, depth: number): void {
    const maybe = (key: string, p: number, make: () => unknown) => {
      if (this.chance(p)) out[key] = make()
    }
    const deeper = () => this.any(depth - 1)
    const map = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, deeper()]))
    if (type === 'object') {
      maybe('properties', 0.8, () => map(this.#names()))
      maybe('required', 0.4, () => this.#names())
      maybe('additionalProperties', 0.5, () => (this.chance(0.5) ? false : deeper()))
      maybe('patternProperties', 0.15, () => map([this.pick(kPatterns)]))
      maybe('propertyNames', 0.12, () => this.pick<Schema>([{ enum: ['a', 'b', 'c'] }, { pattern: '^[a-z]+$' }, { maxLength: 2 }, { minLength: 1 }])) // prettier-ignore
      maybe('minProperties', 0.12, () => this.count(3))
      maybe('maxProperties', 0.12, () => 1 + this.count(3))
      maybe('dependentRequired', 0.1, () => ({ [this.pick(kKeys)]: this.#names() }))
      maybe('dependentSchemas', 0.05, () => map([this.pick(kKeys)]))
      maybe('unevaluatedProperties', 0.08, () => (this.chance(0.7) ? false : deeper()))
    } else if (type === 'array') {
      maybe('items', 0.7, deeper)
      maybe('prefixItems', 0.25, () => this.list(1, 3, deeper))
      maybe('minItems', 0.25, () => this.count(3))
      maybe('maxItems', 0.25, () => this.count(5))
      maybe('uniqueItems', 0.1, () => true)
      maybe('contains', 0.12, deeper)
      if ('contains' in out) {
        maybe('minContains', 0.3, () => this.count(2))
        maybe('maxContains', 0.3, () => 1 + this.count(2))
      }
      maybe('unevaluatedItems', 0.06, () => (this.chance(0.7) ? false : deeper()))
    } else if (type === 'string') {
      maybe('minLength', 0.25, () => this.count(4))
      maybe('maxLength', 0.25, () => this.count(12))
      maybe('pattern', 0.3, () => this.pick(kPatterns))
      maybe('format', 0.25, () => this.pick(kFormats))
    } else if (type === 'number' || type === 'integer') {
      for (const key of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])
        maybe(key, 0.22, () => this.pick(kBounds))
      maybe('multipleOf', 0.2, () => this.pick(kSteps))
      maybe('format', 0.05, () => this.pick(kFormats))
    }
  }

  #combined(out: Record<string, unknown>, depth: number): void {
    const maybe = (key: string, p: number, make: () => unknown) => {
      if (this.chance(p)) out[key] = make()
    }
    const deeper = () => this.any(depth - 1)
    maybe('enum', 0.1, () => this.list(1, 6, () => this.#value()))
    maybe('const', 0.05, () => this.#value())
    maybe('anyOf', 0.1, () => this.list(1, 3, deeper))
    maybe('oneOf', 0.1, () => this.list(1, 3, deeper))
    maybe('allOf', 0.1, () => this.list(1, 2, deeper))
    maybe('not', 0.08, deeper)
    maybe('if', 0.05, deeper)
    if ('if' in out) {
      maybe('then', 0.7, deeper)
      maybe('else', 0.7, deeper)
    }
    maybe('$ref', 0.05, () => this.pick(['#/$defs/p', '#/$defs/q', '#/$defs/r']))
    maybe('x-unknown', 0.05, () => 1)
  }

  /** A schema with definitions that refer to one another. */
  document(): Schema {
    const out = this.any(3)
    if (typeof out === 'boolean') return out
    const tree = {
      type: 'object',
      properties: { l: { $ref: '#/$defs/p' }, v: { type: 'boolean' } },
      required: ['v'],
    }
    return {
      ...out,
      $defs: { p: tree, q: { type: 'array', items: { $ref: '#/$defs/r' }, maxItems: 2 }, r: this.any(1) },
    }
  }

  /** A schema whose values can be listed: closed, with few keys and items. */
  listed(depth: number): Schema {
    if (depth < 0) return { enum: this.list(1, 3, () => this.pick([null, true, 0, 1, 'a'])) }
    const out = this.#listedShape(depth)
    const part = (): Schema => (this.chance(0.5) ? this.listed(depth - 1) : this.#constraint(depth))
    const maybe = (key: string, p: number, make: () => unknown) => {
      if (this.chance(p)) out[key] = make()
    }
    maybe('not', 0.2, part)
    maybe('allOf', 0.12, () => this.list(1, 2, part))
    maybe('anyOf', 0.15, () => this.list(1, 3, part))
    maybe('oneOf', 0.15, () => this.list(1, 3, part))
    maybe('if', 0.1, part)
    if ('if' in out) {
      maybe('then', 0.7, part)
      maybe('else', 0.7, part)
    }
    return out
  }
  #listedShape(depth: number): Record<string, unknown> {
    const deeper = () => this.listed(depth - 1)
    switch (this.count(5)) {
      case 0:
        return { type: ['boolean', 'null'] }
      case 1:
        return { type: 'integer', minimum: this.count(1), maximum: 1 + this.count(1) }
      case 2: {
        const keys = this.pick([['a'], ['b'], ['a', 'b']])
        const out: Record<string, unknown> = {
          type: 'object',
          properties: Object.fromEntries(keys.map((key) => [key, deeper()])),
          additionalProperties: false,
        }
        if (this.chance(0.3)) out['required'] = [this.pick(keys)]
        if (this.chance(0.2)) out['minProperties'] = this.count(2)
        if (this.chance(0.2)) out['maxProperties'] = this.count(2)
        if (this.chance(0.15)) out['dependentRequired'] = { a: ['b'] }
        if (this.chance(0.15)) out['propertyNames'] = { pattern: '^a' }
        return out
      }
      case 3: {
        const out: Record<string, unknown> = { type: 'array', items: deeper(), maxItems: this.count(2) }
        if (this.chance(0.2)) out['prefixItems'] = [deeper()]
        if (this.chance(0.2)) out['minItems'] = this.count(2)
        if (this.chance(0.2)) out['contains'] = deeper()
        if ('contains' in out && this.chance(0.5)) out['maxContains'] = 1
        if (this.chance(0.2)) out['uniqueItems'] = true
        return out
      }
      default:
        return { enum: this.list(1, 5, () => this.#value()) }
    }
  }
  /** A schema that constrains values without listing them. */
  #constraint(depth: number): Schema {
    const key = this.pick(['a', 'b'])
    return this.pick<() => Schema>([
      () => ({ required: [key] }),
      () => ({ properties: { [key]: this.listed(depth - 1) } }),
      () => ({ minProperties: 1 }),
      () => ({ maxProperties: 1 }),
      () => ({ minItems: 1 }),
      () => ({ maxItems: 1 }),
      () => ({ contains: this.listed(depth - 1) }),
      () => ({ minimum: 1 }),
      () => ({ multipleOf: 2 }),
      () => ({ pattern: 'a' }),
      () => ({ minLength: 1 }),
      () => ({ type: this.pick(['object', 'array', 'string', 'integer', 'null']) }),
      () => ({ const: this.#value() }),
    ])()
  }
}
