// Files made from other files: split, merged, in the other byte order, requantized.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ByteSource, GgufFile } from 'ggufscope'
import { writeGguf, writeHeader, type Tensor } from '../fixtures/gguf.ts'
import { f32, floatBytes, shards, smallModel, text, u32 } from '../fixtures/models.ts'
import { readPlain } from '../fixtures/reader.ts'
import { kLong } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'

const { open, writeFile, quantize } = await loadNodePackage()
const { parseImatrix } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')

const folder = mkdtempSync(join(tmpdir(), 'convert-'))
after(() => rmSync(folder, { recursive: true }))

function same(got: Uint8Array, want: Uint8Array, what: string): void {
  assert.equal(Buffer.compare(got, want), 0, `${what}: ${got.length} bytes, not those ${want.length}`)
}

const edited = (file: GgufFile) => file.edit()

for (const options of [{}, { alignment: 64 }, { bigEndian: true }]) {
  test(`split and merged: ${JSON.stringify(options)}`, async () => {
    const model = smallModel(options)
    const bytes = writeGguf(model)
    using file = await open(bytes)
    const parts = await (await edited(file)).split('part', { maxTensors: 3 })
    assert.equal(parts.length, Math.ceil(model.tensors!.length / 3))
    if (!options.alignment) {
      // The files equal those that the tests' own writer makes.
      for (const [i, { name, model: wanted }] of shards(model, parts.length, 'part').entries()) {
        assert.equal(parts[i]!.name, name)
        if (model.tensors!.length % 3 === 0) same(await parts[i]!.bytes(), writeGguf(wanted), name)
      }
    }
    for (const part of parts) await writeFile(join(folder, part.name!), part, { overwrite: true })
    using split = await open(join(folder, parts[1]!.name!))
    assert.equal(split.shards.length, parts.length)
    assert.deepEqual(
      split.lint().filter(({ code }) => /split|shard|align/.test(code)),
      [],
    )
    for (const { name, data } of model.tensors!) assert.deepEqual(await split.read(name), data)
    same(await (await (await edited(split)).build()).bytes(), bytes, 'merged')
  })
}

test('files are split by bytes, and invalid limits are refused', async () => {
  const tensors = [40, 8, 8, 100, 8].map((n, i): Tensor => ({
    name: `t${i}`,
    shape: [n],
    type: 'F32',
    data: floatBytes(n, i),
  }))
  using file = await open(writeGguf({ tensors }))
  const parts = await (await edited(file)).split('x', { maxBytes: 200 })
  const names = await Promise.all(
    parts.map(async (part) => readPlain(await part.bytes()).tensors.map(({ name }) => name)),
  )
  assert.deepEqual(names, [['t0', 't1'], ['t2'], ['t3'], ['t4']])
  assert.equal((await (await edited(file)).split('x')).length, 1)
  for (const wrong of [{ maxTensors: 0 }, { maxBytes: NaN }])
    await assert.rejects((await edited(file)).split('x', wrong), { code: 'invalid-argument' })
})

function llama(
  tensors: readonly Tensor[],
  extra: Parameters<typeof writeGguf>[0]['metadata'] = [],
): Uint8Array {
  return writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['llama.block_count', u32(8)],
      ['llama.attention.head_count', u32(8)],
      ['llama.attention.head_count_kv', u32(8)],
      ['llama.rope.freq_base', f32(1e4)],
      ...extra,
    ],
    tensors,
  })
}

const kLayer = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down']
function eightLayers(width: number): Tensor[] {
  const tensor = (name: string, shape: number[], seed: number): Tensor => {
    const data = floatBytes(
      shape.reduce((a, b) => a * b, 1),
      seed,
    )
    return { name, shape, type: 'F32', data }
  }
  return [
    tensor('token_embd.weight', [width, 4], 1),
    tensor('output_norm.weight', [width], 2),
    tensor('output.weight', [width, 4], 3),
    ...Array.from({ length: 8 }, (_, layer) => [
      tensor(`blk.${layer}.attn_norm.weight`, [width], 4),
      tensor(`blk.${layer}.ffn_gate_inp.weight`, [width, 2], 5),
      ...kLayer.map((kind, i) => tensor(`blk.${layer}.${kind}.weight`, [width, 2], 10 * layer + i)),
    ]).flat(),
  ]
}

async function typesOf(bytes: Uint8Array, mixture: string): Promise<Map<string, string>> {
  using file = await open(bytes)
  const builder = await (await edited(file)).quantize(mixture)
  return new Map(builder.tensors.map(({ name, type }) => [name, type]))
}

