// ggufscope/engine of the packed package in Node, on the trained sample model.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ChatMessage } from 'ggufscope'
import type * as Engine from 'ggufscope/engine'
import { kRoot, packedFile } from './packed.ts'

const { load, createChatCompletion, streamChatCompletion, GgufError } = (await import(
  pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
)) as typeof Engine
const kFile = join(kRoot, 'tests/fixtures/stories.gguf')
const bytes = new Uint8Array(readFileSync(kFile))
const kPrompt = 'Once upon a time'

async function text(pieces: AsyncIterable<Engine.Piece>): Promise<string> {
  let all = ''
  for await (const piece of pieces) all += piece.text
  return all
}

test('loads, tells what it is, and generates the same by the same seed', async () => {
  const seen: Engine.LoadProgress[] = []
  using model = await load(bytes, { onProgress: (progress) => seen.push(progress) })
  assert.equal(model.info.architecture, 'llama')
  assert.equal(model.info.variant, 'relaxed', model.info.variantReason)
  assert.equal(model.info.contextLength, 384)
  assert.equal(seen[0]?.phase, 'header')
  assert.equal(seen.at(-1)?.phase, 'ready')
  const weights = seen.filter(({ phase }) => phase === 'weights')
  assert.equal(weights.at(-1)?.loaded, weights.at(-1)?.total)
  let result: Engine.GenerateResult | undefined
  const options = { seed: 7, onDone: (done: Engine.GenerateResult) => (result = done) }
  const first = await text(model.generate(kPrompt, options))
  assert.match(first, /^, a [a-z]+ [a-z]+ /)
  assert.equal(result?.finishReason, 'end')
  assert.equal(await text(model.generate(kPrompt, options)), first)
  assert.equal(result?.reusedTokens, result!.promptTokens - 1)
  assert.notEqual(await text(model.generate(kPrompt, { seed: 8 })), first)
})

test('options of the sampler, limits and probabilities', async () => {
  using model = await load(bytes)
  const greedy = { temperature: 0, logprobs: 3, maxTokens: 10 }
  let tokens = 0
  for await (const piece of model.generate(kPrompt, greedy)) {
    tokens++
    assert.equal(piece.alternatives?.length, 3)
    assert.equal(piece.alternatives[0]?.token, piece.token)
    assert.equal(piece.alternatives[0]?.logprob, piece.logprob)
    assert.ok(piece.logprob! <= 0 && piece.alternatives[1]!.logprob <= piece.logprob!)
  }
  assert.equal(tokens, 10)
  const whole = await text(model.generate(kPrompt, { temperature: 0 }))
  assert.equal(
    await text(model.generate(kPrompt, { temperature: 0, stop: ['lived'] })),
    whole.split('lived')[0],
  )
  const comma = model.tokenizer.encode(',')[0]!
  const without = { logitBias: { [comma]: -Infinity }, seed: 3, maxTokens: 40 }
  for await (const piece of model.generate(kPrompt, without)) assert.notEqual(piece.token, comma)
  await assert.rejects(text(model.generate(kPrompt, { temperature: NaN })), { code: 'invalid-argument' })
  await assert.rejects(text(model.generate([5000])), { code: 'out-of-range' })
})

test('chat goes through the template, also in the shape of OpenAI', async () => {
  using model = await load(bytes)
  const messages = [{ role: 'user', content: 'What do bees make?' }]
  assert.equal(await text(model.chat(messages, { temperature: 0 })), 'Bees make honey.')
  const whole = await createChatCompletion(model, { messages, temperature: 0 })
  assert.equal(whole.choices[0]?.message.content, 'Bees make honey.')
  assert.equal(whole.choices[0]?.finish_reason, 'stop')
  let streamed = ''
  let last: Engine.ChatCompletionChunk | undefined
  for await (const chunk of streamChatCompletion(model, { messages, temperature: 0, max_tokens: 2 })) {
    streamed += chunk.choices[0]?.delta.content ?? ''
    last = chunk
  }
  assert.ok(streamed !== '' && 'Bees make honey.'.startsWith(streamed), streamed)
  assert.equal(last?.choices[0]?.finish_reason, 'length')
  assert.equal(last?.usage?.completion_tokens, 2)
})

