// Converts whisper.cpp's files to GGUF with the specification's keys, OpenAI's tensor names and a complete vocabulary.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gguf } from '@huggingface/gguf'
import type { GgufFile, LazyArray } from 'ggufscope'
import { get_encoding } from 'tiktoken'
import { floatBytes } from '../fixtures/models.ts'
import { readPlain } from '../fixtures/reader.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { engine } from './engine.ts'
import { kRoot, kShared, loadNodePackage } from './packed.ts'

const { open } = await loadNodePackage()
const folder = mkdtempSync(join(tmpdir(), 'modernize-whisper-'))
after(() => rmSync(folder, { recursive: true }))
const skip = skipWithout(kShared)

const words32 = (...values: number[]) => new Uint8Array(Uint32Array.from(values).buffer)
const letters = (value: string) => new TextEncoder().encode(value)
const converted = async (file: GgufFile) => await (await (await file.edit()).build()).bytes()
const strings = (file: GgufFile, key: string) =>
  (file.metadata.get(key) as LazyArray<string>).slice() as string[]

interface OldTensor {
  name: string
  shape: readonly number[]
  /** F32, F16, Q8_0 */
  type: 0 | 1 | 8
}

const kWidth = 64
const kSizes = { audio: 12, text: 8, mels: 80, columns: 3 }

/** The tensors of a model with one encoder layer and one decoder layer, with the names of whisper.cpp's converter. */
function tensorsOf(vocabulary: number): OldTensor[] {
  const vector = (name: string, n = kWidth): OldTensor => ({ name, shape: [n], type: 0 })
  const matrix = (name: string, from = kWidth, to = kWidth): OldTensor => ({
    name,
    shape: [from, to],
    type: 8,
  })
  const norm = (name: string) => [vector(`${name}.weight`), vector(`${name}.bias`)]
  const attention = (name: string) => [
    ...norm(`${name}_ln`),
    matrix(`${name}.query.weight`),
    vector(`${name}.query.bias`),
    matrix(`${name}.key.weight`),
    matrix(`${name}.value.weight`),
    vector(`${name}.value.bias`),
    matrix(`${name}.out.weight`),
    vector(`${name}.out.bias`),
  ]
  const feedForward = (name: string) => [
    ...norm(`${name}.mlp_ln`),
    matrix(`${name}.mlp.0.weight`, kWidth, 4 * kWidth),
    vector(`${name}.mlp.0.bias`, 4 * kWidth),
    matrix(`${name}.mlp.2.weight`, 4 * kWidth, kWidth),
    vector(`${name}.mlp.2.bias`),
  ]
  return [
    { name: 'encoder.positional_embedding', shape: [kWidth, kSizes.audio], type: 0 },
    { name: 'encoder.conv1.weight', shape: [3, kSizes.mels, kWidth], type: 1 },
    { name: 'encoder.conv1.bias', shape: [1, kWidth], type: 0 },
    { name: 'encoder.conv2.weight', shape: [3, kWidth, kWidth], type: 1 },
    { name: 'encoder.conv2.bias', shape: [1, kWidth], type: 0 },
    ...norm('encoder.ln_post'),
    ...attention('encoder.blocks.0.attn'),
    ...feedForward('encoder.blocks.0'),
    { name: 'decoder.positional_embedding', shape: [kWidth, kSizes.text], type: 0 },
    matrix('decoder.token_embedding.weight', kWidth, vocabulary),
    ...norm('decoder.ln'),
    ...attention('decoder.blocks.0.attn'),
    ...attention('decoder.blocks.0.cross_attn'),
    ...feedForward('decoder.blocks.0'),
  ]
}

/** Makes a file of whisper.cpp. Its mel filters are 0, 1, 2, .... */
function whisper(size: number, vocabulary: readonly Uint8Array[], tensors: readonly OldTensor[]): Uint8Array {
  const { audio, text, mels, columns } = kSizes
  const filters = Float32Array.from({ length: mels * columns }, (_, i) => i)
  const parts: Uint8Array[] = [
    words32(0x67676d6c, size, audio, kWidth, 2, 1, text, kWidth, 2, 1, mels, 2007, mels, columns),
    new Uint8Array(filters.buffer),
    words32(vocabulary.length),
  ]
  for (const word of vocabulary) parts.push(words32(word.length), word)
  for (const [i, { name, shape, type }] of tensors.entries()) {
    const count = shape.reduce((product, n) => product * n)
    const bytes = type === 8 ? (count / 32) * 34 : type === 1 ? 2 * count : 4 * count
    const data = floatBytes(Math.ceil(bytes / 4), i).subarray(0, bytes)
    parts.push(words32(shape.length, name.length, type, ...shape), letters(name), data)
  }
  return new Uint8Array(Buffer.concat(parts))
}

/** Number of tokens of an English model, with control tokens. */
const kEnglish = 51864
const gpt2 = get_encoding('gpt2')
const gpt2Words = Array.from({ length: 50256 }, (_, id) => gpt2.decode_single_token_bytes(id))

