// Findings as the package returns them. Each rule has its own tests in tests/core.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Finding } from 'ggufscope'
import { kTypes, tensorBytes, writeGguf, writeHeader, type Model, type Tensor } from '../fixtures/gguf.ts'
import { hostileKeys, shards, smallModel, text, u32 } from '../fixtures/models.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const find = (findings: readonly Finding[], code: string) => findings.find((finding) => finding.code === code)

test('a valid file has no findings', async () => {
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
  [
    'tensor-name-length',
    'error',
    {
      metadata: [['general.architecture', text('llama')]],
      tensors: [{ name: 'n'.repeat(64), shape: [1], type: 'F32' }],
    },
  ],
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
    assert.ok(found.offset !== undefined && found.offset >= 0 && found.offset < bytes.length)
    using sound = await open(writeGguf({ metadata: [['general.architecture', text('llama')]] }))
    assert.equal(find(sound.lint(), code), undefined)
  })
}

test('a truncated file is recognized by its size, and only then', async () => {
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

test('a finding has an offset only if it has a place, and the note on the name comes only on request', async () => {
  const { metadata = [], ...model } = smallModel()
  const without = metadata.filter(([key]) => key !== 'llama.context_length')
  const file = new File([writeGguf({ ...model, metadata: without }) as BlobPart], 'model.gguf')
  using opened = await open(file)
  const missing = find(opened.lint(), 'loader-key')
  assert.ok(missing && !('offset' in missing))
  assert.equal(find(opened.lint(), 'file-name'), undefined)
  const named = find(opened.lint({ strict: true }), 'file-name')
  assert.deepEqual(named && Object.keys(named), ['level', 'code', 'message', 'shard'])
  assert.throws(() => opened.lint({ strict: 1 as unknown as boolean }), /must be true or false/)
})

test('the command and the MCP server show no offset where there is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-lint-'))
  try {
    const path = join(folder, 'model.gguf')
    const { metadata = [], ...model } = smallModel()
    const without = metadata.filter(([key]) => key !== 'llama.context_length')
    writeFileSync(path, writeGguf({ ...model, metadata: without }))
    const cli = (...args: string[]) => {
      return spawnSync(process.execPath, [packedFile('wasm/dist/cli.js'), ...args], { encoding: 'utf8' })
        .stdout
    }
    const [plain, strict] = [cli('lint', path), cli('lint', path, '--strict')]
    assert.match(plain, /llama\.cpp requires llama\.context_length/)
    assert.doesNotMatch(plain + strict, /@0\b/)
    assert.doesNotMatch(plain, /file-name/)
    assert.match(strict, /note +file-name +the name 'model\.gguf'/)
    const ask = (given: object): string => {
      const params = { name: 'lint', arguments: { file: path, ...given } }
      const input = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const options = { input: `${input}\n`, encoding: 'utf8' } as const
      return spawnSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'serve', '--mcp'], options).stdout
    }
    assert.match(ask({}), /loader-key/)
    assert.doesNotMatch(ask({}), /file-name|"offset":0\b/)
    assert.match(ask({ strict: true }), /file-name/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('each shard has its findings, and a missing shard is a finding', async () => {
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

test('findings that need the whole set of shards', async () => {
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

test('messages are printable and bounded for any file', async () => {
  using file = await open(writeGguf(hostileKeys()))
  for (const { message } of file.lint()) assert.match(message, /^[\x20-\x7e]{1,400}$/)
  const count = 50_000
  const { header } = writeHeader({
    metadata: Array.from({ length: count }, () => ['same', u32(1)] as const),
    tensors: Array.from({ length: count }, () => ({ name: 'same', shape: [8], type: 'F32' })),
  })
  using many = await open(header)
  const findings = many.lint()
  assert.ok(findings.length < 500)
  assert.match(findings.findLast(({ code }) => code === 'duplicate-key')!.message, /and 4\d{4} more/)
})

// The findings of each hostile file that can be opened.
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
test('each hostile file is found out', { skip: skipWithout(kShared) }, async () => {
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
})

/**
 * Offsets of floats in the blocks of each type, from ggml's structures. Other types contain no floats that can be NaN.
 */
const kFloatsOfBlocks: Record<string, { offsets: number[]; nan: number[] }> = {
  F32: { offsets: [0], nan: [0, 0, 0xc0, 0x7f] },
  F64: { offsets: [0], nan: [0, 0, 0, 0, 0, 0, 0xf8, 0x7f] },
  BF16: { offsets: [0], nan: [0xc0, 0x7f] },
  Q8_K: { offsets: [0], nan: [0, 0, 0xc0, 0x7f] },
  MXFP4: { offsets: [0], nan: [0xff] },
  IQ1_M: { offsets: [48], nan: [0, 0, 0, 0, 0, 0xe0, 0, 0x70] },
  ...Object.fromEntries(
    Object.entries({
      F16: [0], Q4_0: [0], Q4_1: [0, 2], Q5_0: [0], Q5_1: [0, 2], Q8_0: [0], Q2_K: [80, 82], Q3_K: [108],
      Q4_K: [0, 2], Q5_K: [0, 2], Q6_K: [208], IQ2_XXS: [0], IQ2_XS: [0], IQ2_S: [0], IQ3_XXS: [0], IQ3_S: [0],
      IQ1_S: [0], IQ4_NL: [0], IQ4_XS: [0], TQ1_0: [52], TQ2_0: [64], Q1_0: [0], Q2_0: [0],
    }).map(([type, offsets]) => [type, { offsets, nan: [0, 0x7e] }]), // prettier-ignore
  ),
}

/** Three rows of two blocks of every type; the fourth block may hold NaN. */
function dataModel(bigEndian: boolean, bad: (type: string) => number | undefined): Model {
  const tensors = Object.keys(kTypes)
    .filter((type) => type !== 'Q8_1')
    .map((type): Tensor => {
      const tensor = { name: `of ${type}`, shape: [kTypes[type]![1] * 2, 3], type }
      const data = new Uint8Array(tensorBytes(tensor))
      const at = bad(type)
      const { nan } = kFloatsOfBlocks[type] ?? { nan: [] }
      // The four 16-bit words of IQ1_M keep their order.
      const width = type === 'IQ1_M' ? 2 : nan.length
      const inOrder = nan.map((_, i) => nan[bigEndian ? i - (i % width) + width - 1 - (i % width) : i]!)
      if (at !== undefined) data.set(inOrder, 3 * kTypes[type]![2] + at)
      return { ...tensor, data }
    })
  return { bigEndian, metadata: [['general.architecture', text('llama')]], tensors }
}

for (const bigEndian of [false, true]) {
  const most = Math.max(...Object.values(kFloatsOfBlocks).map(({ offsets }) => offsets.length))
  for (let which = 0; which < most; which++) {
    test(`${bigEndian ? 'big' : 'little'}-endian data: NaN in float ${which} of a block of each type is found at its block`, async () => {
      const at = (type: string): number | undefined => kFloatsOfBlocks[type]?.offsets[which]
      const model = dataModel(bigEndian, at)
      using file = await open(writeGguf(model))
      const findings = await file.lintData()
      const wrong = model.tensors!.filter(({ type }) => at(type) !== undefined)
      // At most 20 are listed; the last one counts the rest.
      const listed = wrong.slice(0, 20)
      assert.deepEqual(
        findings.map(({ level, code, offset, shard }) => ({ level, code, offset, shard })),
        listed.map(({ name, type }) => ({
          level: 'error',
          code: 'tensor-data-invalid',
          offset: file.tensor(name)!.offset + 3 * kTypes[type]![2],
          shard: 0,
        })),
      )
      listed.forEach(({ name, type }, i) => {
        const place = kTypes[type]![1] === 1 ? 'element 1 of row 1' : 'block 3 \\(in row 1\\)'
        assert.match(
          findings[i]!.message,
          new RegExp(
            `^tensor '${name}' of ${type} is damaged in 1 of \\d+ (blocks?|elements?): ${place} holds NaN`,
          ),
        )
      })
      if (wrong.length > 20)
        assert.match(findings[19]!.message, new RegExp(`and ${wrong.length - 20} more tensors`))
    })
  }
}

test('valid data has no findings, and tensors with a wrong header are not read', async () => {
  for (const bigEndian of [false, true]) {
    using file = await open(writeGguf(dataModel(bigEndian, () => undefined)))
    assert.deepEqual(await file.lintData(), [])
  }
  // lint() reports a truncated tensor and one of a removed type.
  const cut = writeGguf({
    tensors: [{ name: 'a', shape: [64], type: 'F32', data: new Uint8Array(256).fill(255) }],
  })
  using file = await open(cut.subarray(0, cut.length - 1))
  assert.deepEqual(await file.lintData(), [])
  assert.equal(find(file.lint(), 'data-truncated')?.level, 'error')
})

test('data is streamed: infinities are counted across chunks, progress is reported, an abort ends it', async () => {
  const elements = 5 << 20
  const data = new Uint8Array(4 * elements)
  const view = new DataView(data.buffer)
  for (const i of [elements - 1, elements >> 1]) view.setUint32(4 * i, 0xff800000, true)
  const bytes = writeGguf({
    tensors: [
      { name: 'large', shape: [1 << 20, 5], type: 'F32', data },
      { name: 'never', shape: [32], type: 'Q8_1' },
    ],
  })
  using file = await open(bytes)
  const seen: number[] = []
  const findings = await file.lintData({ onProgress: (loaded, total) => seen.push(loaded / total) })
  assert.deepEqual(
    findings.map(({ message }) => message),
    [
      `tensor 'large' of F32 is damaged in 2 of ${elements} elements: element ${1 << 19} of row 2 holds an infinity`,
      "tensor 'never' of Q8_1 is damaged in 1 of 1 block: block 0 (in row 0) is of a type that no file should hold",
    ],
  )
  assert.equal(findings[0]!.offset, file.tensor('large')!.offset + 2 * elements)
  assert.ok(seen.length > 3)
  assert.equal(seen.at(-1), 1)
  const stop = new AbortController()
  await assert.rejects(
    file.lintData({ signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) }),
    /enough/,
  )
})

test('no data of real files is invalid', { skip: skipWithout(kShared) }, async () => {
  const inside = (folder: string): string[] => readdirSync(folder).map((name) => join(folder, name))
  const paths = [
    ...['stories260K', 'misc'].flatMap((name) => inside(join(kShared, name))),
    ...inside(join(kShared, '..', 'vectors', 'arch')).map((folder) => join(folder, 'model.gguf')),
  ].filter((path) => path.endsWith('.gguf') && existsSync(path))
  assert.ok(paths.length > 100)
  for (const path of paths) {
    using file = await open(path)
    assert.deepEqual(await file.lintData(), [], path)
  }
})

test('the documentation explains every rule and its solution', () => {
  const folder = new URL('../../core/gguf/lint/', import.meta.url)
  const codes = readdirSync(folder)
    .filter((name) => name.endsWith('.cpp'))
    .flatMap((name) => [
      ...readFileSync(new URL(name, folder), 'utf8').matchAll(/^ {4}\{"([a-z0-9-]+)",\s+FindingLevel::/gm),
    ])
    .map(([, code]) => code!)
  const page = new URL('../../web/docs/reference/lint-rules.json', import.meta.url)
  const rules = JSON.parse(readFileSync(page, 'utf8')) as Record<string, { meaning: string; cure: string }>
  assert.ok(codes.length > 100)
  assert.deepEqual(Object.keys(rules).sort(), codes.sort())
  for (const [code, { meaning, cure }] of Object.entries(rules))
    assert.ok(meaning.length > 15 && cure.length > 6, code)
})

test('the documentation explains the findings of the package, too', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const rules = JSON.parse(read('web/docs/reference/lint-rules.json')) as object
  const more = JSON.parse(read('web/docs/reference/lint-rules-of-package.json')) as object
  const sources = [
    'file/shards',
    'file/damage',
    'file/file',
    'header/header',
    'text/lint-templates',
    'tensors/lint-data',
    'edit/mistyped-keys',
    'edit/byte-tokens',
    'engine/lint-load',
    'audit/audit',
    'audit/duplicates',
    'audit/provenance',
    'audit/templates',
  ]
  const codes = sources
    .map((name) => read(`wasm/src/${name}.ts`))
    .flatMap((code) => [
      // An object, or a function that makes one.
      ...code.matchAll(/code: '([a-z-]+)'|(?:add|compare)\(\s*(?:(?:'error'|level),\s*)?'([a-z-]+)'/g),
    ])
    .map(([, one, other]) => one ?? other!)
  assert.ok(codes.length > 8)
  for (const code of codes) assert.ok(code in rules || code in more, code)
  for (const code of Object.keys(more)) assert.ok(codes.includes(code), code)
})

test('types of forks are named, and take the bytes up to the next tensor', async () => {
  const tensors = ['a', 'b', 'c'].map((name) => ({ name, shape: [256], type: 'F32' }))
  const bytes = writeGguf({ metadata: [['general.architecture', text('llama')]], tensors })
  // The type follows the name, the number of dimensions and the dimension.
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (const [name, id] of [
    ['a', 36],
    ['b', 144],
  ] as const) {
    const at = bytes.findIndex(
      (byte, i) => byte === name.charCodeAt(0) && bytes[i - 8] === 1 && bytes[i + 1] === 1,
    )
    view.setUint32(at + 1 + 4 + 8, id, true)
  }
  using file = await open(bytes)
  assert.deepEqual(
    file.tensors.map(({ type, byteLength }) => [type, byteLength]),
    [
      ['I2_S', 1024],
      ['IQ4_KS', 1024],
      ['F32', 1024],
    ],
  )
  const found = file.lint().filter(({ code }) => code === 'unknown-type')
  assert.match(found[0]!.message, /I2_S .*BitNet/)
  assert.match(found[1]!.message, /IQ4_KS .*ik_llama\.cpp/)
})
