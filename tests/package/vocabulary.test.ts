// Tokens that are added to a vocabulary and removed from it: keys, rows of tensors, and what a model makes of them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { GgufBuilder, GgufFile, LazyArray } from 'ggufscope'
import type { Change } from 'ggufscope/edit'
import { writeGguf, type Model } from '../fixtures/gguf.ts'
import { array, shards, text, u32 } from '../fixtures/models.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared, loadNodePackage, packedFile } from './packed.ts'

const { open, load } = await loadNodePackage()
const { applyChanges, formatChanges, parseChanges } = (await import(
  pathToFileURL(packedFile('wasm/dist/edit/index.js')).href
)) as typeof import('ggufscope/edit')

const kStories = readFileSync(join(kRoot, 'tests/fixtures/stories.gguf'))
const floatBytes = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer)
const withoutShared = skipWithout(kShared)

const written = async (builder: GgufBuilder) => await (await builder.build()).bytes()
async function edited(
  file: GgufFile,
  change: (builder: GgufBuilder) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const builder = await file.edit()
  change(builder)
  return await written(builder)
}
const listOf = (file: GgufFile, key: string) => [...(file.metadata.get(key) as LazyArray)]
const rowsOf = async (file: GgufFile, name: string) => {
  const { shape } = file.tensor(name)!
  const values = await file.dequantize(name)
  const columns = name.endsWith('.bias') ? 1 : shape[0]!
  return Array.from({ length: values.length / columns }, (_, i) => [
    ...values.subarray(i * columns, (i + 1) * columns),
  ])
}

/** Ten tokens in rows of two values. */
function small(more: Partial<Model> = {}, rows = 10): Model {
  const tokens = ['<unk>', '<s>', '</s>', 'a', 'b', 'c', 'ab', 'abc', '\u2581', '<pad>']
  const values = (first: number) => floatBytes(Array.from({ length: 2 * rows }, (_, i) => first + i))
  return {
    metadata: [
      ['general.architecture', text('llama')],
      ['llama.vocab_size', u32(10)],
      ['tokenizer.ggml.model', text('llama')],
      ['tokenizer.ggml.tokens', array('string', tokens)],
      ['tokenizer.ggml.scores', array('f32', [0, 0, 0, -5, -6, -7, -1, -2, -3, 0])],
      ['tokenizer.ggml.token_type', array('i32', [2, 3, 3, 1, 1, 1, 1, 1, 1, 3])],
      ['tokenizer.ggml.eos_token_id', u32(2)],
      ['tokenizer.ggml.padding_token_id', u32(9)],
      ['tokenizer.ggml.suppress_tokens', array('i32', [4, 9])],
      ['tokenizer.huggingface.json', text('{}')],
    ],
    tensors: [
      { name: 'token_embd.weight', shape: [2, rows], type: 'F32', data: values(0) },
      { name: 'output.weight', shape: [2, rows], type: 'F32', data: values(100) },
      { name: 'output.bias', shape: [10], type: 'F32', data: floatBytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) },
      { name: 'output_norm.weight', shape: [2], type: 'F32', data: floatBytes([1, 1]) },
    ],
    ...more,
  }
}

test('added tokens extend each array, the size, and the rows', async () => {
  using file = await open(writeGguf(small()))
  using after = await open(
    await edited(file, (builder) =>
      builder.addTokens([
        { text: '<|ship|>', type: 'control' },
        { text: ' b', type: 'normal' },
        { text: 'light house', score: 3.5 },
      ]),
    ),
  )
  assert.deepEqual(listOf(after, 'tokenizer.ggml.tokens').slice(9), [
    '<pad>',
    '<|ship|>',
    '\u2581b',
    'light house',
  ])
  assert.deepEqual(listOf(after, 'tokenizer.ggml.token_type').slice(9), [3, 3, 1, 4])
  assert.deepEqual(listOf(after, 'tokenizer.ggml.scores').slice(9), [0, -1000, -8, 3.5])
  assert.equal(after.metadata.get('llama.vocab_size'), 13)
  assert.equal(after.metadata.get('tokenizer.ggml.padding_token_id'), 9)
  assert.equal(after.metadata.has('tokenizer.huggingface.json'), false)
  const embeddings = await rowsOf(after, 'token_embd.weight')
  assert.deepEqual(embeddings.slice(0, 10), await rowsOf(file, 'token_embd.weight'))
  assert.deepEqual(
    embeddings.slice(10),
    [9, 9, 9].map((mean) => [mean, mean + 1]),
  )
  assert.deepEqual((await rowsOf(after, 'output.weight')).slice(9), [
    [118, 119],
    [109, 110],
    [109, 110],
    [109, 110],
  ])
  assert.deepEqual((await rowsOf(after, 'output.bias')).flat().slice(9), [9, 4.5, 4.5, 4.5])
  assert.deepEqual(after.tensor('output_norm.weight')?.shape, [2])
})

