// open() of files in memory: every value type, both byte orders, all versions, lazy and exact values.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufFile, LazyArray, MetadataValue } from 'ggufscope'
import { tensorBytes, writeGguf, writeHeader, type Model, type Value } from '../fixtures/gguf.ts'
import {
  allValueTypes,
  array,
  f32,
  hostileKeys,
  hugeModel,
  kHostileKeys,
  kPreviewShapes,
  makeTokens,
  previewModel,
  shards,
  smallModel,
  text,
  u32,
} from '../fixtures/models.ts'
import { sparseByte } from '../server/content.ts'
import { loadPackage, packedFile } from './packed.ts'

const { open, GgufError } = await loadPackage()

/** The JavaScript value of a fixture's value. */
function expected(value: Value): unknown {
  if (value.type === 'array')
    return value.value.map((element) =>
      expected(
        typeof element === 'object' && 'type' in element
          ? (element as Value)
          : ({ type: value.of, value: element } as Value),
      ),
    )
  if (value.type === 'f32') return Math.fround(Number(value.value))
  if (
    typeof value.value === 'bigint' &&
    BigInt(Number(value.value)) === value.value &&
    Number.isSafeInteger(Number(value.value))
  )
    return Number(value.value)
  return value.value
}

function made(value: MetadataValue | undefined): unknown {
  return typeof value === 'object' ? [...value].map((element) => made(element)) : value
}

const decoded = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

for (const options of [{}, { version: 1 }, { version: 2 }, { bigEndian: true }, { alignment: 64 }] as Pick<
  Model,
  'version' | 'bigEndian' | 'alignment'
>[]) {
  test(`every value type and every tensor: ${JSON.stringify(options)}`, async () => {
    const model = smallModel(options)
    const bytes = writeGguf(model)
    const { offsets, header } = writeHeader(model)
    using file = await open(bytes)
    assert.equal(file.version, options.version ?? 3)
    assert.equal(file.endianness, options.bigEndian ? 'big' : 'little')
    assert.equal(file.alignment, options.alignment ?? 32)
    assert.equal(file.dataOffset, header.length)
    assert.equal(file.size, bytes.length)
    assert.deepEqual(
      [...file.metadata.keys()],
      model.metadata!.map(([key]) => key),
    )
    for (const [key, value] of model.metadata!) {
      const got = file.metadata.get(String(key))
      assert.deepEqual(made(got), expected(value), String(key))
      assert.equal(file.metadata.type(String(key)), value.type)
      if (value.type === 'array') {
        const lazy = got as LazyArray
        assert.equal(lazy.type, value.of)
        assert.equal(lazy.length, value.value.length)
        assert.equal(lazy.at(lazy.length), undefined)
        assert.deepEqual(made(lazy.at(-1)), (expected(value) as unknown[]).at(-1))
        assert.deepEqual(lazy.slice(1).map(made), (expected(value) as unknown[]).slice(1))
        assert.deepEqual(lazy.slice(-2, -1).map(made), (expected(value) as unknown[]).slice(-2, -1))
        if (value.of !== 'string' && value.of !== 'array') {
          const typed = Array.from(lazy.toTypedArray() as Iterable<number | bigint>, Number)
          assert.deepEqual(
            typed,
            value.value.map((element) =>
              value.of === 'f32' ? Math.fround(Number(element)) : Number(element),
            ),
          )
        }
      }
    }
    assert.equal(file.tensors.length, model.tensors!.length)
    for (const [i, wanted] of model.tensors!.entries()) {
      const { name, shape, type, offset, byteLength, elementCount } = file.tensors[i]!
      assert.deepEqual(
        { name, shape, type, offset, byteLength, elementCount },
        {
          name: wanted.name,
          shape: wanted.shape,
          type: wanted.type,
          offset: offsets[i],
          byteLength: tensorBytes(wanted),
          elementCount: wanted.shape.reduce((a, b) => a * b, 1),
        },
      )
      assert.equal(file.tensor(name), file.tensors[i])
      assert.deepEqual(await file.read(name), wanted.data)
      if (shape.length === 2) {
        const row = byteLength / shape[1]!
        assert.deepEqual(await file.read(name, { rows: [1, 3] }), wanted.data!.subarray(row, 3 * row))
        assert.equal((await file.read(name, { rows: [2, 2] })).length, 0)
        await assert.rejects(file.read(name, { rows: [0, shape[1]! + 1] }), { code: 'invalid-argument' })
      }
    }
    assert.equal(file.tensor('no such tensor'), undefined)
    await assert.rejects(file.read('no such tensor'), { code: 'not-found' })
  })
}