test('a turn of a chat computes what is new, also where the history was rewritten', async () => {
  let done: Engine.GenerateResult | undefined
  const chat = (model: Engine.Model, messages: ChatMessage[]) =>
    text(model.chat(messages, { temperature: 0, onDone: (result) => (done = result) }))
  const alone = async (messages: ChatMessage[]) => {
    using fresh = await load(bytes)
    const answer = await chat(fresh, messages)
    assert.equal(done?.reusedTokens, 0)
    return answer
  }
  using model = await load(bytes)
  const tokensOf = async (messages: ChatMessage[]) =>
    model.tokenizer.encode(await model.file.renderChat(messages), { special: true })
  const first = [{ role: 'user', content: 'What do bees make?' }]
  const answer = await chat(model, first)
  // The last token was drawn, and nothing asked for what comes after it.
  const computed = done!.promptTokens + done!.tokens - 1
  const story = { role: 'user', content: 'Tell me a story about an owl.' }
  const second = [...first, { role: 'assistant', content: answer }, story]
  const told = await chat(model, second)
  assert.equal(done?.reusedTokens, computed)
  assert.equal(told, await alone(second))

  const third = [...first, { role: 'assistant', content: 'Bees sleep.' }, story]
  const [old, rewritten] = [await tokensOf(second), await tokensOf(third)]
  const same = rewritten.findIndex((token, i) => token !== old[i])
  const again = await chat(model, third)
  assert.ok(same > 5 && same < computed)
  assert.equal(done?.reusedTokens, same)
  assert.equal(again, await alone(third))
})

test('answers that quote are guessed, and are the same', async () => {
  using model = await load(bytes)
  const story = await text(model.generate(kPrompt, { temperature: 0 }))
  for (const temperature of [0, 0.7]) {
    let guessed = 0
    const options = {
      temperature,
      seed: 3,
      onDone: (done: Engine.GenerateResult) => (guessed = done.guessedTokens),
    }
    const prompt = `${kPrompt}${story}${kPrompt}`
    const plain = await text(model.generate(prompt, options))
    assert.equal(guessed, 0)
    assert.equal(await text(model.generate(prompt, { ...options, lookup: 8 })), plain)
    if (temperature === 0) assert.ok(guessed > 3, `${guessed}`)
  }
})

test('answers keep to a schema or a grammar, whatever the sampling', async () => {
  using model = await load(bytes)
  const schema: Engine.JsonSchema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 12 },
      kind: { enum: ['owl', 'bee', 'fox'] },
      legs: { type: 'integer', minimum: 0, maximum: 8 },
      friends: { type: 'array', items: { $ref: '#/$defs/friend' }, maxItems: 3 },
      born: { type: 'string', format: 'date' },
    },
    required: ['name', 'kind', 'legs', 'friends'],
    additionalProperties: false,
    $defs: { friend: { anyOf: [{ type: 'string', pattern: '^[A-Z][a-z]{2,9}$' }, { type: 'null' }] } },
  }
  const validate = new Ajv2020({ formats: { date: /^\d{4}-\d\d-\d\d$/ } }).compile(schema)
  for (let seed = 0; seed < 24; seed++) {
    let result: Engine.GenerateResult | undefined
    const options = {
      schema,
      seed,
      temperature: [0, 1, 50][seed % 3],
      topK: seed % 2 === 0 ? 0 : 40,
      onDone: (done: Engine.GenerateResult) => (result = done),
    }
    const answer = await text(model.generate(kPrompt, options))
    assert.equal(result?.finishReason, 'end', answer)
    assert.ok(validate(JSON.parse(answer)), `${answer}: ${JSON.stringify(validate.errors)}`)
  }
  assert.equal(
    await text(model.generate(kPrompt, { grammar: 'root ::= ", \\u00e4" [x]{3}', temperature: 0 })),
    ', \u00e4xxx',
  )
  const messages = [{ role: 'user', content: 'What do bees make?' }]
  const whole = await createChatCompletion(model, {
    messages,
    temperature: 3,
    seed: 5,
    max_tokens: 300,
    response_format: {
      type: 'json_schema',
      json_schema: {
        schema: { type: 'object', properties: { bees: { const: 'honey' } }, required: ['bees'] },
      },
    },
  })
  assert.deepEqual(JSON.parse(whole.choices[0]!.message.content!), { bees: 'honey' })
  assert.equal(whole.choices[0]!.finish_reason, 'stop')
  const start = await createChatCompletion(model, {
    messages,
    max_tokens: 4,
    response_format: { type: 'json_object' },
  })
  assert.match(start.choices[0]!.message.content!, /^\{/)
  await assert.rejects(text(model.generate(kPrompt, { grammar: 'root ::= (' })), {
    code: 'invalid-argument',
    offset: 9,
  })
  await assert.rejects(text(model.generate(kPrompt, { grammar: 'root ::= "a"', schema })), {
    code: 'invalid-argument',
  })
  await assert.rejects(text(model.generate(kPrompt, { schema: { not: {} } })), { code: 'invalid-argument' })
  assert.match(await text(model.generate(kPrompt, { temperature: 0 })), /lived/)
})

