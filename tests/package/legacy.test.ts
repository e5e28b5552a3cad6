// Containers older than GGUF, opened with open(): generated ones, and real ones if ../shared exists.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from '../server/server.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kShared as real, loadNodePackage } from './packed.ts'

const { open, GgufError } = await loadNodePackage()
const skip = skipWithout(real)

const u32 = (...values: number[]) => new Uint8Array(Uint32Array.from(values).buffer)
const text = (value: string) => new TextEncoder().encode(value)
const join8 = (parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

/** A GGJT v1 file of two tensors, the first of which has 12 MB of data. */
function ggjt(): Uint8Array {
  const words = ['<unk>', '<s>', '</s>', ' ', 'a', ' a']
  const parts = [u32(0x67676a74, 1, words.length, 64, 32, 4, 1, 16, 2)]
  for (const [i, word] of words.entries()) {
    const bytes = text(word)
    parts.push(u32(bytes.length), bytes, new Uint8Array(Float32Array.of(-i).buffer))
  }
  const align = () => parts.push(new Uint8Array((32 - (join8(parts).length % 32)) % 32))
  const big = 'layers.0.feed_forward.w1.weight'
  parts.push(u32(2, big.length, 2, 1024, 19200), text(big))
  align()
  parts.push(new Uint8Array((1024 / 32) * 20 * 19200))
  parts.push(u32(1, 11, 0, 3), text('norm.weight'))
  align()
  parts.push(new Uint8Array(Float32Array.of(1, -2, 0.5).buffer))
  return join8(parts)
}

test('a GGJT file is listed without its data', async () => {
  await using server = await startServer({ bandwidth: 20e6 }) // so that it sends little more than was requested
  const bytes = ggjt()
  server.add('/model.bin', bytes)
  using file = await open(`${server.url}/model.bin`)
  assert.equal(file.container, 'ggjt')
  assert.equal(file.version, 1)
  assert.equal(file.metadata.get('general.architecture'), 'llama')
  assert.equal(file.metadata.get('llama.embedding_length'), 64)
  assert.deepEqual(
    file.tensors.map(({ name, type, shape }) => [name, type, [...shape]]),
    [
      ['layers.0.feed_forward.w1.weight', 'Q4_0_V1', [1024, 19200]],
      ['norm.weight', 'F32', [3]],
    ],
  )
  assert.deepEqual([...(await file.dequantize('norm.weight'))], [1, -2, 0.5])
  const zeros = await file.dequantize('layers.0.feed_forward.w1.weight', { rows: [19199, 19200] })
  assert.ok(zeros.length === 1024 && zeros.every((value) => value === 0))
  assert.ok(server.counts().bytes < bytes.length * 0.4, `${server.counts().bytes} of ${bytes.length} bytes`)
  assert.ok(file.bytesRead < 600_000)
  const [finding] = file.lint()
  assert.equal(finding!.code, 'legacy-container')
  assert.deepEqual([...file.tokenizer().encode('a', { bos: false })], [5])
})

test('damaged files are errors', async () => {
  const whole = ggjt()
  const cases: [string, Uint8Array, string][] = [
    ['cut in the data', whole.slice(0, 2_000_000), 'truncated'],
    ['cut in the vocabulary', whole.slice(0, 60), 'bad-count'],
    ['unknown version', u32(0x67676a74, 9, 0, 0), 'bad-version'],
    ['noise', u32(0x67676d6c, 0xffffffff, 0xffffffff, 1, 2, 3, 4, 5, 6, 7, 8, 9), 'unsupported'],
    ['vocabulary of 2^32', u32(0x67676a74, 3, 0xffffffff, 0, 0, 0, 0, 0, 0), 'bad-count'],
  ]
  for (const [name, bytes, code] of cases) {
    const error = await open(bytes).catch((e: unknown) => e)
    assert.ok(error instanceof GgufError && error.code === code, `${name}: ${String(error)}`)
  }
})

const files: [string, string, string, number, number][] = [
  ['history/20230321-3651f708-ggml-vocab.bin', 'ggmf', 'llama', 32000, 0],
  ['history/20230330-38f63493-ggml-vocab.bin', 'ggjt', 'llama', 32000, 0],
  ['history/20230806-c1a3194c-ggml-vocab-llama.bin', 'ggjt', 'llama', 32000, 0],
  ['rwkv/tiny-rwkv-4v0-660K-Q5_0.bin', 'ggmf', 'rwkv4', 0, 78],
  ['rwkv/tiny-rwkv-5v2-730K-Q5_1.bin', 'ggmf', 'rwkv5', 0, 270],
  ['rwkv/tiny-rwkv-7v0-834K-FP32.bin', 'ggmf', 'rwkv7', 0, 339],
  ['whisper/for-tests-ggml-tiny.bin', 'ggml', 'whisper', 50257, 0],
  ['whisper/for-tests-ggml-parakeet-tdt-bad-nfft0.bin', 'ggml', 'parakeet', 10, 51],
]
for (const [path, container, architecture, tokens, tensors] of files) {
  test(`real file ${path}`, { skip }, async () => {
    using file = await open(new Blob([readFileSync(join(real, path))]))
    assert.equal(file.container, container)
    assert.equal(file.summary().architecture, architecture)
    const list = file.metadata.get('tokenizer.ggml.tokens') as { length: number } | undefined
    assert.equal(list?.length ?? 0, tokens)
    assert.equal(file.tensors.length, tensors)
    const found = file.lint().map(({ level, code }) => `${level}:${code}`)
    const bad = path.includes('nfft0') ? ['error:fft-length'] : []
    assert.deepEqual(found, ['error:legacy-container', ...bad])
    for (const { name } of file.tensors.slice(0, 20)) {
      const values = await file.dequantize(name)
      assert.ok(values.every(Number.isFinite), name)
    }
  })
}

test('ids of an old vocabulary match llama.cpp', { skip }, async () => {
  using old = await open(readFileSync(join(real, 'history/20230330-38f63493-ggml-vocab.bin')))
  using today = await open(readFileSync(join(real, 'vocab/ggml-vocab-llama-spm.gguf')))
  for (const sample of ['Hello world', ' The quick brown fox, 42!', 'h\u00e9 \u4eba\ud83d\ude42\n']) {
    assert.deepEqual(old.tokenizer().encode(sample), today.tokenizer().encode(sample), sample)
  }
})
