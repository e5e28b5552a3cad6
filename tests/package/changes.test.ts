// Changes as data, and the fixes of findings: each is made, written, opened again and checked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufFile, LazyArray } from 'ggufscope'
import type { Change } from 'ggufscope/edit'
import { writeGguf, type Model, type Value } from '../fixtures/gguf.ts'
import { soundModel } from '../fixtures/corruptions.ts'
import { array, text, u32 } from '../fixtures/models.ts'
import { loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { applyChanges, findingSubject, fixOf, formatChanges, parseChanges } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')

async function changed(file: GgufFile, changes: readonly Change[]): Promise<GgufFile> {
  const builder = await file.edit()
  applyChanges(file, builder, parseChanges(formatChanges(changes)))
  return await open(await (await builder.build()).bytes())
}
const listOf = (file: GgufFile, key: string) => [...(file.metadata.get(key) as LazyArray)]

const base: Model = {
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('one')],
    ['a.u64', { type: 'u64', value: 1n }],
    ['a.f32', { type: 'f32', value: 1 }],
    ['a.texts', { type: 'array', of: 'string', value: ['a', Uint8Array.of(0xff, 0x41), 'c', 'd'] }],
    ['a.numbers', array('i32', [1, 2, 3, 4])],
    ['a.bools', { type: 'array', of: 'bool', value: [1, 0] }],
  ],
  tensors: [
    { name: 'one', shape: [4], type: 'F32', data: new Uint8Array(16).fill(7) },
    { name: 'two', shape: [4], type: 'F32' },
  ],
}

test('changes in JSON are applied', async () => {
  using file = await open(writeGguf(base))
  using after = await changed(file, [
    { change: 'set', key: 'general.name', value: 'two' },
    { change: 'set', key: 'a.u64', type: 'u64', value: '18446744073709551615' },
    { change: 'set', key: 'a.f32', type: 'f32', value: '-Infinity' },
    { change: 'set', key: 'a.new', type: 'i64[]', value: ['9007199254740993', -1] },
    { change: 'entries', key: 'a.texts', set: { 2: 'C' }, remove: [0], append: ['e'] },
    { change: 'entries', key: 'a.numbers', set: { 0: 10 }, remove: [1, 3], append: ['5'] },
    { change: 'entries', key: 'a.bools', append: [true] },
    { change: 'rename', key: 'general.name', to: 'general.basename' },
    { change: 'rename-tensor', name: 'one', to: 'uno' },
    { change: 'remove-tensor', name: 'two' },
  ])
  const { metadata } = after
  assert.equal(metadata.get('general.basename'), 'two')
  assert.equal(metadata.get('a.u64'), 2n ** 64n - 1n)
  assert.equal(metadata.get('a.f32'), -Infinity)
  assert.deepEqual(listOf(after, 'a.new'), [9007199254740993n, -1])
  // The bytes of an unchanged entry are kept, although they are not valid UTF-8.
  const texts = metadata.get('a.texts') as LazyArray
  assert.deepEqual([...texts.bytesAt(0)!], [0xff, 0x41])
  assert.deepEqual(texts.slice(1), ['C', 'd', 'e'])
  assert.deepEqual(listOf(after, 'a.numbers'), [10, 3, 5])
  assert.deepEqual(listOf(after, 'a.bools'), [true, false, true])
  assert.deepEqual(
    after.tensors.map(({ name }) => name),
    ['uno'],
  )
  assert.deepEqual(await after.read('uno'), new Uint8Array(16).fill(7))
})

test('changes that cannot be made are refused', async () => {
  using file = await open(writeGguf(base))
  const refused: [Change, RegExp][] = [
    [{ change: 'set', key: 'a.new', type: 'u8', value: 256 }, /256 is no u8/],
    [{ change: 'set', key: 'a.new', type: 'u9', value: 1 }, /no type "u9"/],
    [{ change: 'set', key: 'a.new', type: 'f32', value: 'x' }, /"x" is no f32/],
    [{ change: 'entries', key: 'a.numbers', set: { 4: 1 } }, /no entry 4: it has 4/],
    [{ change: 'entries', key: 'a.numbers', append: ['x'] }, /"x" is no i32/],
    [{ change: 'entries', key: 'a.texts', append: [1] }, /1 is no string/],
    [{ change: 'entries', key: 'general.name', append: ['x'] }, /is no array/],
    [{ change: 'rename', key: 'general.name', to: 'a.u64' }, /already/],
    [{ change: 'remove-tensor', name: 'three' }, /no tensor "three"/],
  ]
  for (const [change, message] of refused) await assert.rejects(changed(file, [change]), { message })
  const texts: [string, RegExp][] = [
    ['x', /not JSON/],
    ['{}', /not a list of changes/],
    [formatChanges([]).replace('"version": 1', '"version": 2'), /version 2/],
    [formatChanges([{ change: 'remove' } as unknown as Change]), /Change 1 of the list/],
    [formatChanges([{ change: 'toString' } as unknown as Change]), /Change 1 of the list/],
  ]
  for (const [list, message] of texts)
    assert.throws(() => parseChanges(list), { code: 'invalid-argument', message })
})