test('aborts within a token, and goes on after it', async () => {
  using model = await load(bytes)
  const controller = new AbortController()
  const reason = new Error('enough')
  let seen = 0
  await assert.rejects(async () => {
    for await (const _ of model.generate(kPrompt, { signal: controller.signal, ignoreEnd: true })) {
      if (++seen === 5) controller.abort(reason)
    }
  }, reason)
  assert.ok(seen <= 6, `${seen} pieces after the abort`)
  for await (const _ of model.generate(kPrompt, { ignoreEnd: true })) break
  assert.match(await text(model.generate(kPrompt, { temperature: 0 })), /lived/)
  await assert.rejects(load(bytes, { signal: AbortSignal.abort(reason) }), reason)
})

test('evaluate is the same in both precisions, near enough; embed is a vector; states are restored', async () => {
  using fast = await load(bytes)
  using exact = await load(bytes, { precision: 'exact', cacheType: 'f32' })
  const tokens = fast.tokenizer.encode('Bees make honey.', { bos: true })
  const [a, b] = [await fast.evaluate(tokens), await exact.evaluate(tokens)]
  assert.equal(a.length, tokens.length * fast.info.vocabularySize)
  const worst = a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0)
  assert.ok(worst > 0 && worst < 1, `differs by ${worst}`)
  assert.equal((await exact.embed('honey')).length, exact.info.embeddingLength)
  const before = await text(fast.generate(kPrompt, { temperature: 0 }))
  const state = await fast.saveState()
  using other = await load(bytes)
  await other.loadState(state)
  let reused = 0
  const after = await text(
    other.generate(kPrompt, { temperature: 0, onDone: (done) => (reused = done.reusedTokens) }),
  )
  assert.equal(after, before)
  assert.ok(reused > 0)
})

test('refuses before fetching weights what cannot run', async () => {
  const read: number[] = []
  const source = {
    size: bytes.length,
    read: async (offset: number, length: number) => {
      read.push(offset)
      return bytes.slice(offset, offset + length)
    },
  }
  await assert.rejects(load(source, { memoryLimit: 1e6 }), (error) => {
    assert.ok(error instanceof GgufError)
    assert.equal(error.code, 'out-of-memory')
    assert.match(error.message, /needs \d.* MB/)
    return true
  })
  assert.ok(Math.max(...read) < 100_000)
  const unknown = bytes.slice()
  unknown.set(new TextEncoder().encode('lamma'), Buffer.from(bytes).indexOf('llama'))
  await assert.rejects(load(unknown), { code: 'unsupported' })
  await assert.rejects(load(bytes, { contextLength: 0.5 }), { code: 'invalid-argument' })
})

