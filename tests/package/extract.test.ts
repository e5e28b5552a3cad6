// Tensors as .npy and .safetensors, read by independent readers of those formats.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufFile } from 'ggufscope'
import { readNpy, readSafetensors } from '../fixtures/extracted.ts'
import { kTypes, tensorBytes, writeGguf, type Tensor } from '../fixtures/gguf.ts'
import { array, f32, floatBytes, text, u32 } from '../fixtures/models.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const { toNpy, toSafetensors } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')
const skip = skipWithout(kShared)

const kPlain = ['F32', 'F16', 'BF16', 'F64', 'I8', 'I16', 'I32', 'I64']
const kNpyTypes: Record<string, string> = { F16: 'f2', F64: 'f8', I8: 'i1', I16: 'i2', I32: 'i4', I64: 'i8' }

/** One tensor of every type, and single numbers, so that offsets are unlikely to be aligned by chance. */
function everyType(bigEndian: boolean): Tensor[] {
  const of = (name: string, type: string, shape: number[], seed: number): Tensor => {
    const bytes = tensorBytes({ name, type, shape })
    const data = floatBytes(Math.ceil(bytes / 4), seed, bigEndian).subarray(0, bytes)
    return { name, type, shape, data }
  }
  const shapes = [[512], [256, 3], [256, 2, 3], [256, 1, 2, 2]]
  return [
    ...kPlain.map((type, i) => of(`one ${type}`, type, [1], i)),
    ...Object.keys(kTypes).map((type, i) => of(type, type, shapes[i % 4]!, i)),
  ]
}

/** A tensor's bytes, little-endian. */
async function littleEndian(file: GgufFile, name: string, width: number): Promise<Uint8Array> {
  const bytes = Buffer.from(await file.read(name))
  if (file.endianness === 'little' || width === 1) return new Uint8Array(bytes)
  const swapped = width === 2 ? bytes.swap16() : width === 4 ? bytes.swap32() : bytes.swap64()
  return new Uint8Array(swapped)
}

async function checkSafetensors(file: GgufFile, bytes: Uint8Array): Promise<void> {
  const { tensors } = readSafetensors(bytes)
  assert.deepEqual(new Set(tensors.keys()), new Set(file.tensors.map(({ name }) => name)))
  for (const { name, type, shape } of file.tensors) {
    const read = tensors.get(name)!
    assert.deepEqual(read.shape, shape.toReversed(), name)
    assert.equal(read.dtype, kPlain.includes(type) ? type : 'F32', name)
    const want = kPlain.includes(type)
      ? await littleEndian(file, name, kTypes[type]![2])
      : new Uint8Array((await file.dequantize(name)).buffer)
    assert.equal(Buffer.compare(read.data, want), 0, name)
  }
}

for (const bigEndian of [false, true]) {
  const order = bigEndian ? 'big' : 'little'

  test(`.npy of every type, ${order}-endian`, async () => {
    using file = await open(writeGguf({ bigEndian, tensors: everyType(bigEndian) }))
    for (const { name, type, shape } of file.tensors) {
      const read = readNpy(await (await toNpy(file, name)).bytes())
      assert.deepEqual(read.shape, shape.toReversed(), name)
      const plain = type !== 'BF16' && kPlain.includes(type)
      assert.equal(read.dtype, (plain && kNpyTypes[type]) || 'f4')
      assert.equal(read.bigEndian, bigEndian && plain && type !== 'I8', name)
      const want = plain ? await file.read(name) : new Uint8Array((await file.dequantize(name)).buffer)
      assert.equal(Buffer.compare(read.data, want), 0, name)
    }
    await assert.rejects(toNpy(file, 'none'), { code: 'not-found' })
  })

  test(`.safetensors of every type, ${order}-endian`, async () => {
    using file = await open(writeGguf({ bigEndian, tensors: everyType(bigEndian) }))
    await checkSafetensors(file, await (await toSafetensors(file)).bytes())
    const two = readSafetensors(await (await toSafetensors(file, { tensors: ['F16', 'Q4_K'] })).bytes())
    assert.deepEqual([...two.tensors.keys()].sort(), ['F16', 'Q4_K'])
    await assert.rejects(toSafetensors(file, { tensors: ['none'] }), { code: 'not-found' })
    await assert.rejects(toSafetensors(file, { tensors: ['F16', 'F16'] }), { code: 'duplicate' })
  })
}

test('.safetensors keeps names and metadata that JSON escapes', async () => {
  const names = [
    '"',
    '\\',
    '7',
    '0',
    '__proto__',
    'constructor',
    'n\u00e4me \u4eba\ud83d\ude42',
    '\n\u0001',
    'a:{}',
  ]
  const metadata = [
    ['general.name', text('"n\u00e4me"\n\u2028\ud83d\ude42')],
    ['big', { type: 'u64', value: 2n ** 63n + 1n }],
    ['nan', f32(NaN)],
    ['yes', { type: 'bool', value: true }],
    ['list', array('string', ['left', 'out'])],
    ['format', text('ours')],
    ['__proto__', u32(1)],
  ] as const
  const tensors = names.map((name, i): Tensor => ({
    name,
    type: 'F32',
    shape: [i + 1],
    data: floatBytes(i + 1, i),
  }))
  using file = await open(writeGguf({ metadata, tensors }))
  const bytes = await (await toSafetensors(file)).bytes()
  await checkSafetensors(file, bytes)
  assert.deepEqual([...readSafetensors(bytes).metadata].sort(), [
    ['__proto__', '1'],
    ['big', '9223372036854775809'],
    ['format', 'pt'],
    ['general.name', '"n\u00e4me"\n\u2028\ud83d\ude42'],
    ['nan', 'NaN'],
    ['yes', 'true'],
  ])
  using reserved = await open(writeGguf({ tensors: [{ ...tensors[0]!, name: '__metadata__' }] }))
  await assert.rejects(toSafetensors(reserved), { code: 'unsupported' })
  using none = await open(writeGguf({}))
  assert.equal(readSafetensors(await (await toSafetensors(none)).bytes()).tensors.size, 0)
})