test('a mixture gives each tensor its type', async () => {
  const model = llama(eightLayers(256))
  const types = await typesOf(model, 'Q4_K_M')
  assert.equal(types.get('output.weight'), 'Q6_K')
  assert.equal(types.get('token_embd.weight'), 'Q4_K')
  assert.equal(types.get('output_norm.weight'), 'F32')
  assert.equal(types.get('blk.3.ffn_gate_inp.weight'), 'F32')
  const down = Array.from({ length: 8 }, (_, i) => types.get(`blk.${i}.ffn_down.weight`))
  // llama.cpp's use_more_bits for 8 layers: the first, the last, and every third between them.
  assert.deepEqual(down, ['Q6_K', 'Q4_K', 'Q4_K', 'Q6_K', 'Q4_K', 'Q4_K', 'Q6_K', 'Q6_K'])
  for (const kind of ['attn_q', 'attn_k', 'attn_output', 'ffn_up', 'ffn_gate'])
    assert.equal(types.get(`blk.0.${kind}.weight`), 'Q4_K')
  assert.deepEqual(await typesOf(model, 'Q4_K'), types)

  const small = await typesOf(model, 'Q3_K_M')
  assert.deepEqual(
    [0, 1, 2, 7].map((i) => small.get(`blk.${i}.attn_v.weight`)),
    ['Q5_K', 'Q5_K', 'Q4_K', 'Q4_K'],
  )
  // A fused matrix for queries, keys and values follows the rule for values.
  const fused = await typesOf(
    llama(eightLayers(256).map((tensor) => ({ ...tensor, name: tensor.name.replace('attn_v', 'attn_qkv') }))),
    'Q3_K_M',
  )
  assert.deepEqual(
    [0, 1, 2, 7].map((i) => fused.get(`blk.${i}.attn_qkv.weight`)),
    ['Q5_K', 'Q5_K', 'Q4_K', 'Q4_K'],
  )
  const half = await typesOf(model, 'F16')
  assert.deepEqual([half.get('output.weight'), half.get('output_norm.weight')], ['F16', 'F32'])
  // The length of these rows is not a multiple of a super-block.
  const narrow = await typesOf(llama(eightLayers(96)), 'Q4_K_M')
  assert.deepEqual([narrow.get('blk.1.attn_q.weight'), narrow.get('output.weight')], ['Q5_0', 'Q8_0'])
  const narrower = await typesOf(llama(eightLayers(24)), 'Q4_0')
  assert.equal(narrower.get('blk.1.attn_q.weight'), 'F16')
  // Without output.weight, the embeddings are also the output.
  const tied = await typesOf(llama(eightLayers(256).filter(({ name }) => name !== 'output.weight')), 'Q4_K_S')
  assert.equal(tied.get('token_embd.weight'), 'Q6_K')

  using file = await open(model)
  const builder = await edited(file)
  await builder.quantize('Q8_0', {
    pure: true,
    types: ({ name }) => (name === 'output.weight' ? 'F16' : undefined),
  })
  const chosen = new Map(builder.tensors.map(({ name, type }) => [name, type]))
  assert.deepEqual([chosen.get('output.weight'), chosen.get('blk.0.attn_v.weight')], ['F16', 'Q8_0'])
  await assert.rejects(builder.quantize('Q9_K'), { code: 'invalid-argument' })
  await assert.rejects(builder.quantize('IQ2_XS'), { code: 'invalid-argument' })
  await assert.rejects(builder.quantize('Q4_0', { types: () => 'I8' }), { code: 'unsupported' })
  await assert.rejects(builder.quantize('Q4_0', { signal: AbortSignal.abort(new Error('enough')) }), /enough/)
})