test('a model that fills in texts as a whole computes, and refuses to continue one', async () => {
  using plain = await load(bytes)
  const builder = await plain.file.edit()
  for (const key of plain.file.metadata.keys())
    if (key.startsWith('llama.')) builder.rename(key, key.replace('llama', 'llada'))
  using model = await load(await (await builder.set('general.architecture', 'llada').build()).bytes())
  const tokens = plain.tokenizer.encode('Bees make honey.', { bos: true })
  const [one, other] = [await model.evaluate(tokens), await plain.evaluate(tokens)]
  assert.equal(one.length, other.length)
  assert.notDeepEqual(one, other)
  await assert.rejects(text(model.generate(kPrompt)), { code: 'unsupported', message: /as a whole/ })
})

test('split models and those of big-endian machines run like the whole', async () => {
  using whole = await load(bytes, { precision: 'exact' })
  const tokens = whole.tokenizer.encode('Bees make honey.', { bos: true })
  const expected = await whole.evaluate(tokens)
  const inTurn = await (await whole.file.edit()).build({ endianness: 'big' })
  using big = await load(await inTurn.bytes(), { precision: 'exact' })
  assert.equal(big.file.endianness, 'big')
  assert.deepEqual(await big.evaluate(tokens), expected)
  const parts = await (await whole.file.edit()).split('stories', { maxTensors: 9 })
  assert.ok(parts.length > 3)
  const files = await Promise.all(parts.map(async (part) => new File([await part.bytes()], part.name!)))
  using split = await load(files, { precision: 'exact' })
  assert.equal(split.file.shards.length, parts.length)
  assert.deepEqual(await split.evaluate(tokens), expected)
  assert.equal(
    await text(split.chat([{ role: 'user', content: 'What do bees make?' }], { temperature: 0 })),
    'Bees make honey.',
  )
  await assert.rejects(load(files.slice(1)), { code: 'missing-shard' })
  const twice = [...files.slice(0, -1), new File([files[1]!], files.at(-1)!.name)]
  await assert.rejects(load(twice), { message: /damaged.*split\.no is 1/ })
  await assert.rejects(load(bytes.slice(0, -40)), { code: 'truncated' })
})

test('forks share what was read, and end alone', async () => {
  using model = await load(bytes, { maxForks: 2, contextLength: 256 })
  const story = 'Long ago, in a garden full of flowers, there lived a small '
  await text(model.generate(story, { maxTokens: 1 }))
  const forks = [await model.fork(), await model.fork()]
  await assert.rejects(model.fork(), { code: 'out-of-range', message: /maxForks/ })
  const reused: number[] = []
  const answer = (one: Engine.Model, prompt: string) =>
    text(
      one.generate(prompt, {
        temperature: 0,
        maxTokens: 20,
        onDone: ({ reusedTokens }) => reused.push(reusedTokens),
      }),
    )
  const answers = await Promise.all(
    [`${story}owl`, `${story}bee`].map((prompt, i) => answer(forks[i]!, prompt)),
  )
  assert.ok(reused.length === 2 && reused.every((n) => n > 10), `${reused}`)
  using alone = await load(bytes)
  assert.deepEqual(answers, [await answer(alone, `${story}owl`), await answer(alone, `${story}bee`)])
  const kept = await forks[1]!.saveState()
  forks[0]!.close()
  await assert.rejects(answer(forks[0]!, story), { code: 'closed' })
  using again = await model.fork()
  await again.loadState(kept)
  assert.equal(await answer(again, `${story}bee`), answers[1])
  model.close()
  await assert.rejects(answer(forks[1]!, story), { code: 'closed' })
  await assert.rejects(load(bytes, { maxForks: 99 }), { code: 'invalid-argument' })
  await assert.rejects(load(bytes, { cacheType: 'f64' as 'f32' }), { code: 'invalid-argument' })
})

// Bytes of 32 numbers, and how far logits may move. Keys and values are as many.
const kCaches = [
  [{ cacheType: 'f32' }, 128, 0.3],
  [{ cacheType: 'q8_0' }, 34, 0.5],
  [{ cacheType: 'q4_0' }, 18, 3],
  [{ cacheTypeK: 'q8_0' }, (34 + 64) / 2, 0.5],
  [{ cacheType: 'q4_0', cacheTypeV: 'f32' }, (18 + 128) / 2, 3],
] as const

