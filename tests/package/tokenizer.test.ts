// Tokenizers and chat templates through the package, compared with llama.cpp's results if the shared data exists.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { open, type GgufFile } from 'ggufscope/node'
import { writeHeader, type Value } from '../fixtures/gguf.ts'
import { skipWithout } from '../fixtures/skip-without.ts'

const kShared = process.env['GGUFSCOPE_SHARED'] ?? join(import.meta.dirname, '../../../shared')
const shared = (name: string) => join(kShared, name)

const kByteExact = ['spm', 'bpe', 'rwkv']

/** Pseudorandom numbers (mulberry32). */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function randomText(next: () => number): string {
  const ranges = [
    [0x20, 0x7e],
    [0x20, 0x7e],
    [0x9, 0xd],
    [0xa0, 0x24f],
    [0x370, 0x52f],
    [0x600, 0x6ff],
    [0x900, 0xdff],
    [0x2000, 0x2fff],
    [0x3000, 0x9fff],
    [0xac00, 0xd7a3],
    [0x1f300, 0x1faff],
    [0x10000, 0x10ffff],
  ] as const
  let text = ''
  for (let i = 0, length = Math.floor(next() * 80); i < length; i++) {
    const [from, to] = ranges[Math.floor(next() * ranges.length)]!
    const repeat = next() < 0.1 ? 1 + Math.floor(next() * 20) : 1
    text += String.fromCodePoint(from + Math.floor(next() * (to - from + 1))).repeat(repeat)
  }
  return text
}

interface Vector {
  text: string
  ids: number[]
  ids_special: number[]
  detok: string | { hex: string }
  detok_special: string | { hex: string }
  detok_special_removed: string | { hex: string }
}

const hexOf = (text: string | { hex: string }) =>
  typeof text === 'string' ? Buffer.from(text).toString('hex') : text.hex

describe('token ids match llama.cpp', { skip: skipWithout(shared('vectors/tokenize')) }, () => {
  const folder = shared('vectors/tokenize')
  for (const name of existsSync(folder)
    ? readdirSync(folder).filter((file) => file.endsWith('.jsonl'))
    : []) {
    test(name, async () => {
      const vocabulary = name.replace('.jsonl', '')
      using file = await open(
        vocabulary.startsWith('tiny-')
          ? shared(`vectors/arch/${vocabulary.slice(5)}/model.gguf`)
          : shared(`data/vocab/${vocabulary}.gguf`),
      )
      const tokenizer = file.tokenizer()
      const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n')
      assert.equal(lines.length, 150)
      for (const line of lines) {
        const vector = JSON.parse(line) as Vector
        const { text, ids, ids_special } = vector
        assert.deepEqual(tokenizer.encode(text), ids, text)
        assert.deepEqual(tokenizer.encode(text, { special: true, bos: true }), ids_special, text)
        assert.equal(tokenizer.count(text), ids.length)
        const hex = (...call: Parameters<typeof tokenizer.decodeBytes>) =>
          Buffer.from(tokenizer.decodeBytes(...call)).toString('hex')
        assert.equal(hex(ids), hexOf(vector.detok))
        assert.equal(hex(ids_special), hexOf(vector.detok_special))
        assert.equal(
          hex(ids_special, { removeSpecial: true, special: false }),
          hexOf(vector.detok_special_removed),
        )
      }
      if (!kByteExact.includes(tokenizer.kind)) return
      // Vocabularies may lack bytes that were not in their training data. Characters with such bytes are left out.
      const known = new Set<number>()
      for (const { bytes } of tokenizer.tokens) if (bytes.length === 1) known.add(bytes[0]!)
      assert.ok(known.size > 180)
      const next = random(11)
      for (let i = 0; i < 200; i++) {
        const text = [...randomText(next)]
          .filter((character) => Buffer.from(character).every((byte) => known.has(byte)))
          .join('')
        const ids = tokenizer.encode(text)
        const bytes = Buffer.concat(ids.map((id) => tokenizer.tokens.at(id)!.bytes)).toString()
        const prefix = tokenizer.kind === 'spm' && text !== '' && bytes.startsWith(' ') ? ' ' : ''
        assert.equal(bytes, prefix + text)
        const stream = tokenizer.stream({ special: true })
        assert.equal(ids.map((id) => stream.push(id)).join('') + stream.finish(), bytes)
      }
    })
  }

  test('tokens can be listed and searched, and special ids are known', async () => {
    using file = await open(shared('data/vocab/ggml-vocab-llama-spm.gguf'))
    const tokenizer = file.tokenizer()
    assert.equal(tokenizer, file.tokenizer())
    assert.equal(tokenizer.kind, 'spm')
    assert.deepEqual(tokenizer.special, { bos: 1, eos: 2, unk: 0 })
    assert.equal(tokenizer.tokens.length, 32000)
    assert.deepEqual(tokenizer.tokens.at(13), {
      id: 13,
      text: '<0x0A>',
      bytes: new Uint8Array([10]),
      type: 'byte',
      score: 0,
      special: false,
      endOfGeneration: false,
    })
    assert.equal(tokenizer.tokens.at(32000), undefined)
    assert.equal(tokenizer.isEndOfGeneration(2), true)
    const found = tokenizer.search({ text: 'HELLO' })
    assert.ok(found.includes(tokenizer.find('\u2581Hello')!))
    assert.deepEqual(tokenizer.search({ types: ['unknown', 'control'] }), [0, 1, 2])
    file.close()
    assert.equal(tokenizer.decode(tokenizer.encode('It outlives its file.')), 'It outlives its file.')
    tokenizer.close()
    assert.throws(() => tokenizer.encode('x'), { code: 'closed' })
  })
})

