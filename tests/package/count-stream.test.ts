// tokenizer.countStream(): a text in pieces has the count of the whole text, with every kind of tokenizer and pre-tokenizer.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Tokenizer } from 'ggufscope'
import { open } from 'ggufscope/node'
import { writeHeader, type Value } from '../fixtures/gguf.ts'
import { kAll } from '../fixtures/short.ts'
import { skipWithout } from '../fixtures/skip-without.ts'
import { kRoot, kShared } from './packed.ts'
import { runCli } from './run-cli.ts'

type Random = (below: number) => number

/** Pseudorandom whole numbers (mulberry32). */
function random(seed: number): Random {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

/** Texts for each vocabulary. */
const kRounds = kAll ? 3 : 1

const kWords = [
  ...'the house of Bees it IT we ABCdef x camelCase naïve Straße привет سلام हिन्दी 12 3 1234567 0.5'.split(
    ' ',
  ),
  ...'灯塔 你 人们都说 日本語の かな カナ 한국어 ไทย 🙂 👩‍👩‍👧 𝒳𝒴 Ａ ﬁ é'.split(' '),
  ...[' ', ' ', ' ', ' ', ' ', '  ', '   ', '\n', '\n', '\n\n', '\r\n', '\t', '\u00a0', '\u3000', '\u0085'],
  ...'.,!?;:\'"()[]{}<>/\\|+-=*&^%$#@~`_'.split(''),
  ...[
    '。',
    '，',
    '」',
    '…',
    '...\n',
    '!!\n',
    '/\n',
    '},\n',
    "'s",
    "'re ",
    "'LL",
    ' n',
    '\u0301',
    '\u200b',
    '\ufeff',
  ],
  ...[
    '<|end|>',
    '<s>',
    '</s>',
    '<0x0A>',
    '▁',
    ' ▁a',
    '[UNK]',
    '<unk>',
    'IMGIMGABZ',
    '<sentinel:1>',
    '\u0001',
  ],
]

function makeText(next: Random, pieces: number): string {
  // Mostly words and spaces, then anything.
  const one = () => (next(3) > 0 ? `${kWords[next(16)]}${' '.repeat(next(2))}` : kWords[next(kWords.length)]!)
  return Array.from({ length: pieces }, one).join('')
}

/** The text in pieces of random lengths, as strings or as bytes. */
function* divided(text: string, next: Random): Generator<string | Uint8Array> {
  const bytes = next(2) === 0 ? new TextEncoder().encode(text) : undefined
  const length = bytes?.length ?? text.length
  for (let at = 0; at < length;) {
    const end = Math.min(length, at + next(next(2) === 0 ? 7 : 400))
    yield bytes ? bytes.subarray(at, end) : text.slice(at, end)
    at = end
  }
}

/** Returns the number of parts that were counted. */
async function check(tokenizer: Tokenizer, seed: number, pieces = 500): Promise<number> {
  const next = random(seed)
  let parts = 0
  for (const special of [false, true]) {
    const text = makeText(next, pieces)
    // Half of a pair of surrogates becomes U+FFFD in both.
    const options = { special, bos: special, pieceLength: 1 + next(90) }
    const counted = await tokenizer.countStream(divided(text, next), {
      ...options,
      onProgress: () => parts++,
    })
    const whole = tokenizer.count(new TextEncoder().encode(text), { special, bos: special })
    assert.equal(counted, whole, `seed ${seed}, special ${special}`)
  }
  return parts
}

// The spelling of bytes in byte-level BPE, as GPT-2 defines it.
const kPrintable = (() => {
  const isShown = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  let more = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isShown(byte) ? byte : more++))
})()

/** Merges of frequent pairs in these spelled symbols, across words too, so that tokens contain spaces and parts of characters. */
function train(symbols: string[], count: number): string[] {
  const merges: string[] = []
  for (let i = 0; i < count; i++) {
    const pairs = new Map<string, number>()
    for (let at = 1; at < symbols.length; at++) {
      const pair = `${symbols[at - 1]} ${symbols[at]}`
      pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
    }
    const [best] = [...pairs].sort((a, b) => b[1] - a[1])[0]!
    merges.push(best)
    const [left = '', right = ''] = best.split(' ')
    const merged: string[] = []
    for (const symbol of symbols) {
      if (symbol === right && merged.at(-1) === left) merged[merged.length - 1] = left + right
      else merged.push(symbol)
    }
    symbols = merged
  }
  return merges
}

