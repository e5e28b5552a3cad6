// Compares schemas' grammars with Ajv: it accepts every text of a grammar. If a schema's values can be listed, the
// grammar also accepts every value that Ajv accepts.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { JsonSchema } from 'ggufscope/engine'
import { Gbnf } from '../package/gbnf.ts'
import type { Random } from './random.ts'

export type ToGrammar = (schema: JsonSchema) => string
export interface Outcome {
  readonly kind: 'kept' | 'unsupported' | 'nothing' | 'not-compared'
  readonly faults: readonly string[]
  readonly message?: string
}

/**
 * Moves contains into allOf wherever it is beside prefixItems, which means the same. Ajv 8.20 wrongly accepts empty
 * arrays if one schema has both.
 */
function apart(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(apart)
  if (typeof schema !== 'object' || schema === null) return schema
  const out = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, apart(value)]))
  if (!('contains' in out && Array.isArray(out['prefixItems']))) return out
  const { contains, minContains = 1, maxContains = Infinity, allOf = [], ...rest } = out
  const counts = { contains, minContains, ...(maxContains !== Infinity && { maxContains }) }
  return { ...rest, allOf: [...(allOf as unknown[]), counts] }
}

export function validator(schema: JsonSchema): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, unicodeRegExp: true, logger: false })
  ajvFormats.default(ajv)
  return ajv.compile(apart(schema) as JsonSchema)
}

const kScalars = [null, true, false, 0, 1, 2, 3, -1, 1.5, 'a', 'b', 'ab', '']
/** Small values of all kinds, which include all values of listed schemas. */
export function universe(): unknown[] {
  const flat = [...kScalars, [], [1], ['a'], {}, { a: 1 }, { a: 'b', b: null }, ['a', 1]]
  const pairs = flat.flatMap((x) => flat.map((y) => [x, y]))
  return [
    ...flat,
    ...flat.map((x) => [x]),
    ...pairs,
    ...flat.map((a) => ({ a })),
    ...flat.map((b) => ({ b })),
    ...pairs.map(([a, b]) => ({ a, b })),
    ...flat.map((x) => ({ a: { a: x } })),
    ...flat.map((x) => [[x]]),
  ]
}

/** The texts of a value for all orders of its keys. For more than two keys: the given order and its reverse. */
export function* spelled(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value)
  else if (Array.isArray(value)) {
    const every = value.map((item) => [...spelled(item)])
    let outs = ['']
    every.forEach((texts, i) => (outs = outs.flatMap((out) => texts.map((t) => (i > 0 ? `${out},${t}` : t)))))
    for (const out of outs) yield `[${out}]`
  } else {
    const keys = Object.keys(value)
    for (const order of keys.length < 2 ? [keys] : [keys, [...keys].reverse()]) {
      let outs = ['']
      order.forEach((key, i) => {
        const texts = [...spelled((value as Record<string, unknown>)[key])]
        outs = outs.flatMap((out) => texts.map((t) => `${i > 0 ? `${out},` : ''}${JSON.stringify(key)}:${t}`))
      })
      for (const out of outs) yield `{${out}}`
    }
  }
}

/**
 * Compares one schema. Schemas on which Ajv itself fails are skipped: circular references, and wrong generated code.
 */
export function compare(...given: Parameters<typeof compareOne>): Outcome {
  try {
    return compareOne(...given)
  } catch (error) {
    if (isAjvs(error)) return { kind: 'not-compared', faults: [] }
    throw error
  }
}

function isAjvs(error: unknown): boolean {
  return error instanceof RangeError || error instanceof ReferenceError
}

/** Ajv 8.20 compares an array's length with `true` if all items are evaluated only by some branches of anyOf. */
const miscounts = ({ errors }: ValidateFunction): boolean =>
  errors?.some(({ keyword, params }) => keyword === 'unevaluatedItems' && params['limit'] === true) ?? false

function compareOne(
  schema: JsonSchema,
  toGrammar: ToGrammar,
  random: Random,
  { samples, values = [], all = false }: { samples: number; values?: readonly unknown[]; all?: boolean },
): Outcome {
  let validate: ValidateFunction
  try {
    validate = validator(schema)
  } catch {
    return { kind: 'not-compared', faults: [] }
  }
  let source: string
  try {
    source = toGrammar(schema)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'unsupported') return { kind: 'unsupported', faults: [], message }
    if (code !== 'invalid-argument')
      return { kind: 'nothing', faults: [`threw ${String((error as Error).stack)}`], message }
    // The specification leaves references in a circle undefined. Ajv accepts values that do not reach them.
    if (/refers to itself/.test(message)) return { kind: 'not-compared', faults: [] }
    const accepted = values.find((value) => validate(value))
    const faults =
      accepted === undefined
        ? []
        : [`accepts nothing, but Ajv accepts ${JSON.stringify(accepted)}: ${message}`]
    return { kind: 'nothing', faults, message }
  }
  const faults: string[] = []
  const grammar = new Gbnf(source)
  for (let i = 0; i < samples; i++) {
    const text = grammar.sample(random)
    let good = false
    try {
      good = validate(JSON.parse(text))
    } catch (error) {
      if (isAjvs(error)) throw error
    }
    if (!good && !miscounts(validate)) faults.push(`writes ${text}: ${JSON.stringify(validate.errors?.[0])}`)
  }
  for (const value of values) {
    const accepted = validate(value)
    const written = [...spelled(value)].some((text) => grammar.accepts(text))
    if (written && !accepted) faults.push(`accepts ${JSON.stringify(value)}`)
    if (all && accepted && !written) faults.push(`never writes ${JSON.stringify(value)}`)
  }
  return { kind: 'kept', faults }
}