test('removed tokens leave no entry and no row, and ids follow', async () => {
  using file = await open(writeGguf(small()))
  using after = await open(await edited(file, (builder) => builder.removeTokens(['b', ' ', 7])))
  assert.deepEqual(listOf(after, 'tokenizer.ggml.tokens'), ['<unk>', '<s>', '</s>', 'a', 'c', 'ab', '<pad>'])
  assert.deepEqual(listOf(after, 'tokenizer.ggml.scores'), [0, 0, 0, -5, -7, -1, 0])
  assert.deepEqual(listOf(after, 'tokenizer.ggml.token_type'), [2, 3, 3, 1, 1, 1, 3])
  assert.equal(after.metadata.get('tokenizer.ggml.eos_token_id'), 2)
  assert.equal(after.metadata.get('tokenizer.ggml.padding_token_id'), 6)
  assert.deepEqual(listOf(after, 'tokenizer.ggml.suppress_tokens'), [6])
  assert.equal(after.metadata.get('llama.vocab_size'), 7)
  const all = await rowsOf(file, 'token_embd.weight')
  const kept = [0, 1, 2, 3, 5, 6, 9]
  assert.deepEqual(
    await rowsOf(after, 'token_embd.weight'),
    kept.map((id) => all[id]),
  )
  assert.deepEqual((await rowsOf(after, 'output.bias')).flat(), kept)
})

test('an id that readers assume is written when it moves, and its token stays', async () => {
  const metadata = small().metadata!.map((entry): NonNullable<Model['metadata']>[number] =>
    entry[0] === 'tokenizer.ggml.model' ? [entry[0], text('t5')] : entry,
  )
  using file = await open(writeGguf(small({ metadata })))
  using after = await open(await edited(file, (builder) => builder.removeTokens(['<s>'])))
  // The key of the end names 2, and unknown is 2 without a key.
  assert.equal(after.metadata.get('tokenizer.ggml.eos_token_id'), 1)
  assert.equal(after.metadata.get('tokenizer.ggml.unknown_token_id'), 1)
  await assert.rejects(
    edited(file, (builder) => builder.removeTokens([2])),
    {
      code: 'invalid-argument',
      message: /^Token 2 \("<\/s>"\) is in use as tokenizer\.ggml\.eos_token_id\./,
    },
  )
})

test('rows without tokens are used first', async () => {
  const { tensors } = small({}, 12)
  using file = await open(
    writeGguf(small({ tensors: tensors!.filter(({ name }) => name !== 'output.bias') }, 12)),
  )
  const names = ['x', 'y', 'z'].map((one) => ({ text: one }))
  using two = await open(await edited(file, (builder) => builder.addTokens(names.slice(0, 2))))
  assert.deepEqual(await rowsOf(two, 'output.weight'), await rowsOf(file, 'output.weight'))
  using three = await open(await edited(file, (builder) => builder.addTokens(names, { rows: 'zeros' })))
  const rows = await rowsOf(three, 'output.weight')
  assert.deepEqual(rows.slice(11), [
    [122, 123],
    [0, 0],
  ])
  assert.equal(three.metadata.get('llama.vocab_size'), 13)
})

