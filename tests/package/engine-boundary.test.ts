// What exists both in the engine's C++ and in TypeScript must agree: options of the sampler, limits of memory.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { flagOf, samplerOptions } from '../../scripts/sampler-options.ts'
import { kInitialPages, kMaxPages, kMaxPages64 } from '../../wasm/src/engine/memory-pages.ts'
import { engine, stories, textOf } from './engine.ts'
import { packedFile } from './packed.ts'

test('every row of the sampler is an option of generate(), of the command line and of requests', async () => {
  using model = await engine.load(stories)
  const { command } = (await import(pathToFileURL(packedFile('wasm/dist/cli/run.js')).href)) as {
    command: { options: Readonly<Record<string, unknown>> }
  }
  const rows = samplerOptions()
  assert.ok(rows.length >= 19)
  for (const row of rows) {
    const { name, requestName, choices, least, most } = row
    const generate = (value: number) => textOf(model.generate('Once', { [name]: value, maxTokens: 1 }))
    for (const value of [...(choices ?? [least, most]), row.default])
      if (value !== undefined) await generate(value)
    for (const value of [least === undefined ? NaN : least - 0.5, most === undefined ? Infinity : most + 1])
      await assert.rejects(generate(value), { code: 'invalid-argument' }, name)
    assert.ok(flagOf(row).name in command.options, name)
    const request = { prompt: 'Once', max_tokens: 1, [requestName]: row.default }
    assert.equal((await engine.createCompletion(model, request)).usage?.completion_tokens, 1, requestName)
  }
})

/** The limits of the memory that a wasm module imports, in pages of 64 KiB. */
function importedMemory(bytes: Uint8Array): { is64: boolean; initial: number; maximum: number } {
  let at = 8
  const leb = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const id = bytes[at++]!
    const length = leb()
    if (id !== 2) {
      at += length
      continue
    }
    for (let count = leb(); count > 0; count--) {
      const moduleBytes = leb()
      at += moduleBytes
      const nameBytes = leb()
      at += nameBytes
      const kind = bytes[at++]!
      if (kind === 0) leb()
      else if (kind === 2) {
        const flags = bytes[at++]!
        assert.equal(flags & 3, 3, 'the memory is shared and has a maximum')
        return { is64: (flags & 4) !== 0, initial: leb(), maximum: leb() }
      } else assert.fail(`an import of kind ${kind} is not expected`)
    }
  }
  return assert.fail('no memory is imported')
}

for (const [name, maximum, is64] of [
  ['simd-threads', kMaxPages[0]!, false],
  ['relaxed-threads', kMaxPages[0]!, false],
  ['memory64', kMaxPages64[0]!, true],
] as const)
  test(`the memory of engine-${name}.wasm is what the package makes`, () => {
    const bytes = readFileSync(packedFile(`wasm/dist/engine/engine-${name}.wasm`))
    assert.deepEqual(importedMemory(bytes), { is64, initial: kInitialPages, maximum })
  })
