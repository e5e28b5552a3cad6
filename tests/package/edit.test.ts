// Writing and editing: written files are read by readers of other projects, and by the tests' own simple one.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gguf } from '@huggingface/gguf'
import type { LazyArray, MetadataValue } from 'ggufscope'
import type { WrittenFile } from 'ggufscope/edit'
import { kTypes, tensorBytes, writeGguf, writeHeader, type Tensor, type Value } from '../fixtures/gguf.ts'
import {
  allValueTypes,
  array,
  floatBytes,
  hostileKeys,
  hugeModel,
  shards,
  smallModel,
  text,
  u32,
} from '../fixtures/models.ts'
import { readPlain } from '../fixtures/reader.ts'
import { everyNth } from '../fixtures/short.ts'
import { sparseByte, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared, loadNodePackage, packedFile } from './packed.ts'

const { open, writeFile, quantize } = await loadNodePackage()
const { GgufBuilder } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')

const folder = mkdtempSync(join(tmpdir(), 'edit-'))
after(() => rmSync(folder, { recursive: true }))

function same(got: Uint8Array, want: Uint8Array, what: string): void {
  assert.equal(Buffer.compare(got, want), 0, `${what}: ${got.length} bytes, not those ${want.length}`)
}

/** Everything that the tests' own reader and @huggingface/gguf read. */
async function seen(bytes: Uint8Array, others = true) {
  const { metadata, tensors, dataOffset } = readPlain(bytes)
  const path = join(folder, 'seen.gguf')
  writeFileSync(path, bytes)
  const theirs = others ? await gguf(path, { allowLocalFile: true, typedMetadata: true }) : undefined
  const { version: _v, ...values } = theirs?.metadata ?? { version: 0 }
  return {
    metadata,
    tensors: tensors.map(({ offset, ...rest }) => ({ ...rest, relative: offset - dataOffset })),
    theirs: theirs && {
      values,
      tensors: theirs.tensorInfos.map(({ name, shape, dtype, offset }) => ({ name, shape, dtype, offset })),
    },
  }
}

const made = (value: MetadataValue | undefined): unknown =>
  typeof value === 'object' ? [...(value as LazyArray)].map(made) : value

// Version 1 and drafts cannot be written, and @huggingface/gguf requires keys that these files lack.
const unlike = new Set(['20230817-8548445f-ggml-vocab-llama.gguf', '20230819-63bfaf67-ggml-vocab-llama.gguf'])
const refused = new Set(['20230728-42a152e7-example.gguf', '20240206-30fef3d6-test_writer.gguf'])

const real = existsSync(kShared)
  ? ['vocab', 'misc', 'history', 'stories260K'].flatMap((name) =>
      readdirSync(join(kShared, name))
        .filter((file) => file.endsWith('.gguf') && !refused.has(file))
        .map((file) => [file, () => new Uint8Array(readFileSync(join(kShared, name, file)))] as const),
    )
  : []
const generated = (
  [{}, { version: 2 }, { bigEndian: true }, { alignment: 64 }, { bigEndian: true, version: 2 }] as const
).map((options) => [JSON.stringify(options), () => writeGguf(smallModel(options))] as const)