test('every entry has the same GgufError', async () => {
  for (const path of ['node.js', 'edit/index.js', 'engine/index.js']) {
    const entry = (await import(pathToFileURL(packedFile(`wasm/dist/${path}`)).href)) as object
    assert.equal((entry as { GgufError: unknown }).GgufError, GgufError, path)
  }
})

test('hostile keys and names are only data', async () => {
  const model = hostileKeys()
  using file = await open(writeGguf(model))
  const keys = [
    'general.architecture',
    ...kHostileKeys.map((key) => (typeof key === 'string' ? key : decoded(key))),
  ]
  assert.deepEqual([...file.metadata.keys()], [...new Set(keys)])
  for (const [i, key] of kHostileKeys.entries()) {
    const name = typeof key === 'string' ? key : decoded(key)
    const first = kHostileKeys.findIndex(
      (other) => (typeof other === 'string' ? other : decoded(other)) === name,
    )
    assert.equal(file.metadata.get(name), first % 2 ? `<script>alert(${first})</script>` : first, `key ${i}`)
  }
  assert.equal(file.metadata.has('no such key'), false)
  assert.equal(file.metadata.has('isPrototypeOf'), false)
  assert.deepEqual(
    file.tensors.map(({ name }) => name),
    model.tensors!.map(({ name }) => name),
  )
  assert.equal(file.tensor('hasOwnProperty'), undefined)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  assert.equal(file.version, 3)
})

test('a large vocabulary: pages, single elements, bytes, iteration', async () => {
  const tokens = makeTokens(50_000, 4, 7)
  using file = await open(writeGguf({ metadata: [['tokens', array('string', tokens)]] }))
  const lazy = file.metadata.get('tokens') as LazyArray<string>
  assert.equal(file.metadata.get('tokens'), lazy)
  assert.equal(lazy.length, tokens.length)
  for (const i of [0, 1, 63, 64, 65, 4095, 4096, 31_337, 49_999, -1, -50_000])
    assert.equal(lazy.at(i), tokens.at(i))
  assert.equal(lazy.at(50_000), undefined)
  assert.equal(lazy.at(-50_001), undefined)
  for (const [from, to] of [
    [0, 10],
    [49_990, 60_000],
    [-5, undefined],
    [123, 9_000],
    [9, 3],
  ] as const)
    assert.deepEqual(lazy.slice(from, to), tokens.slice(from, to))
  assert.deepEqual([...lazy], tokens)
  assert.deepEqual(lazy.toJSON(), tokens)
  assert.equal(decoded(lazy.bytesAt(777)!), tokens[777])
  assert.equal(lazy.bytesAt(50_000), undefined)
  assert.throws(() => lazy.toTypedArray(), { code: 'invalid-argument' })
})

test('strings that are not UTF-8 spoil neither their neighbours nor themselves', async () => {
  const strings = [
    'a',
    Uint8Array.of(0xe4, 0xba),
    Uint8Array.of(0xba),
    '\ufeffb',
    Uint8Array.of(0xff),
    '🙂',
    '',
  ]
  using file = await open(writeGguf({ metadata: [['strings', array('string', strings)]] }))
  const lazy = file.metadata.get('strings') as LazyArray<string>
  const wanted = strings.map((value) => (typeof value === 'string' ? value : decoded(value)))
  assert.deepEqual([...lazy], wanted)
  assert.deepEqual(
    wanted.map((_, i) => lazy.at(i)),
    wanted,
  )
  assert.deepEqual(lazy.bytesAt(1), strings[1])
})