test('.safetensors holds a name once: the two tensors of one name are named', async () => {
  const twice = { name: 'blk.0.attn_q.weight', shape: [4], type: 'F32' }
  const tensors = [twice, { ...twice, name: 'output.weight' }, twice]
  using file = await open(writeGguf({ metadata: [['general.architecture', text('llama')]], tensors }))
  await assert.rejects(toSafetensors(file), {
    code: 'duplicate',
    message: /two tensors of the name .blk\.0\.attn_q\.weight/,
  })
  const one = await toSafetensors(file, { tensors: ['output.weight'] })
  assert.deepEqual([...readSafetensors(await one.bytes()).tensors.keys()], ['output.weight'])
})

test('.safetensors of real files', { skip }, async () => {
  const files = [
    join(kRoot, 'tests/fixtures/stories.gguf'),
    join(kShared, 'stories260K/stories260K.tied.gguf'),
    join(kShared, 'rwkv/tiny-rwkv-4v0-660K-Q5_1.bin'),
  ]
  for (const path of files) {
    using file = await open(new Uint8Array(readFileSync(path)))
    await checkSafetensors(file, await (await toSafetensors(file)).bytes())
  }
})

// The readers themselves must reject invalid files; otherwise they would prove nothing.
test('the readers refuse invalid files', async () => {
  const file = (header: string, data = 4): Uint8Array => {
    const json = Buffer.from(header)
    const length = Buffer.alloc(8)
    length.writeBigUInt64LE(BigInt(json.length))
    return new Uint8Array(Buffer.concat([length, json, Buffer.alloc(data)]))
  }
  const f32One = (begin: number) => `{"dtype":"F32","shape":[1],"data_offsets":[${begin},${begin + 4}]}`
  const sound = `{"a":${f32One(0)}}`
  // so that the data is aligned
  const padded = (header: string) => header + ' '.repeat((8 - (header.length % 8)) % 8)
  assert.equal(readSafetensors(file(padded(sound))).tensors.size, 1)
  const cases: [string, RegExp][] = [
    [` ${sound}`, /begin with/],
    [`${sound}\n`, /more than spaces/],
    [`{"a":${f32One(0)},"a":${f32One(0)}}`, /twice/],
    [`{"a":${f32One(0)},"__metadata__":{"x":"1","x":"2"}}`, /twice/],
    [`{"a":${f32One(0)},"__metadata__":{"x":1}}`, /no text/],
    [sound.replace('F32', 'Q4_0'), /dtype/],
    [sound.replace('F32', 'F64'), /another size/],
    [sound.replace('[1]', '[2]'), /another size/],
    [sound.replace('[1]', '[-1]'), /no shape/],
    [sound.replace('[1]', '1'), /no shape/],
    [sound.replace('"shape"', '"strides":[],"shape"'), /says strides/],
    [`{"a":${f32One(8)}}`, /beyond the end/],
    ['{}', /no tensor at the end/],
  ]
  for (const [header, message] of cases)
    assert.throws(() => readSafetensors(file(padded(header))), message, header)
  assert.throws(() => readSafetensors(file(padded(`{"a":${f32One(4)}}`), 8)), /a hole/)
  assert.throws(() => readSafetensors(file(padded(`{"a":${f32One(0)},"b":${f32One(0)}}`), 4)), /bytes of two/)
  assert.throws(() => readSafetensors(file(`${padded(sound)} `)), /not aligned/)
  assert.throws(() => readSafetensors(file(sound).subarray(0, 30)), /beyond the end/)
  assert.throws(() => readSafetensors(new Uint8Array(7)), /no length/)

  using one = await open(writeGguf({ tensors: [{ name: 'a', type: 'F32', shape: [1] }] }))
  const npy = await (await toNpy(one, 'a')).bytes()
  const changed = (at: number, value: number) => npy.with(at, value)
  assert.throws(() => readNpy(changed(6, 2)), /another version/)
  assert.throws(() => readNpy(changed(8, npy[8]! + 1)), /multiple of 64/)
  assert.throws(() => readNpy(changed(127, 0x20)), /header/)
  assert.throws(() => readNpy(npy.subarray(0, -1)), /another size/)
})

test('tensors that ComfyUI-GGUF stored as rows of 256 get the shape that they had', async () => {
  const data = floatBytes(256 * 9, 3)
  const key = 'comfy.gguf.orig_shape.'
  const tensors = ['conv', 'other'].map((name) => ({ name, type: 'F32', shape: [256, 9], data }))
  using file = await open(
    writeGguf({
      metadata: [
        ['general.architecture', text('sd1')],
        [`${key}conv`, array('i32', [64, 4, 3, 3])],
        [`${key}other`, array('i32', [64, 4, 3])], // a different number of elements
      ],
      tensors,
    }),
  )
  const shapes = { conv: [64, 4, 3, 3], other: [9, 256] }
  const all = readSafetensors(await (await toSafetensors(file)).bytes())
  for (const [name, shape] of Object.entries(shapes)) {
    assert.deepEqual(all.tensors.get(name)!.shape, shape)
    assert.deepEqual(readNpy(await (await toNpy(file, name)).bytes()).shape, shape)
  }
})
