// Values of tensors through the packed package: floats of every type, statistics, quantizing.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { kTypes, tensorBytes, writeGguf, writeHeader, type Tensor } from '../fixtures/gguf.ts'
import { hugeModel } from '../fixtures/models.ts'
import { sparseByte, sparseContent } from '../server/content.ts'
import { startServer } from '../server/server.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, loadPackage, packedFile } from './packed.ts'

const { open, quantize } = await loadPackage()

const kVectors = join(kRoot, '..', 'shared', 'vectors', 'quant')
const kGolden = join(kRoot, '..', 'shared', 'data', 'dequant', 'aikit-iq_dequant_golden.json')

function random(seed: number): () => number {
  let state = seed
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0)
}
function randomBytes(count: number, seed: number): Uint8Array {
  const next = random(seed)
  return Uint8Array.from({ length: count }, () => next() >>> 24)
}
function gaussian(count: number, seed: number): Float32Array {
  const next = random(seed)
  const uniform = () => (next() + 1) / 2 ** 32
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  )
}
const bits = (floats: Float32Array) => new Uint32Array(floats.buffer, floats.byteOffset, floats.length)
/** Compares floats bit by bit. All NaNs are equal. */
function assertSameFloats(got: Float32Array, want: Float32Array, what: string): void {
  assert.equal(got.length, want.length, what)
  const [a, b] = [bits(got), bits(want)]
  for (let i = 0; i < a.length; i++)
    if (a[i] !== b[i] && !(Number.isNaN(got[i]) && Number.isNaN(want[i])))
      assert.fail(`${what}: float ${i} is ${got[i]}, not ${want[i]}`)
}
const floatsOf = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer)
const bytesOf = (floats: Float32Array) => new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)

test('small types match values computed by hand', async () => {
  const q8 = new Uint8Array(34)
  new DataView(q8.buffer).setUint16(0, 0x3800, true) // 0.5
  q8.set([2, 254], 2)
  using file = await open(
    writeGguf({
      tensors: [
        { name: 'q8', shape: [32], type: 'Q8_0', data: q8 },
        {
          name: 'i64',
          shape: [2],
          type: 'I64',
          data: new Uint8Array(new BigInt64Array([-5n, 2n ** 40n]).buffer),
        },
        {
          name: 'f64',
          shape: [3],
          type: 'F64',
          data: new Uint8Array(new Float64Array([0.1, -2, 1e300]).buffer),
        },
      ],
    }),
  )
  assert.deepEqual([...(await file.dequantize('q8'))].slice(0, 3), [1, -1, 0])
  assert.deepEqual([...(await file.dequantize('i64'))], [-5, 2 ** 40])
  assert.deepEqual([...(await file.dequantize('f64'))], [Math.fround(0.1), -2, Infinity])
})

test('every type, any rows, little- and big-endian alike', async () => {
  const tensors: Tensor[] = Object.keys(kTypes).map((type, i) => {
    const tensor = { name: type, shape: [kTypes[type]![1] * 2, 5], type }
    return { ...tensor, data: randomBytes(tensorBytes(tensor), i + 1) }
  })
  using file = await open(writeGguf({ tensors }))
  for (const { name, shape } of tensors) {
    const all = await file.dequantize(name)
    assert.equal(all.length, shape[0]! * 5)
    const some = await file.dequantize(name, { rows: [1, 4] })
    assertSameFloats(some, all.subarray(shape[0]!, 4 * shape[0]!), name)
    assert.equal((await file.dequantize(name, { rows: [2, 2] })).length, 0)
  }
  await assert.rejects(file.dequantize('Q4_K', { rows: [0, 6] }), { code: 'invalid-argument' })
  await assert.rejects(file.dequantize('none'), { code: 'not-found' })
  const controller = new AbortController()
  controller.abort(new Error('enough'))
  await assert.rejects(file.dequantize('Q4_K', { signal: controller.signal }), /enough/)

  // The same numbers in the other byte order. The fields of each type have the offsets of ggml's structures.
  const fields: Record<string, [offset: number, width: number, count: number][]> = {
    F32: [[0, 4, 1]], F16: [[0, 2, 1]], BF16: [[0, 2, 1]], F64: [[0, 8, 1]], I16: [[0, 2, 1]], I32: [[0, 4, 1]],
    I64: [[0, 8, 1]], Q4_0: [[0, 2, 1]], Q8_0: [[0, 2, 1]], Q4_K: [[0, 2, 2]], Q6_K: [[208, 2, 1]], Q2_K: [[80, 2, 2]],
    Q5_K: [[0, 2, 2]], Q8_K: [[0, 4, 1], [260, 2, 16]], IQ4_XS: [[0, 2, 2]], MXFP4: [], I8: [],
  } // prettier-ignore
  const swapped = Object.entries(fields).map(([type, places]) => {
    const tensor = tensors.find(({ name }) => name === type)!
    const data = tensor.data!.slice()
    for (let block = 0; block < data.length; block += kTypes[type]![2])
      for (const [offset, width, count] of places)
        for (let k = 0; k < count; k++)
          data.subarray(block + offset + k * width, block + offset + (k + 1) * width).reverse()
    return { ...tensor, data }
  })
  using big = await open(writeGguf({ bigEndian: true, tensors: swapped }))
  assert.equal(big.endianness, 'big')
  for (const { name } of swapped)
    assertSameFloats(await big.dequantize(name), await file.dequantize(name), name)
})