test('the same result from bytes, blobs, views, sources with and without a stream, and chunks of any size', async () => {
  const model = previewModel(kPreviewShapes[2]!)
  const { header, size } = writeHeader(model)
  const check = (file: GgufFile) => {
    assert.equal(file.tensors.length, model.tensors!.length)
    assert.equal(file.metadata.size, model.metadata!.length)
    assert.equal((file.metadata.get('tokenizer.ggml.tokens') as LazyArray).length, 32_000)
    file.close()
  }
  const padded = new Uint8Array(header.length + 7)
  padded.set(header, 5)
  check(await open(header))
  check(await open(header.buffer as ArrayBuffer))
  check(await open(padded.subarray(5, 5 + header.length)))
  check(await open(new Blob([header as BlobPart])))
  check(await open(new File([header as BlobPart], 'x.gguf')))
  const read = async (offset: number, length: number) => header.slice(offset, offset + length)
  check(await open({ size: header.length, read }))
  for (const piece of [997, 65_536]) {
    let pulled = 0
    const stream = async function* () {
      for (let at = 0; at < size; at += piece) {
        pulled += piece
        yield header.subarray(at, at + piece)
      }
    }
    check(await open({ read, stream }))
    assert.ok(pulled < header.length + piece, 'the stream is left on the piece that completes the header')
  }
  check(await open({ read, stream: () => new Blob([header as BlobPart]).stream() }))
})

test('40 GB are listed, and rows beyond 2^32 are read by their range', async () => {
  const model = hugeModel()
  const { header, size, offsets } = writeHeader(model)
  const reads: [number, number][] = []
  const at = (offset: number) => (offset < header.length ? header[offset]! : sparseByte(offset))
  using file = await open({
    size,
    read: async (offset, length) => {
      reads.push([offset, length])
      return Uint8Array.from({ length }, (_, i) => at(offset + i))
    },
  })
  assert.ok(size > 38e9)
  assert.deepEqual(
    file.tensors.map(({ offset }) => offset),
    offsets,
  )
  const last = file.tensors.at(-1)!
  reads.length = 0
  const rows = await file.read(last.name, { rows: [5, 6] })
  const rowBytes = last.byteLength / last.shape[1]!
  assert.deepEqual(reads, [[last.offset + 5 * rowBytes, rowBytes]])
  assert.deepEqual(
    rows,
    Uint8Array.from({ length: rowBytes }, (_, i) => sparseByte(last.offset + 5 * rowBytes + i)),
  )
  assert.ok(file.summary().tensorBytes > 38e9)
})

test('shards given together, in any order, are one file', async () => {
  const model = smallModel()
  const files = shards(model, 3, 'split').map(
    ({ name, model: part }) => new File([writeGguf(part) as BlobPart], name),
  )
  using file = await open([files[2]!, files[0]!, files[1]!])
  assert.deepEqual(
    file.tensors.map(({ name }) => name),
    model.tensors!.map(({ name }) => name),
  )
  assert.deepEqual(new Set(file.tensors.map(({ shard }) => shard)), new Set([0, 1, 2]))
  assert.equal(file.metadata.get('general.name'), 'small')
  for (const tensor of model.tensors!) assert.deepEqual(await file.read(tensor.name), tensor.data)
  assert.equal(file.summary().tensorCount, model.tensors!.length)

  await assert.rejects(open([files[0]!, files[2]!]), (error: Error) => {
    assert.ok(error instanceof GgufError)
    assert.equal(error.code, 'missing-shard')
    assert.match(error.message, /split-00002-of-00003\.gguf/)
    return true
  })
  using part = await open(files[1]!, { allowMissingShards: true })
  assert.deepEqual(
    part.shards.map(({ present }) => present),
    [false, true, false],
  )
  assert.ok(part.tensors.every(({ shard }) => shard === 1))
})

test('a summary counts the tensors that exist', async () => {
  const shape = kPreviewShapes[3]!
  const model = previewModel(shape)
  using file = await open(writeHeader(model).header)
  const summary = file.summary()
  const elements = model.tensors!.reduce((sum, t) => sum + t.shape.reduce((a, b) => a * b, 1), 0)
  const bytes = model.tensors!.reduce((sum, t) => sum + tensorBytes(t), 0)
  assert.equal(summary.parameters, elements)
  assert.equal(summary.tensorBytes, bytes)
  assert.equal(summary.bitsPerWeight, (8 * bytes) / elements)
  assert.equal(summary.kind, 'model')
  assert.equal(summary.fileType, 'Q4_K_M')
  assert.equal(summary.architecture, 'llama')
  assert.equal(summary.contextLength, 131_072)
  assert.equal(summary.layers, shape.blocks)
  assert.equal(summary.heads, shape.width / 128)
  assert.equal(summary.kvHeads, shape.width / 1024)
  assert.equal(summary.vocabularySize, shape.tokens)
  assert.equal(summary.tokenizer, 'gpt2')
  assert.equal(summary.hasChatTemplate, true)
  assert.deepEqual(summary.quantization.map(({ type }) => type).sort(), ['F32', 'Q4_K', 'Q6_K'])
  assert.equal(
    summary.quantization.reduce((sum, share) => sum + share.tensors, 0),
    model.tensors!.length,
  )
})

