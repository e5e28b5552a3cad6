// compare(): keys and tensors of two files, values against a simple computation, and the requests for large remote
// files.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeGguf, writeHeader, type Model } from '../fixtures/gguf.ts'
import { array, floatBytes, kPreviewShapes, previewModel, text, u32 } from '../fixtures/models.ts'
import { loadNodePackage } from './packed.ts'

const { compare, open, quantize } = await loadNodePackage()

const kShape = [256, 96]
const floats = (seed: number) => new Float32Array(floatBytes(256 * 96, seed).buffer)
const bytesOf = (values: Float32Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

const names = array('string', ['a', 'b', 'c'])
const first: Model = {
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('one')],
    ['only.first', u32(1)],
    ['names', names],
    ['kept', u32(7)],
  ],
  tensors: [
    { name: 'rounded', shape: kShape, type: 'F32', data: bytesOf(floats(1)) },
    { name: 'same', shape: kShape, type: 'F32', data: bytesOf(floats(2)) },
    { name: 'far', shape: kShape, type: 'F32', data: bytesOf(floats(3)) },
    { name: 'gone', shape: [32], type: 'F32' },
    { name: 'wide', shape: [32, 4], type: 'F32' },
  ],
}
const rounded = await quantize('Q8_0', floats(1), { importance: new Float32Array(256).fill(1) })
const second: Model = {
  metadata: [
    ['general.architecture', text('llama')],
    ['general.name', text('two')],
    ['names', array('string', ['a', 'b', 'x'])],
    ['kept', u32(7)],
    ['only.second', u32(2)],
  ],
  tensors: [
    { name: 'rounded', shape: kShape, type: 'Q8_0', data: rounded },
    { name: 'same', shape: kShape, type: 'F32', data: bytesOf(floats(2)) },
    { name: 'far', shape: kShape, type: 'F32', data: bytesOf(floats(4)) },
    { name: 'wide', shape: [4, 32], type: 'F32' },
    { name: 'new', shape: [32], type: 'F32' },
  ],
}

/** Computes NMSE relative to the first, cosine similarity and largest difference in the simplest way. */
function plain(a: Float32Array, b: Float32Array) {
  let [square, reference, other, product, maximum] = [0, 0, 0, 0, 0]
  for (const [i, x] of a.entries()) {
    const y = b[i]!
    square += (y - x) ** 2
    reference += x * x
    other += y * y
    product += x * y
    maximum = Math.max(maximum, Math.abs(y - x))
  }
  return { nmse: square / reference, cosine: product / Math.sqrt(reference * other), maximum }
}

test('differing keys and tensors are listed, with errors that match plain arithmetic', async () => {
  using a = await open(writeGguf(first))
  using b = await open(writeGguf(second))
  const told: number[] = []
  const found = await compare(a, b, { values: 'all', onProgress: (done, total) => told.push(done / total) })
  assert.deepEqual(
    found.keys.map(({ key, kind, index }) => [key, kind, index]),
    [
      ['general.name', 'changed', undefined],
      ['only.first', 'removed', undefined],
      ['names', 'changed', 2],
      ['only.second', 'added', undefined],
    ],
  )
  assert.equal(found.same, false)
  const { index, count } = found.keys.find(({ key }) => key === 'names')!
  assert.deepEqual([index, count], [2, 1])
  const byName = new Map(found.tensors.map((tensor) => [tensor.name, tensor]))
  for (const name of ['gone', 'wide', 'new']) assert.equal(byName.get(name)!.comparable, false, name)
  assert.deepEqual(
    found.tensors.slice(-3).map(({ name }) => name),
    ['far', 'rounded', 'same'],
  )
  assert.equal(byName.get('same')!.equal, true)
  const different = found.tensors.filter(({ differs }) => differs).map(({ name }) => name)
  assert.deepEqual(different.toSorted(), ['far', 'gone', 'new', 'rounded', 'wide'])
  for (const name of ['far', 'rounded']) {
    const { error } = byName.get(name)!
    const wanted = plain(await a.dequantize(name), await b.dequantize(name))
    for (const key of ['nmse', 'cosine', 'maximum'] as const)
      assert.ok(Math.abs(error![key] - wanted[key]) <= 1e-12 * Math.abs(wanted[key]), `${name} ${key}`)
    assert.equal(error!.count, 256 * 96)
  }
  assert.deepEqual(told, [1 / 3, 2 / 3, 1])
  const sampled = (await compare(a, b, { sampleBytes: 8192 })).tensors.find(({ name }) => name === 'far')!
  assert.ok(sampled.error!.count < 256 * 96 && sampled.error!.count >= 256 * 4, `${sampled.error!.count}`)
  assert.ok(Math.abs(sampled.error!.nmse - byName.get('far')!.error!.nmse) < 0.2)
})