test('values match the vectors of ggml', { skip: skipWithout(kVectors) }, async () => {
  const names = Object.keys(kTypes).filter((type) => existsSync(join(kVectors, `${type}.quantized.bin`)))
  assert.ok(names.length >= 27)
  const vector = (name: string) => new Uint8Array(readFileSync(join(kVectors, name)))
  const tensors = names.map((type) => ({
    name: type,
    type,
    shape: [1024, 8],
    data: vector(`${type}.quantized.bin`),
  }))
  using file = await open(writeGguf({ tensors }))
  const source = floatsOf(vector('source.f32'))
  const importance = floatsOf(vector('imatrix.f32'))
  for (const type of names) {
    assertSameFloats(await file.dequantize(type), floatsOf(vector(`${type}.expected.f32`)), type)
    const weighted = ['IQ1_S', 'IQ2_XXS', 'IQ2_XS'].includes(type)
    assert.deepEqual(
      await quantize(type, source, weighted ? { importance } : {}),
      vector(`${type}.quantized.bin`),
      type,
    )
  }
})

test('values match the Python reference', { skip: skipWithout(kGolden) }, async () => {
  interface Case { type: string; elems: number; raw_hex: string; expected: number[] } // prettier-ignore
  const { cases } = JSON.parse(readFileSync(kGolden, 'utf8')) as { cases: Case[] }
  const tensors = cases.map(({ type, elems, raw_hex }, i) => ({
    name: `${i}`,
    type,
    shape: [elems],
    data: new Uint8Array(Buffer.from(raw_hex, 'hex')),
  }))
  using file = await open(writeGguf({ tensors }))
  for (const [i, { expected, type }] of cases.entries())
    assertSameFloats(await file.dequantize(`${i}`), Float32Array.from(expected), type)
})