test('a cache takes the room of its types, and moves logits by their noise', async () => {
  using half = await load(bytes)
  const tokens = half.tokenizer.encode('Bees make honey.', { bos: true })
  const plain = await half.evaluate(tokens)
  for (const [types, size, noise] of kCaches) {
    using model = await load(bytes, types)
    const ratio = model.info.memory.cache / half.info.memory.cache
    assert.ok(Math.abs(ratio - size / 64) < 0.01, `${JSON.stringify(types)}: ${ratio}`)
    const logits = await model.evaluate(tokens)
    const worst = plain.reduce((most, value, i) => Math.max(most, Math.abs(value - logits[i]!)), 0)
    assert.ok(worst > 0 && worst < noise, `${JSON.stringify(types)} differs by ${worst}`)
  }
})

test('a full context ends, or shifts', async () => {
  using model = await load(bytes, { contextLength: 32 })
  let finish: string | undefined
  const options = {
    temperature: 0,
    ignoreEnd: true,
    onDone: (done: Engine.GenerateResult) => (finish = done.finishReason),
  }
  const ended = await text(model.generate(kPrompt, options))
  assert.equal(finish, 'context')
  const shifted = await text(model.generate(kPrompt, { ...options, contextShift: true, maxTokens: 100 }))
  assert.equal(finish, 'length')
  assert.ok(shifted.startsWith(ended) && shifted.length > 2 * ended.length)
})

test('a prompt that is too long is refused, or cut as asked', async () => {
  using model = await load(bytes, { contextLength: 64 })
  let result: Engine.GenerateResult | undefined
  const options = { temperature: 0, maxTokens: 8, onDone: (done: Engine.GenerateResult) => (result = done) }
  const tokens = model.tokenizer.encode('Once upon a time there was a small owl. '.repeat(20), { bos: true })
  await assert.rejects(text(model.generate(tokens, options)), { code: 'out-of-range' })
  const cut = [...tokens.slice(0, 6), ...tokens.slice(tokens.length - 50)]
  const expected = await text(model.generate(cut, options))
  const cutting = { ...options, onOverflow: 'cut-middle', keep: 6 } as const
  assert.equal(await text(model.generate(tokens, cutting)), expected)
  assert.equal(result?.promptTokens, 56)

  const turn = (i: number) => [
    { role: 'user', content: `Tell me ${i}.` },
    { role: 'assistant', content: `It is ${i}.` },
  ]
  const system = { role: 'system', content: 'Be brief.' }
  const question = { role: 'user', content: 'Tell me a story.' }
  const chat = (from: number) => [system, ...[1, 2, 3, 4, 5, 6, 7, 8, 9].slice(from).flatMap(turn), question]
  await assert.rejects(text(model.chat(chat(0), options)), { code: 'out-of-range' })
  const story = await text(model.chat(chat(0), { ...options, onOverflow: 'drop-turns', keep: 'system' }))
  const { promptTokens } = result!
  assert.ok(promptTokens <= 56)
  let least = 0 // the fewest turns left out with which the prompt leaves room
  while ((await model.encodeChat(chat(least))).length > 56) least++
  assert.equal(promptTokens, (await model.encodeChat(chat(least))).length)
  assert.equal(await text(model.chat(chat(least), options)), story)
  const long = [system, { role: 'user', content: 'owl '.repeat(90) }]
  await assert.rejects(text(model.chat(long, { onOverflow: 'drop-turns' })), { code: 'out-of-range' })
  await assert.rejects(text(model.generate('a', { keep: 'system' })), { code: 'invalid-argument' })
  await assert.rejects(text(model.generate('a', { onOverflow: 'drop-turns' })), { code: 'invalid-argument' })
})

