// Schemas as typed clients make them: those of zod come from the library, those of TypeBox 1.4 and 0.34 and of pydantic
// 2.13 were recorded. Each is kept, or refused with the path of the reason.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type * as Engine from 'ggufscope/engine'
import { z } from 'zod'
import { everyNth } from '../fixtures/short.ts'
import { compare, universe } from '../schema/compare.ts'
import { randomOf } from '../schema/random.ts'
import { kClosed, kZod } from '../schema/typed/zod.ts'
import { Gbnf } from './gbnf.ts'
import { packedFile } from './packed.ts'

const { schemaToGrammar } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

function recorded(name: string): Readonly<Record<string, Engine.JsonSchema>> {
  const text = readFileSync(new URL(`../schema/typed/${name}.json`, import.meta.url), 'utf8')
  return JSON.parse(text) as Record<string, Engine.JsonSchema>
}

const kNoType = /^The schema at # has the type "/
/** What no grammar can keep. */
const kRefused: Readonly<Record<string, RegExp>> = {
  'zod unbounded hundredths': /^The schema at # has multiples of 0.01,/,
  'zod hostname': /^The schema at # takes more than \d+ steps to convert/,
  'typebox bigint': kNoType,
  'typebox undefined': kNoType,
  'typebox void': kNoType,
  'typebox 0.34 date': kNoType,
  'typebox 0.34 regexp': kNoType,
  'pydantic set_of_ints validation': /^The schema at #\/properties\/s has uniqueItems/,
}

const hasOldTuple = (schema: unknown) => /"items":\[/.test(JSON.stringify(schema))

function validatorOf(schema: Engine.JsonSchema, draft: string): ValidateFunction {
  const made = draft === '7' || hasOldTuple(schema) ? Ajv : Ajv2020
  const ajv = new made({ strict: false, unicodeRegExp: true, logger: false, validateSchema: false })
  ajvFormats.default(ajv)
  return ajv.compile(schema)
}

function check(name: string, schema: Engine.JsonSchema, draft = '2020-12'): void {
  const refused = kRefused[name]
  if (refused) {
    assert.throws(() => schemaToGrammar(schema), { message: refused })
    return
  }
  const grammar = new Gbnf(schemaToGrammar(schema))
  const validate = validatorOf(schema, draft)
  const random = randomOf(1)
  for (let i = 0; i < 40; i++) {
    const text = grammar.sample(random)
    assert.ok(validate(JSON.parse(text)), `${text}: ${JSON.stringify(validate.errors)}`)
  }
}

describe('zod', () => {
  for (const [name, schema] of everyNth(Object.entries({ ...kZod, ...kClosed }), 3))
    for (const target of ['draft-2020-12', 'draft-7'] as const)
      for (const io of ['input', 'output'] as const)
        test(`${name}, ${target}, ${io}`, () => {
          check(`zod ${name}`, z.toJSONSchema(schema, { target, io }), target.replace('draft-', ''))
        })
  test('OpenAPI 3.0: nullable beside a reference allows null', () => {
    const schema = z.toJSONSchema(kZod['recursive']!, { target: 'openapi-3.0' })
    const grammar = new Gbnf(schemaToGrammar(schema))
    assert.ok(grammar.accepts('{"value":1,"next":{"value":2,"next":null}}'))
  })
  for (const [name, schema] of everyNth(Object.entries(kClosed), 3))
    for (const io of ['input', 'output'] as const)
      test(`${name}, ${io}: every value can be written, and no other`, () => {
        const made = z.toJSONSchema(schema, { io })
        const closed = !hasOpenObject(made)
        const outcome = compare(made, schemaToGrammar, randomOf(1), {
          samples: 20,
          values: universe(),
          all: closed,
        })
        assert.deepEqual(outcome, { kind: 'kept', faults: [] })
      })
})

/** zod's input schemas leave objects open. */
function hasOpenObject(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const open =
    'properties' in schema && (schema as { additionalProperties?: unknown }).additionalProperties !== false
  return open || Object.values(schema).some(hasOpenObject)
}

for (const client of ['typebox', 'pydantic'])
  describe(client, () => {
    for (const [name, schema] of Object.entries(recorded(client)))
      test(name, () => check(`${client} ${name}`, schema))
  })