test('a file equals itself, and compare ends on an abort or wrong options', async () => {
  using a = await open(writeGguf(first))
  using b = await open(writeGguf(first))
  assert.equal((await compare(a, b, { values: 'all' })).same, true)
  const control = new AbortController()
  const reason = new Error('enough')
  const stopped = compare(a, b, { signal: control.signal, onProgress: () => control.abort(reason) })
  await assert.rejects(stopped, (error) => error === reason)
  await assert.rejects(compare(a, b, { values: 'some' as 'all' }), { code: 'invalid-argument' })
})

test('two models of gigabytes far away: keys and tensors in less than 1 MB', async () => {
  const model = previewModel(kPreviewShapes[2]!)
  const changed: Model = {
    ...model,
    metadata: model.metadata!.map(([key, value]) => [key, key === 'general.name' ? text('other') : value]),
    tensors: model.tensors!.map((tensor, i) => (i === 100 ? { ...tensor, type: 'Q8_0' } : tensor)),
  }
  let bytes = 0
  const far = (one: Model) => {
    const { header, size } = writeHeader(one)
    const read = async (offset: number, length: number) => {
      bytes += length
      const piece = new Uint8Array(length)
      piece.set(header.subarray(offset, offset + length))
      return piece
    }
    // Streams small pieces like a server, until the reader stops.
    async function* stream(offset: number) {
      for (let at = offset; at < size; at += 16_384) yield await read(at, Math.min(16_384, size - at))
    }
    return { size, read, stream }
  }
  using a = await open(far(model), { preview: 'sparse' })
  using b = await open(far(changed), { preview: 'sparse' })
  const found = await compare(a, b, { values: 'none' })
  assert.ok(a.tensors.reduce((sum, { byteLength }) => sum + byteLength, 0) > 3e9)
  assert.deepEqual(
    found.keys.filter(({ kind }) => kind !== 'unread').map(({ key }) => key),
    ['general.name'],
  )
  assert.ok(found.keys.some(({ kind }) => kind === 'unread'))
  assert.deepEqual(
    found.tensors.filter((one) => one.a!.type !== one.b!.type).map(({ name }) => name),
    [model.tensors![100]!.name],
  )
  assert.ok(bytes < 1e6, `${bytes} bytes`)
})

for (const values of ['sampled', 'all'] as const)
  test(`of a file that was cut, the whole tensors are compared (${values})`, async () => {
    const bytes = writeGguf(first)
    using whole = await open(bytes)
    using cut = await open(bytes.subarray(0, bytes.length - 64))
    const { same, tensors } = await compare(whole, cut, { values })
    assert.equal(same, false)
    assert.equal(tensors[0]!.cut, true)
    assert.deepEqual(
      tensors.filter(({ cut }) => cut).map(({ name, equal, error }) => [name, equal, error]),
      [[first.tensors!.at(-1)!.name, undefined, undefined]],
    )
    assert.deepEqual(
      tensors.filter(({ cut }) => !cut).map(({ equal }) => equal),
      first.tensors!.slice(1).map(() => true),
    )
  })