test('a draft model changes no token', async () => {
  using alone = await load(bytes)
  using model = await load(bytes, { draft: bytes, cacheType: 'f16', maxForks: 1 })
  assert.equal(model.info.memory.weights, 2 * alone.info.memory.weights)
  let guessed = 0
  const onDone = (done: Engine.GenerateResult) => (guessed = done.guessedTokens)
  for (const sampling of [{ temperature: 0 }, { seed: 5 }]) {
    const plain = await text(alone.generate(kPrompt, { ...sampling, maxTokens: 40 }))
    assert.equal(await text(model.generate(kPrompt, { ...sampling, maxTokens: 40, onDone })), plain)
    assert.ok(guessed > 5, `${guessed} guessed`)
    assert.equal(await text(model.generate(kPrompt, { ...sampling, maxTokens: 40, draft: 0, onDone })), plain)
    assert.equal(guessed, 0)
  }
  using fork = await model.fork()
  assert.equal(
    await text(fork.generate(kPrompt, { seed: 6 })),
    await text(alone.generate(kPrompt, { seed: 6 })),
  )
  await assert.rejects(load(bytes, { draft: bytes.slice(0, 100) }), { code: 'truncated' })
})

test('ten loads and closes leave nothing behind', async () => {
  const round = async () => {
    const model = await load(bytes)
    await text(model.generate(kPrompt, { maxTokens: 2 }))
    model.close()
    await assert.rejects(model.evaluate([1]), { code: 'closed' })
  }
  for (let i = 0; i < 3; i++) await round()
  const before = process.memoryUsage().rss
  for (let i = 0; i < 10; i++) await round()
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 60 << 20, `grew by ${grown} bytes`)
})

test('where memory lacks, weights of one bit stay as they are', async () => {
  using plain = await load(bytes)
  const small = await (await (await plain.file.edit()).quantize('Q1_0', { allowRequantize: true })).build()
  const file = await small.bytes()
  using fast = await load(file)
  assert.equal(fast.info.precision, 'fast')
  const { total } = fast.info.memory
  using compact = await load(file, { memoryLimit: total - 1 })
  assert.equal(compact.info.precision, 'compact')
  assert.ok(compact.info.memory.weights < fast.info.memory.weights)
  using asked = await load(file, { precision: 'compact' })
  assert.deepEqual(asked.info.memory, compact.info.memory)
  await assert.rejects(load(file, { precision: 'fast', memoryLimit: total - 1 }), { code: 'out-of-memory' })
  await assert.rejects(load(file, { precision: 'slow' as 'fast' }), { code: 'invalid-argument' })
  const tokens = [5, 6, 7, 8]
  const [a, b] = [await fast.evaluate(tokens), await compact.evaluate(tokens)]
  const size = Math.sqrt(a.reduce((sum, x) => sum + x * x, 0))
  assert.ok(Math.sqrt(a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0)) < 0.03 * size)
})

test('a profile tells where the time of passes went', async () => {
  for (const threads of [1, 2]) {
    using model = await load(bytes, { threads })
    assert.deepEqual(await model.profile(), [])
    await text(model.generate(kPrompt, { temperature: 0, maxTokens: 9, ignoreEnd: true }))
    const operations = await model.profile()
    const products = operations.filter(({ operation }) => operation === 'products')
    const { file } = model
    const elements = file.tensors
      .filter(({ name, shape }) => shape.length > 1 && name.startsWith('blk.'))
      .reduce((sum, { elementCount }) => sum + elementCount, 0)
    const output = (file.tensor('output.weight') ?? file.tensor('token_embd.weight'))!
    const counted = products
      .filter(({ tokens }) => tokens === 'one')
      .reduce((sum, row) => sum + row.products, 0)
    assert.equal(counted, 8 * (elements + output.elementCount)) // the first token is drawn of what the prompt gave
    const types = new Set(products.flatMap((row) => row.types))
    for (const type of types) assert.ok(file.tensors.some((tensor) => tensor.type === type))
    assert.ok(types.has(output.type))
    const logits = products.find(({ shape: [, rows] }) => rows === model.info.vocabularySize)
    assert.deepEqual(logits?.shape, output.shape)
    const named = new Set(operations.map(({ operation }) => operation))
    const expected = [
      'activations',
      'add',
      'attention',
      'cache',
      'gate',
      'norm',
      'other',
      'positions',
      'products',
      'sampling',
    ]
    assert.deepEqual([...named].sort(), expected)
    assert.ok(operations.every(({ ms, calls }) => ms >= 0 && calls > 0))
    assert.deepEqual(await model.profile(), [])
    const peaks = await model.peaks()
    for (const name of ['bytes', 'words', 'floats', 'near', 'far'] as const)
      assert.ok(peaks[name] > 1e6, name)
  }
})