test('merges that cannot be made any more are removed', async () => {
  const metadata: Model['metadata'] = [
    ['general.architecture', text('gpt2')],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.tokens', array('string', ['a', 'b', 'c', 'ab', 'abc', 'bc', 'abcc', '<e>'])],
    ['tokenizer.ggml.token_type', array('i32', [1, 1, 1, 1, 1, 1, 1, 3])],
    ['tokenizer.ggml.merges', array('string', ['a b', 'ab c', 'b c', 'abc c', 'a bc'])],
    ['tokenizer.ggml.eos_token_id', u32(7)],
    ['tokenizer.ggml.bos_token_id', u32(7)],
  ]
  using file = await open(writeGguf({ metadata, tensors: [] }))
  const mergesWithout = async (...tokens: string[]) => {
    using after = await open(await edited(file, (builder) => builder.removeTokens(tokens)))
    return listOf(after, 'tokenizer.ggml.merges')
  }
  assert.deepEqual(await mergesWithout('<e>').catch(({ code }: { code: string }) => [code]), [
    'invalid-argument',
  ])
  // "a bc" still makes "abc".
  assert.deepEqual(await mergesWithout('ab'), ['b c', 'abc c', 'a bc'])
  assert.deepEqual(await mergesWithout('ab', 'bc'), [])
  assert.deepEqual(await mergesWithout('abcc'), ['a b', 'ab c', 'b c', 'a bc'])
  await assert.rejects(
    edited(file, (builder) => builder.addTokens([{ text: 'ac', type: 'normal' }])),
    { code: 'invalid-argument', message: /found only by merges/ },
  )
})

test('what cannot be done is refused, and nothing has changed', async () => {
  const bytes = writeGguf(small())
  using file = await open(bytes)
  const builder = await file.edit()
  const refused: [() => unknown, string, RegExp][] = [
    [() => builder.addTokens([{ text: 'a' }]), 'duplicate', /There is a token "a" already/],
    [() => builder.addTokens([{ text: 'x' }, { text: 'x' }]), 'duplicate', /"x" already/],
    [() => builder.addTokens([{ text: '' }]), 'invalid-argument', /needs a text/],
    [
      () => builder.addTokens([{ text: 'x', type: 'odd' as 'byte' }]),
      'invalid-argument',
      /no type "odd": normal/,
    ],
    [() => builder.addTokens([{ text: 'x', type: 'byte' }]), 'invalid-argument', /<0x0A>/],
    [() => builder.addTokens([{ text: 'x', score: NaN }]), 'invalid-argument', /NaN is no score/],
    [
      () => builder.addTokens([{ text: 'x' }], { rows: 'ones' as 'mean' }),
      'invalid-argument',
      /"mean" or "zeros"/,
    ],
    [() => builder.removeTokens(['nobody']), 'not-found', /no token "nobody"/],
    [() => builder.removeTokens([10]), 'not-found', /no token 10: there are 10/],
    [() => builder.removeTokens([1]), 'invalid-argument', /in use as tokenizer\.ggml\.bos_token_id/],
    [
      () => builder.removeTokens(['<pad>']),
      'invalid-argument',
      /in use as tokenizer\.ggml\.padding_token_id/,
    ],
  ]
  for (const [call, code, message] of refused) assert.throws(call, { code, message })
  assert.deepEqual(await written(builder), new Uint8Array(bytes))

  using none = await open(writeGguf({ metadata: [['general.architecture', text('llama')]], tensors: [] }))
  await assert.rejects(
    edited(none, (one) => one.addTokens([{ text: 'x' }])),
    { code: 'not-found' },
  )
  using few = await open(writeGguf(small({}, 9)))
  await assert.rejects(
    edited(few, (one) => one.removeTokens(['c'])),
    { code: 'bad-shape', message: /9 rows for 10 tokens/ },
  )
  using big = await open(writeGguf({ ...small(), bigEndian: true } as Model))
  await assert.rejects(
    edited(big, (one) => one.addTokens([{ text: 'x' }])),
    { code: 'unsupported' },
  )
  const parts = shards(small(), 2, 'split').map(
    ({ name, model }) => new File([new Uint8Array(writeGguf(model))], name),
  )
  using set = await open(parts)
  const first = await set.edit({ shard: 0 })
  assert.throws(() => first.addTokens([{ text: 'x' }]), {
    code: 'unsupported',
    message: /all files together/,
  })
})