for (const [name, load] of [
  ...everyNth(real, 3),
  ...generated,
  ['hostile keys', () => writeGguf(hostileKeys())] as const,
]) {
  test(`round trips of ${name}`, async () => {
    const bytes = load()
    using file = await open(bytes)
    // A few files lack their data or have duplicate names.
    const anyway = { allowDamaged: true }
    const untouched = await (await file.edit(anyway)).build()
    same(await untouched.bytes(), bytes, 'untouched')
    if (bytes[0] !== 'G'.charCodeAt(0)) return

    // After adding and removing a key, the header is rewritten, and the data is one copied range.
    const again = await (await file.edit(anyway)).set('test.new', 7).remove('test.new').build()
    const rewritten = await again.bytes()
    assert.ok(again.parts.filter(({ kind }) => kind === 'copy').length <= 1)
    const old = readPlain(bytes)
    if (old.version > 1 && old.dataOffset <= bytes.length) {
      const padding = file.lint().find(({ message }) => /padding before the tensor data/.test(message))
      const wanted = padding ? bytes.slice().fill(0, padding.offset, old.dataOffset) : bytes
      same(rewritten, wanted, 'rewritten')
    }
    const strange = unlike.has(name) || name === 'hostile keys'
    const want = await seen(bytes, !strange)
    assert.deepEqual(await seen(rewritten, !strange), want)

    const edited = await (await file.edit(anyway)).set('test.new', 'text').build()
    const { metadata, tensors } = await seen(await edited.bytes(), !strange)
    assert.deepEqual(metadata, [...want.metadata, { key: 'test.new', type: 8, value: 'text' }])
    assert.deepEqual(tensors, want.tensors)

    if (file.tensors.some(({ offset, byteLength }) => offset + byteLength > bytes.length)) return
    // Converts to the other byte order and back.
    const other = file.endianness === 'big' ? 'little' : 'big'
    const turned = await (await (await file.edit(anyway)).build({ endianness: other, version: 3 })).bytes()
    assert.deepEqual((await seen(turned, false)).metadata, want.metadata)
    using second = await open(turned)
    assert.equal(second.endianness, other)
    for (const { name, shape } of file.tensors.filter((t) => t.type !== 'I8').slice(0, 30)) {
      if (shape[0] === 0) continue
      const [a, b] = await Promise.all([file.dequantize(name), second.dequantize(name)])
      assert.deepEqual(b, a, name)
    }
    const back = await (
      await second.edit()
    ).build({ endianness: file.endianness, version: old.version === 2 ? 2 : 3 })
    assert.deepEqual((await seen(await back.bytes(), !strange)).metadata, want.metadata)
    if (name.includes('{')) same(await back.bytes(), bytes, 'there and back')
  })
}

test('the real files of the tests exist', { skip: skipWithout(kShared) }, () => assert.ok(real.length >= 25))

/** Converts a fixture's value to the value and type that set() takes. */
type Typed = Parameters<InstanceType<typeof GgufBuilder>['set']>
function typed(value: Value): [Typed[1], Typed[2]] {
  if (value.type !== 'array') return [value.value as Typed[1], value.type]
  if (value.of !== 'array') return [value.value as Typed[1], { arrayOf: value.of }]
  return [value.value.map((inner) => typed(inner)[0]) as Typed[1], undefined]
}

