// The command dump: equal to what gguf-py's gguf-dump printed for the same file (tests/fixtures/record-dump.ts).
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dumpModel } from '../fixtures/dump-model.ts'
import { writeGguf } from '../fixtures/gguf.ts'
import { text, u32 } from '../fixtures/models.ts'
import { kRoot } from './packed.ts'
import { runCli } from './run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'dump-'))
after(() => rmSync(folder, { recursive: true }))
const run = async (...args: string[]): Promise<string> => {
  const { status, out, err } = await runCli(['dump', ...args], { cwd: folder })
  assert.equal(status, 0, err)
  return out
}
const golden = (name: string): string =>
  readFileSync(join(kRoot, 'tests/fixtures/golden/dump', `${name}.txt`), 'utf8')
writeFileSync(join(folder, 'model.gguf'), dumpModel())

for (const [name, ...args] of [
  ['text'],
  ['markdown', '--markdown'],
  ['no-tensors', '--markdown', '--no-tensors'],
] as const)
  test(`the dump as ${name} is that of gguf-dump`, async () => {
    // The byte order of the computer that wrote the recorded text.
    assert.equal(await run('model.gguf', ...args), golden(name))
  })

/** JSON with all digits: integers that a number does not hold are texts. */
const parsed = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown, context?: { source?: string }) => {
    const whole = typeof value === 'number' && /^-?\d+$/.test(context?.source ?? '')
    return whole && !Number.isSafeInteger(value) ? context!.source : value
  })

for (const [name, ...args] of [
  ['json', '--json'],
  ['json-array', '--json-array'],
  ['big-endian', '--json', '--json-array'],
] as const)
  test(`the dump as ${name} is that of gguf-dump`, async () => {
    writeFileSync(join(folder, 'model.gguf'), dumpModel(name === 'big-endian'))
    try {
      assert.deepEqual(parsed(await run('model.gguf', ...args)), parsed(golden(name)))
    } finally {
      writeFileSync(join(folder, 'model.gguf'), dumpModel())
    }
  })

test('where the data begins, and its alignment', async () => {
  assert.equal(await run('model.gguf', '--data-alignment'), '64\n')
  assert.equal(Number(await run('model.gguf', '--data-offset')) % 64, 0)
})

test('what gguf-dump refuses: a repeated key and tensor, version 1, NaN', async () => {
  const tensor = { name: 'a', shape: [1], type: 'F32' }
  writeFileSync(
    join(folder, 'odd.gguf'),
    writeGguf({
      metadata: [
        ['x', u32(1)],
        ['x', text('again')],
        ['nan', { type: 'f32', value: NaN }],
      ],
      tensors: [tensor, tensor],
    }),
  )
  const { metadata, tensors } = JSON.parse(await run('odd.gguf', '--json')) as {
    metadata: Record<string, { index: number; value: unknown; offset: number }>
    tensors: Record<string, { index: number; offset: number }>
  }
  const [, , , x, again, nan] = Object.entries(metadata)
  assert.deepEqual([x![0], x![1].value, nan![1].value], ['x', 1, 'NaN'])
  assert.deepEqual([again![0], again![1].value], [`x_${again![1].offset}`, 'again'])
  assert.deepEqual(
    Object.entries(tensors).map(([name, { index, offset }]) => [name, index, offset]),
    [
      ['a', 0, tensors['a']!.offset],
      [`a_${tensors['a']!.offset + 33}`, 1, tensors['a']!.offset + 33],
    ],
  )
  writeFileSync(
    join(folder, 'first.gguf'),
    writeGguf({ version: 1, metadata: [['key', u32(3)]], tensors: [tensor] }),
  )
  const first = JSON.parse(await run('first.gguf', '--json')) as {
    metadata: Record<string, { offset: number }>
    tensors: Record<string, { offset: number }>
  }
  assert.equal(first.metadata['key']!.offset, 16)
  assert.equal(first.tensors['a']!.offset, 16 + 4 + 3 + 4 + 4)
})
