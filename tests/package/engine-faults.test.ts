// What must not stop the engine: grammars and schemas that are made to hurt. And what may: after a crash of wasm, its
// model is closed with the reason, and nothing else of it runs.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { kReplies } from './chat-formats.ts'
import { engine, kStories, stories, textOf } from './engine.ts'
import { packedFile } from './packed.ts'

const { detectChatFormat, load, schemaToGrammar, toolGrammar } = engine

/** An item in n nested groups, each with the same count behind it. */
const nested = (item: string, count: string, n: number): string =>
  '('.repeat(n) + item + `)${count}`.repeat(n)

/** n rules, each of which is two of the next one: 2^n calls. */
const doubled = (n: number): string =>
  `root ::= r0\n${Array.from({ length: n }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}\n`).join('')}r${n} ::= "a"?`

const kGrammars: [what: string, grammar: string, expected: RegExp | string][] = [
  ['four levels of {0,99}', `root ::= ${nested('"a"', '{0,99}', 4)} "!"`, /^a*!?$/],
  ['seven levels of {0,99}', `root ::= ${nested('"a"', '{0,99}', 7)} "!"`, /^a*!?$/],
  ['seven levels of {3,99} with a choice', `root ::= ${nested('("a" | "aa")', '{3,99}', 7)}`, /^a*$/],
  ['ninety levels of {0,2}', `root ::= ${nested('"a"', '{0,2}', 90)} "!"`, /^a*!?$/],
  ['a count of a billion', 'root ::= "ab"{1000000000}', /^[ab]*$/],
  ['calls that double', doubled(40), 'out-of-range'],
  ['too many items', `root ::= ${'a '.repeat(1_100_000)}`, 'out-of-range'],
  ['too many rules', Array.from({ length: 300_000 }, (_, i) => `r${i} ::= "a"\n`).join(''), 'out-of-range'],
]

test('grammars of nested repetitions are counted, and others that multiply are refused', async () => {
  using model = await load(stories, { threads: 1, contextLength: 64 })
  for (const [what, grammar, expected] of kGrammars) {
    const said = textOf(model.generate('Bees', { grammar, maxTokens: 8, temperature: 0 }))
    if (typeof expected === 'string') await assert.rejects(said, { code: expected }, what)
    else assert.match(await said, expected, what)
  }
  const plain = { grammar: 'root ::= "yes" | "no"', maxTokens: 8 }
  assert.match(await textOf(model.generate('Bees', plain)), /^(yes|no)$/)
})

/** Definitions of which each uses the next one as make() says. */
function chain(n: number, make: (next: object) => object): Record<string, object> {
  const next = (i: number) => [`d${i}`, make({ $ref: `#/$defs/d${i + 1}` })] as const
  return {
    ...Object.fromEntries(Array.from({ length: n }, (_, i) => next(i))),
    [`d${n}`]: { type: 'integer' },
  }
}
const keys = (n: number, name: string, value: object = {}): Record<string, object> =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [`${name}${i}`, value]))

const kSchemas: [what: string, schema: Record<string, unknown>][] = [
  ['an automaton of 2^13 states', { type: 'string', pattern: '^(a|b)*a(a|b){12}$', minLength: 3 }],
  [
    'allOf that doubles',
    { $defs: chain(30, (next) => ({ allOf: [next, next] })), const: 5, $ref: '#/$defs/d0' },
  ],
  [
    'texts that are excluded',
    { type: 'string', not: { enum: Array.from({ length: 5000 }, (_, i) => `v${i * 7}`) } },
  ],
  [
    'many keys beside other ones',
    {
      type: 'object',
      properties: keys(12_000, 'p', { type: 'string' }),
      additionalProperties: { type: 'number' },
    },
  ],
  ['more properties than calls fit inside each other', { type: 'object', properties: keys(20_000, 'p') }],
  [
    'other properties that may be any',
    {
      type: 'object',
      properties: keys(40, 'k'),
      additionalProperties: false,
      allOf: Array.from({ length: 6 }, () => ({
        not: { type: 'object', additionalProperties: { type: 'string' }, properties: { z: {} } },
      })),
    },
  ],
]

test('schemas that multiply are refused, also as parameters of a tool', () => {
  const { template } = kReplies.find((reply) => reply.format === 'hermes') ?? kReplies[0]!
  const format = detectChatFormat({ template })!
  for (const [what, schema] of kSchemas) {
    assert.throws(() => schemaToGrammar(schema), { code: 'unsupported' }, what)
    const { $defs = {}, ...x } = schema
    const tool = {
      type: 'function',
      function: { name: 'f', parameters: { $defs, type: 'object', properties: { x } } },
    }
    assert.throws(
      () => toolGrammar(format, { tools: [tool as never] }),
      { code: 'unsupported' },
      `${what}, tool`,
    )
  }
  // After a refusal, the next conversion has its whole limit.
  assert.match(schemaToGrammar({ type: 'string', maxLength: 2147483647 }), /\{0,2147483647\}/)
})