/** As many words, but fast to read, because no word except bytes is made of others. */
const kManyWords = [...gpt2Words.slice(0, 256), ...Array.from({ length: 50000 }, (_, i) => letters(`${i} `))]

test('a model of whisper.cpp: keys, names, values', async () => {
  const tensors = tensorsOf(kEnglish)
  using old = await open(whisper(kEnglish, kManyWords, tensors))
  const bytes = await converted(old)
  using file = await open(bytes)
  assert.equal(file.container, 'gguf')
  const { audio, text, mels, columns } = kSizes
  const wanted: Record<string, unknown> = {
    'general.architecture': 'whisper',
    'general.file_type': 7,
    'general.quantization_version': 2,
    'whisper.vocab_size': kEnglish,
    'whisper.encoder.context_length': audio,
    'whisper.encoder.embedding_length': kWidth,
    'whisper.encoder.attention.head_count': 2,
    'whisper.encoder.block_count': 1,
    'whisper.encoder.mels_count': mels,
    'whisper.decoder.context_length': text,
    'whisper.decoder.embedding_length': kWidth,
    'whisper.decoder.attention.head_count': 2,
    'whisper.decoder.block_count': 1,
    'whisper.mel_filters.rows': mels,
    'whisper.mel_filters.columns': columns,
  }
  for (const [key, value] of Object.entries(wanted)) assert.equal(file.metadata.get(key), value, key)
  const filters = (file.metadata.get('whisper.mel_filters') as LazyArray<number>).slice()
  assert.deepEqual(
    [...filters],
    Array.from({ length: mels * columns }, (_, i) => i),
  )

  assert.deepEqual(
    file.tensors.map(({ name, shape }) => [name, [...shape]]),
    tensors.map(({ name, shape }) => [name, [...shape]]),
  )
  for (const { name, type } of file.tensors) {
    assert.equal(type, old.tensor(name)!.type)
    assert.deepEqual(await file.read(name), await old.read(name), name)
    assert.deepEqual(await file.dequantize(name), await old.dequantize(name), name)
  }
  assert.deepEqual(
    file.lint().filter(({ level }) => level !== 'note'),
    [],
  )
  // Reads the file with other readers.
  const plain = readPlain(bytes)
  assert.deepEqual(
    plain.tensors.map(({ name }) => name),
    tensors.map(({ name }) => name),
  )
  const path = join(folder, 'whisper.gguf')
  writeFileSync(path, bytes)
  const { metadata, tensorInfos } = await gguf(path, { allowLocalFile: true })
  assert.equal((metadata as Record<string, unknown>)['whisper.encoder.mels_count'], mels)
  assert.equal(tensorInfos.length, tensors.length)
})

test("whisper.cpp's bare words become GPT-2's tokens and merges, with the control tokens behind them", async () => {
  using old = await open(whisper(kEnglish, gpt2Words, []))
  using file = await open(await converted(old))
  const tokens = strings(file, 'tokenizer.ggml.tokens')
  const tokenizer = file.tokenizer()
  assert.equal(tokens.length, kEnglish)
  const controls: [number, string][] = [
    [50256, '<|endoftext|>'],
    [50257, '<|startoftranscript|>'],
    [50258, '<|en|>'],
    [50356, '<|su|>'],
    [50357, '<|translate|>'],
    [50362, '<|notimestamps|>'],
    [50363, '<|0.00|>'],
    [51863, '<|30.00|>'],
  ]
  for (const [id, name] of controls) {
    assert.equal(tokens[id], name)
    assert.deepEqual([...tokenizer.encode(name, { special: true, bos: false })], [id])
  }
  assert.equal(strings(file, 'tokenizer.ggml.merges').length, 50000)
  for (const text of [
    readFileSync(join(kRoot, 'README.md'), 'utf8'),
    'h\u00e9 \u4eba\ud83d\ude42 \u573a\n\t  x',
  ])
    assert.deepEqual([...tokenizer.encode(text, { bos: false })], [...gpt2.encode(text)])
})

// Their last token is empty.
test('the first models of many languages have 99, the third large one 100', async () => {
  for (const [size, last] of [
    [51865, '<|su|>'],
    [51866, '<|yue|>'],
  ] as const) {
    using old = await open(whisper(size, [...kManyWords, new Uint8Array()], []))
    using file = await open(await converted(old))
    const tokens = strings(file, 'tokenizer.ggml.tokens')
    assert.equal(tokens[50257], '<|endoftext|>')
    assert.equal(tokens[size - 1501 - 7], last)
    assert.equal(tokens[size - 1], '<|30.00|>')
    assert.equal(file.metadata.get('tokenizer.ggml.eos_token_id'), 50257)
  }
})

test('another vocabulary keeps its words', async () => {
  using old = await open(whisper(40, [letters('a'), letters('b'), letters('ab')], []))
  using file = await open(await converted(old))
  assert.deepEqual(strings(file, 'tokenizer.ggml.tokens').slice(0, 4), ['a', 'b', 'ab', '[PAD3]'])
  assert.deepEqual(strings(file, 'tokenizer.ggml.merges'), ['a b'])
})