test('a mixture of experts: only those used are active', async () => {
  using file = await open(
    writeHeader({
      metadata: [
        ['general.architecture', text('qwen3moe')],
        ['qwen3moe.expert_count', u32(8)],
        ['qwen3moe.expert_used_count', u32(2)],
        ['qwen3moe.rope.freq_base', f32(1e6)],
        ['qwen3moe.attention.head_count', array('i32', [0, 8, 4])],
      ],
      tensors: [
        { name: 'blk.0.ffn_up_exps.weight', shape: [32, 10, 8], type: 'F16' },
        { name: 'token_embd.weight', shape: [32, 10], type: 'F16' },
      ],
    }).header,
  )
  const summary = file.summary()
  assert.equal(summary.parameters, 32 * 10 * 9)
  assert.equal(summary.activeParameters, 32 * 10 * 3)
  assert.equal(summary.heads, 8)
  assert.equal(summary.ropeFrequencyBase, 1e6)
})

test('keys of the catalogue have a meaning', async () => {
  using file = await open(writeHeader({ metadata: allValueTypes() }).header)
  assert.match((await file.metadata.meaning('llama.context_length'))!.meaning, /sequence/i)
  assert.equal(await file.metadata.meaning('my.own.key'), undefined)
})

test('every prefix of a file is truncated, with the offset of its end', async () => {
  const { header } = writeHeader(smallModel())
  using whole = await open(header)
  const end = header.length - 32
  assert.ok(whole.dataOffset >= end)
  for (let length = 0; length < end; length += length < 200 ? 1 : 37) {
    await assert.rejects(open(header.subarray(0, length)), (error: Error) => {
      assert.ok(error instanceof GgufError, String(error))
      assert.equal(error.code, 'truncated', `${length}: ${error.message}`)
      assert.equal(error.offset, length)
      return true
    })
  }
})

// An algorithm of quadratic time would take minutes.
test('a hundred thousand keys and tensors', { timeout: 60_000 }, async () => {
  const count = 100_000
  const { header } = writeHeader({
    metadata: Array.from({ length: count }, (_, i) => [`key.${i}`, u32(i)] as const),
    tensors: Array.from({ length: count }, (_, i) => ({ name: `blk.${i}.weight`, shape: [8], type: 'F32' })),
  })
  using file = await open(header)
  assert.equal(file.tensors.length, count)
  assert.equal(file.metadata.get('key.99999'), 99_999)
  assert.equal(file.tensor('blk.99999.weight')!.shard, 0)
})

test('every call fails after close()', async () => {
  const file = await open(writeGguf(smallModel()))
  const tokens = file.metadata.get('test.string.array') as LazyArray
  const name = file.tensors[0]!.name
  file.close()
  file.close()
  assert.throws(() => file.metadata.get('general.name'), { code: 'closed' })
  assert.throws(() => tokens.at(0), { code: 'closed' })
  assert.throws(() => file.version, { code: 'closed' })
  await assert.rejects(file.read(name), { code: 'closed' })
})

test('values that are not a source are refused', async () => {
  for (const source of [undefined, null, 42, {}, [], ''] as unknown as Uint8Array[])
    await assert.rejects(async () => open(source), { name: 'GgufError', code: 'invalid-argument' })
  await assert.rejects(open({ read: async () => new Uint8Array() }), { code: 'invalid-argument' })
  await assert.rejects(open('file:///tmp/x.gguf'), { code: 'unsupported' })
})

test('JSON.stringify gives the metadata: arrays whole, integers beyond 2^53 as texts', async () => {
  const large = 2n ** 60n + 1n
  const bytes = writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['a.large', { type: 'u64', value: large }],
      ['a.list', array('u32', [1, 2, 3])],
    ],
  })
  using file = await open(bytes)
  assert.deepEqual(JSON.parse(JSON.stringify(file.metadata)), {
    'general.architecture': 'llama',
    'a.large': String(large),
    'a.list': [1, 2, 3],
  })
})