const strings = (values: readonly string[]): Value => ({ type: 'array', of: 'string', value: [...values] })

function bpeHeader(pre: string, merges: readonly string[], base: readonly string[]): Uint8Array {
  const tokens = [...new Set([...base, ...merges.map((merge) => merge.replace(' ', '')), '<|end|>', 'Bees'])]
  const types = tokens.map((token) => (token === '<|end|>' ? 3 : token === 'Bees' ? 4 : 1))
  return writeHeader({
    metadata: [
      ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
      ['tokenizer.ggml.pre', { type: 'string', value: pre }],
      ['tokenizer.ggml.tokens', strings(tokens)],
      ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', value: types }],
      ['tokenizer.ggml.merges', strings(merges)],
    ],
  }).header
}

test('byte-level BPE with every pre-tokenizer', async () => {
  const rows = readFileSync(join(kRoot, 'core/gguf/pre_tokenizers.inc'), 'utf8')
  const names = [...rows.matchAll(/^GGUFSCOPE_PRE_TOKENIZER\("([^"]+)"/gm)].map(([, name = '']) => name)
  assert.ok(names.length > 70)
  const corpus = makeText(random(1), 1500)
  const spelled = [...new TextEncoder().encode(corpus)].map((byte) => kPrintable[byte]!)
  const merges = train(spelled, 220)
  assert.ok(merges.some((merge) => /[a-z]\u0120/.test(merge.replace(' ', ''))))
  const raw = train([...corpus.replaceAll(' ', '\u2581')], 220)
  for (const [i, name] of names.entries()) {
    for (const [base, own] of [
      [kPrintable, merges],
      [[...new Set(corpus.replaceAll(' ', '\u2581'))], raw],
    ] as const) {
      using file = await open(bpeHeader(name, own, base))
      using tokenizer = file.tokenizer()
      let parts = 0
      for (let round = 0; round < kRounds; round++) parts += await check(tokenizer, 100 * i + round)
      assert.ok(parts > 7 * kRounds, `${name}: ${parts} parts`)
    }
  }
})

describe('real vocabularies', { skip: skipWithout(kShared) }, () => {
  const vocabularies = readdirSync(join(kShared, 'vocab')).filter((name) => name.endsWith('.gguf'))
  for (const name of vocabularies)
    test(name, async () => {
      using file = await open(join(kShared, 'vocab', name))
      using tokenizer = file.tokenizer()
      let parts = 0
      for (let round = 0; round < 1 + kRounds; round++) parts += await check(tokenizer, round)
      assert.ok(parts > 5 * (1 + kRounds), `${parts} parts`)
    })
  const folder = join(kShared, '../vectors/arch')
  const models = existsSync(folder) ? readdirSync(folder) : []
  test('tiny models of all kinds', { skip: skipWithout(folder) }, async () => {
    const kinds = new Set<string>()
    for (const name of models) {
      const path = join(folder, name, 'model.gguf')
      if (!existsSync(path)) continue
      using file = await open(path)
      if (!file.metadata.has('tokenizer.ggml.tokens')) continue
      using tokenizer = file.tokenizer()
      kinds.add(tokenizer.kind)
      for (let round = 0; round < kRounds; round++) await check(tokenizer, round)
    }
    assert.ok(kinds.size > 3, [...kinds].join())
  })
})

describe('countStream()', () => {
  const withSample = async (run: (tokenizer: Tokenizer) => Promise<void>) => {
    using file = await open(join(kRoot, 'tests/fixtures/stories.gguf'))
    using tokenizer = file.tokenizer()
    await run(tokenizer)
  }

  test('counts millions of characters in bounded pieces, from every kind of source', () =>
    withSample(async (tokenizer) => {
      const text = makeText(random(5), 400_000)
      assert.ok(text.length > 1_000_000)
      const whole = tokenizer.count(text)
      const progress: { read: number; tokens: number }[] = []
      const blob = new Blob([text])
      assert.equal(await tokenizer.countStream(blob, { onProgress: (one) => progress.push(one) }), whole)
      assert.ok(progress.length > 20)
      assert.deepEqual(progress.at(-1), { read: blob.size, tokens: whole })
      for (const [i, { read, tokens }] of progress.slice(1).entries())
        assert.ok(read >= progress[i]!.read && tokens > progress[i]!.tokens)
      assert.equal(await tokenizer.countStream(text), whole)
      assert.equal(await tokenizer.countStream(new TextEncoder().encode(text)), whole)
      assert.equal(await tokenizer.countStream(blob.stream()), whole)
      assert.equal(await tokenizer.countStream(text.match(/[^]{1,9999}/gu)!), whole)
      assert.equal(await tokenizer.countStream([]), 0)
      assert.equal(await tokenizer.countStream('', { bos: true }), tokenizer.count('', { bos: true }))
    }))

  test('text without a place to cut is held, and still has the right count', () =>
    withSample(async (tokenizer) => {
      for (const text of ['x'.repeat(300_000), '{"a":[1,2]},'.repeat(30_000), `${'ab'.repeat(90_000)} c d`])
        assert.equal(await tokenizer.countStream(new Blob([text])), tokenizer.count(text))
    }))

  test('stops when it is aborted, even while it waits, and releases its source', () =>
    withSample(async (tokenizer) => {
      const control = new AbortController()
      let release: (reason: unknown) => void
      const released = new Promise((resolve) => (release = resolve))
      const stream = new ReadableStream<string>({
        start: (queue) => queue.enqueue('a b '.repeat(50_000)),
        cancel: (reason) => release(reason),
      })
      const counting = tokenizer.countStream(stream, {
        signal: control.signal,
        onProgress: () => control.abort(new Error('enough')),
      })
      await assert.rejects(counting, /enough/)
      assert.equal(((await released) as Error).message, 'enough')
      await assert.rejects(
        tokenizer.countStream('a', { signal: AbortSignal.abort(new Error('before')) }),
        /before/,
      )
      const late = new AbortController()
      const waiting = tokenizer.countStream(new ReadableStream<string>(), { signal: late.signal })
      setTimeout(() => late.abort(new Error('late')))
      await assert.rejects(waiting, /late/)
    }))

  test('refuses what is no text, and passes on the errors of its source', () =>
    withSample(async (tokenizer) => {
      for (const bad of [7, null, undefined, {}, [1], [new ArrayBuffer(2)]])
        await assert.rejects(tokenizer.countStream(bad as never), { code: 'invalid-argument' })
      await assert.rejects(tokenizer.countStream('a', { pieceLength: 0 }), { code: 'invalid-argument' })
      await assert.rejects(tokenizer.countStream('a', { what: 1 } as never), { code: 'invalid-argument' })
      const broken = (function* () {
        yield 'a b'
        throw new Error('lost')
      })()
      await assert.rejects(tokenizer.countStream(broken), /lost/)
      const closed = tokenizer.countStream('a b '.repeat(100_000))
      tokenizer.close()
      await assert.rejects(closed, { code: 'closed' })
    }))
})

test('ggufscope tokenize --count reads standard input in pieces', async () => {
  const model = join(kRoot, 'tests/fixtures/stories.gguf')
  using file = await open(model)
  using tokenizer = file.tokenizer()
  const text = makeText(random(9), 300_000).replaceAll('\ufeff', '')
  assert.ok(text.length > 900_000)
  for (const flags of [[], ['--special', '--bos']]) {
    const options = { special: flags.length > 0, bos: flags.length > 0 }
    const whole = tokenizer.count(text, options)
    // A byte order mark is no part of the text.
    for (const input of [text, `\ufeff${text}`]) {
      const ran = await runCli(['tokenize', model, '--count', ...flags], { input })
      assert.deepEqual(ran, { status: 0, out: `${whole}\n`, err: '' })
    }
  }
  const ran = await runCli(['tokenize', model, '--count', '--json'], { input: '' })
  assert.deepEqual([ran.status, JSON.parse(ran.out)], [0, { count: 0 }])
})
