// JSON schemas as grammars: the tests' own GBNF reader checks what a grammar accepts, and Ajv validates texts that it
// generates.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type * as Engine from 'ggufscope/engine'
import { Gbnf } from './gbnf.ts'
import { packedFile } from './packed.ts'

const { schemaToGrammar } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine

interface Case {
  readonly name: string
  readonly schema: Engine.JsonSchema
  /** values, which are tried in their canonical spelling, or texts that begin with a space */
  readonly accepts?: readonly unknown[]
  readonly rejects?: readonly unknown[]
}

const kCases = JSON.parse(
  readFileSync(new URL('./schema-cases.json', import.meta.url), 'utf8'),
) as readonly Case[]

const texts = (values: readonly unknown[] = []) =>
  values.map((value) =>
    typeof value === 'string' && value.startsWith(' ') ? value.slice(1) : JSON.stringify(value),
  )

for (const { name, schema, accepts, rejects } of kCases) {
  test(`a schema's grammar: ${name}`, () => {
    const source = schemaToGrammar(schema)
    const grammar = new Gbnf(source)
    const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
    ajvFormats.default(ajv)
    const validate = ajv.compile(schema)
    for (const text of texts(accepts)) {
      assert.ok(grammar.accepts(text), `refuses ${text}\n${source}`)
      assert.ok(validate(JSON.parse(text)), `Ajv refuses ${text}`)
    }
    for (const text of texts(rejects)) assert.ok(!grammar.accepts(text), `accepts ${text}\n${source}`)
    let state = 1
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647
    const written = new Set<string>()
    for (let i = 0; i < 200; i++) {
      const text = grammar.sample(random)
      written.add(text)
      assert.ok(
        validate(JSON.parse(text)),
        `Ajv refuses ${text}: ${ajv.errorsText(validate.errors)}\n${source}`,
      )
    }
    assert.ok(written.size > 0)
  })
}

test('names of hundreds of properties differ from all other keys', () => {
  const names = Array.from({ length: 300 }, (_, i) => 'p'.repeat(i % 50) + i)
  const properties = Object.fromEntries(names.map((name) => [name, { const: 'own' }]))
  const others = { additionalProperties: { type: 'integer' } } as const
  for (const rest of [others, { patternProperties: { '^q': { type: 'integer' } }, ...others }]) {
    const grammar = new Gbnf(schemaToGrammar({ type: 'object', properties, ...rest }))
    for (const name of [names[0]!, names[49]!, names[299]!]) {
      assert.ok(grammar.accepts(JSON.stringify({ [name]: 'own' })), name)
      assert.ok(!grammar.accepts(JSON.stringify({ [name]: 1 })), name)
      assert.ok(grammar.accepts(JSON.stringify({ [`${name}0`]: 1 })), name)
      assert.ok(!grammar.accepts(JSON.stringify({ [`${name}0`]: 'own' })), name)
    }
  }
})

test('branches that only list values are as many as those of an enum', () => {
  const listed = Array.from({ length: 500 }, (_, i) => ({
    type: 'string',
    const: `v${i}`,
    title: `value ${i}`,
  }))
  for (const key of ['oneOf', 'anyOf']) {
    const grammar = new Gbnf(schemaToGrammar({ [key]: [...listed, { type: 'boolean' }, { const: 'v7' }] }))
    for (const text of ['"v0"', '"v499"', 'true']) assert.ok(grammar.accepts(text), `${key}: ${text}`)
    for (const text of ['"v500"', '1', 'null']) assert.ok(!grammar.accepts(text), `${key}: ${text}`)
    assert.equal(grammar.accepts('"v7"'), key === 'anyOf')
  }
})