test('where there seem to be more cores than there are, tokens of fewer threads are the same', async () => {
  // Half a second of tokens settles what is tried first, and then how many threads a token takes.
  const told = async (engine: string, file: string, options: object) => {
    const { load } = (await import(engine)) as typeof Engine
    const { readFileSync } = await import('node:fs')
    using model = await load(new Blob([readFileSync(file)]), options)
    const texts: string[] = []
    const end = performance.now() + 2000
    for (let i = 0; i < 12 || performance.now() < end; i++) {
      let text = ''
      const asked = { maxTokens: 60, temperature: 0, ignoreEnd: true }
      for await (const piece of model.generate(`Story ${i % 12}:`, asked)) text += piece.text
      texts[i % 12] ??= text
      if (text !== texts[i % 12]) throw new Error(`${text}, where it was ${texts[i % 12]}`)
    }
    return { threads: model.info.threads, texts }
  }
  const engine = pathToFileURL(packedFile('wasm/dist/engine/index.js')).href
  const many = `import os from 'node:os'
    import { syncBuiltinESMExports } from 'node:module'
    os.availableParallelism = () => 8
    syncBuiltinESMExports()`
  const program = `console.log(JSON.stringify(await (${told})(${JSON.stringify(engine)}, ${JSON.stringify(kFile)}, {})))`
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  writeFileSync(join(folder, 'program.mjs'), program)
  const args = ['--import', `data:text/javascript,${encodeURIComponent(many)}`, join(folder, 'program.mjs')]
  const made = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as object
  rmSync(folder, { recursive: true })
  assert.deepEqual(made, { threads: 7, texts: (await told(engine, kFile, { threads: 1 })).texts })
})

test('a program on the command line runs models like any other', () => {
  const program = `import { readFileSync } from 'node:fs'
    import { load } from ${JSON.stringify(pathToFileURL(packedFile('wasm/dist/engine/index.js')).href)}
    using model = await load(new Blob([readFileSync(${JSON.stringify(kFile)})]), { threads: 2 })
    for await (const { token } of model.generate('Once', { maxTokens: 3, ignoreEnd: true })) console.log(token >= 0)`
  const told = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.equal(told, 'true\n'.repeat(3))
})

test('the command run', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [packedFile('wasm/dist/cli.js'), 'run', kFile, ...args], {
      encoding: 'utf8',
    })
  assert.match(run('What do bees make?', '--chat', '--temperature', '0'), /^Bees make honey\.\n/)
  const answer = JSON.parse(
    run(kPrompt, '--max-tokens', '3', '--temperature', '0', '--json'),
  ) as Engine.GenerateResult
  assert.equal(answer.tokens, 3)
  const profiled = run(kPrompt, '--max-tokens', '3', '--temperature', '0', '--profile')
  assert.match(profiled, /Passes over several tokens:\n.*share.*\n(?:.+\n)*\nPasses over one token:\n/)
  assert.match(profiled, /\nThis machine: \d+ GB\/s from memory; GMAC\/s of int8 \d+, /)
  const folder = mkdtempSync(join(tmpdir(), 'ggufscope-'))
  writeFileSync(join(folder, 'schema.json'), '{ "enum": ["honey", 7] }')
  writeFileSync(join(folder, 'grammar.gbnf'), 'root ::= "yes" | "no"')
  assert.match(run(kPrompt, '--schema', join(folder, 'schema.json')), /^("honey"|7)\n/)
  assert.match(run(kPrompt, '--grammar', join(folder, 'grammar.gbnf')), /^(yes|no)\n/)
  rmSync(folder, { recursive: true })
})