test('requantized: the bytes are those of quantize, from any type, into either byte order', async () => {
  const floats = (tensor: Tensor) => new Float32Array(tensor.data!.slice().buffer)
  const model = eightLayers(256)
  using file = await open(llama(model))
  for (const mixture of ['Q4_K_M', 'Q8_0', 'Q6_K', 'BF16']) {
    const builder = await (await edited(file)).quantize(mixture)
    const seen = new Set<string>()
    const built = await builder.build()
    const bytes = await built.bytes({ onProgress: ({ tensor }) => tensor && seen.add(tensor) })
    using small = await open(bytes)
    assert.equal(small.summary().fileType, mixture)
    assert.equal(small.metadata.get('general.quantization_version'), 2)
    assert.equal(small.lint().filter(({ code }) => /file-type|quantization|overlap|gap/.test(code)).length, 0)
    for (const tensor of model) {
      const { type } = small.tensor(tensor.name)!
      const want = type === 'F32' ? tensor.data! : await quantize(type, floats(tensor))
      assert.deepEqual(await small.read(tensor.name), new Uint8Array(want), `${tensor.name} ${type}`)
      assert.ok(seen.has(tensor.name), 'what is copied is looked at')
    }
    using big = await open(await (await builder.build({ endianness: 'big' })).bytes())
    for (const { name } of model)
      assert.deepEqual(await big.dequantize(name), await small.dequantize(name), name)

    // Requantizing gives the same bytes as quantizing the dequantized values.
    const again = await (await edited(small)).quantize('Q4_0', { pure: true, allowRequantize: true })
    using second = await open(await (await again.build()).bytes())
    const name = 'blk.2.attn_v.weight'
    assert.deepEqual(await second.read(name), await quantize('Q4_0', await small.dequantize(name)))
  }
})

test('importance of an imatrix file, one set of columns for each expert', async () => {
  const shape = [256, 3, 2]
  const data = floatBytes(256 * 6, 1)
  const sums = floatBytes(512, 2).map((byte, i) => (i % 4 === 3 ? byte & 0x7f : byte)) // no negative ones
  using file = await open(
    llama([
      { name: 'blk.0.ffn_up_exps.weight', shape, type: 'F32', data },
      { name: 'blk.0.attn_q.weight', shape: [256, 2], type: 'F32', data: data.subarray(0, 2048) },
    ]),
  )
  const counts = new Uint8Array(Float32Array.of(4, 0).buffer)
  const one = new Uint8Array(Float32Array.of(2).buffer)
  using importance = await open(
    writeGguf({
      metadata: [['general.type', text('imatrix')]],
      tensors: [
        { name: 'blk.0.ffn_up_exps.weight.in_sum2', shape: [256, 2], type: 'F32', data: sums },
        { name: 'blk.0.ffn_up_exps.weight.counts', shape: [1, 2], type: 'F32', data: counts },
        { name: 'blk.0.attn_q.weight.in_sum2', shape: [256], type: 'F32', data: sums.subarray(0, 1024) },
        { name: 'blk.0.attn_q.weight.counts', shape: [1, 1], type: 'F32', data: one },
      ],
    }),
  )
  const builder = await (await edited(file)).quantize('IQ2_XS', { importance, pure: true })
  using small = await open(await (await builder.build()).bytes())
  const floats = new Float32Array(data.slice().buffer)
  const columns = (by: number) =>
    new Float32Array(sums.slice().buffer).subarray(0, 256).map((sum) => sum / by)
  const wanted = [
    await quantize('IQ2_XS', floats.subarray(0, 768), { importance: columns(4) }),
    await quantize('IQ2_XS', floats.subarray(768), { importance: new Float32Array(256).fill(1) }),
  ]
  assert.deepEqual(await small.read('blk.0.ffn_up_exps.weight'), new Uint8Array(Buffer.concat(wanted)))
  assert.deepEqual(
    await small.read('blk.0.attn_q.weight'),
    await quantize('IQ2_XS', floats.subarray(0, 512), { importance: columns(2) }),
  )
})

test('an imatrix.dat is read', async () => {
  const i32 = (...values: number[]) => Buffer.from(Int32Array.from(values).buffer)
  const name = 'blk.0.attn_q.weight'
  const values = Float32Array.from({ length: 256 }, (_, i) => i * 3)
  const bytes = Buffer.concat([
    i32(1, name.length),
    Buffer.from(name),
    i32(3, 256),
    Buffer.from(values.buffer),
  ])
  const importance = parseImatrix(bytes)
  assert.deepEqual([...importance], [[name, Float32Array.from({ length: 256 }, (_, i) => i)]])
  const data = floatBytes(512, 3)
  using file = await open(llama([{ name, shape: [256, 2], type: 'F32', data }]))
  const builder = await (await edited(file)).quantize('IQ2_XXS', { importance, pure: true })
  using small = await open(await (await builder.build()).bytes())
  const want = await quantize('IQ2_XXS', new Float32Array(data.slice().buffer), {
    importance: importance.get(name),
  })
  assert.deepEqual(await small.read(name), want)
  for (let length = 0; length < bytes.length; length += 7)
    assert.throws(() => parseImatrix(bytes.subarray(0, length)), {
      code: length < 4 ? 'truncated' : /truncated|bad-count/,
    })
  assert.throws(() => parseImatrix(i32(-1, 2, 3, 4)), { code: 'bad-count' })
  assert.throws(() => parseImatrix(i32(1, -5, 3, 4, 0, 0)), { code: 'truncated' })
})