// Converters of 2022 wrote U+FFFD for every token that is not valid UTF-8 alone.
test('files that lost the bytes of some words', { skip }, async () => {
  const text =
    'And so my fellow Americans, ask not what your country can do for you: \u00e9 \u573a \ud83d\ude42.'
  for (const name of ['tiny', 'tiny.en']) {
    using old = await open(join(kShared, `whisper/for-tests-ggml-${name}.bin`))
    using file = await open(await converted(old))
    const tokens = strings(file, 'tokenizer.ggml.tokens')
    assert.equal(tokens.length, old.metadata.get('whisper.vocab_size'))
    assert.equal(new Set(tokens).size, tokens.length)
    assert.equal(tokens.filter((token) => token.startsWith('[LOST')).length, name === 'tiny' ? 1352 : 224)
    const tokenizer = file.tokenizer()
    const ids = tokenizer.encode(text, { bos: false })
    assert.equal(tokenizer.decode(ids), text)
    const english = text.slice(0, text.indexOf(':'))
    if (name === 'tiny.en')
      assert.deepEqual([...tokenizer.encode(english, { bos: false })], [...gpt2.encode(english)])
    else assert.ok(ids.length < text.length)
    assert.deepEqual(
      file.lint().filter(({ level }) => level !== 'note'),
      [],
    )
  }
})

/** A Parakeet file of whisper.cpp without tensors. */
function parakeet(vocabulary: readonly string[]): Uint8Array {
  const mels = 16
  const parts = [
    words32(0x67676d6c, vocabulary.length, 16, 8, 2, 1, mels, 0, 64, 8, 4, 3, 8, 1, 2, 5),
    words32(mels, 33, ...Array.from({ length: mels * 33 }, () => 0)),
    words32(64, ...Array.from({ length: 64 }, () => 0)),
    words32(0, 1, vocabulary.length),
  ]
  for (const word of vocabulary) parts.push(words32(letters(word).length), letters(word))
  return new Uint8Array(Buffer.concat(parts))
}

const kPieces = ['<unk>', '<|en|>', '\u2581t', 'he', '\u2581the', 'in', '\u2581', 't', 'h', 'e', 'i', 'n']

test("Parakeet's pieces in the order of their merges cut text by it", async () => {
  using old = await open(parakeet(kPieces))
  assert.equal(old.metadata.get('general.architecture'), 'parakeet')
  using file = await open(await converted(old))
  assert.equal(file.metadata.get('tokenizer.ggml.model'), 'llama')
  assert.deepEqual(strings(file, 'tokenizer.ggml.tokens'), kPieces)
  const tokenizer = file.tokenizer()
  const ids = tokenizer.encode('the then in')
  assert.deepEqual([...ids], [4, 4, 11, 6, 5])
  assert.equal(tokenizer.decode(ids), 'the then in')
  assert.deepEqual([...tokenizer.encode('<|en|>', { special: true })], [1])
  assert.deepEqual(
    file.lint().filter(({ level }) => level !== 'note'),
    [],
  )
})

test('a Parakeet model is refused, also after conversion', async () => {
  const message = /Parakeet model cannot be run: its decoder is a transducer/
  const old = parakeet(kPieces)
  await assert.rejects(engine.load(old), { code: 'unsupported', message })
  using file = await open(old)
  await assert.rejects(engine.load(await converted(file)), { code: 'unsupported', message })
  const [found, ...others] = await engine.lintLoad(file)
  assert.match(found!.message, message)
  assert.deepEqual([found!.level, found!.error, others.length], ['note', 'unsupported', 0])
})

test('pieces that no merges give in this order keep their texts, but cut none', async () => {
  for (const pieces of [
    ['<unk>', 's', '\u2581t', '\u2581', 't'], // the most probable first
    ['<unk>', '\u2581the', '\u2581t', 'he', '\u2581', 't', 'h', 'e'],
  ]) {
    using old = await open(parakeet(pieces))
    using file = await open(await converted(old))
    assert.equal(file.metadata.get('tokenizer.ggml.model'), 'none')
    assert.equal(file.metadata.get('tokenizer.ggml.scores'), undefined)
    assert.deepEqual(strings(file, 'tokenizer.ggml.tokens'), pieces)
    assert.ok(!file.lint().some(({ level }) => level === 'error'))
  }
})

test("whisper.cpp's own Parakeet file", { skip }, async () => {
  using old = await open(join(kShared, 'whisper/for-tests-ggml-parakeet-tdt-bad-nfft0.bin'))
  using file = await open(await converted(old))
  assert.equal(file.metadata.get('tokenizer.ggml.model'), 'llama')
  assert.equal(file.metadata.get('tokenizer.ggml.eos_token_id'), 2)
  assert.deepEqual([...file.tokenizer().encode('bad', { special: false })].slice(-3), [4, 3, 6])
  const errors = file.lint().filter(({ level }) => level === 'error')
  assert.deepEqual([...new Set(errors.map(({ code }) => code))], ['fft-length'])
})