test('a model runs with added tokens, and is the same file without them', async () => {
  using file = await open(kStories)
  const count = file.tokenizer().size
  const changes: Change[] = [
    { change: 'add-tokens', tokens: [{ text: '<|ship|>', type: 'control' }, { text: 'lighthouse' }] },
  ]
  const list = parseChanges(formatChanges(changes))
  const more = await edited(file, (builder) => applyChanges(file, builder, list))
  using after = await open(more)
  const tokenizer = after.tokenizer()
  assert.equal(tokenizer.size, count + 2)
  const ids = tokenizer.encode('a lighthouse<|ship|>', { special: true })
  assert.deepEqual(ids.slice(-2), [count + 1, count])
  assert.equal(tokenizer.decode(ids, { special: true }).trim(), 'a lighthouse<|ship|>')
  for (const { name } of file.tensors) {
    const now = await after.read(name)
    const before = await file.read(name)
    assert.deepEqual(now.subarray(0, before.length), before, name)
  }
  using model = await load(new Blob([more]), { threads: 1 })
  using before = await load(new Blob([kStories]), { threads: 1 })
  const prompt = 'Once upon a time'
  const logits = await model.evaluate(tokenizer.encode(prompt, { bos: true }))
  const old = await before.evaluate(file.tokenizer().encode(prompt, { bos: true }))
  const positions = old.length / count
  assert.equal(logits.length, positions * (count + 2))
  for (let i = 0; i < positions; i++)
    assert.deepEqual(
      logits.subarray(i * (count + 2), i * (count + 2) + count),
      old.subarray(i * count, (i + 1) * count),
    )
  const next = await model.evaluate(tokenizer.encode('Once a lighthouse', { bos: true }))
  assert.ok(next.every(Number.isFinite))

  const back = await edited(after, (builder) =>
    applyChanges(after, builder, [{ change: 'remove-tokens', tokens: ['lighthouse', count] }]),
  )
  assert.equal(Buffer.compare(back, kStories), 0)
})

test('the command adds and removes tokens', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vocabulary-'))
  const set = (...words: string[]) =>
    execFileSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'set', ...words], {
      cwd: folder,
      stdio: 'pipe',
    })
  try {
    writeFileSync(join(folder, 'a.gguf'), kStories)
    set('a.gguf', '--add-token', '<|ship|>', '--token-type', 'control', '-o', 'b.gguf')
    const bytes = readFileSync(join(folder, 'b.gguf'))
    using file = await open(bytes)
    assert.equal(file.tokenizer().tokens.at(file.tokenizer().size - 1)?.type, 'control')
    set('b.gguf', '--remove-token', '<|ship|>', '--in-place')
    assert.equal(Buffer.compare(readFileSync(join(folder, 'b.gguf')), kStories), 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('rows of quantized embeddings keep their type', async () => {
  using file = await open(kStories)
  for (const type of ['Q8_0', 'F16', 'Q4_0']) {
    const builder = await file.edit()
    await builder.quantize(type, { pure: true, types: { 'token_embd.weight': type }, allowRequantize: true })
    using quantized = await open(await written(builder))
    assert.equal(quantized.tensor('token_embd.weight')?.type, type)
    const bytes = await edited(quantized, (one) => one.addTokens([{ text: 'lighthouse' }]))
    using after = await open(bytes)
    const rows = await rowsOf(after, 'token_embd.weight')
    const means = rows[0]!.map((_, i) =>
      rows.slice(0, -1).reduce((sum, row) => sum + row[i]! / (rows.length - 1), 0),
    )
    const largest = Math.max(...means.map(Math.abs))
    for (const [i, mean] of means.entries())
      assert.ok(Math.abs(rows.at(-1)![i]! - mean) < largest / 7, `${type} ${i}`)
    const back = await edited(after, (one) => one.removeTokens(['lighthouse']))
    assert.equal(
      Buffer.compare(
        back,
        await edited(quantized, (one) =>
          one.set('general.name', String(quantized.metadata.get('general.name') ?? '')),
        ),
      ),
      0,
    )
  }
})

for (const name of ['gpt-2', 'llama-spm', 'bert-bge', 'phi-3'])
  test(
    `the vocabulary of ${name} is the same after a token came and went`,
    { skip: withoutShared },
    async () => {
      using file = await open(join(kShared, `vocab/ggml-vocab-${name}.gguf`))
      const count = file.tokenizer().size
      using more = await open(
        await edited(file, (one) => one.addTokens([{ text: '<|ship|>', type: 'control' }])),
      )
      const text = 'It cost 12 € to build, naïve 人!'
      assert.deepEqual(more.tokenizer().encode(text), file.tokenizer().encode(text))
      assert.ok(more.tokenizer().encode('x<|ship|>', { special: true }).includes(count))
      const back = await edited(more, (one) => one.removeTokens([count]))
      using again = await open(back)
      assert.deepEqual(
        again.lint(),
        (await open(await edited(file, (one) => one.set('my.key', 1).remove('my.key')))).lint(),
      )
      assert.equal(
        Buffer.compare(back, await edited(file, (one) => one.set('my.key', 1).remove('my.key'))),
        0,
      )
    },
  )