test("super-blocks of 64, recognized by the tensors' offsets or by the option", async () => {
  // Blocks with d, dmin = 0, two scales and nibbles. Their values are alternately one and two.
  const block = (scale: number) => [0x00, 0x3c, 0, 0, scale, scale, ...new Array<number>(32).fill(0x11)]
  const data = Uint8Array.from([1, 2, 1, 2, 1, 2, 1, 2].flatMap(block))
  const expected = [1, 2, 1, 2, 1, 2, 1, 2].flatMap((value) => new Array<number>(64).fill(value))
  kTypes['small Q4_K'] = [12, 64, 38]
  try {
    const tensor = { shape: [256, 2], type: 'small Q4_K', data }
    using file = await open(writeGguf({ tensors: ['a', 'b'].map((name) => ({ name, ...tensor })) }))
    for (const name of ['a', 'b']) assert.deepEqual([...(await file.dequantize(name))], expected)
    assert.deepEqual([...(await file.dequantize('b', { rows: [1, 2] }))], expected.slice(256))
    assert.notDeepEqual([...(await file.dequantize('a', { superBlock: 256 }))], expected)
    assert.deepEqual(
      file.tensors.map(({ byteLength }) => byteLength),
      [304, 304],
    )
    assert.deepEqual(
      file.lint().flatMap(({ level, code }) => (level === 'error' ? [code] : [])),
      ['small-blocks'],
    )
    const { scales } = await file.stats('a')
    assert.deepEqual([scales?.count, scales?.min, scales?.max], [8, 1, 1])
    using narrow = await open(writeGguf({ tensors: [{ name: 'a', ...tensor, shape: [64, 8] }] }))
    assert.deepEqual([...(await narrow.dequantize('a'))], expected)

    // The file has more bytes than any super-blocks take, so its size proves nothing, and the option decides.
    const narrowBytes = writeGguf({ tensors: [{ name: 'a', ...tensor, shape: [64, 8] }] })
    using unproven = await open(Uint8Array.from([...narrowBytes, ...new Array<number>(100).fill(0)]))
    await assert.rejects(unproven.dequantize('a'), { code: 'bad-shape', message: /superBlock: 64/ })
    assert.deepEqual([...(await unproven.dequantize('a', { superBlock: 64 }))], expected)

    const swapped = data.slice()
    for (let at = 0; at < data.length; at += 38) swapped.subarray(at, at + 2).reverse()
    using big = await open(writeGguf({ bigEndian: true, tensors: [{ name: 'a', ...tensor, data: swapped }] }))
    assert.deepEqual([...(await big.dequantize('a'))], expected)
    assert.equal((await big.stats('a')).scales?.max, 1)
  } finally {
    delete kTypes['small Q4_K']
  }
})

test('sixteen rows of a remote file of 40 GB transfer those rows alone', async () => {
  const model = hugeModel()
  const { header, size, offsets } = writeHeader(model)
  const server = await startServer()
  try {
    server.add('/huge.gguf', sparseContent(header, size))
    using file = await open(`${server.url}/huge.gguf`)
    for (const type of new Set(file.tensors.map((tensor) => tensor.type))) {
      const tensor = file.tensors.findLast((t) => t.type === type && t.shape.length > 1)
      if (!tensor) continue
      const rowCount = tensor.elementCount / tensor.shape[0]!
      const from = Math.max(0, rowCount - 20)
      const rowBytes = tensor.byteLength / rowCount
      server.reset()
      const floats = await file.dequantize(tensor.name, { rows: [from, from + 16] })
      assert.equal(floats.length, 16 * tensor.shape[0]!)
      assert.equal(server.counts('/huge.gguf').bytes, 16 * rowBytes, `${tensor.name} of type ${type}`)
      // Only the requested rows are read: their values equal those of a file with the same bytes.
      const at = offsets[file.tensors.indexOf(tensor)]! + from * rowBytes
      const data = Uint8Array.from({ length: 16 * rowBytes }, (_, i) => sparseByte(at + i))
      using alone = await open(
        writeGguf({ tensors: [{ name: 't', type, shape: [tensor.shape[0]!, 16], data }] }),
      )
      assertSameFloats(floats, await alone.dequantize('t'), type)
    }
  } finally {
    await server.close()
  }
})

test('columns of rows can be read for every type', async () => {
  const tensors: Tensor[] = Object.keys(kTypes).map((type, i) => {
    const tensor = { name: type, shape: [kTypes[type]![1] * 4, 5], type }
    return { ...tensor, data: randomBytes(tensorBytes(tensor), i + 1) }
  })
  for (const bigEndian of [false, true]) {
    using file = await open(writeGguf({ tensors, bigEndian }))
    for (const { name, shape } of tensors) {
      const width = shape[0]!
      const block = kTypes[name]![1]
      const all = await file.dequantize(name)
      // Within a block, across blocks, whole blocks, all.
      for (const [from, to] of [
        [0, 1],
        [block - 1, block + 1],
        [block, 3 * block],
        [0, width],
        [2, 2],
      ] as const) {
        const want = [1, 2, 3].flatMap((row) => [...all.subarray(row * width + from, row * width + to)])
        const got = await file.dequantize(name, { rows: [1, 4], columns: [from, to] })
        assertSameFloats(got, Float32Array.from(want), `${name} ${from} to ${to}`)
      }
      const raw = await file.read(name)
      const bytes = kTypes[name]![2]
      assert.deepEqual(
        await file.read(name, { rows: [1, 3], columns: [block, 2 * block] }),
        Uint8Array.from(
          [1, 2].flatMap((row) => [...raw.subarray((4 * row + 1) * bytes, (4 * row + 2) * bytes)]),
        ),
        name,
      )
    }
    await assert.rejects(file.dequantize('Q4_K', { columns: [0, 1025] }), { code: 'invalid-argument' })
    await assert.rejects(file.read('Q4_K', { columns: [0, 128] }), /whole blocks/)
  }
})