const kImatrix = join(kShared, 'imatrix/imatrix.dat')
test('a real imatrix.dat is read', { skip: skipWithout(kImatrix) }, () => {
  const importance = parseImatrix(readFileSync(kImatrix))
  assert.equal(importance.size, 154)
  assert.equal(importance.get('blk.21.ffn_up.weight')?.length, 2048)
  for (const [name, values] of importance)
    assert.ok(
      values.every((value) => value >= 0 && value < 1e9),
      name,
    )
})

test('super-blocks of 64 keep their type or become another one, and are not mixed with those of 256', async () => {
  const floats = floatBytes(512, 1)
  const { header } = writeHeader({
    metadata: [['general.architecture', text('llama')]],
    tensors: [
      { name: 'blk.0.ffn_up.weight', shape: [256, 2], type: 'F32' },
      { name: 'blk.0.attn_q.weight', shape: [256, 4], type: 'Q4_K' },
    ],
  })
  // Blocks of 38 bytes. Each begins with two scales of 0.5.
  const blocks = Uint8Array.from({ length: 16 * 38 }, (_, i) => (i % 38 < 4 ? (i % 2) * 0x38 : i))
  using file = await open(new Blob([header, floats.slice(), blocks].map((bytes) => new Uint8Array(bytes))))
  const name = 'blk.0.attn_q.weight'
  const before = await file.dequantize(name)
  for (const endianness of ['little', 'big'] as const) {
    const builder = (await edited(file)).set('general.name', 'old').removeTensor('blk.0.ffn_up.weight')
    using again = await open(await (await builder.build({ endianness })).bytes())
    assert.deepEqual(await again.dequantize(name), before, endianness)
  }
  const options = { allowRequantize: true }
  using eight = await open(
    await (await (await (await edited(file)).quantize('Q8_0', options)).build()).bytes(),
  )
  assert.deepEqual(await eight.read(name), await quantize('Q8_0', before))
  await assert.rejects((await (await edited(file)).quantize('Q4_K_M', options)).build(), {
    code: 'unsupported',
  })
})

test(
  'a tensor of half a gigabyte is requantized within bounded memory, and can be aborted',
  { skip: kLong },
  async () => {
    const shape = [4096, 65_536]
    const { header, size } = writeHeader({
      metadata: [['general.architecture', text('llama')]],
      tensors: [{ name: 'blk.0.ffn_up.weight', shape, type: 'F16' }],
    })
    const source: ByteSource = {
      size,
      read: async (offset, length) => {
        const bytes = new Uint8Array(length)
        bytes.set(header.subarray(Math.min(offset, header.length), Math.min(offset + length, header.length)))
        return bytes
      },
    }
    using file = await open(source)
    const built = await (await (await edited(file)).quantize('Q8_0')).build()
    const before = process.memoryUsage().rss
    let most = 0
    let total = 0
    for await (const chunk of built.chunks()) {
      total += chunk.length
      most = Math.max(most, process.memoryUsage().rss)
    }
    assert.equal(total, built.size)
    assert.ok(most - before < 300e6, `${most - before} bytes`)
    const controller = new AbortController()
    const stop = () => controller.abort(new Error('enough'))
    await assert.rejects(built.bytes({ signal: controller.signal, onProgress: stop }), /enough/)
  },
)

test('the trained sample, quantized to 8 bits, is close to what it was', async () => {
  using file = await open(join(kRoot, 'tests/fixtures/stories.gguf'))
  const floats = await (await edited(file)).quantize('F32', { allowRequantize: true })
  using wide = await open(await (await floats.build()).bytes())
  const narrow = await (await edited(wide)).quantize('Q8_0')
  using small = await open(await (await narrow.build()).bytes())
  assert.ok(small.summary().bitsPerWeight < 9)
  for (const { name, shape } of small.tensors.filter(({ type }) => type === 'Q8_0')) {
    assert.ok(shape.length > 1)
    const { error } = await small.stats(name, { against: { file } })
    assert.ok(error!.nmse < 1e-4, name)
  }
})