const strings = (values: string[]): Value => ({ type: 'array', of: 'string', value: values })

async function made(entries: [string, Value][]): Promise<GgufFile> {
  return open(writeHeader({ metadata: entries }).header)
}

describe('vocabularies of other spellings are read', () => {
  test('the key tokenizer.rwkv.world gives a tokenizer', async () => {
    const world = "1 '\\x00' 1\n2 'a' 1\n3 b'\\xe4\\xbd' 2\n4 '\\u4f60' 3\n5 ' a' 2\n"
    using file = await made([['tokenizer.rwkv.world', { type: 'string', value: world }]])
    assert.equal(file.summary().tokenizer, 'rwkv')
    const tokenizer = file.tokenizer()
    assert.deepEqual(tokenizer.encode('a a\u4f60'), [2, 5, 4])
    assert.equal(tokenizer.decode([2, 5, 4]), 'a a\u4f60')
    // An id that the vocabulary lacks is an error; tokens of images have negative ones.
    const unknown = {
      code: 'out-of-range',
      message: `There is no token ${tokenizer.size}: there are ${tokenizer.size}, from 0.`,
    }
    assert.throws(() => tokenizer.decode([2, tokenizer.size]), unknown)
    assert.throws(() => tokenizer.stream().push(tokenizer.size), unknown)
    assert.equal(tokenizer.decode([2, -1]), tokenizer.decode([2]))
    using broken = await made([['tokenizer.rwkv.world', { type: 'string', value: world + "6 'a' 9\n" }]])
    assert.throws(() => broken.tokenizer(), { code: 'bad-length' })
  })

  const kOwn: [string, Value][] = [
    ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
    ['tokenizer.ggml.tokens', strings(['a', 'b', 'ab', '<end>', '[PAD4]'])],
    ['tokenizer.ggml.token_type', { type: 'array', of: 'i32', value: [1, 1, 1, 3, 5] }],
    ['tokenizer.ggml.merges', strings(['a b'])],
  ]
  const withJson = (json: string) =>
    made([...kOwn, ['tokenizer.huggingface.json', { type: 'string', value: json }]])
  const json = (vocab: unknown) =>
    JSON.stringify({
      added_tokens: [{ id: 3, content: '<end>', special: true }],
      model: { type: 'BPE', vocab, merges: [['a', 'b']] },
    })

  test("tokenizer.huggingface.json next to the file's own tokens", async () => {
    using none = await made(kOwn)
    assert.equal(await none.compareTokenizers(), undefined)
    using same = await withJson(json({ a: 0, b: 1, ab: 2 }))
    const equal = { model: 'BPE', size: 4, addedTokens: 1, merges: 1, padding: 1 }
    assert.deepEqual(await same.compareTokenizers(), { ...equal, different: 0, differences: [] })
    using other = await withJson(json({ a: 0, B: 1, c: 9 }))
    assert.deepEqual(await other.compareTokenizers(), {
      ...equal,
      different: 3,
      differences: [
        { id: 1, ours: 'b', theirs: 'B' },
        { id: 9, ours: undefined, theirs: 'c' },
        { id: 2, ours: 'ab', theirs: undefined },
      ],
    })
    using list = await withJson(json([['a', -1], ['b', -2], ['ab', -3]])) // prettier-ignore
    assert.equal((await list.compareTokenizers())?.different, 0)
  })

  test('compareTokenizers() refuses an invalid tokenizer.huggingface.json', async () => {
    using broken = await withJson('{"model"')
    await assert.rejects(broken.compareTokenizers(), { code: 'json' })
    for (const text of ['{}', '[]', 'null', '{"model":{"vocab":7}}']) {
      using file = await withJson(text)
      await assert.rejects(file.compareTokenizers(), { code: 'unsupported' })
    }
    using proto = await withJson('{"model":{"vocab":{"__proto__":0,"b":1}}}')
    assert.equal((await proto.compareTokenizers())?.differences[0]?.theirs, '__proto__')
  })
})