test('short rows are read whole, of long rows only the columns', async () => {
  const shapes: Record<string, readonly number[]> = { short: [4096, 8], long: [65536, 8] }
  const tensors = Object.entries(shapes).map(([name, shape], i): Tensor => {
    const tensor = { name, shape, type: 'F32' }
    return { ...tensor, data: bytesOf(gaussian(shape[0]! * shape[1]!, i + 1)) }
  })
  await using server = await startServer()
  server.add('/columns.gguf', writeGguf({ tensors }))
  using file = await open(`${server.url}/columns.gguf`)
  for (const [name, requests, bytes] of [
    ['short', 1, 7 * 16384 + 400],
    ['long', 8, 8 * 400],
  ] as const) {
    const all = floatsOf(tensors.find((tensor) => tensor.name === name)!.data!)
    server.reset()
    const got = await file.dequantize(name, { columns: [1000, 1100] })
    const width = shapes[name]![0]!
    const want = Array.from({ length: 8 }, (_, row) => [
      ...all.subarray(row * width + 1000, row * width + 1100),
    ])
    assertSameFloats(got, Float32Array.from(want.flat()), name)
    assert.deepEqual(server.counts(), { requests, bytes }, name)
  }
})

test('statistics match plain arithmetic', async () => {
  const values = gaussian(96 * 50, 5).map((value, i) => (i % 96 === 17 ? value * 30 : value))
  values[3] = 0
  values[4] = NaN
  values[5] = -Infinity
  const exact = [...values].filter(Number.isFinite)
  using file = await open(
    writeGguf({ tensors: [{ name: 'w', shape: [96, 50], type: 'F32', data: bytesOf(values) }] }),
  )
  const progress: number[] = []
  const stats = await file.stats('w', { onProgress: (loaded) => progress.push(loaded) })
  const mean = exact.reduce((sum, value) => sum + value, 0) / exact.length
  const deviation = Math.sqrt(exact.reduce((sum, value) => sum + (value - mean) ** 2, 0) / exact.length)
  assert.deepEqual(
    [stats.count, stats.finite, stats.zeros, stats.nans, stats.infinities],
    [4800, 4798, 1, 1, 1],
  )
  assert.ok(Math.abs(stats.mean - mean) < 1e-12 && Math.abs(stats.standardDeviation - deviation) < 1e-12)
  assert.equal(stats.max, Math.max(...exact))
  assert.equal(stats.min, Math.min(...exact))
  const { from, width, counts } = stats.histogram
  assert.equal(counts.length, 256)
  for (const [i, count] of counts.entries()) {
    const inside = exact.filter((value) => value >= from + i * width && value < from + (i + 1) * width)
    assert.equal(count, inside.length, `bin ${i}`)
  }
  const row = [...values.subarray(0, 96)].filter(Number.isFinite)
  const rootMeanSquare = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / row.length)
  assert.ok(stats.rows && Math.abs(stats.rows.rootMeanSquare[0]! - rootMeanSquare) < 1e-12)
  assert.equal(stats.rows.rootMeanSquare.length, 50)
  assert.deepEqual(
    stats.outlierColumns.map(({ index }) => index),
    [17],
  )
  assert.equal(progress.at(-1), values.byteLength)
  assert.equal(stats.scales, undefined)
})

