// Keys are written with the types of the catalogue, which lint checks.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { LazyArray } from 'ggufscope'
import { writeGguf } from '../fixtures/gguf.ts'
import { array, text, u32 } from '../fixtures/models.ts'
import { kRoot, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { GgufBuilder } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')

type Key = Parameters<InstanceType<typeof GgufBuilder>['set']>

const rows = [
  ...readFileSync(join(kRoot, 'core/gguf/keys.inc'), 'utf8').matchAll(
    /^GGUFSCOPE_KEY\("([^"]+)", k(\w+), k(One|List|Either),/gm,
  ),
]

test('every standardized key gets a type that lint takes, from a value that does not show it', async () => {
  assert.ok(rows.length > 250)
  const builder = new GgufBuilder().set('general.architecture', 'llama')
  const skipped = new Set(['general.architecture', 'general.alignment'])
  const keys = rows.flatMap(([, pattern, type, form]) => {
    const key = pattern!.replace('{arch}', 'llama').replaceAll('{id}', '0').replaceAll('{name}', 'tool')
    if (skipped.has(key)) return []
    const one = type === 'String' ? '1.0' : type === 'Bool' ? true : 1
    builder.set(key, form === 'List' ? [one] : one)
    if (form === 'Either') builder.set(`other.${key.slice('llama.'.length)}`, [one, one])
    return [[key, form === 'List' ? 'array' : type!.toLowerCase()]] as const
  })
  using file = await open(await (await builder.build()).bytes())
  for (const [key, type] of keys) assert.equal(file.metadata.type(key), type, key)
  assert.deepEqual(
    file.lint().filter(({ code }) => code === 'value-type'),
    [],
  )
})

test('types of single keys: from the catalogue, the file, and the option', async () => {
  const there = await open(
    writeGguf({
      metadata: [
        ['general.architecture', text('llama')],
        ['llama.rope.freq_base', u32(10000)],
        ['llama.context_length', { type: 'u64', value: 2048n }],
        ['llama.attention.head_count_kv', array('i32', [1, 2])],
        ['my.count', { type: 'u16', value: 5 }],
      ],
    }),
  )
  const cases: [key: Key[0], value: Key[1], type: Key[2], wanted: string][] = [
    ['llama.rope.freq_base', 1000000, undefined, 'f32'],
    ['llama.rope.freq_base', 1000000, 'f64', 'f64'],
    ['qwen2.rope.freq_base', 1000000, undefined, 'f32'],
    ['general.version', '1.0', undefined, 'string'],
    ['llama.context_length', 4096, undefined, 'u64'],
    ['qwen2.context_length', 4096, undefined, 'u32'],
    ['qwen2.context_length', 2 ** 40, undefined, 'u64'],
    ['llama.attention.head_count_kv', [8, 4], undefined, 'array:i32'],
    ['qwen2.attention.head_count_kv', [8, 4], undefined, 'array:u32'],
    ['llama.attention.head_count_kv', 8, undefined, 'u32'],
    ['tokenizer.ggml.scores', [0, -1], undefined, 'array:f32'],
    ['tokenizer.ggml.token_type', [1, 2], undefined, 'array:i32'],
    ['split.no', 1, undefined, 'u16'],
    ['my.count', 6, undefined, 'u16'],
    ['my.other', 6, undefined, 'u32'],
  ]
  for (const [key, value, type, wanted] of cases) {
    using file = await open(await (await (await there.edit()).set(key, value, type).build()).bytes())
    const got = file.metadata.type(key)
    const of = got === 'array' ? `array:${(file.metadata.get(key) as LazyArray).type}` : got
    assert.equal(of, wanted, key)
  }
  const refused: [key: Key[0], value: Key[1], type: Key[2]][] = [
    ['general.version', 1, undefined],
    ['general.name', ['a'], undefined],
    ['general.tags', 'a', undefined],
    ['llama.rope.freq_base', '10000', undefined],
    ['llama.rope.freq_base', 1e39, undefined],
    ['llama.attention.layer_norm_rms_epsilon', 1e-50, undefined],
    ['llama.context_length', -1, undefined],
    ['llama.context_length', 1.5, undefined],
    ['tokenizer.ggml.add_bos_token', 1, undefined],
    ['split.no', 65536, undefined],
    ['my.byte', 256, 'u8'],
  ]
  for (const [key, value, type] of refused)
    assert.throws(() => new GgufBuilder().set(key, value, type), { code: 'invalid-argument' }, key)
  const builder = new GgufBuilder().set('my.number', 5)
  assert.throws(() => builder.rename('my.number', 'general.name'), /general\.name is a string/)
  there.close()
})