for (const [version, endianness] of [
  [3, 'little'],
  [3, 'big'],
  [2, 'little'],
  [2, 'big'],
] as const) {
  test(`from nothing: every value type, every tensor type, version ${version}, ${endianness}`, async () => {
    const builder = new GgufBuilder().set('general.architecture', 'llama').set('general.alignment', 64)
    const values = allValueTypes().filter(([key]) => !String(key).startsWith('test.nested'))
    for (const [key, value] of values) builder.set(String(key), ...typed(value))
    builder.set('test.nested', [Int32Array.of(1, 2, 3), ['a', ''], new Float32Array()])
    builder.set('test.nested.deep', [[Uint8Array.of(7), new Uint8Array()]])
    const floats = new Float32Array(floatBytes(512 * 3, 5).buffer)
    const tensors = Object.keys(kTypes).map((type): Tensor => ({
      name: `raw.${type}`,
      shape: [512, 3],
      type,
    }))
    for (const [i, tensor] of tensors.entries()) {
      tensor.data = floatBytes(tensorBytes(tensor) / 4, i)
      builder.addTensor(tensor.name, tensor.shape, tensor.type, tensor.data)
    }
    for (const type of ['F32', 'F16', 'Q4_K', 'Q8_0'])
      builder.addTensor(`made.${type}`, [512, 3], type, floats)
    builder.addTensor('blob', [4], 'F32', new Blob([Float32Array.of(1, 2, 3, 4)]))
    const built = await builder.build({ version, endianness })
    const bytes = await built.bytes()
    assert.equal(bytes.length, built.size)
    const plain = readPlain(bytes)
    assert.deepEqual([plain.version, plain.bigEndian], [version, endianness === 'big'])
    assert.equal(plain.dataOffset % 64, 0)
    assert.equal(bytes.length % 64, 0)
    if (version === 3 && endianness === 'little') {
      const path = join(folder, 'nothing.gguf')
      writeFileSync(path, bytes)
      const { metadata, tensorInfos } = await gguf(path, { allowLocalFile: true })
      assert.equal(metadata['test.string.1' as keyof typeof metadata], 'text')
      assert.equal(tensorInfos.length, builder.tensors.length)
    }
    using file = await open(bytes)
    using reference = await open(
      writeGguf({
        version,
        bigEndian: endianness === 'big',
        metadata: [
          ['general.architecture', text('llama')],
          ['general.alignment', u32(64)],
          ...allValueTypes(),
        ],
      }),
    )
    assert.deepEqual([...file.metadata.keys()], [...reference.metadata.keys()])
    for (const [key, value] of reference.metadata) {
      assert.equal(file.metadata.type(key), reference.metadata.type(key), key)
      assert.deepEqual(made(file.metadata.get(key)), made(value), key)
    }
    const broken = file.lint().filter(({ level }) => level === 'error')
    // The file is not a model, ggml does not support nested arrays, and not every type can be computed with.
    const expected = new Set(['loader-key', 'tokenizer-missing', 'nested-array', 'tensor-type'])
    assert.deepEqual(
      broken.filter(({ code }) => !expected.has(code)),
      [],
    )
    using raw = await open(writeGguf({ tensors }))
    for (const { name } of tensors)
      assert.deepEqual(await file.dequantize(name), await raw.dequantize(name), name)
    for (const type of ['F32', 'F16', 'Q4_K', 'Q8_0']) {
      const data = await quantize(type, floats)
      using wanted = await open(writeGguf({ tensors: [{ name: 't', shape: [512, 3], type, data }] }))
      assert.deepEqual(await file.dequantize(`made.${type}`), await wanted.dequantize('t'), type)
    }
  })
}

test("missing types: the standardized key's type, or one derived from the value", async () => {
  const builder = new GgufBuilder()
    .set('u32', 5)
    .set('i32', -5)
    .set('u64', 2 ** 40)
    .set('i64', -5n * 2n ** 40n)
    .set('f32', 0.5)
    .set('bool', true)
    .set('ints', [1, 2])
    .set('floats', [1, 2.5])
    .set('mixed', [1, 2 ** 31])
    .set('texts', ['a'])
    .set('bools', [true])
    .set('u8', 5, 'u8')
    .set('u8', 6)
    .set('u16s', [1], { arrayOf: 'u16' })
    .set('u16s', [])
  using file = await open(await (await builder.build()).bytes())
  const types = Object.fromEntries(
    [...file.metadata].map(([key, value]) => [
      key,
      typeof value === 'object' ? `${(value as LazyArray).type}[]` : file.metadata.type(key),
    ]),
  )
  assert.deepEqual(types, {
    u32: 'u32',
    i32: 'i32',
    u64: 'u64',
    i64: 'i64',
    f32: 'f32',
    bool: 'bool',
    ints: 'i32[]',
    floats: 'f32[]',
    mixed: 'u32[]',
    texts: 'string[]',
    bools: 'bool[]',
    u8: 'u8',
    u16s: 'u16[]',
  })
  assert.equal(file.metadata.get('u8'), 6)
})

