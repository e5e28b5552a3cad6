// Messages with a count of one: "1 row", never "1 rows".
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeGguf } from '../fixtures/gguf.ts'
import { array, text, u32 } from '../fixtures/models.ts'
import { kRoot, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()

test('errors and findings use the singular for a count of one', async () => {
  const bytes = writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['llama.block_count', u32(1)],
      ['tokenizer.ggml.model', text('llama')],
      ['tokenizer.ggml.tokens', array('string', ['a'])],
      ['tokenizer.ggml.scores', array('f32', [1, 2])],
      ['tokenizer.ggml.bos_token_id', u32(7)],
    ],
    tensors: [
      { name: 'one', shape: [1], type: 'F32' },
      { name: 'blk.5.attn_q.weight', shape: [1, 1], type: 'F32' },
    ],
  })
  const longer = new Uint8Array(bytes.length + 1)
  longer.set(bytes)
  using file = await open(longer)
  await assert.rejects(file.read('one', { rows: [0, 2] }), { message: /has 1 row:/ })
  const said = [...file.lint(), ...(await file.damage())].map(({ message }) => message)
  assert.ok(said.some((message) => /^1 byte follows/.test(message)))
  assert.ok(said.some((message) => / for 1 token$/.test(message)))
  assert.ok(said.some((message) => / of 1 token$/.test(message)))
  for (const message of said) assert.doesNotMatch(message, /\b1 (?!.*=)[a-z]+s\b/, message)
})

// counted() chooses singular or plural. A template with a number before a plural would be wrong for a count of one.
test('no template writes a plural behind a number', () => {
  const plural =
    /\$\{(?!counted|grouped|kM|sum)[^{}]*\} (rows|tensors|keys|tokens|bytes|files|shards|elements|errors|blocks|values|entries|layers|columns|parts)\b/
  // Exempt are numbers that cannot be one: sizes of memory, limits, and parts of a total that follows.
  const exempt = /\bmax\b|kMax|No memory|no memory|context of|range\(\)|it makes|it is \$|engine\/|text\//
  const wrong: string[] = []
  for (const folder of ['wasm/src', 'web/src'])
    for (const name of readdirSync(join(kRoot, folder), { recursive: true, encoding: 'utf8' }))
      if (/\.(ts|svelte)$/.test(name))
        readFileSync(join(kRoot, folder, name), 'utf8')
          .split('\n')
          .forEach((line, i) => {
            if (plural.test(line) && !exempt.test(`${name} ${line}`) && !/^\s*(\/\/|\*)/.test(line))
              wrong.push(`${folder}/${name}:${i + 1}: ${line.trim()}`)
          })
  assert.deepEqual(wrong, [])
})