test('the error of a quantized tensor against its original, in pieces of different sizes', async () => {
  const values = gaussian(512 * 1100, 9)
  const data = await quantize('Q6_K', values)
  using original = await open(
    writeGguf({ tensors: [{ name: 'w', shape: [512, 1100], type: 'F32', data: bytesOf(values) }] }),
  )
  using small = await open(writeGguf({ tensors: [{ name: 'w', shape: [512, 1100], type: 'Q6_K', data }] }))
  const { error, scales } = await small.stats('w', { against: { file: original } })
  const back = await small.dequantize('w')
  let difference = 0
  let energy = 0
  let maximum = 0
  for (const [i, value] of values.entries()) {
    difference += (back[i]! - value) ** 2
    energy += value ** 2
    maximum = Math.max(maximum, Math.abs(back[i]! - value))
  }
  assert.ok(error && Math.abs(error.nmse / (difference / energy) - 1) < 1e-9)
  assert.ok(error.nmse < 0.001 && error.cosine > 0.999 && error.maximum === maximum)
  assert.equal(scales?.count, (512 * 1100) / 256)
  using other = await open(writeGguf({ tensors: [{ name: 'w', shape: [512, 1], type: 'F32' }] }))
  await assert.rejects(small.stats('w', { against: { file: other } }), { code: 'bad-shape' })
})

test('quantize refuses what it cannot do', async () => {
  await assert.rejects(quantize('Q9_Z', new Float32Array(32)), { code: 'unsupported' })
  await assert.rejects(quantize('I32', new Float32Array(32)), { code: 'unsupported' })
  await assert.rejects(quantize('Q4_K', new Float32Array(255)), { code: 'bad-shape' })
  await assert.rejects(quantize('IQ2_XS', new Float32Array(256)), { code: 'invalid-argument' })
  await assert.rejects(quantize('Q4_0', new Float32Array(64), { importance: new Float32Array(48) }), {
    code: 'bad-shape',
  })
  assert.equal((await quantize('Q4_0', new Float32Array(0))).length, 0)
})

test('the commands dequantize and stats', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  const path = join(folder, 'small.gguf')
  const data = bytesOf(Float32Array.from({ length: 12 }, (_, i) => i - 4))
  writeFileSync(path, writeGguf({ tensors: [{ name: 'w', shape: [4, 3], type: 'F32', data }] }))
  const run = (...args: string[]) => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [packedFile('wasm/dist/cli.js'), ...args],
      {
        encoding: 'utf8',
      },
    )
    return { stdout, stderr, status }
  }
  assert.equal(run('dequantize', path, 'w', '--rows', '1').stdout, '0 1 2 3\n')
  assert.deepEqual(JSON.parse(run('dequantize', path, 'w', '--rows', '1:', '--json').stdout), [
    [0, 1, 2, 3],
    [4, 5, 6, 7],
  ])
  assert.equal(run('dequantize', path, 'w', '-o', join(folder, 'w.f32')).status, 0)
  assert.deepEqual(new Uint8Array(readFileSync(join(folder, 'w.f32'))), data)
  assert.equal(run('dequantize', path, 'v').status, 1)
  assert.equal(run('dequantize', path).status, 2)
  assert.equal(run('dequantize', path, 'w', '--rows', 'all').status, 2)
  const { stdout } = run('stats', path, '--against', path, '--json')
  const [stats] = JSON.parse(stdout) as [{ mean: number; max: number; error: { nmse: number } }]
  assert.deepEqual([stats.mean, stats.max, stats.error.nmse], [1.5, 7, 0])
  const text = run('stats', path, 'w').stdout
  assert.match(text, /w +F32 +12 +-4 +7 +1\.5/)
  assert.match(text, /^w: absolute maximum: 7$/m)
  assert.match(
    text,
    /^root mean square of a row: least 1\.871 \(row 1\), median 2\.739 \(row 0\), most 5\.612/m,
  )
  assert.doesNotMatch(run('stats', path).stdout, /absolute maximum/)
  const blocks = Uint8Array.from([0x00, 0x3c, ...new Array<number>(32).fill(1)])
  writeFileSync(path, writeGguf({ tensors: [{ name: 'q', shape: [32], type: 'Q8_0', data: blocks }] }))
  assert.match(
    run('stats', path, 'q').stdout,
    /^scales of 1 block: 1 to 1, mean 1, .*; 0 zero, 0 subnormal, 0 not/m,
  )
})
