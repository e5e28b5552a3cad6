// Findings as the package hands them out. Each rule has its own tests in tests/core.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Finding } from 'ggufscope'
import { writeGguf, writeHeader, type Model } from '../fixtures/gguf.ts'
import { hostileKeys, shards, smallModel, text, u32 } from '../fixtures/models.ts'
import { kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const find = (findings: readonly Finding[], code: string) => findings.find((finding) => finding.code === code)

test('a sound file has no findings', async () => {
  using file = await open(writeGguf({ metadata: [['general.architecture', text('llama')]] }))
  assert.deepEqual(file.lint(), [])
})

const flaws: [code: string, level: Finding['level'], model: Model][] = [
  [
    'duplicate-key',
    'error',
    {
      metadata: [
        ['a', u32(1)],
        ['a', u32(2)],
      ],
    },
  ],
  ['version-1', 'error', { version: 1, metadata: [['general.architecture', text('llama')]] }],
  ['tensor-name-length', 'error', { tensors: [{ name: 'n'.repeat(64), shape: [1], type: 'F32' }] }],
  [
    'alignment-power-of-two',
    'error',
    {
      alignment: 24,
      metadata: [['general.alignment', u32(24)]],
      tensors: [{ name: 'a', shape: [1], type: 'F32' }],
    },
  ],
]
for (const [code, level, model] of flaws) {
  test(`${level}: ${code}`, async () => {
    const bytes = writeGguf(model)
    using file = await open(bytes)
    const found = find(file.lint(), code)
    assert.ok(found, JSON.stringify(file.lint()))
    assert.equal(found.level, level)
    assert.equal(found.shard, 0)
    assert.ok(found.message.length > 10)
    assert.ok(found.offset >= 0 && found.offset < bytes.length)
    using sound = await open(writeGguf({ metadata: [['general.architecture', text('llama')]] }))
    assert.equal(find(sound.lint(), code), undefined)
  })
}

test('a cut file is told by its size, and only then', async () => {
  const bytes = writeGguf(smallModel())
  using cut = await open(bytes.subarray(0, bytes.length - 100))
  const found = find(cut.lint(), 'data-truncated')
  assert.equal(found?.level, 'error')
  assert.equal(found.offset, bytes.length - 100)
  using whole = await open(bytes)
  assert.equal(find(whole.lint(), 'data-truncated'), undefined)
  const stream = async function* () {
    yield bytes.subarray(0, bytes.length - 100)
  }
  using unknown = await open({ read: async () => bytes, stream })
  assert.equal(find(unknown.lint(), 'data-truncated'), undefined)
})

test('shards: each has its findings, a missing one is a finding', async () => {
  const files = shards(smallModel(), 3, 'split').map(
    ({ name, model }) => new File([writeGguf(model) as BlobPart], name),
  )
  using all = await open(files)
  assert.equal(find(all.lint(), 'missing-shard'), undefined)
  using two = await open(files.slice(0, 2), { allowMissingShards: true })
  const found = find(two.lint(), 'missing-shard')
  assert.equal(found?.level, 'error')
  assert.equal(found.shard, 2)
  assert.match(found.message, /split-00003-of-00003\.gguf/)
})

test('shards: what only the whole set shows', async () => {
  const opened = async (change: (parts: ReturnType<typeof shards>) => void) => {
    const parts = shards(smallModel(), 3, 'split')
    change(parts)
    return await open(parts.map(({ name, model }) => new File([writeGguf(model) as BlobPart], name)))
  }
  using sound = await opened(() => {})
  for (const code of ['duplicate-tensor', 'split-tensors']) assert.equal(find(sound.lint(), code), undefined)

  using fewer = await opened((parts) => {
    parts[2]!.model = { ...parts[2]!.model, tensors: parts[2]!.model.tensors!.slice(0, -1) }
  })
  assert.equal(find(fewer.lint(), 'split-tensors')?.level, 'error')
  assert.equal(find(fewer.lint(), 'duplicate-tensor'), undefined)

  using twice = await opened((parts) => {
    const [first, ...rest] = parts[1]!.model.tensors!
    parts[1]!.model = {
      ...parts[1]!.model,
      tensors: [{ ...first!, name: parts[0]!.model.tensors![0]!.name }, ...rest],
    }
  })
  const found = find(twice.lint(), 'duplicate-tensor')
  assert.deepEqual([found?.level, found?.shard], ['error', 1])
  assert.equal(find(twice.lint(), 'split-tensors'), undefined)
})

test('messages are printable and bounded, whatever the file holds', async () => {
  using file = await open(writeGguf(hostileKeys()))
  // eslint-disable-next-line no-control-regex
  for (const { message } of file.lint()) assert.match(message, /^[\x20-\x7e]{1,400}$/)
  const count = 50_000
  const { header } = writeHeader({
    metadata: Array.from({ length: count }, () => ['same', u32(1)] as const),
    tensors: Array.from({ length: count }, () => ({ name: 'same', shape: [8], type: 'F32' })),
  })
  using many = await open(header)
  const start = performance.now()
  const findings = many.lint()
  assert.ok(performance.now() - start < 3000)
  assert.ok(findings.length < 500)
  assert.match(findings.findLast(({ code }) => code === 'duplicate-key')!.message, /and 4\d{4} more/)
})

// What is said of each hostile file that opens.
const hostile: Record<string, string> = {
  '18_dup_key.gguf': 'error:duplicate-key@49',
  '20_bool_2.gguf': 'spec:bool-value@37',
  '22_str_with_nul.gguf': 'note:string-nul@56',
  '24_align_0.gguf': 'error:alignment-power-of-two@53',
  '26_align_2^31.gguf': 'note:alignment-large@53',
  '28_ndims_5.gguf': 'error:dimensions@69',
  '30_ndims_0.gguf': 'note:no-dimensions@69',
  '32_zero_dim_2d.gguf': 'note:no-elements@69',
  '38_type_removed_4.gguf': 'error:removed-type@69',
  '40_type_neg.gguf': 'error:unknown-type@69',
  '42_offset_past_eof.gguf': 'error:data-truncated@192',
  '44_offset_unaligned.gguf': 'error:offset-alignment@69',
  '46_offsets_gap.gguf': 'error:tensor-gap@102',
  '48_name_64.gguf': 'error:tensor-name-length@69',
  '50_name_empty.gguf': 'note:tensor-name-empty@69',
  '56_filetype_string.gguf': 'spec:value-type@77',
  '60_types_43.gguf': 'error:unknown-type@69',
}
const shared = existsSync(kShared)
test(
  'each hostile file is found out',
  { skip: shared ? false : 'no ../shared beside the checkout' },
  async () => {
    for (const [name, wanted] of Object.entries(hostile)) {
      using file = await open(join(kShared, 'hostile', name))
      const found = file.lint().map(({ level, code, offset }) => `${level}:${code}@${offset}`)
      assert.ok(found.includes(wanted), `${name}: ${found.join(' ')}`)
    }
    for (const name of readdirSync(join(kShared, 'vocab')).filter((file) => file.endsWith('.gguf'))) {
      using file = await open(join(kShared, 'vocab', name))
      assert.deepEqual(
        file.lint().filter(({ level }) => level !== 'note'),
        [],
        name,
      )
    }
  },
)
