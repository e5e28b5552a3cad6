// quantize(): the types of mixtures, importance matrices, fallbacks, errors; and its command.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { RequantizeOptions } from 'ggufscope/edit'
import { writeGguf, type Tensor } from '../fixtures/gguf.ts'
import { planOf } from '../fixtures/mixture-plans.ts'
import { modelShapes } from '../fixtures/model-shapes.ts'
import { array, floatBytes, text, u32 } from '../fixtures/models.ts'
import { everyNth } from '../fixtures/short.ts'
import { loadNodePackage, packedFile } from './packed.ts'

const { open } = await loadNodePackage()
const folder = mkdtempSync(join(tmpdir(), 'quantize-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

test('mixtures give the types that llama-quantize gives', async () => {
  const plans = JSON.parse(
    readFileSync(new URL('../fixtures/mixtures.json', import.meta.url), 'utf8'),
  ) as Record<string, Record<string, string>>
  for (const { name, model } of everyNth(modelShapes(), 3)) {
    const bytes = writeGguf(model)
    for (const [key, want] of Object.entries(plans[name]!)) {
      const [mixture, matrix] = key.split(' ')
      assert.equal(await planOf(bytes, mixture!, matrix !== undefined), want, `${name}: ${key}`)
    }
  }
})

const floats = (values: ArrayLike<number>) => new Uint8Array(Float32Array.from(values).buffer)
const matrix = (name: string, seed: number, shape = [256, 4]): Tensor => {
  const count = shape.reduce((a, b) => a * b, 1)
  return { name, shape, type: 'F32', data: floatBytes(count, seed) }
}
const kNames = ['token_embd', 'blk.0.attn_q', 'blk.0.attn_v'].map((name) => `${name}.weight`)
const kNorm = { name: 'blk.0.attn_norm.weight', shape: [256], type: 'F32', data: floatBytes(256, 9) }
function modelOf(tensors: readonly Tensor[] = [...kNames.map((name, i) => matrix(name, i)), kNorm]) {
  return writeGguf({
    metadata: [
      ['general.architecture', text('llama')],
      ['llama.block_count', u32(8)],
    ],
    tensors,
  })
}

/** A copy of a tensor with one value changed. */
function changed(tensor: Tensor, index: number, value: number): Tensor {
  const data = tensor.data!.slice()
  new DataView(data.buffer).setFloat32(4 * index, value, true)
  return { ...tensor, data }
}

function imatrixOf(columns: Record<string, ArrayLike<number>>, counts = [2]): Uint8Array {
  return writeGguf({
    metadata: [
      ['general.type', text('imatrix')],
      ['imatrix.datasets', array('string', ['words.txt'])],
      ['imatrix.chunk_count', u32(7)],
      ['imatrix.chunk_size', u32(512)],
    ],
    tensors: Object.entries(columns).flatMap(([name, values]) => [
      { name: `${name}.in_sum2`, shape: [values.length], type: 'F32', data: floats(values) },
      { name: `${name}.counts`, shape: [1, counts.length], type: 'F32', data: floats(counts) },
    ]),
  })
}
const ones = new Float32Array(256).fill(2)
const withOne = (index: number, value: number) => ones.map((old, i) => (i === index ? value : old))

async function quantized(bytes: Uint8Array, mixture: string, options: RequantizeOptions = {}) {
  using file = await open(bytes)
  const builder = await (await file.edit()).quantize(mixture, options)
  return await (await builder.build()).bytes()
}

test('an importance matrix is checked before it is used', async () => {
  const [, q, v] = kNames as [string, string, string]
  const wrong: [what: string, matrix: Uint8Array, code: string, message: RegExp][] = [
    ['NaN', imatrixOf({ [q]: withOne(3, NaN) }), 'bad-values', /value 3 for blk.0.attn_q.weight is NaN/],
    ['infinity', imatrixOf({ [q]: withOne(255, Infinity) }), 'bad-values', /value 255 .* infinite/],
    [
      'negative',
      imatrixOf({ [q]: ones, [v]: withOne(1, -4) }),
      'bad-values',
      /attn_v.weight is negative \(-2\)/,
    ],
    ['absurd', imatrixOf({ [q]: withOne(0, 3e38) }), 'bad-values', /which no activations reach/],
    ['NaN where nothing was counted', imatrixOf({ [q]: withOne(3, NaN) }, [0]), 'bad-values', /is NaN/],
    [
      'a negative count',
      imatrixOf({ [q]: ones }, [-1]),
      'bad-values',
      /the counts of blk.0.attn_q.weight is neg/,
    ],
    ['no whole counts', imatrixOf({ [q]: ones }, [1, 2, 3]), 'bad-shape', /256 sums, and 3 counts/],
    ['a model', modelOf(), 'invalid-argument', /no importance matrix.*\.in_sum2/],
    [
      'of another model',
      imatrixOf({ 'blk.9.x.weight': ones }),
      'invalid-argument',
      /another model: none of its 1/,
    ],
    [
      'of other columns',
      imatrixOf({ [q]: new Float32Array(512) }),
      'bad-shape',
      /512 values for blk.0.attn_q.*256/,
    ],
  ]
  for (const [what, bytes, code, message] of wrong) {
    using importance = await open(bytes)
    await assert.rejects(quantized(modelOf(), 'Q4_K_M', { importance }), { code, message }, what)
  }
  for (const values of [withOne(3, NaN), withOne(3, -1), withOne(3, 3e38)]) {
    const importance = new Map([[q, values]])
    await assert.rejects(quantized(modelOf(), 'Q4_K_M', { importance }), { code: 'bad-values' })
  }
  // The message gives the position of the value in the matrix.
  const bytes = imatrixOf({ [q]: withOne(3, NaN) })
  using importance = await open(bytes)
  const offset = importance.tensor(`${q}.in_sum2`)!.offset + 12
  await assert.rejects(quantized(modelOf(), 'Q4_K_M', { importance }), { offset })
})

test('the report names what a matrix covers, and the file its origin', async () => {
  const [embedding, q, v] = kNames as [string, string, string]
  using file = await open(modelOf())
  using importance = await open(
    imatrixOf({ [q]: ones, [embedding]: new Float32Array(7), 'blk.5.gone.weight': ones }),
  )
  const builder = await (await file.edit()).quantize('Q4_K_M', { importance, importanceFile: 'words.gguf' })
  assert.deepEqual(builder.quantization!.importance, {
    entries: 3,
    covered: [q],
    lacking: [embedding, v],
    unused: ['blk.5.gone.weight'],
    datasets: ['words.txt'],
    chunks: 7,
  })
  const keys = ['file', 'dataset', 'entries_count', 'chunks_count'].map((name) => `quantize.imatrix.${name}`)
  using small = await open(await (await builder.build()).bytes())
  assert.deepEqual(
    keys.map((key) => small.metadata.get(key)),
    ['words.gguf', 'words.txt', 3, 7],
  )
  assert.deepEqual(
    keys.map((key) => small.metadata.type(key)),
    ['string', 'string', 'u32', 'u32'],
  )
  using plain = await open(await quantized(modelOf(), 'Q4_K_M'))
  assert.ok(keys.every((key) => !plain.metadata.has(key)))
})

test('types below 3 bits need a matrix; embeddings alone do without', async () => {
  for (const mixture of [
    'IQ1_S',
    'IQ1_M',
    'IQ2_XXS',
    'IQ2_XS',
    'IQ2_S',
    'IQ2_M',
    'IQ3_XXS',
    'IQ3_XS',
    'Q2_K_S',
  ])
    await assert.rejects(
      quantized(modelOf(), mixture),
      { message: /blk.0.attn_q.weight cannot.*importance/ },
      mixture,
    )
  for (const mixture of ['IQ3_S', 'Q2_K', 'TQ1_0']) await quantized(modelOf(), mixture)
  const q = kNames[1]!
  // An importance matrix that lacks a tensor is refused, too.
  const importance = new Map([[q, ones]])
  await assert.rejects(quantized(modelOf(), 'IQ2_XXS', { importance, pure: true }), {
    message: /was it made of this/,
  })
  using file = await open(modelOf())
  const builder = await file.edit()
  await builder.quantize('IQ2_XS', { dryRun: true })
  assert.deepEqual(builder.quantization!.needsImportance, [q])
  assert.deepEqual(
    builder.tensors.map(({ type }) => type),
    ['F32', 'F32', 'F32', 'F32'],
  )
})

test('NaN, infinities and values that do not fit are refused with their place', async () => {
  const [embedding, q, v] = kNames.map((name, i) => matrix(name, i)) as [Tensor, Tensor, Tensor]
  const f16 = (tensor: Tensor, bits: number): Tensor => {
    const data = new Uint8Array(2048)
    new DataView(data.buffer).setUint16(2 * 700, bits, true)
    return { ...tensor, type: 'F16', data }
  }
  const cases: [what: string, tensor: Tensor, mixture: string, message: RegExp, element: number][] = [
    ['NaN', changed(q, 261, NaN), 'Q4_K_M', /attn_q.weight of F32.*element 5 of row 1 holds NaN/, 261],
    ['infinity', changed(q, 1023, -Infinity), 'Q8_0', /element 255 of row 3 holds an infinity/, 1023],
    ['F16 NaN', f16(q, 0x7e00), 'Q8_0', /of F16.*element 188 of row 2 holds NaN/, 700],
    ['F16 infinity', f16(q, 0xfc00), 'F32', /element 188 of row 2 holds an infinity/, 700],
    [
      'beyond F16',
      changed(q, 258, 70_000),
      'F16',
      /cannot be F16: element 2 of row 1 is 70000, which F16/,
      258,
    ],
    ['beyond BF16', changed(q, 0, 3.4e38), 'BF16', /cannot be BF16: element 0 of row 0/, 0],
    [
      'beyond a scale',
      changed(q, 40, -1e7),
      'Q8_0',
      /a value of block 1 \(in row 0\) is -10000000, which Q8_0/,
      32,
    ],
    ['beyond squares', changed(q, 300, 3e38), 'Q4_K_M', /block 1 \(in row 1\).*which Q4_K cannot hold/, 256],
    ['beyond squares', changed(q, 300, 3e30), 'IQ4_NL', /which IQ4_NL cannot hold/, 288],
  ]
  for (const [what, tensor, mixture, message, element] of cases) {
    const bytes = modelOf([embedding, tensor, v])
    using file = await open(bytes)
    const offset = file.tensor(tensor.name)!.offset + (tensor.type === 'F16' ? 2 : 4) * element
    await assert.rejects(quantized(bytes, mixture), { code: 'bad-values', message, offset }, what)
  }
  // Tensors that are not quantized are checked, too.
  await assert.rejects(quantized(modelOf([q, changed(kNorm, 4, NaN)]), 'Q8_0'), {
    message: /attn_norm.*element 4/,
  })
  // The scales of a quantized source are checked.
  const data = new Uint8Array(4 * 8 * 34)
  data[34 * 3 + 1] = 0x7c
  const source = modelOf([{ ...q, type: 'Q8_0', data }])
  const allow = { allowRequantize: true }
  await assert.rejects(quantized(source, 'Q4_0', allow), {
    message: /of Q8_0.*block 3 \(in row 0\) holds an inf/,
  })
})

test('quantized tensors are requantized only if that is allowed', async () => {
  const once = await quantized(modelOf(), 'Q8_0')
  await assert.rejects(quantized(once, 'Q4_K_M'), {
    message: /token_embd.weight is quantized already \(Q8_0\)/,
  })
  await assert.rejects(quantized(once, 'F16'), { message: /allow-requantize/ })
  using file = await open(once)
  const builder = await (await file.edit()).quantize('Q4_K_M', { allowRequantize: true })
  assert.deepEqual(builder.quantization!.requantized, kNames)
  // Quantizing to the type that the tensors already have is allowed.
  await quantized(once, 'Q8_0')
  await (await (await open(await quantized(modelOf(), 'F16'))).edit()).quantize('Q4_K_M')
})

test('types by patterns: any case, none that matches nothing, norms only by their whole name', async () => {
  const types = async (patterns: Record<string, string>) => {
    using file = await open(await quantized(modelOf(), 'Q8_0', { types: patterns }))
    return file.tensors.map(({ type }) => type).join(' ')
  }
  assert.equal(await types({ attn: 'q4_k' }), 'Q8_0 Q4_K Q4_K F32')
  assert.equal(await types({ ATTN_V: 'Q5_0', attn: 'q4_k' }), 'Q8_0 Q4_K Q5_0 F32')
  assert.equal(await types({ 'blk.*': 'f16' }), 'Q8_0 F16 F16 F16')
  assert.equal(await types({ 'blk.0.attn_norm.weight': 'BF16' }), 'Q8_0 Q8_0 Q8_0 BF16')
  await assert.rejects(types({ ffn: 'Q4_K' }), {
    code: 'invalid-argument',
    message: /No tensor's name matches "ffn"/,
  })
  await assert.rejects(types({ attn: 'Q9' }), { code: 'invalid-argument', message: /no type Q9/ })
})

test('rows that are no whole blocks fall back, or are refused', async () => {
  const model = modelOf([matrix('blk.0.attn_q.weight', 1, [96, 4]), matrix('blk.0.attn_k.weight', 2)])
  using file = await open(model)
  const builder = await (await file.edit()).quantize('Q4_K_S')
  const { fellBack, tensors } = builder.quantization!
  assert.deepEqual(fellBack, ['blk.0.attn_q.weight'])
  assert.deepEqual([tensors[0]!.wanted, tensors[0]!.to, tensors[0]!.toBytes], ['Q4_K', 'Q5_0', 12 * 22])
  const message = /attn_q.weight cannot be Q4_K: its rows of 96.*no fallback is allowed/
  await assert.rejects(quantized(model, 'Q4_K_S', { fallback: false }), { code: 'bad-shape', message })
  await assert.rejects(quantized(model, 'Q1_0'), { code: 'bad-shape', message: /no type to fall back to/ })
})

test('adapters: both matrices of a pair, rows of a low rank as F16', async () => {
  const adapter = writeGguf({
    metadata: [
      ['general.type', text('adapter')],
      ['general.architecture', text('llama')],
      ['adapter.type', text('lora')],
    ],
    tensors: [
      matrix('blk.0.attn_q.weight.lora_a', 1, [256, 16]),
      matrix('blk.0.attn_q.weight.lora_b', 2, [16, 256]),
      matrix('blk.0.ffn_up.weight.lora_b', 3, [64, 256]),
    ],
  })
  const types = async (mixture: string) => {
    using file = await open(await quantized(adapter, mixture))
    assert.equal(file.summary().kind, 'adapter')
    return file.tensors.map(({ type }) => type).join(' ')
  }
  assert.equal(await types('Q8_0'), 'Q8_0 F16 Q8_0')
  assert.equal(await types('Q4_K_M'), 'Q4_K F16 Q5_0')
  assert.equal(await types('BF16'), 'BF16 BF16 BF16')
})

function run(...args: string[]) {
  return new Promise<{ status: number; out: string; err: string }>((done) => {
    const child = execFile(
      process.execPath,
      [packedFile('wasm/dist/cli.js'), 'quantize', ...args],
      { cwd: folder },
      (_, out, err) => done({ status: child.exitCode ?? -1, out, err }),
    )
  })
}

test('the command: a dry run, a summary, and what it refuses', async () => {
  writeFileSync(
    at('model.gguf'),
    modelOf([...kNames.map((name, i) => matrix(name, i)), matrix('blk.1.attn_q.weight', 5, [96, 4]), kNorm]),
  )
  const dry = await run('model.gguf', 'q4_k_s', '--dry-run')
  assert.equal(dry.status, 0, dry.err)
  assert.match(dry.out, /tensor +from +to +bytes/)
  assert.match(dry.out, /blk\.0\.attn_q\.weight +F32 +Q4_K +4.096 +576/)
  assert.match(dry.out, /blk\.1\.attn_q\.weight +F32 +Q5_0 \(not Q4_K\)/)
  assert.match(dry.out, /attn_norm\.weight +F32 +same/)
  assert.match(dry.out, /4 of 5 tensors quantized/)
  assert.match(dry.out, /1 tensor fell back: blk.1.attn_q.weight/)
  assert.ok(!existsSync(at('model-Q4_K_S.gguf')))
  const json = JSON.parse((await run('model.gguf', 'IQ2_XS', '--dry-run', '--json')).out)
  assert.equal(json.needsImportance.length, 1)

  writeFileSync(at('i.gguf'), imatrixOf({ [kNames[1]!]: ones }))
  const done = await run('model.gguf', 'Q4_K_S', '--imatrix', 'i.gguf', '-o', 'small.gguf')
  assert.match(done.out, /covers 1 of 4 tensors \(1 entry\)/)
  assert.match(done.out, /3 tensors without an entry: token_embd.weight/)
  using small = await open(at('small.gguf'))
  assert.equal(small.metadata.get('quantize.imatrix.file'), 'i.gguf')
  assert.match((await run('model.gguf', 'F32', '-o', 'same.gguf')).out, /nothing was quantized/)

  writeFileSync(at('nan.gguf'), modelOf([changed(matrix(kNames[1]!, 1), 7, NaN)]))
  const wrong: [message: RegExp, ...args: string[]][] = [
    [/quantized already/, 'small.gguf', 'Q2_K'],
    [/no importance matrix/, 'model.gguf', 'Q4_K_M', '--imatrix', 'model.gguf'],
    [/No tensor's name matches "x"/, 'model.gguf', 'Q4_K_M', '--tensor-type', 'x=Q8_0'],
    [/no fallback is allowed/, 'model.gguf', 'Q4_K_M', '--no-fallback'],
    [/element 7 of row 0 holds NaN/, 'nan.gguf', 'Q8_0'],
  ]
  for (const [message, ...args] of wrong) {
    const { status, err } = await run(...args, '-o', 'no.gguf')
    assert.equal(status, 1)
    assert.match(err, message)
    assert.ok(!existsSync(at('no.gguf')))
  }
})