const kMessages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is 2 + 2?' },
  { role: 'assistant', content: '4' },
  { role: 'user', content: 'And 3 + 3?' },
]
const kTools = [
  {
    type: 'function',
    function: {
      name: 'add',
      description: 'Adds two numbers',
      parameters: {
        type: 'object',
        properties: {
          a: { type: 'number', description: 'first' },
          b: { type: 'number', description: 'second' },
        },
        required: ['a', 'b'],
      },
    },
  },
]
describe('chat templates', () => {
  test('template names, and which is chosen for tools', async () => {
    using file = await made([
      ['tokenizer.chat_template', { type: 'string', value: 'plain {{ messages[0].content }}' }],
      ['tokenizer.chat_template.tool_use', { type: 'string', value: '{{ tools | length }} tools' }],
      ['tokenizer.chat_templates', strings(['tool_use'])],
    ])
    assert.deepEqual([...file.chatTemplates.keys()], ['default', 'tool_use'])
    assert.equal(await file.renderChat(kMessages), 'plain Be brief.')
    assert.equal(await file.renderChat(kMessages, { tools: kTools }), '1 tools')
    assert.equal(await file.renderChat(kMessages, { template: 'tool_use', tools: [] }), '0 tools')
    await assert.rejects(file.renderChat(kMessages, { template: 'rag' }), { code: 'not-found' })
  })

  test('a format that the vocabulary suggests', async () => {
    using file = await made([
      ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
      ['tokenizer.ggml.tokens', strings(['a', '<|im_start|>', '<|im_end|>'])],
      ['tokenizer.ggml.merges', strings([])],
    ])
    assert.equal(file.chatTemplates.get('default')?.source, 'chatml')
    assert.equal(
      await file.renderChat(kMessages.slice(1, 2)),
      '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n',
    )
    using none = await made([['general.architecture', { type: 'string', value: 'llama' }]])
    assert.equal(none.chatTemplates.size, 0)
    await assert.rejects(none.renderChat(kMessages), { code: 'not-found' })
    assert.throws(() => none.tokenizer(), { code: 'unsupported' })
  })

  const kHostile: [name: string, text: string, code?: string][] = [
    // Python's sandbox also refuses it.
    ['a range without end', '{% for i in range(10**9) %}x{% endfor %}', 'chat-template'],
    [
      'loops in loops',
      '{% for i in range(9999) %}{% for j in range(9999) %}{% for k in range(9999) %}{% endfor %}{% endfor %}{% endfor %}',
    ],
    ['a macro that calls itself', '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}'],
    [
      'a text that doubles',
      "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}",
    ],
    [
      'a list that doubles',
      '{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}',
    ],
    ['brackets in brackets', `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`],
    ['a long sum', `{{ ${'1 + '.repeat(50_000)}1 }}`],
    ['blocks in blocks', '{% if true %}'.repeat(20_000) + '{% endif %}'.repeat(20_000)],
    ['much output', '{% for i in range(100000) %}' + 'x'.repeat(1000) + '{% endfor %}'],
    ['a long template', 'x'.repeat(2_000_000)],
  ]
  for (const [name, text, code = 'chat-template-limit'] of kHostile) {
    test(`bounded: ${name}`, async () => {
      using file = await made([['tokenizer.chat_template', { type: 'string', value: text }]])
      await assert.rejects(file.renderChat(kMessages), { code })
    })
  }
})