test('keys and tensors set, renamed, removed, copied from another file', async () => {
  const model = smallModel()
  using file = await open(writeGguf(model))
  const invalid = [Uint8Array.of(0xff, 0xfe), 'x', '\ufeffy']
  using other = await open(writeGguf({ bigEndian: true, metadata: [['words', array('string', invalid)]] }))
  const builder = await file.edit()
  builder
    .set('llama.block_count', 3)
    .set('tags', other.metadata.get('words')!)
    .copy(other, 'words')
    .copy(other, 'words', 'words.again')
    .rename('general.name', 'general.basename')
    .remove('test.u8.0')
    .renameTensor('blk.0.attn_norm.weight', 'blk.0.norm')
    .removeTensor('blk.1.attn_norm.weight')
    .addTensor('more', [2], 'I32', Int32Array.of(5, -6).buffer)
  assert.equal(builder.type('llama.block_count'), 'u32')
  assert.ok(builder.has('general.basename') && !builder.has('general.name'))
  const built = await builder.build()
  using again = await open(await built.bytes())
  assert.equal(again.metadata.get('llama.block_count'), 3)
  assert.equal(again.metadata.get('general.basename'), 'small')
  assert.equal(again.metadata.has('test.u8.0'), false)
  for (const key of ['tags', 'words', 'words.again']) {
    const words = again.metadata.get(key) as LazyArray
    assert.deepEqual(
      Array.from({ length: 3 }, (_, i) => words.bytesAt(i)),
      [invalid[0], new TextEncoder().encode('x'), new TextEncoder().encode('\ufeffy')],
    )
  }
  const kept = model.tensors!.filter(({ name }) => name !== 'blk.1.attn_norm.weight')
  assert.deepEqual(
    again.tensors.map(({ name }) => name),
    [...kept.map(({ name }) => (name === 'blk.0.attn_norm.weight' ? 'blk.0.norm' : name)), 'more'],
  )
  for (const [i, { data }] of kept.entries()) assert.deepEqual(await again.read(again.tensors[i]!.name), data)
  assert.deepEqual([...(await again.dequantize('more'))], [5, -6])
  assert.equal(again.lint().filter(({ code }) => /overlap|gap|align|offset/.test(code)).length, 0)
})

test('shards are one file, or edited one by one', async () => {
  const model = smallModel()
  for (const part of shards(model, 3, 'm')) writeFileSync(join(folder, part.name), writeGguf(part.model))
  const path = join(folder, 'm-00002-of-00003.gguf')
  using file = await open(path)
  same(await (await (await file.edit()).build()).bytes(), writeGguf(model), 'merged')
  const one = await (await file.edit({ shard: 1 })).set('split.count', 4).build()
  using second = await open([await one.bytes()], { allowMissingShards: true })
  assert.equal(second.metadata.get('split.count'), 4)
  assert.equal(second.tensors.length, 2)
  await assert.rejects(file.edit({ shard: 3 }), { code: 'invalid-argument' })
  rmSync(join(folder, 'm-00003-of-00003.gguf'))
  using partial = await open(path, { allowMissingShards: true })
  await assert.rejects(partial.edit(), { code: 'missing-shard' })
})