test('what a grammar cannot keep is an error that names the place', () => {
  const deep = (depth: number): Engine.JsonSchema =>
    depth === 0 ? {} : { type: 'array', items: deep(depth - 1) }
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    [
      { type: 'object', properties: { a: { not: {} } }, required: ['a'] },
      'invalid-argument',
      /#\/properties\/a requires|requires "a" and forbids it/,
    ],
    [
      { properties: { a: { $recursiveRef: '#' } } },
      'unsupported',
      /#\/properties\/a\/\$recursiveRef is a keyword/,
    ],
    [{ type: 'array', uniqueItems: true }, 'unsupported', /schema at # has uniqueItems/],
    [{ not: { type: 'array', uniqueItems: true } }, 'unsupported', /#\/not has uniqueItems where/],
    [
      { properties: { 'a/b': { not: { format: 'date' } } } },
      'unsupported',
      /#\/properties\/a~1b\/not has the format date/,
    ],
    [{ type: 'object', minProperties: 2 }, 'unsupported', /needs 2 properties of any names/],
    [{ type: 'number', multipleOf: 0.01 }, 'unsupported', /multiples of 0.01/],
    [{ type: 'integer', multipleOf: 99991 }, 'unsupported', /multiples of 99991/],
    [
      { properties: { a: { enum: ['a'], pattern: '(a' } } },
      'unsupported',
      /#\/properties\/a has the pattern "\(a"/,
    ],
    [
      { items: { type: 'string', pattern: '(a)\\1' } },
      'unsupported',
      /The schema at #\/items has the pattern/,
    ],
    [{ type: 'number', minimum: 1, exclusiveMinimum: 'x' }, 'invalid-argument', /#\/exclusiveMinimum is "x"/],
    [{ type: 'string', pattern: '^(?<=a)b$' }, 'unsupported', /look behind at character 4/],
    [{ type: 'string', pattern: '(a)\\1' }, 'unsupported', /"\\1" at character 3/],
    [{ type: 'string', pattern: '[z-a]' }, 'unsupported', /this range/],
    [{ type: 'string', pattern: '(a' }, 'unsupported', /without its end/],
    [{ type: 'string', pattern: 'a)' }, 'unsupported', /"\)" at character 1/],
    [{ type: 'string', pattern: 'a{2,1}' }, 'unsupported', /this \{/],
    [
      { type: 'string', pattern: '(a|b)*a(a|b){16}', minLength: 3 },
      'unsupported',
      /too many states|more than \d+ steps/,
    ],
    [{ $ref: 'other.json' }, 'unsupported', /refers to other.json/],
    [{ $ref: '#/$defs/none' }, 'invalid-argument', /which is not there/],
    [{ $ref: '#' }, 'invalid-argument', /refers to itself/],
    [{ allOf: [{ $ref: '#' }] }, 'invalid-argument', /refers to itself/],
    [
      {
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }, { type: 'object' }] }, b: { $ref: '#/$defs/a' } },
        $ref: '#/$defs/a',
      },
      'invalid-argument',
      /#\/\$defs\/a refers to itself/,
    ],
    [
      { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] },
      'invalid-argument',
      /no value keeps/,
    ],
    [deep(500), 'unsupported', /nests too deep/],
    [false, 'invalid-argument', /accepts nothing/],
    [null, 'invalid-argument', /is no schema/],
    ['object', 'invalid-argument', /is no schema/],
    [{ type: 'text' }, 'invalid-argument', /has the type "text"/],
    [{ type: 'integer', minimum: 5, maximum: 4 }, 'invalid-argument', /accepts nothing/],
    [{ type: 'integer', minimum: '5' }, 'invalid-argument', /#\/minimum is "5"/],
    [{ type: 'array', minItems: 3, maxItems: 2 }, 'invalid-argument', /accepts nothing/],
    [{ type: 'array', minItems: -1 }, 'invalid-argument', /#\/minItems is -1/],
    [{ type: 'string', enum: [1] }, 'invalid-argument', /accepts nothing/],
    [{ allOf: [{ type: 'string' }, { type: 'null' }] }, 'invalid-argument', /its types exclude each other/],
    [
      { type: 'object', required: ['a'], additionalProperties: false },
      'invalid-argument',
      /requires "a" and forbids it/,
    ],
    [{ anyOf: [] }, 'invalid-argument', /#\/anyOf is no array/],
    [
      { items: { type: 'string', format: 'uri', maxLength: 3 }, type: 'array', minItems: 1 },
      'unsupported',
      /#\/items has the format uri, and/,
    ],
    [{ type: 'array', maxItems: 1, contains: {}, minContains: 2 }, 'invalid-argument', /accepts nothing/],
  ]
  for (const [schema, code, message] of cases) {
    assert.throws(
      () => schemaToGrammar(schema as Engine.JsonSchema),
      { code, message },
      JSON.stringify(schema),
    )
  }
})