/** A small model with one key added or changed. */
function withKey(key: string, value: Value, more: Partial<Model> = {}): Model {
  const model = soundModel()
  const metadata = (model.metadata ?? []).filter(([name]) => name !== key)
  return { ...model, ...more, metadata: [...metadata, [key, value]] }
}
const tokens = (model: Model) => {
  const value = model.metadata?.find(([key]) => key === 'tokenizer.ggml.tokens')?.[1]
  return value?.type === 'array' ? value.value.length : 0
}

const fixed: [code: string, model: Model, subject: string][] = [
  ['value-type', withKey('general.name', u32(5)), 'general.name'],
  ['value-type', withKey('llama.context_length', text('64')), 'llama.context_length'],
  [
    'bool-value',
    withKey('tokenizer.ggml.add_bos_token', { type: 'bool', value: 2 }),
    'tokenizer.ggml.add_bos_token',
  ],
  [
    'string-utf8',
    withKey('general.author', { type: 'string', value: Uint8Array.of(0x41, 0xff) }),
    'general.author',
  ],
  ['string-nul', withKey('general.author', text('a\0b')), 'general.author'],
  ['alignment-type', withKey('general.alignment', { type: 'u64', value: 32n }), 'general.alignment'],
  ['deprecated-key', withKey('tokenizer.ggml.prefix_token_id', u32(1)), 'tokenizer.ggml.prefix_token_id'],
  ['general-type', withKey('general.type', text('other')), 'general.type'],
  ['uuid', withKey('general.base_model.0.uuid', text('x')), 'general.base_model.0.uuid'],
  ['sampling-range', withKey('general.sampling.top_p', { type: 'f32', value: 2 }), 'general.sampling.top_p'],
  ['file-type-known', withKey('general.file_type', u32(999)), 'general.file_type'],
  ['special-id-range', withKey('tokenizer.ggml.eos_token_id', u32(9999)), 'tokenizer.ggml.eos_token_id'],
  [
    'special-id-type',
    withKey('tokenizer.ggml.eos_token_id', { type: 'i32', value: 1 }),
    'tokenizer.ggml.eos_token_id',
  ],
  [
    'tokenizer-array-long',
    withKey('tokenizer.ggml.scores', array('f32', new Array<number>(tokens(soundModel()) + 3).fill(0))),
    'tokenizer.ggml.scores',
  ],
  ['empty-key', withKey('', u32(1)), ''],
  ['huggingface-json', withKey('tokenizer.huggingface.json', text('x')), 'tokenizer.huggingface.json'],
]

for (const [code, model, subject] of fixed) {
  test(`the fix of ${code} (${subject}) resolves the finding and adds none`, async () => {
    using file = await open(writeGguf(model))
    const before = file.lint()
    const finding = before.find((one) => one.code === code)
    assert.ok(finding, before.map((one) => one.code).join(' '))
    assert.deepEqual(findingSubject(file, finding), { key: subject })
    const fix = await fixOf(file, finding)
    assert.ok(fix)
    using after = await changed(file, fix.changes)
    const left = after.lint().map((one) => one.code)
    assert.ok(!left.includes(code), `${code} is left`)
    const known = new Set(before.map((one) => one.code))
    assert.deepEqual(
      left.filter((one) => !known.has(one)),
      [],
    )
    for (const { name } of file.tensors) assert.deepEqual(await after.read(name), await file.read(name))
  })
}

test('a duplicate key keeps its first value', async () => {
  const model = soundModel()
  using file = await open(
    writeGguf({
      ...model,
      metadata: [...(model.metadata ?? []), ['my.key', text('first')], ['my.key', text('second')]],
    }),
  )
  const finding = file.lint().find(({ code }) => code === 'duplicate-key')!
  assert.deepEqual(findingSubject(file, finding), { key: 'my.key' })
  using after = await changed(file, (await fixOf(file, finding))!.changes)
  assert.equal(after.metadata.get('my.key'), 'first')
  assert.equal(after.metadata.repeated.length, 0)
})

test('a finding names its tensor, missing key or array entry', async () => {
  const model = soundModel()
  using without = await open(
    writeGguf({
      ...model,
      metadata: (model.metadata ?? []).filter(([key]) => key !== 'llama.context_length'),
    }),
  )
  const missing = without.lint().find(({ code }) => code === 'loader-key')!
  assert.deepEqual(findingSubject(without, missing), { missingKey: 'llama.context_length' })
  assert.equal(await fixOf(without, missing), undefined)
  const [first] = model.tensors ?? []
  using more = await open(
    writeGguf({ ...model, tensors: [...(model.tensors ?? []), { ...first!, name: 'other.weight' }] }),
  )
  const unknown = more.lint().find(({ code }) => code === 'tensor-unknown')!
  assert.deepEqual(findingSubject(more, unknown), { tensor: 'other.weight' })
  using mended = await changed(more, (await fixOf(more, unknown))!.changes)
  assert.equal(mended.tensor('other.weight'), undefined)
  // A message cuts a long name.
  const name = `${'a'.repeat(70)}.weight`
  using long = await open(writeGguf({ ...model, tensors: [...(model.tensors ?? []), { ...first!, name }] }))
  const cut = long.lint().find(({ message }) => message.includes('has a name of 77 bytes'))!
  assert.deepEqual(findingSubject(long, cut), { tensor: name })
})