test('errors of edits have codes', async () => {
  using file = await open(writeGguf(smallModel()))
  const builder = await file.edit()
  const codes: [code: string, call: () => unknown][] = [
    ['invalid-argument', () => builder.set('a key', 1)],
    ['invalid-argument', () => builder.set('', 1)],
    ['invalid-argument', () => builder.set('k'.repeat(65_536), 1)],
    ['invalid-argument', () => builder.set('k\u00e9y', 1)],
    ['invalid-argument', () => builder.set('llama.block_count', 1.5)],
    ['invalid-argument', () => builder.set('llama.block_count', -1)],
    ['invalid-argument', () => builder.set('llama.block_count', 'three')],
    ['invalid-argument', () => builder.set('llama.block_count', [3])],
    ['invalid-argument', () => builder.set('general.name', 3)],
    ['invalid-argument', () => builder.set('a', 256, 'u8')],
    ['invalid-argument', () => builder.set('a', 2n ** 64n)],
    ['invalid-argument', () => builder.set('a', 1, 'u33' as 'u32')],
    ['invalid-argument', () => builder.set('a', [])],
    ['invalid-argument', () => builder.set('a', [1, 'b'])],
    ['invalid-argument', () => builder.set('a', [1, [2]])],
    ['invalid-argument', () => builder.set('a', ['b'], { arrayOf: 'i32' })],
    ['invalid-argument', () => builder.set('a', undefined as unknown as string)],
    ['invalid-argument', () => builder.set('a', {} as unknown as string)],
    ['not-found', () => builder.remove('none')],
    ['not-found', () => builder.rename('none', 'other')],
    ['duplicate', () => builder.rename('general.name', 'general.architecture')],
    ['invalid-argument', () => builder.rename('general.name', 'a b')],
    ['not-found', () => builder.copy(file, 'none')],
    ['not-found', () => builder.removeTensor('none')],
    ['not-found', () => builder.renameTensor('none', 'other')],
    ['duplicate', () => builder.renameTensor('token_embd.weight', 'output_norm.weight')],
    ['duplicate', () => builder.addTensor('token_embd.weight', [1], 'F32', new Uint8Array(4))],
    ['invalid-argument', () => builder.addTensor('t'.repeat(65), [1], 'F32', new Uint8Array(4))],
    ['bad-shape', () => builder.addTensor('t', [1, 1, 1, 1, 1], 'F32', new Uint8Array(4))],
    ['bad-shape', () => builder.addTensor('t', [-1], 'F32', new Uint8Array(4))],
    ['invalid-argument', () => builder.addTensor('t', [1], 'F32', 4 as unknown as Uint8Array)],
    ['bad-alignment', () => builder.set('general.alignment', 24)],
    ['bad-alignment', () => builder.set('general.alignment', 7n, 'u64')],
  ]
  for (const [code, call] of codes) assert.throws(call, { code }, call.toString())
  same(await (await builder.build()).bytes(), writeGguf(smallModel()), 'nothing was changed')

  const late: [code: string, builder: InstanceType<typeof GgufBuilder>][] = [
    ['bad-shape', new GgufBuilder().addTensor('t', [2], 'F32', new Uint8Array(4))],
    ['bad-shape', new GgufBuilder().addTensor('t', [31], 'Q4_0', new Float32Array(31))],
    ['unsupported', new GgufBuilder().addTensor('t', [32], 'Q9_9', new Float32Array(32))],
    ['unsupported', new GgufBuilder().addTensor('t', [32], 'I8', new Float32Array(32))],
    ['invalid-argument', new GgufBuilder().addTensor('t', [256], 'IQ1_S', new Float32Array(256))],
    ['bad-alignment', new GgufBuilder().set('general.alignment', 0)],
    ['bad-alignment', new GgufBuilder().set('general.alignment', 'x', 'string')],
  ]
  for (const [code, one] of late) await assert.rejects(one.build(), { code })
  await assert.rejects(new GgufBuilder().build({ version: 1 as 2 }), { code: 'unsupported' })

  const closed = await open(writeGguf(smallModel()))
  const orphan = (await closed.edit()).set('a', 1)
  closed.close()
  await assert.rejects(orphan.build(), { code: 'closed' })
})

test('a new alignment moves the tensors', async () => {
  using file = await open(writeGguf(smallModel()))
  for (const alignment of [8, 64, 4096]) {
    const builder = (await file.edit()).set('general.alignment', alignment)
    using again = await open(await (await builder.build()).bytes())
    assert.equal(again.alignment, alignment)
    for (const { name, offset } of again.tensors) {
      assert.equal(offset % alignment, 0)
      assert.deepEqual(await again.read(name), await file.read(name))
    }
  }
})

