// Declarations that exist both in the engine's C++ and in TypeScript must agree: names of options, limits of memory.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { kInitialPages, kMaxPages, kMaxPages64 } from '../../wasm/src/engine/memory-pages.ts'
import { kRoot, packedFile } from './packed.ts'

test('every row of the sampler has an option in the types, and the other way round', () => {
  const rows = readFileSync(join(kRoot, 'core/engine/sampler_options.inc'), 'utf8')
  const inCore = [...rows.matchAll(/^SAMPLER_OPTION\(\w+, \w+, (\w+), /gm)].map(([, name]) => name)
  const types = readFileSync(packedFile('wasm/dist/engine/generate-types.d.ts'), 'utf8')
  const body = /interface SamplingOptions \{(.*?)\n\}/s.exec(types)![1]!
  const inTypes = [...body.matchAll(/^ +(\w+)\?:/gm)].map(([, name]) => name)
  assert.ok(inCore.length >= 19)
  assert.deepEqual([...inCore, 'seed', 'logitBias'].sort(), inTypes.sort())
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
