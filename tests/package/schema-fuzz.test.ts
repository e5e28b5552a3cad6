// Compares random schemas with Ajv. GGUFSCOPE_FUZZ_SCHEMAS sets the number of each kind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type * as Engine from 'ggufscope/engine'
import { kAll } from '../fixtures/short.ts'
import { compare, universe, type Outcome } from '../schema/compare.ts'
import { randomOf, SchemaMaker } from '../schema/random.ts'
import { packedFile } from './packed.ts'

const { schemaToGrammar } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine
const count = Number(process.env['GGUFSCOPE_FUZZ_SCHEMAS'] ?? (kAll ? 120 : 40))
const first = Number(process.env['GGUFSCOPE_FUZZ_SEED'] ?? 1)

function run(
  name: string,
  make: (maker: SchemaMaker) => Engine.JsonSchema,
  options: Parameters<typeof compare>[3],
): void {
  const kinds = new Map<string, number>()
  const messages = new Map<string, number>()
  const faults: string[] = []
  for (let seed = first; seed < first + count; seed++) {
    const random = randomOf(seed)
    const schema = make(new SchemaMaker(random))
    const outcome: Outcome = compare(schema, schemaToGrammar, random, options)
    kinds.set(outcome.kind, (kinds.get(outcome.kind) ?? 0) + 1)
    if (outcome.kind === 'unsupported') {
      const message = outcome.message!.replaceAll(/#\S*|"[^"]*"|\d+/g, '_')
      messages.set(message, (messages.get(message) ?? 0) + 1)
    }
    for (const fault of outcome.faults.slice(0, 1))
      faults.push(`seed ${seed}: ${fault}\n${JSON.stringify(schema)}`)
  }
  console.log(`${name}: ${[...kinds].map(([kind, n]) => `${n} ${kind}`).join(', ')}`)
  if (process.env['GGUFSCOPE_FUZZ_VERBOSE']) console.log([...messages].sort((a, b) => b[1] - a[1]))
  assert.deepEqual(faults.slice(0, 8), [], `${faults.length} faults`)
  assert.ok(kinds.get('kept')! > count / 3)
}

test("what a random schema's grammar writes Ajv accepts", () => {
  run('any keywords', (maker) => maker.document(), { samples: 8, values: universe().slice(0, 40) })
})

test('all values of a schema that can be listed can be written', () => {
  run('listed', (maker) => maker.listed(2), { samples: 8, values: universe(), all: true })
})
