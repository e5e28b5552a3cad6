// The JSON-Schema-Test-Suite: each group's schema becomes a grammar or is refused. A grammar must not accept an invalid
// instance of the group, and Ajv must accept the texts of the grammar.
//   node tests/schema/suite.ts FOLDER    FOLDER: the suite's tests/draft2020-12
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemaToGrammar, type JsonSchema } from 'ggufscope/engine'
import { Gbnf } from '../package/gbnf.ts'
import { spelled, validator } from './compare.ts'
import { randomOf } from './random.ts'

interface Group {
  readonly description: string
  readonly schema: JsonSchema
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

interface GroupOutcome {
  readonly refused?: string
  /** invalid instances that the grammar accepts, and texts of the grammar that Ajv refuses */
  readonly faults: readonly string[]
  /** valid instances, and how many of them the grammar accepts */
  readonly valid: number
  readonly reached: number
}

const kSamples = 50

/** Ajv's verdicts; undefined if it fails the group's own tests. */
function ajvOf({ schema, tests }: Group): ((value: unknown) => boolean) | undefined {
  try {
    const validate = validator(schema)
    return tests.every(({ data, valid }) => validate(data) === valid) ? validate : undefined
  } catch {
    return undefined
  }
}

function outcomeOf(group: Group): GroupOutcome {
  const { schema, tests } = group
  let grammar: Gbnf
  try {
    grammar = new Gbnf(schemaToGrammar(schema))
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== 'unsupported' && code !== 'invalid-argument') throw error
    return { refused: message, faults: [], valid: 0, reached: 0 }
  }
  const accepts = (data: unknown) => [...spelled(data)].some((text) => grammar.accepts(text))
  const faults = tests
    .filter(({ data, valid }) => !valid && accepts(data))
    .map(({ description, data }) => `accepts ${JSON.stringify(data)}: ${description}`)
  const validate = ajvOf(group)
  const random = randomOf(1)
  for (let i = 0; i < kSamples && validate; i++) {
    const text = grammar.sample(random)
    if (!validate(JSON.parse(text)))
      faults.push(`writes ${JSON.stringify(JSON.parse(text))}, which Ajv refuses`)
  }
  const valid = tests.filter((one) => one.valid)
  return { faults, valid: valid.length, reached: valid.filter(({ data }) => accepts(data)).length }
}

const [folder] = process.argv.slice(2)
assert.ok(folder, 'Usage: node tests/schema/suite.ts FOLDER')
const total = { groups: 0, kept: 0, refused: 0, valid: 0, reached: 0, faults: 0 }
for (const name of readdirSync(folder).filter((file) => file.endsWith('.json')))
  for (const group of JSON.parse(readFileSync(join(folder, name), 'utf8')) as Group[]) {
    const { refused, faults, valid, reached } = outcomeOf(group)
    total.groups++
    total[refused === undefined ? 'kept' : 'refused']++
    total.valid += valid
    total.reached += reached
    total.faults += faults.length
    const what = `${name}: ${group.description}`
    if (refused !== undefined) console.log(`${what}: refused: ${refused}`)
    for (const fault of faults) console.log(`${what}: FAULT: ${fault}`)
  }
console.log(total)
process.exitCode = total.faults > 0 ? 1 : 0