const kPage = 65536
/** The module with a smaller limit of its memory, so that it runs out of it as on a machine that is full. */
function withLess(wasm: Uint8Array<ArrayBuffer>, pages: number): Uint8Array<ArrayBuffer> {
  const bytes = wasm.slice()
  let at = 8
  const number = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const id = bytes[at++]!
    const size = number()
    const next = at + size
    if (id === 5) {
      assert.equal(number(), 1)
      assert.equal(number(), 1, 'a memory with a limit, not shared')
      const initial = number()
      assert.ok(initial < pages)
      const length = next - at
      for (let i = 0; i < length; i++) bytes[at + i] = ((pages >> (7 * i)) & 127) | (i + 1 < length ? 128 : 0)
      return bytes
    }
    at = next
  }
  throw new Error('a module without a memory')
}

// 48 MiB are enough for the sample, and too few for the syntax tree of this grammar.
const kPages = (48 << 20) / kPage
const kCrashes = `root ::= ${'a '.repeat(1_000_000)}\na ::= "b"`

test('after a crash the model is closed with the reason, and another one can be loaded', async () => {
  const wasm = new Uint8Array(readFileSync(packedFile('wasm/dist/engine/engine-simd.wasm')))
  const options = { variant: 'simd', threads: 1, contextLength: 64, maxForks: 2 } as const
  using model = await load(stories, { ...options, assets: { 'engine-simd.wasm': withLess(wasm, kPages) } })
  const fork = await model.fork()
  const before = await textOf(model.generate('Bees', { maxTokens: 8, temperature: 0 }))
  const crashed = { name: 'GgufError', code: 'crashed', message: /crashed.*load it again/ }
  const other = model.evaluate([1, 2])
  const answer = textOf(model.generate('Bees', { grammar: kCrashes, maxTokens: 8 }))
  const later = model.embed('Bees')
  assert.ok((await other).length > 0) // a call before it
  await assert.rejects(answer, crashed)
  await assert.rejects(later, crashed) // a call that waited
  for (const call of [
    () => textOf(model.generate('Bees')),
    () => textOf(fork.generate('Bees')),
    () => model.evaluate([1]),
    () => model.saveState(),
    () => model.fork(),
    () => model.setAdapters([]),
  ])
    await assert.rejects(call, crashed)
  fork.close()
  model.close()
  await assert.rejects(model.evaluate([1]), { code: 'closed' })
  using again = await load(stories, options)
  assert.equal(await textOf(again.generate('Bees', { maxTokens: 8, temperature: 0 })), before)
})

test('a server answers after a crash, because it loads the model anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-crash-'))
  cpSync(join(packedFile('package.json'), '..'), folder, { recursive: true })
  for (const name of ['engine-simd.wasm', 'engine-relaxed.wasm']) {
    const file = join(folder, 'wasm/dist/engine', name)
    writeFileSync(file, withLess(new Uint8Array(readFileSync(file)), kPages))
  }
  const args = [
    'serve',
    kStories,
    '--port',
    '0',
    '--json',
    '--threads',
    '1',
    '--context',
    '64',
    '--alias',
    's',
  ]
  const child = spawn(process.execPath, [join(folder, 'wasm/dist/cli.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const line = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data) => resolve(String(data))),
    )
    const { url } = JSON.parse(line) as { url: string }
    const ask = async (more: object): Promise<{ status: number; body: string }> => {
      const body = JSON.stringify({ model: 's', prompt: 'Bees', max_tokens: 8, temperature: 0, ...more })
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const response = await fetch(`${url}/v1/completions`, init)
      return { status: response.status, body: await response.text() }
    }
    const textIn = ({ body }: { body: string }) =>
      (JSON.parse(body) as { choices: { text: string }[] }).choices[0]!.text
    const before = await ask({})
    assert.equal(before.status, 200)
    // The request after it waits in the queue meanwhile.
    const [crash, after] = await Promise.all([ask({ grammar: kCrashes }), ask({})])
    assert.equal(crash.status, 503)
    assert.match(crash.body, /"code":"crashed"/)
    assert.equal(after.status, 200)
    assert.equal(textIn(after), textIn(before))
    const streamed = await ask({ grammar: kCrashes, stream: true })
    assert.match(streamed.body, /crashed/)
    assert.equal(textIn(await ask({})), textIn(before))
  } finally {
    child.kill()
    await new Promise((resolve) => child.once('exit', resolve))
    rmSync(folder, { recursive: true })
  }
})