test('stream, blob, bytes and file are the same; a Blob gives slices, which are not read', async () => {
  const bytes = new Uint8Array(writeGguf(smallModel()))
  let reads = 0
  class Watched extends Blob {
    override slice(...args: Parameters<Blob['slice']>): Blob {
      const blob = super.slice(...args)
      const { arrayBuffer } = blob
      blob.arrayBuffer = () => (reads++, arrayBuffer.call(blob))
      return blob
    }
  }
  using file = await open(new Watched([bytes]))
  const built = await (await file.edit()).set('llama.block_count', 9).build()
  const whole = await built.bytes()
  reads = 0
  const blob = await built.blob()
  assert.equal(reads, 0)
  same(new Uint8Array(await blob.arrayBuffer()), whole, 'blob')
  same(new Uint8Array(await new Response(built.stream()).arrayBuffer()), whole, 'stream')
  // The names before 0.3.
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of built.pieces()) pieces.push(piece)
  same(new Uint8Array(await new Blob(pieces).arrayBuffer()), whole, 'pieces')
  const { parts } = await (await file.edit()).build({ endianness: 'big' })
  const computed = parts.filter((part) => part.kind === 'computed')
  assert.ok(computed.length > 0 && computed.every((part) => part.pieces === part.chunks))
  const path = join(folder, 'written.gguf')
  const progress: number[] = []
  await writeFile(path, built, { onProgress: ({ written }) => progress.push(written) })
  same(new Uint8Array(readFileSync(path)), whole, 'file')
  assert.equal(progress.at(-1), built.size)
  await assert.rejects(writeFile(path, built), { code: 'file-exists' })
  await assert.rejects(writeFile(join(folder, 'no', 'such'), built), { code: 'no-such-file' })
  // In place: the input file is replaced when the new one is complete.
  using disk = await open(path)
  await writeFile(path, await (await disk.edit()).remove('llama.block_count').build(), { overwrite: true })
  using after = await open(path)
  assert.equal(after.metadata.has('llama.block_count'), false)
  const aborted = AbortSignal.abort(new Error('enough'))
  await assert.rejects(writeFile(path, built, { overwrite: true, signal: aborted }), /enough/)
  await assert.rejects(built.bytes({ signal: aborted }), /enough/)
  await assert.rejects(built.blob({ signal: aborted }), /enough/)
  await assert.rejects((await disk.edit()).build({ signal: aborted }), /enough/)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  )
})

test('a source that ends early is an error, and leaves no file behind', async () => {
  const bytes = writeGguf(smallModel())
  // The source provides fewer bytes than its size says.
  const read = async (from: number, length: number) =>
    bytes.subarray(from, Math.min(from + length, bytes.length - 40))
  using file = await open({ size: bytes.length, read })
  const path = join(folder, 'short.gguf')
  const built = await (await file.edit()).removeTensor('token_embd.weight').build()
  await assert.rejects(writeFile(path, built), { code: 'truncated' })
  assert.equal(existsSync(path), false)
})

test('one key of a file of 40 GB: its header is all that travels and all that is held', async () => {
  await using server = await startServer()
  const { header, size } = writeHeader(hugeModel())
  assert.ok(size > 39e9)
  server.add('/huge.gguf', sparseContent(header, size))
  using file = await open(`${server.url}/huge.gguf`)
  const before = { heap: process.memoryUsage(), bytes: server.counts().bytes }
  const built = await (await file.edit()).set('general.name', 'a longer name than before').build()
  assert.equal(server.counts().bytes, before.bytes)
  const { parts } = built as WrittenFile
  const [head, data] = parts
  assert.ok(parts.length === 2 && head?.kind === 'bytes' && data?.kind === 'copy')
  assert.deepEqual([data.from, data.length], [header.length, size - header.length])
  assert.equal(data.to, built.header.length)
  assert.equal(built.size, built.header.length + size - header.length)
  using again = await open(built.header)
  assert.equal(again.metadata.get('general.name'), 'a longer name than before')
  assert.equal(again.tensors.length, file.tensors.length)

  // A stream computes only the bytes that are read from it.
  const reader = built.stream().getReader()
  let taken = 0
  while (taken < 20e6) {
    const { value } = await reader.read()
    for (const at of [0, value!.length - 1]) {
      const to = taken + at
      const from = to - built.header.length + header.length
      if (from >= header.length) assert.equal(value![at], sparseByte(from))
    }
    taken += value!.length
  }
  await reader.cancel()
  const grown = process.memoryUsage().rss - before.heap.rss
  assert.ok(server.counts().bytes - before.bytes < 45e6, `${server.counts().bytes - before.bytes} bytes`)
  assert.ok(grown < 200e6, `${grown} bytes more in memory`)
})
